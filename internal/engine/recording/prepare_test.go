package recording_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
)

const inSmallSupers = "btree in a shared pool of small super blocks" // whose pool grows beyond one super block

// prepared are the structures that are tested after Prepare.
func prepared(b buffers) map[string]func() structure {
	return map[string]func() structure{
		"btree": func() structure { return treeOf(b, btree.Options{MaxBytes: 1 << 28}) },
		"slabhash": func() structure {
			var o slabhash.Options
			if !testdevice.BothForms(b.d) {
				o.MaxBytes = 1 << 28
			}
			return mapOf(b, o)
		},
		"lsm":         func() structure { return lsmOf(b) },
		"sortedarray": func() structure { return arrayOf(b) },
		inSmallSupers: func() structure {
			pool, err := alloc.NewSlabPool(b.t.Context(), b.d, alloc.PoolOptions{SuperShift: 2})
			require.NoError(b.t, err)
			b.t.Cleanup(func() { require.NoError(b.t, pool.Close()) })
			tree, err := btree.New[uint32, uint32](b.t.Context(), b.d, btree.Options{Pool: pool})
			require.NoError(b.t, err)
			return structure{Dictionary: tree}
		},
	}
}

// After Prepare no call makes a kernel, whatever the call.
func TestNothingIsMadeBehindPrepare(t *testing.T) {
	pass.OneWidth(t, "which kernels are made depends on no width")
	recording.AheadOnCPU(t)
	recording.Undispatched(t)
	all, left := map[string]bool{}, len(prepared(buffers{}))+3 // modules without their variants, and runs
	note := func(modules []string) {
		for _, m := range modules {
			name, _, _ := strings.Cut(m, ".")
			all[name] = true
		}
		left--
	}
	for name := range prepared(buffers{}) {
		t.Run(name, func(t *testing.T) {
			d, kernels := testdevice.OpenNew(t)
			if name == inSmallSupers && !testdevice.BothForms(d) {
				note(nil)
				t.Skip("kernels of both forms of a pool take long: compiled at one subgroup size alone, on a CPU")
			}
			s := prepared(buffers{t, d})[name]()
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			require.NoError(t, s.Prepare(t.Context()))
			note(kernels.Take())
			before := onstream.Of(s.Dictionary).Metrics().Kernels
			behind := func(what string) { require.Empty(t, kernels.Take(), what) }

			s.reset(t)
			behind("contents")
			for _, c := range s.calls {
				_, err := c.do(t.Context())
				require.NoError(t, err, c.name)
				behind(c.name)
				s.reset(t)
			}
			stream := testdevice.Stream(t, d)
			for _, c := range s.on {
				require.NoError(t, c.record(stream), c.name)
				require.NoError(t, stream.Wait(t.Context()), c.name)
				behind(c.name)
			}
			most := 40_000
			if strings.HasPrefix(name, "btree") {
				most = 150_000 // so that inner nodes are split
			}
			everySize(t, s, most, behind)
			require.Equal(t, before, onstream.Of(s.Dictionary).Metrics().Kernels)
		})
	}
	sets := func(t *testing.T, o slabhash.Options) {
		d, kernels := testdevice.OpenNew(t)
		s, err := slabhash.NewSet[uint32](t.Context(), d, o)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		require.NoError(t, s.Prepare(t.Context()))
		note(kernels.Take())
		keys, inserts := make([]uint32, 100_000), make([]structures.Kind, 100_000)
		for i := range keys {
			keys[i], inserts[i] = rand.Uint32(), structures.InsertUnique+structures.Kind(i%2)
		}
		_, err = s.Insert(t.Context(), keys)
		require.NoError(t, err)
		_, err = s.InsertDuplicate(t.Context(), keys)
		require.NoError(t, err)
		_, err = s.Apply(t.Context(), u32.Batch{Keys: keys, Kinds: inserts})
		require.NoError(t, err)
		_, err = s.Contains(t.Context(), keys)
		require.NoError(t, err)
		_, err = s.CountAll(t.Context(), keys)
		require.NoError(t, err)
		require.NoError(t, s.Flush(t.Context()))
		require.NoError(t, s.Reserve(t.Context(), 200_000))
		_, _, err = numbers.All(t.Context(), s)
		require.NoError(t, err)
		_, err = s.DeleteAll(t.Context(), keys)
		require.NoError(t, err)
		require.Empty(t, kernels.Take())
	}
	t.Run("slabhash set", func(t *testing.T) { sets(t, slabhash.Options{MaxBytes: 1 << 28}) })
	t.Run("slabhash set, shared slabs", func(t *testing.T) { sets(t, slabhash.Options{Load: 1, MaxBytes: 1 << 28}) })
	t.Run("btree at 64 bits", func(t *testing.T) {
		d, kernels := testdevice.OpenNew(t)
		tree, err := btree.New[uint64, uint64](t.Context(), d, btree.Options{MaxBytes: 1 << 28})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, tree.Close()) })
		require.NoError(t, tree.Prepare(t.Context()))
		note(kernels.Take())
		keys := make([]uint64, 100_000)
		for i := range keys {
			keys[i] = rand.Uint64()
		}
		_, err = tree.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		_, _, err = tree.Find(t.Context(), keys)
		require.NoError(t, err)
		_, err = tree.Delete(t.Context(), keys[:50_000])
		require.NoError(t, err)
		require.Empty(t, kernels.Take())
	})
	t.Run("snapshots", func(t *testing.T) {
		d, kernels := testdevice.OpenNew(t)
		tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{MaxBytes: 1 << 28})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, tree.Close()) })
		require.NoError(t, tree.Prepare(t.Context()))
		note(kernels.Take())
		keys := make([]uint32, 100_000)
		for i := range keys {
			keys[i] = rand.Uint32()
		}
		var open []*btree.Snapshot[uint32, uint32]
		for _, n := range []int{100_000, 50_000, 100, 5000} {
			s, err := tree.Snapshot(t.Context())
			require.NoError(t, err)
			open = append(open, s)
			_, err = tree.Insert(t.Context(), keys[:n], keys[:n])
			require.NoError(t, err)
			_, err = tree.Delete(t.Context(), keys[:n/2])
			require.NoError(t, err)
			for _, own := range []bool{true, false} {
				_, err = tree.Apply(t.Context(), queriesAndUpdates(keys[:n], own))
				require.NoError(t, err)
			}
		}
		for i, s := range open {
			_, _, err = s.Find(t.Context(), keys)
			require.NoError(t, err)
			_, err = s.Neighbor(t.Context(), structures.Floor, keys[:1000])
			require.NoError(t, err)
			_, err = s.Rank(t.Context(), keys[:10])
			require.NoError(t, err)
			for _, err := range btree.Diff(t.Context(), s, open[max(i, 1)-1]) {
				require.NoError(t, err)
			}
			_, err = tree.Inspect().Versions(t.Context())
			require.NoError(t, err)
		}
		for _, s := range open {
			require.NoError(t, s.Close())
		}
		require.Empty(t, kernels.Take())
	})
	if left != 0 {
		return // not all were used
	}
	for _, module := range shaders.Names() {
		name, _, _ := strings.Cut(module, ".")
		if folder, _, _ := strings.Cut(name, "/"); slices.Contains(ofStructures, folder) && name != ofReclaimers {
			require.True(t, all[name], "%s, which no Prepare makes", module)
		}
	}
}

// queriesAndUpdates returns a batch of all kinds of operations on keys. The ordered queries each see their own moment,
// or all see what was there before the batch.
func queriesAndUpdates(keys []uint32, own bool) u32.Batch {
	b := u32.Batch{Keys: keys, Values: keys, Kinds: make([]structures.Kind, len(keys)),
		Highs: make([]uint32, len(keys)), Width: 4, OwnMoments: own}
	kinds := []structures.Kind{structures.Insert, structures.Find, structures.Delete, structures.FindRange,
		structures.CountRange, structures.FindFloor, structures.FindCeil}
	for i, k := range keys {
		b.Kinds[i], b.Highs[i] = kinds[i%len(kinds)], max(k, k+10)
	}
	return b
}

// ofStructures are the folders of kernels that only structures have.
var ofStructures = []string{"alloc", "btree", "fold", "recording", "runs", "sequential", "slabhash"}

// ofReclaimers is the kernel of alloc.Reclaimer, which no structure uses.
const ofReclaimers = "alloc/reclaim"

// everySize does batches of every kind and of several sizes, sorted and not.
func everySize(t *testing.T, s structure, most int, behind func(what string)) {
	for _, n := range []int{1, 70, 5000, most} {
		random := make([]uint32, n)
		for i := range random {
			random[i] = rand.Uint32()
		}
		for order, keys := range [][]uint32{random, slices.Sorted(slices.Values(random))} {
			for kind := structures.Insert; kind <= structures.DeleteAll; kind++ {
				for asked, status := range [][]structures.Status{nil, make([]structures.Status, n)} {
					if n > 5000 && asked != order {
						continue // slow, and each was combined with each before
					}
					err := s.UpdateInto(t.Context(), kind, keys, random, status)
					var unknown *structures.KindError
					if err != nil {
						require.ErrorAs(t, err, &unknown)
					}
					behind(fmt.Sprintf("%v of %d keys", kind, n))
				}
			}
			_, _, err := s.Find(t.Context(), keys)
			require.NoError(t, err)
			behind(fmt.Sprintf("Find of %d keys", n))
		}
	}
}

// Prepare ends with its context, between two kernels, and can be called again to continue.
func TestPrepareEnds(t *testing.T) {
	recording.Undispatched(t)
	d, kernels := testdevice.OpenNew(t)
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	progress := func(done, total int) {
		require.LessOrEqual(t, done, total)
		if told++; told == 2 {
			cancel()
		}
	}
	tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{MaxBytes: 1 << 28, Progress: progress})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Close()) }()
	require.ErrorIs(t, tree.Prepare(ctx), context.Canceled)
	kernels.Take() // those that were being made, one on each processor
	require.ErrorIs(t, tree.Prepare(ctx), context.Canceled)
	require.Empty(t, kernels.Take())
	require.NoError(t, tree.Prepare(t.Context()))
	require.NotEmpty(t, kernels.Take())
	require.NoError(t, tree.Prepare(t.Context()))
	require.Empty(t, kernels.Take(), "all are there")
}
