package shaders_test

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/test/kernels"
)

func TestEveryModuleLoads(t *testing.T) {
	all := kernels.Names()
	require.NotEmpty(t, all)
	require.True(t, slices.IsSorted(all))
	for _, name := range all {
		module, err := kernels.Load(name)
		require.NoError(t, err)
		require.Equal(t, name, module.Name)
		require.Zero(t, len(module.Code)%4, "%s is not whole words", name)
		require.Greater(t, len(module.Code), 20, "%s is shorter than a SPIR-V header", name)
		require.Equal(t, uint32(0x07230203), binary.LittleEndian.Uint32(module.Code), "%s has no SPIR-V magic", name)
		require.Equal(t, uint32(0x00010600), binary.LittleEndian.Uint32(module.Code[4:]), "%s is not SPIR-V 1.6", name)
	}
}

// The caller of Load owns the code: changing it must not change what the next caller gets.
func TestLoadCopies(t *testing.T) {
	name := shaders.Names()[0]
	first, err := shaders.Load(name)
	require.NoError(t, err)
	first.Code[0] ^= 0xff
	second, err := shaders.Load(name)
	require.NoError(t, err)
	require.NotEqual(t, first.Code[0], second.Code[0])
}

func TestLoadOfAnUnknownName(t *testing.T) {
	known := shaders.Names()[0]
	folder, _, _ := strings.Cut(known, "/")
	for name, near := range map[string]bool{
		folder + "/no-such-kernel": true,
		"no-such-folder/kernel":    false,
		"":                         false,
		"../shaders":               false,
		folder:                     false,
	} {
		_, err := shaders.Load(name)
		var missing *shaders.NotFoundError
		require.True(t, errors.As(err, &missing), "%q: %v", name, err)
		require.Equal(t, name, missing.Name)
		require.Equal(t, near, slices.Contains(missing.Near, known), "%q: %v", name, err)
	}
}

func TestHeaders(t *testing.T) {
	files, err := filepath.Glob("include/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		have, err := fs.ReadFile(shaders.Headers(), filepath.Base(file))
		require.NoError(t, err)
		require.Equal(t, string(want), string(have))
	}
}

// Every kernel in the tree has at least one module, and every module a kernel: nothing stale is embedded.
func TestModulesMatchSources(t *testing.T) {
	sources := map[string]bool{}
	require.NoError(t, fs.WalkDir(os.DirFS("."), ".", func(file string, _ fs.DirEntry, err error) error {
		if kernel, is := strings.CutSuffix(file, ".comp"); is {
			sources[kernel] = false
		}
		return err
	}))
	// Those of the window are embedded by a package behind a build tag.
	all, err := filepath.Glob("../internal/tool/draw/spv/*.spv")
	require.NoError(t, err)
	for i, file := range all {
		all[i] = "window/" + filepath.Base(file)
	}
	for _, name := range append(all, kernels.Names()...) {
		source, _, _ := strings.Cut(name, ".")
		require.Contains(t, sources, source, "module %s has no source", name)
		sources[source] = true
	}
	for source, compiled := range sources {
		require.True(t, compiled, "%s.comp has no module: run make shaders", source)
	}
}

// Lines of GLSL have at most 120 columns.
func TestLinesFit(t *testing.T) {
	require.NoError(t, filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if extension := filepath.Ext(file); err != nil || extension != ".glsl" && extension != ".comp" {
			return err
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 120, "%s:%d", file, i+1)
		}
		return nil
	}))
}
