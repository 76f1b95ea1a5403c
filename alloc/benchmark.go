package alloc

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// BenchmarkOptions say what Benchmark measures. The zero value is the paper's experiment of section V: 2^20 slabs.
type BenchmarkOptions struct {
	Slabs     int // slabs allocated and freed, one an invocation; 0 = 2^20
	Blocks    int // memory blocks of the pool; 0 = as many as hold 8 times the slabs
	Runs      int // measured runs, behind a warm-up; 0 = 5
	Workgroup int // invocations a workgroup; 0 = 128
}

// BenchmarkResult is what Benchmark measured: times of the device, from its own timestamps, a run each.
type BenchmarkResult struct {
	Slabs    int
	Blocks   int
	Subgroup int
	Allocate []time.Duration
	Free     []time.Duration
}

// CheckError says that a benchmark's kernels gave a wrong answer, so that its times mean nothing.
type CheckError struct{ Reason string }

func (e *CheckError) Error() string { return "alloc: the slab allocator is wrong: " + e.Reason }

type benchPush struct {
	Pool  DevicePool
	Slabs uint64
	Count uint32
}

// Benchmark measures the allocation of slabs from an empty pool, one an invocation, and their freeing, and checks that
// each was given out once and that all came back. Errors: *CheckError; *vk.MissingFeatureError on a device that has no
// timestamps; *vk.OutOfMemoryError.
func Benchmark(ctx context.Context, d *vk.Device, o BenchmarkOptions) (BenchmarkResult, error) {
	if o.Slabs == 0 {
		o.Slabs = 1 << 20
	}
	if o.Blocks == 0 {
		o.Blocks = (8*o.Slabs + BlockSlabs - 1) / BlockSlabs
	}
	if o.Runs == 0 {
		o.Runs = 5
	}
	if o.Slabs < 0 || o.Runs < 0 {
		return BenchmarkResult{}, fmt.Errorf("alloc: a benchmark of %d slabs in %d runs", o.Slabs, o.Runs)
	}
	if !d.Has(vk.Timestamps) {
		return BenchmarkResult{}, &vk.MissingFeatureError{Device: d.Info().Name, Features: []string{string(vk.Timestamps)}}
	}
	pool, err := NewSlabPool(ctx, d, PoolOptions{Blocks: o.Blocks})
	if err != nil {
		return BenchmarkResult{}, err
	}
	b := benchmark{o: o, pool: pool}
	defer b.close()
	if err := b.init(d); err != nil {
		return BenchmarkResult{}, err
	}
	if err := b.measure(ctx); err != nil {
		return BenchmarkResult{}, err
	}
	if err := b.check(ctx); err != nil {
		return BenchmarkResult{}, err
	}
	result := BenchmarkResult{Slabs: o.Slabs, Blocks: int(pool.Device().Blocks), Subgroup: d.SubgroupSize()}
	for _, t := range b.stream.Timings() {
		switch t.Label {
		case allocation:
			result.Allocate = append(result.Allocate, t.Duration)
		case freeing:
			result.Free = append(result.Free, t.Duration)
		}
	}
	return result, nil
}

const (
	allocation, freeing = "allocate", "free"

	warmUp = 300 * time.Millisecond // a GPU that was idle takes so long to come to its clock rate
)

type benchmark struct {
	o              BenchmarkOptions
	pool           *SlabPool
	stream         *vk.Stream
	slabs          *vk.Buffer[uint32] // the references of each run
	allocate, free *vk.Kernel[benchPush]
}

func (b *benchmark) init(d *vk.Device) (err error) {
	if b.stream, err = d.NewStream(); err != nil {
		return err
	}
	if b.slabs, err = vk.NewBuffer[uint32](d, b.o.Runs*b.o.Slabs); err != nil {
		return err
	}
	if b.allocate, err = b.kernel(d, "alloc/bench_allocate"); err != nil {
		return err
	}
	b.free, err = b.kernel(d, "alloc/bench_free")
	return err
}

func (b *benchmark) kernel(d *vk.Device, name string) (*vk.Kernel[benchPush], error) {
	m, err := shaders.Load(name)
	if err != nil {
		return nil, err
	}
	return vk.NewKernel[benchPush](d, m, vk.KernelOptions{Workgroup: b.o.Workgroup, Constants: b.pool.Constants()})
}

func (b *benchmark) close() {
	if b.free != nil {
		b.free.Free()
	}
	if b.allocate != nil {
		b.allocate.Free()
	}
	if b.slabs != nil {
		b.slabs.Free()
	}
	if b.stream != nil {
		b.stream.Close()
	}
	b.pool.Close()
}

// measure runs allocation and freeing in turn, without a pause, after a warm-up of the same.
func (b *benchmark) measure(ctx context.Context) error {
	for start := time.Now(); time.Since(start) < warmUp; {
		b.dispatch(b.allocate, 0)
		b.dispatch(b.free, 0)
		if err := b.wait(ctx); err != nil {
			return err
		}
	}
	for run := range b.o.Runs {
		b.stream.Timed(allocation, func() { b.dispatch(b.allocate, run) })
		b.stream.Timed(freeing, func() { b.dispatch(b.free, run) })
	}
	return b.wait(ctx)
}

func (b *benchmark) dispatch(k *vk.Kernel[benchPush], run int) {
	push := benchPush{b.pool.Device(), b.slabs.AddressOf(run * b.o.Slabs), uint32(b.o.Slabs)}
	k.Dispatch(b.stream, (b.o.Slabs+k.Workgroup()-1)/k.Workgroup(), push)
}

// wait waits to the end: what is under way uses memory that is freed when Benchmark returns.
func (b *benchmark) wait(ctx context.Context) error {
	return errors.Join(b.stream.Wait(context.WithoutCancel(ctx)), ctx.Err())
}

// check looks whether in every run each invocation got a slab and no two the same, and whether all came back.
func (b *benchmark) check(ctx context.Context) error {
	capacity := int(b.pool.Device().Blocks) * BlockSlabs
	slabs := make([]uint32, b.o.Slabs)
	takenIn := make([]uint32, capacity) // the last run, from 1, that got the slab
	for run := range b.o.Runs {
		if err := b.slabs.Download(ctx, run*b.o.Slabs, slabs); err != nil {
			return err
		}
		for i, slab := range slabs {
			// A full super block has fewer memory blocks than a reference's 14 bits can tell apart.
			n := int(slab>>24)<<(b.pool.shift+10) + int(slab&0xffffff)
			if n >= capacity {
				return &CheckError{fmt.Sprintf("invocation %d of %d got the slab %#x of a pool of %d", i, b.o.Slabs, slab, capacity)}
			}
			if takenIn[n] == uint32(run+1) {
				return &CheckError{fmt.Sprintf("the slab %#x was given out twice", slab)}
			}
			takenIn[n] = uint32(run + 1)
		}
	}
	stats, err := b.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Allocated != 0 {
		return &CheckError{fmt.Sprintf("%d slabs were not freed", stats.Allocated)}
	}
	return nil
}
