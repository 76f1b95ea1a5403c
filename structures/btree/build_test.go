package btree

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func TestNewIsEmpty(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	requireTree(t, tree, model{})
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	require.Len(t, nodes, 3)
}

// Trees of all sizes, built from Go slices and from device buffers, one after the other in the same memory.
func TestBuild(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		for _, fill := range []float64{0, 0.01, 1} {
			tree := newTree(t, d, Options{Fill: fill, Tile: tile})
			for _, n := range []int{0, 1, 2, 7, 8, 14, 15, 50, 99, 100, 1000, 5000, 3} {
				rng := random(uint64(n))
				keys, values := uniqueKeys(rng, n), randomWords(rng, n)
				if n%2 == 0 {
					rebuild(t, tree, keys, values)
				} else {
					u := structures.DeviceBatch{Count: n, First: 3,
						Keys:   testdevice.Upload(t, d, append(ramp(3, 5, 1), keys...)),
						Values: testdevice.Upload(t, d, append(ramp(3, 5, 1), values...))}
					require.NoError(t, tree.On(tree.Stream).Build(t.Context(), u))
					require.NoError(t, tree.Stream.Wait(t.Context()))
				}
				requireTree(t, tree, model{}.insert(keys, values))
				require.NoError(t, tree.Check(t.Context()))
				nodes, err := tree.Nodes(t.Context())
				require.NoError(t, err)
				leaf, _ := tree.geometry().shares(tree.o.Fill)
				for _, node := range nodes {
					if node.Level == 0 {
						require.LessOrEqual(t, len(node.Keys), leaf)
					}
				}
				require.LessOrEqual(t, uint64(len(nodes)), tree.known.most(0), "the bound for %d pairs, fill %g", n,
					fill)
			}
		}
	})
}

// A pool of several super blocks, whose references have gaps.
func TestBuildInSuperBlocks(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	require.NoError(t, tree.Pool.Close())
	var err error
	tree.Pool, err = slabs.New(t.Context(), d, slabs.Options{SuperShift: 2})
	require.NoError(t, err)
	rng := random(5)
	keys, values := uniqueKeys(rng, 100_000), randomWords(rng, 100_000)
	rebuild(t, tree, keys, values)
	require.False(t, tree.Pool.Light())
	want := model{}.insert(keys, values)
	requireTree(t, tree, want)
	ravage(t, tree, want)
	require.NoError(t, tree.repair(t.Context()))
	requireTree(t, tree, want)
	require.NoError(t, tree.Compact(t.Context(), 0.8))
	requireTree(t, tree, want)
	require.NoError(t, tree.Check(t.Context()))
	requireStats(t, tree)
}

// BuildOn grows the pool. If that is not possible, the tree stays unchanged.
func TestBuildOnGrows(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{MaxBytes: 2 << 20})
	on := func(keys []uint32) error {
		b := testdevice.Upload(t, d, keys)
		err := tree.On(tree.Stream).Build(t.Context(), structures.DeviceBatch{Count: len(keys), Keys: b, Values: b})
		require.NoError(t, tree.Stream.Wait(t.Context()))
		return err
	}
	few, many, tooMany := ramp(100, 1, 9), uniqueKeys(random(6), 20000), ramp(200_000, 0, 1)
	require.NoError(t, on(few))
	before := tree.Pool.Bytes()
	require.NoError(t, on(many))
	require.Greater(t, tree.Pool.Bytes(), before)
	requireTree(t, tree, model{}.insert(many, many))
	var full *vk.LimitError
	require.ErrorAs(t, on(tooMany), &full)
	requireTree(t, tree, model{}.insert(many, many))
	require.NoError(t, on(few))
	requireTree(t, tree, model{}.insert(few, few))
	require.NoError(t, tree.Check(t.Context()))
}

// A dropped build of few pairs leaves a tree with many more nodes than the host has noted. All are found.
func TestDroppedBuildOfFewPairs(t *testing.T) {
	t.Run("32", func(t *testing.T) { testDroppedBuildOfFewPairs[uint32](t, 100_000) })
	t.Run("64", func(t *testing.T) { testDroppedBuildOfFewPairs[uint64](t, 20_000) })
}

func testDroppedBuildOfFewPairs[W structures.Word](t *testing.T, n int) {
	d := openDevice(t)
	keys := widened[W](ramp(n, 0, 20_000))
	tree := buildTree(t, d, keys, keys, Options{})
	s := testdevice.Stream(t, d)
	few := structures.DeviceBatch{Count: 3, Keys: upload(t, d, keys[:3]), Values: upload(t, d, keys[:3])}
	require.NoError(t, tree.On(s).Build(t.Context(), few))
	s.Discard()
	pairs, err := tree.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, n, pairs)
	require.NoError(t, tree.Check(t.Context()))
}

// If keys are equal, the last one counts.
func TestBuildOfEqualKeys(t *testing.T) {
	d := openDevice(t)
	rng := random(1)
	tree := newTree(t, d, Options{})
	for _, below := range []uint32{1, 2, 100, 3000} {
		keys, values := make([]uint32, 4000), randomWords(rng, 4000)
		for i := range keys {
			keys[i] = rng.Uint32N(below)
			if keys[i] == below-1 {
				keys[i] = ^uint32(0)
			}
		}
		rebuild(t, tree, keys, values)
		requireTree(t, tree, model{}.insert(keys, values))
	}
}

// Pairs that are sorted are not sorted again, unless keys are equal.
func TestBuildOfOrderedKeys(t *testing.T) {
	d := openDevice(t)
	const n = 3000
	tree := newTree(t, d, Options{Capacity: n})
	values := ramp(n, 7, 3)
	twice := ramp(n, 0, 5)
	twice[n-1] = twice[n-2]
	swapped := ramp(n, 0, 5)
	swapped[n-2], swapped[n-1] = swapped[n-1], swapped[n-2]
	for name, keys := range map[string][]uint32{
		"ascending": ramp(n, 10, 3), "to the last key": ramp(n, ^uint32(0)-n+1, 1),
		"from the first key": ramp(n, 0, 1<<20), "descending": ramp(n, 5*n, ^uint32(4)),
		"equal": ramp(n, 9, 0), "the last one twice": twice, "the last two swapped": swapped,
	} {
		u := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, keys),
			Values: testdevice.Upload(t, d, values)}
		require.NoError(t, tree.On(tree.Stream).Build(t.Context(), u))
		require.NoError(t, tree.Stream.Wait(t.Context()))
		require.NoError(t, tree.Check(t.Context()), name)
		requireTree(t, tree, model{}.insert(keys, values))
		same(t, keys, testdevice.Download(t, u.Keys, n), "the keys given, "+name)
		same(t, values, testdevice.Download(t, u.Values, n), "the values given, "+name)
	}
}

func TestBuildRefuses(t *testing.T) {
	d := openDevice(t)
	_, err := Build(t.Context(), d, []uint32{1, 2}, []uint32{1}, Options{})
	var length *structures.LengthError
	require.ErrorAs(t, err, &length)
	var option *vk.OptionError
	_, err = Build[uint32, uint32](t.Context(), d, nil, nil, Options{Fill: 1.5})
	require.ErrorAs(t, err, &option)
	tree := newTree(t, d, Options{})
	b := testdevice.Upload(t, d, ramp(10, 0, 1))
	for _, u := range []structures.DeviceBatch{
		{Count: 11, Keys: b, Values: b}, {Count: 5, First: 6, Keys: b, Values: b},
		{Count: 1, First: -1, Keys: b, Values: b}, {Count: 1, Keys: b}, {Count: 1, Values: b},
	} {
		require.ErrorAs(t, tree.On(tree.Stream).Build(t.Context(), u), &length)
	}
	var count *structures.CountError
	require.ErrorAs(t, tree.On(tree.Stream).Build(t.Context(), structures.DeviceBatch{Count: -1, Keys: b, Values: b}),
		&count)
	require.NoError(t, tree.Stream.Wait(t.Context()))
	requireTree(t, tree, model{})
	closed, err := makeDictionary[uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, closed.On(nil).Build(t.Context(), structures.DeviceBatch{}), vk.ErrClosed)
	require.ErrorIs(t, closed.Compact(t.Context(), 0), vk.ErrClosed)
	require.ErrorIs(t, closed.Check(t.Context()), vk.ErrClosed)
	require.ErrorIs(t, closed.Clear(t.Context()), vk.ErrClosed)
	for _, call := range []func() error{
		func() error { _, err := closed.Len(t.Context()); return err },
		func() error { _, err := closed.Stats(t.Context()); return err },
		func() error { _, err := closed.Nodes(t.Context()); return err },
		func() error { _, _, err := numbers.All(t.Context(), closed); return err },
	} {
		require.ErrorIs(t, call(), vk.ErrClosed)
	}
}

// A cleared tree is like a new one.
func TestClear(t *testing.T) {
	d := openDevice(t)
	tree := buildTree(t, d, ramp(3000, 0, 7), ramp(3000, 1, 1), Options{})
	require.NoError(t, tree.Clear(t.Context()))
	requireTree(t, tree, model{})
}

// Batches on a new tree, and on a tree after any number of BuildOn, once its pool has grown for them, are recorded
// without submitting or waiting. If a BuildOn was dropped, or may still be dropped, the room for a batch is not
// guessed.
func TestUpdatesOfABuiltTreeDontWait(t *testing.T) {
	d := openDevice(t)
	s := testdevice.Stream(t, d)
	keys, more := ramp(40_000, 0, 2), ramp(20_000, 1, 4)
	bKeys, bMore, bWord := testdevice.Upload(t, d, keys), testdevice.Upload(t, d, more),
		testdevice.Upload(t, d, []uint32{0})
	tree := newTree(t, d, Options{Fill: 0.7})
	build := func(n int) {
		require.NoError(t, tree.On(s).Build(t.Context(), structures.DeviceBatch{Count: n, Keys: bKeys, Values: bKeys}))
	}
	// update reports whether the call submitted the batch.
	update := func(n int) (submitted bool) {
		s.Fill(bWord, 0, 1, 0) // what is recorded before the call
		s.OnSubmit(func(vk.Point, bool) { submitted = true })
		require.NoError(t, tree.On(s).Update(t.Context(), structures.Insert,
			structures.DeviceBatch{Count: n, Keys: bMore, Values: bMore}))
		now := submitted
		require.NoError(t, s.Wait(t.Context()))
		return now
	}
	require.False(t, update(10), "the pool of a fresh tree suffices")
	for i := range 6 {
		build(len(keys))
		require.NoError(t, s.Wait(t.Context()))
		require.Equal(t, i == 0, update(len(more)))
		build(len(keys)) // the batch below changes the tree in the same submission
		require.False(t, update(len(more)))
	}
	want := model{}.insert(keys, keys).insert(more, more)
	requireTree(t, tree, want)

	build(10)
	s.Discard()
	before, err := tree.Pool.Stats(t.Context())
	require.NoError(t, err)
	require.True(t, update(100), "nobody knows how many nodes there are")
	requireTree(t, tree, want)
	require.GreaterOrEqual(t, tree.known.most(0), uint64(before.Allocated))

	build(10)
	other := testdevice.Stream(t, d)
	u := structures.DeviceBatch{Count: 100, Keys: bMore, Values: bMore}
	require.ErrorIs(t, tree.On(other).Update(t.Context(), structures.Insert, u), vk.ErrUnsubmitted)
	s.Discard()
	require.NoError(t, tree.On(other).Update(t.Context(), structures.Insert, u))
	require.NoError(t, other.Wait(t.Context()))
	requireTree(t, tree, want)
	require.NoError(t, tree.Check(t.Context()))
}
