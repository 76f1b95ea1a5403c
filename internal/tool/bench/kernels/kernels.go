// Package kernels has the kernels that only benchmarks run, shaders/bench: a program that imports the library does not
// carry them.
package kernels

import (
	"embed"

	"github.com/vkds/vkds/shaders"
)

// Files are the modules.
//
//go:embed *.spv
var Files embed.FS

// Load returns a module by its name without the folder.
func Load(name string) shaders.Module {
	code, err := Files.ReadFile(name + ".spv")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	return shaders.Module{Name: "bench/" + name, Code: code}
}
