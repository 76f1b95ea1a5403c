package primitives

import (
	"fmt"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// boundsOf returns the expected result of Bounds.
func boundsOf[K number](keys, queries []K, upper bool) []uint32 {
	bounds := make([]uint32, len(queries))
	for i, q := range queries {
		bounds[i] = uint32(sort.Search(len(keys), func(k int) bool {
			return keys[k] > q || keys[k] == q && !upper
		}))
	}
	return bounds
}

// eachPlan runs a test with every way of finding bounds among keys of a width.
func eachPlan(t *testing.T, w structures.Width, test func(t *testing.T, r *rig, plan boundsPlan)) {
	for name, plan := range map[string]boundsPlan{
		"bisection":               {top: searchTop[w], rounds: 1},
		"bisection, small top":    {top: 16, rounds: 3},
		"index":                   {indexed: true, top: searchTop[w], rounds: 3},
		"index, small top":        {indexed: true, top: 8, rounds: 1},
		"merge":                   {merged: true, alone: true},
		"merge, split beforehand": {merged: true},
	} {
		t.Run(name, func(t *testing.T) { test(t, newRig(t), plan) })
	}
}

// checkBounds searches for queries, sorted if the plan needs that, and compares the results with the model.
func checkBounds[K number](r *rig, keys, queries []K, n, count Length, plan boundsPlan, name string) {
	r.t.Helper()
	if plan.merged {
		queries = slices.Sorted(slices.Values(queries))
	}
	w := widthOf[K]()
	args := BoundsArgs{
		Keys: upload(r, append(keys, make([]K, n.N-len(keys))...)).Address(), Length: n, Width: w,
		Queries: upload(r, append(queries, make([]K, count.N-len(queries))...)).Address(), Count: count,
		Scratch: r.scratch(max(w.Bytes()*indexKeys(n.N, 8, w), r.p.boundsScratch(n.N, count.N, w))),
		Sorted:  plan.merged,
	}
	for _, args.Upper = range []bool{false, true} {
		out := room(r, len(queries))
		args.Out = out.Address()
		r.run(r.p.bounds(r.s, args, plan))
		requireWords(r.t, boundsOf(keys, queries, args.Upper), download(r, out, len(queries)), "bounds, upper %v, %s",
			args.Upper, name)
	}
}

// queriesFor returns queries of all sorts: keys, their neighbors, the least and greatest words, and random words.
func queriesFor[K number](keys []K, count int) []K {
	queries, edges := numbers[K](7, count, 0), edges[K]()
	for i := range queries {
		switch g := queries[i]; {
		case i%8 == 0:
			queries[i] = edges[i/8%len(edges)]
		case i%8 < 6 && len(keys) > 0:
			queries[i] = keys[g%K(len(keys))] + K(i%3) - 1
		}
	}
	return queries
}

func sortedNumbers[K number](seed uint64, n int, below K) []K {
	w := numbers(seed, n, below)
	slices.Sort(w)
	return w
}

func TestBounds(t *testing.T) {
	t.Run("k32", testBounds[uint32])
	t.Run("k64", testBounds[uint64])
}

func testBounds[K number](t *testing.T) {
	eachPlan(t, widthOf[K](), func(t *testing.T, r *rig, plan boundsPlan) {
		for i, n := range []int{0, 1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 2047, 2048, 2049, 16384, 20011} {
			for j, count := range []int{0, 1, 100, 5003} {
				below := []K{0, 1, 2, 1000, 1 << 20}[(i+j)%5]
				keys := sortedNumbers(3, n, below)
				checkBounds(r, keys, queriesFor(keys, count), Length{N: n}, Length{N: count}, plan,
					fmt.Sprintf("%d keys below %d, %d queries", n, below, count))
			}
			r.release()
		}
	})
}

func TestBoundsAmongExtremeKeys(t *testing.T) {
	t.Run("k32", testBoundsAmongExtremeKeys[uint32])
	t.Run("k64", testBoundsAmongExtremeKeys[uint64])
}

func testBoundsAmongExtremeKeys[K number](t *testing.T) {
	edges := edges[K]()
	eachPlan(t, widthOf[K](), func(t *testing.T, r *rig, plan boundsPlan) {
		for name, key := range map[string]func(i K) K{
			"all 0":     func(i K) K { return 0 },
			"all ones":  func(i K) K { return ^K(0) },
			"both":      func(i K) K { return -(i / 2000) },
			"ascending": func(i K) K { return i },
			"last":      func(i K) K { return ^K(0) - 4999 + i },
			"edges":     func(i K) K { return edges[int(i)%len(edges)] },
		} {
			keys := make([]K, 5000)
			for i := range keys {
				keys[i] = key(K(i))
			}
			slices.Sort(keys)
			checkBounds(r, keys, queriesFor(keys, 2000), Length{N: len(keys)}, Length{N: 2000}, plan, name)
			r.release()
		}
	})
}

func TestBoundsOfLengthsOnTheDevice(t *testing.T) {
	t.Run("k32", testBoundsOfLengthsOnTheDevice[uint32])
	t.Run("k64", testBoundsOfLengthsOnTheDevice[uint64])
}

func testBoundsOfLengthsOnTheDevice[K number](t *testing.T) {
	eachPlan(t, widthOf[K](), func(t *testing.T, r *rig, plan boundsPlan) {
		for _, n := range []int{0, 1, 70, 5000} {
			eachLength(r, n, func(keyCount Length, keyName string) {
				eachLength(r, 3000, func(queryCount Length, queryName string) {
					keys := sortedNumbers[K](3, n, 0)
					checkBounds(r, keys, queriesFor(keys, 3000), keyCount, queryCount, plan, keyName+" and "+queryName)
				})
			})
			r.release()
		}
	})
}

// Arrays are aligned to their elements only.
func TestBoundsWithinArrays(t *testing.T) {
	t.Run("k32", testBoundsWithinArrays[uint32])
	t.Run("k64", testBoundsWithinArrays[uint64])
}

func testBoundsWithinArrays[K number](t *testing.T) {
	r := newRig(t)
	w, keys := widthOf[K](), sortedNumbers[K](3, 20000, 0)
	queries := queriesFor(keys, 4000)
	n, count := len(keys), len(queries)
	for shift := range 8 {
		out := room(r, shift+count)
		r.run(r.p.Bounds(r.s, BoundsArgs{
			Keys: from(r, shift, keys), Length: Length{N: n}, Width: w,
			Queries: from(r, shift, queries), Count: Length{N: count}, Out: out.AddressOf(shift),
			Scratch: r.scratch(r.p.boundsScratch(n, count, w)),
		}))
		requireWords(t, boundsOf(keys, queries, false), download(r, out, shift+count)[shift:], "from key %d on", shift)
	}
}

func TestBoundsInPlaceOfQueries(t *testing.T) {
	r := newRig(t)
	keys := sortedNumbers[uint32](3, 20000, 0)
	queries := queriesFor(keys, 4000)
	at := within(r, queries, Length{N: len(queries)})
	r.run(r.p.Bounds(r.s, BoundsArgs{
		Keys: upload(r, keys).Address(), Length: Length{N: len(keys)},
		Queries: at.Address(), Count: Length{N: len(queries)}, Out: at.Address(),
		Scratch: r.scratch(r.p.boundsScratch(len(keys), len(queries), structures.Bits32)),
	}))
	requireWords(t, boundsOf(keys, queries, false), download(r, at, len(queries)), "bounds")
}

// Bounds chooses its plan: few queries in many keys, and many in few, sorted or not.
func TestBoundsChooses(t *testing.T) {
	t.Run("k32", testBoundsChooses[uint32])
	t.Run("k64", testBoundsChooses[uint64])
}

func testBoundsChooses[K number](t *testing.T) {
	r := newRig(t)
	w := widthOf[K]()
	for _, n := range []int{0, 100, 300000} {
		for _, count := range []int{3, 20000} {
			for _, sorted := range []bool{false, true} {
				keys := sortedNumbers[K](3, n, 0)
				queries := queriesFor(keys, count)
				if sorted {
					slices.Sort(queries)
				}
				out := room(r, count)
				args := BoundsArgs{
					Keys: upload(r, append(keys, 0)).Address(), Length: Length{N: n}, Width: w,
					Queries: upload(r, queries).Address(), Count: Length{N: count}, Sorted: sorted,
					Out: out.Address(), Scratch: r.scratch(r.p.boundsScratch(n, count, w)),
				}
				r.run(r.p.Bounds(r.s, args))
				requireWords(t, boundsOf(keys, queries, false), download(r, out, count), "%d keys, %d queries", n,
					count)
			}
		}
		r.release()
	}
}

// An array of more than 2^31 bytes.
func TestBoundsInLongArray(t *testing.T) {
	long(t)
	const n, count = 1<<29 + 5, 1 << 20
	keys := make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i) * 4
	}
	queries := words(1, count, 0)
	slices.Sort(queries)
	want := make([]uint32, count)
	for i, q := range queries {
		want[i] = uint32(min((uint64(q)+3)/4, n))
	}
	for name, plan := range map[string]boundsPlan{
		"bisection": {top: searchTop[structures.Bits32], rounds: 1},
		"index":     {indexed: true, top: searchTop[structures.Bits32], rounds: 1},
		"merge":     {merged: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			out := room(r, count)
			r.run(r.p.bounds(r.s, BoundsArgs{
				Keys: upload(r, keys).Address(), Length: Length{N: n}, Sorted: true, Out: out.Address(),
				Queries: upload(r, queries).Address(), Count: Length{N: count},
				Scratch: r.scratch(r.p.boundsScratch(n, count, structures.Bits32)),
			}, plan))
			requireWords(t, want, download(r, out, count), "bounds")
		})
	}
}

func TestBoundsRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	good := BoundsArgs{Keys: at, Length: Length{N: 1}, Queries: at, Count: Length{N: 1}, Out: at, Scratch: at}
	for name, wrong := range map[string]func(a *BoundsArgs){
		"no keys":    func(a *BoundsArgs) { a.Keys = 0 },
		"no queries": func(a *BoundsArgs) { a.Queries = 0 },
		"no output":  func(a *BoundsArgs) { a.Out = 0 },
		"no scratch": func(a *BoundsArgs) { a.Scratch = 0 },
	} {
		args := good
		wrong(&args)
		require.ErrorIs(t, r.p.Bounds(r.s, args), ErrNoMemory, name)
	}
	args := good
	args.Width = structures.Bits64 + 1
	var widths *vk.OptionError
	require.ErrorAs(t, r.p.Bounds(r.s, args), &widths)
	var length *structures.CountError
	good.Count.N = -1
	require.ErrorAs(t, r.p.Bounds(r.s, good), &length)
}
