package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
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
	edges := func(o graph.Options) error { _, err := graph.New(ctx, d, o); return err }
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
		"lsm, a batch":            {"Batch", levels(lsm.Options{Batch: 1 << 29})},
		"graph, above the memory": {"Capacity", edges(graph.Options{Capacity: 1 << 29})},
		"graph, vertices":         {"Vertices", edges(graph.Options{Vertices: 1 << 29})},
		"array, 2^50 pairs":       {"Capacity", array(sortedarray.Options{Capacity: 1 << 50})},
		"array, 2^30 pairs":       {"Capacity", array(sortedarray.Options{Capacity: 1 << 30})},
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
	require.ErrorContains(t, capacity, "option Capacity: 7340032 is not possible: at Load 0.7: ")
	require.ErrorContains(t, hash(slabhash.Options{Capacity: 1 << 50, Load: 2}), "at Load 2: ")
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

	// One that grows says what is in use, for that counts, too.
	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{MaxBytes: 1 << 20})
	require.NoError(t, err)
	keys := make([]uint32, 100_000)
	for i := range keys {
		keys[i] = uint32(i)
	}
	_, err = m.Insert(ctx, keys, keys)
	require.ErrorContains(t, err, "more), but option MaxBytes allows")
	require.NoError(t, m.Close())

	// A pool takes no part of what it can't have whole, at first and when it grows.
	_, err = alloc.NewSlabPool(ctx, d, alloc.PoolOptions{Blocks: 1000, SuperShift: 2})
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

// Buffers that were made for another width are refused, whether they are too short or too long.
func TestBuffersOfAnotherWidth(t *testing.T) {
	pass.OneWidth(t, "both widths are here")
	ctx, d := t.Context(), testdevice.Open(t)
	s := testdevice.Stream(t, d)
	require.NoError(t, refusesWidth(ctx, d, s, structures.Bits64, []uint32{1, 2, 3}))
	require.NoError(t, refusesWidth(ctx, d, s, structures.Bits32, []uint64{1, 2, 3}))
}

// refusesWidth calls a structure with buffers of another width.
func refusesWidth[K uint32 | uint64](ctx context.Context, d *vk.Device, s *vk.Stream, other structures.Width,
	keys []K) error {
	const n = 3
	m, err := slabhash.Build(ctx, d, keys, keys, slabhash.Options{})
	if err != nil {
		return err
	}
	defer m.Close()
	tree, err := btree.Build(ctx, d, keys, keys, btree.Options{})
	if err != nil {
		return err
	}
	defer tree.Close()
	present, err := filter.New[K](ctx, d, filter.Options{Capacity: n})
	if err != nil {
		return err
	}
	defer present.Close()
	levels, err := lsm.Build(ctx, d, keys, keys, lsm.Options{})
	if err != nil {
		return err
	}
	defer levels.Close()
	made := func(err error) { // of the buffers
		if err != nil {
			panic(err)
		}
	}
	batch, err := structures.NewDeviceBatch(d, other, structures.Insert, n)
	made(err)
	defer batch.Free()
	lookups, err := structures.NewDeviceLookups(d, other, n)
	made(err)
	defer lookups.Free()
	counts, err := structures.NewDeviceCounts(d, other, n)
	made(err)
	defer counts.Free()
	ranges, err := structures.NewDeviceRanges(d, other, n, n)
	made(err)
	defer ranges.Free()
	window, err := structures.NewDeviceWindow(d, other, n, 1)
	made(err)
	defer window.Free()
	ranks, err := structures.NewDeviceRanks(d, other, n)
	made(err)
	defer ranks.Free()
	export, err := structures.NewDeviceExport(d, other, n)
	made(err)
	defer export.Free()
	neighbors, err := structures.NewDeviceNeighbors(d, other, n)
	made(err)
	defer neighbors.Free()
	for name, err := range map[string]error{
		"hash table, update": m.On(s).Update(ctx, structures.Insert, batch),
		"hash table, apply":  m.On(s).Apply(structures.Insert, batch),
		"hash table, finish": m.On(s).Finish(ctx, structures.Insert, batch),
		"hash table, find":   m.On(s).Find(lookups),
		"hash table, export": m.On(s).Export(export),
		"tree, update":       tree.On(s).Update(ctx, structures.Insert, batch),
		"tree, apply":        tree.On(s).Apply(structures.Insert, batch),
		"tree, find":         tree.On(s).Find(lookups),
		"tree, count":        tree.On(s).Count(counts),
		"tree, range":        tree.On(s).Range(ranges),
		"tree, window":       tree.On(s).Window(window),
		"tree, rank":         tree.On(s).Rank(ranks),
		"tree, export":       tree.On(s).Export(export),
		"tree, neighbor":     tree.On(s).Neighbor(structures.Floor, neighbors),
		"tree, select":       tree.On(s).Select(neighbors),
		"LSM, update":        levels.On(s).Update(ctx, structures.Insert, batch),
		"filter, insert":     present.On(s).Insert(batch),
		"filter, contains":   present.On(s).Contains(lookups),
	} {
		var option *vk.OptionError
		if !errors.As(err, &option) || option.Option != "Made" {
			return fmt.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Submit(); err != nil {
		return err
	}
	// Of buffers of the caller's own, only the length is known. It counts keys, and says how wide they are.
	const short = "a batch of 3 needs 3 keys of 64 bits and got 1"
	lookups.Made = structures.Made{}
	if err := m.On(s).Find(lookups); other == structures.Bits32 && (err == nil || err.Error() != short) {
		return fmt.Errorf("own buffers: %v", err)
	}
	// Those of the structure's width are accepted.
	right, err := structures.NewDeviceLookups(d, structures.WidthOf[K](), n)
	made(err)
	defer right.Free()
	if err := errors.Join(m.On(s).Find(right), tree.On(s).Find(right)); err != nil {
		return err
	}
	return s.Wait(ctx)
}
