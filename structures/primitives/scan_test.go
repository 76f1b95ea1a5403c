package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// prefixSums is what Scan is to answer, and the sum of all.
func prefixSums(in []uint32, inclusive bool) ([]uint32, uint32) {
	out, sum := make([]uint32, len(in)), uint32(0)
	for i, w := range in {
		out[i] = sum
		sum += w
		if inclusive {
			out[i] = sum
		}
	}
	return out, sum
}

// Short arrays are to test the single pass too.
func init() { scanSingleFrom = 0 }

func TestScan(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		for _, n := range append(lengths(1<<12), 20_000, 200_001) {
			in := words(uint64(n), n, 0)
			for _, inclusive := range []bool{false, true} {
				want, sum := prefixSums(in, inclusive)
				eachLength(r, n, func(l Length, name string) {
					source, out, total := upload(r, in), room(r, n), room(r, 1)
					r.run(r.p.Scan(r.s, ScanArgs{In: source.Address(), Out: out.Address(), Length: l,
						Inclusive: inclusive,
						Total:     total.Address(), Scratch: r.scratch(r.p.ScanScratch(l.N))}))
					requireWords(t, want, download(r, out, n), "%s, inclusive %t", name, inclusive)
					require.Equal(t, sum, download(r, total, 1)[0], name)
				})
			}
			r.release()
		}
	})
}

func TestScanInPlace(t *testing.T) {
	inPlace := func(t *testing.T, r *rig) {
		for _, n := range []int{1, 1000, 100_001} {
			in := words(7, n, 0)
			want, _ := prefixSums(in, false)
			array := upload(r, in)
			r.run(r.p.Scan(r.s, ScanArgs{In: array.Address(), Out: array.Address(), Length: Length{N: n},
				Scratch: r.scratch(r.p.ScanScratch(n))}))
			requireWords(t, want, download(r, array, n), "%d in place", n)
		}
	}
	eachForm(t, inPlace)
	eachRound(t, &scanMultiShape, inPlace)
}

// Arrays that begin anywhere, so that no quad of words is aligned, nor one array as the other is.
func TestScanUnaligned(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		const n = 20_000
		in := words(8, n+3, 0)
		for from := range 4 {
			want, _ := prefixSums(in[from:from+n], true)
			source, out := upload(r, in), room(r, n+5)
			r.run(r.p.Scan(r.s, ScanArgs{In: source.AddressOf(from), Out: out.AddressOf(5), Inclusive: true,
				Length: Length{N: n}, Scratch: r.scratch(r.p.ScanScratch(n))}))
			got := download(r, out, n+5)
			requireWords(t, want, got[5:], "from word %d", from)
			require.Equal(t, uint32(untouched), got[4])
		}
	})
}

// Scratch comes as the operation before has left it.
func TestScanAgain(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		const n = 50_000
		in := words(9, n, 0)
		want, _ := prefixSums(in, false)
		source, out, scratch := upload(r, in), room(r, n), r.scratch(r.p.ScanScratch(n))
		for range 3 {
			r.run(r.p.Scan(r.s, ScanArgs{In: source.Address(), Out: out.Address(), Length: Length{N: n},
				Scratch: scratch}))
			requireWords(t, want, download(r, out, n), "again")
		}
	})
}

func TestScanRefuses(t *testing.T) {
	r := newRig(t)
	array := room(r, 8).Address()
	var length *structures.CountError
	require.ErrorAs(t, r.p.Scan(r.s, ScanArgs{In: array, Out: array, Scratch: array, Length: Length{N: -1}}), &length)
	require.ErrorAs(t, r.p.Scan(r.s, ScanArgs{In: array, Out: array, Scratch: array, Length: Length{N: MaxLength + 1}}),
		&length)
	require.ErrorIs(t, r.p.Scan(r.s, ScanArgs{Out: array, Scratch: array, Length: Length{N: 8}}), ErrNoMemory)
	require.ErrorIs(t, r.p.Scan(r.s, ScanArgs{In: array, Scratch: array, Length: Length{N: 8}}), ErrNoMemory)
	require.ErrorIs(t, r.p.Scan(r.s, ScanArgs{In: array, Out: array, Length: Length{N: 8}}), ErrNoMemory)
	r.run(nil)
	require.NoError(t, r.p.Close())
	require.ErrorIs(t, r.p.Scan(r.s, ScanArgs{In: array, Out: array, Scratch: array, Length: Length{N: 8}}),
		vk.ErrClosed)
}

// More bytes than a 32-bit offset reaches.
func TestScanLong(t *testing.T) {
	long(t)
	eachForm(t, func(t *testing.T, r *rig) {
		if r.p.patience == 0 {
			t.Skip("each part would be summed once for each part behind it")
		}
		const n = 1<<29 + 12345
		array, err := vk.NewBuffer[uint32](r.d, n)
		require.NoError(t, err)
		defer array.Free()
		out, err := vk.NewBuffer[uint32](r.d, n)
		require.NoError(t, err)
		defer out.Free()
		r.s.Fill(array, 0, 4*n, math.MaxUint32)
		r.run(r.p.Scan(r.s, ScanArgs{In: array.Address(), Out: out.Address(), Length: Length{N: n},
			Scratch: r.scratch(r.p.ScanScratch(n))}))
		got := make([]uint32, 1<<20)
		for at := 0; at < n; at += len(got) {
			got = got[:min(len(got), n-at)]
			require.NoError(t, out.Download(t.Context(), at, got))
			for i, w := range got {
				if w != -uint32(at+i) {
					t.Fatalf("word %d is %d, want %d", at+i, w, -uint32(at+i))
				}
			}
		}
	})
}
