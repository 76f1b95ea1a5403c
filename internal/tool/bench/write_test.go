package bench

import (
	"bytes"
	"encoding/csv"
	"image/png"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
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

func TestCSVHasARowAMeasurement(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().WriteCSV(&b))
	rows, err := csv.NewReader(&b).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 4)
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	require.Equal(t, "1048576", rows[1][at["n"]])
	require.Equal(t, "0.0002", rows[1][at["device_seconds"]])
	require.Equal(t, "5242.88", rows[1][at["device_mops"]])
	require.Equal(t, "524.288", rows[1][at["wall_mops"]])
	require.Equal(t, "3", rows[1][at["runs"]])
	require.Equal(t, "Some GPU, large", rows[1][at["device"]])
	require.Empty(t, rows[3][at["device_seconds"]])
	require.Equal(t, "0.003", rows[3][at["wall_seconds"]])
	require.Equal(t, "1.33333", rows[3][at["gb_per_s"]])
	require.Equal(t, "0.50 × copy bandwidth", rows[3][at["ratios"]])
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

func TestPlotIsAPicture(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, sample().WritePlot(&b, "png"))
	picture, err := png.Decode(&b)
	require.NoError(t, err)
	require.Greater(t, picture.Bounds().Dx(), 500)
	require.Error(t, sample().WritePlot(&b, "gif of a cat"))
}

// Batches one after another are drawn by their effective rate: all that is there by all the time that it took.
func TestPlotOfASeries(t *testing.T) {
	series := func(steps ...time.Duration) Report {
		return Report{Measurements: []Measurement{{Structure: "lsm", Op: "insert", N: 1 << 12, Batch: 1 << 10,
			Steps: steps}}}
	}
	p := plot.New()
	c := series(1024*time.Microsecond, 3072*time.Microsecond).curves(p)
	require.Equal(t, []string{"lsm, b = 2^10"}, c.names)
	slowest, fastest := series(1024*time.Microsecond, 2048*time.Microsecond).Measurements[0].Extremes()
	require.Equal(t, []float64{0.5, 1}, []float64{slowest, fastest})
	require.Equal(t, plotter.XYs{{X: 1, Y: 1}, {X: 2, Y: 0.5}}, c.lines[c.names[0]])
	for _, r := range []Report{series(time.Millisecond), series(time.Millisecond, time.Second, time.Millisecond)} {
		var b bytes.Buffer
		require.NoError(t, r.WritePlot(&b, "svg"))
		require.Contains(t, b.String(), "effective insertion rate")
	}
}

// What is asked of snapshots is drawn over the share of the keys that was changed since: a line an operation, from the
// newest on.
func TestPlotOverChanges(t *testing.T) {
	at := func(op string, changed float64, took time.Duration) Measurement {
		return Measurement{Structure: "mvbtree", Op: op, N: 1 << 20, Changed: changed, Operations: 1e6,
			Utilization: 0.5, Device: []time.Duration{took}}
	}
	r := Report{Measurements: []Measurement{
		at("find-snapshot", 0, time.Second), at("find-snapshot", 0.5, 4*time.Second),
		at("find-snapshot", 0.1, 2*time.Second), at("range-snapshot", 0, time.Second),
	}}
	p := plot.New()
	c := r.curves(p)
	require.Equal(t, []string{"mvbtree find-snapshot", "mvbtree range-snapshot"}, c.names)
	require.ElementsMatch(t, plotter.XYs{{X: 0, Y: 1}, {X: 50, Y: 0.25}, {X: 10, Y: 0.5}}, c.lines[c.names[0]])
	require.Contains(t, p.X.Label.Text, "changed")
}

// Mixed batches of one n are drawn over whichever they have more of, shares of updates or lengths of ranges; beside
// what has neither they are not.
func TestPlotOfMixedBatches(t *testing.T) {
	at := func(op string, updates float64, length int) Measurement {
		m := Measurement{Structure: "mvbtree", Op: op, N: 1 << 20, Length: length, Operations: 1e6, Utilization: 0.5,
			Device: []time.Duration{time.Second}}
		for _, mix := range slices.Concat(treeMixes, momentMixes, gammas) {
			if mix.name == op {
				m.Mix, m.Updates = mix.family(), mix.mix.Insert+mix.mix.Delete
			}
		}
		require.InDelta(t, updates, m.Updates, 1e-9)
		return m
	}
	over := func(all ...Measurement) (label string, names []string, lengths []int) {
		p := plot.New()
		c := Report{Measurements: all}.curves(p)
		for _, name := range c.names {
			lengths = append(lengths, len(c.lines[name]))
		}
		return p.X.Label.Text, c.names, lengths
	}
	label, names, points := over(
		at("insert-range-5", 0.05, 8), at("insert-range-50", 0.5, 8), at("insert-range-90", 0.9, 8),
		at("insert-range-5", 0.05, 32), at("insert-range-50", 0.5, 32), at("insert-range-90", 0.9, 32),
		at("insert-range-5-moments", 0.05, 8), at("insert-range-90-moments", 0.9, 8))
	require.Equal(t, "% of updates", label)
	require.Equal(t, []string{"mvbtree insert-range, length 8", "mvbtree insert-range, length 32",
		"mvbtree insert-range-moments, length 8"}, names)
	require.Equal(t, []int{3, 3, 2}, points)
	label, names, points = over(at("insert-range-50", 0.5, 8), at("insert-range-50", 0.5, 16),
		at("insert-range-50", 0.5, 32))
	require.Equal(t, "pairs of a range", label)
	require.Equal(t, []string{"mvbtree insert-range-50"}, names)
	require.Equal(t, []int{3}, points)
	label, names, _ = over(at("alpha-0.2", 0.2, 0), at("alpha-0.6", 0.6, 0), at("alpha-1.0", 1, 0),
		at("alpha-0.2-all", 0.2, 0))
	require.Equal(t, "% of updates", label)
	require.Equal(t, []string{"mvbtree alpha", "mvbtree alpha-all"}, names)
	for _, all := range [][]Measurement{
		{at("gamma0", 1, 0), at("gamma1", 0.4, 0), at("build", 0, 0)},
		{at("find", 0, 0), at("range", 0, 8)},
	} {
		label, _, _ = over(all...)
		require.Equal(t, "memory utilisation", label)
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
	var table, csv, benchstat bytes.Buffer
	require.NoError(t, r.WriteTable(&table))
	require.Contains(t, table.String(), "batch 2^18, length 8")
	require.Contains(t, table.String(), "stale 0.1, width 64, descending, multi-pass")
	require.Contains(t, table.String(), "changed 0.5")
	require.NotContains(t, table.String(), "load")
	require.NoError(t, r.WriteCSV(&csv))
	require.Contains(t, csv.String(), ",,,,262144,,8,,,1048576,1,")
	require.NoError(t, r.WriteBenchstat(&benchstat))
	require.Contains(t, benchstat.String(), "Benchmarklsm/count/n=1048576/batch=2^18/length=8 1 ")
}
