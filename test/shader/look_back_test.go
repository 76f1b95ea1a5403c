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
	t.Run("words", func(t *testing.T) { testLookBack[uint32](t, "test/look_back.k32") })
	t.Run("64 bits", func(t *testing.T) { testLookBack[uint64](t, "test/look_back.k64") })
}

func testLookBack[N number](t *testing.T, module string) {
	r := newRig(t)
	const parts = 400
	rnd := random(5)
	sums := make([]N, parts)
	for i := range sums {
		if rnd.IntN(3) != 0 {
			sums[i] = N(rnd.Uint64())
		}
	}
	for _, patience := range []uint32{0, 1, 50} {
		k := kernel[lookBackPush](t, r, module, map[string]uint32{"PATIENCE": patience})
		for _, every := range []int{1, 2, 7, 64, 399} {
			t.Run(fmt.Sprintf("patience %d, every %d", patience, every), func(t *testing.T) {
				defer r.release()
				states, before := put(r, make([]N, 2*parts)), room[N](r, parts)
				run(r, k, parts*k.Workgroup(), lookBackPush{put(r, sums).Address(), states.Address(), before.Address(),
					parts, uint32(every)})
				got := get(r, before)
				var sum N
				for i := range parts {
					want := ^N(0)
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
