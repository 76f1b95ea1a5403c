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

const allocation, freeing = "allocate", "free"

// slabs measures the slab allocator (section V of the slab hash's paper): the allocation of n slabs, one a thread, from
// an empty pool of eight times as many, and their freeing.
func (s *session) slabs(ctx context.Context) error {
	allocated, freed, err := s.measureAllocator(ctx, 8*s.n)
	if err != nil {
		return err
	}
	m := s.measurement(s.n, s.n)
	m.Op, m.Device = allocation, allocated
	f := m
	f.Op, f.Device = freeing, freed
	return errors.Join(s.add(m, nil), s.add(f, nil))
}

// measureAllocator measures a pool with room for so many slabs: the times of each run by the device's clock.
func (s *session) measureAllocator(ctx context.Context, room int) (allocated, freed []time.Duration, err error) {
	pool, err := alloc.NewSlabPool(ctx, s.d, alloc.PoolOptions{Blocks: (room +
		alloc.BlockSlabs - 1) / alloc.BlockSlabs})
	if err != nil {
		return nil, nil, err
	}
	a := allocator{workload: s.workload, pool: pool}
	defer a.close()
	if err := a.init(); err != nil {
		return nil, nil, err
	}
	if err := a.measure(ctx); err != nil {
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
	return allocated, freed, a.check(ctx)
}

// allocator is a pool, and the kernels that allocate from it and free.
type allocator struct {
	*workload
	pool           *alloc.SlabPool
	slabs          *vk.Buffer[uint32] // the references of each run
	allocate, free *vk.Kernel[slabPush]
}

type slabPush struct {
	Pool  alloc.DevicePool
	Slabs uint64
	Count uint32
}

func (a *allocator) init() (err error) {
	if a.slabs, err = vk.NewBuffer[uint32](a.d, a.o.Repeat*a.n); err != nil {
		return err
	}
	if a.allocate, err = a.kernel("bench/slab_allocate"); err != nil {
		return err
	}
	a.free, err = a.kernel("bench/slab_free")
	return err
}

func (a *allocator) kernel(name string) (*vk.Kernel[slabPush], error) {
	m, err := shaders.Load(name)
	if err != nil {
		return nil, err
	}
	return vk.NewKernel[slabPush](a.d, m, vk.KernelOptions{Constants: a.pool.Constants()})
}

func (a *allocator) close() {
	a.stream.Wait(context.Background())
	if a.free != nil {
		a.free.Free()
	}
	if a.allocate != nil {
		a.allocate.Free()
	}
	if a.slabs != nil {
		a.slabs.Free()
	}
	a.pool.Close()
}

// measure runs allocation and freeing in turn, after a warm-up of the same. It is all in one command buffer, since a
// pause is as long as many of these dispatches.
func (a *allocator) measure(ctx context.Context) error {
	for start, first := time.Now(), true; first || time.Since(start) < a.o.WarmUp; first = false {
		a.dispatch(a.allocate, 0)
		a.dispatch(a.free, 0)
		if err := a.wait(ctx); err != nil {
			return err
		}
	}
	a.stream.Timings()
	for run := range a.o.Repeat {
		a.stream.Timed(allocation, func() { a.dispatch(a.allocate, run) })
		a.stream.Timed(freeing, func() { a.dispatch(a.free, run) })
	}
	return a.wait(ctx)
}

func (a *allocator) dispatch(k *vk.Kernel[slabPush], run int) {
	push := slabPush{a.pool.Device(), a.slabs.AddressOf(run * a.n), uint32(a.n)}
	k.Dispatch(a.stream, (a.n+k.Workgroup()-1)/k.Workgroup(), push)
}

// wait waits to the end: what is under way uses memory that is freed with the session.
func (a *allocator) wait(ctx context.Context) error {
	return errors.Join(a.stream.Wait(context.WithoutCancel(ctx)), ctx.Err())
}

// check looks whether in every run each invocation got a slab and no two the same, and whether all came back.
func (a *allocator) check(ctx context.Context) error {
	perSuper := 1 << a.pool.Constants()["POOL_SUPER_SHIFT"] * alloc.BlockSlabs
	capacity := int(a.pool.Device().Blocks) * alloc.BlockSlabs
	slabs := make([]uint32, a.n)
	takenIn := make([]uint32, capacity) // the last run, from 1, that got the slab
	for run := range a.o.Repeat {
		if err := a.slabs.Download(ctx, run*a.n, slabs); err != nil {
			return err
		}
		for i, slab := range slabs {
			at := int(slab>>24)*perSuper + int(slab&0xffffff)
			if at >= capacity {
				return &WrongError{allocation, fmt.Sprintf("invocation %d of %d got the slab %#x of a pool of %d", i,
					a.n, slab, capacity)}
			}
			if takenIn[at] == uint32(run+1) {
				return &WrongError{allocation, fmt.Sprintf("the slab %#x was given out twice", slab)}
			}
			takenIn[at] = uint32(run + 1)
		}
	}
	stats, err := a.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Allocated != 0 {
		return &WrongError{freeing, fmt.Sprintf("%d slabs were not freed", stats.Allocated)}
	}
	return nil
}
