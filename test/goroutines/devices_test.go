package goroutines

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
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
	for i := range devices {
		devices[i] = testdevice.Open(t, vk.Options{Device: fmt.Sprint(i)})
		require.Equal(t, all[i].UUID, devices[i].Info().UUID)
		trees[i], err = btree.New[uint32, uint32](t.Context(), devices[i], btree.Options{})
		require.NoError(t, err)
		defer trees[i].Close()
		maps[i], err = slabhash.New[uint32, uint32](t.Context(), devices[i], slabhash.Options{})
		require.NoError(t, err)
		defer maps[i].Close()
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
	require.NoError(t, devices[0].Close())
	_, err = slabhash.New[uint32, uint32](t.Context(), devices[0], slabhash.Options{})
	require.ErrorIs(t, err, vk.ErrClosed)
	keys := keysOf[uint32](goroutines, 0)
	_, err = trees[1].Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	require.True(t, requireFound(t, trees[1], keys))
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
