package btree

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/pools"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

func TestCheckOfGoodTrees(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	for _, n := range []int{0, 1, 2, 100, 20000} {
		rng := random(uint64(n))
		rebuild(t, tree, uniqueKeys(rng, n), randomWords(rng, n))
		require.NoError(t, tree.Check(t.Context()), "%d pairs", n)
		ravage(t, tree, model{})
		require.NoError(t, tree.Check(t.Context()), "%d pairs, in any order and with holes", n)
	}
}

// Whatever a word of a node is changed to, the checker names the rule that it breaks and the node.
func TestCheckOfCorruptTrees(t *testing.T) {
	d := openDevice(t)
	const n = 3000
	keys := ramp(n, 1000, 1000)
	tree := buildTree(t, d, keys, keys, Options{})
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	level := func(l, i int) Node[uint32] {
		for _, node := range nodes {
			if node.Level == l {
				if i == 0 {
					return node
				}
				i--
			}
		}
		t.Fatal("no such node")
		return Node[uint32]{}
	}
	root, inner, next, leaf, other := nodes[0], level(1, 1), level(1, 2), level(0, 10), level(0, 11)
	last := nodes[len(nodes)-1]
	require.Greater(t, root.Level, 1)
	require.Len(t, leaf.Keys, 7)
	require.Len(t, inner.Keys, 7)
	meta := func(level, latch uint32) uint32 { return level<<1 | latch | 5<<5 }
	free := tree.slabReference(tree.poolSlabs() - 1)
	key := func(i int) uint32 { return uint32(2 * i) }
	value := func(i int) uint32 { return uint32(2*i + 1) }

	for name, c := range map[string]struct {
		node  Node[uint32]
		words map[uint32]uint32 // of the node, and what they become
		rules []Rule            // that are broken, some of them perhaps by other nodes
		first Rule              // that the node itself breaks
	}{
		"latched leaf": {leaf, map[uint32]uint32{metaWord: meta(0, 1)}, []Rule{LatchRule}, LatchRule},
		"latched root": {root, map[uint32]uint32{metaWord: meta(uint32(root.Level), 1)}, []Rule{LatchRule},
			LatchRule},
		"root is a leaf":         {root, map[uint32]uint32{metaWord: meta(0, 0)}, nil, RootRule},
		"root of few keys":       {root, map[uint32]uint32{lowWord: 1}, nil, RootRule},
		"root with a neighbor":   {root, map[uint32]uint32{linkWord: leaf.Ref}, nil, RootRule},
		"low above high":         {leaf, map[uint32]uint32{lowWord: leaf.High + 1}, nil, RangeRule},
		"leaf of another level":  {leaf, map[uint32]uint32{metaWord: meta(1, 0)}, nil, SeparatorRule},
		"key below its leaf":     {leaf, map[uint32]uint32{key(0): leaf.Low - 1}, []Rule{KeyRule}, KeyRule},
		"key above its leaf":     {leaf, map[uint32]uint32{key(3): leaf.High + 1}, []Rule{KeyRule}, KeyRule},
		"key twice":              {leaf, map[uint32]uint32{key(2): leaf.Keys[5]}, []Rule{UniqueRule}, UniqueRule},
		"key twice, far apart":   {leaf, map[uint32]uint32{key(13): leaf.Keys[0]}, []Rule{UniqueRule}, UniqueRule},
		"odd version":            {leaf, map[uint32]uint32{value(9): 7}, []Rule{FreeSlotRule}, FreeSlotRule},
		"last leaf of more keys": {last, map[uint32]uint32{lowWord: 5}, nil, LastLeafRule},
		"separators out of order": {inner, map[uint32]uint32{key(2): inner.Keys[1], key(1): inner.Keys[2]}, nil,
			SeparatorRule},
		"first separator": {inner, map[uint32]uint32{key(0): inner.Low + 1}, nil, SeparatorRule},
		"separator above its node": {inner, map[uint32]uint32{key(13): inner.High + 1, value(13): next.Values[0]}, nil,
			SeparatorRule},
		"more behind the last": {inner, map[uint32]uint32{key(13): inner.High, value(13): next.Values[0]}, nil,
			SeparatorRule},
		"no such slab": {inner, map[uint32]uint32{value(2): 0x7fffffff},
			[]Rule{ChildRule, ChainRule, LostRule}, ChildRule},
		"no slab at all": {inner, map[uint32]uint32{value(2): noSlab}, []Rule{ChildRule, ChainRule, LostRule},
			ChildRule},
		"child that is free": {inner, map[uint32]uint32{value(2): free}, []Rule{ChildRule, ChainRule, LostRule},
			ChildRule},
		"child of its own level": {inner, map[uint32]uint32{value(2): next.Ref}, nil, ChildLevelRule},
		"child of another parent": {inner, map[uint32]uint32{value(2): next.Values[1]},
			[]Rule{ChildLowRule, ChainRule, ParentRule, LostRule}, ChildLowRule},
		"separator of no child": {inner, map[uint32]uint32{key(2): inner.Keys[2] + 1}, []Rule{ChildLowRule},
			ChildLowRule},
		"link to nowhere": {leaf, map[uint32]uint32{linkWord: free}, []Rule{NeighborRule, ChainRule},
			NeighborRule},
		"chain that ends": {leaf, map[uint32]uint32{linkWord: noSlab}, []Rule{NeighborRule, ChainRule},
			NeighborRule},
		"link to another level": {leaf, map[uint32]uint32{linkWord: inner.Ref}, nil, NeighborLevelRule},
		"link too far": {leaf, map[uint32]uint32{linkWord: other.Link}, []Rule{NeighborLowRule, ChainRule},
			NeighborLowRule},
		"gap": {leaf, map[uint32]uint32{highWord: leaf.High - 1}, []Rule{NeighborLowRule},
			NeighborLowRule},
		"overlap": {leaf, map[uint32]uint32{highWord: leaf.High + 1}, []Rule{NeighborLowRule},
			NeighborLowRule},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := rawNode(t, tree, c.node.Ref), []poked(nil)
			for word, value := range c.words {
				after = append(after, poked{slab: c.node.Ref, word: word, value: value})
			}
			poke(t, tree, after...)
			violations := violationsOf(t, tree)
			poke(t, tree, before...)
			var rules []Rule
			for _, v := range violations {
				rules = append(rules, v.Rule)
				if v.Rule == c.first {
					require.Equal(t, c.node.Ref, v.Node, "the node")
				}
			}
			require.Contains(t, rules, c.first)
			if c.rules != nil {
				require.ElementsMatch(t, c.rules, rules)
			}
			require.NoError(t, tree.Check(t.Context()), "put right again")
		})
	}

	t.Run("level that begins twice", func(t *testing.T) {
		before := rawNode(t, tree, leaf.Ref)
		poke(t, tree, poked{slab: leaf.Ref, word: lowWord, value: 0})
		require.Contains(t, violationsOf(t, tree), Violation{StartRule, 1, noSlab})
		poke(t, tree, before...)
	})
	t.Run("node that nothing leads to", func(t *testing.T) {
		require.NoError(t, tree.state.Upload(t.Context(), planAt, []uint32{uint32(len(nodes)) + 1}))
		require.NoError(t, pools.Of(tree.pool).Occupy(tree.stream, tree.state.AddressOf(planAt)))
		require.NoError(t, tree.stream.Wait(t.Context()))
		lost := tree.slabReference(len(nodes))
		poke(t, tree, poked{slab: lost, word: metaWord}, poked{slab: lost, word: lowWord, value: 5},
			poked{slab: lost, word: highWord, value: 9})
		require.Equal(t, []Violation{{LostRule, 1, noSlab}}, violationsOf(t, tree))
	})
	t.Run("root that is not allocated", func(t *testing.T) {
		require.NoError(t, tree.state.Upload(t.Context(), planAt, []uint32{0}))
		require.NoError(t, pools.Of(tree.pool).Occupy(tree.stream, tree.state.AddressOf(planAt)))
		require.Contains(t, violationsOf(t, tree), Violation{RootRule, 1, 0})
	})
}

// rawNode are all words of a node, to be written again.
func rawNode[W structures.Word](t testing.TB, tree *tree[W], slab uint32) []poked {
	t.Helper()
	ref, b := testdevice.Upload(t, tree.d, []uint32{slab}), testdevice.Room[uint32](t, tree.d, nodeWords)
	require.NoError(t, tree.copyNodes(b, ref.Address(), 1))
	var words []poked
	for i, word := range testdevice.Download(t, b, nodeWords) {
		words = append(words, poked{slab: slab, word: uint32(i), value: word})
	}
	return words
}

// violationsOf are those of a corrupt tree.
func violationsOf[W structures.Word](t testing.TB, tree *tree[W]) []Violation {
	t.Helper()
	var corrupt *CorruptError
	require.ErrorAs(t, tree.Check(t.Context()), &corrupt)
	require.NotEmpty(t, corrupt.Violations)
	for _, v := range corrupt.Violations {
		require.Positive(t, v.Count)
		require.Contains(t, corrupt.Error(), fmt.Sprintf("%v: %d", v.Rule, v.Count))
	}
	return corrupt.Violations
}
