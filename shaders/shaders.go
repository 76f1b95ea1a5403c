// Package shaders holds the device side of vkds: the GLSL headers that other people's compute shaders
// may include (folder include), the kernels written over them, and the SPIR-V those kernels compile to.
// Headers and SPIR-V are embedded here, so that building and installing vkds needs no shader compiler.
//
// "make shaders" compiles the kernels; the file variants.txt says which variants each one has.
package shaders

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed include/*.glsl
var embedded embed.FS

const (
	suffix  = ".spv"
	headers = "include"
)

// Module is one compiled kernel: of ours by Load, or of yours, put together by hand.
type Module struct {
	Name string // of ours its source's path without the extension, then its variant: "slabhash/apply.a64"
	Code []byte // SPIR-V: 32-bit words, little endian
}

// NotFoundError says that no module has the name asked for.
type NotFoundError struct {
	Name string
	Near []string // the modules in the same folder, sorted; empty where there is no such folder
}

func (e *NotFoundError) Error() string {
	if len(e.Near) == 0 {
		return fmt.Sprintf("shaders: no module %q", e.Name)
	}
	return fmt.Sprintf("shaders: no module %q (have %s)", e.Name, strings.Join(e.Near, ", "))
}

// Load returns the module of that name. The caller owns its Code. Error: *NotFoundError if there is no such module.
func Load(name string) (Module, error) {
	code, err := fs.ReadFile(modules, name+suffix)
	if err != nil {
		missing := &NotFoundError{Name: name}
		for _, other := range names() {
			if path.Dir(other) == path.Dir(name) {
				missing.Near = append(missing.Near, other)
			}
		}
		return Module{}, missing
	}
	return Module{Name: name, Code: code}, nil
}

// Names returns the names of all modules, sorted.
func Names() []string { return slices.Clone(names()) }

// Headers returns the device-side library, one GLSL file a concept ("tile.glsl"), for programs that compile
// shaders of their own against it.
func Headers() fs.FS {
	tree, err := fs.Sub(embedded, headers)
	if err != nil {
		panic(err) // only a path that is none fails
	}
	return tree
}

var names = sync.OnceValue(func() []string {
	var all []string
	err := fs.WalkDir(modules, ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(file, suffix) {
			all = append(all, strings.TrimSuffix(file, suffix))
		}
		return err
	})
	if err != nil {
		panic(err) // the modules are part of the binary, but for tests under chaos
	}
	slices.Sort(all)
	return all
})
