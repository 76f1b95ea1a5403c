package btree

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// counted has t.nodes begin with what there is, while nothing runs that uses the tree.
func (t *Tree) counted(stats alloc.PoolStats) {
	t.countedAs(uint64(stats.Allocated))
	t.slabs = uint64(stats.Slabs)
}

// building is the last BuildOn, whose batch may still be dropped. t.nodes is noted as if it were not. The stream says what
// becomes of it, by whatever goroutine.
type building struct {
	stream           *vk.Stream
	certain, dropped atomic.Bool
}

// builds notes that a stream is recording a BuildOn.
func (t *Tree) builds(s *vk.Stream) {
	b := &building{stream: s}
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		b.dropped.Store(!submitted)
		b.certain.Store(true)
	})
	t.building = b
}

// settle has the nodes counted before a stream gets room for more, if what is noted of them doesn't hold: a BuildOn was
// dropped, or another stream may still drop it.
func (t *Tree) settle(s *vk.Stream) {
	b := t.building
	if b == nil {
		return
	}
	certain := b.certain.Load()
	if certain {
		t.building = nil
	}
	if certain && b.dropped.Load() || !certain && s != b.stream {
		t.slabs = 0
	}
}

// reserve makes the pool have room for the nodes that so many concurrent insertions add, as a rule, and some, so
// that kernels find it soon. Nothing may run that uses the tree.
func (t *Tree) reserve(ctx context.Context, operations int) error {
	t.settle(t.stream)
	defer func() { t.uncounted += uint64(operations) }()
	extra := uint64(operations) / 4
	extra += extra/16 + alloc.BlockSlabs/2
	if t.shared {
		return t.reserveShared(ctx, int(extra))
	}
	if t.nodes+extra <= t.slabs {
		t.nodes += extra
		return nil
	}
	if err := t.uses.Rest(ctx); err != nil { // what was recorded takes nodes that the pool doesn't know of yet
		return err
	}
	stats, err := t.pool.Inside().Stats(ctx)
	if err != nil {
		return err
	}
	t.counted(stats)
	if need := t.nodes + extra; need > t.slabs {
		if err := t.pool.Inside().Grow(ctx, blocksFor(int(need-t.slabs))); err != nil {
			return err
		}
		// As much as was asked for at least.
		t.slabs = need
	}
	t.nodes += extra
	return nil
}

// reserveShared is reserve in a pool that others share: it looks at each time how much of it is free.
func (t *Tree) reserveShared(ctx context.Context, extra int) error {
	t.nodes += uint64(extra)
	return t.roomBeside(ctx, extra)
}

// roomBeside has so many slabs free in the pool.
func (t *Tree) roomBeside(ctx context.Context, slabs int) error {
	stats, err := t.pool.Inside().Stats(ctx)
	if err != nil || stats.Free >= slabs {
		return err
	}
	if err := t.pool.Inside().Grow(ctx, blocksFor(slabs-stats.Free)); err != nil {
		return err
	}
	if t.slabs != 0 {
		t.slabs = uint64(t.poolSlabs())
	}
	return nil
}

// makeRoom serves operations that a concurrent batch has left pending: the pool was full, a parent didn't get its
// separator, or a node was latched for too long. stuck: since the last call none was finished. That there is no room is an
// error only then, and after a last try with more visits: deletions and assignments take no node, and latches alone may
// have held them up.
func (t *Tree) makeRoom(ctx context.Context, pending int, stuck bool) error {
	t.meter.Retry()
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	before := t.blocks()
	full := t.mend(ctx)
	if full != nil && !pipeline.Short(full) {
		return full
	}
	stats, err := t.pool.Inside().Stats(ctx) // with what mending has taken, or was refused
	if err != nil {
		return err
	}
	if !t.shared {
		t.counted(stats)
	}
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		// Each may split a leaf, though many meet in one; the pool doubles in any case, if it can.
		need := max(1, blocksFor(pending/4)) - (t.blocks() - before)
		if full == nil && need > 0 {
			full = t.pool.Inside().Relieve(ctx, stats, need, stuck)
		}
		if full == nil || !pipeline.Short(full) {
			return full
		}
	}
	switch {
	case !stuck:
		return nil
	case t.visits < t.mostVisits:
		t.visits *= 4
		return nil
	case full != nil:
		return full
	}
	return &structures.StuckError{Operations: pending}
}

// blocks is how many memory blocks the pool has.
func (t *Tree) blocks() int { return int(t.pool.Device().Blocks) }

// mend inserts the separators that a batch had no room for into the inner nodes.
func (t *Tree) mend(ctx context.Context) error {
	var orphans [1]uint32
	if err := t.state.Download(ctx, orphansWord, orphans[:]); err != nil || orphans[0] == 0 {
		return err
	}
	err := t.repair(ctx)
	if err == nil {
		t.d.Log().Info("mended", "orphans", orphans[0], "nodes", t.nodes)
	}
	return err
}

// Reserve makes room for n pairs in all, as Options.Capacity does: as long as there are no more, the pool need not grow for
// what fills nodes as Options.Fill has it. A batch sets aside what it may take at most, and may have the pool grow once
// more for that. Of a pool that others share it is room that they may take, too. Less than there is room for does nothing. It waits for the streams that work on the tree. Errors: vk.ErrUnsubmitted where one has work
// recorded that was not submitted; *structures.OptionError; *structures.CapacityError, before anything is allocated.
func (t *Tree) Reserve(ctx context.Context, n int) error {
	if n < 0 || n > maxPairs {
		return &structures.OptionError{Option: "Capacity", Reason: fmt.Sprintf("%d, but there are 0 to 2^32 keys", n)}
	}
	return t.inside(ctx, func() error {
		if err := t.uses.Rest(ctx); err != nil {
			return err
		}
		v, err := t.survey(ctx)
		if err != nil {
			return err
		}
		v.free()
		err = t.roomBeside(ctx, nodesFor(max(n-int(v.levels[0].Slots), 0), t.o.Fill))
		if err != nil && pipeline.Short(err) {
			return &structures.CapacityError{Option: "Capacity", Asked: n, Err: err}
		}
		return err
	})
}

// Grow is for who works on the tree by kernels of one's own, once these have ended (Device): it has so many nodes of the
// pool free, and gives nodes that are in no parent yet theirs (STATUS_ORPHAN). Errors: vk.ErrUnsubmitted where a stream
// has work recorded that names the tree and was not submitted; those of alloc.SlabPool.Grow.
func (t *Tree) Grow(ctx context.Context, nodes int) error {
	return t.inside(ctx, func() error {
		if err := t.uses.Rest(ctx); err != nil {
			return err
		}
		if err := t.mend(ctx); err != nil {
			return err
		}
		return t.roomBeside(ctx, nodes)
	})
}
