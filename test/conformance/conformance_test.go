// Package conformance runs random sequences of batches on every dictionary, at every shape that it comes in, and
// compares each answer, and the contents at the end, with those of a dictionary in the host's memory.
package conformance

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// shape is what of a dictionary should not show in its answers.
type shape struct {
	tile int // lanes a node
	size int // buckets, or what else there is of it at first; small
	fill float64
	seed uint32
	pool *alloc.SlabPool // of a subject that shares one, else nil
}

// subject is a kind of dictionary.
type subject[W structures.Word] struct {
	name string
	open func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error)
	// check looks whether all is well in its memory; nil: there is nothing that the answers don't show.
	check func(t testing.TB, d *vk.Device, dictionary Dictionary[W])
	// upkeep are what may be done to it at any time without changing what it holds.
	upkeep []func(ctx context.Context, dictionary Dictionary[W], n int) error
	// kinds are what it does in mixed batches; nil: all kinds.
	kinds   []structures.Kind
	ordered bool // it is a structures.Ordered
	fills   bool // it has shape.fill
	// protocols says that it has two, with 64-bit atomics and without; tiles, that any width of tiles works on its
	// nodes.
	protocols, tiles bool
	shares           bool // those of a device and a width have one pool

	free  bool // the order of the operations in a batch is free
	mixed bool // insertions and deletions of a mixed batch are done in its order, not all insertions first
}

// subjects are all dictionaries of a width.
func subjects[W structures.Word]() []subject[W] {
	all := []subject[W]{{
		name:      "slabhash",
		protocols: true, tiles: true,
		free: true,
		open: func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
			return slabhash.New[W, W](ctx, d,
				slabhash.Options{Buckets: s.size, Tile: s.tile, Seed: s.seed, MaxLoad: -1})
		},
		check: func(t testing.TB, d *vk.Device, dictionary Dictionary[W]) {
			slabcheck.Check(t, d, slabcheck.Expect{}, dictionary.(*slabhash.Map[W, W]))
		},
		upkeep: []func(context.Context, Dictionary[W], int) error{
			func(ctx context.Context, d Dictionary[W], _ int) error {
				return d.(*slabhash.Map[W, W]).Flush(ctx)
			},
			func(ctx context.Context, d Dictionary[W], n int) error {
				return d.(*slabhash.Map[W, W]).Rehash(ctx, 4+n%300)
			},
		},
	}, {
		name:      "slabhash growing by itself",
		protocols: true, tiles: true,
		free: true,
		open: func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
			return slabhash.New[W, W](ctx, d,
				slabhash.Options{Buckets: s.size, Tile: s.tile, Seed: s.seed, Load: 2, MaxLoad: 3})
		},
		check: func(t testing.TB, d *vk.Device, dictionary Dictionary[W]) {
			slabcheck.Check(t, d, slabcheck.Expect{}, dictionary.(*slabhash.Map[W, W]))
		},
	}, {
		name:    "sortedarray",
		kinds:   slices.Concat(orderedKinds, inPlaceKinds),
		ordered: true,
		open: func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
			return sortedarray.New[W, W](ctx, d, sortedarray.Options{Capacity: s.size})
		},
		upkeep: []func(context.Context, Dictionary[W], int) error{
			func(_ context.Context, d Dictionary[W], _ int) error {
				d.(*sortedarray.Array[W, W]).Trim()
				return nil
			},
		},
	}, {
		name:    "lsm",
		kinds:   slices.Concat(orderedKinds, inPlaceKinds),
		ordered: true,
		open: func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
			return lsm.New[W, W](ctx, d, lsm.Options{Batch: 32 << (s.size % 4), Capacity: s.size})
		},
		upkeep: []func(context.Context, Dictionary[W], int) error{
			func(ctx context.Context, d Dictionary[W], _ int) error {
				return d.(*lsm.LSM[W, W]).Cleanup(ctx)
			},
			func(context.Context, Dictionary[W], int) error { return nil },
			func(_ context.Context, d Dictionary[W], _ int) error { return d.(*lsm.LSM[W, W]).Trim() },
		},
	}, {
		name:    "lsm cleaning up by itself",
		kinds:   slices.Concat(orderedKinds, inPlaceKinds),
		ordered: true,
		open: func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
			policy := lsm.WhenDoubled
			if s.size == 4 {
				policy = lsm.WhenStale(0.4)
			}
			return lsm.New[W, W](ctx, d, lsm.Options{Batch: 32 << (s.size % 4), Cleanup: policy})
		},
	}, {
		name:  "btree, batched",
		kinds: slices.Concat(orderedKinds, inPlaceKinds), ordered: true, protocols: true, tiles: true, mixed: true,
		fills:  true,
		open:   openTree[W](btree.Batched),
		check:  checkTree[W],
		upkeep: treeUpkeep[W](),
	}, {
		name:    "btree, concurrent",
		kinds:   slices.Concat(orderedKinds, inPlaceKinds),
		ordered: true, protocols: true, tiles: true, free: true,
		fills:  true,
		open:   openTree[W](btree.Concurrent),
		check:  checkTree[W],
		upkeep: treeUpkeep[W](),
	}, {
		name:    "btree, either way",
		kinds:   slices.Concat(orderedKinds, inPlaceKinds),
		ordered: true, protocols: true, free: true,
		fills:  true,
		open:   openTree[W](btree.AutoPath),
		check:  checkTree[W],
		upkeep: treeUpkeep[W](),
	}, {
		name:    "btree, shared pool",
		kinds:   slices.Concat([]structures.Kind{structures.InsertUnique}, orderedKinds, inPlaceKinds),
		ordered: true, protocols: true, free: true,
		fills:  true,
		shares: true,
		open:   openTree[W](btree.AutoPath),
		check:  checkTree[W],
		upkeep: treeUpkeep[W](),
	}, {
		name:    "btree, snapshots open",
		kinds:   slices.Concat(orderedKinds, inPlaceKinds),
		ordered: true, protocols: true, tiles: true, free: true,
		fills:  true,
		shares: true,
		open:   openSnapshotted[W],
		check: func(t testing.TB, _ *vk.Device, d Dictionary[W]) {
			x := d.(*snapshotted[W])
			require.NoError(t, x.Inspect().Check(t.Context()))
			require.NoError(t, x.unchanged(t.Context()))
		},
		upkeep: []func(context.Context, Dictionary[W], int) error{
			func(ctx context.Context, d Dictionary[W], _ int) error { return d.(*snapshotted[W]).next(ctx) },
			func(ctx context.Context, d Dictionary[W], _ int) error { return d.(*snapshotted[W]).unchanged(ctx) },
		},
	}}
	if structures.WidthOf[W]() == structures.Bits64 {
		for i := range all {
			all[i].name += ", 64 bits"
		}
	}
	return all
}

// orderedSubjects are those of them that keep their keys in order.
func orderedSubjects[W structures.Word]() []subject[W] {
	return slices.DeleteFunc(subjects[W](), func(s subject[W]) bool { return !s.ordered })
}

func openTree[W structures.Word](path btree.Path) func(context.Context, *vk.Device, shape) (Dictionary[W], error) {
	return func(ctx context.Context, d *vk.Device, s shape) (Dictionary[W], error) {
		return btree.New[W, W](ctx, d, btree.Options{Tile: s.tile, Fill: s.fill, Path: path, Pool: s.pool})
	}
}

func checkTree[W structures.Word](t testing.TB, _ *vk.Device, dictionary Dictionary[W]) {
	require.NoError(t, dictionary.(*btree.Tree[W, W]).Inspect().Check(t.Context()))
}

func treeUpkeep[W structures.Word]() []func(context.Context, Dictionary[W], int) error {
	return []func(context.Context, Dictionary[W], int) error{
		func(ctx context.Context, d Dictionary[W], n int) error {
			return d.(*btree.Tree[W, W]).Compact(ctx, 0.05+float64(n%95)/100)
		},
		func(ctx context.Context, d Dictionary[W], _ int) error {
			return d.(*btree.Tree[W, W]).Inspect().Check(ctx)
		},
	}
}

// act is one step of a sequence.
type act[W structures.Word] struct {
	what   string // see ask and run
	batch  Batch[W]
	ranges []Range[W] // of ordered dictionaries
	choice int
}

// keySpace is how many keys a sequence works on; they are spread over all 32 bits, with the awkward ones among them.
const keySpace = 400

func key(i int) uint32 {
	switch i {
	case 0:
		return 0
	case 1:
		return ^uint32(0)
	case 2, 3, 4, 5, 6, 7:
		return uint32(i) - 1 // small ones, among them masks of the slab hash
	case 8, 9, 10, 11:
		return ^uint32(i - 7)
	}
	return uint32(i) * 0x9e3779b1
}

// sequence draws batches whose answers do not depend on the order within a batch: no key is in one twice.
func sequence[W structures.Word](t *rapid.T) []act[W] {
	kinds := []structures.Kind{
		structures.Insert, structures.InsertUnique, structures.InsertAdd, structures.InsertMin, structures.InsertMax,
		structures.Delete, structures.DeleteAll, structures.Find, structures.CountAll,
	}
	weights := []string{"insert", "insert", "update", "delete", "find", "apply", "apply", "apply", "upkeep", "clear"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act[W] {
		a := act[W]{what: rapid.SampledFrom(weights).Draw(t, "what"), choice: rapid.IntRange(0, 1000).Draw(t, "choice")}
		if a.what == "upkeep" || a.what == "clear" && a.choice%3 != 0 {
			a.what = "upkeep"
			return a
		}
		n := rapid.SampledFrom([]int{0, 1, 3, 17, 100, 300}).Draw(t, "n")
		from := rapid.IntRange(0, keySpace-1).Draw(t, "from")
		step := rapid.SampledFrom([]int{1, 3, 7, 399}).Draw(t, "step")
		noise := rapid.Uint32().Draw(t, "noise")
		for i := range n {
			noise = noise*1664525 + 1013904223
			a.batch.Keys = append(a.batch.Keys, numbers.Key[W](key((from+i*step)%keySpace)))
			a.batch.Kinds = append(a.batch.Kinds, kinds[noise>>16%uint32(len(kinds))])
			value := numbers.Value[W](noise)
			if noise>>8%8 == 0 {
				value = [...]W{0, ^W(0)}[noise>>12&1]
			}
			a.batch.Values = append(a.batch.Values, value)
		}
		return a
	}), 1, 12).Draw(t, "sequence")
}

// One sequence, on each device and at each width, from Go slices and by the calls on device buffers: equal answers
// throughout, and so equal contents.
func TestSequences(t *testing.T) {
	devices := openDevices(t)
	testSequences[uint32](t, devices)
	testSequences[uint64](t, devices)
}

func testSequences[W structures.Word](t *testing.T, devices []protocol) {
	for _, s := range subjects[W]() {
		t.Run(s.name, func(t *testing.T) {
			check(openVariants(t, s, devices, false),
				func(rt *rapid.T) []act[W] { return restrict(sequence[W](rt), s.kinds) })
		})
	}
}

// adapter lets rapid see failures, to shrink the sequence that led to them.
type adapter struct {
	*testing.T
	r *rapid.T
}

func (a adapter) Errorf(format string, args ...any) { a.r.Errorf(format, args...) }
func (a adapter) Error(args ...any)                 { a.r.Error(args...) }
func (a adapter) Fatalf(format string, args ...any) { a.r.Fatalf(format, args...) }
func (a adapter) Fatal(args ...any)                 { a.r.Fatal(args...) }
func (a adapter) FailNow()                          { a.r.FailNow() }
func (a adapter) Helper()                           {}
