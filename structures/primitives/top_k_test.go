package primitives

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// inOrder are the numbers of keys, the least or the greatest first, of equal ones the first.
func inOrder(keys []uint32, least bool) []uint32 {
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

func at(all, numbers []uint32) []uint32 {
	some := make([]uint32, len(numbers))
	for i, n := range numbers {
		some[i] = all[n]
	}
	return some
}

// topKKeys are keys whose k-th is among many equal ones, among few, or alone; the last digits alone tell some apart.
var topKKeys = map[string]func(n int) []uint32{
	"any":        func(n int) []uint32 { return words(uint64(n), n, 0) },
	"few":        func(n int) []uint32 { return words(uint64(n), n, 7) },
	"equal":      func(n int) []uint32 { return words(uint64(n), n, 1) },
	"last digit": func(n int) []uint32 { return shifted(words(uint64(n), n, 1<<10), 0xabcde<<10) },
	"ends": func(n int) []uint32 {
		return shifted(words(uint64(n), n, 3), math.MaxUint32) // 2^32-1, 0 and 1
	},
}

func shifted(words []uint32, by uint32) []uint32 {
	for i := range words {
		words[i] += by
	}
	return words
}

func TestTopK(t *testing.T) {
	eachRound(t, &topKShape, func(t *testing.T, r *rig) {
		for name, make := range topKKeys {
			for _, n := range []int{0, 1, 33, 4097, 13_001} {
				keys, values := make(n), words(uint64(n)+1, n, 0)
				for _, k := range []int{0, 1, n / 3, n + 9} {
					testTopK(r, keys, values, k, fmt.Sprintf("%s keys, k %d", name, k))
				}
			}
		}
	})
}

func testTopK(r *rig, keys, values []uint32, k int, what string) {
	r.t.Helper()
	n := len(keys)
	for i, least := range []bool{false, true} {
		eachLength(r, n, func(l Length, name string) {
			defer r.release()
			numbers := inOrder(keys, least)[:min(k, n)]
			outKeys, outValues, count := room(r, len(numbers)), room(r, len(numbers)), room(r, 1)
			a := TopKArgs{
				Keys: upload(r, append(keys, 0)).Address(), OutKeys: outKeys.Address(), OutValues: outValues.Address(),
				OutCount: count.Address(),
				K:        k, Least: least, Length: l, Scratch: r.scratch(r.p.TopKScratch(l.N, k)),
			}
			if a.Values = upload(r, append(values, 0)).Address(); (n+k+i)%2 == 0 {
				a.Values = 0
			}
			r.run(r.p.TopK(r.s, a))
			requireWords(r.t, at(keys, numbers), download(r, outKeys, len(numbers)), "%s of %s, least %v: keys", what,
				name, least)
			want := numbers
			if a.Values != 0 {
				want = at(values, numbers)
			}
			requireWords(r.t, want, download(r, outValues, len(numbers)), "%s of %s, least %v: values", what, name,
				least)
			require.Equal(r.t, uint32(len(numbers)), download(r, count, 1)[0], "%s of %s", what, name)
		})
	}
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
	var length *structures.CountError
	for _, spoil := range []func(a *TopKArgs){
		func(a *TopKArgs) { a.Length.N = MaxLength + 1 }, func(a *TopKArgs) { a.K = -1 }} {
		a := good
		spoil(&a)
		require.ErrorAs(t, r.p.TopK(r.s, a), &length)
	}
	require.NoError(t, r.p.TopK(r.s, TopKArgs{Length: Length{N: 8}}), "of no keys nothing is needed")
}
