package generics

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program test/outside calls each generic function and each method of a generic type that users can call, in a
// module of its own. A test can't see what goes wrong there (docs/notes/generic-closures.md).
func TestAllIsCalledFromOutside(t *testing.T) {
	used := map[string]bool{}
	for _, p := range load(t, root+"/test/outside", "./...") {
		p.uses(used)
	}
	var missing []string
	for _, p := range load(t, root, "./vk", "./alloc", "./doctor/...", "./shaders", "./structures/...") {
		if strings.Contains(p.pkg.Path(), "/internal/") {
			continue
		}
		for _, name := range exportedGenerics(p.pkg) {
			if !used[name] {
				missing = append(missing, name)
			}
		}
	}
	require.Empty(t, missing, "test/outside calls none of these")
}

// exportedGenerics are the generic functions of a package and all methods of its types that are generic, or that have
// methods of types that are, by their full names.
func exportedGenerics(pkg *types.Package) (names []string) {
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		if f, ok := o.(*types.Func); ok && f.Signature().TypeParams().Len() != 0 {
			names = append(names, fullName(o))
		}
		of, ok := types.Unalias(o.Type()).(*types.Named)
		if _, isType := o.(*types.TypeName); !isType || !ok || types.IsInterface(of) {
			continue
		}
		methods := types.NewMethodSet(types.NewPointer(of))
		for i := range methods.Len() {
			f := methods.At(i).Obj().(*types.Func)
			if f.Exported() && (of.TypeParams().Len() != 0 || f.Signature().RecvTypeParams().Len() != 0) {
				names = append(names, methodName(of, f.Name()))
			}
		}
	}
	return names
}

func fullName(o types.Object) string { return o.Pkg().Path() + "." + o.Name() }

func methodName(of *types.Named, method string) string {
	return fullName(of.Obj()) + "." + method
}

// namedType is a type, or what it points to, if that has a name.
func namedType(t types.Type) *types.Named {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	return n
}

// uses notes what a package uses: functions; methods of types; and those of an interface for each type that a value of
// is passed on as that interface, by a function's parameter or by another one that embeds the interface.
func (p *source) uses(used map[string]bool) {
	methods := map[string][]string{} // that are called of an interface
	passed := map[string][]string{}  // to an interface: what
	for _, o := range p.info.Uses {
		if f, ok := o.(*types.Func); ok && f.Signature().Recv() == nil {
			used[fullName(f)] = true
		}
	}
	for _, s := range p.info.Selections {
		if of := namedType(s.Recv()); of != nil && s.Kind() == types.MethodVal {
			used[methodName(of, s.Obj().Name())] = true
			methods[fullName(of.Obj())] = append(methods[fullName(of.Obj())], s.Obj().Name())
		}
	}
	for _, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			f, ok := p.info.TypeOf(call.Fun).(*types.Signature)
			if !ok {
				return true
			}
			for i, x := range call.Args {
				parameter := f.Params().At(min(i, f.Params().Len()-1)).Type()
				to, of := namedType(parameter), namedType(p.info.TypeOf(x))
				if to != nil && of != nil && types.IsInterface(to) && to.Obj() != of.Obj() {
					passed[fullName(of.Obj())] = append(passed[fullName(of.Obj())], fullName(to.Obj()))
				}
			}
			return true
		})
	}
	for of, all := range passed {
		for len(all) > 0 {
			to := all[0]
			all = append(all[1:], passed[to]...)
			for _, method := range slices.Compact(methods[to]) {
				used[of+"."+method] = true
			}
		}
	}
}
