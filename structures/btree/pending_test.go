package btree

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// The pool becomes full at some point of a batch. Operations whose statuses say that they are done have taken effect,
// and no others have. The tree is right even if a parent didn't get a separator. With more room the other operations
// are done.
func TestConcurrentPoolFull(t *testing.T) {
	t.Run("32", testConcurrentPoolFull[uint32])
	t.Run("64", testConcurrentPoolFull[uint64])
}

func testConcurrentPoolFull[W structures.Word](t *testing.T) {
	d := openDevice(t)
	rng := random(7)
	const blocks = 2
	tree := newTreeOf[W](t, d, Options{Path: Concurrent, MaxBytes: 8<<10 + blocks*alloc.BlockSlabs*(alloc.SlabBytes+1)})
	m := modelOf[W]{}
	full, compacted := 0, 0
	for range 16 {
		keys := widened[W](uniqueKeys(rng, 2000+rng.IntN(3000)))
		values := widened[W](randomWords(rng, len(keys)))
		statuses, err := tree.Insert(t.Context(), keys, values)
		done := 0
		for i, s := range statuses {
			_, there := m[keys[i]]
			switch s {
			case structures.Pending:
				continue
			case structures.Assigned:
				require.True(t, there, "assigned to key %#x", keys[i])
			default:
				require.False(t, there, "inserted key %#x", keys[i])
			}
			done++
			m[keys[i]] = values[i]
		}
		holds := func() { // parents may lack children, which side links reach
			t.Helper()
			wantKeys, wantValues := m.sorted()
			gotKeys, gotValues := contents(t, tree)
			same(t, wantKeys, gotKeys, "keys")
			same(t, wantValues, gotValues, "values")
			require.NoError(t, tree.Check(t.Context()))
		}
		holds()
		if err == nil {
			require.Equal(t, len(keys), done)
			continue
		}
		full++
		var pending *structures.PendingError
		require.ErrorAs(t, err, &pending)
		require.Equal(t, len(keys)-done, pending.Operations)
		var pool *vk.LimitError
		require.ErrorAs(t, err, &pool)
		// Deletions need no room, and make some.
		some := keys[:len(keys)/2]
		_, err = tree.Delete(t.Context(), some)
		require.NoError(t, err)
		for _, key := range some {
			delete(m, key)
		}
		// How full leaves are depends on the order of insertions on the device, so the remaining pairs may not fit.
		if err = tree.Compact(t.Context(), 1); err != nil {
			require.ErrorAs(t, err, &pool)
			holds()
			continue
		}
		compacted++
		requireTree(t, tree, m)
	}
	require.NotZero(t, full, "the pool was never full")
	require.NotZero(t, compacted)
}

// After an operation finds a full pool, leaves may also lack a parent. The repair of the parents needs room like the
// pending operations: the pool grows once for both.
func TestFinishGrowsOnce(t *testing.T) {
	t.Run("32", func(t *testing.T) { testFinishGrowsOnce[uint32](t, 5900, 4000) })
	t.Run("64", func(t *testing.T) { testFinishGrowsOnce[uint64](t, 4200, 1500) })
}

// testFinishGrowsOnce inserts more pairs than fit into the memory block in addition to those that are there.
func testFinishGrowsOnce[W structures.Word](t *testing.T, pairs, more int) {
	d := openDevice(t)
	there := widened[W](ramp(pairs, 1, 700_000))
	tree := buildTree(t, d, there, there, Options{Capacity: 1, Fill: 1})
	m := modelOf[W]{}.insert(there, there)
	s := testdevice.Stream(t, d)
	keys := widened[W](uniqueKeys(random(11), more))
	values := widened[W](randomWords(random(12), len(keys)))
	b := structures.DeviceBatch{
		Count: len(keys), Keys: upload(t, d, keys), Values: upload(t, d, values),
		Status: testdevice.Room[uint8](t, d, recording.Padded(len(keys))), Left: testdevice.Upload(t, d, []uint32{0}),
	}
	blocks := tree.blocks()
	require.NoError(t, tree.On(s).Apply(structures.Insert, b))
	require.NoError(t, s.Wait(t.Context()))
	require.NotZero(t, testdevice.Download(t, b.Left, 1)[0], "the pool is full")
	orphan(t, tree) // whether this makes an orphan is random
	require.NoError(t, tree.state.Upload(t.Context(), orphansWord, []uint32{1}))
	require.NoError(t, tree.On(s).Finish(t.Context(), structures.Insert, b))
	require.Equal(t, 2*blocks, tree.blocks())
	m.insert(keys, values)
	requireTree(t, tree, m)
}

// A latch that is never released, as after a kernel that was stopped. Operations on other nodes are done. Those that
// need the latch return an error with their number, and are done when it is released.
func TestStuckLatch(t *testing.T) {
	t.Run("32", testStuckLatch[uint32])
	t.Run("64", testStuckLatch[uint64])
}

func testStuckLatch[W structures.Word](t *testing.T) {
	d := openDevice(t)
	tree := newTreeOf[W](t, d, Options{Path: Concurrent})
	keys := widened[W](ramp(3000, 0, 1000))
	_, err := tree.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	m := modelOf[W]{}.insert(keys, keys)
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	var leaf Node[W]
	for _, n := range nodes {
		if n.Level == 0 && n.Low > numbers.Key[W](1000000) && !n.Last && n.High-n.Low > 2*Slots {
			leaf = n
			break
		}
	}
	require.NotZero(t, leaf.Ref)
	at := tree.geometry().meta
	meta := rawNode(t, tree, leaf.Ref)[at].value
	poke(t, tree, poked{slab: leaf.Ref, word: uint32(at), value: meta | 1})
	tree.visits, tree.mostVisits = 64, 1<<12 // so that it gives up soon

	// More than the leaf has room for, and some for another leaf.
	fresh := make([]W, 2*Slots)
	for i := range fresh {
		fresh[i] = leaf.Low + W(i) + 1
	}
	all := append(slices.Clone(fresh), widened[W](ramp(Slots, 5, 1))...)
	statuses, err := tree.Insert(t.Context(), all, all)
	var stuck *structures.StuckError
	require.ErrorAs(t, err, &stuck)
	var pending *structures.PendingError
	require.True(t, errors.As(err, &pending))
	left := 0
	for i, s := range statuses {
		if s == structures.Pending {
			require.Less(t, i, len(fresh), "operations at another leaf are done")
			left++
		} else {
			m[all[i]] = all[i]
		}
	}
	require.NotZero(t, left)
	require.Equal(t, left, pending.Operations)
	require.Equal(t, left, stuck.Operations)
	var corrupt *CorruptError
	require.ErrorAs(t, tree.Check(t.Context()), &corrupt, "a latch in a read-only phase")

	held := rawNode(t, tree, leaf.Ref)[at].value
	poke(t, tree, poked{slab: leaf.Ref, word: uint32(at), value: held &^ 1})
	_, err = tree.Insert(t.Context(), all, all)
	require.NoError(t, err)
	requireTree(t, tree, m.insert(all, all))
	require.NoError(t, tree.Check(t.Context()))
}

// A split of the last node of a level of which readers see the new greatest key but not yet the link, because the two
// words are not stored at once: there is no node yet to go to. Only operations on greater keys wait.
func TestHalfPublishedSplit(t *testing.T) {
	eachWidth(t, testHalfPublishedSplit[uint32], testHalfPublishedSplit[uint64])
}

func testHalfPublishedSplit[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	keys := widened[W](ramp(3000, 0, 1000))
	tree := buildTree(t, d, keys, keys, Options{Path: Concurrent, Tile: tile, Capacity: 60000})
	m := modelOf[W]{}.insert(keys, keys)
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	at := slices.IndexFunc(nodes, func(n Node[W]) bool { return n.Level == 1 && n.Last })
	require.NotEqual(t, -1, at)
	last := nodes[at]
	require.NotZero(t, last.Low, "a level of one node")
	border := last.Low + (keys[len(keys)-1]-last.Low)/2
	poke(t, tree, fieldIn(last.Ref, tree.geometry().high, border)...)
	visits, most := tree.visits, tree.mostVisits

	batch := func(kinds ...structures.Kind) (b structures.Batch[W, W]) {
		for i := range uint32(1500) {
			b.Kinds = append(b.Kinds, kinds[int(i)%len(kinds)])
			b.Keys = append(b.Keys, numbers.Key[W](i*2000))
			b.Highs = append(b.Highs, numbers.Key[W](i*2000+500))
		}
		b.Values, b.Width = slices.Clone(b.Keys), 4
		return b
	}
	changes := []structures.Kind{structures.Insert, structures.InsertUnique, structures.Delete, structures.Find,
		structures.CountAll}
	// If some ordered queries can't be done, nothing of the batch is done.
	tree.visits, tree.mostVisits = 1, 1 // too few for ranges of more than a leaf
	b := batch(append(slices.Clone(orderedKinds), changes...)...)
	for i := range b.Highs {
		b.Highs[i] = ^W(0)
	}
	r, err := tree.Apply(t.Context(), b)
	var stuck *structures.StuckError
	require.ErrorAs(t, err, &stuck)
	require.Equal(t, len(b.Keys), stuck.Operations)
	require.Equal(t, make([]structures.Status, len(b.Keys)), r.Status)

	tree.visits, tree.mostVisits = 64, 1<<8 // so that it gives up soon
	b = batch(append(slices.Repeat([]structures.Kind{structures.Find}, len(orderedKinds)), changes...)...)
	r, err = tree.Apply(t.Context(), b)
	require.ErrorAs(t, err, &stuck)
	left := 0
	for i, s := range r.Status {
		if b.Keys[i] > border {
			require.Equal(t, structures.Pending, s)
			left++
			continue
		}
		if i+1000 < len(b.Keys) { // the last ones may wait for a lane of their tile
			require.NotEqual(t, structures.Pending, s, "%v of %d", b.Kinds[i], b.Keys[i])
		}
		if s == structures.Inserted || s == structures.Assigned {
			m[b.Keys[i]] = b.Keys[i]
		} else if s == structures.Deleted {
			delete(m, b.Keys[i])
		}
	}
	require.NotZero(t, left)

	poke(t, tree, fieldIn(last.Ref, tree.geometry().high, ^W(0))...)
	tree.visits, tree.mostVisits = visits, most
	b.Values = slices.Clone(b.Keys)
	_, err = tree.Apply(t.Context(), b)
	require.NoError(t, err)
	for i, k := range b.Kinds {
		switch k {
		case structures.Insert, structures.InsertUnique:
			m[b.Keys[i]] = b.Keys[i]
		case structures.Delete:
			delete(m, b.Keys[i])
		}
	}
	requireTree(t, tree, m)
}

// A leaf whose cleaning stopped halfway: some free slots have the new version, others are still erased. No operation
// fills a slot, because only after the cleaning do all insertions of a key try the same slot.
func TestHalfCleanedLeaf(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		keys := ramp(3000, 0, 1000)
		tree := buildTree(t, d, keys, keys, Options{Path: Concurrent, Tile: tile, Fill: 0.6})
		m := model{}.insert(keys, keys)
		nodes, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		leaf := nodes[slices.IndexFunc(nodes, func(n Node[uint32]) bool { return n.Level == 0 && n.Low > 1000000 })]
		const version = 7
		free := Slots - len(leaf.Keys)
		require.Greater(t, free, 3)
		halfway, wholly := []poked{{slab: leaf.Ref, word: metaWord, value: (version-1)<<5 | 1}},
			[]poked{{slab: leaf.Ref, word: metaWord, value: version << 5}}
		slot := uint32(0)
		for i, pair := range rawNode(t, tree, leaf.Ref)[:2*Slots] {
			if i%2 == 0 && pair.value == ^uint32(0) {
				value := poked{slab: leaf.Ref, word: uint32(i) + 1, value: version << 1}
				wholly = append(wholly, value)
				if slot++; slot%2 == 0 {
					value.value = 1
				}
				halfway = append(halfway, value)
			}
		}
		poke(t, tree, halfway...)
		visits, most := tree.visits, tree.mostVisits
		tree.visits, tree.mostVisits = 64, 1<<8 // so that it gives up soon
		fresh := ramp(free, leaf.Low+1, 1)
		statuses, err := tree.Insert(t.Context(), fresh, fresh)
		var stuck *structures.StuckError
		require.ErrorAs(t, err, &stuck)
		for i, s := range statuses {
			require.Equal(t, structures.Pending, s, "insertion %d", i)
		}
		poke(t, tree, wholly...)
		tree.visits, tree.mostVisits = visits, most
		_, err = tree.Insert(t.Context(), fresh, fresh)
		require.NoError(t, err)
		requireTree(t, tree, m.insert(fresh, fresh))
	})
}

// A half-written pair in a leaf that is changed under its latch, because no atomic is as wide as a pair. No operation
// sees half of a key, or a key without its value. Only operations that need the leaf wait.
func TestHalfWrittenPair(t *testing.T) {
	t.Run("32", func(t *testing.T) {
		testHalfWrittenPair[uint32](t, openDevice(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}))
	})
	t.Run("64", func(t *testing.T) { testHalfWrittenPair[uint64](t, openDevice(t)) })
}

func testHalfWrittenPair[W structures.Word](t *testing.T, d *vk.Device) {
	keys := widened[W](ramp(3000, 0, 1000))
	tree := buildTree(t, d, keys, keys, Options{Path: Concurrent, Fill: 0.6, Capacity: 6000})
	visits, most := tree.visits, tree.mostVisits
	m := modelOf[W]{}.insert(keys, keys)
	// The words of the pair that are written already.
	for there := range 2 * numbers.WordsOf[W](1) {
		nodes, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		leaf := nodes[slices.IndexFunc(nodes, func(n Node[W]) bool {
			return n.Level == 0 && n.Low > numbers.Key[W](1_000_000+uint32(there)*100_000)
		})]
		meta := uint32(tree.geometry().meta)
		raw := rawNode(t, tree, leaf.Ref)
		slot := slices.IndexFunc(ramp(tree.geometry().slots, 0, 1), func(slot uint32) bool {
			pair := raw[int(slot)*2*numbers.WordsOf[W](1):]
			return pair[0].value == ^uint32(0) && pair[numbers.WordsOf[W](1)-1].value == ^uint32(0)
		})
		require.NotEqual(t, -1, slot)
		fresh := leaf.Low + 1
		pair := pairIn(leaf.Ref, slot, fresh, fresh*3)
		poke(t, tree, append(pair[:there:there], poked{slab: leaf.Ref, word: meta, value: raw[meta].value | 1})...)
		tree.visits, tree.mostVisits = 64, 1<<8 // so that it gives up soon

		kinds := []structures.Kind{structures.Find, structures.Insert, structures.InsertUnique, structures.InsertAdd,
			structures.Delete}
		var b structures.Batch[W, W]
		for i, kind := range kinds {
			for _, key := range []W{fresh, leaf.Keys[len(leaf.Keys)-1], keys[i] + 1} {
				b.Kinds, b.Keys, b.Highs = append(b.Kinds, kind), append(b.Keys, key), append(b.Highs, key)
			}
		}
		b.Values, b.Width = make([]W, len(b.Keys)), 1
		r, err := tree.Apply(t.Context(), b)
		var stuck *structures.StuckError
		require.ErrorAs(t, err, &stuck)
		for i, s := range r.Status {
			require.Equal(t, i%3 != 2, s == structures.Pending, "%v of %#x: %v", b.Kinds[i], b.Keys[i], s)
			if b.Kinds[i].Inserts() && i%3 == 2 {
				m[b.Keys[i]] = 0
			}
		}
		// Ordered queries wait, too, and nothing else does.
		for _, kind := range []structures.Kind{structures.FindCeil, structures.FindFloor, structures.FindRange} {
			q := b
			q.Kinds = slices.Repeat([]structures.Kind{kind}, 2)
			for at, waits := range []bool{true, true, false} {
				q.Keys = slices.Repeat(b.Keys[at:at+1], 2)
				q.Highs, q.Values = q.Keys, b.Values[:2]
				_, left := dispatchMixed(t, d, tree, prefixIndex{}, q)
				require.Equal(t, waits, left != 0, "%v of %#x", kind, q.Keys)
			}
		}
		version := raw[meta].value>>5 + 1
		poke(t, tree, append(pair, poked{slab: leaf.Ref, word: meta, value: version << 5})...)
		tree.visits, tree.mostVisits = visits, most
		r, err = tree.Apply(t.Context(), structures.Batch[W, W]{Kinds: kinds[:1], Keys: []W{fresh}, Values: []W{0}})
		require.NoError(t, err)
		require.Equal(t, []W{fresh * 3}, r.Values)
		m[fresh] = fresh * 3
		requireTree(t, tree, m)
	}
}

// A tree at the limit of its memory does what needs no room, even if latches or the bound of visits delay it, and if
// inner nodes lack separators for which there is no room.
func TestWhatNeedsNoRoomAtTheLimit(t *testing.T) {
	t.Run("32", testWhatNeedsNoRoomAtTheLimit[uint32])
	t.Run("64", testWhatNeedsNoRoomAtTheLimit[uint64])
}

func testWhatNeedsNoRoomAtTheLimit[W structures.Word](t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		rng := random(11)
		tree := newTreeOf[W](t, d, Options{Path: Concurrent, Tile: tile,
			MaxBytes: 8<<10 + 2*alloc.BlockSlabs*(alloc.SlabBytes+1)})
		keys := widened[W](uniqueKeys(rng, 60_000))
		var pool *vk.LimitError
		statuses, err := tree.Insert(t.Context(), keys, keys)
		require.ErrorAs(t, err, &pool)
		var there []W
		for i, s := range statuses {
			if s == structures.Inserted {
				there = append(there, keys[i])
			}
		}
		for _, do := range []func() ([]structures.Status, error){
			func() ([]structures.Status, error) { return tree.Insert(t.Context(), there, there) },
			func() ([]structures.Status, error) { return tree.Delete(t.Context(), there) },
		} {
			stats, err := tree.Pool.Stats(t.Context())
			require.NoError(t, err)
			require.Zero(t, stats.Free)
			tree.visits = 2                    // too few for any search
			tree.failures = stats.Failures - 1 // as if other insertions had just found no room
			statuses, err := do()
			require.NoError(t, err)
			require.NotContains(t, statuses, structures.Absent)
			require.NotContains(t, statuses, structures.Inserted)
		}
		n, err := tree.Len(t.Context())
		require.NoError(t, err)
		require.Zero(t, n)
		require.NoError(t, tree.Check(t.Context()))
	})
}
