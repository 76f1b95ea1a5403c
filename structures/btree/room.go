package btree

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// counted has t.nodes begin with what there is, while nothing runs that uses the tree.
func (t *Tree) counted(stats alloc.PoolStats) {
	t.nodes, t.slabs, t.headroom, t.beside = uint64(stats.Allocated), uint64(stats.Slabs), false, 0
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

// reserve makes the pool have room for the nodes that so many insertions beside each other add, as a rule, and some, so
// that kernels find it soon. Nothing may run that uses the tree.
func (t *Tree) reserve(ctx context.Context, operations int) error {
	t.settle(t.stream)
	defer func() { t.beside += uint64(operations) }()
	extra := uint64(operations) / 4
	extra += extra/16 + alloc.BlockSlabs/2
	if t.nodes+extra <= t.slabs {
		t.nodes += extra
		return nil
	}
	if err := t.uses.Rest(ctx); err != nil { // what was recorded takes nodes that the pool doesn't know of yet
		return err
	}
	stats, err := t.pool.Stats(ctx)
	if err != nil {
		return err
	}
	t.counted(stats)
	if need := t.nodes + extra; need > t.slabs {
		if err := t.pool.Grow(ctx, blocksFor(int(need-t.slabs))); err != nil {
			return err
		}
		// As much as was asked for at least.
		t.slabs = need
	}
	t.nodes += extra
	return nil
}

// makeRoom serves operations that a concurrent batch has left pending: the pool was full, a parent didn't get its
// separator, or a node was latched for too long. stuck: since the last call none was finished. That there is no room is an
// error only then, and after a last try with more rounds: deletions and assignments take no node, and latches alone may
// have held them up.
func (t *Tree) makeRoom(ctx context.Context, pending int, stuck bool) error {
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	before := t.blocks()
	full := t.mend(ctx)
	if full != nil && !pipeline.Short(full) {
		return full
	}
	stats, err := t.pool.Stats(ctx) // with what mending has taken, or was refused
	if err != nil {
		return err
	}
	t.counted(stats)
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		// Each may split a leaf, though many meet in one; the pool doubles in any case, if it can.
		need := max(1, blocksFor(pending/4)) - (t.blocks() - before)
		if full == nil && need > 0 {
			full = t.pool.Relieve(ctx, stats, need, stuck)
		}
		if full == nil || !pipeline.Short(full) {
			return full
		}
	}
	switch {
	case !stuck:
		return nil
	case t.rounds < t.mostRounds:
		t.rounds *= 4
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
	return t.repair(ctx)
}
