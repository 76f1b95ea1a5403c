package sortedarray_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

func newArray(t testing.TB, d *vk.Device, o Options) *Array[uint32, uint32] {
	t.Helper()
	a, err := New[uint32, uint32](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// batch returns n random pairs whose keys are below a bound, and applies them to a Go map.
func batch(rng *rand.Rand, n int, below uint32, want map[uint32]uint32) (keys, values []uint32) {
	keys, values = make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i], values[i] = rng.Uint32N(below), rng.Uint32()
		if values[i]%5 == 0 {
			values[i] = ^uint32(0)
		}
		want[keys[i]] = values[i]
	}
	return keys, values
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

// requireContents compares all pairs with a Go map.
func requireContents(t testing.TB, a *Array[uint32, uint32], want map[uint32]uint32) {
	t.Helper()
	n, err := a.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(want), n)
	r, err := a.Range(t.Context(), []u32.Range{u32.AllKeys})
	require.NoError(t, err)
	require.Equal(t, len(want), len(r.Keys))
	require.True(t, slices.IsSorted(r.Keys))
	for i, k := range r.Keys {
		if v, ok := want[k]; !ok || v != r.Values[i] {
			t.Fatalf("key %#x has the value %d, want %d (%v)", k, r.Values[i], v, ok)
		}
	}
}

func TestBuild(t *testing.T) {
	d := testdevice.Open(t)
	for _, n := range []int{0, 1, 2, 31, 32, 33, 5000, 70000} {
		want := map[uint32]uint32{}
		keys, values := batch(random(uint64(n)), n, 40000, want)
		a, err := Build(t.Context(), d, keys, values, Options{})
		require.NoError(t, err)
		requireContents(t, a, want)
		got, found, err := a.Find(t.Context(), []uint32{0, 1, 2, 40000})
		require.NoError(t, err)
		for i, k := range []uint32{0, 1, 2, 40000} {
			v, there := want[k]
			require.Equal(t, []any{v, there}, []any{got[i], found[i]})
		}
		require.NoError(t, a.Close())
	}
}

// More than one chunk, and a batch many times the array's size.
func TestLargeBatches(t *testing.T) {
	a := newArray(t, testdevice.Open(t), Options{Capacity: 10})
	want := map[uint32]uint32{}
	rng := random(1)
	for _, n := range []int{300, 200000, 5} {
		keys, values := batch(rng, n, 1<<19, want)
		_, err := a.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		requireContents(t, a, want)
	}
	keys := make([]uint32, 0, len(want))
	for k := range want {
		if k%3 != 0 {
			keys = append(keys, k)
			delete(want, k)
		}
	}
	statuses, err := a.Delete(t.Context(), keys)
	require.NoError(t, err)
	require.False(t, slices.ContainsFunc(statuses, func(s structures.Status) bool { return s != structures.Deleted }))
	requireContents(t, a, want)
	before, err := a.Inspect().Stats(t.Context())
	require.NoError(t, err)
	a.Trim()
	after, err := a.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Less(t, after.Bytes, before.Bytes)
	require.EqualValues(t, len(want), after.Pairs)
	requireContents(t, a, want)
}

// Batches on a stream, with statuses and without, followed by queries.
func TestStream(t *testing.T) {
	d := testdevice.Open(t)
	a := newArray(t, d, Options{})
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	words := func(n int, data ...uint32) *vk.Buffer[uint32] {
		b, err := vk.NewBuffer[uint32](d, n)
		require.NoError(t, err)
		t.Cleanup(b.Free)
		require.NoError(t, b.Upload(t.Context(), 0, data))
		return b
	}
	bytes := func(n int) *vk.Buffer[uint8] {
		b, err := vk.NewBuffer[uint8](d, n)
		require.NoError(t, err)
		t.Cleanup(b.Free)
		return b
	}
	status := bytes(8)
	keys, values := words(6, 5, 3, 9, 3, 7, 1), words(6, 50, 30, 90, 31, ^uint32(0), 10)
	update := func(kind structures.Kind, b structures.DeviceBatch) {
		t.Helper()
		require.NoError(t, a.On(s).Update(t.Context(), kind, b))
	}
	update(structures.Insert, structures.DeviceBatch{Count: 5, Keys: keys, Values: values, Status: status})
	update(structures.Delete, structures.DeviceBatch{Count: 2, First: 4, Keys: keys})
	update(structures.Insert, structures.DeviceBatch{Count: 1, First: 5, Keys: keys, Values: values})
	found, got := bytes(4), words(4)
	require.NoError(t, a.On(s).Find(structures.DeviceLookups{
		Count: 3, Keys: words(3, 3, 7, 1), Values: got, Found: found,
	}))
	counts := words(2)
	require.NoError(t, a.On(s).Count(structures.DeviceCounts{Count: 2, Ranges: words(4, 1, 5, 9, 2), Counts: counts}))
	offsets, outKeys, outValues := words(2), words(10), words(10)
	total, err := vk.NewBuffer[uint64](d, 1)
	require.NoError(t, err)
	defer total.Free()
	require.NoError(t, a.On(s).Range(structures.DeviceRanges{
		Count: 1, Ranges: words(2, 0, ^uint32(0)), Offsets: offsets, Keys: outKeys, Values: outValues,
		Candidates: total,
	}))
	next := structures.DeviceNeighbors{
		Count: 1, Keys: words(1, 5), OutKeys: words(1), OutValues: words(1), Status: bytes(4), Left: words(1, 0),
	}
	require.NoError(t, a.On(s).Neighbor(structures.Successor, next))
	require.NoError(t, s.Wait(t.Context()))

	download := func(b *vk.Buffer[uint32], n int) []uint32 {
		w := make([]uint32, n)
		require.NoError(t, b.Download(t.Context(), 0, w))
		return w
	}
	five := make([]uint8, 5)
	require.NoError(t, status.Download(t.Context(), 0, five))
	in := uint8(structures.Inserted)
	require.Equal(t, []uint8{in, in, in, uint8(structures.Assigned), in}, five)
	require.NoError(t, found.Download(t.Context(), 0, five[:3]))
	require.Equal(t, []uint8{1, 0, 1}, five[:3])
	require.Equal(t, []uint32{31, 0, 10}, download(got, 3))
	require.Equal(t, []uint32{3, 0}, download(counts, 2))
	require.Equal(t, []uint32{0, 4}, download(offsets, 2))
	require.Equal(t, []uint32{1, 3, 5, 9}, download(outKeys, 4))
	require.Equal(t, []uint32{10, 31, 50, 90}, download(outValues, 4))
	require.Equal(t, []uint32{9, 90, 0},
		slices.Concat(download(next.OutKeys, 1), download(next.OutValues, 1), download(next.Left, 1)))
}

func TestErrors(t *testing.T) {
	d := testdevice.Open(t)
	var option *vk.OptionError
	for _, n := range []int{-1, MaxPairs + 1} {
		_, err := New[uint32, uint32](t.Context(), d, Options{Capacity: n})
		require.ErrorAs(t, err, &option)
		require.Contains(t, err.Error(), "Capacity")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := New[uint32, uint32](done, d, Options{})
	require.ErrorIs(t, err, context.Canceled)
	a, err := New[uint32, uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	one := []uint32{1}
	var length *structures.LengthError
	_, err = a.Insert(t.Context(), one, nil)
	require.ErrorAs(t, err, &length)
	_, err = Build[uint32, uint32](t.Context(), d, one, nil, Options{})
	require.ErrorAs(t, err, &length)
	stream, err := d.NewStream()
	require.NoError(t, err)
	defer stream.Close()
	require.ErrorAs(t, a.On(stream).Find(structures.DeviceLookups{Count: 1}), &length)
	var kind *structures.KindError
	duplicates := []structures.Kind{structures.InsertDuplicate}
	_, err = a.Apply(t.Context(), u32.Batch{Keys: one, Values: one, Kinds: duplicates})
	require.ErrorAs(t, err, &kind)
	statuses, err := a.Insert(done, one, one)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []structures.Status{structures.Pending}, statuses)
	requireContents(t, a, nil)
	statuses, err = a.Insert(t.Context(), one, one)
	require.NoError(t, err)
	require.Equal(t, []structures.Status{structures.Inserted}, statuses)
	require.NoError(t, a.Clear(t.Context()))
	requireContents(t, a, nil)

	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	for name, call := range map[string]func() error{
		"Insert": func() error { _, err := a.Insert(t.Context(), one, one); return err },
		"Delete": func() error { _, err := a.Delete(t.Context(), one); return err },
		"Find":   func() error { _, _, err := a.Find(t.Context(), one); return err },
		"Range":  func() error { _, err := a.Range(t.Context(), []u32.Range{u32.AllKeys}); return err },
		"Ceil":   func() error { _, err := a.Neighbor(t.Context(), structures.Ceil, one); return err },
		"Max":    func() error { _, _, _, err := numbers.Greatest(t.Context(), a); return err },
		"Len":    func() error { _, err := a.Len(t.Context()); return err },
		"Stats":  func() error { _, err := a.Inspect().Stats(t.Context()); return err },
		"Clear":  func() error { return a.Clear(t.Context()) },
	} {
		require.ErrorIs(t, call(), vk.ErrClosed, name)
	}
}
