package graph

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/vk"
)

// View answers queries about an Ordered: as the graph is at each call (Ordered.Now), or as it was at one time
// (Ordered.Snapshot). What a snapshot holds doesn't change while the graph does. Several goroutines may use one View.
type View struct {
	arcs   structures.Queries[uint64, uint64]
	on     func(*vk.Stream) structures.QueriesOnStream // of arcs
	length func(context.Context) (uint64, error)       // of arcs
	d      *vk.Device
	o      Options
	extent atomic.Int64 // vertices
	loops  atomic.Int64 // edges from a vertex to itself, where two arcs are an edge

	at     *btree.Snapshot[uint64, uint64] // nil: the graph as it is
	closed atomic.Bool

	// What keeps the arcs of an Ordered as they are during a call, and a snapshot from being closed before it.
	enter    func(context.Context) error
	leave    func()
	progress *gate.Progress                            // what the tree reports to; nil of a snapshot
	alone    func(context.Context, func() error) error // runs what records and submits: nothing changes meanwhile
}

// made says whether an Ordered has made the view.
func (v *View) made() bool { return v != nil && v.enter != nil }

// queries are those of the arcs, or of a tree that is not open.
func (v *View) queries() structures.Queries[uint64, uint64] {
	if !v.made() {
		return (*btree.Snapshot[uint64, uint64])(nil)
	}
	return v.arcs
}

// ask has f look at arcs that don't change meanwhile.
func (v *View) ask(ctx context.Context, f func(context.Context) error) error {
	if !v.made() {
		return vk.ErrNotOpen
	}
	ctx, end := v.progress.Begin(ctx)
	defer end()
	if err := v.enter(ctx); err != nil {
		return err
	}
	defer v.leave()
	return f(ctx)
}

// Size counts the vertices and the edges: in a directed graph its arcs, in another one each edge once. Errors:
// vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (v *View) Size(ctx context.Context) (vertices int, edges uint64, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		vertices = int(v.extent.Load())
		edges, err = v.count(ctx)
		return err
	})
	return vertices, edges, err
}

// count is how many edges there are, by who has entered.
func (v *View) count(ctx context.Context) (edges uint64, err error) {
	edges, err = v.length(ctx)
	if !v.o.Directed {
		edges = (edges + uint64(v.loops.Load())) / 2
	}
	return edges, err
}

// FindEdges looks each edge up: its weight, 0 if it is absent or the graph has none, and whether it is there. Weights
// of e are not looked at. Errors: vk.ErrClosed, *structures.LengthError, *vk.OutOfMemoryError, the context's.
func (v *View) FindEdges(ctx context.Context, e Edges) (weights []uint32, found []bool, err error) {
	weights, found = make([]uint32, len(e.From)), make([]bool, len(e.From))
	if err := v.FindEdgesInto(ctx, e, weights, found); err != nil {
		return nil, nil, err
	}
	return weights, found, nil
}

// FindEdgesInto is FindEdges into the caller's slices, each as long as the batch or nil: then it is not wanted.
func (v *View) FindEdgesInto(ctx context.Context, e Edges, weights []uint32, found []bool) error {
	return v.ask(ctx, func(ctx context.Context) error {
		n := len(e.From)
		if err := cmp.Or(e.check(false), pipeline.Fits(n, "weights", weights),
			pipeline.Fits(n, "found flags", found)); err != nil {
			return err
		}
		keys := make([]uint64, n)
		for i, from := range e.From {
			keys[i] = keyOf(from, e.To[i])
		}
		if err := v.arcs.FindInto(ctx, keys, keys, found); err != nil { // values in place of keys
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

// Degrees returns how many neighbours each vertex has, in a directed graph those that its arcs lead to; none has what
// is no vertex. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (v *View) Degrees(ctx context.Context, vertices []uint32) (degrees []uint32, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		degrees, err = v.arcs.Count(ctx, keysOf(rangesOf(vertices)))
		return err
	})
	return degrees, err
}

// Neighbors returns the neighbours of each vertex, ascending, in a directed graph those that its arcs lead to; none of
// what is no vertex. Errors: those of Degrees.
func (v *View) Neighbors(ctx context.Context, vertices []uint32) (Neighbors, error) {
	return v.NeighborsBetween(ctx, rangesOf(vertices))
}

// NeighborsBetween returns the neighbours in each range, ascending. Errors: those of Degrees.
func (v *View) NeighborsBetween(ctx context.Context, ranges []NeighborRange) (n Neighbors, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		n, err = v.between(ctx, ranges)
		return err
	})
	return n, err
}

// between is NeighborsBetween by who has entered.
func (v *View) between(ctx context.Context, ranges []NeighborRange) (Neighbors, error) {
	found, err := v.arcs.Range(ctx, keysOf(ranges))
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
	if v.o.Weighted {
		n.Weights = weightsOf(found.Values)
	}
	return n, nil
}

// CommonNeighbors returns, ascending, the vertices that both ends of each pair have arcs to; weights of pairs are not
// looked at, nor whether the pair itself is an edge, and the result has none. The neighbours of the end that has fewer
// are looked up at the other one. Errors: *structures.LengthError and those of Degrees.
func (v *View) CommonNeighbors(ctx context.Context, pairs Edges) (n Neighbors, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		if err := pairs.check(false); err != nil {
			return err
		}
		n, err = v.common(ctx, pairs)
		return err
	})
	return n, err
}

// common is CommonNeighbors by who has entered.
func (v *View) common(ctx context.Context, pairs Edges) (Neighbors, error) {
	count := len(pairs.From)
	degrees, err := v.arcs.Count(ctx, keysOf(rangesOf(slices.Concat(pairs.From, pairs.To))))
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
		candidates, err := v.between(ctx, rangesOf(few))
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
		if err := v.arcs.FindInto(ctx, keys, nil, found); err != nil {
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

// AllEdges returns the edges, those of an undirected graph once each, From being the lesser end, ascending by From and
// then by To. They are read part by part. An error comes last, with no edge: those of Degrees, and
// structures.ErrChanged where the graph of Ordered.Now was changed before the last part was read, which may be the
// first.
func (v *View) AllEdges(ctx context.Context) iter.Seq2[Edge, error] { return oneByOne(v.chunks(ctx)) }

// chunks are the edges, many at a time, in slices that are valid until the next ones come.
func (v *View) chunks(ctx context.Context) iter.Seq2[Edges, error] {
	return transfer.Sequence(func(yield func(Edges) bool) error {
		var e Edges
		for arcs, err := range v.queries().Chunks(ctx) {
			if err != nil {
				return err
			}
			e = Edges{e.From[:0], e.To[:0], e.Weights[:0]}
			for i, key := range arcs.Keys {
				from, to := endsOf(key)
				if to < from && !v.o.Directed {
					continue
				}
				e.From, e.To = append(e.From, from), append(e.To, to)
				if v.o.Weighted {
					e.Weights = append(e.Weights, weightOf(arcs.Values[i]))
				}
			}
			if len(e.From) != 0 && !yield(e) {
				return nil
			}
		}
		return nil
	})
}

// CSR makes compressed sparse rows in device memory, which their user closes, of the graph as it is: for analytics. The
// targets of a row ascend, and come so from the tree. Errors: those of Graph.CSR.
func (v *View) CSR(ctx context.Context) (csr *CSR, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		csr, err = v.rows(ctx)
		return err
	})
	return csr, err
}

// rows is CSR by who has entered.
func (v *View) rows(ctx context.Context) (*CSR, error) {
	arcs, err := v.length(ctx)
	if err != nil {
		return nil, err
	}
	o := CSROptions{Vertices: int(v.extent.Load()), Symmetric: !v.o.Directed}
	if err := checkSizes(o.Vertices, int(min(arcs, MaxArcs+1))); err != nil {
		return nil, err
	}
	s, err := v.d.NewStream()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	b := rows.New(s)
	defer b.Free()
	sorted := rows.Sorted{Arcs: int(arcs)}
	var room [3]*vk.Buffer[uint32]
	for i, words := range []int{2 * max(sorted.Arcs, 1), 2 * max(sorted.Arcs, 1), 1} {
		if room[i], err = b.Room(words); err != nil {
			return nil, err
		}
	}
	sorted.Export = func() error {
		return v.on(s).Export(structures.DeviceExport{Keys: room[0], Values: room[1], Total: room[2]})
	}
	sorted.Alone = func(submit func() error) error { return v.alone(ctx, submit) }
	if sorted.Keys = room[0]; v.o.Weighted {
		sorted.Wide = room[1]
	}
	a, err := b.Rows(ctx, sorted, o.Vertices, 32)
	return csrOf(v.d, a, o, err)
}
