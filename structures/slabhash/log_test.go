package slabhash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// The logger of a device hears what a table does behind its calls: batches retried, the pool grown, a rehash.
func TestLogger(t *testing.T) {
	var log bytes.Buffer
	d := testdevice.Open(t, vk.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil))}) // from Info on
	ctx := context.Background()
	pool, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{Blocks: 1})
	require.NoError(t, err)
	defer pool.Close()
	m := newMap(t, d, Options{Buckets: 64, MaxLoad: -1, Pool: pool})
	keys := make([]uint32, 30_000) // in 15 of a slab; the pool has 1024
	for i := range keys {
		keys[i] = uint32(i)
	}
	_, err = m.Insert(ctx, keys, keys)
	require.NoError(t, err)
	require.NoError(t, m.Rehash(ctx, 4096))

	type record struct {
		Message       string `json:"msg"`
		Device        string
		Pending       int
		Slabs         int
		SlabsBefore   int `json:"slabs_before"`
		Bytes         uint64
		Buckets       int
		BucketsBefore int `json:"buckets_before"`
		Duration      int
	}
	heard := map[string]record{}
	for at := json.NewDecoder(&log); at.More(); {
		var r record
		require.NoError(t, at.Decode(&r))
		require.Equal(t, d.Info().Name, r.Device)
		if _, again := heard[r.Message]; !again {
			heard[r.Message] = r
		}
	}
	require.Len(t, heard, 4)
	require.Contains(t, heard, "device opened")
	retried, grown, rehashed := heard["batch retried"], heard["pool grown"], heard["rehashed"]
	require.Greater(t, retried.Pending, 0)
	require.Less(t, retried.Pending, len(keys))
	require.Equal(t, alloc.BlockSlabs, grown.SlabsBefore)
	require.Greater(t, grown.Slabs, grown.SlabsBefore)
	require.NotZero(t, grown.Bytes)
	require.Equal(t, 64, rehashed.BucketsBefore)
	require.Equal(t, 4096, rehashed.Buckets)
	require.Positive(t, rehashed.Duration)
}
