package runs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// Rank counts the valid pairs below a key, and Select returns the pairs in order.
func TestRank(t *testing.T) { eachWidth(t, testRank) }

func testRank(t *testing.T, r *rig) {
	eachShape(r, func(t *testing.T, m *model) {
		const n = 203
		g := random(uint64(len(m.order)))
		keys := r.probes(m, g, n)
		ranks, asked := make([]uint32, n), make([]uint32, n)
		outKeys, outValues, status := make([]uint64, n), make([]uint64, n), make([]uint8, n)
		for i, key := range keys {
			below, _ := slices.BinarySearch(m.order, key)
			ranks[i] = uint32(below)
			asked[i], status[i] = uint32(g.IntN(len(m.order)+3)), uint8(structures.Absent)
			if at := int(asked[i]); at < len(m.order) {
				outKeys[i], outValues[i], status[i] = m.order[at], m.live[m.order[at]], uint8(structures.Found)
			}
		}
		for _, unique := range []bool{false, true} {
			if unique && !m.unique() {
				continue
			}
			scratch := r.scratch(r.q.RankScratch(m.Stack, unique))
			gotRanks, gotKeys, gotValues, gotStatus := room(r, n), room(r, r.size(n)), room(r, r.size(n)),
				room(r, (n+3)/4)
			r.run(r.q.Rank(r.s, m.Stack, RankArgs{Keys: r.numbers(keys).Address(), Ranks: gotRanks.Address(), N: n,
				Unique: unique, Scratch: scratch}))
			requireWords(t, ranks, download(r, gotRanks, n), "ranks, unique: %t", unique)
			r.run(r.q.Select(r.s, m.Stack, SelectArgs{
				Ranks: upload(r, asked).Address(), OutKeys: gotKeys.Address(), OutValues: gotValues.Address(),
				Status: gotStatus.Address(), N: n, Unique: unique, Scratch: scratch,
			}))
			r.requireNumbers(outKeys, gotKeys, "keys of ranks, unique: %t", unique)
			r.requireNumbers(outValues, gotValues, "values of ranks, unique: %t", unique)
			require.True(t, slices.Equal(status, downloadBytes(r, gotStatus, n)), "status, unique: %t", unique)
		}
	})
}

// The flags of pairs whose keys lie in ranges are cleared, and no others.
func TestWithout(t *testing.T) { eachWidth(t, testWithout) }

func testWithout(t *testing.T, r *rig) {
	for name, keys := range map[string]func(*rand.Rand) uint64{"few": below(300), "ends": edges, "halves": halves} {
		for _, n := range []int{1, 33, 1000} {
			g := random(uint64(n))
			run := r.sorted(g, n, keys, 0)
			// Every third key begins a range that ends with the next key. Keys between ranges stay.
			var distinct, ranges []uint64
			for _, p := range run {
				if len(distinct) == 0 || p.key != distinct[len(distinct)-1] {
					distinct = append(distinct, p.key)
				}
			}
			for i := 0; i+1 < len(distinct); i += 3 {
				ranges = append(ranges, distinct[i], distinct[i+1])
			}
			flags := make([]uint32, groups(n, 32))
			for i := range flags {
				flags[i] = g.Uint32()
			}
			want := slices.Clone(flags)
			for i, p := range run {
				if at, _ := slices.BinarySearch(distinct, p.key); at%3 < 2 && at-at%3+1 < len(distinct) {
					want[i/32] &^= 1 << (i % 32)
				}
			}
			at := upload(r, flags)
			r.run(r.q.Without(r.s, r.source(run), Ranges{r.numbers(ranges).Address(), len(ranges) / 2}, at.Address()))
			got := make([]uint32, len(flags))
			require.NoError(t, at.Download(t.Context(), 0, got))
			requireWords(t, want, got, "%d pairs, %s keys", n, name)
			r.release()
		}
	}
}
