package shaders

import (
	"embed"
	"io/fs"
	"os"
)

//go:embed spv
var spirv embed.FS

// chaos is where the kernels with random delays are (include/chaos.glsl). Tests alone have them, by the linker's flag
// -X: with a tag all would be compiled anew.
var chaos string

// modules are the compiled kernels.
var modules = func() fs.FS {
	if chaos != "" {
		return os.DirFS(chaos)
	}
	tree, err := fs.Sub(spirv, "spv")
	if err != nil {
		panic(err) // only a path that is none fails
	}
	return tree
}()
