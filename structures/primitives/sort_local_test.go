package primitives

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// groupsOf returns n keys of 64 bits in groups of the given size, in random order. The keys of a group have the same
// upper 40 bits.
func groupsOf(n, together int) []uint64 {
	groups, lower := numbers[uint64](3, n/together+1, 0), numbers[uint64](4, n, 0)
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = groups[i/together]&^(1<<24-1) | lower[i]&(1<<24-1)
	}
	random(5).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// How a sort was done, according to the plan in its scratch memory (shaders/primitives/sort_plan.glsl).
type sortedBy string

const (
	byPasses sortedBy = "passes by all digits"
	locally  sortedBy = "passes by upper digits, and a local sort"
	byBoth   sortedBy = "a local sort that failed, and passes by all digits"
)

// howSorted reads the plan of a sort that has ended.
func howSorted(r *rig, scratch *vk.Buffer[uint32], plan sortPlan) sortedBy {
	steps := make([]uint32, planWords)
	require.NoError(r.t, scratch.Download(r.t.Context(), int(plan.steps/4), steps))
	switch whole, local := steps[0] != 0, steps[localAt] != 0; {
	case !local:
		require.True(r.t, whole, "nothing is done")
		return byPasses
	case whole:
		return byBoth
	default:
		return locally
	}
}

// Keys of 64 bits whose upper digits suffice, nearly suffice, and do not suffice. Each is sorted in the expected way.
func TestSortLocal(t *testing.T) {
	const n = 6000
	random := func(n int) []uint64 { return numbers[uint64](1, n, 0) }
	repeated := func(keys []uint64, times int) []uint64 { return slices.Repeat(keys[:n/times+1], times)[:n] }
	ascending := func(keys []uint64) []uint64 {
		slices.Sort(keys)
		return keys
	}
	// Some keys many times, after random ones.
	behind := func(n, times int, keys ...uint64) []uint64 {
		return append(random(n), slices.Repeat(keys, times)...)
	}
	// A long run between random keys, in order except for two neighbors.
	swapped := func(at int) []uint64 {
		run := ascending(groupsOf(100, 100))
		run[at], run[at+1] = run[at+1], run[at]
		keys := random(n)
		i, _ := slices.BinarySearch(ascending(keys), run[0])
		return slices.Insert(keys, i, run...)
	}
	run, long := groupsOf(100, 100), shortRun(n)
	ended := behind(n, 1, run...)
	for i := range ended {
		ended[i] = ended[i]<<8 | 7
	}
	tests := []struct {
		name        string
		keys        []uint64
		first, bits int
		by          sortedBy
	}{
		{"random", random(n), 0, 64, locally},
		{"random, ascending", ascending(random(n)), 0, 64, locally},
		{"48 bits", numbers[uint64](1, n, 1<<48), 0, 64, locally},
		{"32 bits", numbers[uint64](1, n, 1<<32), 0, 64, locally},
		{"24 bits", numbers[uint64](1, n, 1<<24), 0, 64, byPasses},
		{"bits 5 to 60", random(n), 5, 55, locally},
		{"bits 20 to 61", random(n), 20, 41, locally},
		{"bits 0 to 40", random(n), 0, 40, locally},
		{"each twice", repeated(random(n), 2), 0, 64, locally},
		{"each five times", repeated(random(n), 5), 0, 64, locally},
		{"each a thousand times", repeated(random(n), 1000), 0, 64, byPasses},
		{"all the same", behind(0, n, 1<<40), 0, 64, byPasses},
		{"half of them the same", behind(n/2, n/2, 1<<40), 0, 64, byPasses},
		{"some of them the same", behind(n-200, 200, 1<<40), 0, 64, locally},
		{"short runs", groupsOf(n, 6), 0, 64, locally},
		{"long runs", groupsOf(n, 300), 0, 64, byPasses},
		{"the longest short run", behind(n, 1, run[:long]...), 0, 64, locally},
		{"the shortest long run", behind(n, 1, run[:long+1]...), 0, 64, byBoth},
		{"one long run", behind(n, 1, run...), 0, 64, byBoth},
		{"one long run, and low bytes all the same", ended, 0, 64, byBoth},
		{"one long run, by what it has in common", behind(n, 1, run...), 24, 40, locally},
		{"one long run in order", ascending(behind(n, 1, run...)), 0, 64, locally},
		{"but for its beginning", swapped(0), 0, 64, byBoth},
		{"but for its end", swapped(98), 0, 64, byBoth},
		{"but for its middle", swapped(50), 0, 64, byBoth},
		{"but for one behind it", swapped(51), 0, 64, byBoth},
		{"but for two behind it", swapped(52), 0, 64, byBoth},
		{"but for three behind it", swapped(53), 0, 64, byBoth},
		{"one of the greatest", behind(n, 100, math.MaxUint64, math.MaxUint64-1), 0, 64, byBoth},
		{"one of the least", behind(n, 100, 1, 0), 0, 64, byBoth},
	}
	// Forms differ only in the passes, so all but the first test one case of each way.
	ways := map[sortedBy]bool{}
	eachSort(t, func(t *testing.T, r *rig) {
		r.p.local = 1
		first := len(ways) == 0
		seen := map[sortedBy]bool{}
		for _, test := range tests {
			if !first && seen[test.by] {
				continue
			}
			ways[test.by], seen[test.by] = true, true
			n := len(test.keys)
			someLength(r, n, func(l Length, length string) {
				name := test.name + ", " + length
				keys := slices.Concat(test.keys, make([]uint64, l.N-n))
				require.Equal(r.t, test.by, testSort[uint64, uint64](r, keys, l, n, test.first, test.bits, name), name)
			})
		}
		if !first {
			return
		}
		for _, keys := range [][]uint64{groupsOf(n, 6), behind(n, 1, run...)} {
			testSort[uint64, uint32](r, keys, Length{N: len(keys)}, len(keys), 0, 64, "values of 32 bits")
		}
		// Words after the last run in scratch memory may look like its keys.
		keys := numbers[uint64](1, n, 1<<63)
		copy(keys, []uint64{scratchFill<<32 | math.MaxUint32, scratchFill<<32 | math.MaxUint32 - 1})
		eachLength(r, n, func(l Length, name string) {
			keys := slices.Concat(keys, make([]uint64, l.N-n))
			require.Equal(r.t, locally, testSort[uint64, uint64](r, keys, l, n, 0, 64, name))
		})
		testSortLengths[uint64, uint64](r)
	})
	require.Len(t, ways, 3)
}

// The greatest number of passes by upper digits: digits that are mostly 0 need them.
func TestSortUpperPasses(t *testing.T) {
	eachSort(t, func(t *testing.T, r *rig) {
		r.p.local, r.p.uppers = 1, mostUpper
		how := map[sortedBy]int{}
		for seed := range uint64(12) {
			keys, digits := numbers[uint64](seed, 5000, 0), numbers[uint64](seed+100, 5000, 0)
			for i := range keys {
				for digit := range 8 {
					if digits[i]>>(8*digit)&255 < 24*seed {
						keys[i] &^= 255 << (8 * digit)
					}
				}
			}
			how[testSort[uint64, uint64](r, keys, Length{N: len(keys)}, len(keys), 0, 64, "")]++
		}
		require.Contains(t, how, byPasses)
		require.Contains(t, how, locally)
	})
}
