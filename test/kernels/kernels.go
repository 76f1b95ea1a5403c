// Package kernels has the kernels that only tests run, shaders/test, beside those of package shaders: a program that
// imports the library is not to carry them.
package kernels

import (
	"embed"
	"slices"
	"strings"

	"github.com/vkds/vkds/shaders"
)

//go:embed *.spv
var own embed.FS

const (
	folder = "test/"
	suffix = ".spv"
)

// Load is shaders.Load for all modules, the tests' among them. Those with random delays are all in one place, which
// package shaders knows.
func Load(name string) (shaders.Module, error) {
	m, missing := shaders.Load(name)
	file, ours := strings.CutPrefix(name, folder)
	if missing == nil || !ours {
		return m, missing
	}
	code, err := own.ReadFile(file + suffix)
	if err != nil {
		return m, missing
	}
	return shaders.Module{Name: name, Code: code}, nil
}

// Names returns the names of all modules, the tests' among them, sorted.
func Names() []string {
	all := shaders.Names()
	files, err := own.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the binary
	}
	for _, f := range files {
		all = append(all, folder+strings.TrimSuffix(f.Name(), suffix))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
