package bench

import (
	"time"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/tool/bench/kernels"
	"github.com/vkds/vkds/vk"
)

// The measured operations of the slab allocator.
const (
	allocation = "allocate"
	freeing    = "free"
)

// slabs measures the slab allocator (section V of the slab hash's paper): each thread allocates one of n slabs from an
// empty pool of eight times as many, and then frees it.
func (s *session) slabs() {
	times := s.allocations(8 * s.n)
	for _, op := range []string{allocation, freeing} {
		m := s.measurement(s.n, s.n)
		m.Op, m.Device = op, times[op]
		s.add(m)
	}
}

type slabPush struct {
	Pool  alloc.PoolDescription
	Slabs uint64
	Count uint32
}

// allocations runs allocation and freeing in turn, with a pool for that many slabs, after a warm-up that does the same.
// It uses one command buffer, because a pause takes as long as many of these dispatches.
func (s *session) allocations(room int) map[string][]time.Duration {
	pool := must(alloc.NewSlabPool(s.ctx, s.d,
		alloc.PoolOptions{Blocks: (room + alloc.BlockSlabs - 1) / alloc.BlockSlabs}))
	defer pool.Close()
	slabs := s.room("slabs", s.o.Repeat*s.n) // the references of each run
	kernel := func(name string) *vk.Kernel[slabPush] {
		o := vk.KernelOptions{Constants: pool.Constants()}
		return must(vk.NewKernel[slabPush](s.d, kernels.Load(name), o))
	}
	allocate := kernel("slab_allocate")
	defer allocate.Free()
	free := kernel("slab_free")
	defer free.Free()
	defer s.ending()
	record := func(run int) {
		push := slabPush{pool.Description(), slabs.AddressOf(run * s.n), uint32(s.n)}
		groups := (s.n + allocate.Workgroup() - 1) / allocate.Workgroup()
		s.stream.Timed(allocation, func() { allocate.Dispatch(s.stream, groups, push) })
		s.stream.Timed(freeing, func() { free.Dispatch(s.stream, groups, push) })
	}
	for start, first := time.Now(), true; first || time.Since(start) < s.o.WarmUp; first = false {
		record(0)
		s.wait()
	}
	s.stream.Timings()
	for run := range s.o.Repeat {
		record(run)
	}
	s.wait()
	times := map[string][]time.Duration{}
	for _, t := range s.stream.Timings() {
		times[t.Label] = append(times[t.Label], t.Duration)
	}
	s.checkSlabs(pool, s.download(slabs, s.o.Repeat*s.n))
	return times
}

// checkSlabs checks that in each run each invocation got a slab of its own, and that all slabs were freed.
func (s *session) checkSlabs(pool *alloc.SlabPool, slabs []uint32) {
	perSuper := 1 << pool.Constants()["POOL_SUPER_SHIFT"] * alloc.BlockSlabs
	capacity := int(pool.Description().Blocks) * alloc.BlockSlabs
	takenIn := make([]int, capacity) // the last run, from 1, that got the slab
	for i, slab := range slabs {
		at, run := int(slab>>24)*perSuper+int(slab&0xffffff), i/s.n+1
		if at >= capacity || takenIn[at] == run {
			s.fail("invocation %d of run %d got the slab %#x of a pool of %d, or not it alone", i%s.n, run, slab,
				capacity)
		}
		takenIn[at] = run
	}
	if held := must(pool.Stats(s.ctx)).Allocated; held != 0 {
		s.fail("%d slabs were not freed", held)
	}
}
