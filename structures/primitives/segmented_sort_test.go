package primitives

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// checkSegmentedSort sorts segments of these lengths, of keys below a bound, as pairs and as keys alone, and compares
// with a stable sort of each.
func (r *rig) checkSegmentedSort(lengths []int, below uint32, longest int, bound func(n int) Length, name string) {
	r.t.Helper()
	offsets := []uint32{0}
	for _, n := range lengths {
		offsets = append(offsets, offsets[len(offsets)-1]+uint32(n))
	}
	n := int(offsets[len(lengths)])
	keys := words(uint64(n)+5, n, below)
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	for i := range lengths {
		slices.SortStableFunc(order[offsets[i]:offsets[i+1]],
			func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
	}
	want := make([]uint32, n)
	values, wantValues := make([]uint32, n), make([]uint32, n)
	for i, from := range order {
		values[i] = uint32(i) * 3
		want[i], wantValues[i] = keys[from], from*3
	}
	l := bound(n)
	spare := make([]uint32, l.N-n)
	outKeys, outValues := room(r, n), room(r, n)
	args := SegmentedSortArgs{
		Keys: upload(r, append(keys, spare...)).Address(), Values: upload(r, append(values, spare...)).Address(),
		OutKeys: outKeys.Address(), OutValues: outValues.Address(), Length: l,
		Offsets: upload(r, offsets).Address(), Segments: len(lengths), Longest: longest,
		Scratch: r.scratch(r.p.SegmentedSortScratch(l.N, len(lengths), longest)),
	}
	r.run(r.p.SegmentedSort(r.s, args))
	requireWords(r.t, want, download(r, outKeys, n), "keys of %s", name)
	requireWords(r.t, wantValues, download(r, outValues, n), "values of %s", name)

	outKeys = room(r, n)
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
	r := newRig(t)
	tile, fits := segmentShape.elements(), segmentShape.fits()
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
		r.checkSegmentedSort(lengths, []uint32{0, 3}[len(name)%2], 0, exactly, name)
	}
}

func TestSegmentedSortInEachForm(t *testing.T) {
	eachForm(t, func(t *testing.T, r *rig) {
		r.checkSegmentedSort(append(times(100, 7), 3000, 0, 12000), 3, 0, exactly, "short and long")
	})
}

// Where the longest is known, what is for long segments is left out.
func TestSegmentedSortOfKnownLongest(t *testing.T) {
	r := newRig(t)
	fits := segmentShape.fits()
	r.checkSegmentedSort(slices.Concat(times(20, fits), times(5, 17)), 0, fits, exactly, "as fit")
	r.checkSegmentedSort(slices.Concat(times(3, fits+1), times(5, 17)), 0, fits+1, exactly, "one more than fit")
	require.Less(t, r.p.SegmentedSortScratch(1<<20, 100, fits), r.p.SegmentedSortScratch(1<<20, 100, fits+1))
}

func TestSegmentedSortOfLengthOnTheDevice(t *testing.T) {
	r := newRig(t)
	for name, lengths := range map[string][]int{"nothing": {0, 0}, "short and long": {5, 0, 3000, 12, 7000, 1}} {
		r.checkSegmentedSort(lengths, 0, 0, func(n int) Length {
			return Length{N: 2*n + 50, At: upload(r, []uint32{uint32(n)}).Address()}
		}, name)
	}
}

// Keys at both ends of what there is: none is reserved for places beyond the end.
func TestSegmentedSortOfExtremeKeys(t *testing.T) {
	r := newRig(t)
	const n = 3000
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(-(i % 2))
	}
	offsets := []uint32{0, 10, 11, 500, 2999, n}
	out := room(r, n)
	r.run(r.p.SegmentedSort(r.s, SegmentedSortArgs{
		Keys: upload(r, keys).Address(), OutKeys: out.Address(), Length: Length{N: n},
		Offsets: upload(r, offsets).Address(), Segments: 5, Scratch: r.scratch(r.p.SegmentedSortScratch(n, 5, 0)),
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
		Scratch: r.scratch(r.p.SegmentedSortScratch(len(keys), segments, each)),
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
	var length *structures.CountError
	good.Segments = -1
	require.ErrorAs(t, r.p.SegmentedSort(r.s, good), &length)
}
