package shader

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

type lookBackPush struct {
	Sums, States, Before uint64
	Parts, Every         uint32
}

// However many of the workgroups before one never come, and however long it waits, it finds what their parts sum up to.
func TestLookBack(t *testing.T) {
	r := newRig(t)
	const parts = 400
	rnd := random(5)
	sums := make([]uint32, parts)
	for i := range sums {
		if rnd.IntN(3) != 0 {
			sums[i] = rnd.Uint32()
		}
	}
	for _, patience := range []uint32{0, 1, 50} {
		k := kernel[lookBackPush](t, r, "test/look_back", map[string]uint32{"PATIENCE": patience})
		for _, every := range []int{1, 2, 7, 64, 399} {
			t.Run(fmt.Sprintf("patience %d, every %d", patience, every), func(t *testing.T) {
				defer r.release()
				states, before := put(r, make([]uint32, 2*parts)), room[uint32](r, parts)
				run(r, k, parts*k.Workgroup(), lookBackPush{put(r, sums).Address(), states.Address(), before.Address(),
					parts, uint32(every)})
				got := get(r, before)
				var sum uint32
				for i := range parts {
					want := ^uint32(0)
					if i%every == 0 {
						want = sum
					}
					require.Equal(t, want, got[i], "part %d", i)
					sum += sums[i]
				}
			})
		}
	}
}
