package analytics_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures/graph"
	. "github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// watched is a device that tells which kernels are made on it.
type watched struct {
	*vk.Device
	kernels *testdevice.Kernels
}

func watch(t *testing.T) watched {
	d, kernels := testdevice.OpenNew(t)
	return watched{d, kernels}
}

// prepare prepares an Analyzer, twice, and returns the modules that were made.
func (d watched) prepare(t *testing.T, a *Analyzer) []string {
	t.Helper()
	d.kernels.Take() // what it took to make the graph
	start := time.Now()
	require.NoError(t, a.Prepare(t.Context()))
	all := d.kernels.Take()
	t.Logf("%d kernels in %v", len(all), time.Since(start))
	require.NoError(t, a.Prepare(t.Context()))
	require.Empty(t, d.kernels.Take())
	return all
}

// rows is an Analyzer of compressed sparse rows that no kernel has made, until the test's end.
func (d watched) rows(t *testing.T, e *edges, weighted bool) *Analyzer {
	t.Helper()
	var targets, weights []uint32
	offsets := make([]uint32, 1, e.vertices+1)
	for _, row := range e.rows() {
		slices.SortFunc(row, func(a, b neighbor) int { return cmp.Compare(a.to, b.to) })
		for _, to := range row {
			targets, weights = append(targets, to.to), append(weights, to.w)
		}
		offsets = append(offsets, uint32(len(targets)))
	}
	upload := func(words []uint32) *vk.Buffer[uint32] {
		b, err := vk.NewBuffer[uint32](d.Device, len(words))
		require.NoError(t, err)
		require.NoError(t, b.Upload(t.Context(), 0, words))
		return b
	}
	r := graph.Rows{Vertices: e.vertices, Arcs: len(targets), Offsets: upload(offsets), Targets: upload(targets),
		Symmetric: e.undirected}
	if weighted {
		r.Weights = upload(weights)
	}
	g, err := graph.NewCSR(t.Context(), d.Device, r)
	require.NoError(t, err)
	return analyzerOf(t, g)
}

// askAll asks for all algorithms with all options, and for the triangles through batches of edges of several sizes, on
// either side of that from which on other kernels sort them. None of it makes a kernel.
func (d watched) askAll(t *testing.T, a *Analyzer, e *edges) {
	t.Helper()
	d.kernels.Take() // what it took to make the graph, or to change it
	behind := func(what string, err error) {
		t.Helper()
		require.NoError(t, err, what)
		require.Empty(t, d.kernels.Take(), "%s of %d edges", what, len(e.from))
	}
	for _, o := range []BFSOptions{{}, {Parents: true}, {TopDown: true}} {
		_, err := a.BFS(t.Context(), 7, o)
		behind("BFS", err)
	}
	for _, o := range []SSSPOptions{{}, {Delta: 3}, {Parents: true}, {FloatWeights: true, Parents: true}} {
		_, err := a.SSSP(t.Context(), 7, o)
		behind("SSSP", err)
	}
	_, err := a.Components(t.Context())
	behind("Components", err)
	_, err = a.StrongComponents(t.Context())
	behind("StrongComponents", err)
	for _, o := range []PageRankOptions{{Iterations: 20, Tolerance: -1},
		{Iterations: 1, From: make([]float32, e.vertices)},
		{Iterations: 1, Personalization: slices.Repeat([]float32{1}, e.vertices)}} {
		_, err := a.PageRank(t.Context(), o)
		behind("PageRank", err)
	}
	if !e.undirected {
		return
	}
	_, err = a.Cores(t.Context())
	behind("Cores", err)
	_, err = a.Communities(t.Context(), CommunitiesOptions{Iterations: 1})
	behind("Communities", err)
	_, err = a.Triangles(t.Context())
	behind("Triangles", err)
	for _, n := range []int{1, 70, 5000, 1<<17 + 1, 1<<18 + 1} {
		from, to := make([]uint32, n), make([]uint32, n)
		for i := range from {
			from[i], to[i] = e.from[i%len(e.from)], e.to[i%len(e.from)]
		}
		_, err := a.TrianglesThroughEdges(t.Context(), from, to)
		behind(fmt.Sprintf("triangles through %d", n), err)
	}
}

// Behind Prepare no call makes a kernel, of graphs of any sort and size, and results are right. There is no kernel of
// this package that no Prepare makes: the kernels of an algorithm that is added have to be in the table of Prepare.
func TestNothingIsMadeBehindPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	recording.Undispatched(t)
	rng := rand.New(rand.NewPCG(7, 7))
	made, left, cpu := map[string]bool{}, 0, false
	each := func(name string, test func(t *testing.T, d watched) (modules []string)) {
		left++
		t.Run(name, func(t *testing.T) {
			d := watch(t)
			cpu = d.Info().Type == vk.CPU
			for _, m := range test(t, d) {
				made[m] = true
			}
			left--
		})
	}
	// The arcs of the second one are sorted by kernels that those of the first aren't.
	directed := []*edges{random(rng, 600, 3000, false), random(rng, 1<<17, 1<<18+99, false)}
	undirected := []*edges{random(rng, 600, 3000, true)}
	rows := func(weighted bool, all []*edges) func(t *testing.T, d watched) (modules []string) {
		return func(t *testing.T, d watched) (modules []string) {
			for _, e := range all {
				a := d.rows(t, e, weighted)
				if modules == nil {
					modules = d.prepare(t, a)
				}
				d.askAll(t, a, e)
				if e.undirected {
					requireAll(t, a, e)
				}
			}
			return modules
		}
	}
	each("directed rows", rows(false, directed))
	each("directed rows with weights", rows(true, directed))
	each("rows with weights", rows(true, undirected))
	where := func(weighted, both bool, e *edges) func(t *testing.T, d watched) (modules []string) {
		return func(t *testing.T, d watched) (modules []string) {
			o := e.options(weighted)
			if both = both && testdevice.BothForms(d.Device); !both {
				o.MaxBytes = 1 << 28
			}
			g, a := live(t, d.Device, o)
			modules = d.prepare(t, a)
			insert(t, g, e.between(0, len(e.from), weighted))
			d.askAll(t, a, e)
			if e.undirected && weighted {
				requireAll(t, a, e)
			}
			if both {
				a.General()
				d.askAll(t, a, e)
			}
			return modules
		}
	}
	each("where it is", where(false, false, undirected[0]))
	each("with weights where it is", where(true, true, undirected[0]))
	each("directed with weights where it is", where(true, false, directed[0]))
	each("connectivity", func(t *testing.T, d watched) (modules []string) {
		c, err := NewConnectivity(t.Context(), d.Device, 300)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.Prepare(t.Context()))
		modules = d.kernels.Take()
		_, err = c.Insert(t.Context(), []uint32{1, 2}, []uint32{2, 3})
		require.NoError(t, err)
		r, err := c.Components(t.Context())
		require.NoError(t, err)
		require.Equal(t, 298, r.Count)
		require.Empty(t, d.kernels.Take())
		return modules
	})
	if left != 0 {
		return // not all were asked for
	}
	other := ".rolled" // loops, which the device's kernels don't have
	if cpu {
		other = ".unrolled"
	}
	for _, module := range shaders.Names() {
		if strings.HasPrefix(module, "analytics/") && !strings.HasSuffix(module, other) {
			require.True(t, made[module], "%s, which no Prepare makes", module)
		}
	}
}

// The same with kernels for a single pass, which only GPUs have by themselves: a large graph's degrees are scanned by
// one of its own, unless that would be in place.
func TestPrepareSinglePass(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	d := watch(t)
	g, a := live(t, d.Device, graph.Options{MaxBytes: 1 << 28, Vertices: 1<<22 + 1})
	a.Single()
	d.prepare(t, a)
	insert(t, g, path(100, true).between(0, 99, false))
	d.kernels.Take()
	_, err := a.Triangles(t.Context())
	require.NoError(t, err)
	require.Empty(t, d.kernels.Take())
}

// Prepare ends with its context, between two kernels, and can be gone on with; of what is closed it is an error; and it
// runs beside itself and other calls, of graphs without vertices, too.
func TestPrepareEnds(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	d := watch(t)
	e := path(300, true)
	a := e.analyzer(t, d.Device)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, a.Prepare(ctx), context.Canceled)
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() { assertNo(t, a.Prepare(t.Context())) })
	}
	r, err := a.BFS(t.Context(), 0, BFSOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 299, r.Distances[299])
	all.Wait()

	none, err := graph.BuildCSR(t.Context(), d.Device, graph.Edges{}, graph.CSROptions{Symmetric: true})
	require.NoError(t, err)
	d.kernels.Take()
	empty := New(none)
	require.NoError(t, empty.Prepare(t.Context()))
	require.Empty(t, d.kernels.Take(), "a graph of the same sort was prepared")
	require.NoError(t, empty.Close())
	require.ErrorIs(t, empty.Prepare(t.Context()), vk.ErrClosed)
	again := New(none)
	require.NoError(t, none.Close())
	require.ErrorIs(t, again.Prepare(t.Context()), vk.ErrClosed, "the graph was closed")
	require.NoError(t, again.Close())

	g, err := graph.New(t.Context(), d.Device, graph.Options{})
	require.NoError(t, err)
	on := NewLive(g)
	require.NoError(t, g.Close())
	require.ErrorIs(t, on.Prepare(t.Context()), vk.ErrClosed, "the graph was closed")
	require.NoError(t, on.Close())
}
