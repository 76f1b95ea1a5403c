package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
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
		"tally W --top 7", "tally W --json", "verify S",
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

// Where nothing names a device and there is no GPU, dictionaries are kept in the host's memory, also where there is no
// driver at all; what looks at a structure, and what needs a device, has the CPU driver's.
func TestHostWithoutGPU(t *testing.T) {
	devices, err := vk.List()
	require.NoError(t, err)
	for _, d := range devices {
		if d.Type != vk.CPU {
			t.Skip("there is a GPU: " + d.String())
		}
	}
	if os.Getenv("VKDS_VALIDATION") == "1" {
		t.Skip("--validation asks for a device")
	}
	t.Setenv("VKDS_DEVICE", "")
	table := write(t, "t.csv", "1,10\n2,20\n2,30\n")
	saved := filepath.Join(t.TempDir(), "saved.vkds")
	everywhere := func() {
		for _, command := range [][]string{
			{"tally", table, "--column", "1"}, {"get", table, "2"}, {"dump", table, "--structure", "btree"},
			{"build", table, "-o", saved}, {"min", saved},
		} {
			_, notes := answer(t, "", command...)
			assert.Contains(t, notes, "the host", command)
		}
	}
	everywhere()
	stats, _ := answer(t, "", "stats", saved, "--json")
	assert.Contains(t, stats, devices[0].Name)
	_, notes := answer(t, "", "tally", table, "--column", "1", "--device", "cpu")
	assert.Contains(t, notes, devices[0].Name)
	assert.Contains(t, refusal(t, "", "tally", table, "--device", "gpu"), `no device "gpu"`)
	t.Setenv("VK_DRIVER_FILES", filepath.Join(t.TempDir(), "none.json"))
	everywhere()
	assert.Contains(t, refusal(t, "", "stats", saved), "no Vulkan driver is installed")
}
