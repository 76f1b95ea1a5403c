package slabhash_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// TestMain sets on how many sequences a property is tested.
func TestMain(m *testing.M) {
	pass.Tests{InAll: "8 16 swiftshader validated", Why: "SwiftShader has 4 lanes"}.Begin()
	stress.Main(m, 8, 40, 10)
}

// without64 is a device's options that leave the 64-bit protocol off.
var without64 = vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}

// eachProtocol runs a test with 64-bit atomics, where the device has them, and without, unless other runs have that.
func eachProtocol(t *testing.T, test func(t *testing.T, d *vk.Device)) {
	t.Run("a64", func(t *testing.T) {
		d := testdevice.Open(t)
		if !d.Has(vk.Int64Atomics) {
			t.Skipf("%s has no 64-bit atomics", d.Info().Name)
		}
		test(t, d)
	})
	t.Run("a32", func(t *testing.T) {
		if testdevice.OneProtocol(testdevice.Open(t)) {
			t.Skip("other runs have this protocol")
		}
		test(t, testdevice.Open(t, without64))
	})
}

// eachWidth runs a test with the narrowest and the widest tiles of the device. Short runs have only the widest, because
// SwiftShader compiles kernels for long and lavapipe has the others.
func eachWidth(t *testing.T, d *vk.Device, test func(t *testing.T, width int)) {
	widths := []int{1, min(8, d.SubgroupSize())}
	if testing.Short() {
		widths = widths[1:]
	}
	for _, width := range widths {
		t.Run(fmt.Sprintf("tile%d", width), func(t *testing.T) { test(t, width) })
	}
}

// newMap makes a map until the test's end.
func newMap(t testing.TB, d *vk.Device, o Options) *Map[uint32, uint32] {
	t.Helper()
	m, err := New[uint32, uint32](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func newSet(t testing.TB, d *vk.Device, o Options) *Set[uint32] {
	t.Helper()
	s, err := NewSet[uint32](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// same compares long slices, and says only where they differ first.
func same[T comparable](t testing.TB, want, got []T, what string) {
	t.Helper()
	require.Equal(t, len(want), len(got), what)
	for i := range want {
		if want[i] != got[i] {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// all requires that every element of a long slice is the same.
func all[T comparable](t testing.TB, want T, n int, got []T, what string) {
	t.Helper()
	require.Equal(t, n, len(got), what)
	for i := range got {
		if got[i] != want {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want)
		}
	}
}

// requireContents compares what a map holds with a Go map, by its own export and by its memory, and checks its memory.
func requireContents(t testing.TB, d *vk.Device, m *Map[uint32, uint32], want map[uint32]uint32) {
	t.Helper()
	pairs := slabcheck.Check(t, d, slabcheck.Expect{}, m)[0]
	require.Equal(t, len(want), len(pairs), "pairs in memory")
	for _, p := range pairs {
		v, ok := want[uint32(p.Key)]
		if !ok || v != uint32(p.Value) {
			t.Fatalf("key %#x has the value %d in memory, want %d (%v)", p.Key, p.Value, v, ok)
		}
	}
	n, err := m.Len(t.Context())
	require.NoError(t, err)
	require.Equal(t, uint64(len(want)), n)
	keys, values, err := numbers.All(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, len(want), len(keys))
	require.Equal(t, len(want), len(values))
	seen := map[uint32]bool{}
	for i, k := range keys {
		if v, ok := want[k]; !ok || v != values[i] || seen[k] {
			t.Fatalf("exported: key %#x with the value %d, want %d (%v; seen before: %v)", k, values[i], v, ok, seen[k])
		}
		seen[k] = true
	}
}

// groupsOf are the values of each key in list order, as they stand in memory.
func groupsOf[W structures.Word](pairs []slabcheck.Pair) map[W][]W {
	groups := map[W][]W{}
	for _, p := range pairs {
		groups[W(p.Key)] = append(groups[W(p.Key)], W(p.Value))
	}
	return groups
}

// distinct returns n different random keys, among them the awkward ones of the table.
func distinct(rng *rand.Rand, n int, d Description) []uint32 {
	keys := awkward(d)
	seen := map[uint32]bool{}
	for _, k := range keys {
		seen[k] = true
	}
	for len(keys) < n {
		if k := rng.Uint32(); !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	keys = keys[:n]
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// awkward returns the keys that meet the slab list's patterns and the mask around them.
func awkward(d Description) []uint32 {
	var keys []uint32
	for _, k := range []uint32{0, ^uint32(0), d.Mask, ^d.Mask} {
		for _, around := range []uint32{k, k + 1, k - 1} {
			if !slices.Contains(keys, around) {
				keys = append(keys, around)
			}
		}
	}
	return keys
}

func ramp(n int, from, step uint32) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = from + uint32(i)*step
	}
	return s
}

func repeat(n int, v uint32) []uint32 { return ramp(n, v, 0) }

func find(t testing.TB, m *Map[uint32, uint32], keys []uint32) ([]uint32, []bool) {
	t.Helper()
	values, found, err := m.Find(t.Context(), keys)
	require.NoError(t, err)
	return values, found
}

func insert(t testing.TB, m *Map[uint32, uint32], keys, values []uint32) []structures.Status {
	t.Helper()
	status, err := m.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	return status
}

func cancelled(t testing.TB) context.Context {
	c, cancel := context.WithCancel(t.Context())
	cancel()
	return c
}
