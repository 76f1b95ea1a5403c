package graph

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// orderedArcs is what is asked of an Ordered and of its snapshots alike. The comments on their methods say what its own
// do.
type orderedArcs struct {
	arcs   structures.Queries[uint64, uint64]
	length func(context.Context) (uint64, error) // of arcs
	d      *vk.Device
	o      Options
	extent atomic.Int64 // vertices
	loops  atomic.Int64 // edges from a vertex to itself, where two arcs are an edge

	// What keeps the arcs of an Ordered as they are during a call, and a snapshot from being closed before it.
	enter   func(context.Context) error
	leave   func()
	outside transfer.Gate
	alone   func(context.Context, func() error) error // runs what records and submits: nothing changes meanwhile
}

// queries are those of the arcs, or of a tree that is not open.
func (g *orderedArcs) queries() structures.Queries[uint64, uint64] {
	if g.arcs == nil {
		return (*btree.Snapshot[uint64, uint64])(nil)
	}
	return g.arcs
}

// ask has f look at arcs that don't change meanwhile.
func (g *orderedArcs) ask(ctx context.Context, f func() error) error {
	if g.enter == nil {
		return vk.ErrNotOpen
	}
	if err := g.enter(ctx); err != nil {
		return err
	}
	defer g.leave()
	return f()
}

func (g *orderedArcs) Vertices(ctx context.Context) (n int, err error) {
	err = g.ask(ctx, func() error {
		n = int(g.extent.Load())
		return nil
	})
	return n, err
}

func (g *orderedArcs) Edges(ctx context.Context) (edges uint64, err error) {
	err = g.ask(ctx, func() error {
		edges, err = g.count(ctx)
		return err
	})
	return edges, err
}

// count is Edges by who has entered.
func (g *orderedArcs) count(ctx context.Context) (edges uint64, err error) {
	edges, err = g.length(ctx)
	if !g.o.Directed {
		edges = (edges + uint64(g.loops.Load())) / 2
	}
	return edges, err
}

func (g *orderedArcs) FindEdges(ctx context.Context, e Edges) (weights []uint32, found []bool, err error) {
	weights, found = make([]uint32, len(e.From)), make([]bool, len(e.From))
	if err := g.FindEdgesInto(ctx, e, weights, found); err != nil {
		return nil, nil, err
	}
	return weights, found, nil
}

func (g *orderedArcs) HasEdges(ctx context.Context, e Edges) ([]bool, error) {
	found := make([]bool, len(e.From))
	if err := g.FindEdgesInto(ctx, e, nil, found); err != nil {
		return nil, err
	}
	return found, nil
}

func (g *orderedArcs) FindEdgesInto(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	return g.ask(ctx, func() error {
		n := len(e.From)
		if err := cmp.Or(e.check(false), pipeline.Fits(n, "weights", weights),
			pipeline.Fits(n, "found flags", found)); err != nil {
			return err
		}
		keys := make([]uint64, n)
		for i, from := range e.From {
			keys[i] = keyOf(from, e.To[i])
		}
		if err := g.arcs.FindInto(ctx, keys, keys, found); err != nil { // values in place of keys
			return err
		}
		for i := range weights {
			weights[i] = weightOf(keys[i])
		}
		return nil
	})
}

// NeighborRange are those neighbours of a vertex that have numbers from Lo to Hi, both among them.
type NeighborRange struct{ Vertex, Lo, Hi uint32 }

func (r NeighborRange) keys() structures.Range[uint64] {
	return structures.Range[uint64]{Lo: keyOf(r.Vertex, r.Lo), Hi: keyOf(r.Vertex, r.Hi)}
}

// rangesOf are all neighbours of vertices.
func rangesOf(vertices []uint32) []NeighborRange {
	ranges := make([]NeighborRange, len(vertices))
	for i, v := range vertices {
		ranges[i] = NeighborRange{v, 0, ^uint32(0)}
	}
	return ranges
}

func keysOf(ranges []NeighborRange) []structures.Range[uint64] {
	keys := make([]structures.Range[uint64], len(ranges))
	for i, r := range ranges {
		keys[i] = r.keys()
	}
	return keys
}

func (g *orderedArcs) Degrees(ctx context.Context, vertices []uint32) (degrees []uint32, err error) {
	err = g.ask(ctx, func() error {
		degrees, err = g.arcs.Count(ctx, keysOf(rangesOf(vertices)))
		return err
	})
	return degrees, err
}

func (g *orderedArcs) Neighbors(ctx context.Context, vertices []uint32) (Neighbors, error) {
	return g.NeighborsBetween(ctx, rangesOf(vertices))
}

func (g *orderedArcs) NeighborsBetween(ctx context.Context, ranges []NeighborRange) (n Neighbors, err error) {
	err = g.ask(ctx, func() error {
		n, err = g.between(ctx, ranges)
		return err
	})
	return n, err
}

// between is NeighborsBetween by who has entered.
func (g *orderedArcs) between(ctx context.Context, ranges []NeighborRange) (Neighbors, error) {
	found, err := g.arcs.Range(ctx, keysOf(ranges))
	if err != nil {
		return Neighbors{}, err
	}
	n := Neighbors{Offsets: make([]int, len(ranges)+1), Targets: make([]uint32, len(found.Keys))}
	for i := range n.Offsets {
		n.Offsets[i] = int(found.Offsets[i])
	}
	for i, key := range found.Keys {
		_, n.Targets[i] = endsOf(key)
	}
	if g.o.Weighted {
		n.Weights = weightsOf(found.Values)
	}
	return n, nil
}

func (g *orderedArcs) CommonNeighbors(ctx context.Context, pairs Edges) (n Neighbors, err error) {
	err = g.ask(ctx, func() error {
		if err := pairs.check(false); err != nil {
			return err
		}
		n, err = g.common(ctx, pairs)
		return err
	})
	return n, err
}

// common is CommonNeighbors by who has entered.
func (g *orderedArcs) common(ctx context.Context, pairs Edges) (Neighbors, error) {
	count := pairs.Len()
	degrees, err := g.arcs.Count(ctx, keysOf(rangesOf(slices.Concat(pairs.From, pairs.To))))
	if err != nil {
		return Neighbors{}, err
	}
	common := Neighbors{Offsets: make([]int, 1, count+1)}
	for first := 0; first < count; {
		// As many pairs as have about so many neighbours to be looked up, but one at least.
		var few, many []uint32
		for sum := 0; first < count && (len(few) == 0 || sum < arcsAPart); first++ {
			u, v, least := pairs.From[first], pairs.To[first], degrees[first]
			if other := degrees[count+first]; other < least {
				u, v, least = v, u, other
			}
			few, many = append(few, u), append(many, v)
			sum += int(least)
		}
		candidates, err := g.between(ctx, rangesOf(few))
		if err != nil {
			return Neighbors{}, err
		}
		keys := make([]uint64, len(candidates.Targets))
		for i, v := range many {
			for at := candidates.Offsets[i]; at < candidates.Offsets[i+1]; at++ {
				keys[at] = keyOf(v, candidates.Targets[at])
			}
		}
		found := make([]bool, len(keys))
		if err := g.arcs.FindInto(ctx, keys, nil, found); err != nil {
			return Neighbors{}, err
		}
		for i := range many {
			for at := candidates.Offsets[i]; at < candidates.Offsets[i+1]; at++ {
				if found[at] {
					common.Targets = append(common.Targets, candidates.Targets[at])
				}
			}
			common.Offsets = append(common.Offsets, len(common.Targets))
		}
	}
	return common, nil
}

func (g *orderedArcs) NeighborsOf(ctx context.Context, vertex uint32) iter.Seq2[Edge, error] {
	return g.edgesOfArcs(g.queries().Ascend(ctx, NeighborRange{vertex, 0, ^uint32(0)}.keys()), true)
}

func (g *orderedArcs) AllEdges(ctx context.Context) iter.Seq2[Edge, error] {
	return g.edgesOfArcs(g.queries().All(ctx), g.o.Directed)
}

// edgesOfArcs are arcs as edges; both: those too that lead to the lesser end.
func (g *orderedArcs) edgesOfArcs(arcs iter.Seq2[structures.Pair[uint64, uint64], error],
	both bool) iter.Seq2[Edge, error] {
	return func(yield func(Edge, error) bool) {
		for arc, err := range arcs {
			if err != nil {
				yield(Edge{}, err)
				return
			}
			from, to := endsOf(arc.Key)
			if (both || from <= to) && !yield(Edge{from, to, weightOf(arc.Value)}, nil) {
				return
			}
		}
	}
}

func (g *orderedArcs) Chunks(ctx context.Context) iter.Seq2[Edges, error] {
	return transfer.Sequence(func(yield func(Edges) bool) error {
		var e Edges
		for arcs, err := range g.queries().Chunks(ctx) {
			if err != nil {
				return err
			}
			e = Edges{e.From[:0], e.To[:0], e.Weights[:0]}
			for i, key := range arcs.Keys {
				from, to := endsOf(key)
				if to < from && !g.o.Directed {
					continue
				}
				e.From, e.To = append(e.From, from), append(e.To, to)
				if g.o.Weighted {
					e.Weights = append(e.Weights, weightOf(arcs.Values[i]))
				}
			}
			if e.Len() != 0 && !yield(e) {
				return nil
			}
		}
		return nil
	})
}

func (g *orderedArcs) Export(ctx context.Context) (all Edges, err error) {
	err = g.ask(ctx, func() error {
		all, err = collected(g.Chunks(ctx))
		return err
	})
	return all, err
}

// edgesOf are the edges that vertices have, by who has entered.
func (g *orderedArcs) edgesOf(ctx context.Context, vertices []uint32) (e Edges, err error) {
	if !g.o.Directed {
		n, err := g.between(ctx, rangesOf(vertices))
		if err != nil {
			return Edges{}, err
		}
		for i, from := range vertices {
			targets, _ := n.Of(i)
			for _, to := range targets {
				e = e.with(from, to)
			}
		}
		return e, nil
	}
	those := map[uint32]bool{}
	for _, v := range vertices {
		those[v] = true
	}
	for arcs, err := range g.Chunks(ctx) {
		if err != nil {
			return Edges{}, err
		}
		for i, from := range arcs.From {
			if to := arcs.To[i]; those[from] || those[to] {
				e = e.with(from, to)
			}
		}
	}
	return e, nil
}

func (g *orderedArcs) CSR(ctx context.Context) (csr *CSR, err error) {
	err = g.ask(ctx, func() error {
		csr, err = g.rows(ctx)
		return err
	})
	return csr, err
}

// rows is CSR by who has entered.
func (g *orderedArcs) rows(ctx context.Context) (*CSR, error) {
	arcs, err := g.length(ctx)
	if err != nil {
		return nil, err
	}
	o := CSROptions{Vertices: int(g.extent.Load()), Symmetric: !g.o.Directed}
	if err := checkSizes(o.Vertices, int(min(arcs, MaxArcs+1))); err != nil {
		return nil, err
	}
	s, err := g.d.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := newBuilder(g.d, s)
	defer b.free()
	b.o, b.arcs, b.bits = o, int(arcs), 32
	sorted := sortedArcs{arcs: b.arcs}
	var room [3]*vk.Buffer[uint32]
	for i, words := range []int{2 * max(b.arcs, 1), 2 * max(b.arcs, 1), 1} {
		if room[i], err = b.room(words); err != nil {
			return nil, err
		}
	}
	sorted.export = func() error {
		return g.arcs.ExportOn(s, structures.DeviceExport{Keys: room[0], Values: room[1], Total: room[2]})
	}
	sorted.alone = func(submit func() error) error { return g.alone(ctx, submit) }
	if sorted.keys = room[0]; g.o.Weighted {
		sorted.wide = room[1]
	}
	return b.rows(ctx, sorted)
}

func (g *orderedArcs) ExportCSR(ctx context.Context) (offsets, targets, weights []uint32, err error) {
	csr, err := g.CSR(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	offsets, targets, weights, err = csr.Slices(ctx)
	return offsets, targets, weights, joint.Error(err, csr.Close())
}
