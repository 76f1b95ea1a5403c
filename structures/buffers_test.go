package structures_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Where a batch's last buffer can't be had, the ones before are given back: the device would tell at its end.
func TestBuffersThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, n := range []int{-1, 1 << 50} {
		var large *vk.TooLargeError
		_, err := structures.NewDeviceBatch(d, structures.Mixed, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceLookups(d, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceNeighbors(d, n)
		require.ErrorAs(t, err, &large)
		_, err = structures.NewDeviceRanges(d, 1, n)
		require.ErrorAs(t, err, &large)
	}
}

// A batch that nobody wants to know the outcome of is cleared and freed like others.
func TestBatchWithoutLeft(t *testing.T) {
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	structures.DeviceBatch{Count: 3}.Clear(s)
	structures.DeviceNeighbors{Count: 3}.Clear(s)
	require.NoError(t, s.Wait(t.Context()))
	structures.DeviceBatch{Count: 3}.Free()
}
