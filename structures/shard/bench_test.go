package shard_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// idle is a shard that does nothing.
type idle struct{ u32.Dictionary }

func (*idle) UpdateInto(context.Context, structures.Kind, []uint32, []uint32, []structures.Status) error {
	return nil
}
func (*idle) FindInto(context.Context, []uint32, []uint32, []bool) error { return nil }
func (*idle) Len(context.Context) (uint64, error)                        { return 0, nil }
func (*idle) Clear(context.Context) error                                { return nil }
func (*idle) Close() error                                               { return nil }

// BenchmarkBlocks is for choosing shardBlock: insertions and searches in blocks of several sizes,
// over shards that do nothing and over hash tables on the machine's GPUs, or on its other devices if it has none.
func BenchmarkBlocks(b *testing.B) {
	var devices []*vk.Device
	all, err := vk.List()
	require.NoError(b, err)
	n := 1 << 22
	for _, i := range all {
		gpu := i.Type != vk.CPU
		if gpu && n < 1<<26 {
			devices, n = nil, 1<<26
		}
		if gpu == (n == 1<<26) {
			d, err := vk.Open(vk.Options{Device: strconv.Itoa(i.Index)})
			require.NoError(b, err)
			defer d.Close()
			devices = append(devices, d)
		}
	}
	batch := &blocksBench{devices: devices, keys: make([]uint32, n), values: make([]uint32, n), found: make([]bool, n),
		status: make([]structures.Status, n)}
	for i := range batch.keys {
		batch.keys[i] = rand.Uint32()
	}
	for _, shards := range []int{2, 4} {
		for _, block := range []int{1 << 19, 1 << 20, 1 << 21, 1 << 22, 1 << 23} {
			if block*shards > n {
				continue
			}
			b.Run(fmt.Sprintf("%d shards/blocks of %d each", shards, block), func(b *testing.B) {
				shard.InBlocksOf(b, block*shards)
				b.Run("dividing", func(b *testing.B) {
					batch.run(b, shards, func(int) u32.Dictionary { return &idle{} })
				})
				b.Run("hash tables", func(b *testing.B) {
					batch.run(b, shards, func(s int) u32.Dictionary {
						one, err := slabhash.New[uint32, uint32](b.Context(), devices[s%len(devices)],
							slabhash.Options{Capacity: n/shards + n/8})
						require.NoError(b, err)
						return one
					})
				})
			})
		}
	}
}

type blocksBench struct {
	devices      []*vk.Device
	keys, values []uint32
	found        []bool
	status       []structures.Status
}

func (x *blocksBench) run(b *testing.B, shards int, open func(s int) u32.Dictionary) {
	ctx := b.Context()
	var all []u32.Dictionary
	for s := range shards {
		all = append(all, open(s))
	}
	m, err := shard.NewMap(ctx, all...)
	require.NoError(b, err)
	defer func() { require.NoError(b, m.Close()) }()
	rate := func(b *testing.B) {
		b.ReportMetric(float64(len(x.keys))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
	}
	b.Run("insert", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			require.NoError(b, m.Clear(ctx))
			b.StartTimer()
			require.NoError(b, m.UpdateInto(ctx, structures.Insert, x.keys, x.values, x.status))
		}
		rate(b)
	})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, m.FindInto(ctx, x.keys, x.values, x.found))
		}
		rate(b)
	})
}
