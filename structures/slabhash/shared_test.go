package slabhash_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
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
