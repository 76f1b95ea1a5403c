package slabhash_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// fillDuplicates gives keys up to 40 values each, in rounds, so that the order of insertion is known, and deletes some
// of the oldest again. It returns what each key has, the oldest first.
func fillDuplicates(t *testing.T, m *Map[uint32, uint32], rng *rand.Rand) map[uint32][]uint32 {
	t.Helper()
	want := map[uint32][]uint32{}
	keys := distinct(rng, 120, m.InShaders().Description())
	for round := range uint32(40) {
		var in []uint32
		for i, k := range keys {
			if i%40 >= int(round) {
				in = append(in, k)
				want[k] = append(want[k], round<<16|uint32(i))
			}
		}
		values := make([]uint32, len(in))
		for i, k := range in {
			values[i] = want[k][len(want[k])-1]
		}
		s, err := m.InsertDuplicate(t.Context(), in, values)
		require.NoError(t, err)
		all(t, structures.Inserted, len(in), s, "insert")
	}
	for range 3 {
		var out []uint32
		for i, k := range keys {
			if i%2 == 0 && len(want[k]) > 0 {
				out = append(out, k)
				if want[k] = want[k][1:]; len(want[k]) == 0 {
					delete(want, k)
				}
			}
		}
		s, err := m.Delete(t.Context(), out)
		require.NoError(t, err)
		all(t, structures.Deleted, len(out), s, "delete")
	}
	return want
}

// requireGroups compares all values of all keys, in their order, by every way to look at them.
func requireGroups(t *testing.T, d *vk.Device, m *Map[uint32, uint32], want map[uint32][]uint32, compact bool) {
	t.Helper()
	got := groupsOf[uint32](slabcheck.Check(t, d, slabcheck.Expect{Duplicates: true, Compact: compact}, m)[0])
	require.Equal(t, len(want), len(got))
	keys := append(slices.Collect(maps.Keys(want)), 0x55555, 0x55556) // and absent ones
	offsets, values, err := m.FindAll(t.Context(), keys)
	require.NoError(t, err)
	counts, err := m.CountAll(t.Context(), keys)
	require.NoError(t, err)
	first, found := find(t, m, keys)
	require.Equal(t, len(keys)+1, len(offsets))
	for i, k := range keys {
		same(t, want[k], got[k], "values in memory")
		same(t, want[k], values[offsets[i]:offsets[i+1]], "values found")
		require.EqualValues(t, len(want[k]), counts[i])
		require.Equal(t, len(want[k]) != 0, found[i])
		if found[i] {
			require.Equal(t, want[k][0], first[i])
		}
	}
}

func TestOrderOfDuplicates(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			m := newMap(t, d, Options{Buckets: 4, MaxLoad: -1, Tile: width})
			want := fillDuplicates(t, m, rand.New(rand.NewPCG(1, 1)))
			requireGroups(t, d, m, want, false)
			before, err := m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			require.NotZero(t, before.Tombstones)

			require.NoError(t, m.Flush(t.Context()))
			requireGroups(t, d, m, want, true)
			after, err := m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			require.Zero(t, after.Tombstones)
			require.Equal(t, before.Pairs, after.Pairs)
			require.Less(t, after.Slabs, before.Slabs)
			require.Greater(t, after.Utilization, before.Utilization)
			require.NoError(t, m.Flush(t.Context()), "once more, with nothing to do")
			requireGroups(t, d, m, want, true)

			for _, buckets := range []int{5, 64, 1000, 7, 4, 0} {
				require.NoError(t, m.Rehash(t.Context(), buckets))
				requireGroups(t, d, m, want, true)
				stats, err := m.Inspect().Stats(t.Context())
				require.NoError(t, err)
				if buckets != 0 {
					require.Equal(t, buckets, stats.Buckets)
				} else {
					require.InDelta(t, 0.7, stats.Load, 0.3)
				}
			}
			// The table is of use as ever.
			for k := range want {
				s, err := m.InsertDuplicate(t.Context(), []uint32{k}, []uint32{5})
				require.NoError(t, err)
				require.Equal(t, structures.Inserted, s[0])
				want[k] = append(want[k], 5)
				break
			}
			requireGroups(t, d, m, want, false)
		})
	})
}

// Flushes at every share of deletions, down to nothing.
func TestFlush(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		eachWidth(t, d, func(t *testing.T, width int) {
			const n = 1500
			m := newMap(t, d, Options{Buckets: 6, MaxLoad: -1, Tile: width})
			rng := rand.New(rand.NewPCG(2, 2))
			for _, share := range []float64{0, 0.05, 0.5, 0.95, 1} {
				want := map[uint32]uint32{}
				keys := distinct(rng, n, m.InShaders().Description())
				values := ramp(n, 1000, 1)
				insert(t, m, keys, values)
				gone := int(share * n)
				_, err := m.Delete(t.Context(), keys[:gone])
				require.NoError(t, err)
				for i, k := range keys[gone:] {
					want[k] = values[gone+i]
				}
				require.NoError(t, m.Flush(t.Context()))
				slabcheck.Check(t, d, slabcheck.Expect{Compact: true}, m)
				requireContents(t, d, m, want)
				require.LessOrEqual(t, slabcheck.Slabs(t, d, m), (n-gone)/15, "whole slabs are free")
				s, err := m.InsertUnique(t.Context(), keys, repeat(n, 3))
				require.NoError(t, err)
				for i := range s {
					require.Equal(t, i < gone, s[i] == structures.Inserted)
				}
				require.NoError(t, m.Clear(t.Context()))
				require.Zero(t, slabcheck.Slabs(t, d, m))
			}
		})
	})
}

func TestSetUpkeep(t *testing.T) {
	d := testdevice.Open(t)
	eachWidth(t, d, func(t *testing.T, width int) {
		const n = 2500
		s := newSet(t, d, Options{Buckets: 4, MaxLoad: -1, Tile: width})
		rng := rand.New(rand.NewPCG(5, 5))
		keys := distinct(rng, n, s.InShaders().Description())
		status, err := s.Insert(t.Context(), keys)
		require.NoError(t, err)
		all(t, structures.Inserted, n, status, "insert")
		status, err = s.Insert(t.Context(), keys)
		require.NoError(t, err)
		all(t, structures.Found, n, status, "insert again")
		status, err = s.InsertDuplicate(t.Context(), keys[:100])
		require.NoError(t, err)
		all(t, structures.Inserted, 100, status, "insert duplicates")
		counts, err := s.CountAll(t.Context(), keys[50:150])
		require.NoError(t, err)
		same(t, append(repeat(50, 2), repeat(50, 1)...), counts, "counts")
		counts, err = s.DeleteAll(t.Context(), keys[50:150])
		require.NoError(t, err)
		same(t, append(repeat(50, 2), repeat(50, 1)...), counts, "deleted")
		status, err = s.Delete(t.Context(), keys[:100])
		require.NoError(t, err)
		all(t, structures.Deleted, 50, status[:50], "delete one of two")
		all(t, structures.Absent, 50, status[50:], "delete what is gone")
		want := map[uint32]bool{}
		for i, k := range keys {
			want[k] = i < 50 || i >= 150
		}
		held := func() {
			t.Helper()
			pairs := slabcheck.Check(t, d, slabcheck.Expect{}, s)[0]
			require.Equal(t, n-100, len(pairs))
			for _, p := range pairs {
				if !want[uint32(p.Key)] {
					t.Fatalf("the set has %#x", uint32(p.Key))
				}
			}
			here, err := s.Contains(t.Context(), keys)
			require.NoError(t, err)
			for i, k := range keys {
				if here[i] != want[k] {
					t.Fatalf("contains %#x: %v", k, here[i])
				}
			}
			got, _, err := numbers.All(t.Context(), s)
			require.NoError(t, err)
			require.Equal(t, n-100, len(got))
			i := 0
			for k, err := range s.All(t.Context()) {
				require.NoError(t, err)
				require.True(t, want[k])
				i++
			}
			require.Equal(t, n-100, i)
		}
		held()
		require.NoError(t, s.Flush(t.Context()))
		slabcheck.Check(t, d, slabcheck.Expect{Compact: true}, s)
		held()
		for _, buckets := range []int{300, 4, 0} {
			require.NoError(t, s.Rehash(t.Context(), buckets))
			slabcheck.Check(t, d, slabcheck.Expect{Compact: true}, s)
			held()
		}
		stats, err := s.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, n-100, stats.Pairs)
		require.InDelta(t, float64(n-100)/(30*float64(stats.Buckets)), stats.Load, 1e-9)
		require.InDelta(t, float64(n-100)*4/(128*float64(stats.Slabs)), stats.Utilization, 1e-9)
		require.NoError(t, s.Clear(t.Context()))
		require.Empty(t, slabcheck.Check(t, d, slabcheck.Expect{}, s)[0])
		r, err := s.Apply(t.Context(), u32.Batch{
			Kinds: []structures.Kind{structures.Insert, structures.Find, structures.CountAll, structures.Delete},
			Keys:  []uint32{1, 2, 3, 4},
		})
		require.NoError(t, err)
		require.Equal(t, []structures.Status{structures.Inserted, structures.Absent, structures.Absent,
			structures.Absent}, r.Status)
	})
}

// A table that is filled far beyond what it was made for gets more buckets by itself.
func TestAutomaticRehash(t *testing.T) {
	d := testdevice.Open(t)
	m := newMap(t, d, Options{Buckets: 4})
	rng := rand.New(rand.NewPCG(3, 3))
	want := map[uint32]uint32{}
	keys := distinct(rng, 60000, m.InShaders().Description())
	for done, n := 0, 10; done < len(keys); n *= 3 {
		part := keys[done:min(done+n, len(keys))]
		all(t, structures.Inserted, len(part), insert(t, m, part, part), "insert")
		done += len(part)
		for _, k := range part {
			want[k] = k
		}
		stats, err := m.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.LessOrEqual(t, stats.Load, DefaultMaxLoad)
	}
	requireContents(t, d, m, want)

	// Tombstones count: without a rehash or flush they would fill the lists for ever.
	small := newMap(t, d, Options{Capacity: 3000})
	buckets := small.InShaders().Description().Buckets
	for range 20 {
		part := distinct(rng, 3000, small.InShaders().Description())
		insert(t, small, part, part)
		s, err := small.Delete(t.Context(), part)
		require.NoError(t, err)
		all(t, structures.Deleted, len(part), s, "delete")
	}
	stats, err := small.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats.Pairs)
	require.LessOrEqual(t, float64(stats.Tombstones)/float64(15*stats.Buckets), 2*DefaultMaxLoad)
	require.LessOrEqual(t, small.InShaders().Description().Buckets, 4*buckets)

	never := newMap(t, d, Options{Buckets: 4, MaxLoad: -1})
	insert(t, never, keys[:3000], keys[:3000])
	require.EqualValues(t, 4, never.InShaders().Description().Buckets)
}

func TestExport(t *testing.T) {
	d := testdevice.Open(t)
	keys := distinct(rand.New(rand.NewPCG(4, 4)), 5000, Description{Mask: 1})
	m, err := Build(t.Context(), d, keys, keys, Options{})
	require.NoError(t, err)
	defer m.Close()
	n := 0
	for chunk, err := range m.Chunks(t.Context()) {
		require.NoError(t, err)
		same(t, chunk.Keys, chunk.Values, "chunk")
		n += len(chunk.Keys)
	}
	require.Equal(t, len(keys), n)

	pairs := m.All(t.Context())
	seen := map[uint32]bool{}
	for pair, err := range pairs {
		require.NoError(t, err)
		require.Equal(t, pair.Key, pair.Value)
		seen[pair.Key] = true
	}
	require.Equal(t, len(keys), len(seen))
	n = 0
	for _, err := range pairs { // a second time, and not to the end
		require.NoError(t, err)
		if n++; n == 10 {
			break
		}
	}
	require.Equal(t, 10, n)
	n = 0
	for pair, err := range m.All(cancelled(t)) {
		require.Zero(t, pair)
		require.ErrorIs(t, err, context.Canceled)
		n++
	}
	require.Equal(t, 1, n, "the error alone")
}

// Stats against what the memory says.
func TestStats(t *testing.T) {
	d := testdevice.Open(t)
	m := newMap(t, d, Options{Buckets: 50, MaxLoad: -1})
	rng := rand.New(rand.NewPCG(6, 6))
	keys := distinct(rng, 2000, m.InShaders().Description())
	insert(t, m, keys, keys)
	_, err := m.Delete(t.Context(), keys[:300])
	require.NoError(t, err)
	stats, err := m.Inspect().Stats(t.Context())
	require.NoError(t, err)
	chain := slabcheck.Slabs(t, d, m)
	require.EqualValues(t, 1700, stats.Pairs)
	require.EqualValues(t, 300, stats.Tombstones)
	require.Equal(t, 50, stats.Buckets)
	require.EqualValues(t, chain, stats.ChainSlabs)
	require.EqualValues(t, chain+50, stats.Slabs)
	require.InDelta(t, 1700./(15*50), stats.Load, 1e-12)
	require.InDelta(t, float64(chain+50)/50, stats.SlabsPerBucket, 1e-12)
	require.InDelta(t, 1700*8./(128*float64(chain+50)), stats.Utilization, 1e-12)
	require.Equal(t, chain, stats.Pool.Allocated)
	require.Equal(t, uint64(50*(128+4))+stats.Pool.Bytes, stats.Bytes)
	// How long each bucket is follows from how many keys it got.
	perBucket := map[uint32]int{}
	for _, k := range keys {
		perBucket[slabcheck.Bucket(m.InShaders().Description(), k)]++
	}
	var lengths [16]uint64
	longest := 0
	for b := range uint32(50) {
		slabs := max(1, (perBucket[b]+14)/15)
		lengths[min(slabs, 16)-1]++
		longest = max(longest, slabs)
	}
	require.Equal(t, lengths, stats.Lengths)
	require.Equal(t, longest, stats.LongestBucket)

	for _, k := range keys[:300] {
		perBucket[slabcheck.Bucket(m.InShaders().Description(), k)] -= 1
	}
	bucket, erased := uint32(0), 0
	for l, err := range m.Inspect().Loads(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, perBucket[bucket], l.Pairs, "bucket %d", bucket)
		require.Equal(t, max(1, (l.Pairs+l.Tombstones+14)/15), l.Slabs, "bucket %d", bucket)
		erased += l.Tombstones
		bucket++
	}
	require.EqualValues(t, 50, bucket)
	require.Equal(t, 300, erased)
}

func TestLoadsOfASet(t *testing.T) {
	d := testdevice.Open(t)
	s, err := NewSet[uint32](t.Context(), d, Options{Buckets: 70_000, MaxLoad: -1}) // more than are read at a time
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	keys := make([]uint32, 10_000)
	for i := range keys {
		keys[i] = uint32(i) * 7919
	}
	_, err = s.Insert(t.Context(), keys)
	require.NoError(t, err)
	loads := s.Inspect().Loads(t.Context())
	buckets, there := 0, 0
	for l, err := range loads {
		require.NoError(t, err)
		buckets++
		there += l.Pairs
	}
	require.Equal(t, []int{70_000, 10_000}, []int{buckets, there})
	for _, err := range loads {
		require.NoError(t, err)
		break
	}
}

func TestSharedPool(t *testing.T) {
	d := testdevice.Open(t)
	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{Blocks: 1})
	require.NoError(t, err)
	defer pool.Close()
	o := Options{Buckets: 4, MaxLoad: -1, Pool: pool}
	a, err := New[uint32, uint32](t.Context(), d, o)
	require.NoError(t, err)
	b, err := NewSet[uint32](t.Context(), d, o)
	require.NoError(t, err)
	keys := distinct(rand.New(rand.NewPCG(8, 8)), 12000, a.InShaders().Description())
	for at := 0; at < len(keys); at += 3000 { // the pool grows on the way
		part := keys[at : at+3000]
		insert(t, a, part, part)
		_, err = b.Insert(t.Context(), part)
		require.NoError(t, err)
	}
	pairs := slabcheck.Check(t, d, slabcheck.Expect{}, a, b)
	require.Equal(t, len(keys), len(pairs[0]))
	require.Equal(t, len(keys), len(pairs[1]))
	allocated := func() int {
		s, err := pool.Stats(t.Context())
		require.NoError(t, err)
		return s.Allocated
	}
	require.InDelta(t, 12000/15+12000/30, allocated(), 8,
		"full slabs, but for the last of each list and the base slabs")
	require.NoError(t, a.Clear(t.Context()))
	pairs = slabcheck.Check(t, d, slabcheck.Expect{}, a, b)
	require.Empty(t, pairs[0])
	require.Equal(t, len(keys), len(pairs[1]))
	insert(t, a, keys[:4000], keys[:4000])
	require.NoError(t, b.Rehash(t.Context(), 100))
	pairs = slabcheck.Check(t, d, slabcheck.Expect{}, a, b)
	require.Equal(t, 4000, len(pairs[0]))
	require.Equal(t, len(keys), len(pairs[1]))
	require.NoError(t, b.Close())
	require.Equal(t, 4000, len(slabcheck.Check(t, d, slabcheck.Expect{}, a)[0]))
	require.NoError(t, a.Close())
	require.Zero(t, allocated())
	insertAgain, err := New[uint32, uint32](t.Context(), d, o)
	require.NoError(t, err)
	insert(t, insertAgain, keys, keys)
	require.Equal(t, len(keys), len(slabcheck.Check(t, d, slabcheck.Expect{}, insertAgain)[0]))
	require.NoError(t, insertAgain.Close())
}

func TestRehashToWhatCannotBe(t *testing.T) {
	m := newMap(t, testdevice.Open(t), Options{Buckets: 64})
	for _, n := range []int{-5, 3, 1<<31 + 1} {
		var option *vk.OptionError
		require.ErrorAs(t, m.Rehash(t.Context(), n), &option)
		require.ErrorContains(t, option, fmt.Sprint(n))
	}
	require.EqualValues(t, 64, m.InShaders().Description().Buckets)
}
