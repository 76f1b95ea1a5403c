package conformance

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// shardDevices opens two devices of the machine, or one device twice.
func shardDevices(t *testing.T) []*vk.Device {
	all, err := vk.List()
	require.NoError(t, err)
	if len(all) < 2 {
		t.Log("the machine has one device, which is opened twice")
		return []*vk.Device{testdevice.Open(t), testdevice.Open(t, vk.Options{StagingBytes: 1 << 20})}
	}
	return []*vk.Device{testdevice.Open(t, vk.Options{Device: "0"}), testdevice.Open(t, vk.Options{Device: "1"})}
}

// shardsOf opens one dictionary a shard, on the devices in turn.
func shardsOf[D any](t *testing.T, devices []*vk.Device, n int, open func(d *vk.Device) (D, error)) []D {
	var all []D
	for s := range n {
		one, err := open(devices[s%len(devices)])
		require.NoError(t, err)
		all = append(all, one)
	}
	return all
}

// Dictionaries over one, two and three shards have the answers of one.
func TestShards(t *testing.T) {
	pass.OneLavapipe(t, "what shards do has other tests")
	devices := shardDevices(t)
	testShards[uint32](t, devices)
	testShards[uint64](t, devices)
}

func testShards[W structures.Word](t *testing.T, devices []*vk.Device) {
	ctx := t.Context()
	inOrder := slices.Concat(orderedKinds, inPlaceKinds)
	for _, s := range []subject[W]{
		{name: "slabhash", free: true, open: shardsMap[W](t, devices, func(d *vk.Device) (Dictionary[W], error) {
			return slabhash.New[W, W](ctx, d, slabhash.Options{Buckets: 4})
		})},
		{name: "btree", free: true, ordered: true, kinds: inOrder, upkeep: evenedOut[W](),
			open: shardsTree[W](t, devices, func(d *vk.Device) (Ordered[W], error) {
				return btree.New[W, W](ctx, d, btree.Options{})
			})},
		{name: "lsm", ordered: true, kinds: inOrder, upkeep: evenedOut[W](),
			open: shardsTree[W](t, devices, func(d *vk.Device) (Ordered[W], error) {
				return lsm.New[W, W](ctx, d, lsm.Options{Batch: 64})
			})},
	} {
		for shards := 1; shards <= 3; shards++ {
			t.Run(fmt.Sprintf("%s, %d shards, %v", s.name, shards, structures.WidthOf[W]()), func(t *testing.T) {
				dictionary, err := s.open(t.Context(), nil, shape{size: shards})
				require.NoError(t, err)
				defer func() { require.NoError(t, dictionary.Close()) }()
				some(t, max(1, sequencesOf[W]()/5), func(rt *rapid.T) {
					require.NoError(rt, dictionary.Clear(t.Context()))
					acts := restrict(sequence[W](rt), s.kinds)
					if s.ordered {
						if acts = orderedSequence[W](rt); s.free {
							acts = once(acts)
						}
					}
					run(adapter{t, rt}, devices[0], s, dictionary, acts)
				})
			})
		}
	}
}

// evenedOut is the upkeep of trees.
func evenedOut[W structures.Word]() []func(context.Context, Dictionary[W], int) error {
	return []func(context.Context, Dictionary[W], int) error{
		func(ctx context.Context, d Dictionary[W], _ int) error { return d.(*shard.Tree[W, W]).Rebalance(ctx) },
	}
}

func shardsMap[W structures.Word](t *testing.T, devices []*vk.Device,
	open func(d *vk.Device) (Dictionary[W], error)) func(context.Context, *vk.Device, shape) (Dictionary[W], error) {
	return func(ctx context.Context, _ *vk.Device, s shape) (Dictionary[W], error) {
		return shard.NewMap(ctx, shardsOf(t, devices, s.size, open)...)
	}
}

func shardsTree[W structures.Word](t *testing.T, devices []*vk.Device,
	open func(d *vk.Device) (Ordered[W], error)) func(context.Context, *vk.Device, shape) (Dictionary[W], error) {
	return func(ctx context.Context, _ *vk.Device, s shape) (Dictionary[W], error) {
		return shard.NewTree(ctx, shardsOf(t, devices, s.size, open)...)
	}
}

// some tries so many sequences.
func some(t *testing.T, checks int, try func(rt *rapid.T)) {
	require.NoError(t, flag.Set("rapid.checks", strconv.Itoa(checks)))
	rapid.Check(t, try)
}
