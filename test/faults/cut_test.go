package faults

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A batch that a limit can't hold whole: what there is room for is inserted, and the statuses and the error say what
// that is.
func TestBatchLargerThanTheLimit(t *testing.T) {
	pass.Unvalidated(t, "the host cuts batches; other tests make its calls")
	atEachWidth(t, testBatchLargerThanTheLimit[uint32], testBatchLargerThanTheLimit[uint64])
}

func testBatchLargerThanTheLimit[W structures.Word](t *testing.T) {
	ctx := t.Context()
	k := keys[W](rand.New(rand.NewPCG(1, 2)), 400_000*32/structures.WidthOf[W]().Bits())
	as := func(x structures.Dictionary[W, W], err error) structures.Dictionary[W, W] {
		require.NoError(t, err)
		return x
	}
	tree := func(o btree.Options) func(d *vk.Device) structures.Dictionary[W, W] {
		return func(d *vk.Device) structures.Dictionary[W, W] { return as(btree.New[W, W](ctx, d, o)) }
	}
	snapshotted := func(o btree.Options) func(d *vk.Device) structures.Dictionary[W, W] {
		return func(d *vk.Device) structures.Dictionary[W, W] {
			tree, err := btree.New[W, W](ctx, d, o)
			x := as(tree, err)
			at, err := tree.Snapshot(ctx)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, at.Close()) })
			return x
		}
	}
	levels := func(o lsm.Options) func(d *vk.Device) structures.Dictionary[W, W] {
		return func(d *vk.Device) structures.Dictionary[W, W] { return as(lsm.New[W, W](ctx, d, o)) }
	}
	const limit = 6 << 20
	for name, c := range map[string]struct {
		device uint64 // its limit; 0: none
		least  int
		make   func(d *vk.Device) structures.Dictionary[W, W]
	}{
		"tree, its own":            {0, 50_000, tree(btree.Options{MaxBytes: limit / 3})},
		"concurrent tree, its own": {0, 50_000, tree(btree.Options{MaxBytes: limit / 3, Path: btree.Concurrent})},
		"tree, the device's":       {limit, 30_000, tree(btree.Options{})},
		"snapshots, its own":       {0, 50_000, snapshotted(btree.Options{MaxBytes: limit / 3})},
		"snapshots, the device's":  {limit, 15_000, snapshotted(btree.Options{})},
		"lsm, its own":             {0, 60_000, levels(lsm.Options{Batch: 1 << 10, MaxBytes: limit / 3})},
		"lsm, the device's":        {limit, 30_000, levels(lsm.Options{Batch: 1 << 10})},
		"array, the device's": {limit, 30_000,
			func(d *vk.Device) structures.Dictionary[W, W] {
				return as(sortedarray.New[W, W](ctx, d, sortedarray.Options{}))
			}},
		// 7,616 of 64 bits: a chunk of twice as many operations fits since its scratch is less, and what it takes is
		// missing where the table is to grow. A batch that gave its staging memory back then would get further.
		"hash table, the device's": {limit, 15_000,
			func(d *vk.Device) structures.Dictionary[W, W] {
				return as(slabhash.New[W, W](ctx, d, slabhash.Options{}))
			}},
	} {
		t.Run(name, func(t *testing.T) {
			d := testdevice.Open(t, vk.Options{MemoryLimit: c.device})
			queries, err := vk.NewBuffer[byte](d, 1<<20) // what these will need
			require.NoError(t, err)
			x := c.make(d)
			status, err := x.Insert(ctx, k, k)
			want := map[W]W{}
			n := done(t, want, k, k, status)
			t.Logf("%d inserted: %v", n, err)
			var pending *structures.PendingError
			require.ErrorAs(t, err, &pending)
			if c.device != 0 {
				var memory *vk.OutOfMemoryError
				require.ErrorAs(t, err, &memory)
			} else {
				var full *vk.LimitError
				require.ErrorAs(t, err, &full)
			}
			require.Equal(t, len(k)-n, pending.Operations)
			require.GreaterOrEqual(t, n, c.least*32/structures.WidthOf[W]().Bits())
			queries.Free()
			if tree, ok := x.(*btree.Tree[W, W]); ok {
				require.NoError(t, tree.Inspect().Check(ctx)) // before lookups take what there is for their staging
			}
			got, err := x.Len(ctx)
			require.NoError(t, err)
			require.EqualValues(t, n, got)
			values, found, err := x.Find(ctx, k)
			require.NoError(t, err)
			for i, key := range k {
				if v, ok := want[key]; ok != found[i] || v != values[i] {
					t.Fatalf("key %#x: %d, %v; want %d, %v", key, values[i], found[i], v, ok)
				}
			}
			require.NoError(t, x.Close())
		})
	}
}
