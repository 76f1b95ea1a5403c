package shader

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// runStack is RunStack of sorted_run.glsl.
type runStack struct {
	Rows              uint64
	Full, Unit, Front uint32
}

type sortedRunPush struct {
	Stack            runStack
	Queries, Answers uint64
	Count            uint32
}

type runSearchPush struct {
	Stack         runStack
	Keys, Answers uint64
	Count, Narrow uint32
}

// treeOf is the index of a run, after sorted_run.glsl's description: the smallest level that is one node, down to
// every 32nd key, each filled up to whole nodes.
func treeOf(keys []uint32) []uint32 {
	var all []uint32
	for level := keys; len(level) > 32; {
		var next []uint32
		for i := 0; i < len(level); i += 32 {
			next = append(next, level[i])
		}
		level = next
		all = slices.Concat(wholeNodes(next), all)
	}
	return all
}

func wholeNodes(keys []uint32) []uint32 {
	all := slices.Clone(keys)
	for len(all)%32 != 0 {
		all = append(all, ^uint32(0))
	}
	return all
}

// sortedKeys are n keys, ascending, of which about one in `repeats` differs from the one before.
func sortedKeys(rnd *rand.Rand, n int, repeats uint32) []uint32 {
	keys := make([]uint32, n)
	for i := range keys {
		if keys[i] = rnd.Uint32(); i > 0 && rnd.Uint32N(repeats) != 0 {
			keys[i] = keys[i-1]
		}
	}
	slices.Sort(keys)
	return keys
}

// nearKey is a key of the run or next to one, or any.
func nearKey(rnd *rand.Rand, keys []uint32) uint32 {
	switch {
	case rnd.Uint32N(20) == 0:
		return ^uint32(0) * rnd.Uint32N(2)
	case len(keys) == 0 || rnd.Uint32N(4) == 0:
		return rnd.Uint32()
	}
	return keys[rnd.IntN(len(keys))] + rnd.Uint32N(3) - 1
}

func upperOf(keys []uint32, key uint32) uint32 {
	i, _ := slices.BinarySearchFunc(keys, key, func(e, k uint32) int {
		if e <= k {
			return -1
		}
		return 1
	})
	return uint32(i)
}

func lowerOf(keys []uint32, key uint32) uint32 {
	i, _ := slices.BinarySearch(keys, key)
	return uint32(i)
}

func TestSortedRun(t *testing.T) {
	r := newRig(t)
	k := kernel[sortedRunPush](t, r, "test/sorted_run", nil)
	rapid.Check(t, func(t *rapid.T) {
		defer r.release()
		rnd := random(rapid.Uint64().Draw(t, "seed"))
		unit := rapid.SampledFrom([]uint32{1, 32, 50, 300}).Draw(t, "unit")
		full := rapid.Uint32Range(0, 63).Draw(t, "full")
		front := rapid.SampledFrom([]uint32{0, 1, 31, 32, 33, 1000, 1025, 33000}).Draw(t, "front")
		repeats := rapid.SampledFrom([]uint32{1, 3, 40}).Draw(t, "repeats")
		stack := runStack{Full: full, Unit: unit, Front: front}
		rows := make([]uint64, 4*32)
		runs, values, deleted := make([][]uint32, 32), make([][]uint32, 32), make([][]bool, 32)
		for row := range runs {
			n := front
			if row > 0 {
				n = unit << (row - 1) & -(full >> (row - 1) & 1)
			}
			keys := sortedKeys(rnd, int(n), repeats)
			runs[row], values[row], deleted[row] = keys, make([]uint32, n), make([]bool, n)
			bitmap := make([]uint32, (n+31)/32)
			for i := range keys {
				values[row][i] = rnd.Uint32() | -rnd.Uint32N(2)
				if values[row][i] == ^uint32(0) && rnd.Uint32N(2) == 0 {
					deleted[row][i] = true
					bitmap[i/32] |= 1 << (i % 32)
				}
			}
			if n == 0 {
				continue
			}
			address := []uint64{put(r, wholeNodes(keys)).Address(), put(r, values[row]).Address(),
				put(r, bitmap).Address(), 0}
			if rnd.Uint32N(4) != 0 {
				address[3] = put(r, treeOf(keys)).Address()
			}
			if rnd.Uint32N(4) == 0 {
				address[2] = 0
				clear(deleted[row])
			}
			copy(rows[4*row:], address)
		}
		stack.Rows = put(r, rows).Address()
		const n = 500
		queries, want := make([]uint32, 4*n), make([]uint32, 0, 8*n)
		for i := range n {
			row := rnd.IntN(8)
			keys := runs[row]
			key := nearKey(rnd, keys)
			begin := rnd.IntN(len(keys) + 1)
			end := begin + rnd.IntN(len(keys)-begin+1)
			copy(queries[4*i:], []uint32{key, uint32(row), uint32(begin), uint32(end)})
			upper := upperOf(keys, key)
			want = append(want, uint32(len(keys)), lowerOf(keys, key), upper,
				uint32(begin)+upperOf(keys[begin:end], key))
			if upper == 0 {
				want = append(want, 0, 0, 0)
			} else {
				var gone uint32
				if deleted[row][upper-1] {
					gone = 1
				}
				want = append(want, keys[upper-1], values[row][upper-1], gone)
			}
			want = append(want, uint32(bits.Len32(full))+1)
		}
		answers := room[uint32](r, 8*n)
		run(r, k, n, sortedRunPush{stack, put(r, queries).Address(), answers.Address(), n})
		requireWords(t, want, get(r, answers), "%+v", stack)
	})
}

func TestRunSearch(t *testing.T) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		k := kernel[runSearchPush](t, r, "test/run_search", map[string]uint32{"TILE": uint32(width)})
		for _, size := range []int{1, 31, 33, 4096, 4097, 140000} {
			for _, indexed := range []bool{true, false} {
				for _, narrow := range []uint32{0, 1} {
					rnd := random(uint64(size))
					keys := sortedKeys(rnd, size, 3)
					rows := []uint64{put(r, wholeNodes(keys)).Address(), 0, 0, 0}
					if indexed {
						rows[3] = put(r, treeOf(keys)).Address()
					}
					n := 40 * k.Workgroup()
					queries := make([]uint32, n)
					for i := range queries {
						queries[i] = nearKey(rnd, keys)
					}
					slices.Sort(queries)
					answers := room[uint32](r, 2*n)
					stack := runStack{Rows: put(r, rows).Address(), Front: uint32(size)}
					run(r, k, n, runSearchPush{stack, put(r, queries).Address(), answers.Address(), uint32(n), narrow})
					what := fmt.Sprintf("%d keys, index: %t, narrow: %d", size, indexed, narrow)
					got := get(r, answers)
					for i, query := range queries {
						if narrow == 0 {
							require.Equal(t, indexed || size <= 4096, got[2*i+1] == 1, "whether there is a level: %s",
								what)
						}
						if got[2*i+1] == 1 {
							require.Equal(t, upperOf(keys, query), got[2*i], "key %d, query %d: %s", query, i, what)
						}
					}
					r.release()
				}
			}
		}
	})
}
