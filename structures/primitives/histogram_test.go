package primitives

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// A field may extend over both words of a key.
func TestHistogram(t *testing.T) {
	inRounds(t, &histogramShape)
	words := []keyField{{0, 1}, {3, 5}, {24, 8}, {31, 1}, {20, 12}}
	t.Run("words", func(t *testing.T) { testHistogram[uint32](t, words) })
	t.Run("64 bits", func(t *testing.T) {
		testHistogram[uint64](t, append(words, keyField{21, 12}, keyField{31, 5}, keyField{32, 5}, keyField{52, 12}))
	})
}

type keyField struct{ first, bits int }

func testHistogram[N number](t *testing.T, fields []keyField) {
	r := newRig(t)
	for _, field := range fields {
		for _, n := range []int{0, 1, 4097, 70_001} {
			for _, below := range []N{0, 1, 300} {
				in, want := numbers(uint64(n), n, below), make([]uint32, 1<<field.bits)
				for _, x := range in {
					want[x>>field.first&(1<<field.bits-1)]++
				}
				eachLength(r, n, func(l Length, name string) {
					out := room(r, len(want))
					r.run(r.p.Histogram(r.s, HistogramArgs{Keys: upload(r, in).Address(), Out: out.Address(),
						FirstBit: field.first, Bits: field.bits, Length: l, Width: widthOf[N]()}))
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
	var bits *vk.OptionError
	for _, field := range []struct{ first, bits int }{{0, 0}, {0, MaxHistogramBits + 1}, {-1, 3}, {30, 3}} {
		a := HistogramArgs{Keys: at, Out: at, FirstBit: field.first, Bits: field.bits, Length: Length{N: 8}}
		require.ErrorAs(t, r.p.Histogram(r.s, a), &bits, fmt.Sprint(field))
	}
	long := HistogramArgs{Keys: at, Out: at, FirstBit: 60, Bits: 5, Width: structures.Bits64}
	require.ErrorAs(t, r.p.Histogram(r.s, long), &bits)
	var width *vk.OptionError
	require.ErrorAs(t, r.p.Histogram(r.s, HistogramArgs{Keys: at, Out: at, Bits: 5, Width: 2}), &width)
	var length *structures.CountError
	require.ErrorAs(t, r.p.Histogram(r.s, HistogramArgs{Keys: at, Out: at, Bits: 8, Length: Length{N: -1}}), &length)
	require.ErrorIs(t, r.p.Histogram(r.s, HistogramArgs{Out: at, Bits: 8, Length: Length{N: 8}}), ErrNoMemory)
	require.ErrorIs(t, r.p.Histogram(r.s, HistogramArgs{Keys: at, Bits: 8, Length: Length{N: 8}}), ErrNoMemory)
}
