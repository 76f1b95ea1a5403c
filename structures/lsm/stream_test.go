package lsm_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// Batches on a stream: insertions and deletions of all sizes, with statuses and without. Nothing waits until the end,
// and the result is that of the same batches from Go slices.
func TestUpdatesOnStream(t *testing.T) {
	d := open(t)
	l, host := newLSM(t, d, Options{Batch: 64}), newLSM(t, d, Options{Batch: 64})
	s := testdevice.Stream(t, d)
	rng := random(1)
	want := map[uint32]uint32{}
	type check struct {
		got  *vk.Buffer[uint8]
		want []structures.Status
	}
	var checks []check
	for i, n := range []int{64, 64, 10, 64, 200, 1, 640, 64, 53, 64, 128} {
		keys, values := batch(rng, n+7, 900, want)
		u := structures.DeviceBatch{Count: n, First: 7, Keys: testdevice.Upload(t, d, keys),
			Values: testdevice.Upload(t, d, values)}
		keys, values = keys[7:], values[7:]
		if i%3 != 0 {
			u.Status = testdevice.Room[uint8](t, d, (n+3)&^3)
		}
		var statuses []structures.Status
		if i%4 == 3 {
			statuses = remove(t, host, keys)
			u.Values = nil
			require.NoError(t, l.On(s).Update(t.Context(), structures.Delete, u))
		} else {
			statuses = insert(t, host, keys, values)
			require.NoError(t, l.On(s).Update(t.Context(), structures.Insert, u))
		}
		if u.Status != nil {
			checks = append(checks, check{u.Status, statuses})
		}
	}
	require.NoError(t, s.Wait(t.Context()))
	for i, c := range checks {
		got := testdevice.Download(t, c.got, len(c.want))
		for j := range c.want {
			require.Equal(t, c.want[j], structures.Status(got[j]), "batch %d, operation %d", i, j)
		}
	}
	a, err := l.Range(t.Context(), []u32.Range{u32.AllKeys})
	require.NoError(t, err)
	b, err := host.Range(t.Context(), []u32.Range{u32.AllKeys})
	require.NoError(t, err)
	require.True(t, slices.Equal(a.Keys, b.Keys) && slices.Equal(a.Values, b.Values))
	require.NotEmpty(t, a.Keys)
}

// Queries on a stream come directly after an update on the same stream.
func TestQueriesOnStream(t *testing.T) {
	d := open(t)
	l := newLSM(t, d, Options{Batch: 64})
	s := testdevice.Stream(t, d)
	want := map[uint32]uint32{}
	keys, values := batch(random(2), 700, 1000, want)
	require.NoError(t, l.On(s).Update(t.Context(), structures.Insert,
		structures.DeviceBatch{Count: 700, Keys: testdevice.Upload(t, d, keys),
			Values: testdevice.Upload(t, d, values)}))
	require.NoError(t, l.On(s).Update(t.Context(), structures.Delete,
		structures.DeviceBatch{Count: 100, Keys: testdevice.Upload(t, d, keys)}))
	for _, k := range keys[:100] {
		delete(want, k)
	}
	const n = 1001
	queries := testdevice.Upload(t, d, ramp(n, 0, 1))
	for _, order := range []structures.LookupOrder{structures.AutoOrder, structures.OneByOne, structures.SortedFirst} {
		got, found := testdevice.Room[uint32](t, d, n), testdevice.Room[uint8](t, d, 1004)
		require.NoError(t, l.On(s).Find(structures.DeviceLookups{Count: n, Keys: queries, Values: got, Found: found,
			Order: order}))
		require.NoError(t, s.Wait(t.Context()))
		v, f := testdevice.Download(t, got, n), testdevice.Download(t, found, n)
		for k := range uint32(n) {
			value, there := want[k]
			require.Equal(t, []any{value, there}, []any{v[k], f[k] == 1}, "key %d", k)
		}
	}

	ranges := testdevice.Upload(t, d, []uint32{0, ^uint32(0), 10, 40, 40, 10, 500, 500})
	counts, candidates := testdevice.Room[uint32](t, d, 4), testdevice.Room[uint64](t, d, 1)
	require.NoError(t, l.On(s).Count(structures.DeviceCounts{Count: 4, Ranges: ranges, Counts: counts,
		Candidates: candidates}))
	offsets, outKeys, outValues := testdevice.Room[uint32](t, d, 5), testdevice.Room[uint32](t, d, 2000),
		testdevice.Room[uint32](t, d, 2000)
	total := testdevice.Room[uint64](t, d, 1)
	require.NoError(t, l.On(s).Range(structures.DeviceRanges{Count: 4, Ranges: ranges, Offsets: offsets, Keys: outKeys,
		Values: outValues, Candidates: total}))
	require.NoError(t, s.Wait(t.Context()))
	expect, err := l.Range(t.Context(), []u32.Range{u32.AllKeys, {Lo: 10, Hi: 40}, {Lo: 40, Hi: 10},
		{Lo: 500, Hi: 500}})
	require.NoError(t, err)
	require.Equal(t, len(want), int(expect.Offsets[1]))
	o := testdevice.Download(t, offsets, 5)
	for i := range 4 {
		require.EqualValues(t, expect.Offsets[i+1], o[i+1])
		require.EqualValues(t, expect.Offsets[i+1]-expect.Offsets[i], testdevice.Download(t, counts, 4)[i])
	}
	require.True(t, slices.Equal(expect.Keys, testdevice.Download(t, outKeys, len(expect.Keys))))
	require.True(t, slices.Equal(expect.Values, testdevice.Download(t, outValues, len(expect.Keys))))
	require.GreaterOrEqual(t, testdevice.Download(t, total, 1)[0], uint64(800),
		"stale ones and tombstones are candidates")
	require.Equal(t, testdevice.Download(t, total, 1), testdevice.Download(t, candidates, 1))

	nextKeys, nextValues, status, left := testdevice.Room[uint32](t, d, n), testdevice.Room[uint32](t, d, n),
		testdevice.Room[uint8](t, d, 1004), testdevice.Upload(t, d, []uint32{0})
	next := structures.DeviceNeighbors{Count: n, Keys: queries, OutKeys: nextKeys, OutValues: nextValues,
		Status: status, Left: left}
	require.NoError(t, l.On(s).Neighbor(structures.Ceil, next))
	require.NoError(t, s.Wait(t.Context()))
	require.Zero(t, testdevice.Download(t, left, 1)[0])
	ceil, err := l.Neighbor(t.Context(), structures.Ceil, ramp(n, 0, 1))
	require.NoError(t, err)
	require.True(t, slices.Equal(ceil.Keys, testdevice.Download(t, nextKeys, n)))
	require.True(t, slices.Equal(ceil.Values, testdevice.Download(t, nextValues, n)))
}

// More deleted keys follow each other than a search examines in one dispatch. Queries on streams stay pending until
// they are finished; those from Go slices finish by themselves.
func TestManyDeleted(t *testing.T) {
	d := open(t)
	l := newLSM(t, d, Options{Batch: 64})
	keys := ramp(3000, 100, 1)
	insert(t, l, keys, keys)
	remove(t, l, keys[1:2999])
	got, err := l.Neighbor(t.Context(), structures.Successor, []uint32{100, 99, 0, 3099})
	require.NoError(t, err)
	require.Equal(t, []uint32{3099, 100, 100, 0}, got.Keys)
	require.Equal(t, []bool{true, true, true, false}, got.Found)

	s := testdevice.Stream(t, d)
	left := testdevice.Upload(t, d, []uint32{0})
	n := structures.DeviceNeighbors{
		Count: 1, Keys: testdevice.Upload(t, d, []uint32{3098}), OutKeys: testdevice.Room[uint32](t, d, 1),
		OutValues: testdevice.Room[uint32](t, d, 1), Status: testdevice.Room[uint8](t, d, 4), Left: left,
	}
	times := 0
	for pending := true; pending; times++ {
		s.Fill(left, 0, 1, 0)
		require.NoError(t, l.On(s).Neighbor(structures.Floor, n))
		require.NoError(t, s.Wait(t.Context()))
		pending = testdevice.Download(t, left, 1)[0] != 0
		require.Equal(t, pending, structures.Status(testdevice.Download(t, n.Status, 1)[0]) == structures.Pending)
		n.Resume = true
		require.Less(t, times, 100)
	}
	require.Greater(t, times, 10)
	require.EqualValues(t, 100, testdevice.Download(t, n.OutKeys, 1)[0])

	n.Resume = false
	require.NoError(t, l.On(s).Neighbor(structures.Floor, n))
	require.ErrorIs(t, l.On(s).FinishNeighbors(cancelled(t), structures.Floor, n), context.Canceled)
	require.NoError(t, l.On(s).FinishNeighbors(t.Context(), structures.Floor, n))
	require.Zero(t, testdevice.Download(t, left, 1)[0])
	require.EqualValues(t, 100, testdevice.Download(t, n.OutKeys, 1)[0])
	require.NoError(t, l.On(s).FinishNeighbors(t.Context(), structures.Floor, n), "nothing is pending")
}
