package graph_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

type arc struct{ from, to uint32 }

// oracle is a graph in Go's maps.
type oracle struct {
	o       Options
	arcs    map[arc]uint32
	extent  int
	deleted map[uint32]bool
}

func newOracle(o Options) *oracle {
	return &oracle{o: o, arcs: map[arc]uint32{}, extent: o.Vertices, deleted: map[uint32]bool{}}
}

// appear has a number become a vertex.
func (w *oracle) appear(v uint32) {
	w.extent = max(w.extent, int(v)+1)
	delete(w.deleted, v)
}

func (w *oracle) vertices() int { return w.extent - len(w.deleted) }

func (w *oracle) put(from, to, weight uint32) {
	w.arcs[arc{from, to}] = weight
	if !w.o.Directed {
		w.arcs[arc{to, from}] = weight
	}
}

// update does an operation on an edge.
func (w *oracle) update(kind structures.Kind, from, to, weight uint32) structures.Status {
	old, there := w.arcs[arc{from, to}]
	switch {
	case kind == structures.Delete && !there:
		return structures.Absent
	case kind == structures.Delete:
		delete(w.arcs, arc{from, to})
		if !w.o.Directed {
			delete(w.arcs, arc{to, from})
		}
		return structures.Deleted
	case from == to && !w.o.SelfLoops:
		return structures.Absent
	case !there:
		w.appear(from)
		w.appear(to)
		w.put(from, to, weight)
		return structures.Inserted
	case kind == structures.InsertUnique || !w.o.Weighted:
		return structures.Found
	}
	switch kind {
	case structures.InsertAdd:
		weight += old
	case structures.InsertMin:
		weight = min(weight, old)
	case structures.InsertMax:
		weight = max(weight, old)
	}
	w.put(from, to, weight)
	return structures.Assigned
}

// updates does a batch of one kind, of whose equal deletions any may be the one that deletes.
func (w *oracle) updates(t require.TestingT, kind structures.Kind, e Edges, got []structures.Status) {
	deleted := map[arc]int{}
	for i, from := range e.From {
		weight := uint32(0)
		if w.o.Weighted && e.Weights != nil {
			weight = e.Weights[i]
		}
		want := w.update(kind, from, e.To[i], weight)
		if kind != structures.Delete {
			require.Equal(t, want, got[i], "%v of %d to %d, number %d", kind, from, e.To[i], i)
			continue
		}
		ends := arc{from, e.To[i]}
		if !w.o.Directed {
			ends = arc{min(from, e.To[i]), max(from, e.To[i])}
		}
		if want == structures.Deleted {
			deleted[ends]++
		}
		if got[i] == structures.Deleted {
			deleted[ends]--
		} else {
			require.Equal(t, structures.Absent, got[i])
		}
	}
	for ends, n := range deleted {
		require.Zero(t, n, "deletions of %v", ends)
	}
}

func (w *oracle) insertVertices(t require.TestingT, ids []uint32, got []structures.Status) {
	// Of equal numbers any may be the one that is Inserted.
	want, count := map[uint32]int{}, map[uint32]int{}
	for i, id := range ids {
		if w.deleted[id] || int(id) >= w.extent {
			want[id] = 1
		}
		if got[i] == structures.Inserted {
			count[id]++
		} else {
			require.Equal(t, structures.Found, got[i])
		}
	}
	for _, id := range ids {
		require.Equal(t, want[id], count[id], "insertions of vertex %d", id)
		w.appear(id)
	}
}

func (w *oracle) deleteVertices(t require.TestingT, ids []uint32, got []structures.Status) {
	count := map[uint32]int{}
	for i, id := range ids {
		if got[i] == structures.Deleted {
			count[id]++
		} else {
			require.Equal(t, structures.Absent, got[i])
		}
	}
	gone := map[uint32]bool{}
	for _, id := range ids {
		want := 0
		if int(id) < w.extent && !w.deleted[id] || gone[id] {
			want, gone[id] = 1, true
			w.deleted[id] = true
		}
		require.Equal(t, want, count[id], "deletions of vertex %d", id)
	}
	w.deleteArcsOf(func(v uint32) bool { return gone[v] })
}

// deleteArcsOf deletes the arcs that come from or lead to some vertices.
func (w *oracle) deleteArcsOf(some func(v uint32) bool) {
	for a := range w.arcs {
		if some(a.from) || some(a.to) {
			delete(w.arcs, a)
		}
	}
}

// edges is how many there are.
func (w *oracle) edges() (n uint64) {
	for a := range w.arcs {
		if w.o.Directed || a.from <= a.to {
			n++
		}
	}
	return n
}

// requireSame requires that a graph holds what the oracle does, by every way of asking, and that its memory is sound.
func requireSame(t *rapid.T, tt *testing.T, g *Graph, w *oracle) {
	ctx := tt.Context()
	require.NoError(t, g.Check(ctx))
	vertices, edges, err := g.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, w.vertices(), vertices, "vertices")
	require.Equal(t, w.edges(), edges, "edges")

	ids := make([]uint32, w.extent+3)
	want := make([]map[uint32]uint32, len(ids))
	for i := range ids {
		ids[i], want[i] = uint32(i), map[uint32]uint32{}
	}
	for a, weight := range w.arcs {
		want[a.from][a.to] = weight
	}
	degrees, err := g.Degrees(ctx, ids)
	require.NoError(t, err)
	n, err := g.Neighbors(ctx, ids)
	require.NoError(t, err)
	offsets, targets, weights := slicesOf(t, ctx, func() (*CSR, error) { return g.CSR(ctx, true) })
	require.Len(t, offsets, w.extent+1)
	for i := range ids {
		require.EqualValues(t, len(want[i]), degrees[i], "degree of %d", i)
		to, of := n.Of(i)
		got := map[uint32]uint32{}
		for j, v := range to {
			if got[v] = 0; of != nil {
				got[v] = of[j]
			}
		}
		require.Equal(t, want[i], got, "neighbours of %d", i)
		require.Len(t, to, len(got))
		if i >= w.extent {
			continue
		}
		row := targets[offsets[i]:offsets[i+1]]
		require.Len(t, row, len(want[i]))
		require.True(t, slices.IsSorted(row))
		for j, v := range row {
			require.Contains(t, want[i], v)
			if weights != nil {
				require.Equal(t, want[i][v], weights[int(offsets[i])+j])
			}
		}
	}
	all := 0
	for e, err := range g.AllEdges(ctx) {
		require.NoError(t, err)
		weight, there := w.arcs[arc{e.From, e.To}]
		require.True(t, there)
		require.Equal(t, weight, e.Weight)
		all++
	}
	require.EqualValues(t, w.edges(), all)
	for v, err := range g.AllVertices(ctx) {
		require.NoError(t, err)
		require.False(t, w.deleted[v])
		vertices--
	}
	require.Zero(t, vertices)
}

// slicesOf are rows in Go slices.
func slicesOf(t require.TestingT, ctx context.Context, rows func() (*CSR, error)) (offsets, targets, weights []uint32) {
	csr, err := rows()
	require.NoError(t, err)
	offsets, targets, weights, err = csr.Slices(ctx)
	require.NoError(t, err)
	require.NoError(t, csr.Close())
	return offsets, targets, weights
}

// kinds are those of updates that a sort of graph does.
func kinds(o Options) []structures.Kind {
	all := []structures.Kind{structures.Insert, structures.Insert, structures.InsertUnique, structures.Delete}
	if o.Weighted {
		all = append(all, structures.InsertAdd, structures.InsertMin, structures.InsertMax)
	}
	return all
}

// batch draws edges, many of them of one vertex or in a small part of the graph, so that there are equal ones.
func batch(rt *rapid.T, o Options, vertices uint32) Edges {
	n := rapid.IntRange(0, 3000).Draw(rt, "edges")
	r := rapid.Uint64().Draw(rt, "random")
	next := func(n uint32) uint32 {
		r = r*6364136223846793005 + 1442695040888963407
		return uint32((r >> 33) % uint64(n))
	}
	hub, near := next(vertices), 1+next(vertices)
	e := Edges{From: make([]uint32, n), To: make([]uint32, n)}
	if o.Weighted {
		e.Weights = make([]uint32, n)
	}
	for i := range n {
		e.From[i], e.To[i] = next(near), next(vertices)
		if next(3) == 0 {
			e.From[i] = hub
		}
		if next(7) == 0 {
			e.From[i], e.To[i] = e.To[i], e.From[i]
		}
		if e.Weights != nil {
			e.Weights[i] = next(1 << 31)
		}
	}
	return e
}

// Programs of batches of all kinds, of edges and of vertices, come to what they come to in Go's maps.
func TestOracle(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachSort(t, func(t *testing.T, o Options) {
			rapid.Check(t, func(rt *rapid.T) {
				o := o
				o.Seed = rapid.Uint32().Draw(rt, "seed")
				o.Vertices = rapid.SampledFrom([]int{0, 10, 300}).Draw(rt, "vertices")
				o.Tile = rapid.SampledFrom([]int{0, 0, min(8, d.SubgroupSize())}).Draw(rt, "tile")
				o.MaxLoad = rapid.SampledFrom([]float64{0, 1}).Draw(rt, "load")
				g, err := New(t.Context(), d, o)
				require.NoError(rt, err)
				defer g.Close()
				w := newOracle(o)
				extent := uint32(rapid.SampledFrom([]int{5, 60, 700}).Draw(rt, "extent"))
				for range rapid.IntRange(1, 6).Draw(rt, "batches") {
					step(rt, t, g, w, extent)
				}
				requireSame(rt, t, g, w)
			})
		})
	})
}

// step does one batch, or some upkeep.
func step(rt *rapid.T, t *testing.T, g *Graph, w *oracle, extent uint32) {
	ctx := t.Context()
	ids := rapid.SliceOfN(rapid.Uint32Range(0, 2*extent), 1, 60)
	switch rapid.IntRange(0, 11).Draw(rt, "what") {
	case 0:
		some := ids.Draw(rt, "inserted")
		got, err := g.InsertVertices(ctx, some)
		require.NoError(rt, err)
		w.insertVertices(rt, some, got)
	case 1, 2:
		some := ids.Draw(rt, "deleted")
		got, err := g.DeleteVertices(ctx, some)
		require.NoError(rt, err)
		w.deleteVertices(rt, some, got)
	case 3:
		require.NoError(rt, Flush(ctx, g))
	case 4:
		require.NoError(rt, g.Rehash(ctx))
	case 5:
		requireSame(rt, t, g, w)
	default:
		kind := rapid.SampledFrom(kinds(w.o)).Draw(rt, "kind")
		e := batch(rt, w.o, extent)
		got := make([]structures.Status, len(e.From))
		require.NoError(rt, g.UpdateEdgesInto(ctx, kind, e, got))
		w.updates(rt, kind, e, got)
	}
}
