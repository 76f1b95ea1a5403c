package host_test

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// dictionary is what Map and Tree have in common.
type dictionary[K, V structures.Number] interface {
	structures.Updates[K, V]
	UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V, status []structures.Status) error
	Apply(ctx context.Context, b structures.Batch[K, V]) (structures.Results[K, V], error)
	Find(ctx context.Context, keys []K) ([]V, []bool, error)
	Get(ctx context.Context, key K) (V, bool, error)
	Put(ctx context.Context, key K, value V) error
	Len(ctx context.Context) (uint64, error)
	Clear(ctx context.Context) error
	Close() error
}

type (
	price float32
	day   int32
)

// A snapshot keeps the pairs of its moment while the tree changes, and the other way round.
func TestSnapshot(t *testing.T) {
	ctx, tree := t.Context(), host.NewTree[int64, float64]()
	keys, values := make([]int64, 1000), make([]float64, 1000)
	for i := range keys {
		keys[i], values[i] = int64(i-500), float64(i)
	}
	_, err := tree.Insert(ctx, keys, values)
	require.NoError(t, err)
	then, err := tree.Copy(ctx)
	require.NoError(t, err)
	_, err = tree.Delete(ctx, keys[:900])
	require.NoError(t, err)
	require.NoError(t, then.Put(ctx, 777, 1))
	got, found, err := then.Find(ctx, keys)
	require.NoError(t, err)
	require.Equal(t, values, got)
	require.NotContains(t, found, false)
	n, err := tree.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 100, n, "777 is none of the tree's")
	require.NoError(t, tree.Close())
	n, err = then.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 1001, n)
	require.NoError(t, then.Close())
	_, err = then.Copy(ctx)
	require.ErrorIs(t, err, vk.ErrClosed)
	_, err = new(host.Tree[int64, float64]).Copy(ctx)
	require.ErrorIs(t, err, vk.ErrNotOpen)
}

// Whatever the types, updates leave the same as on a Go map, and ordered queries find the same as in a sorted slice.
func TestAgainstSlices(t *testing.T) {
	against(t, []uint32{0, 1, 2, 7, math.MaxUint32 - 1, math.MaxUint32}, []uint32{0, 1, math.MaxUint32})
	against(t, []int64{math.MinInt64, -2, -1, 0, 1, math.MaxInt64}, []int32{math.MinInt32, -1, 0, 1, math.MaxInt32})
	against(t, []day{math.MinInt32, -1, 0, 1, math.MaxInt32}, []uint64{0, 1, math.MaxUint64})
	against(t, []float64{math.Inf(-1), -1.5, 0, 1e-320, 2, math.Inf(1)}, []price{-2, -0.5, 0, 0.25, 3})
	against(t, []price{-1, 0, 1}, []int{math.MinInt, -1, 0, 5, math.MaxInt})
	against(t, []uint64{0, 3, math.MaxUint64}, []float64{-1e300, -1, 0, 0.5, 1e300})
}

func against[K, V structures.Number](t *testing.T, keys []K, values []V) {
	rapid.Check(t, func(rt *rapid.T) {
		tree, table, want := host.NewTree[K, V](), host.NewMap[K, V](), map[K]V{}
		for range rapid.IntRange(1, 6).Draw(rt, "batches") {
			kind := rapid.SampledFrom([]structures.Kind{structures.Insert, structures.InsertUnique,
				structures.InsertAdd, structures.InsertMin, structures.InsertMax, structures.Delete}).Draw(rt, "kind")
			ks := rapid.SliceOfN(rapid.SampledFrom(keys), 0, 12).Draw(rt, "keys")
			vs := rapid.SliceOfN(rapid.SampledFrom(values), len(ks), len(ks)).Draw(rt, "values")
			status := statuses(want, kind, ks, vs)
			for _, d := range []dictionary[K, V]{tree, table} {
				got := make([]structures.Status, len(ks))
				require.NoError(t, d.UpdateInto(t.Context(), kind, ks, vs, got))
				require.Equal(t, status, got, "%v of %v", kind, ks)
				found, there, err := d.Find(t.Context(), keys)
				require.NoError(t, err)
				for i, k := range keys {
					v, ok := want[k]
					require.Equal(t, ok, there[i], "%v", k)
					require.Equal(t, v, found[i], "%v", k)
					one, ok, err := d.Get(t.Context(), k)
					require.NoError(t, err)
					require.Equal(t, there[i], ok)
					require.Equal(t, v, one)
				}
			}
			ordered(t, tree, want, keys)
		}
	})
}

// statuses does a batch on a Go map.
func statuses[K, V structures.Number](m map[K]V, kind structures.Kind, keys []K, values []V) []structures.Status {
	all := make([]structures.Status, len(keys))
	for i, k := range keys {
		old, there := m[k]
		switch {
		case kind == structures.Delete && there:
			all[i] = structures.Deleted
			delete(m, k)
			continue
		case kind == structures.Delete:
			all[i] = structures.Absent
			continue
		case !there:
			all[i], m[k] = structures.Inserted, values[i]
			continue
		case kind == structures.InsertUnique:
			all[i] = structures.Found
			continue
		}
		all[i] = structures.Assigned
		switch kind {
		case structures.Insert:
			m[k] = values[i]
		case structures.InsertAdd:
			m[k] = old + values[i]
		case structures.InsertMin:
			m[k] = min(old, values[i])
		case structures.InsertMax:
			m[k] = max(old, values[i])
		}
	}
	return all
}

// ordered compares all ordered queries with a sorted slice.
func ordered[K, V structures.Number](t *testing.T, tree *host.Tree[K, V], want map[K]V, keys []K) {
	ctx, all := t.Context(), slices.Sorted(maps.Keys(want))
	ranks, err := tree.Rank(ctx, keys)
	require.NoError(t, err)
	var ranges []structures.Range[K]
	for i, lo := range keys {
		at, there := slices.BinarySearch(all, lo)
		require.EqualValues(t, at, ranks[i])
		for _, hi := range keys {
			ranges = append(ranges, structures.Range[K]{Lo: lo, Hi: hi})
		}
		above := at
		if there {
			above++
		}
		for to, place := range map[structures.Direction]int{structures.Ceil: at, structures.Successor: above,
			structures.Floor: above - 1, structures.Predecessor: at - 1} {
			n, err := tree.Neighbor(ctx, to, keys[i:i+1])
			require.NoError(t, err)
			found := place >= 0 && place < len(all)
			require.Equal(t, found, n.Found[0], "%v of %v in %v", to, lo, all)
			if found {
				require.Equal(t, []K{all[place]}, n.Keys)
				require.Equal(t, []V{want[all[place]]}, n.Values)
			}
		}
	}
	counts, err := tree.Count(ctx, ranges)
	require.NoError(t, err)
	listed, err := tree.Range(ctx, ranges)
	require.NoError(t, err)
	for i, r := range ranges {
		in := slices.DeleteFunc(slices.Clone(all), func(k K) bool { return cmp.Less(k, r.Lo) || cmp.Less(r.Hi, k) })
		require.EqualValues(t, len(in), counts[i])
		require.Equal(t, append([]K{}, in...), append([]K{}, listed.Keys[listed.Offsets[i]:listed.Offsets[i+1]]...))
		var up, down []K
		for p, err := range tree.Ascend(ctx, r) {
			require.NoError(t, err)
			require.Equal(t, want[p.Key], p.Value)
			up = append(up, p.Key)
		}
		for p, err := range tree.Descend(ctx, r) {
			require.NoError(t, err)
			down = append(down, p.Key)
		}
		slices.Reverse(down)
		require.ElementsMatch(t, in, up)
		require.Equal(t, up, down)
	}
	selected, err := tree.Select(ctx, []uint32{0, uint32(len(all)), math.MaxUint32})
	require.NoError(t, err)
	require.Equal(t, []bool{len(all) > 0, false, false}, selected.Found)
}

// What one of them saves the other loads, with wider types, and a damaged file is refused.
func TestSaved(t *testing.T) {
	ctx, tree := t.Context(), host.NewTree[int32, float32]()
	var keys []int32
	for i := range int32(5000) {
		keys = append(keys, i*7-9000)
	}
	values := make([]float32, len(keys))
	for i, k := range keys {
		values[i] = float32(k) / 4
	}
	_, err := tree.Insert(ctx, keys, values)
	require.NoError(t, err)
	var file bytes.Buffer
	n, err := tree.Save(ctx, &file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	table, err := host.LoadMap[int64, float64](ctx, bytes.NewReader(file.Bytes()))
	require.NoError(t, err)
	pairs := 0
	for p, err := range table.All(ctx) {
		require.NoError(t, err)
		require.Equal(t, float64(p.Key)/4, p.Value)
		pairs++
	}
	require.Equal(t, len(keys), pairs)
	file.Bytes()[file.Len()/2] ^= 1
	_, err = host.LoadTree[int32, float32](ctx, &file)
	var damaged *structures.SavedError
	require.ErrorAs(t, err, &damaged)
}

// Errors are those of the structures in GPU memory.
func TestErrors(t *testing.T) {
	ctx := t.Context()
	tree, table := host.NewTree[uint32, uint32](), host.NewMap[uint32, uint32]()
	for _, d := range []dictionary[uint32, uint32]{tree, table} {
		require.NoError(t, d.Put(ctx, 9, 1))
		require.NoError(t, d.Put(ctx, 9, 2))
		nine, there, err := d.Get(ctx, 9)
		require.NoError(t, err)
		require.True(t, there)
		require.EqualValues(t, 2, nine)
		require.NoError(t, d.Clear(ctx))
		_, err = d.Insert(ctx, []uint32{1, 2}, []uint32{3})
		require.Equal(t, &structures.LengthError{Keys: 2, Other: "values", Got: 1}, err)
		require.Equal(t, &structures.KindError{Kind: structures.InsertDuplicate},
			d.UpdateInto(ctx, structures.InsertDuplicate, []uint32{1}, []uint32{1}, nil))
		ended, cancel := context.WithCancel(ctx)
		cancel()
		status, err := d.Insert(ended, []uint32{1, 2}, []uint32{1, 2})
		require.Equal(t, &structures.PendingError{Operations: 2, Err: context.Canceled}, err)
		require.Equal(t, []structures.Status{structures.Pending, structures.Pending}, status)
		require.Equal(t, &structures.PendingError{Operations: 1, Err: context.Canceled}, d.Put(ended, 1, 1))
		result, err := d.Apply(ended, structures.Batch[uint32, uint32]{Kinds: []structures.Kind{structures.Insert},
			Keys: []uint32{1}, Values: []uint32{1}})
		require.Equal(t, &structures.PendingError{Operations: 1, Err: context.Canceled}, err)
		require.Equal(t, []structures.Status{structures.Pending}, result.Status)
		n, err := d.Len(ctx)
		require.NoError(t, err)
		require.Zero(t, n)
	}
	many := make([]uint32, 5000)
	for i := range many {
		many[i] = uint32(i)
	}
	_, err := tree.Insert(ctx, many, many)
	require.NoError(t, err)
	_, err = table.Insert(ctx, many, many)
	require.NoError(t, err)
	for _, all := range []func(yield func(structures.Pair[uint32, uint32], error) bool){tree.All(ctx), table.All(ctx)} {
		var last error
		for p, err := range all {
			if last = err; err == nil && p.Key%1000 == 1 {
				_, err := tree.Delete(ctx, []uint32{p.Key})
				require.NoError(t, err)
				_, err = table.Delete(ctx, []uint32{p.Key})
				require.NoError(t, err)
			}
		}
		require.ErrorIs(t, last, structures.ErrChanged)
	}
	for _, d := range []dictionary[uint32, uint32]{tree, table} {
		require.NoError(t, d.Close())
		_, _, err = d.Find(ctx, many)
		require.ErrorIs(t, err, vk.ErrClosed)
		require.ErrorIs(t, d.Clear(ctx), vk.ErrClosed)
	}
	_, err = (*host.Tree[uint32, uint32])(nil).Len(ctx)
	require.ErrorIs(t, err, vk.ErrNotOpen)
	_, err = new(host.Map[uint32, uint32]).Insert(ctx, many, many)
	require.ErrorIs(t, err, vk.ErrNotOpen)
}

// Reserve changes no answer, whatever the map has.
func TestReserve(t *testing.T) {
	m := host.NewMap[int64, float32]()
	_, err := m.Insert(t.Context(), []int64{-7, 8}, []float32{1, 2})
	require.NoError(t, err)
	for _, n := range []int{-1, 0, 1, 100_000} {
		require.NoError(t, m.Reserve(t.Context(), n))
		values, found, err := m.Find(t.Context(), []int64{8, -7, 9})
		require.NoError(t, err)
		require.Equal(t, []float32{2, 1, 0}, values)
		require.Equal(t, []bool{true, true, false}, found)
	}
	_, err = m.Insert(t.Context(), []int64{9}, []float32{3})
	require.NoError(t, err)
	n, err := m.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, m.Reserve(ended, 1), context.Canceled)
	require.NoError(t, m.Close())
	require.ErrorIs(t, m.Reserve(t.Context(), 1), vk.ErrClosed)
	var none host.Map[int64, float32]
	require.ErrorIs(t, none.Reserve(t.Context(), 1), vk.ErrNotOpen)
}
