package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// flagWords returns a bit for each of n elements, of which the given number in 256 is set. The bits after the last
// element are set.
func flagWords(seed uint64, n, of256 int) []uint32 {
	g, flags := random(seed), make([]uint32, n/32+1)
	for i := range flags {
		for b := range 32 {
			if g.IntN(256) < of256 || 32*i+b >= n {
				flags[i] |= 1 << b
			}
		}
	}
	return flags
}

// flagged returns the numbers whose flags are set.
func flagged[N number](in []N, flags []uint32) []N {
	var out []N
	for i, w := range in {
		if flags[i/32]>>(i%32)&1 != 0 {
			out = append(out, w)
		}
	}
	return out
}

func TestCompact(t *testing.T) {
	t.Run("words", func(t *testing.T) { eachRound(t, &compactShape, testCompact[uint32, uint32]) })
	t.Run("64 bits", func(t *testing.T) { eachRound(t, &compactShape, testCompact[uint64, uint64]) })
	t.Run("64 bits with words", func(t *testing.T) { eachRound(t, &compactShape, testCompact[uint64, uint32]) })
}

func testCompact[K, V number](t *testing.T, r *rig) {
	for _, n := range append(lengths(1<<12), 20_000, 200_001) {
		keys, values := numbers[K](uint64(n), n, 0), numbers[V](uint64(n)+1, n, 0)
		for _, share := range []int{1, 128, 256} {
			flags := flagWords(uint64(n), n, share)
			wantKeys, wantValues := flagged(keys, flags), flagged(values, flags)
			count := len(wantKeys)
			someLength(r, n, func(l Length, name string) {
				a := CompactArgs{Keys: upload(r, keys).Address(), Flags: upload(r, flags).Address(), Length: l,
					Widths: Widths{widthOf[K](), widthOf[V]()}, Scratch: r.scratch(r.p.Scratch(CompactArgs{}))}
				outKeys, outValues, outCount := roomOf[K](r, count), roomOf[V](r, count), room(r, 1)
				a.OutKeys, a.OutCount = outKeys.Address(), outCount.Address()
				r.run(r.p.Compact(r.s, a))
				requireWords(t, wantKeys, download(r, outKeys, count), "%s, %d of 256, keys alone", name, share)
				require.Equal(t, uint32(count), download(r, outCount, 1)[0], name)

				again := roomOf[K](r, count)
				a.Values, a.OutKeys, a.OutValues, a.OutCount = upload(r, values).Address(), again.Address(),
					outValues.Address(), 0
				r.run(r.p.Compact(r.s, a))
				requireWords(t, wantKeys, download(r, again, count), "%s, %d of 256, keys", name, share)
				requireWords(t, wantValues, download(r, outValues, count), "%s, %d of 256, values", name, share)
			})
			r.release()
		}
	}
}

func TestCompactRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	good := CompactArgs{Keys: at, Values: at, Flags: at, OutKeys: at, OutValues: at, Scratch: at, Length: Length{N: 8}}
	for name, spoil := range map[string]func(a *CompactArgs){
		"keys": func(a *CompactArgs) { a.Keys = 0 }, "flags": func(a *CompactArgs) { a.Flags = 0 },
		"out keys": func(a *CompactArgs) { a.OutKeys = 0 }, "out values": func(a *CompactArgs) { a.OutValues = 0 },
		"scratch": func(a *CompactArgs) { a.Scratch = 0 },
	} {
		a := good
		spoil(&a)
		require.ErrorIs(t, r.p.Compact(r.s, a), ErrNoMemory, name)
	}
	var width *vk.OptionError
	a := good
	a.Widths = Widths{structures.Bits32, structures.Bits64}
	require.ErrorAs(t, r.p.Compact(r.s, a), &width)
	var length *structures.CountError
	a = good
	a.Length.N = math.MinInt
	require.ErrorAs(t, r.p.Compact(r.s, a), &length)
}
