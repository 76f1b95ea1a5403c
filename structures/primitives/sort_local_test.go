package primitives

import (
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
	ascending := func(keys []uint64) []uint64 {
		slices.Sort(keys)
		return keys
	}
	repeated := func(keys []uint64, times int) []uint64 { return slices.Repeat(keys[:n/times+1], times)[:n] }
	tests := map[string]struct {
		keys        []uint64
		first, bits int
		by          sortedBy
	}{
		"random":                         {numbers[uint64](1, n, 0), 0, 64, locally},
		"random, ascending":              {ascending(numbers[uint64](1, n, 0)), 0, 64, locally},
		"each twice":                     {repeated(numbers[uint64](1, n, 0), 2), 0, 64, locally},
		"each a hundred times":           {repeated(numbers[uint64](1, n, 0), 100), 0, 64, locally},
		"each a thousand times":          {repeated(numbers[uint64](1, n, 0), 1000), 0, 64, locally},
		"one of them five hundred times": {append(numbers[uint64](1, n-500, 0), slices.Repeat([]uint64{1 << 40}, 500)...), 0, 64, locally},
		"all the same":                   {slices.Repeat([]uint64{1 << 40}, n), 0, 64, byPasses},
		"half of them the same":          {append(numbers[uint64](1, n/2, 0), slices.Repeat([]uint64{1 << 40}, n/2)...), 0, 64, byPasses},
		"short runs":                     {groupsOf(n, 30), 0, 64, locally},
		"the longest short runs":         {groupsOf(n/128*128, 128), 0, 64, locally},
		"the shortest long runs":         {groupsOf(n/129*129, 129), 0, 64, byBoth},
		"long runs":                      {groupsOf(n, 1500), 0, 64, byBoth},
		"one long run":                   {append(numbers[uint64](1, n-129, 0), groupsOf(129, 129)...), 0, 64, byBoth},
		"long runs in order":             {ascending(groupsOf(n, 1500)), 0, 64, locally},
		"a long run of the greatest":     {append(numbers[uint64](1, n-200, 0), slices.Repeat([]uint64{^uint64(0), ^uint64(0) - 1}, 100)...), 0, 64, byBoth},
		"a long run of the least":        {append(numbers[uint64](1, n-200, 0), slices.Repeat([]uint64{1, 0}, 100)...), 0, 64, byBoth},
		"40 bits":                        {numbers[uint64](1, n, 1<<40), 0, 64, locally},
		"32 bits":                        {numbers[uint64](1, n, 1<<32), 0, 64, locally},
		"24 bits":                        {numbers[uint64](1, n, 1<<24), 0, 64, byPasses},
		"bits 5 to 60":                   {numbers[uint64](1, n, 0), 5, 55, locally},
		"bits 20 to 61":                  {numbers[uint64](1, n, 0), 20, 41, locally},
		"bits 0 to 40":                   {numbers[uint64](1, n, 0), 0, 40, locally},
		"long runs, their upper bits":    {groupsOf(n, 1500), 24, 40, byPasses},
		"long runs, but their top":       {groupsOf(n, 1500), 0, 60, byBoth},
	}
	eachForm(t, func(t *testing.T, r *rig) {
		r.p.local = 1
		for name, test := range tests {
			n := len(test.keys)
			someLength(r, n, func(l Length, length string) {
				plan := testSort[uint64, uint64](r, slices.Concat(test.keys, make([]uint64, l.N-n)), l, n, test.first,
					test.bits, name+", "+length)
				require.Equal(r.t, test.by, plan, name)
			})
		}
		testSort[uint64, uint32](r, tests["long runs"].keys, Length{N: n}, n, 0, 64, "values of 32 bits")
		testSortLengths[uint64, uint64](r)
	})
}
