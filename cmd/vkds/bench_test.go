package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

func TestBenchSlabHash(t *testing.T) {
	needDevice(t)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	out, notes := answer(t, "", "bench", "slabhash", "--n", "10,3000", "--repeat", "2", "--op",
		"build,find-all,gamma1,end-to-end",
		"--json", file("f.json"))
	for _, want := range []string{"Benchmarkslabhash/build/n=1024/load=0.7/tile=0 1 ", "n=3000", "find-all", "gamma1",
		"end-to-end-insert-kept-slices", "of-time-of-copies-insert-kept-slices", "device: "} {
		assert.Contains(t, out, want)
	}
	assert.Empty(t, notes)

	whole, err := os.ReadFile(file("f.json"))
	require.NoError(t, err)
	var report struct {
		Measurements []struct {
			Op   string
			N    int
			Wall []int64
		}
	}
	require.NoError(t, json.Unmarshal(whole, &report))
	require.Len(t, report.Measurements, 2*(3+4))
	assert.Equal(t, 1024, report.Measurements[0].N)
	assert.Len(t, report.Measurements[0].Wall, 2)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
}

func TestBenchLoadAndAlloc(t *testing.T) {
	needDevice(t)
	out, _ := answer(t, "", "bench", "slabhash", "--n", "12", "--repeat", "1", "--op", "find-none", "--load", "0.3,0.8")
	assert.Contains(t, out, "load=0.3/")
	out, _ = answer(t, "", "bench", "alloc", "--n", "10", "--repeat", "1")
	assert.Contains(t, out, "allocate")
	assert.Contains(t, out, "free")
}

func TestBenchOrderedAndPrimitives(t *testing.T) {
	needDevice(t)
	out, _ := answer(t, "", "bench", "lsm", "--n", "10", "--batch", "7,8", "--repeat", "1")
	for _, want := range []string{"insert", "find-exist", "levels=full/length=8", "cleanup", "stale=0.5"} {
		assert.Contains(t, out, want)
	}
	out, _ = answer(t, "", "bench", "sortedarray", "--op", "range", "--n", "10", "--repeat", "1", "--length", "4,16",
		"--order", "descending")
	assert.Contains(t, out, "length=16/descending")
	out, _ = answer(t, "", "bench", "btree", "--n", "10,11", "--batch", "8", "--repeat", "1", "--path", "batched",
		"--fill", "0.9", "--tile", "1",
		"--op", "build,insert-batch,alpha-0.6,successor", "--order", "ascending")
	for _, want := range []string{"insert-batch", "batch=2^8/ascending/batched", "successor", "load=0.9/"} {
		assert.Contains(t, out, want)
	}
	out, _ = answer(t, "", "bench", "sort", "--n", "8,10", "--repeat", "1", "--form", "multi-pass", "--order",
		"descending")
	assert.Contains(t, out, "descending/multi-pass")
	out, _ = answer(t, "", "bench", "scan", "--n", "8", "--repeat", "1", "--width", "32,64")
	assert.Contains(t, out, "width=64")
	out, _ = answer(t, "", "bench", "search", "--n", "10", "--op", "sorted", "--repeat", "1")
	assert.Contains(t, out, "sorted")
}

func TestBenchRefusals(t *testing.T) {
	needDevice(t)
	dir := t.TempDir()
	for _, c := range []struct{ arguments, want string }{
		{"bench slabhash --op biuld", `no operation "biuld"; there are build, `},
		{"bench graph --op nonsense --n 12", `no operation "nonsense"; there are build, `},
		{"bench slabhash --n 3", "--n 3: "},
		{"bench slabhash --n 5000000000", "--n 5000000000: "},
		{"bench slabhash --load 0", "--load 0: above 0"},
		{"bench slabhash --tile 3 --n 8", "power of two"},
		{"bench slabhash --repeat -1", "negative"},
		{"bench slabhash --json " + dir, "is a directory"},
		{"bench slabhash --json " + filepath.Join(dir, "none", "f.json"), notThere(filepath.Join(dir, "none"))},
		{"bench alloc --n 2", "--n 2: "},
		{"bench lsm --batch 0", "--batch 0: "},
		{"bench lsm --batch 2", "option Batch: 4"},
		{"bench lsm --batch 100", "power of two"},
		{"bench lsm --op cleanups", `no operation "cleanups"; there are insert, `},
		{"bench lsm --levels most", `--levels most: unknown levels "most" (known: full, one)`},
		{"bench btree --path shortest", `--path shortest: unknown path "shortest" (known: concurrent, batched)`},
		{"bench btree --fill 1.5", "above 0 and up to 1"},
		{"bench btree --fill nan", "--fill nan: above 0 and up to 1"},
		{"bench sortedarray --order up", `--order up: unknown order "up"`},
		{"bench sortedarray --length 0", "--length 0: "},
		{"bench sort --form both", `--form both: unknown form "both"`},
		{"bench scan --width 16", "--width 16: 32 or 64"},
		{"bench slabhash --skew 0.3", "--skew: changes nothing of build, find-all, "},
		{"bench slabhash --skew 0.3 --op build", "--skew: changes nothing of build: it is for add-skewed, find-skewed"},
		{"bench btree --op find-exist,alpha-0.2 --path batched",
			"--path: changes nothing of find-exist, alpha-0.2: it is for insert, "},
		{"bench btree --op alpha-0.2 --length 8", "--length: changes nothing of alpha-0.2: "},
		{"bench lsm --op insert --levels one", "--levels: changes nothing of insert: "},
		{"bench sortedarray --op find-none --batch 8", "--batch: changes nothing of find-none: it is for insert"},
		{"bench scan --op reduce --form multi-pass", "--form: changes nothing of reduce"},
		{"bench merge --form multi-pass", "unknown flag: --form"},
		{"bench scan --op sum", `no operation "sum"; there are exclusive, `},
		{"bench slabhash --n 6 --device no-such-device", "no-such-device"},
	} {
		assert.Contains(t, refusal(t, "", strings.Fields(c.arguments)...), c.want, c.arguments)
	}
}

// The tool takes every line of the scripts that measure: it refuses only the device, which it looks at last.
func TestBenchLinesOfScripts(t *testing.T) {
	for _, name := range []string{"compare", "figures"} {
		script, err := os.ReadFile(filepath.Join("..", "..", "scripts", name))
		require.NoError(t, err)
		list := regexp.MustCompile(`(?s)\nbenchmarks=\((.+?)\n\)`).FindSubmatch(script)
		require.NotNil(t, list)
		lines := regexp.MustCompile(`"(.+?)"`).FindAllSubmatch(list[1], -1)
		require.Greater(t, len(lines), 10)
		for _, line := range lines {
			benchmark, flags, _ := strings.Cut(string(line[1]), " ")
			benchmark, _, _ = strings.Cut(benchmark, "-")
			arguments := benchmark + " " + regexp.MustCompile(`\$\w+`).ReplaceAllString(flags, "8")
			assert.Contains(t, refusal(t, "", strings.Fields("bench "+arguments+" --device no-such-device")...),
				"no-such-device", arguments)
		}
	}
}

// What the driver tells of kernels, or that it tells nothing, before anything is measured.
func TestBenchKernels(t *testing.T) {
	needDevice(t)
	path := filepath.Join(t.TempDir(), "kernels.json")
	out, notes, status := runTool("", "bench", "alloc", "--n", "10", "--kernels", path)
	if status != 0 {
		assert.Contains(t, notes, "lacks pipelineExecutableInfo")
		assert.Empty(t, out)
		assert.NoFileExists(t, path)
		return
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var kernels []vk.KernelReport
	require.NoError(t, json.Unmarshal(text, &kernels))
	assert.Equal(t, "bench/slab_allocate", kernels[0].Module)
	assert.NotEmpty(t, kernels[0].Statistics)
}
