package conformance

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
)

// stages are the kinds of operations that come one after the other in a mixed batch; those of one stage come in the
// batch's order.
type stages [][]structures.Kind

// Each structure, and a tree on each of its paths, does a mixed batch in the order that the comment on structures.Batch
// says.
func TestOrderOfMixedBatches(t *testing.T) {
	pass.OneWidth(t, "test/linearizability has concurrent batches at all widths")
	ctx, d := t.Context(), testdevice.Open(t)
	queries := []structures.Kind{structures.Find, structures.CountAll}
	insertions := []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd,
		structures.InsertMin, structures.InsertMax}
	deletions := []structures.Kind{structures.Delete}
	tree := func(path btree.Path) func() (u32.Dictionary, error) {
		return func() (u32.Dictionary, error) {
			return btree.New[uint32, uint32](ctx, d, btree.Options{Path: path})
		}
	}
	for name, s := range map[string]struct {
		open  func() (u32.Dictionary, error)
		order stages // nil: some order
	}{
		"lsm": {func() (u32.Dictionary, error) {
			return lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: 512})
		}, stages{queries, insertions, deletions}},
		"sortedarray": {func() (u32.Dictionary, error) {
			return sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
		}, stages{queries, insertions, deletions}},
		"slabhash": {func() (u32.Dictionary, error) {
			return slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
		}, nil},
		"btree, by default": {tree(btree.Options{}.Path), nil},
		"btree, concurrent": {tree(btree.Concurrent), nil},
		"btree, batched":    {tree(btree.Batched), stages{queries, slices.Concat(insertions, deletions)}},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := s.open()
			require.NoError(t, err)
			defer func() { require.NoError(t, x.Close()) }()
			rng := rand.New(rand.NewPCG(36, 1))
			all := map[uint32]uint32{}
			for batch := range 4 {
				b := u32.Batch{}
				for range 800 {
					kinds := slices.Concat(queries, insertions, deletions)
					b.Kinds = append(b.Kinds, kinds[rng.IntN(len(kinds))])
					b.Keys = append(b.Keys, rng.Uint32N(400))
					b.Values = append(b.Values, rng.Uint32N(1000))
					b.Highs = append(b.Highs, 0)
				}
				if _, is := x.(*btree.Tree[uint32, uint32]); is && batch%2 == 1 {
					for i := 0; i < len(b.Kinds); i += 50 {
						b.Kinds[i], b.Highs[i] = structures.CountRange, ^uint32(0)
					}
				} else {
					b.Highs = nil
				}
				r, err := x.Apply(ctx, b)
				require.NoError(t, err)
				left := countedRanges(t, b, r, all)
				if s.order != nil {
					inStages(t, b, r, left, s.order, all)
				} else {
					inSomeOrder(t, x, b, r, left, all)
				}
				ordercheck.Holds(ctx, t, x, all, b.Keys)
			}
		})
	}
}

// countedRanges requires that counts of ranges see what was there before the batch, and returns the other operations.
func countedRanges(t *testing.T, b u32.Batch, r u32.Results, before map[uint32]uint32) (left []int) {
	t.Helper()
	for i, kind := range b.Kinds {
		if kind != structures.CountRange {
			left = append(left, i)
			continue
		}
		n := uint32(0)
		for key := range before {
			if key >= b.Keys[i] {
				n++
			}
		}
		require.Equal(t, n, r.Values[i], "operation %d counts from %d on", i, b.Keys[i])
	}
	return left
}

// outcome does an operation to a map: its status, and the value that it results in.
func outcome(all map[uint32]uint32, kind structures.Kind, key, value uint32) (structures.Status, uint32) {
	old, there := all[key]
	switch {
	case kind == structures.Delete && there:
		delete(all, key)
		return structures.Deleted, 0
	case kind.Inserts() && there:
		value, status := ordercheck.After(kind, old, value)
		all[key] = value
		return status, 0
	case kind.Inserts():
		all[key] = value
		return structures.Inserted, 0
	case !there:
		return structures.Absent, 0
	case kind == structures.CountAll:
		return structures.Found, 1
	}
	return structures.Found, old
}

// came says whether an operation had such an outcome.
func came(b u32.Batch, r u32.Results, i int, status structures.Status, value uint32) bool {
	asks := b.Kinds[i] == structures.Find || b.Kinds[i] == structures.CountAll
	return r.Status[i] == status && (!asks || r.Values[i] == value)
}

// inStages does operations to a map, stage by stage.
func inStages(t *testing.T, b u32.Batch, r u32.Results, operations []int, order stages, all map[uint32]uint32) {
	t.Helper()
	for _, stage := range order {
		for _, i := range operations {
			if slices.Contains(stage, b.Kinds[i]) {
				status, value := outcome(all, b.Kinds[i], b.Keys[i], b.Values[i])
				require.True(t, came(b, r, i, status, value), "operation %d, %v of %d: %v %d, want %v %d", i,
					b.Kinds[i], b.Keys[i], r.Status[i], r.Values[i], status, value)
			}
		}
	}
}

// inSomeOrder requires that the outcomes of each key's operations are those of some order, which ends with what the
// dictionary holds, and does them to a map.
func inSomeOrder(t *testing.T, x u32.Dictionary, b u32.Batch, r u32.Results, operations []int, all map[uint32]uint32) {
	t.Helper()
	of := map[uint32][]int{}
	for _, i := range operations {
		of[b.Keys[i]] = append(of[b.Keys[i]], i)
	}
	for key, left := range of {
		values, found, err := x.Find(t.Context(), []uint32{key})
		require.NoError(t, err)
		end := map[uint32]uint32{}
		if found[0] {
			end[key] = values[0]
		}
		begin := map[uint32]uint32{}
		if value, there := all[key]; there {
			begin[key] = value
		}
		require.True(t, explained(b, r, left, key, begin, end),
			"no order of the operations %d of key %d, which was %v, leaves %v", left, key, begin, end)
		delete(all, key)
		if found[0] {
			all[key] = values[0]
		}
	}
}

// explained says whether the operations that are left may come in an order that leads from one map of a key to another.
func explained(b u32.Batch, r u32.Results, left []int, key uint32, now, end map[uint32]uint32) bool {
	if len(left) == 0 {
		old, there := now[key]
		last, stays := end[key]
		return there == stays && old == last
	}
	for j, i := range left {
		next := map[uint32]uint32{}
		if value, there := now[key]; there {
			next[key] = value
		}
		status, value := outcome(next, b.Kinds[i], key, b.Values[i])
		if came(b, r, i, status, value) && explained(b, r, slices.Delete(slices.Clone(left), j, j+1), key, next, end) {
			return true
		}
	}
	return false
}
