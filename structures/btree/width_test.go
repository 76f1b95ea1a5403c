package btree

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// Width has no effect on batches without ranges.
func TestWidthWithoutRanges(t *testing.T) {
	d := testdevice.Open(t)
	tree, err := makeDictionary[uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	s := testdevice.Stream(t, d)
	b := structures.DeviceBatch{
		Count: 4, Keys: testdevice.Upload(t, d, []uint32{1, 2, 3, 4}), Width: 3,
		Values: testdevice.Upload(t, d, []uint32{5, 6, 7, 8}), Status: testdevice.Room[uint8](t, d, 4),
	}
	for _, c := range []struct {
		kind structures.Kind
		want structures.Status
		left uint64
	}{
		{structures.Insert, structures.Inserted, 4}, {structures.Find, structures.Found, 4},
		{structures.Delete, structures.Deleted, 0},
	} {
		require.NoError(t, tree.On(s).Apply(c.kind, b))
		require.NoError(t, tree.On(s).Finish(t.Context(), c.kind, b))
		for _, status := range testdevice.Download(t, b.Status, 4) {
			require.Equal(t, c.want, structures.Status(status), c.kind)
		}
		n, err := tree.Len(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.left, n)
	}
}
