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

// A list without an end, as a stray write leaves it: operations in other buckets are done, those in that list end with
// an error that counts them, on a stream as well.
func TestListWithoutEnd(t *testing.T) {
	d := testdevice.Open(t)
	const slots, nextAt, slabBytes = 15, 31, 128
	m := newMap(t, d, Options{Buckets: 4, MaxLoad: -1})
	one := make([]uint32, 3*slots-1) // a base slab, a full one behind it, and the last one
	for i := range one {
		one[i] = 77
	}
	_, err := m.InsertDuplicate(t.Context(), one, one)
	require.NoError(t, err)

	// The second slab becomes its own next one.
	module, err := shaders.Load("test/words")
	require.NoError(t, err)
	k, err := vk.NewKernel[wordsPush](d, module, vk.KernelOptions{})
	require.NoError(t, err)
	t.Cleanup(k.Free)
	s := testdevice.Stream(t, d)
	table, bucket := m.Device(), slabcheck.Bucket(m.Device(), 77)
	word := testdevice.Upload(t, d, make([]uint32, 1))
	k.Dispatch(s, 1, wordsPush{table.Base + uint64(bucket)*slabBytes + 4*nextAt, word.Address(), 1})
	require.NoError(t, s.Wait(t.Context()))
	second := contents(t, word)[0]
	require.Less(t, second, uint32(1024), "the base slab's next one")
	k.Dispatch(s, 1, wordsPush{word.Address(), table.Pool.Units + uint64(second)*slabBytes + 4*nextAt, 1})
	require.NoError(t, s.Wait(t.Context()))

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

func requireStuck(t *testing.T, want int, err error) {
	t.Helper()
	var stuck *structures.StuckError
	require.ErrorAs(t, err, &stuck)
	require.Equal(t, want, stuck.Operations)
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	require.Equal(t, want, pending.Operations)
}
