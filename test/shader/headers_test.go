package shader

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/test/kernels"
)

// Which kernels call a header's functions: those of the folder where it stands, whose own tests then drive them with
// what surrounds them, and for the public library the small kernels of shaders/test. These are the exceptions.
var drivenBy = map[string]string{ // header: folder of the kernels
	"include/btree_prefix_index.glsl": "btree", "include/length.glsl": "primitives",
	"include/trace.glsl":     "traced",
	"primitives/bitmap.glsl": "test", "primitives/look_back.glsl": "test", "primitives/merge_path.glsl": "test",
	"primitives/segment.glsl": "test", "primitives/workgroup_sum.glsl": "test",
	"runs/run_index.glsl": "test", "runs/run_search.glsl": "test", "runs/sorted_run.glsl": "test",
	"slabhash/slab_compact.glsl": "test",
}

// sources are the GLSL files, of the public library and beside the kernels.
var sources = os.DirFS("../../shaders")

// headersOf returns all headers, by their paths.
func headersOf(t *testing.T) (headers []string) {
	require.NoError(t, fs.WalkDir(sources, ".", func(file string, _ fs.DirEntry, err error) error {
		if path.Ext(file) == ".glsl" {
			headers = append(headers, file)
		}
		return err
	}))
	require.NotEmpty(t, headers)
	return headers
}

var (
	comment    = regexp.MustCompile(`//[^\n]*`)
	definition = regexp.MustCompile(`(?m)^(?:\w+[ \t]+)+(\w+)\([^;{}]*\)\s*\{`)
)

// functionsOf returns the names of the functions that a header defines.
func functionsOf(t *testing.T, header string) (names []string) {
	text, err := fs.ReadFile(sources, header)
	require.NoError(t, err)
	for _, m := range definition.FindAllStringSubmatch(comment.ReplaceAllString(string(text), ""), -1) {
		names = append(names, m[1])
	}
	return names
}

// called returns the names of the functions that a module's entry point reaches.
func called(m shaders.Module) []string {
	const opName, opEntryPoint, opFunction, opFunctionCall = 5, 15, 54, 57
	words := make([]uint32, len(m.Code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(m.Code[4*i:])
	}
	names, calls := map[uint32]string{}, map[uint32][]uint32{}
	var entry, inside uint32
	for at := 5; at < len(words); at += int(words[at] >> 16) {
		switch w := words[at:]; w[0] & 0xffff {
		case opName:
			var name []byte
			for _, letters := range w[2 : w[0]>>16] {
				name = binary.LittleEndian.AppendUint32(name, letters)
			}
			names[w[1]], _, _ = strings.Cut(string(name), "(")
		case opEntryPoint:
			entry = w[2]
		case opFunction:
			inside = w[2]
		case opFunctionCall:
			calls[inside] = append(calls[inside], w[3])
		}
	}
	reached := map[uint32]bool{}
	var visit func(id uint32)
	visit = func(id uint32) {
		if !reached[id] {
			reached[id] = true
			for _, c := range calls[id] {
				visit(c)
			}
		}
	}
	visit(entry)
	var found []string
	for id := range reached {
		found = append(found, names[id])
	}
	return found
}

// Every function of every header is called by a kernel that tests run.
func TestEveryFunctionIsDriven(t *testing.T) {
	calls := map[string]map[string]bool{} // folder: functions that its kernels call
	note := func(folder string, m shaders.Module) {
		if calls[folder] == nil {
			calls[folder] = map[string]bool{}
		}
		for _, f := range called(m) {
			calls[folder][f] = true
		}
	}
	for _, name := range kernels.Names() {
		m, err := kernels.Load(name)
		require.NoError(t, err)
		note(path.Dir(name), m)
		if m, ok := traced.Kernels(0).Module(name); ok { // which the tests of structures/trace run
			note("traced", m)
		}
	}
	files, err := filepath.Glob("../../internal/tool/draw/spv/*.spv") // which that package's tests run
	require.NoError(t, err)
	for _, file := range files {
		code, err := os.ReadFile(file)
		require.NoError(t, err)
		note("window", shaders.Module{Name: file, Code: code})
	}
	headers := headersOf(t)
	for header := range drivenBy {
		require.Contains(t, headers, header)
	}
	var missing []string
	for _, header := range headers {
		if header == "include/chaos.glsl" {
			continue // of the kernels of "make test-chaos", all of them
		}
		folder := path.Dir(header)
		if other, ok := drivenBy[header]; ok {
			folder = other
		} else if folder == "include" {
			folder = "test"
		}
		for _, f := range functionsOf(t, header) {
			if !calls[folder][f] {
				missing = append(missing, fmt.Sprintf("%s: %s (by no kernel of %s)", header, f, folder))
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, missing, "%s", strings.Join(missing, "\n"))
}
