package faults

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Options that ask for more than there is are refused by name, before a large buffer is made: what was in use when it
// was refused, the error says.
func TestCapacityThatCantBeHad(t *testing.T) {
	const limit = 64 << 20
	d := testdevice.Open(t, vk.Options{MemoryLimit: limit})
	ctx := t.Context()
	hash := func(o slabhash.Options) error { _, err := slabhash.New[uint32, uint32](ctx, d, o); return err }
	set := func(o slabhash.Options) error { _, err := slabhash.NewSet[uint32](ctx, d, o); return err }
	tree := func(o btree.Options) error { _, err := btree.New[uint32, uint32](ctx, d, o); return err }
	levels := func(o lsm.Options) error { _, err := lsm.New[uint32, uint32](ctx, d, o); return err }
	array := func(o sortedarray.Options) error { _, err := sortedarray.New[uint32, uint32](ctx, d, o); return err }
	for name, c := range map[string]struct {
		option string
		err    error
	}{
		"hash, 2^50 pairs":            {"Capacity", hash(slabhash.Options{Capacity: 1 << 50})},
		"hash, more than an int64":    {"Capacity", hash(slabhash.Options{Capacity: 1<<63 - 1})},
		"hash, above the memory":      {"Capacity", hash(slabhash.Options{Capacity: 7 << 20})},
		"hash, 2^31 buckets":          {"Buckets", hash(slabhash.Options{Buckets: 1 << 31})},
		"hash, base slabs alone fit":  {"Buckets", hash(slabhash.Options{Buckets: limit / 128})},
		"hash, the pool's limit":      {"Buckets", hash(slabhash.Options{Buckets: 1 << 18, MaxBytes: 1 << 20})},
		"set, 2^50 keys":              {"Capacity", set(slabhash.Options{Capacity: 1 << 50})},
		"tree, 2^50 pairs":            {"Capacity", tree(btree.Options{Capacity: 1 << 50})},
		"tree, more than an int64":    {"Capacity", tree(btree.Options{Capacity: 1<<63 - 1, Fill: 0.01})},
		"tree, above the memory":      {"Capacity", tree(btree.Options{Capacity: 5 << 20})},
		"tree, 2^32 pairs":            {"Capacity", tree(btree.Options{Capacity: 1 << 32})},
		"tree, its own limit":         {"Capacity", tree(btree.Options{Capacity: 1 << 20, MaxBytes: 1 << 20})},
		"lsm, 2^50 pairs":             {"Capacity", levels(lsm.Options{Capacity: 1 << 50})},
		"lsm, 2^30 pairs":             {"Capacity", levels(lsm.Options{Capacity: 1 << 30})},
		"lsm, levels without carries": {"Capacity", levels(lsm.Options{Capacity: 5 << 20})},
		"lsm, its own limit": {"Capacity",
			levels(lsm.Options{Capacity: 1 << 20, Batch: 1 << 10, MaxBytes: 1 << 20})},
		"lsm, a batch":      {"Batch", levels(lsm.Options{Batch: 1 << 29})},
		"array, 2^50 pairs": {"Capacity", array(sortedarray.Options{Capacity: 1 << 50})},
		"array, 2^30 pairs": {"Capacity", array(sortedarray.Options{Capacity: 1 << 30})},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, c.err)
			require.Contains(t, c.err.Error(), "option "+c.option)
			var memory *vk.OutOfMemoryError
			if errors.As(c.err, &memory) {
				require.Less(t, memory.Used, uint64(1<<20))
			}
		})
	}
	var capacity *structures.CapacityError
	require.ErrorAs(t, hash(slabhash.Options{Capacity: 7 << 20}), &capacity)
	var memory *vk.OutOfMemoryError
	require.ErrorAs(t, capacity, &memory)
	require.Equal(t, uint64(limit), memory.Budget)

	// Errors name the options that are set.
	for name, err := range map[string]error{
		"hash": hash(slabhash.Options{MaxBytes: 10}), "tree": tree(btree.Options{MaxBytes: 10}),
	} {
		var limit *vk.LimitError
		require.ErrorAs(t, err, &limit, name)
		require.Equal(t, "MaxBytes", limit.Option, name)
		require.NotContains(t, err.Error(), "Capacity", name)
	}

	// A pool takes no part of what it can't have whole, at first and when it grows.
	_, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{Blocks: 1000, SuperShift: 2})
	require.ErrorAs(t, err, &memory)
	require.Less(t, memory.Used, uint64(1<<20))
	p, err := alloc.NewSlabPool(ctx, d, alloc.PoolOptions{SuperShift: 2})
	require.NoError(t, err)
	defer p.Close()
	require.ErrorAs(t, p.Grow(ctx, 1000), &memory)
	require.Less(t, memory.Used, uint64(1<<20))

	// Who builds of pairs has asked for no capacity: memory is what lacks.
	pairs := make([]uint32, 1<<22)
	_, err = slabhash.Build(ctx, d, pairs, pairs, slabhash.Options{Load: 0.1})
	require.ErrorAs(t, err, &memory)
	require.False(t, errors.As(err, &capacity), "%v", err)
	_, err = btree.Build(ctx, d, pairs, pairs, btree.Options{Fill: 0.1})
	require.ErrorAs(t, err, &memory)
	require.False(t, errors.As(err, &capacity), "%v", err)
}
