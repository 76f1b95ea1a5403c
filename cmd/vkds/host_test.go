package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without a device every command on dictionaries answers as with one, and writes files that both load.
func TestDeviceNone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	table, words, text := filepath.Join(folder, "t.csv"), filepath.Join(folder, "w.txt"), filepath.Join(folder, "n.csv")
	var rows, lines, names strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&rows, "%d,%d\n", i*i%1777-800, i-1500)
		fmt.Fprintf(&lines, "word %d\n", i%37)
		fmt.Fprintf(&names, "name %d,%d\n", i%501, i)
	}
	for path, b := range map[string]*strings.Builder{table: &rows, words: &lines, text: &names} {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	}
	saved := filepath.Join(folder, "saved.vkds")
	answer(t, "", "build", table, "-o", saved)
	for _, command := range []string{
		"get T 0 5 900", "get S 5 900 --structure btree", "dump T --structure btree",
		"dump T --structure sortedarray", "dump N --structure lsm", "get N name_7 nobody", "range S -- -10:10",
		"range T --limit 3 -- -800:-700", "count T 0:10 0:0",
		"min T", "max S --limit 3", "floor T 3 -801", "successor S 3", "top T --limit 5", "top T --least --limit 5",
		"top N",
		"tally W --top 7", "tally W --json", "distinct T", "verify S",
	} {
		arguments := strings.Fields(command)
		for i, a := range arguments {
			if path, ok := map[string]string{"T": table, "S": saved, "N": text, "W": words}[a]; ok {
				a = path
			}
			arguments[i] = strings.ReplaceAll(a, "_", " ")
		}
		want, said, status := runTool("", arguments...)
		got, notes, none := runTool("", append([]string{"--device", "none"}, arguments...)...)
		require.Equal(t, status, none, "%v: %s", command, notes)
		assert.Equal(t, want, got, command)
		if status != 0 {
			assert.Equal(t, said, notes, command)
		}
	}
	changed := filepath.Join(folder, "changed.vkds")
	answer(t, "", "build", table, "-o", changed, "--structure", "btree", "--device", "none")
	answer(t, "77777,1\n-3,2\n", "update", changed, "-", "--device", "none")
	answer(t, "77777,1\n-3,2\n", "update", saved, "-")
	want, _ := answer(t, "", "dump", saved, "--structure", "btree")
	got, _ := answer(t, "", "dump", changed)
	assert.Equal(t, want, got)
	stats, _ := answer(t, "", "stats", changed, "--device", "none", "--json")
	assert.Contains(t, stats, `"device": "the host"`)
	karate := filepath.Join("..", "..", "testdata", "karate.mtx")
	for _, command := range [][]string{{"doctor"}, {"graph", "stats", karate},
		{"bench", "search"}} {
		assert.Contains(t, refusal(t, "", append(command, "--device", "none")...), "--device none is for dictionaries")
	}
	assert.Contains(t, refusal(t, "", "inspect", changed, "--svg", filepath.Join(folder, "x.svg"), "--device", "none"),
		"--device none: pictures")
}
