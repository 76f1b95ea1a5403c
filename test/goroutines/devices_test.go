package goroutines

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/relational"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Structures on two devices of a machine are used at the same time, pairs go from one device to the other while both
// are changed, and what becomes of one device is nothing to the other.
func TestTwoDevices(t *testing.T) {
	all, err := vk.List()
	require.NoError(t, err)
	if len(all) < 2 {
		t.Skip("there is one device")
	}
	var devices [2]*vk.Device
	var trees [2]*btree.Tree[uint32, uint32]
	var maps [2]*slabhash.Map[uint32, uint32]
	var filters [2]*filter.Filter[uint32]
	var tables [2]*relational.Relational
	for i := range devices {
		devices[i] = testdevice.Open(t, vk.Options{Device: fmt.Sprint(i)})
		require.Equal(t, all[i].UUID, devices[i].Info().UUID)
		trees[i], err = btree.New[uint32, uint32](t.Context(), devices[i], btree.Options{})
		require.NoError(t, err)
		defer trees[i].Close()
		maps[i], err = slabhash.New[uint32, uint32](t.Context(), devices[i], slabhash.Options{})
		require.NoError(t, err)
		defer maps[i].Close()
		filters[i], err = filter.New[uint32](t.Context(), devices[i], filter.Options{})
		require.NoError(t, err)
		defer filters[i].Close()
		tables[i], err = relational.New(devices[i], relational.Options{})
		require.NoError(t, err)
		defer tables[i].Close()
	}
	var moved atomic.Int64
	each(goroutines, func(g int) {
		own := dictionary[uint32](trees[g%2])
		for round := range rounds {
			keys := keysOf[uint32](g, round)
			if _, err := own.Insert(t.Context(), keys, keys); err != nil {
				t.Errorf("insert: %v", err)
			}
			if !requireFound(t, own, keys) {
				return
			}
			others, err := someOf(t.Context(), trees[1-g%2])
			if err != nil {
				t.Errorf("what the other device has: %v", err)
				return
			}
			moved.Add(int64(len(others)))
			if _, err := maps[g%2].Insert(t.Context(), others, others); err != nil {
				t.Errorf("insert: %v", err)
			}
			if !requireFound(t, maps[g%2], others) {
				return
			}
			if err := filters[g%2].Insert(t.Context(), others); err != nil {
				t.Errorf("insert: %v", err)
			}
			there, err := filters[g%2].Contains(t.Context(), others)
			if err != nil || slices.Contains(there, false) {
				t.Errorf("a filter has lost keys: %v", err)
			}
			distinct, counts, err := relational.Distinct(t.Context(), tables[g%2], slices.Concat(others, keys, others))
			if err != nil || !slices.IsSorted(distinct) || sum(counts) != uint64(2*len(others)+len(keys)) {
				t.Errorf("%d keys, twice, and %d are %d of %d different ones: %v", len(others), len(keys), sum(counts),
					len(distinct), err)
			}
		}
	})
	require.NotZero(t, moved.Load())
	for i, tree := range trees {
		n, err := tree.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, goroutines/2*rounds*batch, n, "device %d", i)
		require.NoError(t, tree.Inspect().Check(t.Context()))
	}

	require.NoError(t, trees[0].Close())
	require.NoError(t, maps[0].Close())
	require.NoError(t, filters[0].Close())
	require.NoError(t, tables[0].Close())
	require.NoError(t, devices[0].Close())
	_, err = slabhash.New[uint32, uint32](t.Context(), devices[0], slabhash.Options{})
	require.ErrorIs(t, err, vk.ErrClosed)
	keys := keysOf[uint32](goroutines, 0)
	_, err = trees[1].Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	require.True(t, requireFound(t, trees[1], keys))
	there, err := filters[1].Contains(t.Context(), keys)
	require.NoError(t, err)
	require.Len(t, there, len(keys))
}

func sum(counts []uint64) (all uint64) {
	for _, n := range counts {
		all += n
	}
	return all
}

// someOf are keys that a tree has while others change it.
func someOf(ctx context.Context, tree *btree.Tree[uint32, uint32]) (keys []uint32, err error) {
	s, err := tree.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for pair, err := range s.All(ctx) {
		if err != nil || len(keys) == batch {
			return keys, err
		}
		keys = append(keys, pair.Key)
	}
	return keys, nil
}
