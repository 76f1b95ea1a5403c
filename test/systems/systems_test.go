// Package systems checks the types of our packages as they are on systems that no other test compiles for.
package systems

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// Compilers would find no more, and take minutes of processor time: "make stress" has them. What is checked is without
// cgo, and of other modules and the standard library no bodies of functions are.
func TestOtherSystems(t *testing.T) {
	for _, s := range []struct {
		os, arch string
		packages []string
	}{
		{"linux", "386", []string{"./..."}},
		{"linux", "arm", []string{"./vk/...", "./structures/..."}},
		{"windows", "amd64", []string{"-test", "./vk/...", "./structures/...", "./internal/tool/outfile"}},
		{"darwin", "arm64", []string{"-test", "./vk/...", "./structures/..."}},
	} {
		t.Run(s.os+"_"+s.arch, func(t *testing.T) {
			checked := map[string]*types.Package{"unsafe": types.Unsafe}
			for _, p := range list(t, s.os, s.arch, s.packages) {
				checked[p.ImportPath] = p.check(t, s.arch, checked)
			}
		})
	}
}

type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

// list are the packages, with -test their tests, and all that these import, each behind what it imports.
func list(t *testing.T, system, arch string, packages []string) (all []listed) {
	cmd := exec.Command("go", append([]string{"list", "-deps",
		"-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, packages...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	require.NoError(t, err, errors.String())
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p listed
		require.NoError(t, d.Decode(&p))
		if p.ImportPath != "unsafe" && !strings.HasSuffix(p.ImportPath, ".test") { // the go command's main of a test
			all = append(all, p)
		}
	}
	return all
}

func (p *listed) check(t *testing.T, arch string, checked map[string]*types.Package) *types.Package {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, f)
	}
	config := types.Config{
		Sizes:            types.SizesFor("gc", arch),
		IgnoreFuncBodies: p.Module == nil || !p.Module.Main,
		Importer: importer(func(path string) (*types.Package, error) {
			if mapped, ok := p.ImportMap[path]; ok {
				path = mapped
			}
			require.Contains(t, checked, path)
			return checked[path], nil
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, err := config.Check(path, fset, files, nil)
	require.NoError(t, err, p.ImportPath)
	return pkg
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
