package host

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
)

// A batch that all cores work through leaves what it leaves operation by operation: the same statuses, and the same
// pairs, so that operations on one key are in their order.
func TestLargeBatches(t *testing.T) {
	pass.OneWidth(t, "no device has a part in it")
	ctx := t.Context()
	for _, distinct := range []int64{1, 300, 1 << 40} {
		for _, n := range []int{often + 1, 3*often + 7, piece + often + 1} {
			if n > piece && distinct != 300 {
				continue // as long as all others together
			}
			whole, parts := NewMap[int64, int32](), NewMap[int64, int32]()
			for _, kind := range []structures.Kind{structures.InsertUnique, structures.InsertAdd, structures.Delete,
				structures.InsertMax, structures.Insert, structures.InsertMin, structures.InsertAdd} {
				keys, values := make([]int64, n), make([]int32, n)
				for i := range keys {
					keys[i], values[i] = rand.Int64N(distinct)-distinct/2, rand.Int32()-rand.Int32()
				}
				if kind == structures.Delete {
					keys, values = keys[:2*n/3], nil
				}
				at, expected := make([]structures.Status, len(keys)), make([]structures.Status, len(keys))
				require.NoError(t, whole.UpdateInto(ctx, kind, keys, values, at))
				for i := 0; i < len(keys); i += often {
					end := min(i+often, len(keys))
					var some []int32
					if values != nil {
						some = values[i:end]
					}
					require.NoError(t, parts.UpdateInto(ctx, kind, keys[i:end], some, expected[i:end]))
				}
				require.Equal(t, expected, at, "%v of %d", kind, n)
				require.True(t, maps.Equal(pairsOf(t, parts), pairsOf(t, whole)), "%v of %d", kind, n)
				values, found, err := whole.Find(ctx, keys)
				require.NoError(t, err)
				all := pairsOf(t, parts)
				for i, key := range keys {
					value, there := all[key]
					if there != found[i] || value != values[i] {
						require.Fail(t, "found otherwise", "key %d: %d, %t, expected %d, %t", key, values[i],
							found[i], value, there)
					}
				}
			}
		}
	}
}

// A map that has lost most of its pairs has lost most of its memory, and has the other pairs still.
func TestShrinks(t *testing.T) {
	pass.OneWidth(t, "no device has a part in it")
	ctx := t.Context()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const n, left = 1 << 19, 1 << 12
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = rand.Uint64()
	}
	m := NewMap[uint64, uint64]()
	before := heap()
	require.NoError(t, m.UpdateInto(ctx, structures.Insert, keys, keys, nil))
	full := heap() - before
	require.Greater(t, full, uint64(16*n))
	for some := range slices.Chunk(keys[left:], often/2) {
		require.NoError(t, m.UpdateInto(ctx, structures.Delete, some, nil, nil))
	}
	require.Less(t, int64(heap()-before), int64(full/8))
	size, err := m.Len(ctx)
	require.NoError(t, err)
	require.EqualValues(t, left, size)
	values, _, err := m.Find(ctx, keys[:left])
	require.NoError(t, err)
	require.Equal(t, keys[:left], values)
}

func pairsOf(t *testing.T, m *Map[int64, int32]) map[int64]int32 {
	all := map[int64]int32{}
	for c, err := range m.Chunks(t.Context()) {
		require.NoError(t, err)
		for i, key := range c.Keys {
			all[key] = c.Values[i]
		}
	}
	return all
}

// endsAfter is a context that ends when it has been asked so many times whether it has.
type endsAfter struct {
	context.Context
	left atomic.Int64
}

var errEnded = errors.New("ended")

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return errEnded
	}
	return nil
}

// A context that ends leaves operations pending, and says how many: those that have no status.
func TestLargeBatchEnds(t *testing.T) {
	pass.OneWidth(t, "no device has a part in it")
	keys, values := make([]uint32, piece+10*often), make([]uint32, piece+10*often)
	for i := range keys {
		keys[i] = rand.Uint32()
	}
	for _, after := range []int64{1, 2, 100, parts + 20, 2*parts + 40} {
		m := NewMap[uint32, uint32]()
		ctx := &endsAfter{Context: t.Context()}
		ctx.left.Store(after)
		status := make([]structures.Status, len(keys))
		err := m.UpdateInto(ctx, structures.InsertUnique, keys, values, status)
		inserted, pending := uint64(0), 0
		for _, s := range status {
			switch s {
			case structures.Inserted:
				inserted++
			case structures.Pending:
				pending++
			}
		}
		if pending == 0 {
			require.NoError(t, err, "after %d", after)
		} else {
			var p *structures.PendingError
			require.ErrorAs(t, err, &p, "after %d", after)
			require.Equal(t, pending, p.Operations, "after %d", after)
		}
		have, err := m.Len(t.Context())
		require.NoError(t, err)
		require.Equal(t, inserted, have, "after %d", after)
		if after < parts {
			require.Positive(t, pending)
		}
	}
}
