package shader

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

type lookBackPush struct {
	Shares, States, Before uint64
	Parts, Every           uint32
}

// However many of the workgroups before one never come, and however long it waits, it finds what their parts make.
func TestLookBack(t *testing.T) {
	r := newRig(t)
	const parts = 400
	rnd := random(5)
	shares := make([]uint32, 2*parts)
	for i := range shares {
		shares[i] = rnd.Uint32N(1 << 20)
		if i%2 == 1 && rnd.IntN(3) != 0 {
			shares[i] = 0
		}
	}
	for _, patience := range []uint32{0, 1, 50} {
		k := kernel[lookBackPush](t, r, "test/look_back", map[string]uint32{"PATIENCE": patience})
		for _, every := range []int{1, 2, 7, 64, 399} {
			t.Run(fmt.Sprintf("patience %d, every %d", patience, every), func(t *testing.T) {
				defer r.release()
				states, before := put(r, make([]uint32, 2*parts)), room[uint32](r, 2*parts)
				run(r, k, parts*k.Workgroup(), lookBackPush{put(r, shares).Address(), states.Address(), before.Address(), parts, uint32(every)})
				got := get(r, before)
				var sum, most uint32
				for i := range parts {
					want := []uint32{^uint32(0), ^uint32(0)}
					if i%every == 0 {
						want = []uint32{sum, most}
					}
					require.Equal(t, want, got[2*i:2*i+2], "part %d", i)
					sum, most = sum+shares[2*i], max(most, shares[2*i+1])
				}
			})
		}
	}
}
