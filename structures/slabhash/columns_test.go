package slabhash_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// Keys and values that aren't words are encoded on their way to the device, and decoded on their way back: calls on the
// caller's slices make no others of these.
func TestNoSecondSlices(t *testing.T) {
	pass.OneDriver(t, "memory of the host is the same on each")
	t.Run("signed", makesNoSlices[int64, int64])
	t.Run("float", makesNoSlices[float32, float32])
	t.Run("of two widths", makesNoSlices[int64, float32])
}

func makesNoSlices[K, V structures.Number](t *testing.T) {
	const n = 1 << 18
	ctx := t.Context()
	m, err := New[K, V](ctx, testdevice.Open(t), Options{Capacity: n})
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	keys, values, found := make([]K, n), make([]V, n), make([]bool, n)
	kinds, status := make([]structures.Kind, n), make([]structures.Status, n)
	for i := range keys {
		keys[i], values[i], kinds[i] = K(i)-n/2, V(i), structures.Find+structures.Kind(i%2)
	}
	for name, call := range map[string]func() error{
		"insert": func() error { return m.UpdateInto(ctx, structures.Insert, keys, values, status) },
		"find":   func() error { return m.FindInto(ctx, keys, values, found) },
		"apply": func() error {
			_, err := m.Apply(ctx, structures.Batch[K, V]{Kinds: kinds, Keys: keys})
			return err
		},
		"delete": func() error { return m.UpdateInto(ctx, structures.DeleteAll, keys, values, nil) },
	} {
		require.NoError(t, call(), name) // which makes kernels and buffers
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, call(), name)
		runtime.ReadMemStats(&after)
		most := uint64(4 * n) // the smallest such slice
		if name == "apply" {
			most += uint64(n * (1 + structures.WidthOf[V]().Bytes())) // its results
		}
		require.Less(t, after.TotalAlloc-before.TotalAlloc, most, name)
	}
}
