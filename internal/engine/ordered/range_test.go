package ordered

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/u32"
	"pgregory.net/rapid"
)

// surveyed cuts up ranges by the results of a survey. It returns false if it gave up.
func surveyed(c *cutter, ranges []u32.Range,
	survey func(r structures.Range[uint64], whole bool) uint32) bool {
	for i, r := range Words(ranges) {
		c.ask(r, i)
	}
	for len(c.fresh.ranges) != 0 {
		for i, r := range c.fresh.ranges {
			c.fresh.candidates[i] = survey(r, c.whole)
		}
		if !c.next() {
			return false
		}
	}
	return true
}

// Pieces cover the ranges without a gap, in order, and no piece that can be cut has too many candidates. Groups cover
// the pieces in order, and no group of several is too large.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.OneOf(rapid.Uint32(), rapid.Uint32Max(50), rapid.Just(uint32(7))), 0, 300).Draw(t,
			"keys")
		slices.Sort(keys)
		lower := func(k uint64) int {
			at, _ := slices.BinarySearchFunc(keys, k,
				func(key uint32, k uint64) int { return int(int64(key) - int64(k)) })
			return at
		}
		count := func(r structures.Range[uint64]) uint32 {
			return uint32(max(0, lower(r.Hi+1)-lower(r.Lo)))
		}
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		tooMany := uint32(rapid.IntRange(1, 60).Draw(t, "too many"))
		var ranges []u32.Range
		for range rapid.IntRange(0, 6).Draw(t, "ranges") {
			ranges = append(ranges, u32.Range{
				Lo: rapid.OneOf(rapid.Uint32(), rapid.Uint32Max(50), rapid.Just(uint32(0))).Draw(t, "lo"),
				Hi: rapid.OneOf(rapid.Uint32(), rapid.Uint32Max(50), rapid.Just(^uint32(0))).Draw(t, "hi"),
			})
		}
		c := cutter{limit: limit, most: 1 << 10}
		require.True(t, surveyed(&c, ranges, func(r structures.Range[uint64], whole bool) uint32 {
			if n := count(r); n < tooMany || whole {
				return n
			}
			return TooMany
		}))
		next := 0
		for i, r := range ranges {
			lo := uint64(r.Lo)
			for first := true; first || lo <= uint64(r.Hi) && r.Lo <= r.Hi; first = false {
				piece, n := c.all.ranges[next], c.all.candidates[next]
				require.Equal(t, i, c.all.owner[next])
				require.EqualValues(t, lo, piece.Lo)
				require.Equal(t, count(piece), n)
				require.True(t, int(n) <= limit || piece.Lo >= piece.Hi, "%d of %v", n, piece)
				lo, next = uint64(piece.Hi)+1, next+1
			}
		}
		require.Len(t, c.all.ranges, next)

		groups, at := c.all.groups(limit), 0
		for _, g := range groups {
			require.Equal(t, at, g.first)
			require.Greater(t, g.end, g.first)
			part := c.all.part(g)
			require.True(t, part.all() <= limit && len(part.ranges) <= limit || len(part.ranges) == 1)
			at = g.end
		}
		require.Equal(t, next, at)
	})
}

// A range that is too large however it is cut is given up, before it is cut into single keys.
func TestCutWithoutEnd(t *testing.T) {
	c := cutter{limit: 10, most: 1 << 10}
	asked := 0
	require.False(t, surveyed(&c, []u32.Range{{Lo: 5, Hi: 4}, u32.AllKeys},
		func(r structures.Range[uint64], _ bool) uint32 {
			if asked++; r.Lo > r.Hi {
				return 0
			}
			return TooMany
		}))
	require.Less(t, asked, 1<<14)
}
