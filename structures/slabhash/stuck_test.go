package slabhash_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// wordsPush copies words from address to address: shaders/test/words.comp.
type wordsPush struct {
	From, To uint64
	Count    uint32
}

const listSlots = 15 // of a slab

// rowOfSlabs makes a table with a base slab, a full one behind it, and a last one, all of one key.
func rowOfSlabs(t *testing.T, d *vk.Device) *Map[uint32, uint32] {
	t.Helper()
	m := newMap(t, d, Options{Buckets: 4, MaxLoad: -1})
	one := make([]uint32, 3*listSlots-1)
	for i := range one {
		one[i] = 77
	}
	_, err := m.InsertDuplicate(t.Context(), one, one)
	require.NoError(t, err)
	return m
}

// makeCircle has the second slab of that row be its own next one, as a stray write may leave it.
func makeCircle(t *testing.T, d *vk.Device, m *Map[uint32, uint32]) {
	t.Helper()
	const nextAt, slabBytes = 31, 128
	module, err := shaders.Load("test/words")
	require.NoError(t, err)
	k, err := vk.NewKernel[wordsPush](d, module, vk.KernelOptions{})
	require.NoError(t, err)
	t.Cleanup(k.Free)
	s := testdevice.Stream(t, d)
	table, bucket := m.Device(), slabcheck.Bucket(m.Device(), uint32(77))
	word := testdevice.Upload(t, d, make([]uint32, 1))
	k.Dispatch(s, 1, wordsPush{table.Base + uint64(bucket)*slabBytes + 4*nextAt, word.Address(), 1})
	require.NoError(t, s.Wait(t.Context()))
	second := contents(t, word)[0]
	require.Less(t, second, uint32(1024), "the base slab's next one")
	k.Dispatch(s, 1, wordsPush{word.Address(), table.Pool.Units + uint64(second)*slabBytes + 4*nextAt, 1})
	require.NoError(t, s.Wait(t.Context()))
}

// A list without an end: operations in other buckets are done, those in that list end with an error that counts them,
// on a stream as well.
func TestListWithoutEnd(t *testing.T) {
	d := testdevice.Open(t)
	m := rowOfSlabs(t, d)
	makeCircle(t, d, m)
	s, bucket := testdevice.Stream(t, d), slabcheck.Bucket(m.Device(), uint32(77))

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var here, keys []uint32
	for key := uint32(1000); len(here) < 3; key++ {
		if keys = append(keys, key); slabcheck.Bucket(m.Device(), key) == bucket {
			here = append(here, key)
		}
	}
	statuses, err := m.Insert(ctx, keys, keys)
	requireStuck(t, len(here), err)
	for i, status := range statuses {
		if slabcheck.Bucket(m.Device(), keys[i]) == bucket {
			require.Equal(t, structures.Pending, status)
		} else {
			require.Equal(t, structures.Inserted, status)
		}
	}
	b := deviceBatch(t, d, here, nil)
	require.NoError(t, m.ApplyOn(s, structures.Delete, b))
	requireStuck(t, len(here), m.Finish(ctx, s, structures.Delete, b))
}

// A rehash of a list without an end says so, whether there are pairs in it, for which no pool has room, or none; the
// table keeps its buckets and what is in the others.
func TestRehashOfListWithoutEnd(t *testing.T) {
	d := testdevice.Open(t)
	for _, pairs := range []bool{true, false} {
		m := rowOfSlabs(t, d)
		var others []uint32
		for key := uint32(1000); len(others) < 40; key++ {
			if slabcheck.Bucket(m.Device(), key) != slabcheck.Bucket(m.Device(), uint32(77)) {
				others = append(others, key)
			}
		}
		_, err := m.Insert(t.Context(), others, others)
		require.NoError(t, err)
		if !pairs {
			_, err := m.DeleteAll(t.Context(), []uint32{77})
			require.NoError(t, err)
		}
		makeCircle(t, d, m)
		blocks := m.Device().Pool.Blocks
		for _, buckets := range []int{4, 9, 1000} {
			var stuck *structures.StuckError
			require.ErrorAs(t, m.Rehash(t.Context(), buckets), &stuck, "%d buckets, pairs in the list: %v", buckets,
				pairs)
			require.Positive(t, stuck.Operations)
		}
		require.Equal(t, blocks, m.Device().Pool.Blocks, "the pool grows for what no pool has room for")
		require.EqualValues(t, 4, m.Device().Buckets)
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
