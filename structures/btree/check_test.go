package btree

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
)

func TestCheckOfGoodTrees(t *testing.T) {
	t.Run("32", testCheckOfGoodTrees[uint32])
	t.Run("64", testCheckOfGoodTrees[uint64])
}

func testCheckOfGoodTrees[W structures.Word](t *testing.T) {
	d := openDevice(t)
	tree := newTreeOf[W](t, d, Options{})
	for _, n := range []int{0, 1, 2, 100, 20000} {
		rng := random(uint64(n))
		rebuild(t, tree, widened[W](uniqueKeys(rng, n)), widened[W](randomWords(rng, n)))
		require.NoError(t, tree.Check(t.Context()), "%d pairs", n)
		ravage(t, tree, modelOf[W]{})
		require.NoError(t, tree.Check(t.Context()), "%d pairs, in any order and with holes", n)
	}
}

// For each changed word of a node, Check names the broken rule and the node.
func TestCheckOfCorruptTrees(t *testing.T) {
	t.Run("32", testCheckOfCorruptTrees[uint32])
	t.Run("64", testCheckOfCorruptTrees[uint64])
}

func testCheckOfCorruptTrees[W structures.Word](t *testing.T) {
	d := openDevice(t)
	const n = 3000
	keys := widened[W](ramp(n, 1000, 1000))
	tree := buildTree(t, d, keys, keys, Options{})
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	level := func(l, i int) Node[W] {
		for _, node := range nodes {
			if node.Level == l {
				if i == 0 {
					return node
				}
				i--
			}
		}
		t.Fatal("no such node")
		return Node[W]{}
	}
	root, inner, next, leaf, other := nodes[0], level(1, 1), level(1, 2), level(0, 10), level(0, 11)
	last := nodes[len(nodes)-1]
	require.Greater(t, root.Level, 1)
	geometry := tree.geometry()
	end := geometry.slots - 1
	require.Greater(t, len(leaf.Keys), 3)
	require.Greater(t, len(inner.Keys), 3)
	require.LessOrEqual(t, max(len(leaf.Keys), len(inner.Keys)), end, "the last slot is free")
	nowhere := tree.slabReference(tree.poolSlabs() - 1)
	// Words of a node, and their new values.
	meta := func(level, latch uint32) []poked {
		return []poked{{word: uint32(geometry.meta), value: level<<1 | latch | 5<<5}}
	}
	link := func(slab uint32) []poked { return []poked{{word: uint32(geometry.link), value: slab}} }
	low := func(key W) []poked { return fieldIn(0, geometry.low, key) }
	high := func(key W) []poked { return fieldIn(0, geometry.high, key) }
	pair := func(slot int, key, value W) []poked { return pairIn(0, slot, key, value) }
	key := func(slot int, key W) []poked { return pair(slot, key, 0)[:numbers.WordsOf[W](1)] }
	value := func(slot int, value W) []poked { return pair(slot, 0, value)[numbers.WordsOf[W](1):] }

	for name, c := range map[string]struct {
		node  Node[W]
		words []poked // in the node
		rules []Rule  // broken rules, some perhaps by other nodes
		first Rule    // the rule that the node itself breaks
	}{
		"latched leaf":           {leaf, meta(0, 1), []Rule{LatchRule}, LatchRule},
		"latched root":           {root, meta(uint32(root.Level), 1), []Rule{LatchRule}, LatchRule},
		"root is a leaf":         {root, meta(0, 0), nil, RootRule},
		"root of few keys":       {root, low(1), nil, RootRule},
		"root with a neighbor":   {root, link(leaf.Ref), nil, RootRule},
		"low above high":         {leaf, low(leaf.High + 1), nil, RangeRule},
		"leaf of another level":  {leaf, meta(1, 0), nil, SeparatorRule},
		"key below its leaf":     {leaf, key(0, leaf.Low-1), []Rule{KeyRule}, KeyRule},
		"key above its leaf":     {leaf, key(3, leaf.High+1), []Rule{KeyRule}, KeyRule},
		"key twice":              {leaf, key(2, leaf.Keys[3]), []Rule{UniqueRule}, UniqueRule},
		"key twice, far apart":   {leaf, key(end, leaf.Keys[0]), []Rule{UniqueRule}, UniqueRule},
		"odd version":            {leaf, value(end, 7), []Rule{FreeSlotRule}, FreeSlotRule},
		"last leaf of more keys": {last, low(5), nil, LastLeafRule},
		"separators out of order": {inner, slices.Concat(key(2, inner.Keys[1]), key(1, inner.Keys[2])), nil,
			SeparatorRule},
		"first separator": {inner, key(0, inner.Low+1), nil, SeparatorRule},
		"separator above its node": {inner, pair(end, inner.High+1, next.Values[0]), nil,
			SeparatorRule},
		"more behind the last": {inner, slices.Concat(pair(3, inner.Keys[2], inner.Values[2]),
			pair(end, inner.High, next.Values[0])), nil, SeparatorRule},
		"no such slab":           {inner, value(2, 0x7fffffff), []Rule{ChildRule, ChainRule, LostRule}, ChildRule},
		"no slab at all":         {inner, value(2, W(noSlab)), []Rule{ChildRule, ChainRule, LostRule}, ChildRule},
		"child that is free":     {inner, value(2, W(nowhere)), []Rule{ChildRule, ChainRule, LostRule}, ChildRule},
		"child of its own level": {inner, value(2, W(next.Ref)), nil, ChildLevelRule},
		"child of another parent": {inner, value(2, next.Values[1]),
			[]Rule{ChildLowRule, ChainRule, ParentRule, LostRule}, ChildLowRule},
		"separator of no child": {inner, key(2, inner.Keys[2]+1), []Rule{ChildLowRule}, ChildLowRule},
		"link to nowhere":       {leaf, link(nowhere), []Rule{NeighborRule, ChainRule}, NeighborRule},
		"chain that ends":       {leaf, link(noSlab), []Rule{NeighborRule, ChainRule}, NeighborRule},
		"link to another level": {leaf, link(inner.Ref), nil, NeighborLevelRule},
		"link too far":          {leaf, link(other.Link), []Rule{NeighborLowRule, ChainRule}, NeighborLowRule},
		"gap":                   {leaf, high(leaf.High - 1), []Rule{NeighborLowRule}, NeighborLowRule},
		"overlap":               {leaf, high(leaf.High + 1), []Rule{NeighborLowRule}, NeighborLowRule},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := rawNode(t, tree, c.node.Ref), []poked(nil)
			for _, word := range c.words {
				word.slab = c.node.Ref
				after = append(after, word)
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
		poke(t, tree, fieldIn[W](leaf.Ref, geometry.low, 0)...)
		require.Contains(t, violationsOf(t, tree), Violation{StartRule, 1, noSlab})
		poke(t, tree, before...)
	})
	t.Run("node that nothing leads to", func(t *testing.T) {
		require.NoError(t, tree.state.Upload(t.Context(), planAt, []uint32{uint32(len(nodes)) + 1}))
		require.NoError(t, tree.Pool.Occupy(tree.Stream, tree.state.AddressOf(planAt)))
		require.NoError(t, tree.Stream.Wait(t.Context()))
		lost := tree.slabReference(len(nodes))
		poke(t, tree, slices.Concat([]poked{{slab: lost, word: uint32(geometry.meta)}},
			fieldIn[W](lost, geometry.low, 5), fieldIn[W](lost, geometry.high, 9))...)
		require.Equal(t, []Violation{{LostRule, 1, noSlab}}, violationsOf(t, tree))
	})
	t.Run("root that is not allocated", func(t *testing.T) {
		require.NoError(t, tree.state.Upload(t.Context(), planAt, []uint32{0}))
		require.NoError(t, tree.Pool.Occupy(tree.Stream, tree.state.AddressOf(planAt)))
		require.Contains(t, violationsOf(t, tree), Violation{RootRule, 1, 0})
	})
}

// rawNode returns all words of a node, to restore it.
func rawNode[W structures.Word](t testing.TB, tree *dictionary[W], slab uint32) []poked {
	t.Helper()
	ref, b := testdevice.Upload(t, tree.Device, []uint32{slab}), testdevice.Room[uint32](t, tree.Device, nodeWords)
	require.NoError(t, tree.copyNodes(b, ref.Address(), 1))
	var words []poked
	for i, word := range testdevice.Download(t, b, nodeWords) {
		words = append(words, poked{slab: slab, word: uint32(i), value: word})
	}
	return words
}

// violationsOf returns the violations in a corrupt tree.
func violationsOf[W structures.Word](t testing.TB, tree *dictionary[W]) []Violation {
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
