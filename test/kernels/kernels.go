// Package kernels has the kernels that only tests or benchmarks run, shaders/test and shaders/bench, beside those of
// package shaders: a program that imports the library does not carry them.
package kernels

import (
	"embed"
	"slices"
	"strings"

	bench "github.com/vkds/vkds/internal/tool/bench/kernels"
	"github.com/vkds/vkds/shaders"
)

//go:embed *.spv
var own embed.FS

const suffix = ".spv"

// others are the folders of kernels that package shaders does not have.
var others = map[string]embed.FS{"test": own, "bench": bench.Files}

// Load is shaders.Load for all modules, the tests' among them. Those with random delays are all in one place, which
// package shaders knows.
func Load(name string) (shaders.Module, error) {
	m, missing := shaders.Load(name)
	folder, file, _ := strings.Cut(name, "/")
	if files, ours := others[folder]; missing != nil && ours {
		if code, err := files.ReadFile(file + suffix); err == nil {
			return shaders.Module{Name: name, Code: code}, nil
		}
	}
	return m, missing
}

// Names returns the names of all modules, the tests' among them, sorted.
func Names() []string {
	all := shaders.Names()
	for folder, in := range others {
		files, err := in.ReadDir(".")
		if err != nil {
			panic(err) // the files are part of the binary
		}
		for _, f := range files {
			all = append(all, folder+"/"+strings.TrimSuffix(f.Name(), suffix))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
