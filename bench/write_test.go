package bench

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"image/png"
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
		Environment: Environment{Device: "Some GPU, large", Driver: "1.2", SubgroupSize: 32, Commit: "abc", CopyGBps: 4300, Seed: 9},
		Measurements: []Measurement{
			{Structure: "slabhash", Op: "build", N: 1 << 20, Load: 0.7, Utilization: 0.61, Operations: 1 << 20, Device: ms(0.3, 0.1, 0.2), Wall: ms(1, 3, 2)},
			{Structure: "slabhash", Op: "build", N: 1 << 22, Load: 0.7, Utilization: 0.61, Operations: 1 << 22, Device: ms(0.8), Wall: ms(2)},
			{Structure: "slabhash", Op: "clear", N: 1000, Load: 0.7, Tile: 8, Operations: 1000, Bytes: 4e6, Wall: ms(2, 4), Ratios: []Ratio{{"copy bandwidth", 0.5}}},
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
	var back Report
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
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
	for _, want := range []string{"Some GPU, large, 1.2, subgroup 32, commit abc", "4300 GB/s", "2^20", "5243", "0.200", "0.50 × copy bandwidth", "2 measurements left out"} {
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
