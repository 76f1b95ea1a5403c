package primitives

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

func TestHistogram(t *testing.T) {
	inRounds(t, &histogramShape)
	r := newRig(t)
	for _, field := range []struct{ first, bits int }{{0, 1}, {3, 5}, {24, 8}, {31, 1}, {20, 12}} {
		for _, n := range []int{0, 1, 4097, 70_001} {
			for _, below := range []uint32{0, 1, 300} {
				in, want := words(uint64(n), n, below), make([]uint32, 1<<field.bits)
				for _, w := range in {
					want[w>>field.first&(1<<field.bits-1)]++
				}
				eachLength(r, n, func(l Length, name string) {
					out := room(r, len(want))
					r.run(r.p.Histogram(r.s, HistogramArgs{Keys: upload(r, in).Address(), Out: out.Address(),
						FirstBit: field.first,
						Bits:     field.bits, Length: l}))
					requireWords(t, want, download(r, out, len(want)), "%s, field %v, below %d", name, field, below)
				})
				r.release()
			}
		}
	}
}

func TestHistogramRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	var bits *BitsError
	for _, field := range []struct{ first, bits int }{{0, 0}, {0, MaxHistogramBits + 1}, {-1, 3}, {30, 3}} {
		a := HistogramArgs{Keys: at, Out: at, FirstBit: field.first, Bits: field.bits, Length: Length{N: 8}}
		require.ErrorAs(t, r.p.Histogram(r.s, a), &bits, fmt.Sprint(field))
	}
	var length *structures.CountError
	require.ErrorAs(t, r.p.Histogram(r.s, HistogramArgs{Keys: at, Out: at, Bits: 8, Length: Length{N: -1}}), &length)
	require.ErrorIs(t, r.p.Histogram(r.s, HistogramArgs{Out: at, Bits: 8, Length: Length{N: 8}}), ErrNoMemory)
	require.ErrorIs(t, r.p.Histogram(r.s, HistogramArgs{Keys: at, Bits: 8, Length: Length{N: 8}}), ErrNoMemory)
}
