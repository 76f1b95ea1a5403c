package primitives

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// checkSegmentedSort sorts segments of these lengths, of keys below a bound, as pairs and as keys alone, and compares
// the results with a stable sort of each segment.
func checkSegmentedSort[K, V number](r *rig, lengths []int, below K, longest int, bound func(n int) Length,
	name string) {
	r.t.Helper()
	offsets := []uint32{0}
	for _, n := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+uint32(n))
	}
	n := int(offsets[len(lengths)])
	keys := numbers(uint64(n)+5, n, below)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := range lengths {
		slices.SortStableFunc(order[offsets[i]:offsets[i+1]],
			func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	}
	want := make([]K, n)
	values, wantValues := make([]V, n), make([]V, n)
	for i, from := range order {
		values[i] = tagged[V](1, i)
		want[i], wantValues[i] = keys[from], tagged[V](1, from)
	}
	l := bound(n)
	outKeys, outValues := roomOf[K](r, n), roomOf[V](r, n)
	args := SegmentedSortArgs{
		Keys: within(r, keys, l).Address(), Values: within(r, values, l).Address(),
		OutKeys: outKeys.Address(), OutValues: outValues.Address(), Length: l,
		Widths: Widths{widthOf[K](), widthOf[V]()}, Offsets: upload(r, offsets).Address(), Segments: len(lengths),
		Longest: longest,
	}
	args.Scratch = r.scratch(r.p.segmentedSortScratch(l.N, len(lengths), longest, args.Widths))
	r.run(r.p.SegmentedSort(r.s, args))
	requireWords(r.t, want, download(r, outKeys, n), "keys of %s", name)
	requireWords(r.t, wantValues, download(r, outValues, n), "values of %s", name)

	outKeys = roomOf[K](r, n)
	args.Values, args.OutValues, args.OutKeys = 0, 0, outKeys.Address()
	r.run(r.p.SegmentedSort(r.s, args))
	requireWords(r.t, want, download(r, outKeys, n), "keys alone of %s", name)
	r.release()
}

func exactly(n int) Length { return Length{N: n} }

func drawn(count int, length func() int) (lengths []int) {
	for range count {
		lengths = append(lengths, length())
	}
	return lengths
}

func times(count, n int) []int { return slices.Repeat([]int{n}, count) }

func TestSegmentedSort(t *testing.T) {
	t.Run("k32v32", testSegmentedSort[uint32, uint32])
	t.Run("k64v64", testSegmentedSort[uint64, uint64])
	t.Run("k64v32", testSegmentedSort[uint64, uint32])
}

func testSegmentedSort[K, V number](t *testing.T) {
	r := newRig(t)
	shape := r.p.segmentTile(widthOf[K]())
	tile, fits := shape.elements(), shape.fits()
	g := random(11)
	for name, lengths := range map[string][]int{
		"none":             {},
		"one, empty":       {0},
		"one of one":       {1},
		"one of a few":     {100},
		"one that fits":    {tile},
		"one too long":     {tile + 1},
		"one long":         {5*tile + 77},
		"empty ones":       times(3000, 0),
		"ones":             times(4000, 1),
		"twos and threes":  append(times(1500, 2), times(1500, 3)...),
		"short ones":       drawn(900, func() int { return g.IntN(20) }),
		"as fit":           times(7, fits),
		"just too long":    times(7, fits+1),
		"middling":         drawn(12, func() int { return g.IntN(tile) }),
		"long ones":        drawn(5, func() int { return tile + g.IntN(tile) }),
		"of all lengths":   drawn(40, func() int { return int(math.Exp(g.Float64() * math.Log(float64(2*tile)))) }),
		"empties and long": slices.Concat(times(1000, 0), []int{2 * tile}, times(1000, 0), []int{3 * tile, 0, 1, 0}),
	} {
		checkSegmentedSort[K, V](r, lengths, []K{0, 3}[len(name)%2], 0, exactly, name)
	}
}

func TestSegmentedSortInEachForm(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		lengths := append(times(100, 7), 3000, 0, 12000)
		checkSegmentedSort[uint32, uint32](r, lengths, 3, 0, exactly, "short and long")
		checkSegmentedSort[uint64, uint64](r, lengths, 3<<32, 0, exactly, "short and long, 64 bits")
	})
}

// If the longest segment is known, the steps for long segments are left out.
func TestSegmentedSortOfKnownLongest(t *testing.T) {
	r := newRig(t)
	fits := r.p.segmentTile(structures.Bits32).fits()
	checkSegmentedSort[uint32, uint32](r, slices.Concat(times(20, fits), times(5, 17)), 0, fits, exactly, "as fit")
	checkSegmentedSort[uint32, uint32](r, slices.Concat(times(3, fits+1), times(5, 17)), 0, fits+1, exactly,
		"one more than fit")
	require.Less(t, r.p.segmentedSortScratch(1<<20, 100, fits, Widths{}),
		r.p.segmentedSortScratch(1<<20, 100, fits+1, Widths{}))
}

func TestSegmentedSortOfLengthOnTheDevice(t *testing.T) {
	r := newRig(t)
	for name, lengths := range map[string][]int{"nothing": {0, 0}, "short and long": {5, 0, 3000, 12, 7000, 1}} {
		bound := func(n int) Length {
			return Length{N: 2*n + 50, At: upload(r, []uint32{uint32(n)}).Address()}
		}
		checkSegmentedSort[uint32, uint32](r, lengths, 0, 0, bound, name)
		checkSegmentedSort[uint64, uint64](r, lengths, 0, 0, bound, name+", 64 bits")
	}
}

// The least and greatest keys, and those at the limits of either word: no key is reserved for places after the end.
func TestSegmentedSortOfExtremeKeys(t *testing.T) {
	t.Run("k32", testSegmentedSortOfExtremeKeys[uint32])
	t.Run("k64", testSegmentedSortOfExtremeKeys[uint64])
}

func testSegmentedSortOfExtremeKeys[K number](t *testing.T) {
	r := newRig(t)
	const n = 3000
	w, edges, keys := Widths{Key: widthOf[K]()}, edges[K](), make([]K, n)
	for i := range keys {
		keys[i] = edges[i*7%len(edges)]
	}
	offsets := []uint32{0, 10, 11, 500, 2999, n}
	out := roomOf[K](r, n)
	r.run(r.p.SegmentedSort(r.s, SegmentedSortArgs{
		Keys: upload(r, keys).Address(), OutKeys: out.Address(), Widths: w, Length: Length{N: n},
		Offsets: upload(r, offsets).Address(), Segments: 5, Scratch: r.scratch(r.p.segmentedSortScratch(n, 5, 0, w)),
	}))
	for i := range offsets[1:] {
		slices.Sort(keys[offsets[i]:offsets[i+1]])
	}
	requireWords(t, keys, download(r, out, n), "keys")
}

// An array of more than 2^31 bytes.
func TestSegmentedSortOfLongArray(t *testing.T) {
	long(t)
	r := newRig(t)
	const segments, each = 1<<23 + 1, 64
	keys, offsets := make([]uint32, segments*each), make([]uint32, segments+1)
	for i := range keys {
		keys[i] = uint32(each - 1 - i%each + i/each)
	}
	for i := range offsets {
		offsets[i] = uint32(i * each)
	}
	out := room(r, len(keys))
	r.run(r.p.SegmentedSort(r.s, SegmentedSortArgs{
		Keys: upload(r, keys).Address(), OutKeys: out.Address(), Length: Length{N: len(keys)},
		Offsets: upload(r, offsets).Address(), Segments: segments, Longest: each,
		Scratch: r.scratch(r.p.segmentedSortScratch(len(keys), segments, each, Widths{})),
	}))
	for i, got := range download(r, out, len(keys)) {
		if want := uint32(i%each + i/each); got != want {
			require.Equal(t, want, got, "key %d", i)
		}
	}
}

func TestSegmentedSortRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	good := SegmentedSortArgs{
		Keys: at, Values: at, OutKeys: at, OutValues: at, Length: Length{N: 1}, Offsets: at, Segments: 1, Scratch: at,
	}
	for name, wrong := range map[string]func(a *SegmentedSortArgs){
		"no keys":    func(a *SegmentedSortArgs) { a.Keys = 0 },
		"no output":  func(a *SegmentedSortArgs) { a.OutKeys = 0 },
		"no room":    func(a *SegmentedSortArgs) { a.OutValues = 0 },
		"no offsets": func(a *SegmentedSortArgs) { a.Offsets = 0 },
		"no scratch": func(a *SegmentedSortArgs) { a.Scratch = 0 },
	} {
		args := good
		wrong(&args)
		require.ErrorIs(t, r.p.SegmentedSort(r.s, args), ErrNoMemory, name)
	}
	args := good
	args.Widths = Widths{Key: structures.Bits32, Value: structures.Bits64}
	var widths *vk.OptionError
	require.ErrorAs(t, r.p.SegmentedSort(r.s, args), &widths)
	var length *structures.CountError
	good.Segments = -1
	require.ErrorAs(t, r.p.SegmentedSort(r.s, good), &length)
}
