//go:build !chaos

package shaders

import (
	"embed"
	"io/fs"
)

//go:embed spv
var spirv embed.FS

// modules are the compiled kernels.
var modules = func() fs.FS {
	tree, err := fs.Sub(spirv, "spv")
	if err != nil {
		panic(err) // only a path that is none fails
	}
	return tree
}()
