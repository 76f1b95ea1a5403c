package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/bench"
)

// reportFile writes a report of a structure, as vkds bench does.
func reportFile(t *testing.T, structure string, ops ...string) string {
	t.Helper()
	r := bench.Report{Environment: bench.Environment{Device: "a device", Seed: 3}}
	for _, op := range ops {
		m := bench.Measurement{Structure: structure, Op: op, N: 3000, Operations: 3000,
			Device: []time.Duration{time.Millisecond}}
		if op == "range" {
			m.Length = 8
		}
		r.Measurements = append(r.Measurements, m)
	}
	path := filepath.Join(t.TempDir(), "report.json")
	text, err := json.Marshal(r)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o644))
	return path
}

// The answers of each peer are checked where it is measured.
func TestEveryPeerIsMeasured(t *testing.T) {
	for structure, c := range map[string]struct {
		ops  []string
		want []string
	}{
		"slabhash": {[]string{"build", "find-all", "end-to-end-find-kept-slices"},
			[]string{"Go map,insert", "Go map,find", "xsync.Map,insert", "xsync.Map,find"}},
		"btree": {[]string{"insert", "find-beside", "range"}, []string{
			"tidwall/btree,insert", "tidwall/btree,find", "tidwall/btree,range", "google/btree,insert",
			"google/btree,find", "google/btree,range"}},
	} {
		figures := filepath.Join(t.TempDir(), "figures.json")
		var table strings.Builder
		require.NoError(t, run(t.Context(), []string{"-repeat", "2", "-json", figures, reportFile(t, structure,
			c.ops...)},
			&table))
		report, err := bench.ReadFile(figures)
		require.NoError(t, err)
		rows := report.Measurements[len(c.ops):]
		require.Len(t, rows, len(c.want))
		for i, want := range c.want {
			require.Equal(t, want, rows[i].Structure+","+rows[i].Op)
			require.Equal(t, 3000, rows[i].N)
			require.NotEmpty(t, rows[i].Properties)
			require.Contains(t, rows[i].Properties[0].Unit, "of-time-of-"+structure, "what it is beside")
			require.Contains(t, table.String(), "\nBenchmark"+strings.ReplaceAll(rows[i].Structure, " ", "")+"/")
		}
	}
}

func TestReportsThatCanNotBe(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"Measurements": [`), 0o644))
	for want, arguments := range map[string][]string{
		"one report":             {},
		"no such file":           {"no-such-file.json"},
		"unexpected end of JSON": {broken},
		"nothing was measured":   {reportFile(t, "btree")},
		"at least 1":             {"-repeat", "0", broken},
	} {
		require.ErrorContains(t, run(t.Context(), arguments, os.Stdout), want)
	}
}

// Lines are counted by a Go map.
func TestCount(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(file, []byte("a,b\n 1 x\na,b\n"), 0o644))
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"count", file}, &out))
	require.Equal(t, "key,count\n\"a,b\",2\n\" 1 x\",1\n", out.String())
	require.ErrorContains(t, run(t.Context(), []string{"count"}, &out), "one file")
}

// A graph's peers agree on it, and one that doesn't is told of.
func TestGraphPeers(t *testing.T) {
	from, to := []uint32{0, 1, 2, 5, 3, 1}, []uint32{1, 2, 0, 6, 0, 3}
	var r bench.Report
	said := map[string]uint64{}
	for _, p := range []graphPeer{mapOfMaps(), gonumGraph()} {
		require.NoError(t, p.measure(&r, "six", from, to, 2, said))
	}
	require.Equal(t, map[string]uint64{"insert": 0, "find": 6, "search": 4, "triangles": 2}, said)
	require.Len(t, r.Measurements, 8)
	require.Len(t, r.Measurements[7].Wall, 2)
	require.Equal(t, "gonum/triangles/n=6/six", r.Measurements[7].Name())
	wrong := mapOfMaps()
	wrong.find = func(from, to []uint32) (int, error) { return 5, nil }
	require.ErrorContains(t, wrong.measure(&r, "six", from, to, 1, said), "find: 5 instead of 6")
	require.ErrorContains(t, run(t.Context(), []string{"graph"}, os.Stdout), "a file of edges")
}
