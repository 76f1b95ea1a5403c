package faults

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/combine"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
)

// A context that has ended: updates say of each operation that it is pending, what only asks returns the context's
// error, and nothing is changed.
func TestEndedContext(t *testing.T) {
	atEachWidth(t, testEndedContext[uint32], testEndedContext[uint64])
}

func testEndedContext[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	ctx := t.Context()
	over, cancel := context.WithCancel(ctx)
	cancel()
	keys, more := []W{1, 2, 3, 4}, []W{5, 6, 7}
	m, err := slabhash.Build(ctx, d, keys, keys, slabhash.Options{})
	require.NoError(t, err)
	set, err := slabhash.BuildSet(ctx, d, keys, slabhash.Options{})
	require.NoError(t, err)
	tree, err := btree.Build(ctx, d, keys, keys, btree.Options{})
	require.NoError(t, err)
	batched, err := btree.Build(ctx, d, keys, keys, btree.Options{Path: btree.Batched})
	require.NoError(t, err)
	levels, err := lsm.Build(ctx, d, keys, keys, lsm.Options{Batch: 32, Cleanup: lsm.WhenStale(0.1)})
	require.NoError(t, err)
	array, err := sortedarray.Build(ctx, d, keys, keys, sortedarray.Options{})
	require.NoError(t, err)
	hosts := host.NewTree[W, W]()
	shards, err := shard.NewTree[W, W](ctx, host.NewTree[W, W](), host.NewTree[W, W]())
	require.NoError(t, err)
	combined, err := combine.NewOrdered[W, W](host.NewTree[W, W](), combine.Options{})
	require.NoError(t, err)
	for _, x := range []structures.Ordered[W, W]{hosts, shards, combined} {
		_, err = x.Insert(ctx, keys, keys)
		require.NoError(t, err)
	}

	type statuses = []structures.Status
	type update = func() (statuses, error)
	updates := map[string]update{
		"map, insert duplicate": func() (statuses, error) { return m.InsertDuplicate(over, more, more) },
		"map, add":              func() (statuses, error) { return m.InsertAdd(over, more, more) },
		"map, min":              func() (statuses, error) { return m.InsertMin(over, more, more) },
		"map, max":              func() (statuses, error) { return m.InsertMax(over, more, more) },
		"map, delete all": func() (statuses, error) {
			_, err := m.DeleteAll(over, more)
			return make(statuses, len(more)), err
		},
		"set, insert":           func() (statuses, error) { return set.Insert(over, more) },
		"set, insert duplicate": func() (statuses, error) { return set.InsertDuplicate(over, more) },
		"set, delete":           func() (statuses, error) { return set.Delete(over, more) },
	}
	queries := map[string]func() error{
		"map, count":    func() error { _, err := m.CountAll(over, keys); return err },
		"map, find all": func() error { _, _, err := m.FindAll(over, keys); return err },
		"map, flush":    func() error { return m.Flush(over) },
		"map, rehash":   func() error { return m.Rehash(over, 100) },
		"map, export":   func() error { _, _, err := numbers.All(over, m); return err },
		"map, stats":    func() error { _, err := m.Inspect().Stats(over); return err },
		"set, contains": func() error { _, err := set.Contains(over, keys); return err },
		"tree, check":   func() error { return tree.Inspect().Check(over) },
		"tree, compact": func() error { return tree.Compact(over, 0) },
		"lsm, cleanup":  func() error { return levels.Cleanup(over) },
		"lsm, stats":    func() error { _, err := levels.Inspect().Stats(over); return err },
		"array, stats":  func() error { _, err := array.Inspect().Stats(over); return err },
		"build map":     func() error { _, err := slabhash.Build(over, d, keys, keys, slabhash.Options{}); return err },
		"build set":     func() error { _, err := slabhash.BuildSet(over, d, keys, slabhash.Options{}); return err },
		"build tree":    func() error { _, err := btree.Build(over, d, keys, keys, btree.Options{}); return err },
		"build lsm":     func() error { _, err := lsm.Build(over, d, keys, keys, lsm.Options{}); return err },
		"build array": func() error {
			_, err := sortedarray.Build(over, d, keys, keys, sortedarray.Options{})
			return err
		},
	}
	dictionaries := map[string]structures.Dictionary[W, W]{
		"map": m, "tree": tree, "batched tree": batched, "lsm": levels,
		"array": array, "host tree": hosts, "shards": shards, "combined": combined}
	for name, x := range dictionaries {
		updates[name+", insert"] = func() (statuses, error) { return x.Insert(over, more, more) }
		updates[name+", insert unique"] = func() (statuses, error) { return x.InsertUnique(over, more, more) }
		updates[name+", delete"] = func() (statuses, error) { return x.Delete(over, keys[:3]) }
		updates[name+", apply"] = func() (statuses, error) {
			kinds := []structures.Kind{structures.Find, structures.Insert, structures.Delete}
			r, err := x.Apply(over, structures.Batch[W, W]{Kinds: kinds, Keys: keys[:3], Values: more})
			require.Len(t, r.Values, 3)
			return r.Status, err
		}
		queries[name+", find"] = func() error { _, _, err := x.Find(over, keys); return err }
		queries[name+", len"] = func() error { _, err := x.Len(over); return err }
		queries[name+", clear"] = func() error { return x.Clear(over) }
		queries[name+", all"] = func() error {
			for pair, err := range x.All(over) {
				require.Zero(t, pair)
				return err
			}
			return nil
		}
		queries[name+", an empty batch"] = func() error { _, err := x.Insert(over, nil, nil); return err }
		o, ok := x.(structures.Ordered[W, W])
		if !ok {
			continue
		}
		updates[name+", delete range"] = func() (statuses, error) {
			counts, err := o.DeleteRange(over, []structures.Range[W]{
				{Hi: 5}, {Lo: 3, Hi: 1 << 30}, structures.AllKeys[W]()})
			require.Equal(t, make([]uint32, 3), counts)
			return make(statuses, 3), err
		}
		queries[name+", count"] = func() error {
			_, err := o.Count(over, []structures.Range[W]{structures.AllKeys[W]()})
			return err
		}
		queries[name+", range"] = func() error {
			_, err := o.Range(over, []structures.Range[W]{structures.AllKeys[W]()})
			return err
		}
		queries[name+", rank"] = func() error { _, err := o.Rank(over, keys); return err }
		queries[name+", select"] = func() error { _, err := o.Select(over, []uint32{1, 2}); return err }
		queries[name+", floor"] = func() error { _, err := o.Neighbor(over, structures.Floor, keys); return err }
		queries[name+", min"] = func() error { _, _, _, err := numbers.Least(over, o); return err }
	}
	for name, call := range updates {
		t.Run(name, func(t *testing.T) {
			got, err := call()
			var pending *structures.PendingError
			require.ErrorAs(t, err, &pending)
			require.Equal(t, 3, pending.Operations)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, make(statuses, 3), got)
		})
	}
	for name, call := range queries {
		t.Run(name, func(t *testing.T) {
			err := call()
			require.ErrorIs(t, err, context.Canceled)
			var pending *structures.PendingError
			require.NotErrorAs(t, err, &pending)
		})
	}
	for name, x := range dictionaries {
		n, err := x.Len(ctx)
		require.NoError(t, err)
		require.EqualValues(t, len(keys), n, name)
		require.NoError(t, x.Close())
	}
	require.NoError(t, set.Close())
}
