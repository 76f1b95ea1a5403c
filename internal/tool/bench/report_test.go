package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func sample() Report {
	ms := func(all ...float64) []time.Duration {
		var d []time.Duration
		for _, x := range all {
			d = append(d, time.Duration(x*1e6))
		}
		return d
	}
	return Report{
		Environment: Environment{Device: "Some GPU, large", Driver: "1.2", SubgroupSize: 32, Commit: "abc",
			Seed: 9},
		Measurements: []Measurement{
			{Structure: "slabhash", Op: "build", N: 1 << 20, Load: 0.7, Operations: 1 << 20,
				Device: ms(0.3, 0.1, 0.2), Wall: ms(1, 3, 2)},
			{Structure: "slabhash", Op: "build", N: 1 << 22, Load: 0.7, Operations: 1 << 22,
				Device: ms(0.8), Wall: ms(2)},
			{Structure: "slabhash", Op: "clear", N: 1000, Load: 0.7, Tile: 8, Operations: 1000, Bytes: 4e6,
				Wall: ms(2, 4), Properties: []Property{{"of-copy-bandwidth", 0.5}}},
		},
	}
}

func TestMedian(t *testing.T) {
	require.Zero(t, Median(nil))
	require.Equal(t, time.Duration(3), Median([]time.Duration{9, 3, 1}))
	require.Equal(t, time.Duration(5), Median([]time.Duration{9, 3, 1, 7}))
}

func TestJSONHoldsEachRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	text, err := json.Marshal(sample())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o644))
	back, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, sample(), back)
}

func TestEachRunIsALine(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().Write(&b))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Equal(t, []string{"device: Some GPU, large", "driver: 1.2", "commit: abc"}, lines[:3])
	require.Len(t, lines, 3+3+1+2)
	require.Equal(t, "Benchmarkslabhash/build/n=1048576/load=0.7/tile=0 1 300000 ns/op 3495.25 Mop/s "+
		"1000000 wall-ns/op", lines[3])
	require.Equal(t, "Benchmarkslabhash/clear/n=1000/load=0.7/tile=8 1 4000000 ns/op 0.25 Mop/s 1 GB/s "+
		"0.5 of-copy-bandwidth", lines[8])
}

func TestNamesHaveTheSettings(t *testing.T) {
	for want, m := range map[string]Measurement{
		"lsm/count/n=1048576/batch=2^18/length=8": {Structure: "lsm", Op: "count", Batch: 1 << 18, Length: 8},
		"mvbtree/find/n=1048576/changed=0.5":      {Structure: "mvbtree", Op: "find", Changed: 0.5},
		"lsm/cleanup/n=1048576/stale=0.1/width=64/descending/multi-pass": {Structure: "lsm", Op: "cleanup", Stale: 0.1,
			Order: "descending", Form: "multi-pass", Width: 64},
		"graph/bfs/n=1048576/rmat/live": {Structure: "graph", Op: "bfs", Form: "rmat, live"},
	} {
		m.N = 1 << 20
		require.Equal(t, want, m.Name())
	}
}
