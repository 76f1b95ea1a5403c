package faults

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/shaders"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/structures/graph/analytics"
	"github.com/vkds/vkds/structures/graph/ordered"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// What is made without a device, or on a zero one, is vk.ErrNotOpen, bare.
func TestNoDevice(t *testing.T) {
	ctx, keys := t.Context(), []uint32{1, 2, 3}
	edges := graph.Edges{From: keys, To: keys}
	of := func(_ any, err error) error { return err }
	open := testdevice.Open(t)
	var dictionary, rows bytes.Buffer
	m, err := slabhash.Build(ctx, open, keys, keys, slabhash.Options{})
	require.NoError(t, err)
	_, err = m.Save(t.Context(), &dictionary)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	g, err := graph.Build(ctx, open, edges, graph.Options{})
	require.NoError(t, err)
	_, err = g.Save(ctx, &rows)
	require.NoError(t, err)
	require.NoError(t, g.Close())
	saved := func() *bytes.Reader { return bytes.NewReader(dictionary.Bytes()) }
	graphs := func() *bytes.Reader { return bytes.NewReader(rows.Bytes()) }
	for _, d := range []*vk.Device{nil, {}} {
		w := structures.Bits64
		for name, err := range map[string]error{
			"buffer":           of(vk.NewBuffer[uint32](d, 3)),
			"host buffer":      of(vk.NewHostBuffer[uint32](d, 3)),
			"kernel":           of(vk.NewKernel[struct{}](d, shaders.Module{}, vk.KernelOptions{})),
			"stream":           of(d.NewStream()),
			"room":             d.Fits(1),
			"close":            d.Close(),
			"batch":            of(structures.NewDeviceBatch(d, w, structures.Insert, 1)),
			"lookups":          of(structures.NewDeviceLookups(d, w, 1)),
			"counts":           of(structures.NewDeviceCounts(d, w, 1)),
			"ranges":           of(structures.NewDeviceRanges(d, w, 1, 1)),
			"window":           of(structures.NewDeviceWindow(d, w, 1, 1)),
			"ranks":            of(structures.NewDeviceRanks(d, w, 1)),
			"export":           of(structures.NewDeviceExport(d, w, 1)),
			"neighbors":        of(structures.NewDeviceNeighbors(d, w, 1)),
			"pool":             of(alloc.NewSlabPool(ctx, d, alloc.PoolOptions{})),
			"map":              of(slabhash.New[uint32, uint64](ctx, d, slabhash.Options{Capacity: 100})),
			"map of pairs":     of(slabhash.Build(ctx, d, keys, keys, slabhash.Options{})),
			"map of a file":    of(slabhash.Load[uint32, uint32](ctx, d, saved(), slabhash.Options{})),
			"set":              of(slabhash.NewSet[uint32](ctx, d, slabhash.Options{})),
			"set of keys":      of(slabhash.BuildSet(ctx, d, keys, slabhash.Options{})),
			"tree":             of(btree.New[uint32, uint64](ctx, d, btree.Options{})),
			"tree of pairs":    of(btree.Build(ctx, d, keys, keys, btree.Options{})),
			"tree of a file":   of(btree.Load[uint32, uint32](ctx, d, saved(), btree.Options{})),
			"levels":           of(lsm.New[uint32, uint64](ctx, d, lsm.Options{})),
			"levels of pairs":  of(lsm.Build(ctx, d, keys, keys, lsm.Options{})),
			"levels, file":     of(lsm.Load[uint32, uint32](ctx, d, saved(), lsm.Options{})),
			"array":            of(sortedarray.New[uint32, uint64](ctx, d, sortedarray.Options{})),
			"array of pairs":   of(sortedarray.Build(ctx, d, keys, keys, sortedarray.Options{})),
			"array of a file":  of(sortedarray.Load[uint32, uint32](ctx, d, saved(), sortedarray.Options{})),
			"graph":            of(graph.New(ctx, d, graph.Options{Capacity: 100})),
			"graph of edges":   of(graph.Build(ctx, d, edges, graph.Options{})),
			"graph of a file":  of(graph.Load(ctx, d, graphs(), graph.Options{})),
			"ordered":          of(ordered.New(ctx, d, ordered.Options{})),
			"ordered of edges": of(ordered.Build(ctx, d, edges, ordered.Options{})),
			"ordered, file":    of(ordered.Load(ctx, d, graphs(), ordered.Options{})),
			"named":            of(graph.NewNamed[uint64](ctx, d, graph.Options{})),
			"named by text":    of(graph.NewNamedByText(ctx, d, graph.Options{})),
			"rows":             of(graph.NewCSR(ctx, d, graph.Rows{})),
			"rows of edges":    of(graph.BuildCSR(ctx, d, graph.Edges{From: keys, To: keys}, graph.CSROptions{})),
			"connectivity":     of(analytics.NewConnectivity(ctx, d, 10)),
		} {
			require.Equal(t, vk.ErrNotOpen, err, name)
		}
	}
}
