package primitives

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// sorted are keys and values in the order that a stable sort by so many bits gives them.
func sorted(keys, values []uint32, first, bits int) (outKeys, outValues []uint32) {
	digit := func(k uint32) uint64 { return uint64(k) >> first & (1<<bits - 1) }
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(digit(keys[a]), digit(keys[b])) })
	for _, i := range order {
		outKeys, outValues = append(outKeys, keys[i]), append(outValues, values[i])
	}
	return outKeys, outValues
}

// sortInputs are the orders that keys may come in.
func sortInputs(n int) map[string][]uint32 {
	ascending, descending, equal := make([]uint32, n), make([]uint32, n), make([]uint32, n)
	for i := range n {
		ascending[i] = uint32(i) * 977
		descending[i] = math.MaxUint32 - uint32(i)*31
		equal[i] = 0x80808080
	}
	return map[string][]uint32{
		"random": words(uint64(n), n, 0), "few": words(uint64(n), n, 7),
		"ascending": ascending, "descending": descending, "equal": equal,
	}
}

// testSort sorts pairs and keys and compares with Go's sort.
func testSort(r *rig, keys []uint32, l Length, n, first, bits int, name string) {
	r.t.Helper()
	defer r.release()
	// Values tell where each pair comes from.
	values := words(7, len(keys), 0)
	for i := range values {
		values[i] ^= uint32(i) << 8
	}
	in, inValues := upload(r, keys), upload(r, values)
	wantKeys, wantValues := sorted(keys[:n], values[:n], first, bits)
	if bits == 32-first {
		bits = 0
	}
	out, outValues := room(r, len(keys)), room(r, len(keys))
	a := SortArgs{Keys: in.Address(), Values: inValues.Address(), OutKeys: out.Address(),
		OutValues: outValues.Address(),
		Length:    l, FirstBit: first, Bits: bits, Scratch: r.scratch(r.p.SortScratch(l.N, true))}
	r.run(r.p.Sort(r.s, a))
	requireWords(r.t, wantKeys, download(r, out, n), "%s: keys of pairs", name)
	requireWords(r.t, wantValues, download(r, outValues, n), "%s: values", name)

	alone := room(r, len(keys))
	a.Values, a.OutValues, a.OutKeys = 0, 0, alone.Address()
	a.Scratch = r.scratch(r.p.SortScratch(l.N, false))
	r.run(r.p.Sort(r.s, a))
	requireWords(r.t, wantKeys, download(r, alone, n), "%s: keys", name)
	unchanged := make([]uint32, len(keys))
	require.NoError(r.t, in.Download(r.t.Context(), 0, unchanged))
	requireWords(r.t, keys, unchanged, "%s: the input", name)
}

func TestSortLengths(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		for _, n := range lengths(1 << 13) {
			testSort(r, words(uint64(n), n, 0), Length{N: n}, n, 0, 32, fmt.Sprint(n))
		}
		for _, n := range []int{0, 1, 1000, 5000} {
			eachLength(r, n, func(l Length, name string) {
				testSort(r, words(uint64(n), l.N, 0), l, n, 0, 32, name)
			})
		}
	})
}

func TestSortInputs(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		const n = 40_000
		for name, keys := range sortInputs(n) {
			testSort(r, keys, Length{N: n}, n, 0, 32, name)
		}
	})
}

func TestSortBits(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		const n = 3000
		keys := words(1, n, 0)
		for _, b := range [][2]int{{0, 1}, {31, 1}, {5, 8}, {0, 9}, {7, 17}, {16, 16}, {3, 29}, {8, 24}, {1, 31}} {
			testSort(r, keys, Length{N: n}, n, b[0], b[1], fmt.Sprint(b))
		}
	})
}

// Shapes as GPUs have them, as far as this device's shared memory goes. Each is compiled anew, which takes its time.
func TestSortShapes(t *testing.T) {
	const n = 9000
	keys := words(9, n, 0)
	for form, shape := range map[Form]tileShape{SinglePass: {workgroup: 384, items: 14},
		MultiPass: {workgroup: 512, items: 4}} {
		r := newRig(t, Options{Form: form})
		r.p.sorts = shape
		testSort(r, keys, Length{N: n}, n, 0, 32, fmt.Sprint(form, shape))
	}
}

func TestSortErrors(t *testing.T) {
	r := newRig(t)
	good := SortArgs{Keys: 1 << 20, OutKeys: 1 << 20, Scratch: 1 << 20, Length: Length{N: 1}}
	for _, change := range []func(a *SortArgs){
		func(a *SortArgs) { a.Keys = 0 },
		func(a *SortArgs) { a.OutKeys = 0 },
		func(a *SortArgs) { a.Scratch = 0 },
		func(a *SortArgs) { a.Values = 1 << 20 },
	} {
		a := good
		change(&a)
		require.ErrorIs(t, r.p.Sort(r.s, a), ErrNoMemory)
	}
	for _, b := range [][2]int{{-1, 1}, {0, 33}, {32, 0}, {0, -1}, {30, 3}} {
		a := good
		a.FirstBit, a.Bits = b[0], b[1]
		var bits *BitsError
		require.ErrorAs(t, r.p.Sort(r.s, a), &bits)
		require.Equal(t, b[0], bits.First)
	}
	for _, n := range []int{-1, MaxLength + 1} {
		a := good
		a.Length.N = n
		var length *structures.CountError
		require.ErrorAs(t, r.p.Sort(r.s, a), &length)
		require.Equal(t, n, length.N)
	}
	a := good
	a.Length.N = 0
	require.NoError(t, r.p.Sort(r.s, a), "nothing to sort")
	require.NoError(t, r.p.Close())
	require.ErrorIs(t, r.p.Sort(r.s, good), vk.ErrClosed)
}
