package btree

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
)

// Numbers that are not words are converted while they are copied: no call makes a second slice of them.
func TestSlicesAreEncodedInPlace(t *testing.T) {
	pass.OneWidth(t, "it is about the host's memory")
	t.Run("int64", encodedInPlace[int64])
	t.Run("float32", encodedInPlace[float32])
}

func encodedInPlace[T structures.Number](t *testing.T) {
	const n = 1 << 17
	ctx, d := t.Context(), testdevice.Open(t)
	keys, status := make([]T, n), make([]structures.Status, n)
	kinds := make([]structures.Kind, n)
	for i := range keys {
		keys[i] = T(i*7919%n) - n/2
		kinds[i] = []structures.Kind{structures.Find, structures.Insert}[i%2]
	}
	tree, err := Build(ctx, d, keys, keys, Options{})
	require.NoError(t, err)
	defer tree.Close()
	batch := structures.Batch[T, T]{Kinds: kinds, Keys: keys, Values: keys}
	var r structures.Results[T, T]
	for _, path := range []Path{Concurrent, Batched} {
		tree.core.o.Path = path
		update := func() error { return tree.UpdateInto(ctx, structures.Insert, keys, keys, status) }
		calls := map[string]func() error{"update": update}
		if path == Concurrent { // the batched path divides a mixed batch
			calls["apply"] = func() (err error) { r, err = tree.Apply(ctx, batch); return err }
		}
		for name, call := range calls {
			require.NoError(t, call()) // may make kernels and staging memory
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			require.NoError(t, call())
			runtime.ReadMemStats(&after)
			most := uint64(n * structures.WidthOf[T]().Bytes())
			if name == "apply" {
				most += most + n // its results
			}
			require.Less(t, after.TotalAlloc-before.TotalAlloc, most, "%s, %v", name, path)
		}
	}
	require.Equal(t, keys[0], r.Values[0])
}
