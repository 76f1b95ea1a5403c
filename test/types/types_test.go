// Package types_test has named, signed and float types, as a user's program has them, in every dictionary.
package types_test

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

type (
	id      uint32
	celsius float32
	balance int32
)

func TestNamedIntegers(t *testing.T) {
	keys, values := []id{0, 1, 7, 8, 1 << 31, math.MaxUint32 - 1, math.MaxUint32},
		[]balance{-1, 0, math.MinInt32, math.MaxInt32, 5, -5, 77}
	all(t, keys, values)
}

func TestSignedKeys(t *testing.T) {
	keys, values := []balance{math.MinInt32, math.MinInt32 + 1, -2, -1, 0, 1, math.MaxInt32},
		[]id{9, math.MaxUint32, 0, 1, 2, 3, 4}
	all(t, keys, values)
}

func TestFloats(t *testing.T) {
	nan := func(bits uint32) celsius { return celsius(math.Float32frombits(bits)) }
	minus0 := nan(1 << 31)
	keys, values := []celsius{nan(0xffc00001), celsius(math.Inf(-1)), -1.5, minus0, 0, 1e-40, 1.5,
		celsius(math.Inf(1)), nan(0x7fc00001)}, []celsius{0, minus0, -1, 2, nan(0x7fc00001), 3, -3, 0, 4}
	all(t, keys, values)
}

// Keys that differ in either word alone, and with either all zeros or all ones.
func TestWideIntegers(t *testing.T) {
	all(t, []uint64{0, 1, math.MaxUint32, 1 << 32, 1<<32 | 1, 5<<32 | math.MaxUint32, math.MaxUint32 << 32,
		math.MaxUint64 - 1, math.MaxUint64}, []uint64{math.MaxUint64, 0, 1 << 32, 3, 4, 5, math.MaxUint64, 7, 1 << 63})
	all(t, []time.Duration{math.MinInt64, -time.Hour, -1, 0, 1, 1 << 32, math.MaxInt64},
		[]int{-1, math.MinInt, math.MaxInt, 0, 1 << 40, -1 << 40, 5})
}

// A pair of which only the key, or only the value, is wide.
func TestMixedWidths(t *testing.T) {
	all(t, []balance{math.MinInt32, -1, 0, 1, math.MaxInt32}, []uint64{1 << 40, math.MaxUint64, 0, 1, 2})
	all(t, []float64{math.Inf(-1), -1e300, -1e-300, math.Copysign(0, -1), 0, 1.5, math.Inf(1), math.NaN()},
		[]celsius{1, 2, 3, -4, 5, 6, 7, 8})
	all(t, []uint64{1, 2, 1 << 50, math.MaxUint64}, []balance{-1, math.MinInt32, 0, math.MaxInt32})
}

// all tries every dictionary with pairs in key order.
func all[K, V structures.Number](t *testing.T, keys []K, values []V) {
	d := testdevice.Open(t)
	t.Run("lsm", func(t *testing.T) {
		x, err := lsm.Build(t.Context(), d, keys, values, lsm.Options{Batch: 256})
		require.NoError(t, err)
		tryOrdered(t, x, keys, values)
		saves(t, x, func(ctx context.Context, d *vk.Device, r *bytes.Buffer) (structures.Dictionary[K, V], error) {
			return lsm.Load[K, V](ctx, d, r, lsm.Options{})
		})
	})
	t.Run("array", func(t *testing.T) {
		x, err := sortedarray.Build(t.Context(), d, keys, values, sortedarray.Options{})
		require.NoError(t, err)
		tryOrdered(t, x, keys, values)
		saves(t, x, func(ctx context.Context, d *vk.Device, r *bytes.Buffer) (structures.Dictionary[K, V], error) {
			return sortedarray.Load[K, V](ctx, d, r, sortedarray.Options{})
		})
	})
	t.Run("map", func(t *testing.T) {
		m, err := slabhash.Build(t.Context(), d, keys, values, slabhash.Options{})
		require.NoError(t, err)
		tryDictionary(t, m, keys, values)
		tryMap(t, m, keys, values)
		saves(t, m, func(ctx context.Context, d *vk.Device, r *bytes.Buffer) (structures.Dictionary[K, V], error) {
			return slabhash.Load[K, V](ctx, d, r, slabhash.Options{})
		})
	})
	t.Run("set", func(t *testing.T) { trySet(t, d, keys) })
	t.Run("tree", func(t *testing.T) {
		for _, path := range []btree.Path{btree.Concurrent, btree.Batched} {
			x, err := btree.Build(t.Context(), d, keys, values, btree.Options{Path: path})
			require.NoError(t, err)
			tryOrdered(t, x, keys, values)
			gotKeys, gotValues, err := numbers.All(t.Context(), x)
			require.NoError(t, err)
			same(t, keys, gotKeys)
			same(t, values, gotValues)
			tryMixedOrder(t, x, keys, values)
			saves(t, x, func(ctx context.Context, d *vk.Device, r *bytes.Buffer) (structures.Dictionary[K, V], error) {
				return btree.Load[K, V](ctx, d, r, btree.Options{})
			})
		}
	})
}

// same compares numbers bit by bit: NaN is itself, and -0 is not 0.
func same[T structures.Number](t *testing.T, want, got []T) {
	t.Helper()
	require.Equal(t, words(want), words(got))
}

func words[T structures.Number](all []T) (words []uint64) {
	code := structures.KeyCode[T]()
	for _, x := range all {
		words = append(words, code.Word(x))
	}
	return words
}

func repeated[T any](n int, x T) []T { return slices.Repeat([]T{x}, n) }

// shuffled are the places of n elements in some order.
func shuffled(n int) []int { return rand.New(rand.NewPCG(1, 2)).Perm(n) }

func pick[T any](all []T, places []int) (some []T) {
	for _, i := range places {
		some = append(some, all[i])
	}
	return some
}

func tryDictionary[K, V structures.Number](t *testing.T, x structures.Dictionary[K, V], keys []K, values []V) {
	ctx, n := t.Context(), len(keys)
	order := shuffled(n)
	asked := pick(keys, order)
	got, found, err := x.Find(ctx, asked)
	require.NoError(t, err)
	same(t, pick(values, order), got)
	require.Equal(t, repeated(n, true), found)
	into := repeated(n, values[0])
	require.NoError(t, x.FindInto(ctx, asked, into, nil))
	same(t, pick(values, order), into)

	status, err := x.Delete(ctx, keys[:2])
	require.NoError(t, err)
	require.Equal(t, repeated(2, structures.Deleted), status)
	got, found, err = x.Find(ctx, keys)
	require.NoError(t, err)
	same(t, append(make([]V, 2), values[2:]...), got)
	require.Equal(t, append(make([]bool, 2), repeated(n-2, true)...), found)
	into = repeated(n, values[0])
	require.NoError(t, x.FindInto(ctx, keys, into, nil))
	same(t, append(make([]V, 2), values[2:]...), into)
	length, err := x.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, n-2, length)
	back := make([]structures.Status, 2)
	require.NoError(t, x.UpdateInto(ctx, structures.InsertUnique, keys[:2], values[:2], back))
	require.Equal(t, repeated(2, structures.Inserted), back)

	var all []structures.Pair[K, V]
	for pair, err := range x.All(ctx) {
		require.NoError(t, err)
		all = append(all, pair)
	}
	slices.SortFunc(all, func(a, b structures.Pair[K, V]) int {
		return slices.Compare(words([]K{a.Key}), words([]K{b.Key}))
	})
	for i, pair := range all {
		same(t, keys[i:i+1], []K{pair.Key})
		same(t, values[i:i+1], []V{pair.Value})
	}
	require.Len(t, all, n)
	chunks := 0
	for chunk, err := range x.Chunks(ctx) {
		require.NoError(t, err)
		chunks += len(chunk.Keys)
	}
	require.Equal(t, n, chunks)
	tryMixed(t, x, keys, values)
	tryInPlace(t, x, keys)
	tryEqual(t, x, keys, values)
	_, err = x.Insert(ctx, keys, values)
	require.NoError(t, err)
}

// Keys that come many times in a batch, beside others that differ from them in one word alone: the last of each stays.
func tryEqual[K, V structures.Number](t *testing.T, x structures.Dictionary[K, V], keys []K, values []V) {
	ctx, rng := t.Context(), rand.New(rand.NewPCG(3, 3))
	for range 3 {
		_, err := x.Delete(ctx, keys)
		require.NoError(t, err)
		var all []K
		var bring []V
		var want []structures.Status
		last := map[uint64]V{}
		for range 40 * len(keys) {
			key, value := keys[rng.IntN(len(keys))], values[rng.IntN(len(values))]
			word := words([]K{key})[0]
			status := structures.Inserted
			if _, there := last[word]; there {
				status = structures.Assigned
			}
			all, bring, want, last[word] = append(all, key), append(bring, value), append(want, status), value
		}
		status, err := x.Insert(ctx, all, bring)
		require.NoError(t, err)
		require.Equal(t, want, status)
		got, _, err := x.Find(ctx, keys)
		require.NoError(t, err)
		for i, key := range keys {
			same(t, []V{last[words([]K{key})[0]]}, got[i:i+1])
		}
	}
}

// Mixed batches: numbers of pairs are numbers, whatever the values' type.
func tryMixed[K, V structures.Number](t *testing.T, x structures.Dictionary[K, V], keys []K, values []V) {
	ctx := t.Context()
	b := structures.Batch[K, V]{
		Kinds: []structures.Kind{structures.Find, structures.CountAll, structures.Insert, structures.Find},
		Keys:  []K{keys[0], keys[1], keys[2], keys[3]}, Values: repeated(4, values[1]),
	}
	r, err := x.Apply(ctx, b)
	require.NoError(t, err)
	same(t, []V{values[0], 1}, r.Values[:2])
	same(t, values[3:4], r.Values[3:4])
	want := []structures.Status{structures.Found, structures.Found, structures.Assigned, structures.Found}
	require.Equal(t, want, r.Status)
	changed, _, err := x.Find(ctx, keys[2:3])
	require.NoError(t, err)
	same(t, values[1:2], changed)
}

// Sums, minima and maxima are those of the type.
func tryInPlace[K, V structures.Number](t *testing.T, x structures.Dictionary[K, V], keys []K) {
	ctx, key := t.Context(), keys[:1]
	_, err := x.Insert(ctx, key, []V{5})
	require.NoError(t, err)
	value := func() V {
		got, _, err := x.Find(ctx, key)
		require.NoError(t, err)
		return got[0]
	}
	_, err = x.InsertAdd(ctx, key, []V{V(0) - 7})
	require.NoError(t, err)
	require.Equal(t, V(5)-V(7), value())
	_, err = x.Insert(ctx, key, []V{5})
	require.NoError(t, err)
	for _, step := range []struct {
		do          func(context.Context, []K, []V) ([]structures.Status, error)
		brings, now V
	}{{x.InsertMin, 6, 5}, {x.InsertMin, 3, 3}, {x.InsertMax, 2, 3}, {x.InsertMax, 8, 8}} {
		_, err := step.do(ctx, key, []V{step.brings})
		require.NoError(t, err)
		require.Equal(t, step.now, value())
	}
	if structures.Float[V]() || structures.Signed[V]() {
		_, err := x.InsertMin(ctx, key, []V{V(0) - 3})
		require.NoError(t, err)
		require.Equal(t, V(0)-3, value())
	}
}

func tryOrdered[K, V structures.Number](t *testing.T, x structures.Ordered[K, V], keys []K, values []V) {
	ctx, n := t.Context(), len(keys)
	tryDictionary(t, structures.Dictionary[K, V](x), keys, values)
	ranges := []structures.Range[K]{structures.AllKeys[K](), {Lo: keys[1], Hi: keys[n-2]}, {Lo: keys[2], Hi: keys[1]}}
	counts, err := x.Count(ctx, ranges)
	require.NoError(t, err)
	require.Equal(t, []uint32{uint32(n), uint32(n - 2), 0}, counts)
	r, err := x.Range(ctx, ranges)
	require.NoError(t, err)
	check := func(r structures.Ranges[K, V]) {
		t.Helper()
		require.Equal(t, []uint64{0, uint64(n), uint64(2*n - 2), uint64(2*n - 2)}, r.Offsets)
		same(t, slices.Concat(keys, keys[1:n-1]), r.Keys)
		same(t, slices.Concat(values, values[1:n-1]), r.Values)
	}
	check(r)
	require.NoError(t, x.RangeInto(ctx, ranges, &r))
	check(r)
	up, err := x.Neighbor(ctx, structures.Successor, keys)
	require.NoError(t, err)
	same(t, append(slices.Clone(keys[1:]), 0), up.Keys)
	same(t, append(slices.Clone(values[1:]), 0), up.Values)
	down, err := x.Neighbor(ctx, structures.Predecessor, keys)
	require.NoError(t, err)
	same(t, append([]K{0}, keys[:n-1]...), down.Keys)
	key, value, found, err := numbers.Least(ctx, x)
	require.NoError(t, err)
	require.True(t, found)
	same(t, keys[:1], []K{key})
	same(t, values[:1], []V{value})
	key, value, _, err = numbers.Greatest(ctx, x)
	require.NoError(t, err)
	same(t, keys[n-1:], []K{key})
	same(t, values[n-1:], []V{value})
	ranks, err := x.Rank(ctx, keys)
	require.NoError(t, err)
	for i, rank := range ranks {
		require.EqualValues(t, i, rank)
	}
	selected, err := x.Select(ctx, append(ranks, uint32(n)))
	require.NoError(t, err)
	same(t, append(slices.Clone(keys), 0), selected.Keys)
	same(t, append(slices.Clone(values), 0), selected.Values)
	i := n - 1
	for pair, err := range x.Descend(ctx, structures.AllKeys[K]()) {
		require.NoError(t, err)
		same(t, keys[i:i+1], []K{pair.Key})
		i--
	}
	require.Equal(t, -1, i)
	gone, err := x.DeleteRange(ctx, ranges[1:2])
	require.NoError(t, err)
	require.Equal(t, []uint32{uint32(n - 2)}, gone)
	_, err = x.Insert(ctx, keys, values)
	require.NoError(t, err)
}

// Queries for order in a mixed batch.
func tryMixedOrder[K, V structures.Number](t *testing.T, x *btree.Tree[K, V], keys []K, values []V) {
	n := len(keys)
	b := structures.Batch[K, V]{
		Kinds: []structures.Kind{structures.FindRange, structures.CountRange, structures.FindSuccessor,
			structures.FindFloor, structures.FindSuccessor},
		Keys: []K{keys[1], keys[0], keys[1], keys[2], keys[n-1]}, Highs: []K{keys[3], keys[n-1], 0, 0, 0}, Width: 9,
	}
	r, err := x.Apply(t.Context(), b)
	require.NoError(t, err)
	same(t, []V{3, V(n), values[2], values[2], 0}, r.Values)
	same(t, []K{0, 0, keys[2], keys[2], 0}, r.Keys)
	same(t, keys[1:4], r.Ranges.Keys)
	same(t, values[1:4], r.Ranges.Values)
	require.Equal(t, []uint64{0, 3, 3, 3, 3, 3}, r.Ranges.Offsets)
}

func tryMap[K, V structures.Number](t *testing.T, m *slabhash.Map[K, V], keys []K, values []V) {
	ctx := t.Context()
	_, err := m.InsertDuplicate(ctx, keys[:1], values[1:2])
	require.NoError(t, err)
	offsets, found, err := m.FindAll(ctx, keys[:2])
	require.NoError(t, err)
	require.Equal(t, []int{0, 2, 3}, offsets)
	same(t, []V{values[0], values[1], values[1]}, found)
	counts, err := m.CountAll(ctx, keys[:2])
	require.NoError(t, err)
	require.Equal(t, []uint32{2, 1}, counts)
	filled := repeated(2, values[0])
	require.NoError(t, m.UpdateInto(ctx, structures.DeleteAll, keys[:2], filled, nil))
	same(t, []V{2, 1}, filled)
	_, err = m.InsertDuplicate(ctx, slices.Concat(keys[:1], keys[:2]), slices.Concat(values[:1], values[:2]))
	require.NoError(t, err)
	kinds := []structures.Kind{structures.DeleteAll, structures.CountAll, structures.Find}
	batch := structures.Batch[K, V]{Kinds: kinds, Keys: keys[:3], Values: slices.Clone(values[:3])}
	r, err := m.Apply(ctx, batch)
	require.NoError(t, err)
	same(t, []V{2, 1, values[2]}, r.Values)
	kinds[0], kinds[1] = structures.Find, structures.DeleteAll
	r, err = m.Apply(ctx, batch)
	require.NoError(t, err)
	same(t, []V{0, 1, values[2]}, r.Values)
	_, err = m.Insert(ctx, keys[:2], values[:2])
	require.NoError(t, err)
	counts, err = m.DeleteAll(ctx, keys[:1])
	require.NoError(t, err)
	require.Equal(t, []uint32{1}, counts)
	got, _, err := numbers.All(ctx, m)
	require.NoError(t, err)
	require.Len(t, got, len(keys)-1)
}

func trySet[K structures.Number](t *testing.T, d *vk.Device, keys []K) {
	ctx := t.Context()
	s, err := slabhash.BuildSet(ctx, d, keys, slabhash.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = s.Delete(ctx, keys[:1])
	require.NoError(t, err)
	there, err := s.Contains(ctx, keys)
	require.NoError(t, err)
	require.Equal(t, append([]bool{false}, repeated(len(keys)-1, true)...), there)
	got, _, err := numbers.All(ctx, s)
	require.NoError(t, err)
	sorted := words(got)
	slices.Sort(sorted)
	require.Equal(t, words(keys[1:]), sorted)
	n := 0
	for key, err := range s.All(ctx) {
		require.NoError(t, err)
		require.Contains(t, sorted, words([]K{key})[0])
		n++
	}
	require.Equal(t, len(keys)-1, n)
	_, err = s.InsertDuplicate(ctx, keys[2:3])
	require.NoError(t, err)
	counts, err := s.CountAll(ctx, keys[:3])
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 1, 2}, counts)
	r, err := s.Apply(ctx, structures.Batch[K, uint32]{Kinds: []structures.Kind{structures.CountAll, structures.Find,
		structures.CountAll, structures.DeleteAll}, Keys: keys[:4]})
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 2, 1}, []uint32{r.Values[0], r.Values[2], r.Values[3]})
	require.Equal(t, structures.Found, r.Status[1])
	counts, err = s.DeleteAll(ctx, keys[2:4])
	require.NoError(t, err)
	require.Equal(t, []uint32{2, 0}, counts)
}

// saves has what is saved loaded again, at the same types.
func saves[K, V structures.Number](t *testing.T, x structures.Dictionary[K, V],
	load func(context.Context, *vk.Device, *bytes.Buffer) (structures.Dictionary[K, V], error)) {
	d := testdevice.Open(t)
	var file bytes.Buffer
	_, err := x.Save(t.Context(), &file)
	require.NoError(t, err)
	pairs := func(x structures.Dictionary[K, V]) (all [][2]uint64) {
		for pair, err := range x.All(t.Context()) {
			require.NoError(t, err)
			all = append(all, [2]uint64{words([]K{pair.Key})[0], words([]V{pair.Value})[0]})
		}
		slices.SortFunc(all, func(a, b [2]uint64) int { return slices.Compare(a[:], b[:]) })
		return all
	}
	again, err := load(t.Context(), d, &file)
	require.NoError(t, err)
	require.Equal(t, pairs(x), pairs(again))
	require.NoError(t, again.Close())
	require.NoError(t, x.Close())
}
