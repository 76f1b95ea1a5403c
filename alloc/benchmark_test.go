package alloc

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
)

// BenchmarkSlabAllocator is the experiment of the paper's section V, 2^20 slabs one an invocation; its figures are M
// slabs/s by the device's clock, the median of the runs.
func BenchmarkSlabAllocator(b *testing.B) {
	d := testdevice.Open(b)
	var allocate, free []time.Duration
	for b.Loop() {
		r, err := Benchmark(b.Context(), d, BenchmarkOptions{})
		require.NoError(b, err)
		allocate, free = append(allocate, r.Allocate...), append(free, r.Free...)
	}
	rate := func(times []time.Duration) float64 {
		slices.Sort(times)
		return float64(1<<20) / times[len(times)/2].Seconds() / 1e6
	}
	b.ReportMetric(rate(allocate), "Mallocations/s")
	b.ReportMetric(rate(free), "Mfrees/s")
}
