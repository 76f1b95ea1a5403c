package faults

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asking are the public functions of packages that take a context, another interface or a function: by package and
// name. With types it is the types that have such methods, their own or those of what they embed.
func asking(t *testing.T, types bool, folders ...string) (names []string) {
	for _, folder := range folders {
		functions, methods, embedded := map[string]bool{}, map[string]bool{}, map[string][]string{}
		files, err := filepath.Glob("../../" + folder + "/*.go")
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					if n.Name.IsExported() && asksInSource(n.Type) {
						if n.Recv == nil {
							functions[n.Name.Name] = true
						} else {
							methods[nameOf(n.Recv.List[0].Type)] = true
						}
					}
					return false
				case *ast.TypeSpec:
					embedded[n.Name.Name] = nil
					if of, ok := n.Type.(*ast.StructType); ok {
						for _, field := range of.Fields.List {
							if field.Names == nil {
								embedded[n.Name.Name] = append(embedded[n.Name.Name], nameOf(field.Type))
							}
						}
					}
					return false
				}
				return true
			})
		}
		for name := range embedded {
			for _, inner := range embedded[name] {
				if methods[inner] {
					methods[name] = true
				}
			}
		}
		found := functions
		if types {
			found = methods
		}
		for name := range found {
			if ast.IsExported(name) {
				names = append(names, path.Base(folder)+"."+name)
			}
		}
	}
	require.NotEmpty(t, names)
	return names
}

// asksInSource is asks of a function's source. Interfaces have a package's name, but for any.
func asksInSource(f *ast.FuncType) bool {
	for _, field := range f.Params.List {
		switch of := field.Type.(type) {
		case *ast.FuncType, *ast.InterfaceType:
			return true
		case *ast.Ident:
			if of.Name == "any" || of.Name == "Progress" {
				return true
			}
		case *ast.SelectorExpr:
			switch of.X.(*ast.Ident).Name + "." + of.Sel.Name {
			case "context.Context", "io.Reader", "io.Writer", "structures.Progress":
				return true
			}
		}
	}
	return false
}

// nameOf is the name of a type of the same package, without a pointer and parameters; "" of others.
func nameOf(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return nameOf(of.X)
	case *ast.IndexExpr:
		return nameOf(of.X)
	case *ast.IndexListExpr:
		return nameOf(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}

// typesOf are the names of a handle's type and of what that embeds, as asking has them.
func typesOf(x any) (names []string) {
	of := reflect.TypeOf(x)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	name, _, _ := strings.Cut(of.String(), "[")
	names = append(names, name)
	for i := range of.NumField() {
		if f := of.Field(i); f.Anonymous {
			names = append(names, f.Type.String())
		}
	}
	return names
}
