package ordered

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
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/internal/edgelist"
	"github.com/vkds/vkds/structures/graph/internal/rows"
	"github.com/vkds/vkds/vk"
)

// View answers queries about a Graph: as it is at each call (Graph.Now), or as it was at one time (Graph.Snapshot). It
// is safe for many goroutines.
type View struct {
	arcs   structures.Queries[uint64, uint64]
	on     func(*vk.Stream) structures.QueriesOnStream // of arcs
	length func(context.Context) (uint64, error)       // of arcs
	d      *vk.Device
	rules  edgelist.Rules
	extent atomic.Int64 // vertices
	loops  atomic.Int64 // edges from a vertex to itself

	at     *btree.Snapshot[uint64, uint64] // nil: the graph as it is
	closed atomic.Bool

	// enter and leave are called before and after each query. Between them the arcs do not change.
	enter    func(context.Context) error
	leave    func()
	progress *gate.Progress                            // what the tree reports to; nil for a snapshot
	alone    func(context.Context, func() error) error // runs a function that records and submits, without updates
}

// made reports whether a Graph has made the view.
func (v *View) made() bool { return v != nil && v.enter != nil }

// queries returns the queries of the arcs. Without a graph they return vk.ErrNotOpen.
func (v *View) queries() structures.Queries[uint64, uint64] {
	if !v.made() {
		return (*btree.Snapshot[uint64, uint64])(nil)
	}
	return v.arcs
}

// ask calls f while the arcs do not change.
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

// Size returns the numbers of vertices and of edges. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (v *View) Size(ctx context.Context) (vertices int, edges uint64, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		vertices = int(v.extent.Load())
		edges, err = v.count(ctx)
		return err
	})
	return vertices, edges, err
}

// count returns the number of edges. The caller has entered.
func (v *View) count(ctx context.Context) (edges uint64, err error) {
	edges, err = v.length(ctx)
	if !v.rules.Directed {
		edges = (edges + uint64(v.loops.Load())) / 2
	}
	return edges, err
}

// FindEdges returns the weight of each edge, 0 if it is absent or the graph has no weights, and whether it is there.
// The weights of e are ignored. Errors: vk.ErrClosed, *structures.LengthError, *vk.OutOfMemoryError, the context's.
func (v *View) FindEdges(ctx context.Context, e graph.Edges) (weights []uint32, found []bool, err error) {
	weights, found = make([]uint32, len(e.From)), make([]bool, len(e.From))
	if err := v.FindEdgesInto(ctx, e, weights, found); err != nil {
		return nil, nil, err
	}
	return weights, found, nil
}

// FindEdgesInto is FindEdges into the caller's slices. Each is as long as the batch, or nil if it is not needed.
func (v *View) FindEdgesInto(ctx context.Context, e graph.Edges, weights []uint32, found []bool) error {
	return v.ask(ctx, func(ctx context.Context) error {
		n := len(e.From)
		if err := cmp.Or(edgelist.Edges(e).Check(false), pipeline.Fits(n, "weights", weights),
			pipeline.Fits(n, "found flags", found)); err != nil {
			return err
		}
		keys := make([]uint64, n)
		for i, from := range e.From {
			keys[i] = edgelist.Key(from, e.To[i])
		}
		if err := v.arcs.FindInto(ctx, keys, keys, found); err != nil { // values overwrite keys
			return err
		}
		for i := range weights {
			weights[i] = weightOf(keys[i])
		}
		return nil
	})
}

// NeighborRange selects the neighbors of a vertex from Lo to Hi, both included.
type NeighborRange struct{ Vertex, Lo, Hi uint32 }

func (r NeighborRange) keys() structures.Range[uint64] {
	return structures.Range[uint64]{Lo: edgelist.Key(r.Vertex, r.Lo), Hi: edgelist.Key(r.Vertex, r.Hi)}
}

// rangesOf selects all neighbors of vertices.
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

// Degrees returns the number of neighbors of each vertex, in a directed graph of its arcs. A number that is not a
// vertex has none. Errors: vk.ErrClosed, *vk.OutOfMemoryError, the context's.
func (v *View) Degrees(ctx context.Context, vertices []uint32) (degrees []uint32, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		degrees, err = v.arcs.Count(ctx, keysOf(rangesOf(vertices)))
		return err
	})
	return degrees, err
}

// Neighbors returns the neighbors that Degrees counts, ascending for each vertex. Errors: those of Degrees.
func (v *View) Neighbors(ctx context.Context, vertices []uint32) (graph.Neighbors, error) {
	return v.NeighborsBetween(ctx, rangesOf(vertices))
}

// NeighborsBetween returns the neighbors in each range, ascending. Errors: those of Degrees.
func (v *View) NeighborsBetween(ctx context.Context, ranges []NeighborRange) (n graph.Neighbors, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		n, err = v.between(ctx, ranges)
		return err
	})
	return n, err
}

// between is NeighborsBetween for a caller that has entered.
func (v *View) between(ctx context.Context, ranges []NeighborRange) (graph.Neighbors, error) {
	found, err := v.arcs.Range(ctx, keysOf(ranges))
	if err != nil {
		return graph.Neighbors{}, err
	}
	n := graph.Neighbors{Offsets: make([]int, len(ranges)+1), Targets: make([]uint32, len(found.Keys))}
	for i := range n.Offsets {
		n.Offsets[i] = int(found.Offsets[i])
	}
	for i, key := range found.Keys {
		_, n.Targets[i] = edgelist.Ends(key)
	}
	if v.rules.Weighted {
		n.Weights = weightsOf(found.Values)
	}
	return n, nil
}

// CommonNeighbors returns the vertices to which both ends of each pair have arcs, ascending. A pair need not be an
// edge. Weights of pairs are ignored, and the result has none. Errors: *structures.LengthError and those of Degrees.
func (v *View) CommonNeighbors(ctx context.Context, pairs graph.Edges) (n graph.Neighbors, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		if err := edgelist.Edges(pairs).Check(false); err != nil {
			return err
		}
		n, err = v.common(ctx, pairs)
		return err
	})
	return n, err
}

// neighborsAPart is about the number of neighbors that common looks up at a time.
const neighborsAPart = 1 << 21

// common is CommonNeighbors for a caller that has entered. It looks up the neighbors of the end with fewer neighbors at
// the other end.
func (v *View) common(ctx context.Context, pairs graph.Edges) (graph.Neighbors, error) {
	count := len(pairs.From)
	degrees, err := v.arcs.Count(ctx, keysOf(rangesOf(slices.Concat(pairs.From, pairs.To))))
	if err != nil {
		return graph.Neighbors{}, err
	}
	common := graph.Neighbors{Offsets: make([]int, 1, count+1)}
	for first := 0; first < count; {
		var few, many []uint32
		for sum := 0; first < count && (len(few) == 0 || sum < neighborsAPart); first++ {
			u, v, least := pairs.From[first], pairs.To[first], degrees[first]
			if other := degrees[count+first]; other < least {
				u, v, least = v, u, other
			}
			few, many = append(few, u), append(many, v)
			sum += int(least)
		}
		candidates, err := v.between(ctx, rangesOf(few))
		if err != nil {
			return graph.Neighbors{}, err
		}
		keys := make([]uint64, len(candidates.Targets))
		for i, v := range many {
			for at := candidates.Offsets[i]; at < candidates.Offsets[i+1]; at++ {
				keys[at] = edgelist.Key(v, candidates.Targets[at])
			}
		}
		found := make([]bool, len(keys))
		if err := v.arcs.FindInto(ctx, keys, nil, found); err != nil {
			return graph.Neighbors{}, err
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

// AllEdges returns the edges, those of an undirected graph once each with the lesser end as From, ascending by From and
// then by To. It reads them in parts. Errors, which come last and without an edge: those of Degrees, and
// structures.ErrChanged if the graph of a Now changed before the last part was read.
func (v *View) AllEdges(ctx context.Context) iter.Seq2[graph.Edge, error] {
	return transfer.Sequence(func(yield func(graph.Edge) bool) error {
		for some, err := range v.edges(ctx) {
			if err != nil {
				return err
			}
			for i, key := range some.Keys {
				from, to := edgelist.Ends(key)
				if !yield(graph.Edge{From: from, To: to, Weight: uint32(some.Values[i])}) {
					return nil
				}
			}
		}
		return nil
	})
}

// edges returns an arc of each edge with its weight, many at a time, in slices that are valid until the next ones.
func (v *View) edges(ctx context.Context) iter.Seq2[structures.Pairs[uint64, uint64], error] {
	return transfer.Sequence(func(yield func(structures.Pairs[uint64, uint64]) bool) error {
		var some structures.Pairs[uint64, uint64]
		for all, err := range v.queries().Chunks(ctx) {
			if err != nil {
				return err
			}
			some.Keys, some.Values = some.Keys[:0], some.Values[:0]
			for i, key := range all.Keys {
				if key == edgeKey(key) || v.rules.Directed {
					some.Keys = append(some.Keys, key)
					some.Values = append(some.Values, uint64(weightOf(all.Values[i])))
				}
			}
			if len(some.Keys) != 0 && !yield(some) {
				return nil
			}
		}
		return nil
	})
}

// CSR copies the graph to compressed sparse rows in device memory, for analytics. The targets of each row ascend. The
// caller closes the result. Errors: those of graph.Graph.CSR.
func (v *View) CSR(ctx context.Context) (csr *graph.CSR, err error) {
	err = v.ask(ctx, func(ctx context.Context) error {
		csr, err = v.rows(ctx)
		return err
	})
	return csr, err
}

// rows is CSR for a caller that has entered.
func (v *View) rows(ctx context.Context) (*graph.CSR, error) {
	arcs, err := v.length(ctx)
	if err != nil {
		return nil, err
	}
	vertices := int(v.extent.Load())
	if err := rows.CheckSizes(vertices, int(min(arcs, rows.MaxArcs+1))); err != nil {
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
	if sorted.Keys = room[0]; v.rules.Weighted {
		sorted.Wide = room[1]
	}
	a, err := b.Rows(ctx, sorted, vertices, 32)
	if err != nil {
		return nil, err
	}
	csr, err := graph.NewCSR(ctx, v.d, graph.Rows{Vertices: a.Vertices, Arcs: a.Arcs, Offsets: a.Offsets,
		Targets: a.Targets, Weights: a.Weights, Symmetric: !v.rules.Directed, Trusted: true})
	if err != nil {
		a.Free()
	}
	return csr, err
}
