package shader

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

type searchPush struct {
	Numbers, Others         uint64
	Keys, Searches, Answers uint64
	Mask                    uint64
	NumberCount, OtherCount uint32
	Count                   uint32
}

// searchModel answers as shaders/test/search.comp is to.
type searchModel[K uint32 | uint64] struct {
	numbers, others []K
	onPath          []uint32 // of the first so many outputs of the merge: how many are from numbers
}

func newSearchModel[K uint32 | uint64](numbers, others []K, mask K) searchModel[K] {
	m := searchModel[K]{numbers, others, []uint32{0}}
	for i, j := 0, 0; i+j < len(numbers)+len(others); {
		if j == len(others) || i < len(numbers) && numbers[i]&mask <= others[j]&mask {
			i++
		} else {
			j++
		}
		m.onPath = append(m.onPath, uint32(i))
	}
	return m
}

func (m searchModel[K]) lower(low, high uint32, key K) uint32 {
	return low + uint32(sort.Search(int(high-low), func(i int) bool { return m.numbers[int(low)+i] >= key }))
}

func (m searchModel[K]) upper(low, high uint32, key K) uint32 {
	return low + uint32(sort.Search(int(high-low), func(i int) bool { return m.numbers[int(low)+i] > key }))
}

func (m searchModel[K]) sector(from uint32, key K) (below uint32) {
	from &^= 3
	end := from + 32/uint32(unsafe.Sizeof(key))
	if int(end) > len(m.numbers) {
		return 0
	}
	return m.lower(from, end, key) - from
}

func TestSearch(t *testing.T) {
	t.Run("k32", func(t *testing.T) {
		testSearch(t, "test/search.k32", []uint32{math.MaxUint32, 0xffffff, 0xfffff000})
	})
	t.Run("k64", func(t *testing.T) {
		testSearch(t, "test/search.k64", []uint64{math.MaxUint64, 0xffffff, 0xfffff000 << 32})
	})
}

func testSearch[K interface {
	uint32 | uint64
	vk.Element
}](t *testing.T, module string, masks []K) {
	r := newRig(t)
	k := kernel[searchPush](t, r, module, nil)
	count := 8 * k.Workgroup()
	for seed, mask := range masks {
		for _, n := range []int{0, 1, 7, 100, 5000} {
			for _, below := range []K{1, 50, ^K(0)} {
				g := random(uint64(seed))
				draw := func(n int) []K {
					w := make([]K, n)
					for i := range w {
						w[i] = K(g.Uint64()) % below
						if below == ^K(0) && i%10 == 0 {
							w[i] = -K(g.Uint32() & 1) // the ends of what numbers there are
						}
					}
					return w
				}
				numbers, others := draw(n), draw(n/2+3)
				if mask != ^K(0) {
					// What ascends by fewer bits does not by all: bounds are looked for where it does.
					for i := range numbers {
						numbers[i] &= mask
					}
				}
				slices.Sort(numbers)
				slices.SortFunc(others, func(a, b K) int { return cmp.Compare(a&mask, b&mask) })
				m := newSearchModel(numbers, others, mask)
				keys, searches := make([]K, count), make([]uint32, 4*count)
				for i := range count {
					low := g.Uint32N(uint32(n) + 1)
					high := low + g.Uint32N(uint32(n)-low+1)
					keys[i] = K(g.Uint64())
					if n > 0 && i%4 != 0 {
						keys[i] = numbers[g.IntN(n)] + K(g.Uint32N(3)) - 1
					}
					copy(searches[4*i:], []uint32{low, high, g.Uint32N(uint32(len(numbers)+len(others)) + 1)})
				}
				answers := room[uint32](r, 8*count)
				run(r, k, count, searchPush{
					put(r, append(numbers, 0)).Address(), put(r, others).Address(), put(r, keys).Address(),
					put(r, searches).Address(), answers.Address(), uint64(mask), uint32(n), uint32(len(others)),
					uint32(count),
				})
				out := get(r, answers)
				for i := range count {
					low, high, key, diagonal := searches[4*i], searches[4*i+1], keys[i], searches[4*i+2]
					want := []uint32{m.lower(low, high, key), m.upper(low, high, key), m.sector(low, key),
						m.onPath[diagonal]}
					first := i / r.d.SubgroupSize() * r.d.SubgroupSize()
					low, high, key, diagonal = searches[4*first], searches[4*first+1], keys[first], searches[4*first+2]
					want = append(want, m.lower(low, high, key), 0, 0, m.onPath[diagonal])
					require.Equal(t, want, out[8*i:8*i+8], "%d numbers below %d by %#x, search %d", n, below, mask, i)
				}
				r.release()
			}
		}
	}
}
