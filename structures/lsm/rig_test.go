package lsm_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// newLSM makes an LSM and closes it at the end of the test.
func newLSM(t testing.TB, d *vk.Device, o Options) *LSM[uint32, uint32] {
	t.Helper()
	l, err := New[uint32, uint32](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

func insert(t testing.TB, l *LSM[uint32, uint32], keys, values []uint32) []structures.Status {
	t.Helper()
	status, err := l.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	return status
}

func remove(t testing.TB, l *LSM[uint32, uint32], keys []uint32) []structures.Status {
	t.Helper()
	status, err := l.Delete(t.Context(), keys)
	require.NoError(t, err)
	return status
}

func stats(t testing.TB, l *LSM[uint32, uint32]) Stats {
	t.Helper()
	s, err := l.Inspect().Stats(t.Context())
	require.NoError(t, err)
	return s
}

// requireContents compares all pairs with a Go map.
func requireContents(t testing.TB, l *LSM[uint32, uint32], want map[uint32]uint32) {
	t.Helper()
	n, err := l.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(want), n)
	r, err := l.Range(t.Context(), []u32.Range{u32.AllKeys})
	require.NoError(t, err)
	require.Equal(t, len(want), len(r.Keys))
	require.True(t, slices.IsSorted(r.Keys))
	for i, k := range r.Keys {
		if v, ok := want[k]; !ok || v != r.Values[i] {
			t.Fatalf("key %#x has the value %d, want %d (%v)", k, r.Values[i], v, ok)
		}
	}
}

// batch returns n random pairs whose keys are below a bound, and applies them to a Go map.
func batch(rng *rand.Rand, n int, below uint32, want map[uint32]uint32) (keys, values []uint32) {
	keys, values = make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i], values[i] = rng.Uint32N(below), rng.Uint32()
		if values[i]%5 == 0 {
			values[i] = ^uint32(0)
		}
		want[keys[i]] = values[i]
	}
	return keys, values
}

func ramp(n int, from, step uint32) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = from + uint32(i)*step
	}
	return s
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }

func cancelled(t testing.TB) context.Context {
	c, cancel := context.WithCancel(t.Context())
	cancel()
	return c
}

func open(t testing.TB) *vk.Device { return testdevice.Open(t) }
