package bench

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures/slabhash"
)

// What allocations, replacements and reads of slabs are measured as.
const (
	allocation  = "allocate"
	freeing     = "free"
	freedAtOnce = "freed at once"
	retired     = "retired"
	launch      = "retired, with the pass behind"
	plainReads  = "without epochs"
	epochReads  = "in epochs"
)

// slabs measures the slab allocator (section V of the slab hash's paper): the allocation of n slabs, one a thread, from
// an empty pool of eight times as many, and their freeing.
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

// allocations runs allocation and freeing in turn with a pool of room for so many slabs.
func (s *session) allocations(room int) map[string][]time.Duration {
	pool := s.slabPool(room)
	defer pool.Close()
	slabs := s.room("slabs", s.o.Repeat*s.n) // the references of each run
	allocate := kernel[slabPush](s.d, "bench/slab_allocate", pool.Constants())
	defer allocate.Free()
	free := kernel[slabPush](s.d, "bench/slab_free", pool.Constants())
	defer free.Free()
	defer s.ending()
	times := s.inTurn(func(run int) {
		push := slabPush{pool.Description(), slabs.AddressOf(run * s.n), uint32(s.n)}
		s.stream.Timed(allocation, func() { dispatch(s.stream, allocate, s.n, push) })
		s.stream.Timed(freeing, func() { dispatch(s.stream, free, s.n, push) })
	})
	// In every run each invocation got a slab, and no two the same, and all came back.
	perSuper := 1 << pool.Constants()["POOL_SUPER_SHIFT"] * alloc.BlockSlabs
	capacity := int(pool.Description().Blocks) * alloc.BlockSlabs
	takenIn := make([]int, capacity) // the last run, from 1, that got the slab
	for i, slab := range s.download(slabs, s.o.Repeat*s.n) {
		at, run := int(slab>>24)*perSuper+int(slab&0xffffff), i/s.n+1
		if at >= capacity || takenIn[at] == run {
			ok(s.wrong("invocation %d of run %d got the slab %#x of a pool of %d, or not it alone", i%s.n, run, slab,
				capacity))
		}
		takenIn[at] = run
	}
	if held := must(pool.Stats(s.ctx)).Allocated; held != 0 {
		ok(s.wrong("%d slabs were not freed", held))
	}
	return times
}

// slabPool is a pool for so many slabs.
func (s *session) slabPool(slabs int) *alloc.SlabPool {
	return must(alloc.NewSlabPool(s.ctx, s.d,
		alloc.PoolOptions{Blocks: (slabs + alloc.BlockSlabs - 1) / alloc.BlockSlabs}))
}

// inTurn records runs of some dispatches after a warm-up of the same, and returns the times of each. It is all in one
// command buffer, since a pause is as long as many of these dispatches.
func (s *session) inTurn(record func(run int)) map[string][]time.Duration {
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
	return times
}

// slabCells measures what the reclaimer costs those who retire, and those who only read: each of n slabs is replaced by
// a copy, and the old one freed at once, since nobody else is there, or retired; or n slabs are read in random order.
// The first of the forms is without a reclaimer. A thread makes one operation or 16, each in an epoch of its own.
func (s *session) slabCells(reads bool, forms ...string) {
	for _, rounds := range []int{1, 16} {
		n := s.n / rounds * rounds
		times := s.runCells(n, rounds, reads, forms)
		var without Measurement
		for i, form := range forms {
			m := s.measurement(n, n)
			m.Form, m.Device = fmt.Sprintf("%s, %d a thread", form, rounds), times[form]
			if i == 0 {
				without = m
			} else {
				m.beside("time of "+without.Form, without.Time())
			}
			s.add(m)
		}
	}
}

type cellsPush struct {
	Pool                   alloc.PoolDescription
	Reclaimer              alloc.ReclaimerDescription
	Cells, Wrong           uint64
	Count, Rounds, Further uint32
}

// runCells measures the forms with n slabs, each in a cell of its own.
func (s *session) runCells(n, rounds int, reads bool, forms []string) map[string][]time.Duration {
	pool := s.slabPool(4 * n) // so that there is room while some are in limbo
	defer pool.Close()
	reclaimer := must(alloc.NewReclaimer(s.ctx, pool, alloc.ReclaimerOptions{}))
	defer reclaimer.Close()
	_, tile, _ := slabhash.Tiles(s.d)
	own := pool.Constants()
	begin := kernel[cellsPush](s.d, "bench/slab_cells", own)
	defer begin.Free()
	maps.Copy(own, map[string]uint32{"TILE": uint32(tile), "READS": 0, "EPOCHS": 0})
	if reads {
		own["READS"] = 1
	}
	without := kernel[cellsPush](s.d, "bench/slab_replace", own)
	defer without.Free()
	own["EPOCHS"] = 1
	within := kernel[cellsPush](s.d, "bench/slab_replace", own)
	defer within.Free()
	defer s.ending()
	cells, wrong := s.room("cells", n), s.words("wrong", 1, func(int) uint32 { return 0 })
	further := uint32(0) // how often each slab was replaced
	push := func(p alloc.PoolDescription, r alloc.ReclaimerDescription, rounds int) cellsPush {
		return cellsPush{p, r, cells.Address(), wrong.Address(), uint32(n), uint32(rounds), further}
	}
	dispatch(s.stream, begin, n, push(pool.Description(), alloc.ReclaimerDescription{}, 0))
	s.wait()
	var failed error
	times := s.inTurn(func(int) {
		s.stream.Timed(forms[0], func() {
			dispatch(s.stream, without, n/rounds, push(pool.Description(), alloc.ReclaimerDescription{}, rounds))
		})
		s.stream.Timed(launch, func() {
			failed = errors.Join(failed, reclaimer.On(s.stream, func(p alloc.PoolDescription,
				r alloc.ReclaimerDescription) error {
				s.stream.Timed(forms[1], func() { dispatch(s.stream, within, n/rounds, push(p, r, rounds)) })
				return nil
			}))
		})
		if !reads {
			further += 2
		}
	})
	ok(failed)
	// Each cell has a slab that was replaced in every run, what was read was right, and the pool holds the cells' slabs
	// and no others.
	dispatch(s.stream, begin, n, push(pool.Description(), alloc.ReclaimerDescription{}, 1))
	s.wait()
	s.checkWords("number of wrong words", wrong, 1, func(int) uint32 { return 0 })
	if held := must(pool.Stats(s.ctx)).Allocated; held != n {
		ok(s.wrong("%d slabs are held, by %d cells", held, n))
	}
	if stats := must(reclaimer.Stats(s.ctx)); stats.Stuck != 0 || stats.Retired() != further/2*uint32(n) {
		ok(s.wrong("of %d slabs: %+v", further/2*uint32(n), stats))
	}
	return times
}
