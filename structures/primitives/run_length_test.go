package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// runsOf returns the run-length encoding of an array.
func runsOf[N number](in []N) (keys []N, counts []uint32) {
	for i, x := range in {
		if i == 0 || x != in[i-1] {
			keys, counts = append(keys, x), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return keys, counts
}

// runs returns n numbers in runs of 1 to most. Each run is greater than the one before by `by`.
func runs[N number](seed uint64, n, most int, by N) []N {
	g := random(seed)
	var all []N
	for key := N(0); len(all) < n; key += by {
		for range min(1+g.IntN(most), n-len(all)) {
			all = append(all, key)
		}
	}
	return all
}

func testRunLength[N number](r *rig, in []N, l Length, name string) {
	t := r.t
	t.Helper()
	wantKeys, wantCounts := runsOf(in)
	keys, counts, number := roomOf[N](r, len(wantKeys)), room(r, len(wantKeys)), room(r, 1)
	r.run(r.p.RunLength(r.s, RunLengthArgs{Keys: upload(r, in).Address(), OutKeys: keys.Address(),
		OutCounts: counts.Address(), OutRuns: number.Address(), Length: l, Width: widthOf[N](),
		Scratch: r.scratch(r.p.Scratch(RunLengthArgs{}))}))
	require.Equal(t, uint32(len(wantKeys)), download(r, number, 1)[0], name)
	requireWords(t, wantKeys, download(r, keys, len(wantKeys)), "%s, keys", name)
	requireWords(t, wantCounts, download(r, counts, len(wantKeys)), "%s, counts", name)
}

// At 64 bits, runs differ in the low word, in the high word, or in either.
func TestRunLength(t *testing.T) {
	t.Run("words", func(t *testing.T) { testRunLengths[uint32](t, 1) })
	t.Run("low words", func(t *testing.T) { testRunLengths[uint64](t, 1) })
	t.Run("high words", func(t *testing.T) { testRunLengths[uint64](t, 1<<32) })
	t.Run("64 bits", func(t *testing.T) { testRunLengths[uint64](t, math.MaxUint64/3) })
}

func testRunLengths[N number](t *testing.T, by N) {
	eachRound(t, &runLengthShape, func(t *testing.T, r *rig) {
		for _, n := range append(lengths(1<<12), 20_000, 200_001) {
			for _, most := range []int{1, 3, 20_000, math.MaxInt32} {
				in := runs(uint64(n), n, most, by)
				someLength(r, n, func(l Length, name string) { testRunLength(r, in, l, name) })
				r.release()
			}
		}
	})
}

// Equal keys that are not adjacent, and keys that look like the words after the end.
func TestRunLengthUnsorted(t *testing.T) {
	eachRound(t, &runLengthShape, func(t *testing.T, r *rig) {
		const n = 20_000
		testRunLength(r, words(3, n, 2), Length{N: n}, "zeroes and ones")
		testRunLength(r, make([]uint32, n), Length{N: n}, "zeroes")
		testRunLength(r, numbers[uint64](3, n, 2), Length{N: n}, "zeroes and ones of 64 bits")
		testRunLength(r, make([]uint64, n), Length{N: n}, "zeroes of 64 bits")
	})
}

func TestRunLengthRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	good := RunLengthArgs{Keys: at, OutKeys: at, OutCounts: at, Scratch: at, Length: Length{N: 8}}
	for name, spoil := range map[string]func(a *RunLengthArgs){
		"keys": func(a *RunLengthArgs) { a.Keys = 0 }, "out keys": func(a *RunLengthArgs) { a.OutKeys = 0 },
		"out counts": func(a *RunLengthArgs) { a.OutCounts = 0 }, "scratch": func(a *RunLengthArgs) { a.Scratch = 0 },
	} {
		a := good
		spoil(&a)
		require.ErrorIs(t, r.p.RunLength(r.s, a), ErrNoMemory, name)
	}
	var width *vk.OptionError
	a := good
	a.Width = 2
	require.ErrorAs(t, r.p.RunLength(r.s, a), &width)
	var length *structures.CountError
	a = good
	a.Length.N = MaxLength + 1
	require.ErrorAs(t, r.p.RunLength(r.s, a), &length)
}
