package slabhash_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// nearKeys returns n keys of few buckets of a table whose buckets share slabs: two that share a slab, another one of
// their group, and those with the keys that are stored in another form.
func nearKeys[W structures.Word](d Description, n int, key func(uint32) W) []W {
	of := []uint32{16, 17, 20, 16 * d.SpecialOnes, 16*d.SpecialZero + 15}
	keys := []W{0, ^W(0), W(d.Mask), ^W(d.Mask)}
	for i := uint32(1); len(keys) < n; i++ {
		if k := key(i); slices.Contains(of, slabcheck.Bucket(d, k)) && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// A table whose buckets share slabs, at each load up to far above that which it is made for: what is in it, what isn't,
// and what a deletion, a flush, a rehash, a copy in a file and a clearing leave.
func TestSharedSlabs(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			const n = 3000
			m := newMap(t, d, Options{Buckets: 50, Load: 1, MaxLoad: -1, Tile: width})
			require.EqualValues(t, 64, m.InShaders().Description().Buckets, "whole groups, and at least four")
			rng := rand.New(rand.NewPCG(7, 7))
			all := distinct(rng, 2*n, m.InShaders().Description())
			keys, absent := all[:n], all[n:]
			want := map[uint32]uint32{}
			none := func() {
				t.Helper()
				_, found, err := m.Find(t.Context(), absent)
				require.NoError(t, err)
				require.NotContains(t, found, true)
			}
			for first := 0; first < n; first += 500 { // a load of 0.4 for each
				part := keys[first : first+500]
				insert(t, m, part, ramp(500, uint32(first), 1))
				for i, k := range part {
					want[k] = uint32(first + i)
				}
				slabcheck.Check(t, d, slabcheck.Expect{}, m)
				requireContents(t, d, m, want)
				none()
				s, err := m.InsertUnique(t.Context(), part, repeat(500, 3))
				require.NoError(t, err)
				require.NotContains(t, s, structures.Inserted)
			}
			stats, err := m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, n, stats.Pairs)
			require.EqualValues(t, stats.Slabs, 64/16*21+stats.ChainSlabs)
			require.InDelta(t, n/(15*84.0), stats.Load, 1e-9)
			require.Greater(t, stats.Utilization, 0.9)
			var sum BucketLoad
			groups := 0
			for l, err := range m.Inspect().Loads(t.Context()) {
				require.NoError(t, err)
				sum.Slabs, sum.Pairs, sum.Tombstones = sum.Slabs+l.Slabs, sum.Pairs+l.Pairs, sum.Tombstones+l.Tombstones
				groups++
			}
			require.Equal(t, 4, groups)
			require.Equal(t, BucketLoad{Slabs: int(stats.Slabs), Pairs: n}, sum)
			for _, buckets := range []int{64, 65, 1000, 64, 0} {
				if buckets == 64 {
					_, err := m.Delete(t.Context(), keys[:n/4])
					require.NoError(t, err)
					for _, k := range keys[:n/4] {
						delete(want, k)
					}
					slabcheck.Check(t, d, slabcheck.Expect{}, m)
					require.NoError(t, m.Flush(t.Context()))
					slabcheck.Check(t, d, slabcheck.Expect{Compact: true}, m)
					keys = keys[n/4:]
				}
				require.NoError(t, m.Rehash(t.Context(), buckets))
				slabcheck.Check(t, d, slabcheck.Expect{Compact: true}, m)
				requireContents(t, d, m, want)
				none()
			}
			stats, err = m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			require.InDelta(t, 1, stats.Load, 0.1)
			var file bytes.Buffer
			_, err = m.Save(t.Context(), &file)
			require.NoError(t, err)
			again, err := Load[uint32, uint32](t.Context(), d, &file, Options{})
			require.NoError(t, err)
			requireContents(t, d, again, want)
			require.EqualValues(t, 1, again.InShaders().Constants()["SLAB_SHARED"], "the file has the load")
			require.NoError(t, again.Close())
			require.NoError(t, m.Clear(t.Context()))
			require.Empty(t, slabcheck.Check(t, d, slabcheck.Expect{}, m)[0])
			require.Zero(t, slabcheck.Slabs(t, d, m))
		})
	})
}

// At a load of 1 nearly all slots are in use, in tables of all kinds, and the table grows as others do.
func TestSharedSlabsAreFull(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	d := testdevice.Open(t)
	const n = 60_000
	keys := make([]uint64, n)
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range keys {
		keys[i] = uint64(i) | uint64(rng.Uint32())<<32
	}
	m, err := New[uint64, uint64](t.Context(), d, Options{Load: 1})
	require.NoError(t, err)
	defer m.Close()
	for part := range slices.Chunk(keys, n/3) {
		_, err := m.Insert(t.Context(), part, part)
		require.NoError(t, err)
		stats, err := m.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, stats.Load, 1.1)
	}
	values, found, err := m.Find(t.Context(), keys)
	require.NoError(t, err)
	require.NotContains(t, found, false)
	require.Equal(t, keys, values)

	full, err := Build(t.Context(), d, keys, keys, Options{Load: 1})
	require.NoError(t, err)
	defer full.Close()
	set, err := BuildSet(t.Context(), d, keys, Options{Load: 1})
	require.NoError(t, err)
	defer set.Close()
	for _, c := range []struct {
		stats func() (Stats, error)
		least float64 // of the slots
		size  int
	}{
		{func() (Stats, error) { return full.Inspect().Stats(t.Context()) }, 0.91, 16},
		{func() (Stats, error) { return set.Inspect().Stats(t.Context()) }, 0.94, 8},
	} {
		stats, err := c.stats()
		require.NoError(t, err)
		require.EqualValues(t, n, stats.Pairs)
		require.Greater(t, stats.Utilization, c.least*float64(120/c.size*c.size)/128)
		require.Less(t, stats.Utilization, 1.0)
	}
}

// A full table in which as many pairs are inserted as are deleted, round after round, keeps its lists short, whether it
// has memory to grow or not.
func TestSharedSlabsInUse(t *testing.T) {
	pass.OneWidth(t, "the host decides when buckets are flushed")
	d := testdevice.Open(t)
	const n, part = 20_000, 2_000
	key := func(i int) uint32 { return uint32(i) * 0x9e3779b1 }
	for _, room := range []bool{true, false} {
		o := Options{Load: 1, Capacity: n + part}
		if !room {
			m, err := New[uint32, uint32](t.Context(), d, o)
			require.NoError(t, err)
			stats, err := m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			o.MaxBytes = stats.Bytes + stats.Bytes/4
			require.NoError(t, m.Close())
		}
		m, err := New[uint32, uint32](t.Context(), d, o)
		require.NoError(t, err)
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = key(i)
		}
		insert(t, m, keys, keys)
		for round := range 20 {
			gone := make([]uint32, part)
			for i := range gone {
				gone[i], keys[(round*part+i)%n] = keys[(round*part+i)%n], key(n+round*part+i)
			}
			_, err := m.Delete(t.Context(), gone)
			require.NoError(t, err)
			more := keys[round*part%n : round*part%n+part]
			status, err := m.Insert(t.Context(), more, more)
			require.NoError(t, err, "round %d", round)
			require.NotContains(t, status, structures.Assigned)
			_, found, err := m.Find(t.Context(), gone)
			require.NoError(t, err)
			require.NotContains(t, found, true)
		}
		after, err := m.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, after.ChainSlabs, 3*uint64(after.Buckets)/16, "lists become long")
		slabcheck.Check(t, d, slabcheck.Expect{}, m)
		values, found, err := m.Find(t.Context(), keys)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		require.Equal(t, keys, values)
		require.NoError(t, m.Close())
	}
}

// A key with so many values that none of its group could walk along its chain: what appends to the chain, of this key
// and of others, skips to its end, from each bucket of the group.
func TestSharedSlabsOfOneKey(t *testing.T) {
	pass.OneWidth(t, "the number of lanes doesn't matter")
	d := testdevice.Open(t)
	m, err := New[uint64, uint64](t.Context(), d, Options{Load: 1, Buckets: 64, MaxLoad: -1})
	require.NoError(t, err)
	defer m.Close()
	const n = 150_000 // more slabs than a tile visits in a dispatch
	status, err := m.InsertDuplicate(t.Context(), slices.Repeat([]uint64{77}, n), make([]uint64, n))
	require.NoError(t, err)
	require.NotContains(t, status, structures.Pending)
	group := slabcheck.Bucket(m.InShaders().Description(), uint64(77)) / 16
	var others []uint64
	for k := uint64(1000); len(others) < 600; k++ {
		if slabcheck.Bucket(m.InShaders().Description(), k)/16 == group {
			others = append(others, k)
		}
	}
	s := testdevice.Stream(t, d)
	b := structures.DeviceBatch{Count: len(others), Keys: testdevice.Upload(t, d, numbers.Words(others)),
		Values: testdevice.Upload(t, d, numbers.Words(others)), Status: testdevice.Room[uint8](t, d, len(others)),
		Left: testdevice.Upload(t, d, []uint32{0})}
	require.NoError(t, m.On(s).Apply(structures.InsertDuplicate, b))
	require.NoError(t, s.Wait(t.Context()))
	require.Zero(t, contents(t, b.Left)[0], "operations walk along the chain")
	require.NoError(t, m.On(s).Finish(t.Context(), structures.InsertDuplicate, b))
	slabcheck.Check(t, d, slabcheck.Expect{Duplicates: true}, m)
	_, found, err := m.Find(t.Context(), others)
	require.NoError(t, err)
	require.NotContains(t, found, false)
}
