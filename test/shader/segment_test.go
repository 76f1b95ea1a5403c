package shader

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

type segmentPush struct {
	Source, Target, Before, Totals uint64
	N, Beyond                      uint32
}

// Arrays that end anywhere and begin anywhere are read and written as far as they go, and summed up.
func TestSegment(t *testing.T) {
	r := newRig(t)
	for _, quads := range []uint32{1, 3, 4} {
		k := kernel[segmentPush](t, r, "test/segment", map[string]uint32{"QUADS": quads})
		part := 4 * int(quads) * k.Workgroup()
		rnd := random(6)
		in := make([]uint32, 4*part)
		for i := range in {
			in[i] = rnd.Uint32()
		}
		for _, n := range []int{0, 1, part/2 + 3, part, part + 1, 3*part - 1} {
			for from := range 4 {
				t.Run(fmt.Sprintf("%d quads, %d from %d", quads, n, from), func(t *testing.T) {
					defer r.release()
					const beyond = 5
					parts := n/part + 1
					target, before, totals := room[uint32](r, 4*part), room[uint32](r, parts*part/4),
						room[uint32](r, parts)
					run(r, k, parts*k.Workgroup(),
						segmentPush{put(r, in).AddressOf(from), target.AddressOf(3 - from), before.Address(),
							totals.Address(), uint32(n), beyond})

					wantTarget, wantBefore, wantTotals := make([]uint32, 4*part), make([]uint32, parts*part/4),
						make([]uint32, parts)
					for i := range wantTarget {
						wantTarget[i] = ^uint32(0)
					}
					copy(wantTarget[3-from:], in[from:from+n])
					for i := range parts * part {
						if i%4 == 0 {
							wantBefore[i/4] = wantTotals[i/part]
						}
						word := uint32(beyond)
						if i < n {
							word = in[from+i]
						}
						wantTotals[i/part] += word
					}
					requireWords(t, wantTarget, get(r, target), "copied")
					requireWords(t, wantBefore, get(r, before), "before")
					require.Equal(t, wantTotals, get(r, totals))
				})
			}
		}
	}
}
