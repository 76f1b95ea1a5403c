package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
	"gonum.org/v1/plot/plotter"
)

// The page has what the reports say that lie beside it.
func TestThePageHasTheReportsFigures(t *testing.T) {
	page, err := os.ReadFile("../benchmarks.md")
	require.NoError(t, err)
	made, err := tables(string(page), ".")
	require.NoError(t, err)
	require.Equal(t, made, string(page), "go run ./docs/benchmarks")
	require.NotEmpty(t, directive.FindString(string(page)))
}

func report() bench.Report {
	of := func(op string, n int, took time.Duration) bench.Measurement {
		return bench.Measurement{Structure: "btree", Op: op, N: n, Operations: n, Device: []time.Duration{took}}
	}
	return bench.Report{Measurements: []bench.Measurement{of("build", 1<<10, time.Microsecond),
		of("build", 1<<12, 2*time.Microsecond), of("insert-batch", 1<<10, time.Second)}}
}

func TestTables(t *testing.T) {
	folder := t.TempDir()
	text, err := json.Marshal(report())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "r.json"), text, 0o644))
	page := func(name, row, figures string) string {
		return "Text.\n\n<!-- figures of " + name + " by n\n" + row +
			"\n-->\n| M/s | 2¹⁰ | 2¹¹ | 2¹² |\n|---|---|---|---|\n" +
			"| **ours** | " + figures + " |\n| theirs | 1 | 2 | 3 |\n\nText.\n"
	}
	for _, name := range []string{"r.json", "none.json"} {
		want := "1024 | | 2048"
		if name == "none.json" { // a report that isn't there leaves the table as it is
			want = "old"
		}
		made, err := tables(page(name, "**ours** = btree/build", "old"), folder)
		require.NoError(t, err)
		require.Equal(t, page(name, "**ours** = btree/build", want), made)
	}
	_, err = tables(page("r.json", "**others** = btree/build", ""), folder)
	require.ErrorContains(t, err, `r.json: no row "**others**"`)
	_, err = tables(page("r.json", "**ours** = btree", ""), folder)
	require.ErrorContains(t, err, "two figures for **ours**, 2¹⁰")
	r := bench.Report{Measurements: []bench.Measurement{{Structure: "graph", Op: "bfs", Form: "rmat, csr",
		Operations: 1, Wall: []time.Duration{3 * time.Millisecond}}}}
	made, err := filled("| | csr | live |\n|---|---|---|\n| search | | |\n", r, "on",
		[]string{"search = graph/bfs in ms"})
	require.NoError(t, err)
	require.Equal(t, "| | csr | live |\n|---|---|---|\n| search | 3.00 | |\n", made)
}

func TestPictures(t *testing.T) {
	r := report()
	names, points := lines(r, "n")
	require.Equal(t, []string{"btree build", "btree insert-batch"}, names)
	require.Equal(t, plotter.XYs{{X: 1024, Y: 1024}, {X: 4096, Y: 2048}}, points["btree build"])
	path := filepath.Join(t.TempDir(), "plot.svg")
	require.NoError(t, picture(r, "n", path))
	require.FileExists(t, path)
	require.ErrorContains(t, picture(r, "colour", path), "-x colour")

	series := bench.Report{Measurements: []bench.Measurement{{Structure: "lsm", Op: "insert", Batch: 1 << 10,
		Steps: []time.Duration{1024 * time.Microsecond, 3072 * time.Microsecond}}}}
	_, points = lines(series, "batches")
	require.Equal(t, plotter.XYs{{X: 1, Y: 1}, {X: 2, Y: 0.5}}, points["lsm, b = 2^10"])
}
