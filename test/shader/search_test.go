package shader

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

type searchPush struct {
	Words, Others         uint64
	Searches, Answers     uint64
	WordCount, OtherCount uint32
	Mask, Count           uint32
}

// searchModel answers as shaders/test/search.comp is to.
type searchModel struct {
	words, others []uint32
	onPath        []uint32 // of the first so many outputs of the merge: how many are from words
}

func newSearchModel(words, others []uint32, mask uint32) searchModel {
	m := searchModel{words, others, []uint32{0}}
	for i, j := 0, 0; i+j < len(words)+len(others); {
		if j == len(others) || i < len(words) && words[i]&mask <= others[j]&mask {
			i++
		} else {
			j++
		}
		m.onPath = append(m.onPath, uint32(i))
	}
	return m
}

func (m searchModel) lower(low, high, key uint32) uint32 {
	return low + uint32(sort.Search(int(high-low), func(i int) bool { return m.words[int(low)+i] >= key }))
}

func (m searchModel) upper(low, high, key uint32) uint32 {
	return low + uint32(sort.Search(int(high-low), func(i int) bool { return m.words[int(low)+i] > key }))
}

func (m searchModel) eight(from, key uint32) (below uint32) {
	from &^= 3
	if int(from)+8 > len(m.words) {
		return 0
	}
	return m.lower(from, from+8, key) - from
}

func TestSearch(t *testing.T) {
	r := newRig(t)
	k := kernel[searchPush](t, r, "test/search", nil)
	count := 8 * k.Workgroup()
	for seed, mask := range []uint32{math.MaxUint32, 0xffffff, 0xfffff000} {
		for _, n := range []int{0, 1, 7, 100, 5000} {
			for _, below := range []uint32{1, 50, math.MaxUint32} {
				g := random(uint64(seed))
				draw := func(n int) []uint32 {
					w := make([]uint32, n)
					for i := range w {
						w[i] = g.Uint32N(below)
						if below == math.MaxUint32 && i%10 == 0 {
							w[i] = -(g.Uint32() & 1) // the ends of what words there are
						}
					}
					return w
				}
				words, others := draw(n), draw(n/2+3)
				slices.Sort(words)
				if mask != math.MaxUint32 {
					byMask := func(a, b uint32) int { return cmp.Compare(a&mask, b&mask) }
					slices.SortFunc(others, byMask)
					// What ascends by fewer bits does not by all: bounds are looked for where it does.
					for i := range words {
						words[i] &= mask
					}
					slices.Sort(words)
				} else {
					slices.Sort(others)
				}
				m := newSearchModel(words, others, mask)
				searches := make([]uint32, 4*count)
				for i := range count {
					low := g.Uint32N(uint32(n) + 1)
					high := low + g.Uint32N(uint32(n)-low+1)
					key := g.Uint32()
					if n > 0 && i%4 != 0 {
						key = words[g.IntN(n)] + g.Uint32N(3) - 1
					}
					copy(searches[4*i:], []uint32{low, high, key, g.Uint32N(uint32(len(words)+len(others)) + 1)})
				}
				answers := room[uint32](r, 8*count)
				run(r, k, count, searchPush{
					put(r, append(words, 0)).Address(), put(r, others).Address(), put(r, searches).Address(),
					answers.Address(),
					uint32(n), uint32(len(others)), mask, uint32(count),
				})
				out := get(r, answers)
				for i := range count {
					low, high, key, diagonal := searches[4*i], searches[4*i+1], searches[4*i+2], searches[4*i+3]
					want := []uint32{m.lower(low, high, key), m.upper(low, high, key), m.eight(low, key),
						m.onPath[diagonal]}
					first := i / r.d.SubgroupSize() * r.d.SubgroupSize()
					low, high, key, diagonal = searches[4*first], searches[4*first+1], searches[4*first+2],
						searches[4*first+3]
					want = append(want, m.lower(low, high, key), 0, 0, m.onPath[diagonal])
					require.Equal(t, want, out[8*i:8*i+8], "%d words below %d by %#x, search %d", n, below, mask, i)
				}
				r.release()
			}
		}
	}
}
