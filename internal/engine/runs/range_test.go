package runs

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// ranges returns n ranges near the stack's keys: empty, short, long and reversed ones, and all keys.
func (r *rig) ranges(m *model, g *rand.Rand, n int) []uint64 {
	ends := r.probes(m, g, n)
	all := make([]uint64, 0, 2*n)
	for _, low := range ends {
		high := low
		switch g.Uint32N(8) {
		case 0:
			low, high = 0, r.most()
		case 1:
			high = (low - g.Uint64N(100)) & r.most()
		case 2:
			high = g.Uint64() & r.most()
		case 3:
			if i, _ := slices.BinarySearch(m.order, low); len(m.order) > 0 {
				high = m.order[min(i+g.IntN(300), len(m.order)-1)]
			}
		default:
			high = (low + g.Uint64N(10)) & r.most()
		}
		all = append(all, low, high)
	}
	return all
}

// within returns the valid keys of a range.
func (m *model) within(low, high uint64) []uint64 {
	if low > high {
		return nil
	}
	from, _ := slices.BinarySearch(m.order, low)
	to, there := slices.BinarySearch(m.order, high)
	if there {
		to++
	}
	return m.order[from:to]
}

// candidates returns the number of pairs of all runs in a range.
func (m *model) candidates(low, high uint64) (n int) {
	for _, run := range m.rows {
		for _, p := range run {
			if low <= p.key && p.key <= high {
				n++
			}
		}
	}
	return n
}

// unique reports whether a stack is one run of pairs that are all valid.
func (m *model) unique() bool { return m.Runs() == 1 && int(m.Pairs()) == len(m.order) }

// rangeNumbers returns the numbers of ranges of a query. Small ones are the same at both widths.
func (r *rig) rangeNumbers() []int {
	if r.w == structures.Bits64 {
		return []int{33, 300}
	}
	return []int{0, 1, 2, 33, 300}
}

func TestCount(t *testing.T) { eachWidth(t, testCount) }

func testCount(t *testing.T, r *rig) {
	eachShape(r, func(t *testing.T, m *model) {
		for _, n := range r.rangeNumbers() {
			ranges := r.ranges(m, random(uint64(n)), n)
			want, size := make([]uint32, n), make([]uint32, n)
			var all uint64
			for i := range want {
				want[i] = uint32(len(m.within(ranges[2*i], ranges[2*i+1])))
				size[i] = uint32(m.candidates(ranges[2*i], ranges[2*i+1]))
				all += uint64(size[i])
			}
			at := r.numbers(ranges).Address()
			for _, unique := range []bool{false, true} {
				if unique && !m.unique() {
					continue
				}
				out, total := room(r, n), room(r, 2)
				r.run(r.q.Count(r.s, m.Stack, CountArgs{
					Ranges: at, Out: out.Address(), N: n, Unique: unique, Total: total.Address(),
					Scratch: r.scratch(r.q.CountScratch(m.Stack, n)),
				}))
				requireWords(t, want, download(r, out, n), "counts of %d ranges, unique: %t", n, unique)
				requireWords(t, []uint32{uint32(all), uint32(all >> 32)}, download(r, total, 2),
					"candidates of %d ranges", n)
			}
			out := room(r, n)
			r.run(r.q.Survey(r.s, m.Stack, at, n, out.Address()))
			requireWords(t, size, download(r, out, n), "survey of %d ranges", n)
		}
	})
}

func TestRange(t *testing.T) { eachWidth(t, testRange) }

func testRange(t *testing.T, r *rig) {
	eachShape(r, func(t *testing.T, m *model) {
		for _, n := range r.rangeNumbers() {
			ranges := r.ranges(m, random(uint64(n)+9), n)
			var keys, values []uint64
			offsets := []uint32{0}
			candidates := 0
			for i := range n {
				for _, key := range m.within(ranges[2*i], ranges[2*i+1]) {
					keys, values = append(keys, key), append(values, m.live[key])
				}
				offsets = append(offsets, uint32(len(keys)))
				candidates += m.candidates(ranges[2*i], ranges[2*i+1])
			}
			at := r.numbers(ranges).Address()
			type attempt struct {
				unique           bool
				capacity, bounds int
			}
			attempts := []attempt{{false, len(keys), candidates}, {false, len(keys) / 2, candidates + 77},
				{false, len(keys), candidates - 1}}
			if m.unique() {
				attempts = append(attempts, attempt{true, len(keys), candidates},
					attempt{true, len(keys) / 2, candidates}, attempt{true, len(keys), candidates - 1})
			}
			for _, a := range attempts {
				if a.bounds < 0 {
					continue
				}
				what := fmt.Sprintf("%d ranges, %+v", n, a)
				gotKeys, gotValues, gotOffsets, total := room(r, r.size(a.capacity)), room(r, r.size(a.capacity)),
					room(r, n+1), room(r, 2)
				r.run(r.q.Range(r.s, m.Stack, RangeArgs{
					Ranges: at, N: n, Unique: a.unique, Offsets: gotOffsets.Address(), OutKeys: gotKeys.Address(),
					OutValues: gotValues.Address(),
					Capacity:  a.capacity, Candidates: a.bounds, Total: total.Address(),
					Scratch: r.scratch(r.q.RangeScratch(m.Stack, n, a.bounds)),
				}))
				requireWords(t, []uint32{uint32(candidates), 0}, download(r, total, 2), "candidates of %s", what)
				if candidates > a.bounds {
					download(r, gotKeys, 0)
					download(r, gotValues, 0)
					continue
				}
				requireWords(t, offsets, download(r, gotOffsets, n+1), "offsets of %s", what)
				r.requireNumbers(keys[:a.capacity], gotKeys, "keys of %s", what)
				r.requireNumbers(values[:a.capacity], gotValues, "values of %s", what)
			}
		}
	})
}

// More candidates than 32 bits can count are counted in 64 bits, and nothing is written.
func TestTooManyCandidates(t *testing.T) { eachWidth(t, testTooManyCandidates) }

func testTooManyCandidates(t *testing.T, r *rig) {
	m := r.stack(5, shape{unit: 1 << 14, full: 3, front: 1 << 14, keys: anyKey})
	const n = 1<<16 + 5
	ranges := make([]uint64, 2*n)
	for i := range n {
		ranges[2*i+1] = r.most()
	}
	want := uint64(n) << 16
	at := r.numbers(ranges).Address()
	out, total := room(r, n), room(r, 2)
	r.run(r.q.Count(r.s, m.Stack, CountArgs{Ranges: at, Out: out.Address(), N: n, Total: total.Address(),
		Scratch: r.scratch(r.q.CountScratch(m.Stack, n))}))
	requireWords(t, []uint32{uint32(want), uint32(want >> 32)}, download(r, total, 2), "candidates")
	keys := room(r, 0)
	r.run(r.q.Range(r.s, m.Stack, RangeArgs{
		Ranges: at, N: n, Offsets: room(r, n+1).Address(), OutKeys: keys.Address(), OutValues: keys.Address(),
		Capacity:   10,
		Candidates: 1000, Total: total.Address(), Scratch: r.scratch(r.q.RangeScratch(m.Stack, n, 1000)),
	}))
	requireWords(t, []uint32{uint32(want), uint32(want >> 32)}, download(r, total, 2), "candidates")
	download(r, keys, 0)
}

// Arguments that all queries refuse.
func TestRefused(t *testing.T) { eachWidth(t, testRefused) }

func testRefused(t *testing.T, r *rig) {
	m := r.stack(1, shape{unit: 32, front: 4, keys: anyKey})
	var length *structures.CountError
	for _, n := range []int{-1, MaxQueries + 1} {
		require.ErrorAs(t, r.q.Find(r.s, m.Stack, FindArgs{N: n}), &length)
		require.ErrorAs(t, r.q.FindSorted(r.s, m.Stack, FindArgs{N: n}), &length)
		require.ErrorAs(t, r.q.Count(r.s, m.Stack, CountArgs{N: n}), &length)
		require.ErrorAs(t, r.q.Range(r.s, m.Stack, RangeArgs{N: n}), &length)
		require.ErrorAs(t, r.q.Survey(r.s, m.Stack, 0, n, 0), &length)
		require.ErrorAs(t, r.q.Neighbor(r.s, m.Stack, Floor, NeighborArgs{N: n}), &length)
		require.ErrorAs(t, r.q.BuildIndex(r.s, 0, n, 0), &length)
	}
	q := New(r.d, r.p, r.w)
	require.NoError(t, q.Close())
	require.NoError(t, q.Close())
	require.ErrorIs(t, q.Find(r.s, m.Stack, FindArgs{N: 1}), vk.ErrClosed)
	require.ErrorIs(t, r.s.Wait(t.Context()), vk.ErrClosed, "a batch of which a stage is missing")
	require.NoError(t, r.s.Wait(t.Context()))
}
