package sequential_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// unique is a dictionary with insertions of unique keys.
type unique interface {
	InsertUnique(ctx context.Context, keys, values []uint32) ([]structures.Status, error)
}

// subject is a dictionary with particular options.
type subject struct {
	name      string
	protocols bool // it has two protocols, with 64-bit atomics and without
	open      func(ctx context.Context, d *vk.Device) (u32.Dictionary, error)
}

func hash(o slabhash.Options) func(context.Context, *vk.Device) (u32.Dictionary, error) {
	return func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
		return slabhash.New[uint32, uint32](ctx, d, o)
	}
}

func tree(o btree.Options) func(context.Context, *vk.Device) (u32.Dictionary, error) {
	return func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
		return btree.New[uint32, uint32](ctx, d, o)
	}
}

var subjects = []subject{
	{"slabhash", true, hash(slabhash.Options{})},
	{"slabhash, one lane a slab", true, hash(slabhash.Options{Tile: 1})},
	{"slabhash, pool that grows", true, hash(slabhash.Options{Buckets: 300, MaxLoad: -1})},
	{"slabhash that grows", true, hash(slabhash.Options{Buckets: 4, MaxLoad: 2})},
	{"btree, any path", true, tree(btree.Options{})},
	{"btree, concurrent", true, tree(btree.Options{Path: btree.Concurrent})},
	{"btree, batched", false, tree(btree.Options{Path: btree.Batched})},
	{"lsm", false, func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
		return lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: 256})
	}},
	{"sortedarray", false, func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
		return sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
	}},
}

// eachProtocol runs a test with 64-bit atomics, if the device has them, and without, unless other runs do so. first
// says whether the protocol is the test's first one.
func eachProtocol(t *testing.T, test func(t *testing.T, d *vk.Device, first bool)) {
	d := testdevice.Open(t)
	atomics := d.Has(vk.Int64Atomics)
	if atomics {
		t.Run("with 64-bit atomics", func(t *testing.T) { test(t, d, true) })
	}
	if testdevice.OneProtocol(d) {
		return
	}
	if atomics {
		d = testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}})
	}
	t.Run("without 64-bit atomics", func(t *testing.T) { test(t, d, !atomics) })
}

// inChunksOf sets the size of chunks during a test.
func inChunksOf(t *testing.T, n int) {
	pipeline.InChunksOf(n)
	t.Cleanup(func() { pipeline.InChunksOf(0) })
	sequential.LookAt(t, 1<<10)
}

// Of equal keys the last one wins, or the first one for InsertUnique, in any dictionary and for any size of chunks,
// over existing keys and over none. The statuses are those of operations one after the other.
func TestEqualKeys(t *testing.T) {
	pass.NarrowUnlessLong(t, "equal keys that the host does not look at meet in other tests")
	pass.OneDriver(t, "the host looks at equal keys")
	chunks := map[int][]int{300: {3, 1099}} // one chunk, which the host checks, and several, which it does not
	if stress.Level > 0 {
		chunks = map[int][]int{0: {2, 3, 700, 9000}, 64: {65, 4111}, 300: {3, 1499, 2099}}
	}
	for chunk, sizes := range chunks {
		t.Run(fmt.Sprintf("chunks of %d", chunk), func(t *testing.T) {
			inChunksOf(t, chunk)
			eachProtocol(t, func(t *testing.T, d *vk.Device, first bool) {
				for _, s := range subjects {
					if !first && !s.protocols {
						continue
					}
					t.Run(s.name, func(t *testing.T) { equalKeys(t, d, s, sizes) })
				}
			})
		})
	}
}

func equalKeys(t *testing.T, d *vk.Device, s subject, sizes []int) {
	dictionary, err := s.open(t.Context(), d)
	require.NoError(t, err)
	defer dictionary.Close()
	rng := rand.New(rand.NewPCG(5, 7))
	nth := 0
	for _, n := range sizes {
		for name, keys := range ordercheck.Batches(rng, n) {
			nth++
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				require.NoError(t, dictionary.Clear(t.Context()))
				all := map[uint32]uint32{}
				for batch := range uint32(2) {
					values := ordercheck.Values(n, batch)
					statuses, err := dictionary.Insert(t.Context(), keys, values)
					require.NoError(t, err)
					ordercheck.Do(t, all, structures.Insert, keys, values, statuses)
					ordercheck.Holds(t.Context(), t, dictionary, all, keys)
				}
				updatesInPlace(t, dictionary, all, keys, nth)
				u, has := dictionary.(unique)
				if !has {
					return
				}
				// A third of the keys exist.
				require.NoError(t, dictionary.Clear(t.Context()))
				all = map[uint32]uint32{}
				some := keys[:n/3]
				values := ordercheck.Values(n, 9)
				statuses, err := dictionary.Insert(t.Context(), some, values[:n/3])
				require.NoError(t, err)
				ordercheck.Do(t, all, structures.Insert, some, values, statuses)
				values = ordercheck.Values(n, 10)
				statuses, err = u.InsertUnique(t.Context(), keys, values)
				require.NoError(t, err)
				ordercheck.Do(t, all, structures.InsertUnique, keys, values, statuses)
				ordercheck.Holds(t.Context(), t, dictionary, all, keys)
			})
		}
	}
}

// updatesInPlace does a batch of updates in place over existing keys, and one over none.
func updatesInPlace(t *testing.T, d u32.Dictionary, all map[uint32]uint32, keys []uint32, nth int) {
	kinds := []structures.Kind{structures.InsertAdd, structures.InsertMin, structures.InsertMax}
	for i := range 2 {
		kind, values := kinds[(nth+i)%3], ordercheck.Scattered(len(keys), uint32(20+i))
		statuses, err := inserting(d, kind)(t.Context(), keys, values)
		require.NoError(t, err)
		ordercheck.Do(t, all, kind, keys, values, statuses)
		ordercheck.Holds(t.Context(), t, d, all, keys)
		if i == 0 {
			require.NoError(t, d.Clear(t.Context()))
			clear(all)
		}
	}
}

// inserting returns a dictionary's method for a kind of insertion.
func inserting(d u32.Dictionary,
	kind structures.Kind) func(_ context.Context, keys, values []uint32) ([]structures.Status, error) {
	switch kind {
	case structures.InsertUnique:
		return d.(unique).InsertUnique
	case structures.InsertAdd:
		return d.InsertAdd
	case structures.InsertMin:
		return d.InsertMin
	case structures.InsertMax:
		return d.InsertMax
	}
	return d.Insert
}

// In a set, the first operation of a key inserts it, and the others find it.
func TestSet(t *testing.T) {
	inChunksOf(t, 700)
	d := testdevice.Open(t)
	s, err := slabhash.NewSet[uint32](t.Context(), d, slabhash.Options{Buckets: 30, MaxLoad: -1})
	require.NoError(t, err)
	defer s.Close()
	for name, keys := range ordercheck.Batches(rand.New(rand.NewPCG(5, 8)), 4000) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, s.Clear(t.Context()))
			all := map[uint32]uint32{}
			for range 2 {
				statuses, err := s.Insert(t.Context(), keys)
				require.NoError(t, err)
				ordercheck.Do(t, all, structures.InsertUnique, keys, keys, statuses)
			}
			n, err := s.Len(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, len(all), n)
		})
	}
}

// The pool becomes full in the middle of a batch, or may no longer grow. Each done operation is done once, with the
// results that it has without the others. Chunks after one with pending operations have done nothing.
func TestFullPool(t *testing.T) {
	inChunksOf(t, 500)
	const bytes = 300_000
	for _, s := range []subject{
		{"slabhash", true, hash(slabhash.Options{Buckets: 300, MaxLoad: -1, MaxBytes: bytes})},
		{"btree", true, tree(btree.Options{Path: btree.Concurrent, MaxBytes: bytes})},
	} {
		eachProtocol(t, func(t *testing.T, d *vk.Device, _ bool) {
			t.Run(s.name, func(t *testing.T) { fullPool(t, d, s) })
		})
	}
}

func fullPool(t *testing.T, d *vk.Device, s subject) {
	rng := rand.New(rand.NewPCG(5, 9))
	for _, kind := range []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd} {
		dictionary, err := s.open(t.Context(), d)
		require.NoError(t, err)
		defer dictionary.Close()
		insert := inserting(dictionary, kind)
		all, ever, stopped := map[uint32]uint32{}, []uint32{}, 0
		for batch := uint32(0); stopped < 2; batch++ {
			require.Less(t, batch, uint32(100), "the pool never gets full")
			// A third of the keys exist, and each comes about twice.
			n := 6000
			keys, values := make([]uint32, n), ordercheck.Values(n, batch)
			for i := range keys {
				keys[i] = (batch*uint32(n)/3 + rng.Uint32N(uint32(n)/2)) * 2654435761
			}
			statuses, err := insert(t.Context(), keys, values)
			ever = slices.Compact(slices.Sorted(slices.Values(append(ever, keys...))))
			if err != nil {
				var pending *structures.PendingError
				var limit *vk.LimitError
				require.True(t, errors.As(err, &pending) && errors.As(err, &limit), "%v", err)
				stopped++
			}
			ordercheck.Do(t, all, kind, keys, values, statuses)
			ordercheck.Holds(t.Context(), t, dictionary, all, ever)
		}
	}
}

// The batch has equal keys, and the pool has few free slabs left, or none. Done operations have the results of one
// after the other, without the pending ones, although the batch ends when the pool is first found full.
func TestEqualKeysInFullPool(t *testing.T) {
	ctx := t.Context()
	eachProtocol(t, func(t *testing.T, d *vk.Device, _ bool) {
		for free := range 12 {
			pool, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{MaxBytes: 150_000})
			require.NoError(t, err)
			m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Buckets: 64, MaxLoad: -1, Pool: pool})
			require.NoError(t, err)
			hog, err := slabhash.NewSet[uint32](ctx, d, slabhash.Options{Buckets: 1 << 8, MaxLoad: -1, Pool: pool})
			require.NoError(t, err)
			const there, copies, fresh = 64 * 15, 6, 200 // the base slabs are full, or nearly
			_, err = m.Insert(ctx, ramp(there, 0), ramp(there, 0))
			require.NoError(t, err)
			for last := uint32(0); ; {
				stats, err := pool.Stats(ctx)
				require.NoError(t, err)
				if stats.Free <= free {
					break
				}
				n := max(8, 12*(stats.Free-64))
				_, err = hog.Insert(ctx, ramp(n, last))
				require.NoError(t, err)
				last += uint32(n)
			}
			var keys []uint32
			for range copies {
				keys = append(keys, ramp(fresh, there)...)
			}
			status, err := m.InsertUnique(ctx, keys, ramp(len(keys), 0))
			var limit *vk.LimitError
			require.ErrorAs(t, err, &limit)
			values := map[uint32]uint32{}
			for i, s := range status {
				if s == structures.Pending {
					continue
				}
				want := structures.Found
				if _, is := values[keys[i]]; !is {
					want, values[keys[i]] = structures.Inserted, uint32(i)
				}
				require.Equal(t, want, s, "%d free slabs, operation %d of key %d", free, i, keys[i])
			}
			got, found, err := m.Find(ctx, keys[:fresh])
			require.NoError(t, err)
			for i, key := range keys[:fresh] {
				value, is := values[key]
				require.Equal(t, is, found[i], key)
				require.Equal(t, value, got[i], key)
			}
			for _, x := range []io.Closer{m, hog, pool} {
				require.NoError(t, x.Close())
			}
		}
	})
}

// ramp returns n numbers from the first on.
func ramp(n int, first uint32) []uint32 {
	all := make([]uint32, n)
	for i := range all {
		all[i] = first + uint32(i)
	}
	return all
}
