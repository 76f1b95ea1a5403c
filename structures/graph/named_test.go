package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/testdevice"
	"pgregory.net/rapid"
)

// A graph of names is what it is of the names themselves, also where numbers of deleted vertices are used again.
func TestNamed(t *testing.T) {
	d := testdevice.Open(t)
	name := func(i int) int64 { return int64(i)*0x123456789abcd - math.MaxInt64/2 }
	rapid.Check(t, func(rt *rapid.T) {
		ctx, o := t.Context(), Options{Weighted: true, Directed: rapid.Bool().Draw(rt, "directed")}
		n, err := NewNamed[int64](ctx, d, o)
		require.NoError(rt, err)
		defer func() { require.NoError(rt, n.Close()) }()
		want, vertices := map[[2]int64]uint32{}, map[int64]bool{}
		one := rapid.Custom(func(t *rapid.T) int64 { return name(rapid.IntRange(0, 40).Draw(t, "name")) })
		some := rapid.SliceOfN(one, 1, 200)
		ends := func(a, b int64) [2]int64 {
			if !o.Directed && b < a {
				return [2]int64{b, a}
			}
			return [2]int64{a, b}
		}
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			from := some.Draw(rt, "from")
			to := rapid.Permutation(from).Draw(rt, "to")
			e := NamedEdges[int64]{from, to, make([]uint32, len(from))}
			for i := range e.Weights {
				e.Weights[i] = uint32(i)
			}
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				status, err := n.InsertEdges(ctx, e)
				require.NoError(rt, err)
				for i, a := range from {
					vertices[a], vertices[to[i]] = true, true
					if a == to[i] {
						require.Equal(rt, structures.Absent, status[i])
						continue
					}
					_, there := want[ends(a, to[i])]
					require.Equal(rt, there, status[i] == structures.Assigned)
					want[ends(a, to[i])] = e.Weights[i]
				}
			case 2:
				_, err := n.DeleteEdges(ctx, e)
				require.NoError(rt, err)
				for i, a := range from {
					delete(want, ends(a, to[i]))
				}
			case 3:
				few := from[:min(len(from), 8)]
				status, err := n.DeleteVertices(ctx, few)
				require.NoError(rt, err)
				for i, a := range few {
					if status[i] == structures.Deleted {
						require.True(rt, vertices[a])
						delete(vertices, a)
					}
				}
				for pair := range want {
					if !vertices[pair[0]] || !vertices[pair[1]] {
						delete(want, pair)
					}
				}
			}
			count, err := n.Vertices(ctx)
			require.NoError(rt, err)
			require.Equal(rt, len(vertices), count)
			extent, err := n.Graph().Extent(ctx)
			require.NoError(rt, err)
			require.LessOrEqual(rt, extent, 41, "numbers of deleted vertices are used again")
			edges, err := n.Edges(ctx)
			require.NoError(rt, err)
			require.EqualValues(rt, len(want), edges)
			_, found, err := n.FindEdges(ctx, e)
			require.NoError(rt, err)
			offsets, targets, weights, err := n.Neighbors(ctx, from)
			require.NoError(rt, err)
			for i, a := range from {
				_, there := want[ends(a, to[i])]
				require.Equal(rt, there, found[i])
				for j := offsets[i]; j < offsets[i+1]; j++ {
					weight, there := want[ends(a, targets[j])]
					require.True(rt, there)
					require.Equal(rt, weight, weights[j])
				}
			}
		}
	})
}
