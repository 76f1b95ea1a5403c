package bench

import (
	"bytes"
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
			CopyGBps: 4300, Seed: 9},
		Measurements: []Measurement{
			{Structure: "slabhash", Op: "build", N: 1 << 20, Load: 0.7, Utilization: 0.61, Operations: 1 << 20,
				Device: ms(0.3, 0.1, 0.2), Wall: ms(1, 3, 2)},
			{Structure: "slabhash", Op: "build", N: 1 << 22, Load: 0.7, Utilization: 0.61, Operations: 1 << 22,
				Device: ms(0.8), Wall: ms(2)},
			{Structure: "slabhash", Op: "clear", N: 1000, Load: 0.7, Tile: 8, Operations: 1000, Bytes: 4e6,
				Wall: ms(2, 4), Ratios: []Ratio{{"copy bandwidth", 0.5}}},
		},
		LeftOut: 2,
	}
}

func TestMedian(t *testing.T) {
	require.Zero(t, Median(nil))
	require.Equal(t, time.Duration(3), Median([]time.Duration{9, 3, 1}))
	require.Equal(t, time.Duration(5), Median([]time.Duration{9, 3, 1, 7}))
}

func TestJSONHoldsEachRun(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().WriteJSON(&b))
	back, err := ReadJSON(&b)
	require.NoError(t, err)
	require.Equal(t, sample(), back)
}

func TestBenchstatFormatHasALineARun(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().WriteBenchstat(&b))
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	require.Equal(t, []string{"device: Some GPU, large", "driver: 1.2", "commit: abc"}, lines[:3])
	require.Len(t, lines, 3+3+1+2)
	require.Equal(t, "Benchmarkslabhash/build/n=1048576/load=0.7/tile=0 1 300000 ns/op 3495.25 Mop/s", lines[3])
	slowest, fastest := Measurement{Batch: 1 << 10,
		Steps: []time.Duration{1024 * time.Microsecond, 2048 * time.Microsecond}}.Extremes()
	require.Equal(t, []float64{0.5, 1}, []float64{slowest, fastest})
	require.Equal(t, "Benchmarkslabhash/clear/n=1000/load=0.7/tile=8 1 4000000 ns/op 0.25 Mop/s", lines[8])
}

func TestTableShowsFiguresAndWhatIsLeftOut(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().WriteTable(&b))
	text := b.String()
	for _, want := range []string{"Some GPU, large, 1.2, subgroup 32, commit abc", "4300 GB/s", "2^20", "5243", "0.200",
		"0.50 × copy bandwidth", "2 measurements left out"} {
		require.Contains(t, text, want)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "clear") {
			require.Contains(t, line, " 1000 ")
		}
	}
}

func TestSettingsAreShown(t *testing.T) {
	r := Report{Measurements: []Measurement{
		{Structure: "lsm", Op: "count", N: 1 << 20, Batch: 1 << 18, Length: 8, Operations: 1 << 20,
			Device: []time.Duration{time.Second}},
		{Structure: "mvbtree", Op: "find-snapshot", N: 1 << 20, Changed: 0.5, Operations: 1,
			Device: []time.Duration{time.Second}},
		{Structure: "lsm", Op: "cleanup", N: 1 << 20, Stale: 0.1, Order: "descending", Form: "multi-pass", Width: 64,
			Operations: 1, Device: []time.Duration{time.Second}},
	}}
	var table, benchstat bytes.Buffer
	require.NoError(t, r.WriteTable(&table))
	require.Contains(t, table.String(), "batch 2^18, length 8")
	require.Contains(t, table.String(), "stale 0.1, width 64, descending, multi-pass")
	require.Contains(t, table.String(), "changed 0.5")
	require.NotContains(t, table.String(), "load")
	require.NoError(t, r.WriteBenchstat(&benchstat))
	require.Contains(t, benchstat.String(), "Benchmarklsm/count/n=1048576/batch=2^18/length=8 1 ")
}
