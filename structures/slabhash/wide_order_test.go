package slabhash

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
)

// Of equal 64-bit keys in a batch from slices the last one's value stays, of unique ones the first one's; keys differ
// in one word alone.
func TestWideOrder(t *testing.T) {
	d := testdevice.Open(t)
	const n = 30000 // too many to be looked at
	rng := rand.New(rand.NewPCG(9, 2))
	keys, values := make([]uint64, n), make([]uint64, n)
	last, first := map[uint64]uint64{}, map[uint64]uint64{}
	for i := range keys {
		keys[i], values[i] = rng.Uint64N(300)<<32|rng.Uint64N(30), rng.Uint64()
		if _, there := first[keys[i]]; !there {
			first[keys[i]] = values[i]
		}
		last[keys[i]] = values[i]
	}
	for kind, want := range map[structures.Kind]map[uint64]uint64{
		structures.Insert: last, structures.InsertUnique: first,
	} {
		x, err := New[uint64, uint64](t.Context(), d, Options{})
		require.NoError(t, err)
		statuses := make([]structures.Status, n)
		require.NoError(t, x.UpdateInto(t.Context(), kind, keys, values, statuses))
		got, at, err := numbers.All(t.Context(), x)
		require.NoError(t, err)
		held, seen := map[uint64]uint64{}, map[uint64]bool{}
		for i, key := range got {
			held[key] = at[i]
		}
		require.Equal(t, want, held, kind)
		for i, key := range keys {
			require.Equal(t, !seen[key], statuses[i] == structures.Inserted, "%v %#x", kind, key)
			seen[key] = true
		}
		require.NoError(t, x.Close())
	}
}
