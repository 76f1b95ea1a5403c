package primitives

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// runsOf is the run-length encoding of an array.
func runsOf(in []uint32) (keys, counts []uint32) {
	for i, w := range in {
		if i == 0 || w != in[i-1] {
			keys, counts = append(keys, w), append(counts, 0)
		}
		counts[len(counts)-1]++
	}
	return keys, counts
}

// runs are n words in runs of 1 to most words.
func runs(seed uint64, n, most int) []uint32 {
	g := random(seed)
	var all []uint32
	for key := uint32(0); len(all) < n; key++ {
		for range min(1+g.IntN(most), n-len(all)) {
			all = append(all, key)
		}
	}
	return all
}

func testRunLength(t *testing.T, r *rig, in []uint32, l Length, name string) {
	t.Helper()
	wantKeys, wantCounts := runsOf(in)
	keys, counts, number := room(r, len(wantKeys)), room(r, len(wantKeys)), room(r, 1)
	r.run(r.p.RunLength(r.s, RunLengthArgs{Keys: upload(r, in).Address(), OutKeys: keys.Address(),
		OutCounts: counts.Address(),
		OutRuns:   number.Address(), Length: l, Scratch: r.scratch(r.p.RunLengthScratch(l.N))}))
	require.Equal(t, uint32(len(wantKeys)), download(r, number, 1)[0], name)
	requireWords(t, wantKeys, download(r, keys, len(wantKeys)), "%s, keys", name)
	requireWords(t, wantCounts, download(r, counts, len(wantKeys)), "%s, counts", name)
}

func TestRunLength(t *testing.T) {
	eachRound(t, &runLengthShape, func(t *testing.T, r *rig) {
		for _, n := range append(lengths(1<<12), 20_000, 200_001) {
			for _, most := range []int{1, 3, 20_000, math.MaxInt32} {
				in := runs(uint64(n), n, most)
				eachLength(r, n, func(l Length, name string) { testRunLength(t, r, in, l, name) })
				r.release()
			}
		}
	})
}

// Equal keys that are apart, and those that look like what is beyond the end.
func TestRunLengthUnsorted(t *testing.T) {
	eachRound(t, &runLengthShape, func(t *testing.T, r *rig) {
		const n = 20_000
		testRunLength(t, r, words(3, n, 2), Length{N: n}, "zeroes and ones")
		testRunLength(t, r, make([]uint32, n), Length{N: n}, "zeroes")
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
	var length *structures.CountError
	a := good
	a.Length.N = MaxLength + 1
	require.ErrorAs(t, r.p.RunLength(r.s, a), &length)
}
