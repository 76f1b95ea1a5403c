package graph_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// requireHolds requires that a graph has the oracle's edges and no others, and that its memory is sound.
func requireHolds(t *testing.T, g *Graph, w *graphoracle.Oracle) {
	t.Helper()
	ctx := context.Background()
	require.NoError(t, g.Inspect().Check(ctx))
	edges := uint64(0)
	for e, err := range g.AllEdges(ctx) {
		require.NoError(t, err)
		weight, there := w.Arcs[graphoracle.Arc{From: e.From, To: e.To}]
		require.True(t, there, "%d to %d", e.From, e.To)
		require.Equal(t, weight, e.Weight, "%d to %d", e.From, e.To)
		edges++
	}
	require.Equal(t, w.Edges(), edges)
}

// A pool has a slab for each vertex that a batch brings before any is asked for, and no more than the batch may take,
// whatever the vertices are called.
func TestNewVerticesHaveSlabs(t *testing.T) {
	g := newGraph(t, testdevice.Open(t), Options{})
	const vertices = 3 * alloc.BlockSlabs
	var e Edges
	for v := range uint32(vertices) {
		e.From, e.To = append(e.From, v), append(e.To, (v+1)%vertices)
	}
	_, err := g.InsertEdges(t.Context(), e)
	require.NoError(t, err)
	stats, err := g.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, vertices, stats.Slabs)
	require.Zero(t, stats.Pool.Failures)
	_, err = g.InsertEdges(t.Context(), Edges{From: []uint32{5}, To: []uint32{1000 * vertices}})
	require.NoError(t, err)
	stats, err = g.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.LessOrEqual(t, int(stats.Pool.Slabs), 2*vertices+2*alloc.BlockSlabs)
}

// Where the pool gets full in mid-batch, and may not grow, what is done is done once, as if the rest had not been asked
// for, and no edge is left in one adjacency alone; and the graph goes on, as soon as there is room again.
func TestFullPool(t *testing.T) {
	graphoracle.InChunksOf(t, 500)
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		graphoracle.EachSort(t, func(t *testing.T, o Options) {
			r := rand.New(rand.NewPCG(3, 4))
			for _, kind := range graphoracle.Kinds(o)[1:] {
				if kind == structures.Delete {
					continue
				}
				pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{MaxBytes: 150_000})
				require.NoError(t, err)
				hog, err := slabhash.NewSet[uint32](t.Context(), d,
					slabhash.Options{Buckets: 4, MaxLoad: -1, Pool: pool})
				require.NoError(t, err)
				keys := make([]uint32, 1000+r.IntN(17000)) // at a random point
				for i := range keys {
					keys[i] = uint32(i)
				}
				_, err = hog.Insert(t.Context(), keys)
				require.NoError(t, err)
				o := o
				o.Pool = pool
				g, w := newGraph(t, d, o), graphoracle.New(o)
				e := graphoracle.Spread(r, o, 4000)
				status := make([]structures.Status, len(e.From))
				err = g.UpdateEdgesInto(t.Context(), kind, e, status)
				var pending *structures.PendingError
				require.ErrorAs(t, err, &pending)
				some, of := graphoracle.Done(e, status)
				require.Equal(t, len(e.From)-len(some.From), pending.Operations)
				require.NotZero(t, len(some.From))
				w.Updates(t, kind, some, of)
				requireHolds(t, g, w)
				_, err = g.DeleteVertices(t.Context(), e.From[:1500])
				require.NoError(t, err)
				require.NoError(t, g.Inspect().Check(t.Context()))
				require.NoError(t, hog.Close())
				_, err = g.InsertEdges(t.Context(),
					Edges{[]uint32{1, 3}, []uint32{2, 1}, e.Weights[:min(2, len(e.Weights))]})
				require.NoError(t, err)
				require.NoError(t, g.Inspect().Check(t.Context()))
				require.NoError(t, g.Close())
				stats, err := pool.Stats(t.Context())
				require.NoError(t, err)
				require.Zero(t, stats.Allocated, "slabs that did not come back")
				require.NoError(t, pool.Close())
			}
		})
	})
}

// Equal edges of vertices whose slabs are full, or nearly, while a pool has few free slabs left, or none: what is done
// has come about as if what is pending had not been asked for, though the batch ends with the first look at the pool.
func TestEqualEdgesInFullPool(t *testing.T) {
	const vertices, copies = 32, 6
	left := []int{0, 1, 4, 9}
	if stress.Level > 0 {
		left = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	}
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		for _, kind := range []structures.Kind{structures.Insert, structures.InsertUnique} {
			for _, free := range left {
				o := Options{Directed: true, Weighted: true}
				pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{MaxBytes: 150_000})
				require.NoError(t, err)
				o.Pool = pool
				g, w := newGraph(t, d, o), graphoracle.New(o)
				insert := func(kind structures.Kind, e Edges) error {
					e.Weights = make([]uint32, len(e.From))
					for i := range e.Weights {
						e.Weights[i] = uint32(i)
					}
					status := make([]structures.Status, len(e.From))
					err := g.UpdateEdgesInto(t.Context(), kind, e, status)
					some, of := graphoracle.Done(e, status)
					w.Updates(t, kind, some, of)
					requireHolds(t, g, w)
					return err
				}
				var there, more Edges
				for v := range uint32(vertices) {
					for i := range 8 + v%9 { // about as many as a slab has slots
						there.From, there.To = append(there.From, v), append(there.To, 100+i)
					}
				}
				for i := range uint32(free) {
					there.From, there.To = append(there.From, 50+i), append(there.To, 100)
				}
				require.NoError(t, insert(structures.Insert, there))
				hog, err := slabhash.NewSet[uint32](t.Context(), d,
					slabhash.Options{Buckets: 4, MaxLoad: -1, Pool: pool})
				require.NoError(t, err)
				keys := make([]uint32, 30_000)
				for i := range keys {
					keys[i] = uint32(i)
				}
				_, err = hog.Insert(t.Context(), keys)
				var limit *vk.LimitError
				require.ErrorAs(t, err, &limit)
				_, err = g.DeleteVertices(t.Context(), there.From[len(there.From)-free:])
				require.NoError(t, err)
				for i := range uint32(free) {
					delete(w.Arcs, graphoracle.Arc{From: 50 + i, To: 100})
					w.Deleted[50+i] = true
				}
				for i := range uint32(copies) {
					for v := range uint32(vertices) {
						more.From, more.To = append(more.From, v, v), append(more.To, 200, 201+i/2)
					}
				}
				require.ErrorAs(t, insert(kind, more), &limit, "%v with %d free slabs", kind, free)
				require.NoError(t, hog.Close())
				require.NoError(t, g.Close())
				require.NoError(t, pool.Close())
			}
		}
	})
}

// A context that ends in mid-batch ends the batch: each edge is there or isn't, as its status says.
func TestCancelled(t *testing.T) {
	pass.OneDriver(t, "the host handles a context's end")
	graphoracle.InChunksOf(t, 500)
	d := testdevice.Open(t)
	graphoracle.EachSort(t, func(t *testing.T, o Options) {
		r := rand.New(rand.NewPCG(3, 5))
		for _, kind := range graphoracle.Kinds(o)[1:] {
			cancel := func() {}
			o := o
			o.Progress = func(done, _ int) {
				if done > 1000 {
					cancel()
				}
			}
			g, w := newGraph(t, d, o), graphoracle.New(o)
			e := graphoracle.Spread(r, o, 5000)
			status, err := g.InsertEdges(t.Context(), e)
			require.NoError(t, err)
			w.Updates(t, structures.Insert, e, status)
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			e = graphoracle.Spread(r, o, 5000)
			status = make([]structures.Status, len(e.From))
			err = g.UpdateEdgesInto(ctx, kind, e, status)
			require.ErrorIs(t, err, context.Canceled)
			some, of := graphoracle.Done(e, status)
			require.NotZero(t, len(some.From))
			w.Updates(t, kind, some, of)
			requireHolds(t, g, w)
			cancel()
			require.ErrorIs(t, g.Rehash(ctx), context.Canceled)
			_, err = g.DeleteVertices(ctx, []uint32{1})
			require.ErrorIs(t, err, context.Canceled)
			requireHolds(t, g, w)
		}
	})
}

// Of equal edges the one whose weight stays has it in both arcs, also where an error comes in between. The two that it
// is here about are in neighbouring workgroups, of which a GPU may do the second one's first. The weight is stored once
// more, and not in the second arc, since another insertion waits for a slab there.
func TestWeightsBehindAnError(t *testing.T) {
	const units, slab, workgroup = 24, 15, 64
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{MaxBytes: 150_000})
		require.NoError(t, err)
		defer func() { require.NoError(t, pool.Close()) }()
		o := Options{Weighted: true, Pool: pool}
		g, w := newGraph(t, d, o), graphoracle.New(o)
		var old, e Edges
		add := func(e *Edges, from, to int) {
			e.From, e.To = append(e.From, uint32(from)), append(e.To, uint32(to))
			e.Weights = append(e.Weights, uint32(len(e.From)))
		}
		for unit := range units {
			x := 40 * unit
			y, hub := x+20, x+39
			for other := range slab {
				add(&old, x+other, hub)
			}
			add(&old, y, y+1) // so that it has a slab
			for i := range 2 * workgroup {
				switch i {
				case workgroup - 1, workgroup:
					add(&e, x, hub)
				case workgroup + 1:
					add(&e, y, hub) // whose slab is full
				default:
					add(&e, 0, 0) // nothing
				}
			}
		}
		status, err := g.InsertEdges(t.Context(), old)
		require.NoError(t, err)
		w.Updates(t, structures.Insert, old, status)
		hog, err := slabhash.NewSet[uint32](t.Context(), d, slabhash.Options{Buckets: 4, MaxLoad: -1, Pool: pool})
		require.NoError(t, err)
		defer func() { require.NoError(t, hog.Close()) }()
		keys := make([]uint32, 1<<15)
		for i := range keys {
			keys[i] = uint32(i)
		}
		var pending *structures.PendingError
		_, err = hog.Insert(t.Context(), keys)
		require.ErrorAs(t, err, &pending, "the pool is full")
		status, err = g.InsertEdges(t.Context(), e)
		require.ErrorAs(t, err, &pending)
		require.Equal(t, units, pending.Operations)
		some, of := graphoracle.Done(e, status)
		w.Updates(t, structures.Insert, some, of)
		requireHolds(t, g, w)
	})
}

// Batches on a stream do what those from slices do, whose length the device alone knows, too; and Finish does what the
// pool, the descriptors and the buckets had no room for.
func TestStreams(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		graphoracle.EachSort(t, func(t *testing.T, o Options) {
			rapid.Check(t, func(rt *rapid.T) {
				g, err := New(t.Context(), d, o)
				require.NoError(rt, err)
				defer func() { require.NoError(rt, g.Close()) }()
				w := graphoracle.New(o)
				s, err := d.NewStream()
				require.NoError(rt, err)
				defer s.Close()
				for range rapid.IntRange(1, 4).Draw(rt, "batches") {
					kind := rapid.SampledFrom(graphoracle.Kinds(o)[1:]).Draw(rt, "kind")
					e := onceEach(o, graphoracle.Batch(rt, o, 3000))
					length := rapid.IntRange(0, len(e.From)).Draw(rt, "length")
					status := onStream(rt, t, d, s, g, kind, e, length)
					part := Edges{From: e.From[:length], To: e.To[:length]}
					if e.Weights != nil {
						part.Weights = e.Weights[:length]
					}
					w.Updates(rt, kind, part, status[:length])
					require.NoError(rt, g.Inspect().Check(t.Context()))
				}
				requireSame(rt, t, g, w)
			})
		})
	})
}

// onceEach are edges without those that equal another one, whose order is open on streams.
func onceEach(o Options, e Edges) (some Edges) {
	seen := map[graphoracle.Arc]bool{}
	for i, from := range e.From {
		ends := graphoracle.Arc{From: from, To: e.To[i]}
		if !o.Directed {
			ends = graphoracle.Arc{From: min(from, e.To[i]), To: max(from, e.To[i])}
		}
		if seen[ends] {
			continue
		}
		seen[ends] = true
		some.From, some.To = append(some.From, from), append(some.To, e.To[i])
		if e.Weights != nil {
			some.Weights = append(some.Weights, e.Weights[i])
		}
	}
	return some
}

// onStream does a batch by UpdateOn and Finish.
func onStream(rt *rapid.T, t *testing.T, d *vk.Device, s *vk.Stream, g *Graph, kind structures.Kind, e Edges,
	length int) []structures.Status {
	ctx := t.Context()
	b := DeviceBatch{Count: len(e.From)}
	var buffers []interface{ Free() }
	defer func() {
		for _, b := range buffers {
			b.Free()
		}
	}()
	put := func(words []uint32) *vk.Buffer[uint32] {
		x, err := vk.NewBuffer[uint32](d, len(words))
		require.NoError(rt, err)
		require.NoError(rt, x.Upload(ctx, 0, words))
		buffers = append(buffers, x)
		return x
	}
	b.From, b.To, b.Left, b.DeviceCount = put(e.From), put(e.To), put([]uint32{0}), put([]uint32{uint32(length)})
	if kind.Inserts() && e.Weights != nil {
		b.Weights = put(e.Weights)
	}
	status, err := vk.NewBuffer[uint8](d, (len(e.From)+3)/4*4)
	require.NoError(rt, err)
	buffers = append(buffers, status)
	b.Status = status
	require.NoError(rt, g.On(s).Update(ctx, kind, b))
	require.NoError(rt, g.On(s).Finish(ctx, kind, b))
	bytes := make([]uint8, len(e.From))
	require.NoError(rt, status.Download(ctx, 0, bytes))
	all := make([]structures.Status, len(e.From))
	for i, x := range bytes {
		all[i] = structures.Status(x)
	}
	return all
}

// What can't be is refused by name.
func TestRefusals(t *testing.T) {
	d := testdevice.Open(t)
	for _, o := range []Options{{Vertices: -1}, {Load: -1}, {MaxLoad: 0.5}, {Tile: 3}, {Capacity: 1 << 40}} {
		_, err := New(t.Context(), d, o)
		var option *vk.OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	g := newGraph(t, d, Options{})
	var length *structures.LengthError
	_, err := g.InsertEdges(t.Context(), Edges{From: make([]uint32, 2), To: make([]uint32, 1)})
	require.ErrorAs(t, err, &length)
	one := make([]uint32, 1)
	_, err = g.InsertEdges(t.Context(), Edges{From: one, To: one, Weights: one})
	require.ErrorAs(t, err, &length)
	var kind *structures.KindError
	err = g.UpdateEdgesInto(t.Context(), structures.InsertAdd, Edges{}, nil)
	require.ErrorAs(t, err, &kind)
	_, err = g.InsertEdges(t.Context(), Edges{From: []uint32{1}, To: []uint32{^uint32(0)}})
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	n, _, err := g.Size(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, g.Close())
	_, err = g.InsertEdges(t.Context(), Edges{})
	require.True(t, errors.Is(err, vk.ErrClosed))
	require.Zero(t, g.InShaders().Description())
}
