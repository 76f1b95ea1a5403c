package btree

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// building is the last BuildOn, whose batch may still be dropped. t.known assumes that it is not. The goroutine that
// submits or drops the batch notes the result here.
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

// mostNodes returns an upper bound of the number of nodes, whatever happens to recorded work.
func (t *tree) mostNodes() int {
	if b := t.building; t.known.unsure || b != nil && (!b.certain.Load() || b.dropped.Load()) {
		return t.poolSlabs()
	}
	return min(int(t.known.most(0)), t.poolSlabs())
}

// settle marks t.known as unsure if a BuildOn was dropped, or if another stream may still drop it. The nodes are then
// counted before a stream gets room for more.
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

// recount counts the nodes. No work may use the tree. Errors: vk.ErrUnsubmitted, and those of survey.
func (t *tree) recount(ctx context.Context) error {
	if err := t.Uses.Rest(ctx); err != nil {
		return err
	}
	_, err := t.survey(ctx)
	return err
}

// lacks returns how many slabs the pool lacks for n more insertions: at most, or, on the concurrent path, usually.
func (t *tree) lacks(ctx context.Context, n int, path Path) (slabs int, err error) {
	need := t.known.most(n)
	if path == Concurrent {
		need = t.known.likely(n)
	}
	if !t.Shares {
		return max(int(need)-t.poolSlabs(), 0), nil
	}
	stats, err := t.Pool.Stats(ctx)
	return max(int(need-t.known.nodes)-stats.Free+t.Pool.Aside(), 0), err
}

// reserve makes room in the pool for n more insertions, but doesn't add them to t.known. Before the pool grows, reserve
// counts the nodes, because there may be fewer than t.known says. If they are counted, no work may use the tree.
// Errors: vk.ErrUnsubmitted, those of alloc.SlabPool.Grow.
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

// grow adds memory blocks to the pool, and stamps for them if versions are kept.
func (t *tree) grow(ctx context.Context, blocks int) error {
	err := t.Pool.Room(ctx, blocks)
	if err == nil {
		err = t.stampAll(ctx)
	}
	return err
}

// roomBeside makes so many slabs of the pool free.
func (t *tree) roomBeside(ctx context.Context, slabs int) error {
	stats, err := t.Pool.Stats(ctx)
	free := stats.Free - t.Pool.Aside()
	if err != nil || free >= slabs {
		return err
	}
	return t.grow(ctx, blocksFor(slabs-free))
}

// makeRoom helps operations that a concurrent batch left pending, because the pool was full, a parent didn't get its
// separator, or a node was latched for too long. stuck says that no operation was completed since the last call. Only
// then is a full pool an error, and only after a last try with more visits: deletions and assignments need no node, and
// may have failed only because of latches.
func (t *tree) makeRoom(ctx context.Context, pending int, stuck bool) error {
	t.Meter.Retry()
	if err := t.Uses.Rest(ctx); err != nil {
		return err
	}
	full := t.mend(ctx)
	if full != nil && !pipeline.Short(full) {
		return full
	}
	stats, err := t.Pool.Stats(ctx) // after mending, which allocates, too
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

// calm resets the number of visits to what it was before a call.
func (t *tree) calm(visits uint32) { t.visits = visits }

// relieve makes the pool grow for pending operations that found it full, if it lacks slabs for them. It may lack none,
// because other operations may have held slabs for a moment that they did not need in the end.
func (t *tree) relieve(ctx context.Context, stats slabs.Stats, pending int, stuck bool) error {
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
	return cmp.Or(t.Pool.Relieve(ctx, stats.Free, blocks, stuck), t.stampAll(ctx))
}

// blocks returns the number of memory blocks of the pool.
func (t *tree) blocks() int { return int(t.Pool.Description().Blocks) }

// mend inserts into the inner nodes the separators for which a batch had no room.
func (t *tree) mend(ctx context.Context) error {
	var orphans [1]uint32
	if err := t.state.Download(ctx, orphansWord, orphans[:]); err != nil || orphans[0] == 0 {
		return err
	}
	err := t.repair(ctx)
	if err == nil {
		t.Device.Log().Info("mended", "orphans", orphans[0], "nodes", t.known.nodes)
	}
	return err
}

func (t *tree) Reserve(ctx context.Context, n int) error {
	if err := t.Err(); err != nil {
		return err
	}
	if n < 0 || n > maxPairs {
		return &vk.OptionError{Option: "Capacity", Reason: fmt.Sprintf("%d is not between 0 and 2^32", n)}
	}
	if err := t.EnterAlone(ctx); err != nil {
		return err
	}
	defer t.Leave()
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	more := n - int(v.levels[0].Slots)
	if more <= 0 {
		return nil
	}
	most := t.known.most(more)
	// The rest is for slabs that concurrent operations hold for a moment, and for the repair of inner nodes.
	err = t.roomBeside(ctx, int(most+most/uint64(t.geometry().leastShare()-1)-t.known.nodes))
	if err != nil && pipeline.Short(err) {
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: err}
	}
	return err
}

func (t *tree) Grow(ctx context.Context, nodes int) error {
	if err := t.EnterAlone(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := t.mend(ctx); err != nil {
		return err
	}
	return t.roomBeside(ctx, nodes)
}
