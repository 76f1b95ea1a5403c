package btree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// sharedPool makes a pool that is closed when the test ends.
func sharedPool(t testing.TB, d *vk.Device, o alloc.PoolOptions) *alloc.SlabPool {
	t.Helper()
	pool, err := alloc.NewSlabPool(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, pool.Close()) })
	return pool
}

// allocated returns the number of slabs of a pool that are in use.
func allocated(t testing.TB, pool *alloc.SlabPool) int {
	t.Helper()
	stats, err := pool.Stats(t.Context())
	require.NoError(t, err)
	return stats.Allocated
}

// Three trees and a hash table share a pool, and slabs go from one to the other. Each has the content of its model. The
// pool first has one block, and grows in any call.
func TestSharedPool(t *testing.T) {
	t.Run("32", testSharedPool[uint32])
	t.Run("64", oneDriver(testSharedPool[uint64]))
}

// oneDriver returns a test of 64-bit keys that runs on one driver, because SwiftShader compiles enough in other tests.
func oneDriver(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		pass.OneDriver(t, "SwiftShader compiles enough of 64 bits in other tests")
		test(t)
	}
}

func testSharedPool[W structures.Word](t *testing.T) {
	d := openDevice(t)
	for _, shift := range []int{0, 2} {
		t.Run(fmt.Sprintf("super blocks of %d", shift), func(t *testing.T) {
			pool := sharedPool(t, d, alloc.PoolOptions{SuperShift: shift})
			rng := random(uint64(shift))
			var trees []*dictionary[W]
			for _, path := range []Path{AutoPath, Concurrent, Batched} {
				trees = append(trees, newTreeOf[W](t, d, Options{Pool: pool, Path: path}))
			}
			table, err := slabhash.New[W, W](t.Context(), d,
				slabhash.Options{Pool: pool, Buckets: 64, MaxLoad: -1})
			require.NoError(t, err)
			defer func() { require.NoError(t, table.Close()) }()
			models := []modelOf[W]{{}, {}, {}, {}}
			holds := func() {
				t.Helper()
				nodes := 0
				for i, tree := range trees {
					require.NoError(t, tree.Check(t.Context()), "tree %d", i)
					requireTree(t, tree, models[i])
					requireExport(t, tree, models[i])
					nodes += int(requireStats(t, tree).Nodes)
				}
				keys, values := models[3].sorted()
				got, found, err := table.Find(t.Context(), keys)
				require.NoError(t, err)
				require.NotContains(t, found, false)
				same(t, values, got, "the hash table's values")
				stats, err := table.Inspect().Stats(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, len(keys), stats.Pairs)
				require.EqualValues(t, allocated(t, pool), nodes+int(stats.Slabs)-64, "slabs that nothing leads to")
			}
			for range 10 {
				i := rng.IntN(4)
				n := 1 + rng.IntN(2000)
				keys, values := someKeys(rng, models[i], n), widened[W](randomWords(rng, n))
				switch do := rng.IntN(4); {
				case i == 3 && do == 0:
					_, err = table.Delete(t.Context(), keys)
					require.NoError(t, err)
					require.NoError(t, table.Rehash(t.Context(), 64))
					models[i].remove(keys)
				case i == 3:
					_, err = table.Insert(t.Context(), keys, values)
					models[i].insert(keys, values)
				case do == 0:
					_, err = trees[i].Delete(t.Context(), keys)
					models[i].remove(keys)
				case do == 1 && rng.IntN(2) == 0:
					err = trees[i].Compact(t.Context(), 0.9)
				case do == 1:
					require.NoError(t, trees[i].Clear(t.Context()))
					models[i] = modelOf[W]{}
					fallthrough
				default:
					_, err = trees[i].Insert(t.Context(), keys, values)
					models[i].insert(keys, values)
				}
				require.NoError(t, err)
				holds()
			}
			require.NoError(t, trees[1].Close())
			trees, models = []*dictionary[W]{trees[0], trees[2]}, []modelOf[W]{models[0], models[2], {}, models[3]}
			holds()
			for _, tree := range trees {
				require.NoError(t, tree.Close())
			}
			require.NoError(t, table.Close())
			require.Zero(t, allocated(t, pool))
			requireClean(t, pool, d)
		})
	}
}

// someKeys returns n keys, some of them in a model.
func someKeys[W structures.Word](rng *rand.Rand, m modelOf[W], n int) []W {
	known, _ := m.sorted()
	keys := make([]W, n)
	for i := range keys {
		keys[i] = numbers.Key[W](rng.Uint32())
		if len(known) != 0 && rng.IntN(2) == 0 {
			keys[i] = known[rng.IntN(len(known))]
		}
	}
	return keys
}

func (m modelOf[W]) remove(keys []W) {
	for _, key := range keys {
		delete(m, key)
	}
}

// requireClean checks that all words of a pool's first free slabs are ones, as hash tables expect: a table that takes
// all slabs must find no key in any.
func requireClean(t testing.TB, pool *alloc.SlabPool, d *vk.Device) {
	t.Helper()
	table, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Pool: pool, Buckets: 4, MaxLoad: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Close()) }()
	stats, err := pool.Stats(t.Context())
	require.NoError(t, err)
	keys := ramp(12*min(stats.Slabs, 500), 1, 1)
	_, err = table.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	got, err := table.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(keys), got.Pairs)
}

// Shared pools on streams: updates and builds are recorded, dropped, and run concurrently with those of a hash table,
// for all widths.
func TestSharedPoolOnStreams(t *testing.T) {
	t.Run("32", testSharedPoolOnStreams[uint32, uint64])
	t.Run("64", oneDriver(testSharedPoolOnStreams[uint64, uint64]))
	t.Run("64 and 32", oneDriver(testSharedPoolOnStreams[uint64, uint32]))
}

func testSharedPoolOnStreams[W, T structures.Word](t *testing.T) {
	d := openDevice(t)
	pool := sharedPool(t, d, alloc.PoolOptions{})
	tree := newTreeOf[W](t, d, Options{Pool: pool})
	table, err := slabhash.New[T, T](t.Context(), d,
		slabhash.Options{Pool: pool, Buckets: 64, MaxLoad: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Close()) }()
	s, other := testdevice.Stream(t, d), testdevice.Stream(t, d)
	want, inTable := modelOf[W]{}, modelOf[T]{}
	rng := random(8)
	before := allocated(t, pool)
	for round := range 6 {
		const n = 3000
		words, others := uniqueKeys(rng, n), randomWords(rng, n)
		keys, values := widened[W](words), widened[W](others)
		b := structures.DeviceBatch{Count: n, Keys: upload(t, d, keys), Values: upload(t, d, values)}
		record := func() {
			if round%3 == 2 {
				require.NoError(t, tree.On(s).Build(t.Context(), b))
			} else {
				require.NoError(t, tree.On(s).Update(t.Context(), structures.Insert, b))
			}
		}
		record()
		s.Discard()
		record()
		hashed := structures.DeviceBatch{Count: n, Keys: upload(t, d, widened[T](words)),
			Values: upload(t, d, widened[T](others)), Left: testdevice.Upload(t, d, []uint32{0}),
			Status: testdevice.Room[uint8](t, d, n)}
		require.NoError(t, table.On(other).Apply(structures.Insert, hashed))
		_, err := other.Submit()
		require.NoError(t, err)
		require.NoError(t, s.Wait(t.Context()))
		require.NoError(t, table.On(other).Finish(t.Context(), structures.Insert, hashed))
		if round%3 == 2 {
			want = modelOf[W]{}
		}
		want.insert(keys, values)
		require.NoError(t, tree.Check(t.Context()))
		requireTree(t, tree, want)
		asked, expected := inTable.insert(widened[T](words), widened[T](others)).sorted()
		got, found, err := table.Find(t.Context(), asked)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		same(t, expected, got, "the hash table's values")
	}
	require.NoError(t, tree.Clear(t.Context()))
	require.NoError(t, table.Clear(t.Context()))
	require.Equal(t, before, allocated(t, pool))
	require.NoError(t, tree.On(s).Update(t.Context(), structures.Delete,
		structures.DeviceBatch{Count: 1, Keys: upload(t, d, []W{1})}))
	require.ErrorIs(t, tree.Close(), vk.ErrUnsubmitted)
	s.Discard()
	require.NoError(t, tree.Close())
	require.NoError(t, tree.Close())
}

// A build frees the nodes that there are when it is recorded, so it first waits for the work of other streams.
func TestSharedPoolBuildBehindOthers(t *testing.T) {
	t.Run("32", testSharedPoolBuildBehindOthers[uint32])
	t.Run("64", oneDriver(testSharedPoolBuildBehindOthers[uint64]))
}

func testSharedPoolBuildBehindOthers[W structures.Word](t *testing.T) {
	d := openDevice(t)
	pool := sharedPool(t, d, alloc.PoolOptions{})
	tree := newTreeOf[W](t, d, Options{Pool: pool})
	s, other := testdevice.Stream(t, d), testdevice.Stream(t, d)
	keys := widened[W](uniqueKeys(random(4), 4000))
	b := structures.DeviceBatch{Count: len(keys), Keys: upload(t, d, keys), Values: upload(t, d, keys)}
	require.NoError(t, tree.On(other).Apply(structures.Insert, b))
	few := b
	few.Count = 10
	require.ErrorIs(t, tree.On(s).Build(t.Context(), few), vk.ErrUnsubmitted)
	_, err := other.Submit()
	require.NoError(t, err)
	require.NoError(t, tree.On(s).Build(t.Context(), few))
	require.NoError(t, s.Wait(t.Context()))
	requireTree(t, tree, modelOf[W]{}.insert(keys[:10], keys))
	require.EqualValues(t, requireStats(t, tree).Nodes, allocated(t, pool))
}

// Slabs of no structure look like nodes, while tables and trees are made and closed next to them. Each structure keeps
// its content, only nodes of the tree are listed, and in the end only these slabs are left, unchanged.
func TestSharedPoolOfGarbage(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	pass.NotWidest(t, "TestSharedPool has super blocks at 16 lanes")
	d := openDevice(t)
	pool := sharedPool(t, d, alloc.PoolOptions{SuperShift: 2})
	keeper := newTree(t, d, Options{Pool: pool})
	rng := random(12)
	const n = 700
	c, err := keeper.claim(t.Context(), n)
	require.NoError(t, err)
	defer c.memory.Free()
	slabs := testdevice.Download(t, c.memory, n+1)[1:]
	written := make([][]poked, n)
	for i, slab := range slabs {
		for word := range uint32(nodeWords) {
			value := slabs[rng.IntN(n)] // children, links, keys
			if word == metaWord {
				value = uint32(rng.IntN(6)) << 1
			}
			written[i] = append(written[i], poked{slab: slab, word: word, value: value})
		}
		poke(t, keeper, written[i]...)
	}
	require.NoError(t, keeper.Check(t.Context()))
	all, models := make([]*dictionary[uint32], 4), make([]model, 4)
	tables := make([]*slabhash.Map[uint32, uint32], 2)
	for round := range 12 {
		i := rng.IntN(len(all))
		if all[i] != nil {
			require.NoError(t, all[i].Close())
		}
		all[i], models[i] = newTree(t, d, Options{Pool: pool, Path: Path(rng.IntN(3))}), model{}
		keys, values := uniqueKeys(rng, 1+rng.IntN(4000)), randomWords(rng, 4000)
		_, err := all[i].Insert(t.Context(), keys, values[:len(keys)])
		require.NoError(t, err)
		models[i].insert(keys, values)
		j := round % len(tables)
		if tables[j] != nil {
			require.NoError(t, tables[j].Close())
		}
		tables[j], err = slabhash.New[uint32, uint32](t.Context(), d,
			slabhash.Options{Pool: pool, Buckets: 32, MaxLoad: -1})
		require.NoError(t, err)
		_, err = tables[j].Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		for _, table := range tables {
			if table != nil {
				_, err := table.Delete(t.Context(), keys[:len(keys)/2])
				require.NoError(t, err)
				require.NoError(t, table.Flush(t.Context()))
			}
		}
		i = rng.IntN(len(all))
		if all[i] == nil {
			continue
		}
		require.NoError(t, all[i].Check(t.Context()))
		requireTree(t, all[i], models[i])
		requireExport(t, all[i], models[i])
		some, _ := models[i].sorted()
		ranks, err := all[i].Rank(t.Context(), some)
		require.NoError(t, err)
		same(t, ramp(len(some), 0, 1), ranks, "ranks")
	}
	for _, tree := range all {
		require.NoError(t, tree.Close())
	}
	for _, table := range tables {
		require.NoError(t, table.Close())
	}
	require.Equal(t, n+int(requireStats(t, keeper).Nodes), allocated(t, pool))
	for i, slab := range slabs {
		for word, want := range written[i] {
			require.Equal(t, want.value, rawNode(t, keeper, slab)[word].value, "word %d of slab %#x", word, slab)
		}
	}
}

// The pool may not grow, or the device has no more memory, at each point in turn. The call returns a typed error, only
// operations that it reports as done are done, and no pair or slab is lost.
func TestSharedPoolWithoutRoom(t *testing.T) {
	pass.OneWidth(t, "want of room is the host's to handle")
	t.Run("32", func(t *testing.T) { testSharedPoolWithoutRoom[uint32](t, 96<<10) })
	t.Run("64", func(t *testing.T) { testSharedPoolWithoutRoom[uint64](t, 960<<10) })
}

func testSharedPoolWithoutRoom[W structures.Word](t *testing.T, step int) {
	const limit = 64 << 20
	d := openDevice(t, vk.Options{MemoryLimit: limit})
	done := false
	for blocks := 1; !done; blocks++ {
		t.Run(fmt.Sprintf("%d blocks", blocks), func(t *testing.T) {
			most := 8<<10 + uint64(blocks)*alloc.BlockSlabs*(alloc.SlabBytes+1)
			pool := sharedPool(t, d, alloc.PoolOptions{MaxBytes: most})
			r := shortRig[W]{t: t, d: d, pool: pool, ended: func() {}, again: func() {}}
			r.run()
			done = !r.short
			require.True(t, !done || blocks > 2)
		})
	}
	if stress.Level == 0 {
		step *= 3
	} else {
		step /= 12
	}
	done = false
	for left := step; !done; left += step {
		require.Less(t, left, 32<<20)
		t.Run(fmt.Sprintf("%d KiB", left>>10), func(t *testing.T) {
			pool := sharedPool(t, d, alloc.PoolOptions{})
			var rest *vk.Buffer[byte]
			take := func() {
				used, _ := d.Memory()
				if used+uint64(left) < limit {
					rest = testdevice.Room[byte](t, d, int(limit-used)-left)
				}
			}
			free := func() { rest.Free() }
			take()
			r := shortRig[W]{t: t, d: d, pool: pool, ended: free, again: take}
			r.run()
			done = !r.short
		})
	}
}

// shortRig runs calls on a tree that may have no room. A test calls ended before and again after it looks at the tree.
type shortRig[W structures.Word] struct {
	t            *testing.T
	d            *vk.Device
	pool         *alloc.SlabPool
	ended, again func()
	short        bool // some call had no room
}

// lacks reports whether a call had no room. Any other error fails the test.
func (r *shortRig[W]) lacks(err error) bool {
	r.t.Helper()
	if err == nil {
		return false
	}
	require.True(r.t, pipeline.Short(err), "%v", err)
	r.short = true
	return true
}

func (r *shortRig[W]) run() {
	ctx, rng := r.t.Context(), random(21)
	for _, path := range []Path{Concurrent, Batched} {
		tree, err := makeDictionary[W](ctx, r.d, Options{Pool: r.pool, Path: path})
		if r.lacks(err) {
			require.Zero(r.t, allocated(r.t, r.pool))
			continue
		}
		want := modelOf[W]{}
		holds := func() {
			r.t.Helper()
			r.ended()
			defer r.again()
			require.NoError(r.t, tree.Check(ctx))
			keys, values := want.sorted()
			gotKeys, gotValues := contents(r.t, tree) // parents may lack children, which side links reach
			same(r.t, keys, gotKeys, "keys")
			same(r.t, values, gotValues, "values")
			require.EqualValues(r.t, requireStats(r.t, tree).Nodes, allocated(r.t, r.pool),
				"slabs that nothing leads to")
		}
		for _, n := range []int{50, 4000, 9000} {
			keys, values := widened[W](uniqueKeys(rng, n)), widened[W](randomWords(rng, n))
			statuses, err := tree.Insert(ctx, keys, values)
			r.lacks(err)
			for i, s := range statuses {
				if s != structures.Pending {
					want[keys[i]] = values[i]
				} else {
					require.Error(r.t, err)
				}
			}
			holds()
			statuses, err = tree.Delete(ctx, keys[:n/3])
			r.lacks(err)
			for i, s := range statuses {
				if s != structures.Pending {
					delete(want, keys[i])
				}
			}
			holds()
			if !r.lacks(tree.Compact(ctx, 0.9)) {
				holds()
			}
		}
		r.onStream(tree, want, holds)
		err = tree.Close()
		if r.lacks(err) {
			holds()
			r.ended()
			require.NoError(r.t, tree.Close())
			r.again()
		}
		r.ended()
		require.Zero(r.t, allocated(r.t, r.pool))
		r.again()
	}
}

// onStream updates and builds from device buffers. Each call takes effect as a whole or not at all.
func (r *shortRig[W]) onStream(tree *dictionary[W], want modelOf[W], holds func()) {
	const n = 6000
	r.ended()
	s, rng := testdevice.Stream(r.t, r.d), random(22)
	keys, values := widened[W](uniqueKeys(rng, n)), widened[W](randomWords(rng, n))
	b := structures.DeviceBatch{Count: n, Keys: upload(r.t, r.d, keys), Values: upload(r.t, r.d, values)}
	r.again()
	err := tree.On(s).Update(r.t.Context(), structures.Insert, b)
	if !r.lacks(err) {
		require.NoError(r.t, s.Wait(r.t.Context()))
		want.insert(keys, values)
	}
	s.Discard()
	holds()
	err = tree.On(s).Build(r.t.Context(), b)
	if !r.lacks(err) {
		require.NoError(r.t, s.Wait(r.t.Context()))
		clear(want)
		want.insert(keys, values)
	}
	s.Discard()
	holds()
}
