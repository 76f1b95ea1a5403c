package generics

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is a package's code, with its types.
type source struct {
	pkg   *types.Package
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// load reads and checks the packages of patterns, by the module of a folder.
func load(t *testing.T, folder string, patterns ...string) (all []*source) {
	list := exec.Command("go", append([]string{"list", "-export", "-deps",
		"-compiled", "-json=ImportPath,Dir,CompiledGoFiles,Export,DepOnly"}, patterns...)...)
	list.Dir = folder
	var errors bytes.Buffer
	list.Stderr = &errors
	out, err := list.Output()
	require.NoError(t, err, errors.String())
	type listed struct {
		ImportPath, Dir, Export string
		CompiledGoFiles         []string // those with C as cgo makes them
		DepOnly                 bool
	}
	var asked []listed
	exports := map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		require.NoError(t, d.Decode(&p))
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			asked = append(asked, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for _, p := range asked {
		var files []*ast.File
		for _, name := range p.CompiledGoFiles {
			if !filepath.IsAbs(name) {
				name = filepath.Join(p.Dir, name)
			}
			f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, f)
		}
		all = append(all, check(t, fset, p.ImportPath, files, imports))
	}
	return all
}

// check finds out the types of a package.
func check(t *testing.T, fset *token.FileSet, path string, files []*ast.File, imports types.Importer) *source {
	s := &source{fset: fset, files: files, info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Implicits: map[ast.Node]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	var err error
	s.pkg, err = (&types.Config{Importer: imports}).Check(path, fset, files, s.info)
	require.NoError(t, err)
	return s
}
