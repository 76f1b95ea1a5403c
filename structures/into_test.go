package structures_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

const (
	chunk = 700 // so that batches have several
	n     = 2500
)

// eachStructure runs a test with each dictionary that implements X, empty, on each of its paths.
func eachStructure[X u32.Dictionary](t *testing.T, test func(t *testing.T, x X)) {
	t.Helper()
	pass.OneWidth(t, "the host handles slices and chunks, and other tests run the kernels at each width")
	pipeline.InChunksOf(chunk)
	t.Cleanup(func() { pipeline.InChunksOf(0) })
	d := testdevice.Open(t)
	tree := func(p btree.Path) func(context.Context, *vk.Device) (u32.Dictionary, error) {
		return func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
			return btree.New[uint32, uint32](ctx, d, btree.Options{Path: p})
		}
	}
	for name, open := range map[string]func(context.Context, *vk.Device) (u32.Dictionary, error){
		"map": func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
			return slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
		},
		"tree, concurrent": tree(btree.Concurrent),
		"tree, batched":    tree(btree.Batched),
		"lsm": func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
			return lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: 256})
		},
		"array": func(ctx context.Context, d *vk.Device) (u32.Dictionary, error) {
			return sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
		},
	} {
		made, err := open(t.Context(), d)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, made.Close()) })
		if x, is := made.(X); is {
			t.Run(name, func(t *testing.T) { test(t, x) })
		}
	}
}

// filled returns a slice whose contents differ from what a call must leave.
func filled[T any](n int, with T) []T { return slices.Repeat([]T{with}, n) }

const stale = structures.Status(77)

// batch is n keys with values, in random order, and a Go map after the same operations.
func batch(seed uint64, below uint32) (keys, values []uint32, all map[uint32]uint32) {
	rng := rand.New(rand.NewPCG(seed, 1))
	all = map[uint32]uint32{}
	for range n {
		k, v := rng.Uint32N(below), rng.Uint32()
		keys, values = append(keys, k), append(values, v)
		all[k] = v
	}
	return keys, values, all
}

// Updates and lookups into the caller's slices have the same results as those that make slices, for each result with
// and without the others.
func TestInto(t *testing.T) {
	eachStructure(t, func(t *testing.T, x u32.Dictionary) {
		keys, values, all := batch(1, 5000)
		status := filled(n, stale)
		require.NoError(t, x.UpdateInto(t.Context(), structures.Insert, keys, values, status))
		seen := map[uint32]bool{}
		for i, k := range keys {
			want := structures.Inserted
			if seen[k] {
				want = structures.Assigned
			}
			seen[k] = true
			require.Equal(t, want, status[i], "operation %d", i)
		}
		holds := func() {
			t.Helper()
			asked := append(slices.Clone(keys), make([]uint32, 5000)...)
			for i := range 5000 {
				asked[n+i] = uint32(i)
			}
			got, found := filled(len(asked), uint32(99)), filled(len(asked), true)
			require.NoError(t, x.FindInto(t.Context(), asked, got, found))
			in, alone := slices.Clone(asked), filled(len(asked), true)
			require.NoError(t, x.FindInto(t.Context(), in, in, nil), "the answers in the place of the keys")
			require.NoError(t, x.FindInto(t.Context(), asked, nil, alone))
			require.NoError(t, x.FindInto(t.Context(), asked, nil, nil))
			require.Equal(t, got, in)
			require.Equal(t, found, alone)
			for i, k := range asked {
				v, there := all[k]
				if got[i] != v || found[i] != there {
					t.Fatalf("key %d: %d, %v instead of %d, %v", k, got[i], found[i], v, there)
				}
			}
		}
		holds()
		others, those, more := batch(2, 5000)
		require.NoError(t, x.UpdateInto(t.Context(), structures.Insert, others, those, nil))
		for k, v := range more {
			all[k] = v
		}
		holds()
		length, err := x.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, len(all), length)
		require.NoError(t, x.UpdateInto(t.Context(), structures.Delete, others[:n/2], nil, nil))
		for _, k := range others[:n/2] {
			delete(all, k)
		}
		holds()
	})
}

// The results of a mixed batch.
func TestApply(t *testing.T) {
	eachStructure(t, func(t *testing.T, x u32.Dictionary) {
		keys, values, all := batch(3, 4000)
		_, err := x.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		// The order of operations does not matter here, because each key comes once.
		b := u32.Batch{}
		var want u32.Results
		for k := range uint32(4000) {
			v, there := all[k]
			kind := []structures.Kind{structures.Find, structures.Insert, structures.CountAll, structures.Delete}[k%4]
			b.Kinds, b.Keys, b.Values = append(b.Kinds, kind), append(b.Keys, k), append(b.Values, k*k)
			status, value := structures.Absent, uint32(0)
			switch {
			case kind == structures.Insert && there:
				status = structures.Assigned
			case kind == structures.Insert:
				status = structures.Inserted
			case kind == structures.Delete && there:
				status = structures.Deleted
			case kind == structures.CountAll && there:
				status, value = structures.Found, 1
			case there:
				status, value = structures.Found, v
			}
			want.Status, want.Values = append(want.Status, status), append(want.Values, value)
		}
		got, err := x.Apply(t.Context(), b)
		require.NoError(t, err)
		require.Equal(t, want.Status, got.Status)
		for i, kind := range b.Kinds {
			if kind == structures.Find || kind == structures.CountAll {
				require.Equal(t, want.Values[i], got.Values[i], "operation %d", i)
			}
		}
	})
}

// One pair at a time.
func TestGetAndPut(t *testing.T) {
	eachStructure(t, func(t *testing.T, x u32.Dictionary) {
		for _, value := range []uint32{70, 71} {
			require.NoError(t, x.Put(t.Context(), 7, value))
			got, found, err := x.Get(t.Context(), 7)
			require.NoError(t, err)
			require.Equal(t, []any{value, true}, []any{got, found})
		}
		got, found, err := x.Get(t.Context(), 8)
		require.NoError(t, err)
		require.Equal(t, []any{uint32(0), false}, []any{got, found})
		require.NoError(t, x.Close())
		require.ErrorIs(t, x.Put(t.Context(), 7, 1), vk.ErrClosed)
		_, _, err = x.Get(t.Context(), 7)
		require.ErrorIs(t, err, vk.ErrClosed)
	})
}

// Ranges into the caller's slices: none, slices that are too short, and long ones.
func TestRangeInto(t *testing.T) {
	eachStructure(t, func(t *testing.T, o u32.Ordered) {
		keys, values, _ := batch(4, 5000)
		_, err := o.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		var ranges []u32.Range
		for i := range uint32(n) {
			ranges = append(ranges, u32.Range{Lo: i, Hi: i + i%40})
		}
		want, err := o.Range(t.Context(), ranges)
		require.NoError(t, err)
		large := u32.Ranges{Offsets: make([]uint64, 9000), Keys: make([]uint32, 90000),
			Values: make([]uint32, 90000)}
		for _, into := range []u32.Ranges{{}, {Keys: make([]uint32, 10)}, large} {
			there := cap(into.Keys)
			require.NoError(t, o.RangeInto(t.Context(), ranges, &into))
			require.Equal(t, want, into)
			if there > len(want.Keys) {
				require.Same(t, &large.Keys[0], &into.Keys[0])
				require.Same(t, &large.Values[0], &into.Values[0])
				require.Same(t, &large.Offsets[0], &into.Offsets[0])
			}
		}
		ranks, err := o.Rank(t.Context(), keys)
		require.NoError(t, err)
		ranks[n/2], ranks[n-1] = 1<<30, ^uint32(0) // no such rank
		pairs, err := o.Select(t.Context(), ranks)
		require.NoError(t, err)
		require.Equal(t, keys[:n/2], pairs.Keys[:n/2])
		require.Equal(t, []bool{true, false}, pairs.Found[n/2-1:n/2+1])
	})
}

// Slices of wrong lengths return an error before anything is done, and so do kinds that are not updates.
func TestIntoRefuses(t *testing.T) {
	eachStructure(t, func(t *testing.T, x u32.Dictionary) {
		ctx, keys := t.Context(), []uint32{1, 2, 3}
		two, status := []uint32{1, 2}, make([]structures.Status, 2)
		refused := map[string]error{
			"values":           x.UpdateInto(ctx, structures.Insert, keys, two, nil),
			"no values":        x.UpdateInto(ctx, structures.Insert, keys, nil, nil),
			"statuses":         x.UpdateInto(ctx, structures.Insert, keys, keys, status),
			"deleted statuses": x.UpdateInto(ctx, structures.Delete, keys, nil, status),
			"found values":     x.FindInto(ctx, keys, two, nil),
			"found":            x.FindInto(ctx, keys, nil, make([]bool, 4)),
		}
		for what, err := range refused {
			var length *structures.LengthError
			require.ErrorAs(t, err, &length, what)
		}
		var kind *structures.KindError
		for _, k := range []structures.Kind{structures.Mixed, structures.Find, structures.CountAll,
			structures.FindRange} {
			require.ErrorAs(t, x.UpdateInto(ctx, k, keys, keys, nil), &kind, fmt.Sprint(k))
		}
		length, err := x.Len(ctx)
		require.NoError(t, err)
		require.Zero(t, length)
	})
}

// If an update stops, the caller's statuses tell which operations are not done, whatever the slice held before. Without
// statuses, the error tells how many.
func TestIntoStopped(t *testing.T) {
	eachStructure(t, func(t *testing.T, x u32.Dictionary) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		keys, values, _ := batch(5, 5000)
		for _, status := range [][]structures.Status{filled(n, stale), nil} {
			var pending *structures.PendingError
			err := x.UpdateInto(over, structures.Insert, keys, values, status)
			require.ErrorAs(t, err, &pending)
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, n, pending.Operations)
			if status != nil {
				require.Equal(t, make([]structures.Status, n), status)
			}
		}
		require.ErrorIs(t, x.FindInto(over, keys, values, nil), context.Canceled)
	})
}
