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
	Stack                        runStack
	Keys, Places, Answers, Pairs uint64
	Count                        uint32
}

type runSearchPush struct {
	Stack         runStack
	Keys, Answers uint64
	Count, Narrow uint32
}

// keysANode is how many keys a node of 128 bytes has.
func keysANode[N number]() int { return 1024 / bits.Len64(uint64(^N(0))) }

// treeOf is the index of a run, after sorted_run.glsl's description: the smallest level that is one node, down to
// the first key of each node of keys, each filled up to whole nodes.
func treeOf[N number](keys []N) []N {
	var all []N
	for level := keys; len(level) > keysANode[N](); {
		var next []N
		for i := 0; i < len(level); i += keysANode[N]() {
			next = append(next, level[i])
		}
		level = next
		all = slices.Concat(wholeNodes(next), all)
	}
	return all
}

func wholeNodes[N number](keys []N) []N {
	all := slices.Clone(keys)
	for len(all)%keysANode[N]() != 0 {
		all = append(all, ^N(0))
	}
	return all
}

// sortedKeys are n keys, ascending, of which about one in `repeats` differs from the one before.
func sortedKeys[N number](rnd *rand.Rand, n int, repeats uint32) []N {
	keys := make([]N, n)
	for i := range keys {
		if keys[i] = anyNumber[N](rnd); i > 0 && rnd.Uint32N(repeats) != 0 {
			keys[i] = keys[i-1]
		}
	}
	slices.Sort(keys)
	return keys
}

// anyNumber is any, of 64 bits often one of few high words.
func anyNumber[N number](rnd *rand.Rand) N { return N(rnd.Uint64() >> (31 * rnd.Uint32N(2))) }

// nearKey is a key of the run or next to one, or any.
func nearKey[N number](rnd *rand.Rand, keys []N) N {
	switch {
	case rnd.Uint32N(20) == 0:
		return ^N(0) * N(rnd.Uint32N(2))
	case len(keys) == 0 || rnd.Uint32N(4) == 0:
		return anyNumber[N](rnd)
	}
	return keys[rnd.IntN(len(keys))] + N(rnd.Uint32N(3)) - 1
}

func upperOf[N number](keys []N, key N) uint32 {
	i, _ := slices.BinarySearchFunc(keys, key, func(e, k N) int {
		if e <= k {
			return -1
		}
		return 1
	})
	return uint32(i)
}

func lowerOf[N number](keys []N, key N) uint32 {
	i, _ := slices.BinarySearch(keys, key)
	return uint32(i)
}

func TestSortedRun(t *testing.T) {
	testSortedRun[uint32](t, "test/sorted_run.k32v32")
	testSortedRun[uint64](t, "test/sorted_run.k64v64")
}

func testSortedRun[N number](t *testing.T, module string) {
	r := newRig(t)
	k := kernel[sortedRunPush](t, r, module, nil)
	rapid.Check(t, func(t *rapid.T) {
		defer r.release()
		rnd := random(rapid.Uint64().Draw(t, "seed"))
		unit := rapid.SampledFrom([]uint32{1, 32, 50, 300}).Draw(t, "unit")
		full := rapid.Uint32Range(0, 63).Draw(t, "full")
		front := rapid.SampledFrom([]uint32{0, 1, 31, 32, 33, 1000, 1025, 33000}).Draw(t, "front")
		repeats := rapid.SampledFrom([]uint32{1, 3, 40}).Draw(t, "repeats")
		stack := runStack{Full: full, Unit: unit, Front: front}
		rows := make([]uint64, 4*32)
		runs, values, deleted := make([][]N, 32), make([][]N, 32), make([][]bool, 32)
		for row := range runs {
			n := front
			if row > 0 {
				n = unit << (row - 1) & -(full >> (row - 1) & 1)
			}
			keys := sortedKeys[N](rnd, int(n), repeats)
			runs[row], values[row], deleted[row] = keys, make([]N, n), make([]bool, n)
			bitmap := make([]uint32, (n+31)/32)
			for i := range keys {
				values[row][i] = N(rnd.Uint64()) | -N(rnd.Uint32N(2))
				if values[row][i] == ^N(0) && rnd.Uint32N(2) == 0 {
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
		queries, places := make([]N, n), make([]uint32, 4*n)
		want, pairs := make([]uint32, 0, 8*n), make([]N, 2*n)
		for i := range n {
			row := rnd.IntN(8)
			keys := runs[row]
			key := nearKey(rnd, keys)
			begin := rnd.IntN(len(keys) + 1)
			end := begin + rnd.IntN(len(keys)-begin+1)
			queries[i] = key
			copy(places[4*i:], []uint32{uint32(row), uint32(begin), uint32(end)})
			upper := upperOf(keys, key)
			want = append(want, uint32(len(keys)), lowerOf(keys, key), upper,
				uint32(begin)+upperOf(keys[begin:end], key))
			var gone uint32
			if upper != 0 {
				pairs[2*i], pairs[2*i+1] = keys[upper-1], values[row][upper-1]
				if deleted[row][upper-1] {
					gone = 1
				}
			}
			want = append(want, gone, uint32(bits.Len32(full))+1, uint32(keysANode[N]()), 0)
		}
		answers, gotPairs := room[uint32](r, 8*n), room[N](r, 2*n)
		run(r, k, n, sortedRunPush{stack, put(r, queries).Address(), put(r, places).Address(), answers.Address(),
			gotPairs.Address(), n})
		requireWords(t, want, get(r, answers), "%+v", stack)
		requireWords(t, pairs, get(r, gotPairs), "pairs of %+v", stack)
	})
}

func TestRunSearch(t *testing.T) {
	testRunSearch[uint32](t, "test/run_search.k32v32", 4096)
	testRunSearch[uint64](t, "test/run_search.k64v64", 2048)
}

// testRunSearch is of a cache that has room for so many keys.
func testRunSearch[N number](t *testing.T, module string, cache int) {
	r := newRig(t)
	r.eachWidth(func(t *testing.T, width int) {
		k := kernel[runSearchPush](t, r, module, map[string]uint32{"TILE": uint32(width)})
		for _, size := range []int{1, 31, 33, cache, cache + 1, 140000} {
			for _, indexed := range []bool{true, false} {
				for _, narrow := range []uint32{0, 1} {
					rnd := random(uint64(size))
					keys := sortedKeys[N](rnd, size, 3)
					rows := []uint64{put(r, wholeNodes(keys)).Address(), 0, 0, 0}
					if indexed {
						rows[3] = put(r, treeOf(keys)).Address()
					}
					n := 40 * k.Workgroup()
					queries := make([]N, n)
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
							require.Equal(t, indexed || size <= cache, got[2*i+1] == 1, "whether there is a level: %s",
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
