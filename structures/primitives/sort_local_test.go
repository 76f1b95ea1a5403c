package primitives

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// groupsOf are n keys of 64 bits in groups of so many, of which each has its upper 40 bits in common, in random order.
func groupsOf(n, together int) []uint64 {
	groups, lower := numbers[uint64](3, n/together+1, 0), numbers[uint64](4, n, 0)
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = groups[i/together]&^(1<<24-1) | lower[i]&(1<<24-1)
	}
	random(5).Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// How a sort was done, by the plan that it left (shaders/primitives/sort_plan.glsl).
type sortedBy string

const (
	byPasses sortedBy = "passes by all digits"
	locally  sortedBy = "passes by upper digits, and a local sort"
	byBoth   sortedBy = "a local sort that failed, and passes by all digits"
)

// howSorted looks into the scratch of a sort that has ended.
func howSorted(r *rig, scratch *vk.Buffer[uint32], plan sortPlan) sortedBy {
	steps := make([]uint32, sortSteps)
	require.NoError(r.t, scratch.Download(r.t.Context(), int(plan.steps/4), steps))
	switch whole, local := steps[0] != 0, steps[sortSteps-1] != 0; {
	case !local:
		require.True(r.t, whole, "nothing is done")
		return byPasses
	case whole:
		return byBoth
	default:
		return locally
	}
}

// Keys of 64 bits whose upper digits do, nearly do, and don't, on the way that is expected of each.
func TestSortLocal(t *testing.T) {
	const n = 9000
	longRuns := groupsOf(n, 300)
	random := func(n int) []uint64 { return numbers[uint64](1, n, 0) }
	repeated := func(keys []uint64, times int) []uint64 { return slices.Repeat(keys[:n/times+1], times)[:n] }
	ascending := func(keys []uint64) []uint64 {
		slices.Sort(keys)
		return keys
	}
	// Some keys many times over, behind random ones.
	behind := func(n, times int, keys ...uint64) []uint64 {
		return append(random(n), slices.Repeat(keys, times)...)
	}
	tests := []struct {
		name        string
		keys        []uint64
		first, bits int
		by          sortedBy
	}{
		{"random", random(n), 0, 64, locally},
		{"random, ascending", ascending(random(n)), 0, 64, locally},
		{"40 bits", numbers[uint64](1, n, 1<<40), 0, 64, locally},
		{"32 bits", numbers[uint64](1, n, 1<<32), 0, 64, locally},
		{"24 bits", numbers[uint64](1, n, 1<<24), 0, 64, byPasses},
		{"bits 5 to 60", random(n), 5, 55, locally},
		{"bits 20 to 61", random(n), 20, 41, locally},
		{"bits 0 to 40", random(n), 0, 40, locally},
		{"each twice", repeated(random(n), 2), 0, 64, locally},
		{"each a hundred times", repeated(random(n), 100), 0, 64, locally},
		{"each a thousand times", repeated(random(n), 1000), 0, 64, byPasses},
		{"all the same", behind(0, n, 1<<40), 0, 64, byPasses},
		{"half of them the same", behind(n/2, n/2, 1<<40), 0, 64, byPasses},
		{"some of them the same", behind(n-500, 500, 1<<40), 0, 64, locally},
		{"short runs", groupsOf(n, 30), 0, 64, locally},
		{"the longest short runs", groupsOf(n/128*128, 128), 0, 64, locally},
		{"the shortest long runs", groupsOf(n/129*129, 129), 0, 64, byBoth},
		{"one long run", behind(n-129, 1, groupsOf(129, 129)...), 0, 64, byBoth},
		{"one of the greatest", behind(n-200, 100, math.MaxUint64, math.MaxUint64-1), 0, 64, byBoth},
		{"one of the least", behind(n-200, 100, 1, 0), 0, 64, byBoth},
		{"long runs", longRuns, 0, 64, byBoth},
		{"long runs in order", ascending(groupsOf(n, 300)), 0, 64, locally},
		{"long runs by the bits that they have in common", longRuns, 24, 40, locally},
		{"long runs but for their uppermost bits", longRuns, 0, 60, byBoth},
		{"few long runs", groupsOf(n, 1500), 0, 64, byPasses},
	}
	eachForm(t, func(t *testing.T, r *rig) {
		r.p.local = 1
		for _, test := range tests {
			n := len(test.keys)
			someLength(r, n, func(l Length, length string) {
				plan := testSort[uint64, uint64](r, slices.Concat(test.keys, make([]uint64, l.N-n)), l, n, test.first,
					test.bits, test.name+", "+length)
				require.Equal(r.t, test.by, plan, test.name)
			})
		}
		testSort[uint64, uint32](r, longRuns, Length{N: n}, n, 0, 64, "values of 32 bits")
		testSortLengths[uint64, uint64](r)
	})
}
