package graph

import (
	"cmp"
	"context"
	"math"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// initialVisits is the number of slabs that a tile visits in one dispatch, for each of its lanes. A bucket of
// reasonable load needs one or two. If an insertion needs more, its vertex gets more buckets. Only if there is no
// memory for buckets, the visits are raised: up to maxVisits, or to twice the number of slabs, which is more than any
// list has.
const (
	initialVisits = 24
	maxVisits     = 1 << 18
)

type applyPush struct {
	Graph    Description
	From     uint64
	To       uint64
	Weights  uint64
	Statuses uint64
	Stages   uint64
	Keys     uint64
	Pending  uint64
	Count    uint32
	Visits   uint32
	Retry    uint32
}

type findPush struct {
	Graph   Description
	From    uint64
	To      uint64
	Weights uint64
	Found   uint64
	Count   recording.Length
}

// operands has the device addresses of a batch.
type operands struct {
	from, to, weights, statuses, stages, keys, pending uint64
	count                                              int
	retry                                              bool
	anyway                                             bool   // also if a vertex waits for buckets
	arcs                                               uint32 // for each edge
	groups                                             sequential.Indirect
}

// recordApply records a batch of operations of one kind.
func (g *Graph) recordApply(s *vk.Stream, kind structures.Kind, b operands) error {
	k, err := g.applyKernel(kind, b.arcs).Kernel(g.h.Kernels, s)
	if err != nil {
		return err
	}
	p := applyPush{
		Graph: g.description(), From: b.from, To: b.to, Weights: b.weights, Statuses: b.statuses, Stages: b.stages,
		Keys: b.keys, Pending: b.pending, Count: uint32(b.count), Visits: g.budget(),
	}
	switch {
	case b.anyway:
		p.Retry = 2
	case b.retry:
		p.Retry = 1
	}
	sequential.Dispatch(s, k, groupsOf(b.count), b.groups, p)
	return nil
}

// budget returns the number of slabs that a tile may visit in one dispatch.
func (g *Graph) budget() uint32 {
	return uint32(min(uint64(g.visits)*uint64(g.tiles.update), math.MaxUint32))
}

// recordInOrder records a batch of insertions whose results are those of the batch's order.
func (g *Graph) recordInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	c := sequential.Chunk{
		Kind: kind, Width: structures.Bits64, Keys: b.keys, Statuses: b.statuses, Pending: b.pending, Count: b.count,
		Retry: b.retry, KeysOnly: !g.o.Weighted, Stepwise: b.arcs == 2,
	}
	return g.order.Record(s, c, func(p sequential.Pass) error {
		b := b
		if p.Statuses != b.statuses {
			b.stages, b.keys = 0, 0 // assigning again is harmless, so edges begin with their first arc
		}
		// Storing a weight again needs no room, unless an edge is two arcs: the second arc may not be there.
		b.statuses, b.retry, b.anyway, b.groups = p.Statuses, p.Retry, p.Again && !c.Stepwise, p.Groups
		return g.recordApply(s, p.Kind, b)
	})
}

func (g *Graph) recordFind(s *vk.Stream, p findPush) error {
	k, err := g.findKernel().Kernel(g.h.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groupsOf(int(p.Count.N)), p)
	return nil
}

// makeRoom makes room for operations that were left pending: for vertices without a descriptor, for vertices that wait
// for more buckets, or in the pool. stuck says that no operation was finished since the last call.
func (g *Graph) makeRoom(ctx context.Context, pending int, stuck bool) error {
	g.h.Meter.Retry()
	counts, err := g.counts(ctx, g.h.Stream)
	if err != nil {
		return err
	}
	if wanted := int(min(counts[countWanted], math.MaxInt32)); wanted > g.capacity() {
		if err := g.makeVertices(ctx, wanted); err != nil {
			return err
		}
		return g.stock(ctx, min(wanted-min(int(counts[countExtent]), wanted), 2*pending))
	}
	grown, err := g.regrow(ctx, counts, growing)
	if err != nil && !pipeline.Short(err) {
		return err
	}
	stats, err := g.h.Pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Failures != g.failures {
		g.failures = stats.Failures
		// Each operation may need a slab, but most share one. The pool doubles in any case, if it can.
		return g.h.Pool.Relieve(ctx, stats.Free, max(1, pending/g.slots/slabs.BlockSlabs), stuck)
	}
	if grown || !stuck {
		return nil
	}
	slabs := uint64(stats.Slabs)
	most := min(max(maxVisits, 2*slabs), math.MaxUint32/maxTile)
	if uint64(g.visits) >= most {
		return &structures.StuckError{Operations: pending}
	}
	g.visits = uint32(min(4*uint64(g.visits), most))
	return nil
}

// calm resets the visits that a call has raised, so that later calls give vertices more buckets instead.
func (g *Graph) calm() { g.visits = initialVisits }

// stock grows the pool to that many free slabs, if it can: one for each new vertex. Otherwise all of these operations
// would search the pool in vain each time before it doubles. One more block is for tiles that take the first slab of a
// vertex at the same time as another tile, and give it back.
func (g *Graph) stock(ctx context.Context, free int) error {
	stats, err := g.h.Pool.Stats(ctx)
	if err != nil {
		return err
	}
	if lack := free - stats.Free + g.h.Pool.Aside(); lack > 0 {
		err = g.h.Pool.Grow(ctx, (lack+slabs.BlockSlabs-1)/slabs.BlockSlabs+1)
	}
	if pipeline.Short(err) {
		return nil // the pool grows as far as it can when it is full
	}
	return err
}

// makeVertices makes room for that many vertices, and for twice as many as before if there is memory.
func (g *Graph) makeVertices(ctx context.Context, wanted int) error {
	var err error
	if wanted > MaxVertices {
		err = &VertexError{-1, MaxVertices}
	} else if err = g.growVertices(ctx, min(max(wanted, 2*g.capacity()), MaxVertices)); pipeline.Short(err) {
		err = g.growVertices(ctx, wanted)
	}
	if err != nil {
		// The insertions that asked for these vertices will not be done. They must not stop later ones.
		return cmp.Or(g.setCounter(context.WithoutCancel(ctx), countWanted, 0), err)
	}
	return nil
}

// setCounter sets a counter. No kernel may be running.
func (g *Graph) setCounter(ctx context.Context, at int, value uint32) error {
	return g.counters.Upload(ctx, at, []uint32{value})
}

// relax gives more buckets to vertices that are above Options.MaxLoad, before more edges come.
func (g *Graph) relax(ctx context.Context) error {
	counts, err := g.counts(ctx, g.h.Stream)
	if err != nil || counts[countFull] == 0 {
		return err
	}
	if _, err = g.regrow(ctx, counts, growing); pipeline.Short(err) {
		return nil // lists become longer
	}
	return err
}
