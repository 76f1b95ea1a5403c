package shader

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
)

// ours are the headers that one of our structures' kernels are made of and nobody else's: these kernels' own tests drive
// their functions, with what surrounds them. All others' are driven by the small kernels of shaders/test.
var ours = map[string]string{ // header: folder of the kernels
	"btree_batch.glsl": "btree", "btree_batch_apply.glsl": "btree", "btree_batch_halve.glsl": "btree",
	"btree_batch_leaves.glsl": "btree", "btree_batch_marks.glsl": "btree", "btree_batch_merge.glsl": "btree",
	"btree_batch_nodes.glsl": "btree", "btree_batch_record.glsl": "btree", "btree_batch_split.glsl": "btree",
	"btree_batch_stage.glsl": "btree", "btree_batch_sum.glsl": "btree",
	"btree_build.glsl": "btree", "btree_build_inner.glsl": "btree", "btree_top.glsl": "btree",
	"chunk.glsl": "primitives", "length.glsl": "primitives", "merge_tile.glsl": "primitives", "pack.glsl": "primitives",
	"partition.glsl": "primitives", "radix.glsl": "primitives", "run_head.glsl": "primitives",
	"search_index.glsl": "primitives", "segment_tile.glsl": "primitives",
	"range_part.glsl": "btree",
}

var (
	comment    = regexp.MustCompile(`//[^\n]*`)
	definition = regexp.MustCompile(`(?m)^(?:\w+[ \t]+)+(\w+)\([^;{}]*\)\s*\{`)
)

// functionsOf returns the names of the functions that a header defines.
func functionsOf(t *testing.T, header string) (names []string) {
	text, err := fs.ReadFile(shaders.Headers(), header)
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
	drivenBy := map[string]map[string]bool{} // folder: functions
	for _, name := range shaders.Names() {
		folder := path.Dir(name)
		if drivenBy[folder] == nil {
			drivenBy[folder] = map[string]bool{}
		}
		m, err := shaders.Load(name)
		require.NoError(t, err)
		for _, f := range called(m) {
			drivenBy[folder][f] = true
		}
	}
	headers, err := fs.Glob(shaders.Headers(), "*.glsl")
	require.NoError(t, err)
	require.NotEmpty(t, headers)
	for header := range ours {
		require.Contains(t, headers, header)
	}
	var missing []string
	for _, header := range headers {
		if header == "chaos.glsl" {
			continue // of the kernels of "make test-chaos", all of them
		}
		folder, own := ours[header]
		if !own {
			folder = "test"
		}
		for _, f := range functionsOf(t, header) {
			if !drivenBy[folder][f] {
				missing = append(missing, fmt.Sprintf("%s: %s (by no kernel of %s)", header, f, folder))
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, missing, "%s", strings.Join(missing, "\n"))
}
