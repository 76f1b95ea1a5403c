package shader

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

type segmentPush struct {
	Source, Target, Before, Totals uint64
	N, Beyond                      uint32
}

// Arrays that end anywhere and begin anywhere are read and written as far as they go, and summed up.
func TestSegment(t *testing.T) {
	t.Run("words", func(t *testing.T) { testSegment[uint32](t, "test/segment.k32", 4) })
	t.Run("64 bits", func(t *testing.T) { testSegment[uint64](t, "test/segment.k64", 2) })
}

func testSegment[N number](t *testing.T, module string, quad int) {
	r := newRig(t)
	for _, quads := range []uint32{1, 3, 4} {
		k := kernel[segmentPush](t, r, module, map[string]uint32{"QUADS": quads})
		part := quad * int(quads) * k.Workgroup()
		rnd := random(6)
		in := make([]N, 4*part)
		for i := range in {
			in[i] = N(rnd.Uint64())
		}
		for _, n := range []int{0, 1, part/2 + 3, part, part + 1, 3*part - 1} {
			for from := range quad {
				t.Run(fmt.Sprintf("%d quads, %d from %d", quads, n, from), func(t *testing.T) {
					defer r.release()
					const beyond = 5
					parts := n/part + 1
					target, before, totals := room[N](r, 4*part), room[N](r, parts*part/quad), room[N](r, parts)
					run(r, k, parts*k.Workgroup(),
						segmentPush{put(r, in).AddressOf(from), target.AddressOf(quad - 1 - from), before.Address(),
							totals.Address(), uint32(n), beyond})

					wantTarget, wantBefore, wantTotals := make([]N, 4*part), make([]N, parts*part/quad),
						make([]N, parts)
					for i := range wantTarget {
						wantTarget[i] = ^N(0)
					}
					copy(wantTarget[quad-1-from:], in[from:from+n])
					for i := range parts * part {
						if i%quad == 0 {
							wantBefore[i/quad] = wantTotals[i/part]
						}
						key := ^N(0) / math.MaxUint32 * beyond // in each word
						if i < n {
							key = in[from+i]
						}
						wantTotals[i/part] += key
					}
					requireWords(t, wantTarget, get(r, target), "copied")
					requireWords(t, wantBefore, get(r, before), "before")
					require.Equal(t, wantTotals, get(r, totals))
				})
			}
		}
	}
}
