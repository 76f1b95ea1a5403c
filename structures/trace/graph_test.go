package trace_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// The arcs that events put into slots, without those that they erase, are the arcs of the graph. They end with the
// weights of the graph. An arc that was inserted or deleted changed one slot, and no other arc did. (The graph does
// some equal edges again, so that they are in order: statuses of edges and of arcs differ.)
func TestGraph(t *testing.T) {
	pass.Unvalidated(t, "it makes the calls of other updates")
	pass.NotWidest(t, "4 and 8 lanes find as much")
	for name, without := range features {
		for _, directed := range []bool{false, true} {
			for _, weighted := range []bool{false, true} {
				o := graph.Options{Directed: directed, Weighted: weighted, Vertices: 40}
				name := fmt.Sprintf("%s, directed %v, weighted %v", name, directed, weighted)
				t.Run(name, func(t *testing.T) { arcs(t, without, o) })
			}
		}
	}
}

func arcs(t *testing.T, without vk.Options, o graph.Options) {
	d := open(t, 1<<20, without)
	g, err := graph.New(t.Context(), d, o)
	require.NoError(t, err)
	defer g.Close()
	rng := rand.New(rand.NewPCG(3, 4))
	held := map[uint64]int{} // arcs, as Event.Key has them: how often they are in slots
	weights := map[uint64]uint32{}
	appended := map[uint32]bool{}
	for _, kind := range []structures.Kind{structures.Insert, structures.Delete, structures.Insert} {
		e := graph.Edges{}
		for range 1000 {
			e.From, e.To = append(e.From, rng.Uint32N(40)), append(e.To, rng.Uint32N(40))
			if o.Weighted && kind == structures.Insert {
				e.Weights = append(e.Weights, rng.Uint32())
			}
		}
		require.NoError(t, g.UpdateEdgesInto(t.Context(), kind, e, make([]structures.Status, len(e.From))))
		all := take(t, d)
		operations := all.Operations()
		for _, event := range all.Events {
			of := operations[event.Operation]
			switch event.What {
			case trace.Write, trace.Erase:
				require.EqualValues(t, uint32(of.Key)+1, event.Key, "the word of the arc's end")
				if event.What == trace.Write {
					held[of.Key]++
				} else {
					held[of.Key]--
				}
				fallthrough
			case trace.Change:
				weights[of.Key] = uint32(event.Value)
			case trace.Link:
				require.False(t, appended[event.Other], "a slab is appended once")
				appended[event.Other] = true
			}
		}
		for _, of := range operations {
			did := map[trace.What]int{}
			for _, i := range of.Events {
				did[all.Events[i].What]++
			}
			require.Equal(t, 1, did[trace.End])
			require.Equal(t, of.Status == structures.Inserted, did[trace.Write] == 1)
			require.Equal(t, of.Status == structures.Deleted, did[trace.Erase] == 1)
			require.Equal(t, of.Status == structures.Assigned && o.Weighted, did[trace.Change] == 1)
		}
	}
	require.NotEmpty(t, appended)
	want := 0
	for e, err := range g.AllEdges(t.Context()) {
		require.NoError(t, err)
		ends := []uint64{uint64(e.From)<<32 | uint64(e.To), uint64(e.To)<<32 | uint64(e.From)}
		if o.Directed {
			ends = ends[:1]
		}
		for _, arc := range ends {
			want++
			require.Equal(t, 1, held[arc], "arc %#x", arc)
			if o.Weighted {
				require.Equal(t, e.Weight, weights[arc], "arc %#x", arc)
			}
		}
	}
	require.NotZero(t, want)
	for _, n := range held {
		want -= n
	}
	require.Zero(t, want, "arcs that events put and the graph lacks")
}
