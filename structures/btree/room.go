package btree

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/pools"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// building is the last BuildOn, whose batch may still be dropped. What is known of the nodes is as if it were not. The
// stream says what becomes of it, by whatever goroutine.
type building struct {
	stream           *vk.Stream
	certain, dropped atomic.Bool
}

// builds notes that a stream is recording a BuildOn.
func (t *tree) builds(s *vk.Stream) {
	b := &building{stream: s}
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		b.dropped.Store(!submitted)
		b.certain.Store(true)
	})
	t.building = b
}

// mostNodes is how many nodes there are at most, whatever becomes of what was recorded.
func (t *tree) mostNodes() int {
	if b := t.building; t.known.unsure || b != nil && (!b.certain.Load() || b.dropped.Load()) {
		return t.poolSlabs()
	}
	return min(int(t.known.most(0)), t.poolSlabs())
}

// settle has the nodes counted before a stream gets room for more, if what is noted of them doesn't hold: a BuildOn was
// dropped, or another stream may still drop it.
func (t *tree) settle(s *vk.Stream) {
	b := t.building
	if b == nil {
		return
	}
	certain := b.certain.Load()
	if certain {
		t.building = nil
	}
	if certain && b.dropped.Load() || !certain && s != b.stream {
		t.known.unsure = true
	}
}

// recount counts the nodes. Nothing may run that uses the tree. Errors: vk.ErrUnsubmitted, and those of survey.
func (t *tree) recount(ctx context.Context) error {
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	_, err := t.survey(ctx)
	return err
}

// lacks is how many slabs the pool has not that n more insertions take: at most, or, where they are concurrent, as a
// rule.
func (t *tree) lacks(ctx context.Context, n int, path Path) (slabs int, err error) {
	need := t.known.most(n)
	if path == Concurrent {
		need = t.known.likely(n)
	}
	if !t.shared {
		return max(int(need)-t.poolSlabs(), 0), nil
	}
	stats, err := t.pool.Stats(ctx)
	return max(int(need-t.known.nodes)-stats.Free, 0), err
}

// reserve has the pool have room for n more insertions, which it doesn't count in. Before it grows, the nodes are
// counted: there may be fewer than is known. Nothing may run that uses the tree, where that is so. Errors:
// vk.ErrUnsubmitted, those of alloc.SlabPool.Grow.
func (t *tree) reserve(ctx context.Context, n int, path Path) error {
	if n == 0 {
		return nil // deletions make no nodes
	}
	slabs, err := t.lacks(ctx, n, path)
	if err == nil && (slabs != 0 || t.known.unsure) {
		if err = t.recount(ctx); err == nil {
			slabs, err = t.lacks(ctx, n, path)
		}
	}
	if err != nil {
		return err
	}
	return t.grow(ctx, blocksFor(slabs))
}

// grow gives the pool more memory blocks, and what is kept for snapshots the stamps for them.
func (t *tree) grow(ctx context.Context, blocks int) error {
	err := t.pool.Grow(ctx, blocks)
	if err == nil {
		err = t.stampAll(ctx)
	}
	return err
}

// roomBeside has so many slabs free in the pool.
func (t *tree) roomBeside(ctx context.Context, slabs int) error {
	stats, err := t.pool.Stats(ctx)
	if err != nil || stats.Free >= slabs {
		return err
	}
	return t.grow(ctx, blocksFor(slabs-stats.Free))
}

// makeRoom serves operations that a concurrent batch has left pending: the pool was full, a parent didn't get its
// separator, or a node was latched for too long. stuck: since the last call none was finished. That there is no room is
// an error only then, and after a last try with more visits: deletions and assignments take no node, and latches alone
// may have held them up.
func (t *tree) makeRoom(ctx context.Context, pending int, stuck bool) error {
	t.meter.Retry()
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	full := t.mend(ctx)
	if full != nil && !pipeline.Short(full) {
		return full
	}
	stats, err := t.pool.Stats(ctx) // with what mending has taken, or was refused
	if err != nil {
		return err
	}
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		if full == nil {
			full = t.relieve(ctx, stats, pending, stuck)
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

// calm ends the raised visits of a call, which began with so many.
func (t *tree) calm(visits uint32) { t.visits = visits }

// relieve has the pool grow for pending operations that found it full, if it lacks slabs for them: what was refused may
// have been held only for a moment, by others that needed none in the end.
func (t *tree) relieve(ctx context.Context, stats alloc.PoolStats, pending int, stuck bool) error {
	if err := t.recount(ctx); err != nil && !pipeline.Short(err) {
		return err
	}
	blocks := blocksFor(max(int(t.known.likely(pending)-t.known.nodes)-stats.Free, 0))
	t.known.inserted += uint64(pending)
	if stuck {
		blocks = max(blocks, 1)
	}
	if blocks == 0 {
		return nil
	}
	return cmp.Or(pools.Relieve(ctx, t.pool, stats.Free, blocks, stuck), t.stampAll(ctx))
}

// blocks is how many memory blocks the pool has.
func (t *tree) blocks() int { return int(t.pool.Device().Blocks) }

// mend inserts the separators that a batch had no room for into the inner nodes.
func (t *tree) mend(ctx context.Context) error {
	var orphans [1]uint32
	if err := t.state.Download(ctx, orphansWord, orphans[:]); err != nil || orphans[0] == 0 {
		return err
	}
	err := t.repair(ctx)
	if err == nil {
		t.d.Log().Info("mended", "orphans", orphans[0], "nodes", t.known.nodes)
	}
	return err
}

func (t *tree) Reserve(ctx context.Context, n int) error {
	if err := t.gate.Err(); err != nil {
		return err
	}
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
		more := n - int(v.levels[0].Slots)
		if more <= 0 {
			return nil
		}
		most := t.known.most(more)
		// Some for what concurrent operations hold for a moment, and for inner nodes that have to be made anew.
		err = t.roomBeside(ctx, int(most+most/uint64(t.geometry().leastShare()-1)-t.known.nodes))
		if err != nil && pipeline.Short(err) {
			return &structures.CapacityError{Option: "Capacity", Asked: n, Err: err}
		}
		return err
	})
}

func (t *tree) Grow(ctx context.Context, nodes int) error {
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
