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

// initialVisits is how many slabs a tile visits in one dispatch, for each of its lanes. An adjacency of reasonable load
// needs one or two; where an insertion needs more, its vertex gets more buckets. Only where there is no memory for
// these are the visits raised, up to maxVisits or to twice the slabs that there are, which no list is longer than.
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

// operands are the addresses of a batch on the device.
type operands struct {
	from, to, weights, statuses, stages, keys, pending uint64
	count                                              int
	retry                                              bool
	anyway                                             bool   // vertices that wait keep none of those away
	arcs                                               uint32 // that an edge is
	groups                                             sequential.Indirect
}

// recordApply records a batch of operations of one kind.
func (g *Graph) recordApply(s *vk.Stream, kind structures.Kind, b operands) error {
	k, err := g.applyKernel(kind, b.arcs).Kernel(g.kernels, s)
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

// budget is how many slabs a tile may visit in one dispatch.
func (g *Graph) budget() uint32 {
	return uint32(min(uint64(g.visits)*uint64(g.tiles.update), math.MaxUint32))
}

// recordInOrder records a batch of insertions of which equal edges count in the batch's order.
func (g *Graph) recordInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	c := sequential.Chunk{
		Kind: kind, Width: structures.Bits64, Keys: b.keys, Statuses: b.statuses, Pending: b.pending, Count: b.count,
		Retry: b.retry, KeysOnly: !g.o.Weighted, Stepwise: b.arcs == 2,
	}
	return g.order.Record(s, c, func(p sequential.Pass) error {
		b := b
		if p.Statuses != b.statuses {
			b.stages, b.keys = 0, 0 // weights of edges that are there: begun anew where they are not through
		}
		// What is stored once more needs no room, unless an edge is two arcs: of these the second may not be there.
		b.statuses, b.retry, b.anyway, b.groups = p.Statuses, p.Retry, p.Again && !c.Stepwise, p.Groups
		return g.recordApply(s, p.Kind, b)
	})
}

func (g *Graph) recordFind(s *vk.Stream, p findPush) error {
	k, err := g.findKernel().Kernel(g.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groupsOf(int(p.Count.N)), p)
	return nil
}

// makeRoom serves operations that were left pending: vertices have no descriptor yet, or wait for more buckets, or the
// pool was full. stuck: since the last call none was finished.
func (g *Graph) makeRoom(ctx context.Context, pending int, stuck bool) error {
	g.meter.Retry()
	counts, err := g.counts(ctx, g.stream)
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
	stats, err := g.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Failures != g.failures {
		g.failures = stats.Failures
		// Each may need a slab, though most meet in one; the pool doubles in any case, if it can.
		return g.pool.Relieve(ctx, stats.Free, max(1, pending/g.slots/slabs.BlockSlabs), stuck)
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

// calm ends the raised visits of a call: later ones have their vertices get buckets again.
func (g *Graph) calm() { g.visits = initialVisits }

// stock has the pool grow to so many free slabs, if it can: one for each vertex that comes, before all that come search
// a pool in vain that doubles from one round to the next. A block is added for who takes a vertex's first slab while
// another one does, and gives it back.
func (g *Graph) stock(ctx context.Context, free int) error {
	stats, err := g.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if lack := free - stats.Free; lack > 0 {
		err = g.pool.Grow(ctx, (lack+slabs.BlockSlabs-1)/slabs.BlockSlabs+1)
	}
	if pipeline.Short(err) {
		return nil // then it grows by what it can, when it is full
	}
	return err
}

// makeVertices makes room for so many vertices, and for as many as there are again if it can be.
func (g *Graph) makeVertices(ctx context.Context, wanted int) error {
	err := checkExtent(int64(wanted))
	if err == nil {
		err = g.growVertices(ctx, min(max(wanted, 2*g.capacity()), MaxVertices))
	}
	if err != nil && pipeline.Short(err) {
		err = g.growVertices(ctx, wanted)
	}
	if err != nil {
		// What asked for them won't be done: others shall not be stopped by it.
		return cmp.Or(g.setCounter(context.WithoutCancel(ctx), countWanted, 0), err)
	}
	return nil
}

// setCounter gives a counter a value, while nothing runs.
func (g *Graph) setCounter(ctx context.Context, at int, value uint32) error {
	return g.counters.Upload(ctx, at, []uint32{value})
}

// relax gives more buckets to vertices that have become too full for theirs, before more edges come.
func (g *Graph) relax(ctx context.Context) error {
	counts, err := g.counts(ctx, g.stream)
	if err != nil || counts[countFull] == 0 {
		return err
	}
	if _, err = g.regrow(ctx, counts, growing); pipeline.Short(err) {
		return nil // longer lists then
	}
	return err
}
