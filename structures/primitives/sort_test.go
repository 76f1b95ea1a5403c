package primitives

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/vk"
)

// sorted returns keys and values in the order of a stable sort by the given bits.
func sorted[K, V number](keys []K, values []V, first, bits int) (outKeys []K, outValues []V) {
	digit := func(k K) uint64 { return uint64(k) >> first & (1<<bits - 1) }
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

// sortInputs are keys in various orders, and keys that differ in a few digits only.
func sortInputs[K number](n int) map[string][]K {
	inputs := map[string][]K{"random": numbers[K](uint64(n), n, 0), "few": numbers[K](uint64(n), n, 7)}
	fill := func(name string, key func(i int) uint64) {
		keys := make([]K, n)
		for i := range keys {
			keys[i] = K(key(i))
		}
		inputs[name] = keys
	}
	seeds := numbers[uint64](1, n, 0)
	fill("ascending", func(i int) uint64 { return uint64(i) * 977 << (widthOf[K]().Bits() - 32) })
	fill("descending", func(i int) uint64 { return math.MaxUint64 - uint64(i)*31 })
	fill("equal", func(int) uint64 { return 0x8080808080808080 })
	fill("edges", func(i int) uint64 { return uint64(edges[K]()[seeds[i]%uint64(len(edges[K]()))]) })
	// One to three digits, so that the last pass writes to one array or to the other.
	fill("digit 1", func(i int) uint64 { return seeds[i]&0xff00 | 7 })
	fill("digits 0 and 2", func(i int) uint64 { return seeds[i] & 0xff00ff })
	if widthOf[K]() == structures.Bits64 {
		fill("40 bits", func(i int) uint64 { return seeds[i] >> 24 })
		fill("digit 4", func(i int) uint64 { return seeds[i]&(0xff<<32) | 1<<63 | 1 })
		fill("digits 3, 4 and 7", func(i int) uint64 { return seeds[i] & 0xff0000ffff000000 })
	}
	return inputs
}

// scratchFill is the contents of scratch memory before a sort: large words that differ from those of the output.
const scratchFill = 0xfffffffd

// testSort sorts pairs and keys, compares the results with Go's sort, and returns how the pairs were sorted.
func testSort[K, V number](r *rig, keys []K, l Length, n, first, bits int, name string) sortedBy {
	r.t.Helper()
	defer r.release()
	// Values tell the original place of each pair.
	values := numbers[V](7, len(keys), 0)
	for i := range values {
		values[i] ^= V(i) << 8
	}
	w := Widths{widthOf[K](), widthOf[V]()}
	in, inValues := upload(r, keys), upload(r, values)
	wantKeys, wantValues := sorted(keys[:n], values[:n], first, bits)
	out, outValues := roomOf[K](r, len(keys)), roomOf[V](r, len(keys))
	a := SortArgs{Keys: in.Address(), Values: inValues.Address(), OutKeys: out.Address(),
		OutValues: outValues.Address(), Widths: w,
		Length: l, FirstBit: first, Bits: bits}
	scratch := room(r, r.p.sortScratch(l.N, true, w)/4)
	a.Scratch = scratch.Address()
	r.s.Fill(scratch, 0, scratch.Len(), scratchFill)
	local := l.N > 0 && r.p.upperPasses(a) > 0 && !a.short(r.p)
	if bits == w.Key.Bits()-first {
		a.Bits = 0
	}
	r.run(r.p.Sort(r.s, a))
	by := byPasses
	if local {
		by = howSorted(r, scratch, r.p.sortPlan(l.N, true, w, 0))
	}
	requireWords(r.t, wantKeys, download(r, out, n), "%s: keys of pairs", name)
	requireWords(r.t, wantValues, download(r, outValues, n), "%s: values", name)

	alone := roomOf[K](r, len(keys))
	a.Values, a.OutValues, a.OutKeys = 0, 0, alone.Address()
	a.Scratch = r.scratch(r.p.sortScratch(l.N, false, w))
	r.run(r.p.Sort(r.s, a))
	requireWords(r.t, wantKeys, download(r, alone, n), "%s: keys", name)
	unchanged := make([]K, len(keys))
	require.NoError(r.t, in.Download(r.t.Context(), 0, unchanged))
	requireWords(r.t, keys, unchanged, "%s: the input", name)
	return by
}

// eachSort runs a test in each form of sorts: those of GPUs, and that of CPU devices.
func eachSort(t *testing.T, test func(t *testing.T, r *rig)) {
	eachForm(t, func(t *testing.T, r *rig) {
		r.p.cpuSorts = false
		test(t, r)
	})
	t.Run("on CPUs", func(t *testing.T) {
		r := newRig(t, Options{Form: MultiPass})
		r.p.cpuSorts = true
		test(t, r)
	})
}

func TestSortLengths(t *testing.T) {
	eachSort(t, func(t *testing.T, r *rig) {
		testSortLengths[uint32, uint32](r)
		testSortLengths[uint64, uint64](r)
	})
}

func testSortLengths[K, V number](r *rig) {
	for _, n := range lengths(1 << 13) {
		testSort[K, V](r, numbers[K](uint64(n), n, 0), Length{N: n}, n, 0, widthOf[K]().Bits(), fmt.Sprint(n))
	}
	for _, n := range []int{0, 1, 1000, 5000} {
		eachLength(r, n, func(l Length, name string) {
			testSort[K, V](r, numbers[K](uint64(n), l.N, 0), l, n, 0, widthOf[K]().Bits(), name)
		})
	}
}

func TestSortInputs(t *testing.T) {
	eachSort(t, func(t *testing.T, r *rig) {
		testSortInputs[uint32, uint32](r)
		testSortInputs[uint64, uint32](r)
		testSortInputs[uint64, uint64](r)
	})
}

func testSortInputs[K, V number](r *rig) {
	for _, n := range sortedLengths(r, 12_000) {
		for name, keys := range sortInputs[K](n) {
			testSort[K, V](r, keys, Length{N: n}, n, 0, widthOf[K]().Bits(), name)
		}
	}
}

// sortedLengths returns the length n, and a short one if such arrays are sorted in another way.
func sortedLengths(r *rig, n int) []int {
	if r.p.cpuSorts {
		return []int{n, 700}
	}
	return []int{n}
}

func TestSortBits(t *testing.T) {
	eachSort(t, func(t *testing.T, r *rig) {
		for _, n := range sortedLengths(r, 3000) {
			for _, b := range [][2]int{{0, 1}, {31, 1}, {5, 8}, {0, 9}, {7, 17}, {16, 16}, {3, 29}, {8, 24}, {1, 31}} {
				testSort[uint32, uint32](r, numbers[uint32](1, n, 0), Length{N: n}, n, b[0], b[1], fmt.Sprint(b))
			}
			for _, b := range [][2]int{{31, 1}, {32, 1}, {31, 2}, {63, 1}, {28, 9}, {0, 40}, {5, 59}, {1, 62}} {
				testSort[uint64, uint64](r, numbers[uint64](1, n, 0), Length{N: n}, n, b[0], b[1], fmt.Sprint(b))
			}
		}
	})
}

// Numbers of items like those of GPUs, in workgroups as large as the shared memory of this device allows. Each is
// compiled anew, which takes time.
func TestSortShapes(t *testing.T) {
	pass.OneWidth(t, "other tests sort by the device's own shape at every width")
	const n = 9000
	for form, shape := range map[Form]tileShape{SinglePass: {workgroup: 384, items: 26},
		MultiPass: {workgroup: 512, items: 18}} {
		r := newRig(t, Options{Form: form})
		r.p.sorts = shape
		testSort[uint32, uint32](r, numbers[uint32](9, n, 0), Length{N: n}, n, 0, 32, fmt.Sprint(form, shape))
		testSort[uint64, uint64](r, numbers[uint64](9, n, 0), Length{N: n}, n, 0, 64, fmt.Sprint(form, shape))
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
	refused := map[structures.Width][][2]int{
		structures.Bits32: {{-1, 1}, {0, 33}, {32, 0}, {0, -1}, {30, 3}},
		structures.Bits64: {{0, 65}, {64, 0}, {62, 3}},
	}
	for width, all := range refused {
		for _, b := range all {
			a := good
			a.FirstBit, a.Bits, a.Widths.Key = b[0], b[1], width
			var bits *vk.OptionError
			require.ErrorAs(t, r.p.Sort(r.s, a), &bits)
			require.Equal(t, "Bits", bits.Option)
		}
	}
	for _, w := range []Widths{{structures.Bits32, structures.Bits64}, {structures.Bits64 + 1, structures.Bits32}} {
		a := good
		a.Widths = w
		var widths *vk.OptionError
		require.ErrorAs(t, r.p.Sort(r.s, a), &widths)
		require.Equal(t, "Widths", widths.Option)
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
