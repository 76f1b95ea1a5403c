package slabhash

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Slots are as many, and as large, as the kernels have them.
func TestGeometry(t *testing.T) {
	d := testdevice.Open(t)
	s := testdevice.Stream(t, d)
	numbers, slab := testdevice.Room[uint32](t, d, 4), testdevice.Room[uint32](t, d, slabWords)
	for _, width := range []structures.Width{structures.Bits32, structures.Bits64} {
		for _, keys := range []bool{false, true} {
			x := table{width: width, keys: keys}
			m, err := kernels.Load("test/" + x.variant("slab_geometry"))
			require.NoError(t, err)
			k, err := vk.NewKernel[struct{ Numbers, Slab uint64 }](d, m, vk.KernelOptions{})
			require.NoError(t, err)
			k.Dispatch(s, 1, struct{ Numbers, Slab uint64 }{numbers.Address(), slab.Address()})
			require.NoError(t, s.Wait(t.Context()))
			k.Free()
			bytes := slotBytes(width, keys)
			require.Equal(t, []uint32{uint32(slotsBytes / bytes), uint32(bytes), slotsBytes, 4 * (slabWords - 1)},
				testdevice.Download(t, numbers, 4))
		}
	}
}
