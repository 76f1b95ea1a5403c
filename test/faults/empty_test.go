package faults

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/structures/relational"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// A batch with a Count of 0 needs no buffers, and changes nothing.
func TestEmptyBatches(t *testing.T) {
	pass.OneWidth(t, "buffers are checked by the host")
	pass.OneDriver(t, "buffers are checked by the host")
	ctx, d := t.Context(), testdevice.Open(t)
	keys := []uint32{1, 2, 3, 4}
	m, err := slabhash.Build(ctx, d, keys, keys, slabhash.Options{})
	require.NoError(t, err)
	set, err := slabhash.BuildSet(ctx, d, keys, slabhash.Options{})
	require.NoError(t, err)
	tree, err := btree.Build(ctx, d, keys, keys, btree.Options{})
	require.NoError(t, err)
	levels, err := lsm.Build(ctx, d, keys, keys, lsm.Options{Batch: 32})
	require.NoError(t, err)
	array, err := sortedarray.Build(ctx, d, keys, keys, sortedarray.Options{})
	require.NoError(t, err)
	arcs, err := graph.Build(ctx, d, graph.Edges{From: keys, To: []uint32{2, 3, 4, 1}}, graph.Options{})
	require.NoError(t, err)
	bloom, err := filter.New[uint32](ctx, d, filter.Options{})
	require.NoError(t, err)
	at, err := tree.Snapshot(ctx)
	require.NoError(t, err)
	r, err := relational.New(d, relational.Options{})
	require.NoError(t, err)
	p := primitives.New(d, primitives.Options{})
	for _, x := range []io.Closer{m, set, tree, levels, array, arcs, bloom, r, p} {
		defer func() { require.NoError(t, x.Close()) }()
	}
	s := testdevice.Stream(t, d)

	calls := map[string]func() error{
		"filter insert":   func() error { return bloom.On(s).Insert(structures.DeviceBatch{}) },
		"filter contains": func() error { return bloom.On(s).Contains(structures.DeviceLookups{}) },
		"graph update":    func() error { return arcs.On(s).Update(ctx, structures.Insert, graph.DeviceBatch{}) },
		"graph finish":    func() error { return arcs.On(s).Finish(ctx, structures.Insert, graph.DeviceBatch{}) },
		"graph find":      func() error { return arcs.On(s).Find(graph.DeviceLookups{}) },
		"graph rows": func() error {
			rows, err := graph.BuildCSR(ctx, d, graph.DeviceEdges{}, graph.CSROptions{})
			return errors.Join(err, rows.Close())
		},
		"group":       func() error { return r.On(s).Group(relational.GroupArgs{}) },
		"sort":        func() error { return p.Sort(s, primitives.SortArgs{}) },
		"scan":        func() error { return p.Scan(s, primitives.ScanArgs{}) },
		"top k":       func() error { return p.TopK(s, primitives.TopKArgs{}) },
		"runs":        func() error { return p.RunLength(s, primitives.RunLengthArgs{}) },
		"map apply":   func() error { return m.On(s).Apply(structures.Mixed, structures.DeviceBatch{}) },
		"tree apply":  func() error { return tree.On(s).Apply(structures.Mixed, structures.DeviceBatch{}) },
		"tree ranges": func() error { return tree.On(s).Apply(structures.FindRange, structures.DeviceBatch{Width: 1}) },
		"tree window": func() error { return tree.On(s).Window(structures.DeviceWindow{}) },
	}
	dictionaries := map[string]interface {
		Len(ctx context.Context) (uint64, error)
	}{"map": m, "set": set, "tree": tree, "lsm": levels, "array": array}
	for name, x := range dictionaries {
		on := onstream.Of(x).On(s)
		for _, kind := range []structures.Kind{structures.Insert, structures.Delete} {
			b := structures.DeviceBatch{}
			calls[name+" update "+kind.String()] = func() error { return on.Update(ctx, kind, b) }
			calls[name+" finish "+kind.String()] = func() error { return on.Finish(ctx, kind, b) }
		}
		calls[name+" find"] = func() error { return on.Find(structures.DeviceLookups{}) }
	}
	queries := map[string]structures.QueriesOnStream{"tree": tree.On(s), "lsm": levels.On(s), "array": array.On(s),
		"snapshot": at.On(s)}
	for name, on := range queries {
		calls[name+" count"] = func() error { return on.Count(structures.DeviceCounts{}) }
		calls[name+" range"] = func() error { return on.Range(structures.DeviceRanges{}) }
		calls[name+" neighbor"] = func() error { return on.Neighbor(structures.Floor, structures.DeviceNeighbors{}) }
		calls[name+" finish neighbors"] = func() error {
			return on.FinishNeighbors(ctx, structures.Floor, structures.DeviceNeighbors{})
		}
		calls[name+" rank"] = func() error { return on.Rank(structures.DeviceRanks{}) }
		calls[name+" select"] = func() error { return on.Select(structures.DeviceNeighbors{}) }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, call())
			require.NoError(t, s.Wait(ctx))
		})
	}
	for name, on := range queries {
		offsets, candidates := testdevice.Upload(t, d, []uint32{7}), testdevice.Upload(t, d, []uint64{7})
		require.NoError(t, on.Range(structures.DeviceRanges{Offsets: offsets, Candidates: candidates}), name)
		require.NoError(t, s.Wait(ctx), name)
		require.Equal(t, []uint32{0}, testdevice.Download(t, offsets, 1), name)
		require.Equal(t, []uint64{0}, testdevice.Download(t, candidates, 1), name)
	}
	for name, x := range dictionaries {
		n, err := x.Len(ctx)
		require.NoError(t, err, name)
		require.EqualValues(t, 4, n, name)
	}
	require.NoError(t, at.Close())
	require.NoError(t, tree.On(s).Build(ctx, structures.DeviceBatch{}))
	require.NoError(t, s.Wait(ctx))
	n, err := tree.Len(ctx)
	require.NoError(t, err)
	require.Zero(t, n, "Build replaces what is there")
}
