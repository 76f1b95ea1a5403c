package lsm_test

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// The levels are those of the paper's figure 1 after any number of batches, and after Build.
func TestLevels(t *testing.T) {
	d := open(t)
	l := newLSM(t, d, Options{Batch: 32})
	rng := random(1)
	want := map[uint32]uint32{}
	for r := 1; r <= 21; r++ {
		keys, values := batch(rng, 32, 700, want)
		insert(t, l, keys, values)
		full := 0
		for _, level := range stats(t, l).Levels {
			full |= 1 << level.Number
		}
		require.Equal(t, r, full)
	}
	requireContents(t, l, want)

	for _, n := range []int{0, 1, 31, 32, 33, 5 * 32, 5000} {
		want := map[uint32]uint32{}
		keys, values := batch(rng, n, 1<<20, want)
		built, err := Build(t.Context(), d, keys, values, Options{Batch: 32})
		require.NoError(t, err)
		requireContents(t, built, want)
		require.EqualValues(t, len(want), stats(t, built).Resident, "nothing is stale")
		more, moreValues := batch(rng, 100, 1<<20, want)
		insert(t, built, more, moreValues)
		requireContents(t, built, want)
		require.NoError(t, built.Close())
	}
}

// A batch of many b is done in large parts, one for each level if the LSM is empty.
func TestLargeBatches(t *testing.T) {
	l := newLSM(t, open(t), Options{Batch: 64})
	rng := random(2)
	want := map[uint32]uint32{}
	for _, n := range []int{64*21 + 5, 64 * 8, 64 * 64, 3, 140_000 /* more than a chunk on a CPU device */} {
		keys, values := batch(rng, n, 3000, want)
		insert(t, l, keys, values)
		requireContents(t, l, want)
		half := keys[:n/2]
		remove(t, l, half)
		for _, k := range half {
			delete(want, k)
		}
		requireContents(t, l, want)
	}
}

func TestCleanup(t *testing.T) {
	d := open(t)
	var told []int
	tell := func(done, total int) { told = append(told, done, total) }
	l := newLSM(t, d, Options{Batch: 64, Timed: true, Progress: tell})
	require.NoError(t, l.Cleanup(t.Context()), "of nothing")
	rng := random(3)
	want := map[uint32]uint32{}
	for range 9 {
		keys, values := batch(rng, 300, 1500, want)
		insert(t, l, keys, values)
		remove(t, l, keys[:100])
		for _, k := range keys[:100] {
			delete(want, k)
		}
	}
	before := stats(t, l)
	require.Greater(t, before.Stale, 0.5)
	require.NotZero(t, before.Tombstones)

	require.ErrorIs(t, l.Cleanup(cancelled(t)), context.Canceled)
	require.Equal(t, before, stats(t, l), "a cancelled cleanup leaves all as it was")
	requireContents(t, l, want)

	told = nil
	require.NoError(t, l.Cleanup(t.Context()))
	require.NotEmpty(t, told)
	require.Equal(t, told[len(told)-1], told[len(told)-2], "all is done")
	after := stats(t, l)
	require.EqualValues(t, len(want), after.Resident)
	require.Zero(t, after.Stale)
	require.Zero(t, after.Tombstones)
	require.Less(t, after.Bytes, before.Bytes, "memory is given back")
	requireContents(t, l, want)
	if d.Has(vk.Timestamps) {
		stages := map[string]bool{}
		for _, timing := range l.Inspect().Timings() {
			stages[timing.Label] = true
		}
		require.Equal(t, map[string]bool{"merge": true, "pack": true, "distribute": true}, stages)
	}
	keys, values := batch(rng, 500, 1500, want)
	insert(t, l, keys, values)
	requireContents(t, l, want)

	// Delete everything and clean up: nothing is left.
	for k := range want {
		keys = append(keys, k)
	}
	remove(t, l, keys)
	require.NoError(t, l.Cleanup(t.Context()))
	require.Zero(t, stats(t, l).Resident)
	requireContents(t, l, nil)
}

func TestPolicies(t *testing.T) {
	d := open(t)
	keys := ramp(64, 0, 5)
	most := func(o Options, updates func(l *LSM[uint32, uint32])) uint64 {
		l := newLSM(t, d, o)
		var most uint64
		for range 12 {
			updates(l)
			most = max(most, stats(t, l).Resident)
		}
		return most
	}
	same := func(l *LSM[uint32, uint32]) { insert(t, l, keys, keys) }
	require.EqualValues(t, 12*64, most(Options{Batch: 32}, same), "never")
	require.EqualValues(t, 2*64, most(Options{Batch: 32, Cleanup: WhenDoubled}, same),
		"64 pairs, and the batch after which they are twice as many")
	require.EqualValues(t, 3*64, most(Options{Batch: 32, Cleanup: WhenStale(0.6)}, same), "two of three are stale then")

	// Updates on streams never clean up, and Maintain counts the pairs if their number is not known.
	l := newLSM(t, d, Options{Batch: 32, Cleanup: WhenStale(0.6)})
	s := testdevice.Stream(t, d)
	b := testdevice.Upload(t, d, keys)
	for range 6 {
		require.NoError(t, l.On(s).Update(t.Context(), structures.Insert,
			structures.DeviceBatch{Count: 64, Keys: b, Values: b}))
	}
	require.NoError(t, s.Wait(t.Context()))
	require.EqualValues(t, 6*64, stats(t, l).Resident)
	require.NoError(t, l.Maintain(t.Context()))
	require.EqualValues(t, 64, stats(t, l).Resident)
	require.NoError(t, l.Maintain(t.Context()))
	require.EqualValues(t, 64, stats(t, l).Resident)
}

// Len is known after updates from Go slices, and is counted after others.
func TestLen(t *testing.T) {
	d := open(t)
	l := newLSM(t, d, Options{Batch: 32})
	want := map[uint32]uint32{}
	keys, values := batch(random(4), 500, 300, want)
	insert(t, l, keys, values)
	remove(t, l, keys[:10])
	live := maps.Clone(want)
	for _, k := range keys[:10] {
		delete(live, k)
	}
	n, err := l.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(live), n)
	s := testdevice.Stream(t, d)
	require.NoError(t, l.On(s).Update(t.Context(), structures.Insert, structures.DeviceBatch{
		Count: 500, Keys: testdevice.Upload(t, d, keys), Values: testdevice.Upload(t, d, values),
	}))
	require.NoError(t, s.Wait(t.Context()))
	n, err = l.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(want), n)
	require.EqualValues(t, len(want), stats(t, l).Pairs)
}

func TestOptions(t *testing.T) {
	d := open(t)
	for _, o := range []Options{
		{Batch: 16}, {Batch: 33}, {Batch: -32}, {Batch: 1 << 30}, {Capacity: -1}, {Capacity: MaxPairs + 1},
		{Cleanup: WhenStale(1)}, {Cleanup: WhenStale(-0.5)},
	} {
		_, err := New[uint32, uint32](t.Context(), d, o)
		var option *vk.OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
		require.Contains(t, err.Error(), option.Option)
	}
	_, err := New[uint32, uint32](cancelled(t), d, Options{})
	require.ErrorIs(t, err, context.Canceled)

	// With a capacity, all memory is allocated at the beginning and is kept.
	l := newLSM(t, d, Options{Batch: 64, Capacity: 64 * 31})
	before := stats(t, l).Bytes
	for range 31 {
		keys := ramp(64, 1, 1)
		insert(t, l, keys, keys)
	}
	require.Len(t, stats(t, l).Levels, 5)
	require.NoError(t, l.Trim())
	require.Equal(t, before, stats(t, l).Bytes)

	small := newLSM(t, d, Options{Batch: 64, MaxBytes: 100 << 10})
	want := map[uint32]uint32{}
	rng := random(5)
	for {
		had := maps.Clone(want)
		keys, values := batch(rng, 64, 1<<31, want)
		_, err := small.Insert(t.Context(), keys, values)
		if err == nil {
			continue
		}
		var full *vk.LimitError
		var pending *structures.PendingError
		require.ErrorAs(t, err, &full)
		require.ErrorAs(t, err, &pending)
		require.Equal(t, 64, pending.Operations)
		require.Greater(t, full.Want, full.Most)
		require.Equal(t, "MaxBytes", full.Option)
		require.NotEmpty(t, full.Error())
		require.Greater(t, len(had), 1000)
		requireContents(t, small, had)
		break
	}
}

func TestErrors(t *testing.T) {
	d := testdevice.Open(t)
	l, err := New[uint32, uint32](t.Context(), d, Options{Batch: 32})
	require.NoError(t, err)
	one := []uint32{1}
	var length *structures.LengthError
	_, err = l.Insert(t.Context(), one, nil)
	require.ErrorAs(t, err, &length)
	_, err = l.Apply(t.Context(), u32.Batch{Keys: one, Values: one})
	require.ErrorAs(t, err, &length)
	_, err = l.Apply(t.Context(), u32.Batch{Keys: one, Kinds: []structures.Kind{structures.Insert}})
	require.ErrorAs(t, err, &length)
	require.Equal(t, structures.LengthError{Keys: 1, Other: "values"}, *length)
	_, err = Build[uint32, uint32](t.Context(), d, one, nil, Options{})
	require.ErrorAs(t, err, &length)
	for _, kind := range []structures.Kind{structures.Mixed, structures.InsertDuplicate, structures.DeleteAll, 99} {
		var unknown *structures.KindError
		_, err = l.Apply(t.Context(), u32.Batch{Keys: one, Values: one, Kinds: []structures.Kind{kind}})
		require.ErrorAs(t, err, &unknown, kind)
		require.Equal(t, kind, unknown.Kind)
	}
	err = l.On(testdevice.Stream(t, d)).Update(t.Context(), structures.Insert, structures.DeviceBatch{Count: 1})
	require.ErrorAs(t, err, &length)

	_, err = l.Insert(cancelled(t), one, one)
	require.ErrorIs(t, err, context.Canceled)
	requireContents(t, l, nil)
	for pair, err := range l.All(cancelled(t)) {
		require.Zero(t, pair)
		require.ErrorIs(t, err, context.Canceled)
	}

	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	calls := map[string]func() error{
		"Insert":   func() error { _, err := l.Insert(t.Context(), one, one); return err },
		"Delete":   func() error { _, err := l.Delete(t.Context(), one); return err },
		"Find":     func() error { _, _, err := l.Find(t.Context(), one); return err },
		"Apply":    func() error { _, err := l.Apply(t.Context(), u32.Batch{}); return err },
		"Count":    func() error { _, err := l.Count(t.Context(), []u32.Range{u32.AllKeys}); return err },
		"Range":    func() error { _, err := l.Range(t.Context(), []u32.Range{u32.AllKeys}); return err },
		"Floor":    func() error { _, err := l.Neighbor(t.Context(), structures.Floor, one); return err },
		"Min":      func() error { _, _, _, err := numbers.Least(t.Context(), l); return err },
		"Len":      func() error { _, err := l.Len(t.Context()); return err },
		"Stats":    func() error { _, err := l.Inspect().Stats(t.Context()); return err },
		"Clear":    func() error { return l.Clear(t.Context()) },
		"Cleanup":  func() error { return l.Cleanup(t.Context()) },
		"Maintain": func() error { return l.Maintain(t.Context()) },
		"Trim":     l.Trim,
		"FindOn":   func() error { return l.On(nil).Find(structures.DeviceLookups{}) },
		"UpdateOn": func() error { return l.On(nil).Update(t.Context(), structures.Insert, structures.DeviceBatch{}) },
	}
	for name, call := range calls {
		require.ErrorIs(t, call(), vk.ErrClosed, name)
	}
	for pair, err := range l.Descend(t.Context(), u32.AllKeys) {
		require.Zero(t, pair)
		require.ErrorIs(t, err, vk.ErrClosed)
	}
}

// An LSM at its limit accepts no insertions, but deletions, alone and in mixed batches, and cleanups. Afterwards there
// is room again.
func TestDeletionsAtTheLimit(t *testing.T) {
	d := open(t)
	for _, o := range []Options{{Batch: 64, MaxBytes: 200 << 10}, {Batch: 1 << 10, MaxBytes: 400 << 10}} {
		l := newLSM(t, d, o)
		rng := random(8)
		want := map[uint32]uint32{}
		for range 3 {
			keys, values := batch(rng, 100_000, 1<<31, map[uint32]uint32{})
			status, err := l.Insert(t.Context(), keys, values)
			var full *vk.LimitError
			require.ErrorAs(t, err, &full)
			for i, s := range status {
				if s != structures.Pending {
					want[keys[i]] = values[i]
				}
			}
			requireContents(t, l, want)

			gone := append([]uint32{5, 6}, keys[:2000]...)
			gone = append(gone, keys[:10]...) // twice
			deleted := 0
			for i, s := range remove(t, l, gone) {
				_, there := want[gone[i]]
				require.Equal(t, there, s == structures.Deleted, "%d: %v", i, s)
				require.Equal(t, !there, s == structures.Absent, "%d: %v", i, s)
				if there {
					deleted++
				}
				delete(want, gone[i])
			}
			require.NotZero(t, deleted)
			requireContents(t, l, want)
			require.NoError(t, l.Cleanup(t.Context()))
			requireContents(t, l, want)
			require.LessOrEqual(t, stats(t, l).Bytes, o.MaxBytes+1<<20, "but for scratch")
		}
	}
}
