package shader

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

type graphPush struct {
	Graph   graph.Description
	Arcs    uint64
	Results uint64
	Count   uint32
	Tiles   uint32
	Visits  uint32
}

// graphModule is the tests' kernel for a sort of graph.
func graphModule(weighted, wide bool) string {
	switch {
	case !weighted:
		return "test/graph.k32"
	case wide:
		return "test/graph.k32v32a64"
	}
	return "test/graph.k32v32a32"
}

// A kernel's operations on arcs come to what they do in Go's maps, whatever room the host has to make: vertices without
// descriptors, a hub, a full pool. Then every arc is found, and walks of any number of tiles see each neighbour once.
func TestGraph(t *testing.T) {
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		r.eachWidth(func(t *testing.T, width int) { graphProgram(t, r, true, wide, width) })
		if !wide || testing.Short() { // the same kernel with either protocol
			graphProgram(t, r, false, wide, min(4, r.d.SubgroupSize()))
		}
	})
}

func graphProgram(t *testing.T, r *rig, weighted, wide bool, width int) {
	const count, vertices = 6_000, 400
	ctx, rnd := t.Context(), random(21)
	g, err := graph.New(ctx, r.d, graph.Options{Directed: true, Weighted: weighted, SelfLoops: true, Tile: width})
	require.NoError(t, err)
	defer func() { require.NoError(t, g.Close()) }()
	want := map[[2]uint32]uint32{}
	words := make([]uint32, 4*count)
	for i := range count { // each arc once, so that the order is of no account
		from, to := rnd.Uint32N(vertices), rnd.Uint32N(vertices)
		if i%2 == 0 {
			from, to = 7, uint32(1000+i)
		}
		if _, twice := want[[2]uint32{from, to}]; twice {
			words[4*i] = uint32(structures.Find)
			words[4*i+1], words[4*i+2] = vertices+500, to
			continue
		}
		weight := uint32(0)
		if weighted {
			weight = rnd.Uint32()
		}
		want[[2]uint32{from, to}] = weight
		copy(words[4*i:], []uint32{uint32(structures.InsertUnique), from, to, weight})
	}
	arcs, results := put(r, words), put(r, make([]uint32, 2*count))
	outcomes := applyArcs(t, r, g, graphModule(weighted, wide), width, arcs, words, results)
	for i := range count {
		if words[4*i] == uint32(structures.Find) {
			require.EqualValues(t, structures.Absent, outcomes[i])
		} else {
			require.EqualValues(t, structures.Inserted, outcomes[i])
		}
	}
	require.NoError(t, g.Inspect().Check(ctx))
	_, edges, err := g.Size(ctx)
	require.NoError(t, err)
	require.EqualValues(t, len(want), edges)

	require.NoError(t, arcs.Upload(ctx, 0, words)) // as they were
	constants := g.InShaders().Constants()
	constants["TILE"], constants["FUNCTION"] = uint32(width), 1
	find := kernel[graphPush](t, r, graphModule(weighted, wide), constants)
	run(r, find, count, graphPush{g.InShaders().Description(), arcs.Address(), results.Address(), count, 0, 0})
	for i, got := 0, get(r, results); i < count; i++ {
		weight, there := want[[2]uint32{words[4*i+1], words[4*i+2]}]
		require.Equal(t, there, got[2*i] == 1)
		require.Equal(t, weight, got[2*i+1])
	}
	constants["FUNCTION"] = 2
	walk := kernel[graphPush](t, r, graphModule(weighted, wide), constants)
	for _, tiles := range []int{1, 3} {
		sums := put(r, make([]uint32, 2*vertices))
		run(r, walk, vertices*tiles*width,
			graphPush{g.InShaders().Description(), 0, sums.Address(), vertices, uint32(tiles), 0})
		expected := make([]uint32, 2*vertices)
		for arc, weight := range want {
			expected[2*arc[0]]++
			expected[2*arc[0]+1] += arc[1] + weight
		}
		requireWords(t, expected, get(r, sums), "walks of %d tiles", tiles)
	}
}

// applyArcs does operations until none is left, and returns their statuses.
func applyArcs(t *testing.T, r *rig, g *graph.Graph, module string, width int, arcs *vk.Buffer[uint32], words []uint32,
	results *vk.Buffer[uint32]) []uint32 {
	ctx, count := t.Context(), len(words)/4
	outcomes := make([]uint32, count)
	words = append([]uint32(nil), words...)
	rounds := 0
	for left := -1; left != 0; rounds++ {
		require.Less(t, rounds, 50)
		constants := g.InShaders().Constants()
		constants["TILE"] = uint32(width)
		m, err := kernels.Load(module)
		require.NoError(t, err)
		k, err := vk.NewKernel[graphPush](r.d, m, vk.KernelOptions{Constants: constants})
		require.NoError(t, err)
		run(r, k, count,
			graphPush{g.InShaders().Description(), arcs.Address(), results.Address(), uint32(count), 0, 200})
		k.Free()
		last := left
		left = 0
		for i, got := 0, get(r, results); i < count; i++ {
			if outcomes[i] != 0 {
				continue
			}
			if outcomes[i] = got[2*i]; outcomes[i] == 0 {
				left++
			} else {
				copy(words[4*i:4*i+3], []uint32{uint32(structures.Find), 1 << 20, 0}) // done: nothing any more
			}
		}
		if left != 0 {
			require.NoError(t, arcs.Upload(ctx, 0, words))
			require.NoError(t, g.InShaders().Grow(ctx, left, left == last))
		}
	}
	require.Greater(t, rounds, 1, "the host had nothing to do")
	return outcomes
}

type commonPush struct {
	Graph graph.Description
	Pairs uint64
	Left  uint64
	Count uint32
	Tiles uint32
}

// joinCommon is the page's host side of its kernel on a dynamic graph.
func joinCommon(ctx context.Context, d *vk.Device, stream *vk.Stream, module shaders.Module, g *graph.Graph,
	pairs, left *vk.Buffer[uint32], count, tile int) error {
	for last := -1; ; {
		k, err := vk.NewKernel[commonPush](d, module, vk.KernelOptions{Constants: g.InShaders().Constants()})
		if err != nil {
			return err
		}
		push := commonPush{Pairs: pairs.Address(), Left: left.Address(), Count: uint32(count)}
		stream.Fill(left, 0, 1, 0)
		if last < 0 { // the first time
			push.Graph, push.Tiles = g.InShaders().Description(), 4
			k.Dispatch(stream, (count*4*tile+k.Workgroup()-1)/k.Workgroup(), push)
		}
		push.Graph, push.Tiles = g.InShaders().Description(), 0
		k.Dispatch(stream, (count+k.Workgroup()-1)/k.Workgroup(), push)
		g.InShaders().UsedOn(stream)
		err = stream.Wait(ctx)
		k.Free()
		if err != nil {
			return err
		}
		var pending [1]uint32
		if err := left.Download(ctx, 0, pending[:]); err != nil {
			return err
		}
		if pending[0] == 0 {
			return nil
		}
		if err := g.InShaders().Grow(ctx, int(pending[0]), int(pending[0]) == last); err != nil {
			return err
		}
		last = int(pending[0])
	}
}

// The page's kernel counts what pairs of vertices have in common, hubs among them, and joins them by that.
func TestPageDynamicGraph(t *testing.T) {
	pass.OneDriver(t, "at 4 lanes lavapipe finds the same, without compiling for long")
	eachProtocol(t, func(t *testing.T, r *rig, wide bool) {
		const vertices, edges, count = 300, 6000, 2000
		ctx, rnd := t.Context(), random(22)
		module := compileFromPage(t, "common.comp", wide)
		g, err := graph.New(ctx, r.d, graph.Options{Directed: true, Weighted: true, Tile: 1, MaxLoad: 1})
		require.NoError(t, err)
		defer func() { require.NoError(t, g.Close()) }()
		neighbors := make([]map[uint32]bool, vertices)
		for i := range neighbors {
			neighbors[i] = map[uint32]bool{}
		}
		var e graph.Edges
		for range edges {
			from, to := rnd.Uint32N(vertices), rnd.Uint32N(vertices)
			if from%3 == 0 {
				from = 9
			}
			if from != to {
				neighbors[from][to] = true
				e.From, e.To, e.Weights = append(e.From, from), append(e.To, to), append(e.Weights, 0)
			}
		}
		_, err = g.InsertEdges(ctx, e)
		require.NoError(t, err)
		words, want := []uint32{}, map[[2]uint32]uint32{}
		for range count {
			a, b := rnd.Uint32N(vertices), rnd.Uint32N(vertices)
			if _, twice := want[[2]uint32{a, b}]; twice || a == b {
				continue
			}
			common := uint32(0)
			for v := range neighbors[a] {
				if neighbors[b][v] {
					common++
				}
			}
			want[[2]uint32{a, b}] = common
			words = append(words, a, b, 0, 0)
		}
		pairs := put(r, words)
		require.NoError(t, joinCommon(ctx, r.d, r.s, module, g, pairs, put(r, []uint32{0}), len(words)/4, 1))
		require.NoError(t, g.Inspect().Check(ctx))
		for pair, common := range want {
			weights, found, err := g.FindEdges(ctx, graph.Edges{From: pair[:1], To: pair[1:]})
			require.NoError(t, err)
			require.Equal(t, common != 0 || neighbors[pair[0]][pair[1]], found[0], "%v", pair)
			require.Equal(t, common, weights[0], "%v", pair)
		}
	})
}
