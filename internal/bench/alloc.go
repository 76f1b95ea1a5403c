package bench

import (
	"context"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/vk"
)

// AllocOptions say what Alloc measures. The zero value is the paper's experiment: 2^20 slabs, one a thread.
type AllocOptions struct {
	Sizes  []int // slabs allocated and freed; nil: 2^20
	Repeat int   // measured runs; 0: 5

	Progress func(done, total int, what string) // as of Options
}

// Alloc measures the slab allocator (section V of the paper): n slabs, one a thread, from an empty pool of eight
// times as many, and their return. Errors as of alloc.Benchmark; the report then holds what was measured before.
func Alloc(ctx context.Context, d *vk.Device, o AllocOptions) (Report, error) {
	if len(o.Sizes) == 0 {
		o.Sizes = []int{1 << 20}
	}
	r := Report{Environment: environment(d, 0)}
	for i, n := range o.Sizes {
		if o.Progress != nil {
			o.Progress(i, len(o.Sizes), "slab allocator")
		}
		b, err := alloc.Benchmark(ctx, d, alloc.BenchmarkOptions{Slabs: n, Runs: o.Repeat})
		if err != nil {
			return r, err
		}
		r.Measurements = append(r.Measurements,
			Measurement{Structure: "alloc", Op: "allocate", N: n, Operations: n, Device: b.Allocate},
			Measurement{Structure: "alloc", Op: "free", N: n, Operations: n, Device: b.Free})
	}
	return r, nil
}
