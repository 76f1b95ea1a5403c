package primitives

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// inOrder returns the indices of keys, the least or the greatest first; of equal keys, the first one comes first.
func inOrder[K number](keys []K, least bool) []uint32 {
	numbers := make([]uint32, len(keys))
	for i := range numbers {
		numbers[i] = uint32(i)
	}
	slices.SortStableFunc(numbers, func(a, b uint32) int {
		if least {
			return cmp.Compare(keys[a], keys[b])
		}
		return cmp.Compare(keys[b], keys[a])
	})
	return numbers
}

func at[N number](all []N, numbers []uint32) []N {
	some := make([]N, len(numbers))
	for i, n := range numbers {
		some[i] = all[n]
	}
	return some
}

// topKKeys returns keys whose k-th is among many equal ones, among few, or alone. Some differ only in the last digits,
// and those of two words in either one.
func topKKeys[K number]() map[string]func(n int) []K {
	any := func(below, by K) func(n int) []K {
		return func(n int) []K {
			all := numbers(uint64(n), n, below)
			for i := range all {
				all[i] += by
			}
			return all
		}
	}
	kinds := map[string]func(n int) []K{
		"any": any(0, 0), "few": any(7, 0), "equal": any(1, 0), "last digit": any(1<<10, 0xabcde<<10),
		"ends": any(3, ^K(0)), // only the greatest number, 0 and 1
	}
	if widthOf[K]() == structures.Bits64 {
		high := K(math.MaxUint32) + 1
		kinds["low words"], kinds["high digits"] = any(high, 5*high), func(n int) []K {
			all := numbers(uint64(n), n, high)
			for i := range all {
				all[i] = all[i]*high + 17
			}
			return all
		}
		kinds["edges"] = func(n int) []K {
			all := numbers[K](uint64(n), n, K(len(edges[K]())))
			for i := range all {
				all[i] = edges[K]()[all[i]]
			}
			return all
		}
	}
	return kinds
}

func TestTopK(t *testing.T) {
	t.Run("words", testTopK[uint32, uint32])
	t.Run("64 bits", testTopK[uint64, uint64])
	t.Run("64 bits with words", testTopK[uint64, uint32])
}

func testTopK[K, V number](t *testing.T) {
	eachRound(t, &topKShape, func(t *testing.T, r *rig) {
		kinds := topKKeys[K]()
		for i, name := range slices.Sorted(maps.Keys(kinds)) {
			turn := i // selects one of four ways; differs with the length, the number, and the kind of keys
			for _, n := range []int{0, 1, 33, 4097, 13_001} {
				turn++
				keys, values := kinds[name](n), numbers[V](uint64(n)+1, n, 0)
				for _, k := range []int{0, 1, n / 3, n + 9} {
					turn++
					testTopKOf(r, keys, values, k, turn%2 == 0, turn%4 < 2, fmt.Sprintf("%s keys, k %d", name, k))
				}
			}
		}
	})
}

func testTopKOf[K, V number](r *rig, keys []K, values []V, k int, least, numbered bool, what string) {
	r.t.Helper()
	n := len(keys)
	someLength(r, n, func(l Length, name string) {
		defer r.release()
		numbers := inOrder(keys, least)[:min(k, n)]
		outKeys, outValues, outNumbers := roomOf[K](r, len(numbers)), roomOf[V](r, len(numbers)),
			room(r, len(numbers))
		count, w := room(r, 1), Widths{widthOf[K](), widthOf[V]()}
		a := TopKArgs{
			Keys: upload(r, append(keys, 0)).Address(), OutKeys: outKeys.Address(), OutCount: count.Address(),
			K: k, Least: least, Length: l, Widths: w, Scratch: r.scratch(r.p.topKScratch(l.N, k, w)),
		}
		if numbered {
			a.OutValues = outNumbers.Address()
		} else {
			a.Values, a.OutValues = upload(r, append(values, 0)).Address(), outValues.Address()
		}
		r.run(r.p.TopK(r.s, a))
		requireWords(r.t, at(keys, numbers), download(r, outKeys, len(numbers)), "%s of %s, least %v: keys", what,
			name, least)
		if numbered {
			requireWords(r.t, numbers, download(r, outNumbers, len(numbers)), "%s of %s, least %v: numbers", what,
				name, least)
		} else {
			requireWords(r.t, at(values, numbers), download(r, outValues, len(numbers)),
				"%s of %s, least %v: values", what, name, least)
		}
		require.Equal(r.t, uint32(len(numbers)), download(r, count, 1)[0], "%s of %s", what, name)
	})
}

func TestTopKRefuses(t *testing.T) {
	r := newRig(t)
	at := room(r, 8).Address()
	good := TopKArgs{Keys: at, OutKeys: at, OutValues: at, Scratch: at, K: 3, Length: Length{N: 8}}
	for name, spoil := range map[string]func(a *TopKArgs){
		"keys": func(a *TopKArgs) { a.Keys = 0 }, "out keys": func(a *TopKArgs) { a.OutKeys = 0 },
		"out values": func(a *TopKArgs) { a.OutValues = 0 }, "scratch": func(a *TopKArgs) { a.Scratch = 0 },
	} {
		a := good
		spoil(&a)
		require.ErrorIs(t, r.p.TopK(r.s, a), ErrNoMemory, name)
	}
	var width *vk.OptionError
	a := good
	a.Values, a.Widths = at, Widths{structures.Bits32, structures.Bits64}
	require.ErrorAs(t, r.p.TopK(r.s, a), &width)
	var length *structures.CountError
	for _, spoil := range []func(a *TopKArgs){
		func(a *TopKArgs) { a.Length.N = MaxLength + 1 }, func(a *TopKArgs) { a.K = -1 }} {
		a := good
		spoil(&a)
		require.ErrorAs(t, r.p.TopK(r.s, a), &length)
	}
	require.NoError(t, r.p.TopK(r.s, TopKArgs{Length: Length{N: 8}}), "of no keys nothing is needed")
}
