package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/vk"
)

// AllocOptions say what Alloc measures. The zero value is the paper's experiment: 2^20 slabs, one a thread.
type AllocOptions struct {
	Sizes  []int // slabs allocated and freed; nil: 2^20
	Repeat int   // measured runs; 0: 5

	Progress func(done, total int, what string) // as of Options
}

// Alloc measures the slab allocator (section V of the paper): n slabs, one a thread, from an empty pool of eight
// times as many, and their return. Errors as of SlabHash; the report then holds what was measured before.
func Alloc(ctx context.Context, d *vk.Device, o AllocOptions) (Report, error) {
	if len(o.Sizes) == 0 {
		o.Sizes = []int{defaultSize}
	}
	common := Common{Repeat: o.Repeat, WarmUp: slabWarmUp, Seed: 1} // nothing here is random
	if err := common.complete(d); err != nil {
		return Report{}, err
	}
	r := Report{Environment: environment(d, 0)}
	for i, n := range o.Sizes {
		if o.Progress != nil {
			o.Progress(i, len(o.Sizes), "slab allocator")
		}
		allocated, freed, err := measureSlabs(ctx, d, common, n, 8*n)
		if err != nil {
			return r, err
		}
		r.Measurements = append(r.Measurements,
			Measurement{Structure: "alloc", Op: allocation, N: n, Operations: n, Device: allocated},
			Measurement{Structure: "alloc", Op: freeing, N: n, Operations: n, Device: freed})
	}
	return r, nil
}

const (
	allocation, freeing = "allocate", "free"

	slabWarmUp = 300 * time.Millisecond
)

// measureSlabs measures the allocation of n slabs from an empty pool with room for so many, and their freeing: the
// times of each run by the device's clock.
func measureSlabs(ctx context.Context, d *vk.Device, o Common, n, room int) (allocated, freed []time.Duration, err error) {
	pool, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{Blocks: (room + alloc.BlockSlabs - 1) / alloc.BlockSlabs})
	if err != nil {
		return nil, nil, err
	}
	s := slabSession{o: o, n: n, pool: pool}
	defer s.close()
	if err := s.init(d); err != nil {
		return nil, nil, err
	}
	if err := s.measure(ctx); err != nil {
		return nil, nil, err
	}
	for _, t := range s.stream.Timings() {
		switch t.Label {
		case allocation:
			allocated = append(allocated, t.Duration)
		case freeing:
			freed = append(freed, t.Duration)
		}
	}
	return allocated, freed, s.check(ctx)
}

// slabSession is a pool, and the kernels that allocate from it and free.
type slabSession struct {
	o              Common
	n              int
	pool           *alloc.SlabPool
	stream         *vk.Stream
	slabs          *vk.Buffer[uint32] // the references of each run
	allocate, free *vk.Kernel[slabPush]
}

type slabPush struct {
	Pool  alloc.DevicePool
	Slabs uint64
	Count uint32
}

func (s *slabSession) init(d *vk.Device) (err error) {
	if s.stream, err = d.NewStream(); err != nil {
		return err
	}
	if s.slabs, err = vk.NewBuffer[uint32](d, s.o.Repeat*s.n); err != nil {
		return err
	}
	if s.allocate, err = s.kernel(d, "bench/slab_allocate"); err != nil {
		return err
	}
	s.free, err = s.kernel(d, "bench/slab_free")
	return err
}

func (s *slabSession) kernel(d *vk.Device, name string) (*vk.Kernel[slabPush], error) {
	m, err := shaders.Load(name)
	if err != nil {
		return nil, err
	}
	return vk.NewKernel[slabPush](d, m, vk.KernelOptions{Constants: s.pool.Constants()})
}

func (s *slabSession) close() {
	if s.free != nil {
		s.free.Free()
	}
	if s.allocate != nil {
		s.allocate.Free()
	}
	if s.slabs != nil {
		s.slabs.Free()
	}
	if s.stream != nil {
		s.stream.Close()
	}
	s.pool.Close()
}

// measure runs allocation and freeing in turn, without a pause, after a warm-up of the same.
func (s *slabSession) measure(ctx context.Context) error {
	for start := time.Now(); time.Since(start) < s.o.WarmUp; {
		s.dispatch(s.allocate, 0)
		s.dispatch(s.free, 0)
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	for run := range s.o.Repeat {
		s.stream.Timed(allocation, func() { s.dispatch(s.allocate, run) })
		s.stream.Timed(freeing, func() { s.dispatch(s.free, run) })
	}
	return s.wait(ctx)
}

func (s *slabSession) dispatch(k *vk.Kernel[slabPush], run int) {
	push := slabPush{s.pool.Device(), s.slabs.AddressOf(run * s.n), uint32(s.n)}
	k.Dispatch(s.stream, (s.n+k.Workgroup()-1)/k.Workgroup(), push)
}

// wait waits to the end: what is under way uses memory that is freed with the session.
func (s *slabSession) wait(ctx context.Context) error {
	return errors.Join(s.stream.Wait(context.WithoutCancel(ctx)), ctx.Err())
}

// check looks whether in every run each invocation got a slab and no two the same, and whether all came back.
func (s *slabSession) check(ctx context.Context) error {
	perSuper := 1 << s.pool.Constants()["POOL_SUPER_SHIFT"] * alloc.BlockSlabs
	capacity := int(s.pool.Device().Blocks) * alloc.BlockSlabs
	slabs := make([]uint32, s.n)
	takenIn := make([]uint32, capacity) // the last run, from 1, that got the slab
	for run := range s.o.Repeat {
		if err := s.slabs.Download(ctx, run*s.n, slabs); err != nil {
			return err
		}
		for i, slab := range slabs {
			at := int(slab>>24)*perSuper + int(slab&0xffffff)
			if at >= capacity {
				return &WrongError{allocation, fmt.Sprintf("invocation %d of %d got the slab %#x of a pool of %d", i, s.n, slab, capacity)}
			}
			if takenIn[at] == uint32(run+1) {
				return &WrongError{allocation, fmt.Sprintf("the slab %#x was given out twice", slab)}
			}
			takenIn[at] = uint32(run + 1)
		}
	}
	stats, err := s.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Allocated != 0 {
		return &WrongError{freeing, fmt.Sprintf("%d slabs were not freed", stats.Allocated)}
	}
	return nil
}
