package ordered_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/graphoracle"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// TestMain sets on how many sequences a property is tested.
func TestMain(m *testing.M) {
	pass.Tests{
		InAll: "4 8 validated",
		Why:   "lavapipe has 4 lanes, and compiles faster; 16 take twice as long and find as much",
	}.Begin()
	stress.Main(m, 6, 40, 10)
}

func orderedOptions(o graph.Options) Options {
	return Options{Directed: o.Directed, Weighted: o.Weighted, SelfLoops: o.SelfLoops, Vertices: o.Vertices}
}

// newGraph makes a graph until the test's end.
func newGraph(t testing.TB, d *vk.Device, o Options) *Graph {
	t.Helper()
	g, err := New(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}

// requireWords takes no slice for an empty one.
func requireWords(t require.TestingT, want, got []uint32) {
	require.Equal(t, append([]uint32{}, want...), append([]uint32{}, got...))
}

// requireOrdered requires that a graph holds what the oracle does, by every way of asking.
func requireOrdered(t require.TestingT, ctx context.Context, g *View, w *graphoracle.Oracle) {
	vertices, edges, err := g.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, w.Extent, vertices)
	require.Equal(t, w.Edges(), edges)

	all := make([]graphoracle.Arc, 0, len(w.Arcs))
	for a := range w.Arcs {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b graphoracle.Arc) int {
		return slices.Compare([]uint32{a.From, a.To}, []uint32{b.From, b.To})
	})
	ids, rows := make([]uint32, w.Extent+2), make([][]uint32, w.Extent+2)
	var weights []uint32
	for i := range ids {
		ids[i] = uint32(i)
	}
	for _, a := range all {
		rows[a.From], weights = append(rows[a.From], a.To), append(weights, w.Arcs[a])
	}
	degrees, err := g.Degrees(ctx, ids)
	require.NoError(t, err)
	n, err := g.Neighbors(ctx, ids)
	require.NoError(t, err)
	offsets, targets, csrWeights := graphoracle.Slices(t, ctx, func() (*graph.CSR, error) { return g.CSR(ctx) })
	requireWords(t, slices.Concat(rows...), n.Targets)
	requireWords(t, n.Targets, targets)
	if w.O.Weighted {
		requireWords(t, weights, n.Weights)
		requireWords(t, weights, csrWeights)
	} else {
		require.Nil(t, n.Weights)
		require.Nil(t, csrWeights)
	}
	require.Len(t, offsets, w.Extent+1)
	var parts []NeighborRange
	var pairs graph.Edges
	for i := range ids {
		of, _ := n.Of(i)
		require.EqualValues(t, len(rows[i]), degrees[i])
		require.Len(t, of, len(rows[i]), "neighbours of %d", i)
		if i < w.Extent {
			require.EqualValues(t, n.Offsets[i], offsets[i])
			pairs.From, pairs.To = append(pairs.From, uint32(i)), append(pairs.To, uint32((i*7+1)%w.Extent))
		}
		parts = append(parts, NeighborRange{uint32(i), 3, uint32(i)})
	}
	some, err := g.NeighborsBetween(ctx, parts)
	require.NoError(t, err)
	for i, part := range parts {
		of, _ := some.Of(i)
		requireWords(t, slices.DeleteFunc(slices.Clone(rows[i]),
			func(to uint32) bool { return to < part.Lo || to > part.Hi }), of)
	}
	common, err := g.CommonNeighbors(ctx, pairs)
	require.NoError(t, err)
	_, found, err := g.FindEdges(ctx, pairs)
	require.NoError(t, err)
	for i, u := range pairs.From {
		v := pairs.To[i]
		require.Equal(t, slices.Contains(rows[u], v), found[i])
		of, _ := common.Of(i)
		requireWords(t, slices.DeleteFunc(slices.Clone(rows[u]),
			func(x uint32) bool { return !slices.Contains(rows[v], x) }), of)
	}
	requireExported(t, ctx, g, w)
}

// requireExported requires that a graph has the oracle's edges and no others.
func requireExported(t require.TestingT, ctx context.Context, g *View, w *graphoracle.Oracle) {
	exported := edgesOf(t, ctx, g)
	require.Len(t, exported.From, int(w.Edges()))
	for i, from := range exported.From {
		weight, there := w.Arcs[graphoracle.Arc{From: from, To: exported.To[i]}]
		require.True(t, there)
		if w.O.Weighted {
			require.Equal(t, weight, exported.Weights[i])
		}
	}
}

// edgesOf are all edges of a graph.
func edgesOf(t require.TestingT, ctx context.Context, g *View) (all graph.Edges) {
	for e, err := range g.AllEdges(ctx) {
		require.NoError(t, err)
		all.From, all.To, all.Weights = append(all.From, e.From), append(all.To, e.To), append(all.Weights, e.Weight)
	}
	return all
}

// Programs of batches of all kinds come to what they come to in Go's maps, and so do snapshots of every state on the
// way there, and what has changed between them.
func TestOrdered(t *testing.T) {
	d := testdevice.Open(t)
	graphoracle.EachSort(t, func(t *testing.T, o graph.Options) {
		rapid.Check(t, func(rt *rapid.T) {
			ctx, o := t.Context(), o
			o.Vertices = rapid.SampledFrom([]int{0, 10, 300}).Draw(rt, "vertices")
			extent := uint32(rapid.SampledFrom([]int{5, 60, 700}).Draw(rt, "extent"))
			w := graphoracle.New(o)
			var g *Graph
			var err error
			if rapid.Bool().Draw(rt, "built") {
				e := graphoracle.Batch(rt, o, extent)
				g, err = Build(ctx, d, e, orderedOptions(o))
				for i, from := range e.From {
					weight := uint32(0)
					if o.Weighted {
						weight = e.Weights[i]
					}
					w.Update(structures.Insert, from, e.To[i], weight)
				}
			} else {
				g, err = New(ctx, d, orderedOptions(o))
			}
			require.NoError(rt, err)
			defer func() { require.NoError(rt, g.Close()) }()
			var then []*graphoracle.Oracle
			var at []*View
			for range rapid.IntRange(1, 5).Draw(rt, "batches") {
				s, err := g.Snapshot(ctx)
				require.NoError(rt, err)
				defer s.Close()
				then, at = append(then, w.Clone()), append(at, s)
				kind := rapid.SampledFrom(graphoracle.Kinds(o)).Draw(rt, "kind")
				e := graphoracle.Batch(rt, o, extent)
				got := make([]structures.Status, len(e.From))
				require.NoError(rt, g.UpdateEdgesInto(ctx, kind, e, got))
				w.Updates(rt, kind, e, got)
			}
			require.NoError(rt, g.Check(ctx))
			requireOrdered(rt, ctx, g.Now(), w)
			requireSaved(rt, ctx, d, g.Now(), w)
			requireSaved(rt, ctx, d, at[len(at)-1], then[len(then)-1])
			for i, s := range at {
				requireOrdered(rt, ctx, s, then[i])
				requireDiff(rt, ctx, at[0], s, then[0], then[i])
			}
		})
	})
}

// requireSaved requires that what a graph is saved as is the graph, to either sort.
func requireSaved(t require.TestingT, ctx context.Context, d *vk.Device, g *View, w *graphoracle.Oracle) {
	var file bytes.Buffer
	n, err := g.Save(ctx, &file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	whole := file.Bytes()
	loaded, err := Load(ctx, d, bytes.NewReader(whole), Options{})
	require.NoError(t, err)
	requireExported(t, ctx, loaded.Now(), w)
	vertices, _, err := loaded.Now().Size(ctx)
	require.NoError(t, err)
	require.Equal(t, w.Extent, vertices)
	require.NoError(t, loaded.Check(ctx))
	require.NoError(t, loaded.Close())
	other, err := graph.Load(ctx, d, bytes.NewReader(whole), graph.Options{})
	require.NoError(t, err)
	_, edges, err := other.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, w.Edges(), edges)
	require.NoError(t, other.Close())
	var damaged *structures.SavedError
	_, err = Load(ctx, d, bytes.NewReader(whole[:len(whole)-1]), Options{})
	require.ErrorAs(t, err, &damaged)
}

// The view of Now is not a snapshot, and Diff says which argument it was.
func TestDiffWithNow(t *testing.T) {
	g := newGraph(t, testdevice.Open(t), Options{})
	at, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	for name, views := range map[string][2]*View{"newer": {at, g.Now()}, "older": {g.Now(), at}} {
		var option *vk.OptionError
		for _, err := range Diff(t.Context(), views[0], views[1]) {
			require.ErrorAs(t, err, &option)
			require.ErrorContains(t, err, "Snapshot")
		}
		require.NotNil(t, option)
		require.Equal(t, name, option.Option)
	}
	for _, err := range Diff(t.Context(), at, nil) {
		require.ErrorIs(t, err, vk.ErrNotOpen)
	}
}

// requireDiff requires that what has changed between two snapshots is what has between the oracles, in whichever order
// it is asked for.
func requireDiff(t require.TestingT, ctx context.Context, older, newer *View, was, is *graphoracle.Oracle) {
	var turned []Change
	for c, err := range Diff(ctx, newer, older) {
		require.NoError(t, err)
		turned = append(turned, c)
	}
	after, last := was.Clone(), graph.Edge{}
	for c, err := range Diff(ctx, older, newer) {
		require.NoError(t, err)
		require.NotEmpty(t, turned)
		require.Equal(t, c, turned[0])
		turned = turned[1:]
		require.True(t, last == graph.Edge{} || c.From > last.From || c.From == last.From && c.To > last.To)
		last = c.Edge
		switch c.Kind {
		case structures.Delete:
			require.Equal(t, was.Arcs[graphoracle.Arc{From: c.From, To: c.To}], c.Weight)
			require.Equal(t, structures.Deleted, after.Update(structures.Delete, c.From, c.To, 0))
		case structures.InsertUnique:
			require.Equal(t, structures.Inserted, after.Update(structures.Insert, c.From, c.To, c.Weight))
		default:
			require.Equal(t, structures.Assigned, after.Update(structures.Insert, c.From, c.To, c.Weight))
			require.NotEqual(t, was.Arcs[graphoracle.Arc{From: c.From, To: c.To}], c.Weight)
		}
	}
	require.Empty(t, turned)
	require.Equal(t, is.Arcs, after.Arcs)
}

// nearlyFull is a pool of one block, which can't grow, and of which about so many slabs are free until the test's end.
func nearlyFull(t *testing.T, d *vk.Device, free int) *alloc.SlabPool {
	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{MaxBytes: 150_000})
	require.NoError(t, err)
	hog, err := slabhash.NewSet[uint32](t.Context(), d, slabhash.Options{Buckets: 4, MaxLoad: -1, Pool: pool})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, hog.Close())
		require.NoError(t, pool.Close())
	})
	keys := make([]uint32, 30*(alloc.BlockSlabs-free))
	for i := range keys {
		keys[i] = uint32(i)
	}
	_, err = hog.Insert(t.Context(), keys)
	require.NoError(t, err)
	return pool
}

// What a batch has done when it is stopped, by a context or by want of room, is done as if the rest had not been asked
// for: no edge is left in one direction alone, or with two weights.
func TestOrderedStopped(t *testing.T) {
	pass.OneWidth(t, "the host handles what is left of a stopped batch")
	d := testdevice.Open(t)
	graphoracle.EachSort(t, func(t *testing.T, o graph.Options) {
		stopped, partly := 0, 0
		for seed := range uint64(6 + 40*stress.Level) {
			r := rand.New(rand.NewPCG(seed, 5))
			options := orderedOptions(o)
			size, full := 400, seed%2 == 1
			held := seed%4 == 3 // what is there can't be changed without room for what it was, either
			switch {
			case held:
				options.Tree = btree.Options{MaxBytes: 150_000}
			case full:
				pool := nearlyFull(t, d, 100+r.IntN(150))
				options.Tree = btree.Options{Pool: pool, Path: []btree.Path{btree.Concurrent, btree.Batched}[seed/4%2]}
			default:
				size = 101 // arcs of an edge are in chunks of their own
			}
			graphoracle.InChunksOf(t, size)
			g, err := New(t.Context(), d, options)
			require.NoError(t, err)
			w := graphoracle.New(o)
			vertices := uint32(1500)
			if held {
				vertices = 60
				_, err = g.InsertEdges(t.Context(), graphoracle.SpreadOver(r, o, 300, vertices))
				require.NoError(t, err)
				all := edgesOf(t, t.Context(), g.Now())
				w.Updates(t, structures.Insert, all, slices.Repeat([]structures.Status{structures.Inserted},
					len(all.From)))
			}
			for range 4 {
				if held {
					s, err := g.Snapshot(t.Context())
					require.NoError(t, err)
					defer s.Close()
				}
				kind := graphoracle.Kinds(o)[r.IntN(len(graphoracle.Kinds(o)))]
				e := graphoracle.SpreadOver(r, o, 900+r.IntN(1500), vertices)
				status := make([]structures.Status, len(e.From))
				var ctx context.Context = &graphoracle.StopsAfter{Context: t.Context(), Left: 5 + r.IntN(40)}
				if full {
					ctx = t.Context()
				}
				err := g.UpdateEdgesInto(ctx, kind, e, status)
				some, of := graphoracle.Done(e, status)
				if err != nil {
					var pending *structures.PendingError
					require.ErrorAs(t, err, &pending)
					require.Equal(t, len(e.From)-len(some.From), pending.Operations)
					stopped++
					if len(some.From) != 0 {
						partly++
					}
				}
				w.Updates(t, kind, some, of)
				require.NoError(t, g.Check(t.Context()), "seed %d", seed)
				requireExported(t, t.Context(), g.Now(), w)
			}
			require.NoError(t, g.Close())
			graphoracle.InChunksOf(t, 0)
		}
		t.Logf("%d batches were stopped, %d of them in mid-batch", stopped, partly)
		require.NotZero(t, partly)
	})
}

// Goroutines that ask see each batch as a whole, in both directions; one that has a snapshot sees none.
func TestOrderedByGoroutines(t *testing.T) {
	d := testdevice.Open(t)
	g := newGraph(t, d, Options{Weighted: true, Vertices: 300})
	const n = 250
	e := graph.Edges{From: make([]uint32, n), To: make([]uint32, n), Weights: make([]uint32, n)}
	for i := range n {
		e.From[i], e.To[i] = uint32(i), uint32((i+7)%n)
	}
	_, err := g.InsertEdges(t.Context(), e)
	require.NoError(t, err)
	still, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	back := graph.Edges{From: e.To, To: e.From}
	var all sync.WaitGroup
	all.Go(func() {
		for round := range uint32(20) {
			for i := range e.Weights {
				e.Weights[i] = round + 1
			}
			_, err := g.InsertEdges(t.Context(), e)
			require.NoError(t, err)
		}
	})
	for range 2 {
		all.Go(func() {
			for range 20 {
				weights, found, err := g.Now().FindEdges(t.Context(), back)
				require.NoError(t, err)
				require.NotContains(t, found, false)
				require.Equal(t, weights, slices.Repeat(weights[:1], n))
				weights, _, err = still.FindEdges(t.Context(), back)
				require.NoError(t, err)
				require.Equal(t, make([]uint32, n), weights)
			}
		})
	}
	all.Wait()
	require.NoError(t, still.Close())
	_, _, err = still.Size(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
}

// Rows of a snapshot hinder nobody, and nobody hinders them.
func TestOrderedRowsBesideUpdates(t *testing.T) {
	d := testdevice.Open(t)
	g := newGraph(t, d, Options{Vertices: 1 << 21})
	var e graph.Edges
	for i := range uint32(5000) {
		e.From, e.To = append(e.From, i), append(e.To, i*7+1)
	}
	_, err := g.InsertEdges(t.Context(), e)
	require.NoError(t, err)
	s, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	defer s.Close()
	var all sync.WaitGroup
	done := make(chan struct{})
	all.Go(func() {
		for i := uint32(0); ; i++ {
			select {
			case <-done:
				return
			default:
			}
			_, err := g.InsertEdges(t.Context(), graph.Edges{From: []uint32{i % 999}, To: []uint32{i % 777}})
			if !assert.NoError(t, err) {
				return
			}
		}
	})
	for range 20 {
		csr, err := s.CSR(t.Context())
		require.NoError(t, err)
		require.Equal(t, 10000, csr.Arcs)
		require.NoError(t, csr.Close())
	}
	close(done)
	all.Wait()
}

// Rows that a context ends before they are there leave nothing behind.
func TestRowsStopped(t *testing.T) {
	pass.OneWidth(t, "the host handles what is left of a stopped batch")
	d := testdevice.Open(t)
	g := newGraph(t, d, Options{Weighted: true})
	e := graphoracle.Spread(rand.New(rand.NewPCG(1, 2)), graph.Options{Weighted: true}, 3000)
	_, err := g.InsertEdges(t.Context(), e)
	require.NoError(t, err)
	made := 0
	for questions := 0; made < 3; questions++ {
		ctx := &graphoracle.StopsAfter{Context: t.Context(), Left: questions}
		csr, err := g.Now().CSR(ctx)
		made = 0
		if err == nil {
			ctx.Left = questions
			var back *graph.CSR
			if back, err = csr.Transpose(ctx); err == nil {
				made++
				require.NoError(t, back.Close())
			}
			require.NoError(t, csr.Close())
			made++
		}
		ctx.Left = questions
		csr, err = graph.BuildCSR(ctx, d, e, graph.CSROptions{})
		if err == nil {
			made++
			require.NoError(t, csr.Close())
		}
	}
}

// Progress of the graph's own tree, and of another structure of its pool, may call the graph, which gets its turn when
// the call that is reported on has left all that it holds.
func TestOrderedProgressCallsBack(t *testing.T) {
	pass.OneWidth(t, "the host has calls wait")
	d := testdevice.Open(t)
	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{})
	require.NoError(t, err)
	defer pool.Close()
	var g *Graph
	asked := 0
	told := func(int, int) {
		if g != nil {
			asked++
			_, err := g.InsertEdges(t.Context(), graph.Edges{From: []uint32{7}, To: []uint32{8}})
			assert.NoError(t, err)
			_, _, err = g.Now().Size(t.Context())
			assert.NoError(t, err)
		}
	}
	set, err := slabhash.NewSet[uint32](t.Context(), d, slabhash.Options{Pool: pool, Progress: told})
	require.NoError(t, err)
	defer set.Close()
	g = newGraph(t, d, Options{Tree: btree.Options{Pool: pool, Progress: told}})
	for i, call := range []func() error{
		func() error { _, err := set.Insert(t.Context(), []uint32{1, 2, 3}); return err },
		func() error {
			_, err := g.InsertEdges(t.Context(), graph.Edges{From: []uint32{1}, To: []uint32{2}})
			return err
		},
		func() error {
			_, _, err := g.Now().FindEdges(t.Context(), graph.Edges{From: []uint32{1}, To: []uint32{2}})
			return err
		},
	} {
		asked = 0
		require.NoError(t, call())
		require.NotZero(t, asked, i)
	}
	require.NoError(t, g.Close())
}

func TestOrderedRefuses(t *testing.T) {
	pass.OneWidth(t, "the host refuses")
	d := testdevice.Open(t)
	g := newGraph(t, d, Options{})
	var option *vk.OptionError
	_, err := New(t.Context(), d, Options{Vertices: -1})
	require.ErrorAs(t, err, &option)
	var length *structures.LengthError
	_, err = g.InsertEdges(t.Context(), graph.Edges{From: []uint32{1}})
	require.ErrorAs(t, err, &length)
	_, err = g.InsertEdges(t.Context(), graph.Edges{From: []uint32{1}, To: []uint32{2}, Weights: []uint32{3}})
	require.ErrorAs(t, err, &length)
	_, err = g.Now().CommonNeighbors(t.Context(), graph.Edges{From: []uint32{1}})
	require.ErrorAs(t, err, &length)
	var kind *structures.KindError
	err = g.UpdateEdgesInto(t.Context(), structures.InsertAdd, graph.Edges{From: []uint32{1}, To: []uint32{2}}, nil)
	require.ErrorAs(t, err, &kind)
	var wrong *graph.VertexError
	_, err = g.InsertEdges(t.Context(), graph.Edges{From: []uint32{1}, To: []uint32{math.MaxUint32}})
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, err, "vertex 4294967295 is out of range: vertices are less than 1073741824")
	for _, bad := range []uint32{math.MaxUint32, math.MaxUint32 - 1, graph.MaxVertices} {
		_, err = Build(t.Context(), d, graph.Edges{From: []uint32{1}, To: []uint32{bad}}, Options{})
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, graph.VertexError{Vertex: int64(bad), Vertices: graph.MaxVertices}, *wrong)
	}
	status, err := g.InsertEdges(t.Context(), graph.Edges{From: []uint32{1 << 31, 3}, To: []uint32{1 << 31, 3}})
	require.NoError(t, err, "loops that are left out")
	require.Equal(t, []structures.Status{structures.Absent, structures.Absent}, status)
	_, found, err := g.Now().FindEdges(t.Context(),
		graph.Edges{From: []uint32{1, math.MaxUint32}, To: []uint32{math.MaxUint32, 0}})
	require.NoError(t, err)
	require.Equal(t, []bool{false, false}, found)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.InsertEdges(done, graph.Edges{From: []uint32{1}, To: []uint32{2}})
	require.ErrorIs(t, err, context.Canceled)
	_, edges, err := g.Now().Size(t.Context())
	require.NoError(t, err)
	require.Zero(t, edges)
	csr, err := g.Now().CSR(t.Context())
	require.NoError(t, err)
	require.NoError(t, csr.Close())
	require.NoError(t, g.Close())
	require.NoError(t, g.Close())
	_, _, err = g.Now().Size(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
	_, err = g.InsertEdges(t.Context(), graph.Edges{})
	require.ErrorIs(t, err, vk.ErrClosed)
	_, err = g.Snapshot(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
}

// After Prepare no call on a graph or a snapshot makes a kernel, with batches of either path of its tree.
func TestNothingIsMadeBehindPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	recording.Undispatched(t)
	d, kernels := testdevice.OpenNew(t)
	o := graph.Options{Weighted: true, Vertices: 1500}
	g := newGraph(t, d, orderedOptions(o))
	require.NoError(t, g.Prepare(t.Context()))
	require.NotEmpty(t, kernels.Take())
	require.NoError(t, g.Prepare(t.Context()))
	before, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	defer before.Close()
	r := rand.New(rand.NewPCG(8, 9))
	w := graphoracle.New(o)
	for _, n := range []int{1, 300, 20_000} {
		for _, kind := range graphoracle.Kinds(o) {
			e := graphoracle.Spread(r, o, n)
			status := make([]structures.Status, len(e.From))
			require.NoError(t, g.UpdateEdgesInto(t.Context(), kind, e, status))
			require.Empty(t, kernels.Take(), "%v of %d edges", kind, n)
			w.Updates(t, kind, e, status)
		}
	}
	require.NoError(t, g.Check(t.Context()))
	behind, err := g.Snapshot(t.Context())
	require.NoError(t, err)
	defer behind.Close()
	requireOrdered(t, t.Context(), g.Now(), w)
	requireOrdered(t, t.Context(), behind, w)
	requireDiff(t, t.Context(), before, behind, graphoracle.New(o), w)
	require.Empty(t, kernels.Take())
}
