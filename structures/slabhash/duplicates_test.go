package slabhash_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// To append a value to a key takes a few visits of slabs, however many values the key has, also behind a flush and a
// rehash. So a budget that is far less than the slabs of the key does for a batch; but now and then a thread that
// waited for a processor, or for a latch, uses it up. To delete all of them takes a visit of each slab.
func TestManyValuesOfAKey(t *testing.T) {
	t.Run("32", manyValues[uint32])
	t.Run("64", manyValues[uint64])
}

func manyValues[W structures.Word](t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			// A part takes less than 40 slabs, and with all of them the key has some 2000 and more.
			const few, parts, visits = 256, 128, 512
			pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{Blocks: 16})
			require.NoError(t, err)
			defer pool.Close()
			m, err := New[W, W](t.Context(), d, Options{Buckets: 4, MaxLoad: -1, Tile: width, Pool: pool})
			require.NoError(t, err)
			defer m.Close()
			keys, values := make([]W, few), make([]W, few)
			for i := range keys {
				keys[i] = 77
			}
			kinds := slices.Repeat([]structures.Kind{structures.InsertDuplicate}, few)
			var all []W
			for part := range parts {
				for i := range values {
					values[i] = W(part*few + i)
				}
				all = append(all, values...)
				SetVisits(TableOf(m), visits)
				if part%2 == 0 {
					_, err = m.InsertDuplicate(t.Context(), keys, values)
				} else {
					_, err = m.Apply(t.Context(), structures.Batch[W, W]{Kinds: kinds, Keys: keys, Values: values})
				}
				require.NoError(t, err)
				require.EqualValues(t, visits, Visits(TableOf(m)), "behind a call that has raised them")
				switch part {
				case parts / 4:
					require.NoError(t, m.Flush(t.Context()))
				case parts / 2:
					require.NoError(t, m.Rehash(t.Context(), 5))
				case parts * 3 / 4:
					_, err := m.Delete(t.Context(), keys[:3])
					require.NoError(t, err)
					require.NoError(t, m.Flush(t.Context()))
				}
			}
			// Pairs of 64 bits without 64-bit atomics wait for latches, whose visits count, too.
			if _, wide := any(W(0)).(uint64); !wide || d.Has(vk.Int64Atomics) {
				require.Less(t, m.Inspect().Metrics().Retries, uint64(parts/4), "appends walk over the key's slabs")
			}
			appendOnStream(t, d, m, len(all))
			all = append(all, W(len(all)))
			slabcheck.Check(t, d, slabcheck.Expect{Duplicates: true}, m)
			offsets, got, err := m.FindAll(t.Context(), []W{77, 78})
			require.NoError(t, err)
			require.Equal(t, len(all)-3, offsets[2])
			for _, v := range got {
				all[v]++
			}
			kept := 0
			for i, v := range all {
				require.LessOrEqual(t, v-W(i), W(1), "a value is there twice")
				kept += int(v - W(i))
			}
			require.Equal(t, len(got), kept)
			// DeleteAll visits a slab once, but for the last one, in which it looks for what others insert.
			slots, retries := 15>>structures.WidthOf[W](), m.Inspect().Metrics().Retries
			SetVisits(TableOf(m), uint32(len(got)/slots+2))
			counts, err := m.DeleteAll(t.Context(), []W{77})
			require.NoError(t, err)
			require.EqualValues(t, len(got), counts[0])
			require.Equal(t, retries, m.Inspect().Metrics().Retries, "DeleteAll visits slabs again")
			require.NoError(t, m.Flush(t.Context()))
			_, err = m.InsertDuplicate(t.Context(), keys[:20], values[:20])
			require.NoError(t, err)
			slabcheck.Check(t, d, slabcheck.Expect{Duplicates: true}, m)
		})
	})
}

// appendOnStream appends a value to the key in a mixed batch on a stream, whose kinds are known to the device alone. It
// walks over the key's slabs until its budget ends, and no further when it is finished.
func appendOnStream[W structures.Word](t *testing.T, d *vk.Device, m *Map[W, W], value int) {
	s := testdevice.Stream(t, d)
	b := structures.DeviceBatch{
		Count: 1, Keys: testdevice.Upload(t, d, numbers.Words([]W{77})),
		Values: testdevice.Upload(t, d, numbers.Words([]W{W(value)})),
		Kinds:  testdevice.Upload(t, d, []uint8{uint8(structures.InsertDuplicate), 0, 0, 0}),
		Status: testdevice.Room[uint8](t, d, 4), Left: testdevice.Upload(t, d, []uint32{0}),
	}
	SetVisits(TableOf(m), 64)
	before := m.Inspect().Metrics().Retries
	require.NoError(t, m.On(s).Apply(structures.Mixed, b))
	require.NoError(t, m.On(s).Finish(t.Context(), structures.Mixed, b))
	require.Equal(t, before+1, m.Inspect().Metrics().Retries, "an append that is finished walks over the key's slabs")
}

// A mixed batch on a stream appends many values to a key in a time that is linear in their number, as a batch of one
// kind does.
func TestManyValuesOfAKeyOnAStream(t *testing.T) {
	pass.OneWidth(t, "a budget that the host sets")
	const n = 50_000
	d := testdevice.Open(t)
	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{Blocks: 16})
	require.NoError(t, err)
	defer pool.Close()
	s := testdevice.Stream(t, d)
	b := structures.DeviceBatch{
		Count: n, Keys: testdevice.Upload(t, d, slices.Repeat([]uint32{77}, n)),
		Values: testdevice.Room[uint32](t, d, n),
		Kinds:  testdevice.Upload(t, d, slices.Repeat([]uint8{uint8(structures.InsertDuplicate)}, n)),
		Status: testdevice.Room[uint8](t, d, n), Left: testdevice.Upload(t, d, []uint32{0}),
	}
	least := map[structures.Kind]time.Duration{structures.InsertDuplicate: time.Hour, structures.Mixed: time.Hour}
	for range 3 { // the first makes the kernels
		for kind := range least {
			m := newMap(t, d, Options{MaxLoad: -1, Pool: pool})
			start := time.Now()
			require.NoError(t, m.On(s).Apply(kind, b))
			require.NoError(t, m.On(s).Finish(t.Context(), kind, b))
			least[kind] = min(least[kind], time.Since(start))
			counts, err := m.CountAll(t.Context(), []uint32{77})
			require.NoError(t, err)
			require.Equal(t, []uint32{n}, counts)
			require.NoError(t, m.Clear(t.Context()))
		}
	}
	require.Less(t, least[structures.Mixed], 20*least[structures.InsertDuplicate])
}

// All pairs of a key can be deleted, however many there are.
func TestDeleteAllOfManyValues(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		const n = 500_000
		m, err := New[uint32, uint32](t.Context(), d, Options{Capacity: n})
		require.NoError(t, err)
		defer m.Close()
		keys := slices.Repeat([]uint32{77}, n)
		_, err = m.InsertDuplicate(t.Context(), keys, keys)
		require.NoError(t, err)
		counts, err := m.CountAll(t.Context(), []uint32{77})
		require.NoError(t, err)
		require.Equal(t, []uint32{n}, counts)
		SetVisits(TableOf(m), 100) // so that it goes on, and goes on counting, in several dispatches
		counts, err = m.DeleteAll(t.Context(), []uint32{77})
		require.NoError(t, err)
		require.Equal(t, []uint32{n}, counts)
	})
}
