package slabs

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Occupy allocates exactly the first slabs, whatever was allocated before, in pools of one super block and of several.
func TestOccupy(t *testing.T) {
	d := testdevice.Open(t)
	u := newUser(t, d)
	count, err := vk.NewBuffer[uint32](d, 1)
	require.NoError(t, err)
	defer count.Free()
	for _, blocks := range []int{1, 3, 12} {
		p := newPool(t, d, Options{Blocks: blocks, SuperShift: smallSupers})
		all := blocks * BlockSlabs
		u.allocate(p, all/3)
		for _, n := range []int{all, 0, 1, 31, 32, 33, 1024, 1025, 4096, 4097, all - 1, all + 1, 1 << 31} {
			what := fmt.Sprintf("%d of %d slabs", n, all)
			require.NoError(t, count.Upload(t.Context(), 0, []uint32{uint32(n)}))
			require.NoError(t, p.Occupy(u.stream, count.Address()))
			require.NoError(t, u.stream.Wait(t.Context()))
			got := marked(t, p)
			require.Len(t, got, min(n, all), what)
			for i := range min(n, all) {
				ref := uint32(i/4096)<<24 | uint32(i%4096)
				require.True(t, got[ref], "%s: slab %#x", what, ref)
			}
		}
	}
}
