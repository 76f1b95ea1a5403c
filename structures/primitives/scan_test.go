package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// prefixSums returns the expected result of Scan, and the sum of all.
func prefixSums[N, S number](in []N, inclusive bool) ([]S, S) {
	out, sum := make([]S, len(in)), S(0)
	for i, x := range in {
		out[i] = sum
		sum += S(x)
		if inclusive {
			out[i] = sum
		}
	}
	return out, sum
}

// Make short arrays use the single pass, too.
func init() { scanSingleFrom = 0 }

func TestScan(t *testing.T) {
	t.Run("words", func(t *testing.T) { eachForm(t, testScan[uint32, uint32]) })
	t.Run("64 bits", func(t *testing.T) { eachForm(t, testScan[uint64, uint64]) })
	t.Run("words, sums of 64 bits", func(t *testing.T) { eachForm(t, testScan[uint32, uint64]) })
}

func testScan[N, S number](t *testing.T, r *rig) {
	for _, n := range append(lengths(1<<12), 20_000, 200_001) {
		in := numbers[N](uint64(n), n, 0)
		for _, inclusive := range []bool{false, true} {
			want, sum := prefixSums[N, S](in, inclusive)
			someLength(r, n, func(l Length, name string) {
				out, total := roomOf[S](r, n), roomOf[S](r, 1)
				r.run(r.p.Scan(r.s, ScanArgs{In: upload(r, in).Address(), Out: out.Address(), Length: l,
					Width: widthOf[N](), Sums: widthOf[S](), Inclusive: inclusive,
					Total: total.Address(), Scratch: r.scratch(r.p.scanScratch(l.N, widthOf[S]()))}))
				requireWords(t, want, download(r, out, n), "%s, inclusive %t", name, inclusive)
				require.Equal(t, sum, download(r, total, 1)[0], name)
			})
		}
		r.release()
	}
}

// Sums that carry at every number, or at almost none.
func TestScanCarries(t *testing.T) {
	pass.NotWidest(t, "other widths have scans of 64 bits")
	const n = 20_000
	for name, number := range map[string]func(i int) uint64{
		"at each":      func(int) uint64 { return math.MaxUint64 },
		"of low words": func(int) uint64 { return math.MaxUint32 },
		"at the end":   func(i int) uint64 { return uint64(i/(n-1)) + uint64(1-min(i, 1))*math.MaxUint32 },
		"at edges":     func(i int) uint64 { return edges[uint64]()[i*7%16] },
	} {
		in := make([]uint64, n)
		for i := range in {
			in[i] = number(i)
		}
		want, _ := prefixSums[uint64, uint64](in, true)
		t.Run(name, func(t *testing.T) {
			eachForm(t, func(t *testing.T, r *rig) {
				out := roomOf[uint64](r, n)
				r.run(r.p.Scan(r.s, ScanArgs{In: upload(r, in).Address(), Out: out.Address(), Length: Length{N: n},
					Width: structures.Bits64, Inclusive: true,
					Scratch: r.scratch(r.p.scanScratch(n, structures.Bits64))}))
				requireWords(t, want, download(r, out, n), "sums")
			})
		})
	}
}

func TestScanInPlace(t *testing.T) {
	t.Run("words", testScanInPlace[uint32])
	t.Run("64 bits", testScanInPlace[uint64])
}

func testScanInPlace[N number](t *testing.T) {
	inPlace := func(t *testing.T, r *rig) {
		for _, n := range []int{1, 1000, 100_001} {
			in := numbers[N](7, n, 0)
			want, _ := prefixSums[N, N](in, false)
			array := upload(r, in)
			r.run(r.p.Scan(r.s, ScanArgs{In: array.Address(), Out: array.Address(), Length: Length{N: n},
				Width: widthOf[N](), Scratch: r.scratch(r.p.scanScratch(n, widthOf[N]()))}))
			requireWords(t, want, download(r, array, n), "%d in place", n)
		}
	}
	eachForm(t, inPlace)
	eachRound(t, &scanMultiShape, inPlace)
}

// Arrays that begin anywhere, so that quads are not aligned, and each array is aligned differently.
func TestScanUnaligned(t *testing.T) {
	t.Run("words", func(t *testing.T) { eachForm(t, testScanUnaligned[uint32, uint32]) })
	t.Run("64 bits", func(t *testing.T) { eachForm(t, testScanUnaligned[uint64, uint64]) })
	t.Run("words, sums of 64 bits", func(t *testing.T) { eachForm(t, testScanUnaligned[uint32, uint64]) })
}

func testScanUnaligned[N, S number](t *testing.T, r *rig) {
	const n = 20_000
	in := numbers[N](8, n+3, 0)
	for from := range 4 {
		want, _ := prefixSums[N, S](in[from:from+n], true)
		source, out := upload(r, in), roomOf[S](r, n+5)
		r.run(r.p.Scan(r.s, ScanArgs{In: source.AddressOf(from), Out: out.AddressOf(5), Inclusive: true,
			Length: Length{N: n}, Width: widthOf[N](), Sums: widthOf[S](),
			Scratch: r.scratch(r.p.scanScratch(n, widthOf[S]()))}))
		got := download(r, out, n+5)
		requireWords(t, want, got[5:], "from number %d", from)
		require.Equal(t, uint32(untouched), uint32(got[4]))
	}
}

// Scratch memory has the contents that the previous operation left.
func TestScanAgain(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		const n = 50_000
		in := words(9, n, 0)
		want, _ := prefixSums[uint32, uint32](in, false)
		source, out, scratch := upload(r, in), room(r, n), r.scratch(r.p.scanScratch(n, structures.Bits32))
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
	var width *vk.OptionError
	require.ErrorAs(t, r.p.Scan(r.s, ScanArgs{In: array, Out: array, Scratch: array, Length: Length{N: 8}, Width: 2}),
		&width)
	r.run(nil)
	require.NoError(t, r.p.Close())
	require.ErrorIs(t, r.p.Scan(r.s, ScanArgs{In: array, Out: array, Scratch: array, Length: Length{N: 8}}),
		vk.ErrClosed)
}

// More bytes than a 32-bit offset can address.
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
		r.s.Fill(array, 0, n, math.MaxUint32)
		r.run(r.p.Scan(r.s, ScanArgs{In: array.Address(), Out: out.Address(), Length: Length{N: n},
			Scratch: r.scratch(r.p.scanScratch(n, structures.Bits32))}))
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
