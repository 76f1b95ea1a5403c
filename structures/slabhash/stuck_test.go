package slabhash_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// wordsPush copies words from address to address: shaders/test/words.comp.
type wordsPush struct {
	From, To uint64
	Count    uint32
}

// rowOfSlabs makes a table with base slabs of one key, a full slab behind them, and a last one.
func rowOfSlabs[W structures.Word](t *testing.T, d *vk.Device, load float64, tile int) *Map[W, W] {
	t.Helper()
	m, err := New[W, W](t.Context(), d, Options{Buckets: 4, Load: load, MaxLoad: -1, Tile: tile})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	slots := 15 // of a slab
	if structures.WidthOf[W]() == structures.Bits64 {
		slots = 7
	}
	slabs := 3
	if m.InShaders().Constants()["SLAB_SHARED"] != 0 {
		slabs = 5 // three base slabs
	}
	one := slices.Repeat([]W{77}, slabs*slots-1)
	_, err = m.InsertDuplicate(t.Context(), one, one)
	require.NoError(t, err)
	return m
}

// listOf returns the list of a key: its bucket, or its group.
func listOf[W structures.Word](m *Map[W, W], key W) uint32 {
	bucket := slabcheck.Bucket(m.InShaders().Description(), key)
	if m.InShaders().Constants()["SLAB_SHARED"] != 0 {
		return bucket / 16
	}
	return bucket
}

// makeCircle has the first slab behind the base slabs be its own next one, as a stray write may leave it.
func makeCircle[W structures.Word](t *testing.T, d *vk.Device, m *Map[W, W]) {
	t.Helper()
	const nextAt, slabBytes = 31, 128
	module, err := kernels.Load("test/words")
	require.NoError(t, err)
	k, err := vk.NewKernel[wordsPush](d, module, vk.KernelOptions{})
	require.NoError(t, err)
	t.Cleanup(k.Free)
	s := testdevice.Stream(t, d)
	table, last := m.InShaders().Description(), uint64(listOf(m, W(77)))
	if m.InShaders().Constants()["SLAB_SHARED"] != 0 {
		last = 21*last + 20
	}
	word := testdevice.Upload(t, d, make([]uint32, 1))
	k.Dispatch(s, 1, wordsPush{table.Base + last*slabBytes + 4*nextAt, word.Address(), 1})
	require.NoError(t, s.Wait(t.Context()))
	second := contents(t, word)[0]
	require.Less(t, second, uint32(1024), "the base slabs' next one")
	k.Dispatch(s, 1, wordsPush{word.Address(), table.Pool.Units + uint64(second)*slabBytes + 4*nextAt, 1})
	require.NoError(t, s.Wait(t.Context()))
}

// A list without an end: the operations in that list end with an error that counts them, on a stream as well; those in
// other buckets are done, unless their tile is held up by one of them.
func TestListWithoutEnd(t *testing.T) {
	pass.OneDriver(t, "SwiftShader's width is one of lavapipe's")
	for _, tile := range []int{1, 4} {
		t.Run(fmt.Sprint("32, tile ", tile), func(t *testing.T) { testListWithoutEnd[uint32](t, tile) })
		t.Run(fmt.Sprint("64, tile ", tile), func(t *testing.T) { testListWithoutEnd[uint64](t, tile) })
	}
}

func testListWithoutEnd[W structures.Word](t *testing.T, tile int) {
	d := testdevice.Open(t)
	m := rowOfSlabs[W](t, d, 0, tile)
	makeCircle(t, d, m)
	s, bucket := testdevice.Stream(t, d), slabcheck.Bucket(m.InShaders().Description(), W(77))

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var here, keys []W
	for n := uint32(1000); len(here) < 3; n++ {
		key := numbers.Key[W](n)
		if keys = append(keys, key); slabcheck.Bucket(m.InShaders().Description(), key) == bucket {
			here = append(here, key)
		}
	}
	statuses, err := m.Insert(ctx, keys, keys)
	pending, together := 0, make([]bool, len(keys)/tile+1)
	for i, status := range statuses {
		heldUp := together[i/tile]
		switch {
		case slabcheck.Bucket(m.InShaders().Description(), keys[i]) == bucket:
			require.Equal(t, structures.Pending, status)
			together[i/tile] = true
		case heldUp:
			require.Contains(t, []structures.Status{structures.Pending, structures.Inserted}, status)
		default:
			require.Equal(t, structures.Inserted, status)
		}
		if status == structures.Pending {
			pending++
		}
	}
	requireStuck(t, pending, err)
	b := structures.DeviceBatch{Count: len(here), Keys: testdevice.Upload(t, d, numbers.Words(here)),
		Status: testdevice.Room[uint8](t, d, 4), Left: testdevice.Upload(t, d, []uint32{0})}
	require.NoError(t, m.On(s).Apply(structures.Delete, b))
	requireStuck(t, len(here), m.On(s).Finish(ctx, structures.Delete, b))
}

// A rehash of a list without an end says so, whether there are pairs in it, for which no pool has room, or none; the
// table keeps its buckets and what is in the others.
func TestRehashOfListWithoutEnd(t *testing.T) {
	for _, load := range []float64{0.7, 1} {
		t.Run(fmt.Sprint("32, load ", load), func(t *testing.T) { testRehashOfListWithoutEnd[uint32](t, load) })
		t.Run(fmt.Sprint("64, load ", load), func(t *testing.T) { testRehashOfListWithoutEnd[uint64](t, load) })
	}
}

func testRehashOfListWithoutEnd[W structures.Word](t *testing.T, load float64) {
	d := testdevice.Open(t)
	for _, pairs := range []bool{true, false} {
		m := rowOfSlabs[W](t, d, load, 0)
		var others []W
		for n := uint32(1000); len(others) < 40; n++ {
			key := numbers.Key[W](n)
			if listOf(m, key) != listOf(m, W(77)) {
				others = append(others, key)
			}
		}
		_, err := m.Insert(t.Context(), others, others)
		require.NoError(t, err)
		if !pairs {
			_, err := m.DeleteAll(t.Context(), []W{77})
			require.NoError(t, err)
		}
		makeCircle(t, d, m)
		before := m.InShaders().Description()
		for _, buckets := range []int{4, 9, 1000} {
			var stuck *structures.StuckError
			require.ErrorAs(t, m.Rehash(t.Context(), buckets), &stuck, "%d buckets, pairs in the list: %v", buckets,
				pairs)
			require.Positive(t, stuck.Operations)
		}
		after := m.InShaders().Description()
		require.Equal(t, before.Pool.Blocks, after.Pool.Blocks, "the pool grows for what no pool has room for")
		require.Equal(t, before.Buckets, after.Buckets)
		values, found, err := m.Find(t.Context(), others)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		require.Equal(t, others, values)
	}
}

func requireStuck(t *testing.T, want int, err error) {
	t.Helper()
	var stuck *structures.StuckError
	require.ErrorAs(t, err, &stuck)
	require.Equal(t, want, stuck.Operations)
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	require.Equal(t, want, pending.Operations)
}
