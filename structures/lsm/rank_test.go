package lsm_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/lsm"
)

// The stack has more pairs than one dispatch examines, many of them stale or deleted, and there are more ranks to
// select than one dispatch does.
func TestManyRanks(t *testing.T) {
	const n = 1 << 16
	l := newLSM(t, open(t), Options{Batch: 1 << 10})
	rng := random(13)
	want := map[uint32]uint32{}
	for range 3 {
		keys, values := make([]uint32, n), make([]uint32, n)
		for i := range keys {
			keys[i], values[i] = rng.Uint32N(3*n)*20000, rng.Uint32()
			want[keys[i]] = values[i]
		}
		insert(t, l, keys, values)
		for _, k := range keys[:n/4] {
			delete(want, k)
		}
		_, err := l.Delete(t.Context(), keys[:n/4])
		require.NoError(t, err)
	}
	require.Greater(t, stats(t, l).Resident, uint64(1<<17))
	sorted := slices.Sorted(maps.Keys(want))
	require.Greater(t, len(sorted), 1<<16)

	asked := make([]uint32, len(sorted))
	for i := range asked {
		asked[i] = sorted[i] + uint32(i%2) // every other key is absent, but the key below it is there
	}
	ranks, err := l.Rank(t.Context(), asked)
	require.NoError(t, err)
	for i, rank := range ranks {
		require.EqualValues(t, i+i%2, rank)
	}
	last := len(sorted) - 1
	for i := range asked {
		asked[i] = uint32(last - i)
	}
	pairs, err := l.Select(t.Context(), asked)
	require.NoError(t, err)
	for i, k := range pairs.Keys {
		if k != sorted[last-i] || pairs.Values[i] != want[k] || !pairs.Found[i] {
			t.Fatalf("pair of rank %d: %#x %d", last-i, k, pairs.Values[i])
		}
	}
}
