// Package ordercheck is for tests: batches with many equal keys, and what a dictionary has to make of them if it does
// their operations one after another.
package ordercheck

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
)

// Batches are the keys of batches of n insertions, by name.
func Batches(rng *rand.Rand, n int) map[string][]uint32 {
	draw := func(key func(i int) uint32) []uint32 {
		keys := make([]uint32, n)
		for i := range keys {
			keys[i] = key(i)
		}
		return keys
	}
	spread := func(i int) uint32 { return uint32(i) * 2654435761 } // all different
	return map[string][]uint32{
		"all equal":      draw(func(int) uint32 { return ^uint32(0) }),
		"far pairs":      draw(func(i int) uint32 { return spread(i % ((n + 1) / 2)) }),
		"near pairs":     draw(func(i int) uint32 { return spread(i / 2) }),
		"one twice":      draw(func(i int) uint32 { return spread(i % (n - 1)) }),
		"few keys":       draw(func(int) uint32 { return rng.Uint32N(7) - 3 }),
		"half of it one": draw(func(i int) uint32 { return spread(i * int(rng.Uint32N(2))) }),
		"skewed": draw(func(int) uint32 {
			return spread(int(float64(n) * rng.Float64() * rng.Float64() * rng.Float64() * rng.Float64()))
		}),
		"different": draw(spread),
	}
}

// Values are those of a batch of n: all different, and of the batch alone.
func Values(n int, batch uint32) []uint32 {
	values := make([]uint32, n)
	for i := range values {
		values[i] = batch<<24 + uint32(i)
	}
	return values
}

// Scattered are values as Values makes them, all over the range of words: their sums overflow, and as signed numbers
// they have another order.
func Scattered(n int, batch uint32) []uint32 {
	values := Values(n, batch)
	for i := range values {
		values[i] *= 2654435761
	}
	return values
}

// After is what an insertion of some kind leaves of a key that is there, and its status.
func After[V structures.Word](kind structures.Kind, old, value V) (V, structures.Status) {
	switch kind {
	case structures.InsertUnique:
		return old, structures.Found
	case structures.InsertAdd:
		value += old
	case structures.InsertMin:
		value = min(old, value)
	case structures.InsertMax:
		value = max(old, value)
	}
	return value, structures.Assigned
}

// Do does a batch of insertions of one kind to a map that holds what a dictionary held before, one after another, but
// for those that are pending, and requires the statuses that they had.
func Do[W structures.Word](t testing.TB, all map[W]W, kind structures.Kind, keys, values []W,
	got []structures.Status) {
	t.Helper()
	require.Equal(t, len(keys), len(got))
	for i, k := range keys {
		if got[i] == structures.Pending {
			continue
		}
		value, want := values[i], structures.Inserted
		if old, there := all[k]; there {
			value, want = After(kind, old, value)
		}
		if got[i] != want {
			for j := range keys {
				if keys[j] == k {
					t.Logf("%d: %v", j, got[j])
				}
			}
			t.Fatalf("%v %d of %d, of key %#x: %v, want %v", kind, i, len(keys), k, got[i], want)
		}
		all[k] = value
	}
}

// Holds requires that a dictionary holds the pairs of a map, as far as some keys and its length show it.
func Holds[W structures.Word](ctx context.Context, t testing.TB, d structures.Dictionary[W, W], all map[W]W,
	keys []W) {
	t.Helper()
	values, found, err := d.Find(ctx, keys)
	require.NoError(t, err)
	for i, k := range keys {
		if v, there := all[k]; found[i] != there || there && values[i] != v {
			t.Fatalf("key %#x has %s, want %s", k, said(values[i], found[i]), said(v, there))
		}
	}
	n, err := d.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, len(all), n)
}

func said[W structures.Word](value W, there bool) string {
	if !there {
		return "no value"
	}
	return fmt.Sprintf("the value %#x", value)
}
