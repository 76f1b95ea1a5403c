package structures_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// If the last buffer of a batch cannot be allocated, the others are freed: otherwise the device would report them when
// it closes.
func TestBuffersThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, n := range []int{-1, 1 << 50} {
		var large *vk.LimitError
		_, err := structures.NewDeviceBatch(d, structures.Bits32, structures.Mixed, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceLookups(d, structures.Bits32, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceNeighbors(d, structures.Bits32, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceRanges(d, structures.Bits32, 1, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceCounts(d, structures.Bits32, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceWindow(d, structures.Bits32, 1, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceWindow(d, structures.Bits32, 1<<32, 1<<32)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceRanks(d, structures.Bits32, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceExport(d, structures.Bits32, n)
		require.ErrorAs(t, err, &large)
	}
}

// Buffers of a width suit structures of that width. Buffers of a smaller width are too short, and the error counts
// keys.
func TestBuffersHaveWidth(t *testing.T) {
	pass.OneWidth(t, "the host looks at widths of columns")
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	hash, err := slabhash.New[uint64, uint64](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	defer hash.Close()
	array, err := sortedarray.New[int32, float64](t.Context(), d, sortedarray.Options{})
	require.NoError(t, err)
	defer array.Close()
	tree, err := btree.New[uint64, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	for _, x := range []onstream.Calls{onstream.Of(hash), onstream.Of(array), onstream.Of(tree)} {
		calls := func(w structures.Width) (all []error) {
			b, err := structures.NewDeviceBatch(d, w, structures.Insert, 100)
			require.NoError(t, err)
			defer b.Free()
			require.NoError(t, b.Keys.Upload(t.Context(), 0, make([]uint32, b.Keys.Len())))
			b.Clear(s)
			l, err := structures.NewDeviceLookups(d, w, 100)
			require.NoError(t, err)
			defer l.Free()
			all = append(all, x.On(s).Update(t.Context(), structures.Insert, b), x.On(s).Find(l))
			if q, ordered := x.On(s).(structures.OrderedOnStream); ordered {
				c, err := structures.NewDeviceCounts(d, w, 100)
				require.NoError(t, err)
				defer c.Free()
				r, err := structures.NewDeviceRanges(d, w, 100, 100)
				require.NoError(t, err)
				defer r.Free()
				n, err := structures.NewDeviceNeighbors(d, w, 100)
				require.NoError(t, err)
				defer n.Free()
				n.Clear(s)
				all = append(all, q.Count(c), q.Range(r), q.Neighbor(structures.Floor, n))
			}
			require.NoError(t, s.Wait(t.Context()))
			return all
		}
		for _, err := range calls(structures.Bits64) {
			require.NoError(t, err)
		}
		for i, err := range calls(structures.Bits32) {
			var made *vk.OptionError
			require.ErrorAs(t, err, &made, "%d", i)
			require.Equal(t, "Made", made.Option)
		}
	}
	require.Equal(t, structures.Bits64, structures.PairWidth[uint32, int64]())
}

// A batch without Status and Left is cleared and freed like others.
func TestBatchWithoutLeft(t *testing.T) {
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	structures.DeviceBatch{Count: 3}.Clear(s)
	structures.DeviceNeighbors{Count: 3}.Clear(s)
	require.NoError(t, s.Wait(t.Context()))
	structures.DeviceBatch{Count: 3}.Free()
}

// The buffers of each maker suit the call that they are for.
func TestBuffersOfQueries(t *testing.T) {
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	tree, err := btree.Build(t.Context(), d, []uint32{10, 20, 30, 40}, []uint32{1, 2, 3, 4}, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	counts, err := structures.NewDeviceCounts(d, structures.Bits32, 2)
	require.NoError(t, err)
	defer counts.Free()
	window, err := structures.NewDeviceWindow(d, structures.Bits32, 2, 2)
	require.NoError(t, err)
	defer window.Free()
	ranks, err := structures.NewDeviceRanks(d, structures.Bits32, 3)
	require.NoError(t, err)
	defer ranks.Free()
	export, err := structures.NewDeviceExport(d, structures.Bits32, 3)
	require.NoError(t, err)
	defer export.Free()
	ranges := []uint32{15, 100, 35, 40}
	require.NoError(t, counts.Ranges.Upload(t.Context(), 0, ranges))
	require.NoError(t, window.Ranges.Upload(t.Context(), 0, ranges))
	require.NoError(t, ranks.Keys.Upload(t.Context(), 0, []uint32{10, 11, ^uint32(0)}))

	require.NoError(t, tree.On(s).Count(counts))
	require.NoError(t, tree.On(s).Window(window))
	require.NoError(t, tree.On(s).Rank(ranks))
	require.NoError(t, tree.On(s).Export(export))
	require.NoError(t, s.Wait(t.Context()))

	words := func(b *vk.Buffer[uint32]) []uint32 {
		all := make([]uint32, b.Len())
		require.NoError(t, b.Download(t.Context(), 0, all))
		return all
	}
	require.Equal(t, []uint32{3, 1}, words(counts.Counts))
	require.Equal(t, []uint32{2, 1}, words(window.Counts))
	require.Equal(t, []uint32{20, 30, 40}, words(window.Keys)[:3])
	require.Equal(t, []uint32{2, 3, 4}, words(window.Values)[:3])
	require.Equal(t, []uint32{0, 1, 4}, words(ranks.Ranks))
	require.Equal(t, []uint32{4}, words(export.Total), "one of them without room")
	require.Equal(t, []uint32{10, 20, 30}, words(export.Keys))
	require.Equal(t, []uint32{1, 2, 3}, words(export.Values))
}
