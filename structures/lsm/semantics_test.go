package lsm_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/u32"
)

// These tests are for the semantics of section III-A of the paper, by the numbers there.

// 1: the size of the first level, b, is the size of batches. Here, batches may have any size. The rest of a batch that
// is not a multiple of b is kept beside the levels, and is not padded.
func TestSemantics1BatchSize(t *testing.T) {
	d := open(t)
	for _, b := range []int{32, 64} {
		l := newLSM(t, d, Options{Batch: b})
		rng := random(1)
		want := map[uint32]uint32{}
		resident := 0
		for _, n := range []int{b, 1, b - 1, b + 1, 3*b + 7, 0, 2*b - 8, 40 * b, 5} {
			keys, values := batch(rng, n, 1<<30, want)
			insert(t, l, keys, values)
			resident += n
			s := stats(t, l)
			require.EqualValues(t, resident, s.Resident, "no pair was made up")
			require.Equal(t, resident%b, s.Front)
			full := 0
			for _, level := range s.Levels {
				require.Equal(t, b<<level.Number, level.Pairs)
				full |= 1 << level.Number
			}
			require.Equal(t, resident/b, full, "levels are the bits of the number of batches")
		}
		requireContents(t, l, want)
	}
}

// 2: a batch may have insertions and deletions, and any number of lookups. Lookups come before updates.
func TestSemantics2MixedBatches(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 32})
	rng := random(7)
	want := map[uint32]uint32{}
	for _, n := range []int{1, 32, 40, 500, 33} {
		b := u32.Batch{Values: ramp(n, 5, 9)}
		for i := range n {
			b.Keys = append(b.Keys, uint32(i)) // each key once, so that only the order of the phases matters
			b.Kinds = append(b.Kinds, [...]structures.Kind{structures.Insert, structures.Delete, structures.Find,
				structures.CountAll}[rng.IntN(4)])
		}
		before := maps.Clone(want)
		r, err := l.Apply(t.Context(), b)
		require.NoError(t, err)
		for i, k := range b.Keys {
			value, there := before[k]
			switch b.Kinds[i] {
			case structures.Insert:
				require.Equal(t, map[bool]structures.Status{false: structures.Inserted,
					true: structures.Assigned}[there], r.Status[i])
				want[k] = b.Values[i]
				continue
			case structures.Delete:
				require.Equal(t, map[bool]structures.Status{false: structures.Absent, true: structures.Deleted}[there],
					r.Status[i])
				delete(want, k)
				continue
			case structures.CountAll:
				value = min(1, value)
			}
			require.Equal(t, map[bool]structures.Status{false: structures.Absent, true: structures.Found}[there],
				r.Status[i])
			require.Equal(t, value, r.Values[i])
		}
		requireContents(t, l, want)
	}
}

// 3: if several batches inserted values for a key, the most recent one counts.
func TestSemantics3MostRecentValue(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 32})
	keys := ramp(50, 0, 0x05000000)
	for round := range uint32(12) {
		statuses := insert(t, l, keys, ramp(50, 1000*round, 1))
		for _, s := range statuses {
			require.Equal(t, map[bool]structures.Status{true: structures.Inserted,
				false: structures.Assigned}[round == 0], s)
		}
		values, found, err := l.Find(t.Context(), keys)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		require.True(t, slices.Equal(ramp(50, 1000*round, 1), values), "round %d", round)
	}
	require.EqualValues(t, 600, stats(t, l).Resident)
}

// 3, continued: the others are stale. They stay in memory for a while, but queries do not see them.
func TestSemantics3StaleInvisible(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 32})
	keys := ramp(320, 10, 3)
	insert(t, l, keys, ramp(320, 0, 1))
	insert(t, l, keys[:160], ramp(160, 5000, 1))
	remove(t, l, keys[80:240])
	s := stats(t, l)
	require.EqualValues(t, 640, s.Resident)
	require.EqualValues(t, 160, s.Pairs)
	require.EqualValues(t, 160, s.Tombstones)
	require.InDelta(t, 0.75, s.Stale, 1e-9)

	live := map[uint32]uint32{}
	for i, k := range keys {
		switch {
		case i < 80:
			live[k] = 5000 + uint32(i)
		case i >= 240:
			live[k] = uint32(i)
		}
	}
	requireContents(t, l, live)
	counts, err := l.Count(t.Context(), []u32.Range{u32.AllKeys, {Lo: keys[80], Hi: keys[239]},
		{Lo: keys[70], Hi: keys[245]}})
	require.NoError(t, err)
	require.Equal(t, []uint32{160, 0, 16}, counts)
	next, err := l.Neighbor(t.Context(), structures.Successor, []uint32{keys[79]})
	require.NoError(t, err)
	require.Equal(t, keys[240], next.Keys[0])
	_, found, err := l.Find(t.Context(), keys[80:240])
	require.NoError(t, err)
	require.NotContains(t, found, true)
}

// 4: of equal keys in one batch, one counts. Here it is the last.
func TestSemantics4EqualKeysInBatch(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 64})
	for _, n := range []int{10, 64, 100, 500} { // within the front, a level, and over several steps
		require.NoError(t, l.Clear(t.Context()))
		keys, values := make([]uint32, n), ramp(n, 0, 1)
		for i := range keys {
			keys[i] = uint32(i % 7)
		}
		statuses := insert(t, l, keys, values)
		want := map[uint32]uint32{}
		for i, k := range keys {
			_, there := want[k]
			require.Equal(t, map[bool]structures.Status{false: structures.Inserted, true: structures.Assigned}[there],
				statuses[i], i)
			want[k] = values[i]
		}
		requireContents(t, l, want)
	}
}

// 5: a deletion deletes all earlier instances of its key. Several deletions of a key in a batch have the effect of one.
func TestSemantics5Deletion(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 32})
	keys := ramp(40, 7, 11)
	for range 9 {
		insert(t, l, keys, ramp(40, 1, 1)) // nine instances of each, over levels and front
	}
	statuses := remove(t, l, append(slices.Clone(keys[:20]), keys[:20]...))
	for i, s := range statuses {
		require.Equal(t, map[bool]structures.Status{true: structures.Deleted, false: structures.Absent}[i < 20], s)
	}
	want := map[uint32]uint32{}
	for i, k := range keys[20:] {
		want[k] = uint32(21 + i)
	}
	requireContents(t, l, want)
	require.Equal(t, []structures.Status{structures.Absent}, remove(t, l, keys[:1]))
	require.NoError(t, l.Cleanup(t.Context()))
	requireContents(t, l, want)
	require.EqualValues(t, 20, stats(t, l).Resident)
	require.Equal(t, []structures.Status{structures.Inserted}, insert(t, l, keys[:1], []uint32{^uint32(0)}))
	values, found, err := l.Find(t.Context(), keys[:1])
	require.NoError(t, err)
	require.Equal(t, []uint32{^uint32(0)}, values, "the value that tombstones have is no tombstone")
	require.Equal(t, []bool{true}, found)
}

// 6: a key that is inserted and deleted in one batch is deleted, in any order of the two operations.
func TestSemantics6InsertedAndDeleted(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 32})
	insert(t, l, []uint32{1, 2}, []uint32{10, 20})
	in, out, find, count := structures.Insert, structures.Delete, structures.Find, structures.CountAll
	r, err := l.Apply(t.Context(), u32.Batch{
		Kinds:  []structures.Kind{out, in, in, out, find, in, count, find, out},
		Keys:   []uint32{1, 1, 3, 3, 1, 2, 3, 2, 4},
		Values: []uint32{0, 11, 30, 0, 0, 21, 0, 0, 0},
	})
	require.NoError(t, err)
	require.Equal(t, []structures.Status{
		structures.Deleted, structures.Assigned, structures.Inserted, structures.Deleted, structures.Found,
		structures.Assigned, structures.Absent, structures.Found, structures.Absent,
	}, r.Status)
	require.Equal(t, []uint32{10, 0, 20}, []uint32{r.Values[4], r.Values[6], r.Values[7]}, "lookups come before")
	requireContents(t, l, map[uint32]uint32{2: 21})
}
