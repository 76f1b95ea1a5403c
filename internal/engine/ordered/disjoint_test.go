package ordered

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/u32"
	"pgregory.net/rapid"
)

// Pieces ascend, have each key of the ranges once, and belong to the first range that has the key.
func TestDisjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const keys = 40
		base := rapid.SampledFrom([]uint32{0, 1000, ^uint32(0) - keys + 1}).Draw(t, "base")
		var ranges []u32.Range
		for range rapid.IntRange(0, 60).Draw(t, "ranges") {
			key := rapid.Uint32Max(keys - 1)
			ranges = append(ranges, u32.Range{Lo: base + key.Draw(t, "lo"), Hi: base + key.Draw(t, "hi")})
		}
		owner := map[uint32]int{}
		next := uint64(0)
		all := disjoint(Words(ranges), structures.Bits32)
		for i, p := range all.ranges {
			require.LessOrEqual(t, next, uint64(p.Lo))
			require.LessOrEqual(t, p.Lo, p.Hi)
			next = uint64(p.Hi) + 1
			for k := uint64(p.Lo); k <= uint64(p.Hi); k++ {
				owner[uint32(k)] = all.owner[i]
			}
		}
		require.LessOrEqual(t, len(all.ranges), 2*len(ranges))
		want := map[uint32]int{}
		for i, r := range ranges {
			for k := uint64(r.Lo); k <= uint64(r.Hi); k++ {
				if _, taken := want[uint32(k)]; !taken {
					want[uint32(k)] = i
				}
			}
		}
		require.Equal(t, want, owner)
	})
}

// Many ranges that do not overlap, in random order, as is usual for a deletion.
func BenchmarkDisjoint(b *testing.B) {
	ranges := make([]u32.Range, 1<<19)
	for i := range ranges {
		at := uint32(i) * 0x9e3779b1 &^ 0xfff
		ranges[i] = u32.Range{Lo: at, Hi: at + 1000}
	}
	for b.Loop() {
		if all := disjoint(Words(ranges), structures.Bits32); len(all.ranges) < len(ranges)/2 {
			b.Fatal(len(all.ranges))
		}
	}
}
