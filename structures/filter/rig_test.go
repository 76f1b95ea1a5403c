package filter_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/test/bloom"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// newFilter makes a filter until the test's end.
func newFilter[K structures.Number](t testing.TB, d *vk.Device, o Options) *Filter[K] {
	t.Helper()
	f, err := New[K](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// wordsOf are keys as the device has them.
func wordsOf[K structures.Number](keys []K) []uint64 {
	all := make([]uint64, len(keys))
	for i, key := range keys {
		all[i] = structures.KeyCode[K]().Word(key)
	}
	return all
}

// model is what a filter has to hold.
type model[K structures.Number] struct{ bloom.Filter }

// modelOf is an empty model of a filter.
func modelOf[K structures.Number](f *Filter[K]) model[K] {
	return model[K]{bloom.New(Blocks(f).Len() / bloom.BlockWords)}
}

func (m model[K]) insert(keys []K) {
	for _, word := range wordsOf(keys) {
		if structures.WidthOf[K]() == structures.Bits64 {
			bloom.Insert(m.Filter, word)
		} else {
			bloom.Insert(m.Filter, uint32(word))
		}
	}
}

func (m model[K]) contains(keys []K) (found []bool) {
	for _, word := range wordsOf(keys) {
		if structures.WidthOf[K]() == structures.Bits64 {
			found = append(found, bloom.Contains(m.Filter, word))
		} else {
			found = append(found, bloom.Contains(m.Filter, uint32(word)))
		}
	}
	return found
}

// require compares all bits of a filter, and its answers.
func (m model[K]) require(t testing.TB, f *Filter[K], inserted, others []K) {
	t.Helper()
	b := Blocks(f)
	same(t, m.Filter, testdevice.Download(t, b, b.Len()), "words")
	stats, err := f.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, m.BitsSet(), stats.BitsSet)
	for i, found := range contains(t, f, inserted) {
		if !found {
			t.Fatalf("key %d, %v, is not there", i, inserted[i])
		}
	}
	same(t, m.contains(others), contains(t, f, others), "answers")
}

func contains[K structures.Number](t testing.TB, f *Filter[K], keys []K) []bool {
	t.Helper()
	found, err := f.Contains(t.Context(), keys)
	require.NoError(t, err)
	return found
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

// randomKeys returns n keys of any bits.
func randomKeys[K structures.Number](seed uint64, n int) []K {
	rng, keys := rand.New(rand.NewPCG(seed, 5)), make([]K, n)
	mask := ^uint64(0) >> (64 - structures.WidthOf[K]().Bits())
	for i := range keys {
		keys[i] = structures.KeyCode[K]().Of(rng.Uint64() & mask)
	}
	return keys
}
