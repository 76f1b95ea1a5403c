package primitives

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// boundsOf is what Bounds is to find.
func boundsOf(keys, queries []uint32, upper bool) []uint32 {
	bounds := make([]uint32, len(queries))
	for i, q := range queries {
		bounds[i] = uint32(sort.Search(len(keys), func(k int) bool {
			return keys[k] > q || keys[k] == q && !upper
		}))
	}
	return bounds
}

// eachPlan runs a test with every way of finding bounds.
func eachPlan(t *testing.T, test func(t *testing.T, r *rig, plan boundsPlan)) {
	for name, plan := range map[string]boundsPlan{
		"bisection":               {top: searchTop, rounds: 1},
		"bisection, small top":    {top: 16, rounds: 3},
		"index":                   {indexed: true, top: searchTop, rounds: 3},
		"index, small top":        {indexed: true, top: 8, rounds: 1},
		"merge":                   {merged: true, alone: true},
		"merge, split beforehand": {merged: true},
	} {
		t.Run(name, func(t *testing.T) { test(t, newRig(t), plan) })
	}
}

// checkBounds searches for queries, which it sorts where the plan asks for it, and compares with the model.
func (r *rig) checkBounds(keys, queries []uint32, n, count Length, plan boundsPlan, name string) {
	r.t.Helper()
	if plan.merged {
		queries = slices.Sorted(slices.Values(queries))
	}
	args := BoundsArgs{
		Keys: upload(r, append(keys, make([]uint32, n.N-len(keys))...)).Address(), Length: n,
		Queries: upload(r, append(queries, make([]uint32, count.N-len(queries))...)).Address(), Count: count,
		Scratch: r.scratch(max(4*indexWords(n.N, 8), r.p.BoundsScratch(n.N, count.N))), Sorted: plan.merged,
	}
	for _, args.Upper = range []bool{false, true} {
		out := room(r, len(queries))
		args.Out = out.Address()
		r.run(r.p.bounds(r.s, args, plan))
		requireWords(r.t, boundsOf(keys, queries, args.Upper), download(r, out, len(queries)), "bounds, upper %v, %s",
			args.Upper, name)
	}
}

// queriesFor are queries of all sorts: keys, what lies beside keys, the ends, and any words.
func queriesFor(keys []uint32, count int) []uint32 {
	queries := words(7, count, 0)
	for i := range queries {
		switch g := queries[i]; {
		case i%8 == 0:
			queries[i] = []uint32{0, 1, math.MaxUint32 - 1, math.MaxUint32}[i/8%4]
		case i%8 < 6 && len(keys) > 0:
			queries[i] = keys[int(g)%len(keys)] + uint32(i%8-3)%3 - 1
		}
	}
	return queries
}

func sortedWords(seed uint64, n int, below uint32) []uint32 {
	w := words(seed, n, below)
	slices.Sort(w)
	return w
}

func TestBounds(t *testing.T) {
	eachPlan(t, func(t *testing.T, r *rig, plan boundsPlan) {
		for i, n := range []int{0, 1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513, 2047, 2048, 2049, 16384, 20011} {
			for j, count := range []int{0, 1, 100, 5003} {
				below := []uint32{0, 1, 2, 1000, 1 << 20}[(i+j)%5]
				keys := sortedWords(3, n, below)
				r.checkBounds(keys, queriesFor(keys, count), Length{N: n}, Length{N: count}, plan,
					fmt.Sprintf("%d keys below %d, %d queries", n, below, count))
			}
			r.release()
		}
	})
}

func TestBoundsAmongExtremeKeys(t *testing.T) {
	eachPlan(t, func(t *testing.T, r *rig, plan boundsPlan) {
		for name, key := range map[string]func(i uint32) uint32{
			"all 0":     func(i uint32) uint32 { return 0 },
			"all ones":  func(i uint32) uint32 { return math.MaxUint32 },
			"both":      func(i uint32) uint32 { return -(i / 2000) },
			"ascending": func(i uint32) uint32 { return i },
			"last":      func(i uint32) uint32 { return math.MaxUint32 - 4999 + i },
		} {
			keys := make([]uint32, 5000)
			for i := range keys {
				keys[i] = key(uint32(i))
			}
			slices.Sort(keys)
			r.checkBounds(keys, queriesFor(keys, 2000), Length{N: len(keys)}, Length{N: 2000}, plan, name)
			r.release()
		}
	})
}

func TestBoundsOfLengthsOnTheDevice(t *testing.T) {
	eachPlan(t, func(t *testing.T, r *rig, plan boundsPlan) {
		for _, n := range []int{0, 1, 70, 5000} {
			eachLength(r, n, func(keyCount Length, keyName string) {
				eachLength(r, 3000, func(queryCount Length, queryName string) {
					keys := sortedWords(3, n, 0)
					r.checkBounds(keys, queriesFor(keys, 3000), keyCount, queryCount, plan, keyName+" and "+queryName)
				})
			})
			r.release()
		}
	})
}

// Arrays are aligned to words, no more, and the bounds may take the queries' place.
func TestBoundsWithinArrays(t *testing.T) {
	r := newRig(t)
	keys := sortedWords(3, 20000, 0)
	queries := queriesFor(keys, 4000)
	for shift := range 8 {
		skip := make([]uint32, shift)
		at := room(r, shift+len(queries))
		r.run(nil)
		require.NoError(t, at.Upload(t.Context(), shift, queries))
		r.run(r.p.Bounds(r.s, BoundsArgs{
			Keys: upload(r, append(skip, keys...)).AddressOf(shift), Length: Length{N: len(keys)},
			Queries: at.AddressOf(shift), Count: Length{N: len(queries)}, Out: at.AddressOf(shift),
			Scratch: r.scratch(r.p.BoundsScratch(len(keys), len(queries))),
		}))
		got := download(r, at, shift+len(queries))[shift:]
		requireWords(t, boundsOf(keys, queries, false), got, "from word %d on", shift)
	}
}

// What Bounds chooses by itself: few queries in many keys, and many in few, sorted or not.
func TestBoundsChooses(t *testing.T) {
	r := newRig(t)
	for _, n := range []int{0, 100, 300000} {
		for _, count := range []int{3, 20000} {
			for _, sorted := range []bool{false, true} {
				keys := sortedWords(3, n, 0)
				queries := queriesFor(keys, count)
				if sorted {
					slices.Sort(queries)
				}
				out := room(r, count)
				args := BoundsArgs{
					Keys: upload(r, append(keys, 0)).Address(), Length: Length{N: n},
					Queries: upload(r, queries).Address(), Count: Length{N: count}, Sorted: sorted,
					Out: out.Address(), Scratch: r.scratch(r.p.BoundsScratch(n, count)),
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
		"bisection": {top: searchTop, rounds: 1}, "index": {indexed: true, top: searchTop, rounds: 1},
		"merge": {merged: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			out := room(r, count)
			r.run(r.p.bounds(r.s, BoundsArgs{
				Keys: upload(r, keys).Address(), Length: Length{N: n}, Sorted: true, Out: out.Address(),
				Queries: upload(r, queries).Address(), Count: Length{N: count},
				Scratch: r.scratch(r.p.BoundsScratch(n, count)),
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
	var length *structures.CountError
	good.Count.N = -1
	require.ErrorAs(t, r.p.Bounds(r.s, good), &length)
}
