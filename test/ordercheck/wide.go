package ordercheck

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Wide is an ordered dictionary of 64-bit words.
type Wide interface {
	structures.Ordered[uint64, uint64]
	On(*vk.Stream) structures.OrderedOnStream
}

// wide does random batches to a dictionary and a Go map, and compares them.
type wide struct {
	t    *testing.T
	d    *vk.Device
	s    *vk.Stream
	x    Wide
	g    *rand.Rand
	keys []uint64 // those that come up again and again
	want map[uint64]uint64
}

// RequireWide has so many batches from device buffers done by an empty dictionary, and requires all answers to be those
// of a Go map: keys and values whose words are all ones or zeros, keys that differ in one word alone, keys that come
// often in a batch, batches behind others in their buffers. between is called behind each batch; or nil.
func RequireWide(t *testing.T, d *vk.Device, x Wide, batches int, between func(batch int)) {
	w := &wide{t, d, testdevice.Stream(t, d), x, rand.New(rand.NewPCG(64, uint64(batches))), nil, map[uint64]uint64{}}
	words := []uint64{0, 1, 1 << 31, math.MaxUint32 - 1, math.MaxUint32}
	for _, high := range words {
		for _, low := range words {
			w.keys = append(w.keys, high<<32|low)
		}
	}
	for range 150 {
		w.keys = append(w.keys, w.g.Uint64(), 7<<32|w.g.Uint64N(1<<32), w.g.Uint64N(1<<32)<<32|7)
	}
	kinds := []structures.Kind{structures.Insert, structures.InsertAdd, structures.Delete, structures.InsertUnique,
		structures.InsertMin, structures.Insert, structures.InsertMax, structures.Delete, structures.Delete}
	for i := range batches {
		w.update(kinds[i%len(kinds)], []int{64, 1, 33, 700, 64, 250}[i%6], i%2*5)
		if between != nil {
			between(i)
		}
		if i%6 == 5 {
			w.compare()
		}
	}
	w.compare()
	w.slices()
}

// key is one of those that come up again, or beside one in either word.
func (w *wide) key() uint64 {
	key := w.keys[w.g.IntN(len(w.keys))]
	switch w.g.IntN(8) {
	case 0:
		return key + w.g.Uint64N(3) - 1
	case 1:
		return key ^ 1<<w.g.IntN(64)
	}
	return key
}

func (w *wide) some(n int, one func() uint64) []uint64 {
	all := make([]uint64, n)
	for i := range all {
		all[i] = one()
	}
	return all
}

// value is any, or one whose words are all ones or zeros: all ones is what tombstones have.
func (w *wide) value() uint64 {
	if w.g.IntN(3) == 0 {
		return []uint64{0, math.MaxUint32, math.MaxUint64 - math.MaxUint32, math.MaxUint64}[w.g.IntN(4)]
	}
	return w.g.Uint64()
}

// words are numbers as they stand in device buffers.
func words(numbers []uint64) []uint32 {
	all := make([]uint32, 0, 2*len(numbers))
	for _, n := range numbers {
		all = append(all, uint32(n), uint32(n>>32))
	}
	return all
}

func (w *wide) put(numbers []uint64) *vk.Buffer[uint32] {
	return testdevice.Upload(w.t, w.d, words(numbers))
}

func (w *wide) room(n int) *vk.Buffer[uint32] { return testdevice.Room[uint32](w.t, w.d, 2*n) }

// get is what stands in a buffer of numbers.
func (w *wide) get(b *vk.Buffer[uint32], n int) []uint64 {
	all := testdevice.Download(w.t, b, 2*n)
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = uint64(all[2*i+1])<<32 | uint64(all[2*i])
	}
	return numbers
}

func (w *wide) statuses(n int) *vk.Buffer[uint8] { return testdevice.Room[uint8](w.t, w.d, (n+3)&^3) }

func (w *wide) wait(recorded error) {
	w.t.Helper()
	require.NoError(w.t, recorded)
	require.NoError(w.t, w.s.Wait(w.t.Context()))
}

// do does an operation to the map.
func (w *wide) do(kind structures.Kind, key, value uint64) structures.Status {
	old, there := w.want[key]
	switch {
	case kind == structures.Delete && there:
		delete(w.want, key)
		return structures.Deleted
	case kind == structures.Delete:
		return structures.Absent
	case !there:
		w.want[key] = value
		return structures.Inserted
	}
	var status structures.Status
	w.want[key], status = After(kind, old, value)
	return status
}

// update does a batch of n operations, which stand behind others in their buffers.
func (w *wide) update(kind structures.Kind, n, first int) {
	w.t.Helper()
	keys, values := w.some(first+n, w.key), w.some(first+n, w.value)
	b := structures.DeviceBatch{Count: n, First: first, Keys: w.put(keys), Status: w.statuses(n)}
	if kind != structures.Delete {
		b.Values = w.put(values)
	}
	want := make([]structures.Status, n)
	for i := range want {
		want[i] = w.do(kind, keys[first+i], values[first+i])
	}
	require.NoError(w.t, w.x.On(w.s).Update(w.t.Context(), kind, b))
	require.NoError(w.t, w.x.On(w.s).Finish(w.t.Context(), kind, b))
	for i, got := range testdevice.Download(w.t, b.Status, n) {
		require.Equal(w.t, want[i], structures.Status(got), "%v number %d, of key %#x", kind, i, keys[first+i])
	}
}

// sorted are the map's pairs in key order.
func (w *wide) sorted() (keys, values []uint64) {
	keys = slices.Sorted(maps.Keys(w.want))
	for _, key := range keys {
		values = append(values, w.want[key])
	}
	return keys, values
}

// compare asks all that device buffers are asked.
func (w *wide) compare() {
	w.t.Helper()
	keys, values := w.sorted()
	const n = 120
	asked := append(w.some(n-2, w.key), 0, math.MaxUint64)

	room := len(keys) + 3
	e := structures.DeviceExport{Keys: w.room(room), Values: w.room(room),
		Total: testdevice.Room[uint32](w.t, w.d, 1)}
	w.wait(w.x.On(w.s).Export(e))
	require.Equal(w.t, uint32(len(keys)), testdevice.Download(w.t, e.Total, 1)[0])
	require.True(w.t, slices.Equal(keys, w.get(e.Keys, len(keys))), "exported keys")
	require.True(w.t, slices.Equal(values, w.get(e.Values, len(keys))), "exported values")

	for _, order := range []structures.LookupOrder{structures.OneByOne, structures.SortedFirst} {
		l := structures.DeviceLookups{Count: n, Keys: w.put(asked), Values: w.room(n), Found: w.statuses(n),
			Order: order}
		w.wait(w.x.On(w.s).Find(l))
		got, found := w.get(l.Values, n), testdevice.Download(w.t, l.Found, n)
		for i, key := range asked {
			value, there := w.want[key]
			require.Equal(w.t, there, found[i] == 1, "key %#x", key)
			require.Equal(w.t, value, got[i], "the value of %#x", key)
		}
	}
	w.compareNeighbors(keys, asked)
	w.compareRanges(keys, values, asked[:40])
}

// neighbor is where the neighbor of a key is in keys, or would be.
func neighbor(keys []uint64, to structures.Direction, key uint64) int {
	at, there := slices.BinarySearch(keys, key)
	switch {
	case to == structures.Successor && there:
		at++
	case to == structures.Predecessor, to == structures.Floor && !there:
		at--
	}
	return at
}

func (w *wide) compareNeighbors(keys, asked []uint64) {
	w.t.Helper()
	n := len(asked)
	query := func() structures.DeviceNeighbors {
		return structures.DeviceNeighbors{Count: n, Keys: w.put(asked), OutKeys: w.room(n), OutValues: w.room(n),
			Status: w.statuses(n), Left: testdevice.Upload(w.t, w.d, []uint32{0})}
	}
	check := func(q structures.DeviceNeighbors, what string, want func(i int) int) {
		w.t.Helper()
		gotKeys, gotValues := w.get(q.OutKeys, n), w.get(q.OutValues, n)
		for i, status := range testdevice.Download(w.t, q.Status, n) {
			key, value, found := uint64(0), uint64(0), structures.Absent
			if at := want(i); at >= 0 && at < len(keys) {
				key, value, found = keys[at], w.want[keys[at]], structures.Found
			}
			require.Equal(w.t, []any{key, value, found}, []any{gotKeys[i], gotValues[i], structures.Status(status)},
				"%s of %#x", what, asked[i])
		}
	}
	for to := structures.Successor; to <= structures.Ceil; to++ {
		q := query()
		require.NoError(w.t, w.x.On(w.s).Neighbor(to, q))
		require.NoError(w.t, w.x.On(w.s).FinishNeighbors(w.t.Context(), to, q))
		check(q, to.String(), func(i int) int { return neighbor(keys, to, asked[i]) })
	}
	r := structures.DeviceRanks{Count: n, Keys: w.put(asked), Ranks: testdevice.Room[uint32](w.t, w.d, n)}
	w.wait(w.x.On(w.s).Rank(r))
	ranks := testdevice.Download(w.t, r.Ranks, n)
	for i, key := range asked {
		require.Equal(w.t, neighbor(keys, structures.Ceil, key), int(ranks[i]), "the rank of %#x", key)
	}
	q := query()
	q.Keys = r.Ranks
	w.wait(w.x.On(w.s).Select(q))
	check(q, "the pair of rank", func(i int) int { return int(ranks[i]) })
}

// between are the pairs of a range, in order.
func between(keys []uint64, lo, hi uint64) (from, to int) {
	if lo > hi {
		return 0, 0
	}
	return neighbor(keys, structures.Ceil, lo), neighbor(keys, structures.Floor, hi) + 1
}

func (w *wide) compareRanges(keys, values, ends []uint64) {
	w.t.Helper()
	n := len(ends) / 2
	want, offsets := [][]uint64{nil, nil}, []uint32{0}
	counts := make([]uint32, n)
	for i := range counts {
		from, to := between(keys, ends[2*i], ends[2*i+1])
		counts[i] = uint32(to - from)
		want[0], want[1] = append(want[0], keys[from:to]...), append(want[1], values[from:to]...)
		offsets = append(offsets, uint32(len(want[0])))
	}
	c := structures.DeviceCounts{Count: n, Ranges: w.put(ends), Counts: testdevice.Room[uint32](w.t, w.d, n)}
	w.wait(w.x.On(w.s).Count(c))
	require.Equal(w.t, counts, testdevice.Download(w.t, c.Counts, n))
	room := len(want[0]) + 1
	r := structures.DeviceRanges{Count: n, Ranges: c.Ranges, Offsets: testdevice.Room[uint32](w.t, w.d, n+1),
		Keys: w.room(room), Values: w.room(room), Candidates: testdevice.Room[uint64](w.t, w.d, 1),
		MaxCandidates: 1 << 17}
	w.wait(w.x.On(w.s).Range(r))
	require.Equal(w.t, offsets, testdevice.Download(w.t, r.Offsets, n+1))
	require.True(w.t, slices.Equal(want[0], w.get(r.Keys, len(want[0]))), "keys of ranges")
	require.True(w.t, slices.Equal(want[1], w.get(r.Values, len(want[0]))), "values of ranges")
}

// slices asks Go slices for what they have beside: mixed batches, and deletions of ranges, with what is left of it.
func (w *wide) slices() {
	w.t.Helper()
	keys, values := w.some(300, w.key), w.some(300, w.value)
	kinds := make([]structures.Kind, len(keys))
	for i := range kinds {
		kinds[i] = structures.Insert
		if i%3 == 0 {
			kinds[i] = structures.InsertAdd
		}
		w.do(kinds[i], keys[i], values[i])
	}
	_, err := w.x.Apply(w.t.Context(), structures.Batch[uint64, uint64]{Kinds: kinds, Keys: keys, Values: values})
	require.NoError(w.t, err)
	all, _ := w.sorted()
	ranges := []structures.Range[uint64]{{Lo: 0, Hi: 1 << 32}, {Lo: 7 << 32, Hi: 7<<32 | math.MaxUint32},
		{Lo: math.MaxUint64, Hi: math.MaxUint64}}
	var want []uint32
	for _, r := range ranges {
		from, to := between(all, r.Lo, r.Hi)
		want = append(want, uint32(to-from))
		for _, key := range all[from:to] {
			delete(w.want, key)
		}
	}
	got, err := w.x.DeleteRange(w.t.Context(), ranges)
	require.NoError(w.t, err)
	require.Equal(w.t, want, got)
	n, err := w.x.Len(w.t.Context())
	require.NoError(w.t, err)
	require.EqualValues(w.t, len(w.want), n)
	w.compare()
}
