package btree

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// random returns a source of numbers that is the same in every run.
func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 4)) }

// dictionary is a tree of words, with the methods of Tree for slices of words.
type dictionary[W structures.Word] struct {
	*tree
	front[W]
}

// front has the methods of a Tree, except for those that the tree itself has.
type front[W structures.Word] struct{ *Tree[W, W] }

func dictionaryOf[W structures.Word](t *tree) *dictionary[W] {
	x, _ := of[W, W](t, nil)
	return &dictionary[W]{t, front[W]{x}}
}

func makeDictionary[W structures.Word](ctx context.Context, d *vk.Device, o Options) (*dictionary[W], error) {
	tree, err := makeTree(ctx, d, saved.Pairs[W, W](), o)
	if err != nil {
		return nil, err
	}
	return dictionaryOf[W](tree), nil
}

func buildDictionary[W structures.Word](ctx context.Context, d *vk.Device, keys, values []W,
	o Options) (*dictionary[W], error) {
	tree, err := Build(ctx, d, keys, values, o)
	if err != nil {
		return nil, err
	}
	return dictionaryOf[W](tree.core), nil
}

// Nodes returns the nodes of the tree, in words of its width.
func (d *dictionary[W]) Nodes(ctx context.Context) ([]Node[W], error) {
	wide, err := d.nodes(ctx)
	all := make([]Node[W], len(wide))
	for i, n := range wide {
		all[i] = Node[W]{n.Ref, n.Level, W(n.Low), W(n.High), n.Link, n.Last, n.Latched, narrow[W](n.Keys),
			narrow[W](n.Values)}
	}
	return all, err
}

func narrow[W structures.Word](words []uint64) (all []W) {
	for _, w := range words {
		all = append(all, W(w))
	}
	return all
}

// DeleteRange removes the keys of ranges.
func (d *dictionary[W]) DeleteRange(ctx context.Context, ranges []structures.Range[W]) ([]uint32, error) {
	return d.deleteRange(ctx, ordered.Words(ranges))
}

// viewOf is a snapshot with queries of words.
type viewOf[W structures.Word] struct {
	*view
	ordered.Queries[W, W]
}

// Snapshot opens a snapshot of the present content.
func (d *dictionary[W]) Snapshot(ctx context.Context) (*viewOf[W], error) {
	v, err := d.tree.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &viewOf[W]{v, ordered.Queries[W, W]{Reader: v.Reader}}, nil
}

// newTree makes an empty tree that is closed when the test ends.
func newTree(t testing.TB, d *vk.Device, o Options) *dictionary[uint32] {
	return newTreeOf[uint32](t, d, o)
}

func newTreeOf[W structures.Word](t testing.TB, d *vk.Device, o Options) *dictionary[W] {
	t.Helper()
	tree, err := makeDictionary[W](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	return tree
}

// buildTree makes a tree of pairs that is closed when the test ends.
func buildTree[W structures.Word](t testing.TB, d *vk.Device, keys, values []W, o Options) *dictionary[W] {
	t.Helper()
	tree, err := buildDictionary(t.Context(), d, keys, values, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	return tree
}

// rebuild replaces the content of an open tree, whose kernels are compiled already.
func rebuild[W structures.Word](t testing.TB, tree *dictionary[W], keys, values []W) {
	t.Helper()
	w := tree.width
	require.NoError(t, tree.build(t.Context(), len(keys), pipeline.Keys(keys, w), pipeline.Values(values, w)))
}

// eachTile runs a test with tiles of one lane and with the widest ones of the device.
func eachTile(t *testing.T, d *vk.Device, test func(t *testing.T, tile int)) {
	for _, tile := range []int{1, min(maxTile, d.SubgroupSize())} {
		t.Run(fmt.Sprintf("tile%d", tile), func(t *testing.T) { test(t, tile) })
	}
}

// uniqueKeys returns n different keys in random order, with 0 and ~0 if n is at least 2.
func uniqueKeys(rng *rand.Rand, n int) []uint32 {
	seen := map[uint32]bool{}
	keys := make([]uint32, 0, n)
	add := func(key uint32) {
		if !seen[key] && len(keys) < n {
			seen[key] = true
			keys = append(keys, key)
		}
	}
	if n >= 2 {
		add(0)
		add(^uint32(0))
	}
	for len(keys) < n {
		add(rng.Uint32())
	}
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// randomWords returns n random words.
func randomWords(rng *rand.Rand, n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = rng.Uint32()
	}
	return w
}

// widened returns the keys or values of a width for numbers.
func widened[W structures.Word](all []uint32) []W { return numbers.Each(all, numbers.Key[W]) }

// ramp returns n words: from, from+step, …
func ramp(n int, from, step uint32) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = from + uint32(i)*step
	}
	return w
}

// model is the expected content of a tree.
type (
	model                      = modelOf[uint32]
	modelOf[W structures.Word] map[W]W
)

func (m modelOf[W]) insert(keys, values []W) modelOf[W] {
	for i, key := range keys {
		m[key] = values[i]
	}
	return m
}

// sorted returns the model's pairs in key order.
func (m modelOf[W]) sorted() (keys, values []W) {
	keys = slices.Sorted(maps.Keys(m))
	values = make([]W, len(keys))
	for i, key := range keys {
		values[i] = m[key]
	}
	return keys, values
}

// same compares long slices, and reports only the first difference.
func same[T comparable](t testing.TB, want, got []T, what string) {
	t.Helper()
	require.Equal(t, len(want), len(got), what)
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// contents returns the tree's pairs, as read from its leaves.
func contents[W structures.Word](t testing.TB, tree *dictionary[W]) (keys, values []W) {
	t.Helper()
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	for _, n := range nodes {
		if n.Level == 0 {
			keys, values = append(keys, n.Keys...), append(values, n.Values...)
		}
	}
	return keys, values
}

// requireTree compares the content of a tree with a model, and checks its nodes.
func requireTree[W structures.Word](t testing.TB, tree *dictionary[W], want modelOf[W]) {
	t.Helper()
	requireNodes(t, tree)
	keys, values := want.sorted()
	gotKeys, gotValues := contents(t, tree)
	same(t, keys, gotKeys, "keys")
	same(t, values, gotValues, "values")
}

// requireNodes checks every node on the host. It tests Check itself.
func requireNodes[W structures.Word](t testing.TB, tree *dictionary[W]) {
	t.Helper()
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, nodes)
	if !tree.known.unsure {
		require.LessOrEqual(t, len(nodes), int(tree.known.most(0)), "nodes, of which no more are known: %+v",
			tree.known)
	}
	by := map[uint32]*Node[W]{}
	for i := range nodes {
		by[nodes[i].Ref] = &nodes[i]
	}
	require.Equal(t, tree.root, nodes[0].Ref, "the root's slab")
	require.Positive(t, nodes[0].Level)
	parents := map[uint32]int{}
	for i, n := range nodes {
		// Without testify, which looks up the caller for each of a million checks.
		must := func(holds bool, what string, of ...any) {
			if !holds {
				t.Fatalf("node %#x of level %d, keys %#x to %#x: "+what,
					append([]any{n.Ref, n.Level, n.Low, n.High}, of...)...)
			}
		}
		must(!n.Latched, "latched")
		must(n.Low <= n.High, "no keys fit in")
		must(i > 0 && nodes[i-1].Level == n.Level || n.Low == 0, "the level begins above 0")
		if last := i+1 == len(nodes) || nodes[i+1].Level != n.Level; last {
			must(n.Last, "doesn't say that it is its level's last")
			must(n.High == ^W(0), "the level ends early")
			must(n.Level != 0 || n.Low == n.High, "the last leaf is for the greatest key alone")
		} else {
			must(n.Link == nodes[i+1].Ref, "linked to %#x, not %#x", n.Link, nodes[i+1].Ref)
			must(n.High+1 == nodes[i+1].Low, "the next one begins at %#x", nodes[i+1].Low)
		}
		must(slices.IsSorted(n.Keys), "not sorted: %#x", n.Keys)
		must(len(n.Keys) == len(slices.Compact(slices.Clone(n.Keys))), "a key twice: %#x", n.Keys)
		if n.Level == 0 {
			must(len(n.Keys) == 0 || n.Low <= n.Keys[0] && n.Keys[len(n.Keys)-1] <= n.High, "others: %#x", n.Keys)
			continue
		}
		must(len(n.Keys) != 0 && n.Keys[0] == n.Low, "its children begin elsewhere: %#x", n.Keys)
		for j, word := range n.Values {
			ref := uint32(word)
			child := by[ref]
			must(child != nil, "child %#x is no node", ref)
			must(child.Level == n.Level-1, "child %#x is of level %d", ref, child.Level)
			must(child.Low == n.Keys[j], "child %#x begins at %#x, not %#x", ref, child.Low, n.Keys[j])
			must(child.High <= n.High, "child %#x ends at %#x", ref, child.High)
			parents[ref]++
		}
	}
	for _, n := range nodes[1:] {
		if parents[n.Ref] != 1 {
			t.Fatalf("%d parents of node %#x of level %d, keys %#x to %#x", parents[n.Ref], n.Ref, n.Level, n.Low,
				n.High)
		}
	}
}

// openDevice opens a device that is closed when the test ends.
func openDevice(t testing.TB, options ...vk.Options) *vk.Device {
	t.Helper()
	return testdevice.Open(t, options...)
}

// testKernel makes a kernel of shaders/test.
func testKernel[P any](t testing.TB, d *vk.Device, name string, o vk.KernelOptions) *vk.Kernel[P] {
	t.Helper()
	m, err := kernels.Load("test/" + name)
	require.NoError(t, err)
	k, err := vk.NewKernel[P](d, m, o)
	require.NoError(t, err)
	t.Cleanup(k.Free)
	return k
}

// poked is a word that a test writes into a node.
type poked struct{ slab, word, value, _ uint32 }

// poke writes words into nodes.
func poke[W structures.Word](t testing.TB, tree *dictionary[W], words ...poked) {
	t.Helper()
	type push struct {
		Tree    Description
		Changes uint64
		Count   uint32
	}
	k := testKernel[push](t, tree.Device, "btree_words", vk.KernelOptions{Workgroup: workgroup,
		Constants: tree.Pool.Constants()})
	b, err := vk.NewBuffer[uint32](tree.Device, 4*len(words))
	require.NoError(t, err)
	defer b.Free()
	require.NoError(t, b.Upload(t.Context(), 0, unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))),
		4*len(words))))
	k.Dispatch(tree.Stream, groups(len(words)), push{tree.description(), b.Address(), uint32(len(words))})
	require.NoError(t, tree.Stream.Wait(t.Context()))
}

// pairIn returns the words of a pair in a slot of a node.
func pairIn[W structures.Word](slab uint32, slot int, key, value W) (words []poked) {
	pair := numbers.Words([]W{key, value})
	for i, word := range pair {
		words = append(words, poked{slab: slab, word: uint32(slot*len(pair) + i), value: word})
	}
	return words
}

// fieldIn returns the words of a key in a node's header.
func fieldIn[W structures.Word](slab uint32, at int, key W) (words []poked) {
	for i, word := range numbers.Words([]W{key}) {
		words = append(words, poked{slab: slab, word: uint32(at + i), value: word})
	}
	return words
}

// emptyValue returns the value of a slot that became empty in a version, and erasedValue that of an erased slot before
// the leaf is cleaned. At 64 bits, where leaves are changed under their latch, all free slots have the same value.
func emptyValue[W structures.Word](version uint32) W {
	if structures.WidthOf[W]() == structures.Bits64 {
		return 0
	}
	return W(version << 1)
}

func erasedValue[W structures.Word]() W {
	if structures.WidthOf[W]() == structures.Bits64 {
		return 0
	}
	return 1
}

// ravage moves the pairs of leaves to any slots, deletes some, and leaves empty and erased slots between them, with any
// version, as concurrent updates may. It updates the model.
func ravage[W structures.Word](t testing.TB, tree *dictionary[W], want modelOf[W]) {
	t.Helper()
	rng := random(uint64(len(want)))
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	var words []poked
	for _, n := range nodes {
		if n.Level != 0 {
			continue
		}
		emptyKey := ^W(0)
		if n.High == emptyKey {
			emptyKey = 0
		}
		version := rng.Uint32() >> 5
		words = append(words, poked{slab: n.Ref, word: uint32(tree.geometry().meta), value: version << 5})
		slots := rng.Perm(tree.geometry().slots)
		for i, slot := range slots {
			key, value := emptyKey, emptyValue[W](version)
			switch {
			case i < len(n.Keys) && rng.IntN(5) != 0:
				key, value = n.Keys[i], n.Values[i]
			case i < len(n.Keys):
				delete(want, n.Keys[i])
				value = erasedValue[W]()
			case rng.IntN(3) == 0:
				value = erasedValue[W]()
			}
			words = append(words, pairIn(n.Ref, slot, key, value)...)
		}
	}
	poke(t, tree, words...)
}
