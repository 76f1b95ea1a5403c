package btree

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/u32"
)

// circles are the changed words after which links between nodes lead in circles, as after a stray write.
var circles = map[string]func(nodes []Node[uint32]) []poked{
	// A leaf's right neighbor, for the upper half of its keys, is the leaf itself.
	"a leaf": func(nodes []Node[uint32]) []poked {
		n := nodes[nodeIn(nodes, 0)]
		return []poked{{slab: n.Ref, word: highWord, value: n.Low + (n.High-n.Low)/2},
			{slab: n.Ref, word: linkWord, value: n.Ref}}
	},
	// The same for an inner node.
	"an inner node": func(nodes []Node[uint32]) []poked {
		n := nodes[nodeIn(nodes, 1)]
		return []poked{{slab: n.Ref, word: highWord, value: n.Low + (n.High-n.Low)/2},
			{slab: n.Ref, word: linkWord, value: n.Ref}}
	},
	// Two empty leaves link to each other.
	"empty leaves": func(nodes []Node[uint32]) (words []poked) {
		at := nodeIn(nodes, 0)
		for i, n := range nodes[at : at+2] {
			for slot := range uint32(Slots) {
				words = append(words, poked{slab: n.Ref, word: 2 * slot, value: ^uint32(0)},
					poked{slab: n.Ref, word: 2*slot + 1, value: ^uint32(0)})
			}
			words = append(words, poked{slab: n.Ref, word: linkWord, value: nodes[at+1-i].Ref})
		}
		return words
	},
	// An empty leaf has the least key of the first leaf: a downward search continues with the key below that, and so at
	// the same leaf.
	"a leaf's low": func(nodes []Node[uint32]) (words []poked) {
		n := nodes[nodeIn(nodes, 0)]
		for slot := range uint32(Slots) {
			words = append(words, poked{slab: n.Ref, word: 2 * slot, value: ^uint32(0)},
				poked{slab: n.Ref, word: 2*slot + 1, value: ^uint32(0)})
		}
		return append(words, poked{slab: n.Ref, word: lowWord, value: n.Low + (n.High-n.Low)/2})
	},
}

// If links lead in circles, as after a stray write, every call from Go slices ends with a result or a typed error, long
// before the context ends.
func TestLinksInCircles(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	d := openDevice(t)
	keys := ramp(3000, 0, 1_400_000) // far apart, so that ranges are not soon divided into single keys
	stuck := 0
	for name, damage := range circles {
		t.Run(name, func(t *testing.T) {
			tree := buildTree(t, d, keys, keys, Options{Capacity: 1})
			nodes, err := tree.Nodes(t.Context())
			require.NoError(t, err)
			poke(t, tree, damage(nodes)...)
			middle := nodes[nodeIn(nodes, 0)]
			asked := slices.Concat(ramp(200, 0, 21_000_013), ramp(50, middle.Low, (middle.High-middle.Low)/50))
			asks := map[string]func(ctx context.Context) error{
				"find":  func(ctx context.Context) error { _, _, err := tree.Find(ctx, asked); return err },
				"len":   func(ctx context.Context) error { _, err := tree.Len(ctx); return err },
				"count": func(ctx context.Context) error { _, err := tree.Count(ctx, rangesFrom(asked)); return err },
				"range": func(ctx context.Context) error { _, err := tree.Range(ctx, rangesFrom(asked)); return err },
				"all": func(ctx context.Context) error {
					return drained(tree.All(ctx))
				},
				"descend": func(ctx context.Context) error {
					return drained(tree.Descend(ctx, u32.AllKeys))
				},
			}
			for _, to := range []structures.Direction{structures.Successor, structures.Predecessor, structures.Floor,
				structures.Ceil} {
				asks[to.String()] = func(ctx context.Context) error {
					got, err := ordered.Queries[uint32, uint32]{Reader: tree.reader}.Neighbor(ctx, to, asked)
					for i, found := range got.Found {
						require.True(t, found || got.Keys[i] == 0,
							"%v of %d: where the search was given up is no answer", to, asked[i])
					}
					return err
				}
			}
			for what, ask := range asks {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				begin := time.Now()
				err := ask(ctx)
				cancel()
				t.Logf("%s: %v, after %v", what, err, time.Since(begin))
				if err == nil {
					continue
				}
				var circle *structures.StuckError
				require.ErrorAs(t, err, &circle, what)
				require.Positive(t, circle.Operations, what)
				stuck++
			}
		})
	}
	require.NotZero(t, stuck, "no circle was met")
}

// nodeIn returns the index of a node of a level that is neither the first nor one of the last two.
func nodeIn(nodes []Node[uint32], level int) int {
	first := slices.IndexFunc(nodes, func(n Node[uint32]) bool { return n.Level == level })
	end := first
	for end < len(nodes) && nodes[end].Level == level {
		end++
	}
	return (first + end) / 2
}

// rangesFrom returns a short and a long range from each key, and the range of all keys.
func rangesFrom(keys []uint32) []u32.Range {
	all := []u32.Range{u32.AllKeys}
	for _, key := range keys {
		all = append(all, u32.Range{Lo: key, Hi: key + 500}, u32.Range{Lo: key, Hi: key + 100_000})
	}
	return all
}

// Calls that read a whole tree also end. They report that it is corrupt if the circle is on their way.
func TestUpkeepInCircles(t *testing.T) {
	d := openDevice(t)
	keys := ramp(3000, 0, 1_400_000)
	for name, damage := range circles {
		t.Run(name, func(t *testing.T) {
			tree := buildTree(t, d, keys, keys, Options{Capacity: 1})
			nodes, err := tree.Nodes(t.Context())
			require.NoError(t, err)
			poke(t, tree, damage(nodes)...)
			var corrupt *CorruptError
			require.ErrorAs(t, tree.Check(t.Context()), &corrupt)
			again, err := tree.Nodes(t.Context())
			require.NoError(t, err)
			require.Len(t, again, len(nodes), "each of them once")
			for what, call := range map[string]func() error{
				"statistics": func() error { _, err := tree.Stats(t.Context()); return err },
				"repair":     func() error { return tree.repair(t.Context()) },
				"compact":    func() error { return tree.Compact(t.Context(), 0) },
			} {
				err := call()
				if name == "empty leaves" { // their parents have their ranges, and these calls only use the parents
					require.NoError(t, err, what)
					continue
				}
				require.ErrorAs(t, err, &corrupt, what)
			}
		})
	}
}
