// Package graphoracle has a graph in Go's maps, which tests compare graphs in GPU memory with, and batches for both.
package graphoracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/ordercheck"
	"pgregory.net/rapid"
)

// Arc is an edge in one direction.
type Arc struct{ From, To uint32 }

// Oracle is a graph in Go's maps.
type Oracle struct {
	O       graph.Options
	Arcs    map[Arc]uint32
	Extent  int // one more than the greatest vertex
	Deleted map[uint32]bool
}

func New(o graph.Options) *Oracle {
	return &Oracle{O: o, Arcs: map[Arc]uint32{}, Extent: o.Vertices, Deleted: map[uint32]bool{}}
}

// Appear has a number become a vertex.
func (w *Oracle) Appear(v uint32) {
	w.Extent = max(w.Extent, int(v)+1)
	delete(w.Deleted, v)
}

func (w *Oracle) Vertices() int { return w.Extent - len(w.Deleted) }

func (w *Oracle) Put(from, to, weight uint32) {
	w.Arcs[Arc{from, to}] = weight
	if !w.O.Directed {
		w.Arcs[Arc{to, from}] = weight
	}
}

// Update does an operation on an edge.
func (w *Oracle) Update(kind structures.Kind, from, to, weight uint32) structures.Status {
	old, there := w.Arcs[Arc{from, to}]
	switch {
	case kind == structures.Delete && !there:
		return structures.Absent
	case kind == structures.Delete:
		delete(w.Arcs, Arc{from, to})
		if !w.O.Directed {
			delete(w.Arcs, Arc{to, from})
		}
		return structures.Deleted
	case from == to && !w.O.SelfLoops:
		return structures.Absent
	case !there:
		w.Appear(from)
		w.Appear(to)
		w.Put(from, to, weight)
		return structures.Inserted
	case kind == structures.InsertUnique || !w.O.Weighted:
		return structures.Found
	}
	weight, status := ordercheck.After(kind, old, weight)
	w.Put(from, to, weight)
	return status
}

// Updates does a batch of one kind, of whose equal deletions any may be the one that deletes.
func (w *Oracle) Updates(t require.TestingT, kind structures.Kind, e graph.Edges, got []structures.Status) {
	deleted := map[Arc]int{}
	for i, from := range e.From {
		weight := uint32(0)
		if w.O.Weighted && e.Weights != nil {
			weight = e.Weights[i]
		}
		want := w.Update(kind, from, e.To[i], weight)
		if kind != structures.Delete {
			require.Equal(t, want, got[i], "%v of %d to %d, number %d", kind, from, e.To[i], i)
			continue
		}
		ends := Arc{from, e.To[i]}
		if !w.O.Directed {
			ends = Arc{min(from, e.To[i]), max(from, e.To[i])}
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

func (w *Oracle) InsertVertices(t require.TestingT, ids []uint32, got []structures.Status) {
	// Of equal numbers any may be the one that is Inserted.
	want, count := map[uint32]int{}, map[uint32]int{}
	for i, id := range ids {
		if w.Deleted[id] || int(id) >= w.Extent {
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
		w.Appear(id)
	}
}

func (w *Oracle) DeleteVertices(t require.TestingT, ids []uint32, got []structures.Status) {
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
		if int(id) < w.Extent && !w.Deleted[id] || gone[id] {
			want, gone[id] = 1, true
			w.Deleted[id] = true
		}
		require.Equal(t, want, count[id], "deletions of vertex %d", id)
	}
	w.DeleteArcsOf(func(v uint32) bool { return gone[v] })
}

// DeleteArcsOf deletes the arcs that come from or lead to some vertices.
func (w *Oracle) DeleteArcsOf(some func(v uint32) bool) {
	for a := range w.Arcs {
		if some(a.From) || some(a.To) {
			delete(w.Arcs, a)
		}
	}
}

// Edges returns the number of edges.
func (w *Oracle) Edges() (n uint64) {
	for a := range w.Arcs {
		if w.O.Directed || a.From <= a.To {
			n++
		}
	}
	return n
}

// Clone returns an oracle that doesn't change with the first one.
func (w *Oracle) Clone() *Oracle {
	c := New(w.O)
	c.Extent = w.Extent
	for a, weight := range w.Arcs {
		c.Arcs[a] = weight
	}
	return c
}

// Slices returns rows as Go slices.
func Slices(t require.TestingT, ctx context.Context, rows func() (*graph.CSR, error)) (
	offsets, targets, weights []uint32) {
	csr, err := rows()
	require.NoError(t, err)
	offsets, targets, weights, err = csr.Slices(ctx)
	require.NoError(t, err)
	require.NoError(t, csr.Close())
	return offsets, targets, weights
}

// Kinds returns the kinds of updates that a graph accepts.
func Kinds(o graph.Options) []structures.Kind {
	all := []structures.Kind{structures.Insert, structures.Insert, structures.InsertUnique, structures.Delete}
	if o.Weighted {
		all = append(all, structures.InsertAdd, structures.InsertMin, structures.InsertMax)
	}
	return all
}

// Batch draws edges, many of them of one vertex or in a small part of the graph, so that there are equal ones.
func Batch(rt *rapid.T, o graph.Options, vertices uint32) graph.Edges {
	n := rapid.IntRange(0, 3000).Draw(rt, "edges")
	r := rapid.Uint64().Draw(rt, "random")
	next := func(n uint32) uint32 {
		r = r*6364136223846793005 + 1442695040888963407
		return uint32((r >> 33) % uint64(n))
	}
	hub, near := next(vertices), 1+next(vertices)
	e := graph.Edges{From: make([]uint32, n), To: make([]uint32, n)}
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

// InChunksOf has batches cut into small chunks until the test's end.
func InChunksOf(t *testing.T, n int) {
	pipeline.InChunksOf(n)
	t.Cleanup(func() { pipeline.InChunksOf(0) })
}

// Spread returns edges between many vertices, of which each takes a slab, some of them twice or in both directions.
func Spread(r *rand.Rand, o graph.Options, n int) graph.Edges { return SpreadOver(r, o, n, 1500) }

// SpreadOver returns such edges between so many vertices.
func SpreadOver(r *rand.Rand, o graph.Options, n int, vertices uint32) graph.Edges {
	e := graph.Edges{From: make([]uint32, n), To: make([]uint32, n)}
	if o.Weighted {
		e.Weights = make([]uint32, n)
	}
	for i := range n {
		e.From[i], e.To[i] = r.Uint32N(vertices), r.Uint32N(vertices)
		if i > 50 && r.IntN(3) == 0 {
			j := i - 1 - r.IntN(50)
			e.From[i], e.To[i] = e.To[j], e.From[j]
		}
		if o.Weighted {
			e.Weights[i] = r.Uint32N(1 << 30)
		}
	}
	return e
}

// Done returns the operations of a batch that are not pending.
func Done(e graph.Edges, status []structures.Status) (some graph.Edges, of []structures.Status) {
	for i, s := range status {
		if s == structures.Pending {
			continue
		}
		some.From, some.To, of = append(some.From, e.From[i]), append(some.To, e.To[i]), append(of, s)
		if e.Weights != nil {
			some.Weights = append(some.Weights, e.Weights[i])
		}
	}
	return some, of
}

// StopsAfter is a context that ends when it has been asked so often whether it has.
type StopsAfter struct {
	context.Context
	Left int
}

func (c *StopsAfter) Err() error {
	if c.Left--; c.Left < 0 {
		return context.Canceled
	}
	return nil
}

// EachSort runs a test on every sort of graph: directed and not, with weights and without.
func EachSort(t *testing.T, test func(t *testing.T, o graph.Options)) {
	for _, directed := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			o := graph.Options{Directed: directed, Weighted: weighted, SelfLoops: weighted}
			t.Run(fmt.Sprintf("directed=%v,weighted=%v", directed, weighted), func(t *testing.T) { test(t, o) })
		}
	}
}
