package slabhash

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A key that has more values than were counted, as kernels of one's own may make it meanwhile, is collected as far as
// there is room.
func TestCollectStaysInItsRoom(t *testing.T) {
	const pairs, room, untouched = 100, 60, 1 << 30
	d := testdevice.Open(t)
	m, err := New[uint32, uint32](t.Context(), d, Options{Buckets: 4})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	keys, values := make([]uint32, pairs), make([]uint32, pairs)
	for i := range keys {
		keys[i], values[i] = 77, uint32(i)
	}
	_, err = m.InsertDuplicate(t.Context(), keys, values)
	require.NoError(t, err)

	query, err := vk.NewBuffer[uint32](d, 2) // the key, and where its values go
	require.NoError(t, err)
	defer query.Free()
	require.NoError(t, query.Upload(t.Context(), 0, []uint32{77, 0}))
	found, err := vk.NewBuffer[uint32](d, pairs)
	require.NoError(t, err)
	defer found.Free()
	got := slices.Repeat([]uint32{untouched}, pairs)
	require.NoError(t, found.Upload(t.Context(), 0, got))

	of := m.table
	k, err := of.collectKernel().Kernel(of.Kernels, of.Stream)
	require.NoError(t, err)
	k.Dispatch(of.Stream, 1, collectPush{of.description(of.base), query.Address(), query.AddressOf(1),
		found.Address(), 1,
		room})
	require.NoError(t, of.Stream.Wait(t.Context()))
	require.NoError(t, found.Download(t.Context(), 0, got))
	for i, value := range got {
		require.Equal(t, i >= room, value == untouched, "place %d holds %d", i, value)
	}
}
