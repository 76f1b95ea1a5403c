package slabhash_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A table that has reached its limit takes as many other pairs once its own are deleted: all, or some of them. Deleted
// pairs keep their slots until buckets are flushed, which a table that grows by itself then does.
func TestFullTableAfterDeletions(t *testing.T) {
	pass.OneWidth(t, "the host decides when buckets are flushed")
	d := testdevice.Open(t)
	ctx := t.Context()
	const n = 60_000
	keys, others := make([]uint64, n), make([]uint64, n)
	for i := range keys {
		keys[i], others[i] = uint64(i)*0x9e3779b97f4a7c15, uint64(i)*0x9e3779b97f4a7c15+1
	}
	for name, o := range map[string]slabhash.Options{
		"from empty": {MaxBytes: 1 << 20}, "with room": {MaxBytes: 1 << 20, Capacity: 20_000},
		"full": {MaxBytes: 1 << 20, Load: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := slabhash.New[uint64, uint64](ctx, d, o)
			require.NoError(t, err)
			defer func() { require.NoError(t, m.Close()) }()
			insert := func(keys []uint64) int {
				t.Helper()
				status, err := m.Insert(ctx, keys, keys)
				var pending *structures.PendingError
				require.ErrorAs(t, err, &pending)
				require.True(t, errors.Is(err, vk.ErrNoRoom), err)
				done := 0
				for _, s := range status {
					if s == structures.Inserted {
						done++
					}
				}
				require.Equal(t, n-done, pending.Operations)
				return done
			}
			held := func() int {
				t.Helper()
				length, err := m.Len(ctx)
				require.NoError(t, err)
				return int(length)
			}
			first := insert(keys)
			require.Greater(t, first, 5000)
			_, err = m.Delete(ctx, keys)
			require.NoError(t, err)
			require.Zero(t, held())
			again := insert(others)
			require.Equal(t, again, held())
			require.Greater(t, again, first*8/10)
			_, err = m.Delete(ctx, others[:n/2])
			require.NoError(t, err)
			left := held()
			require.Greater(t, left+insert(keys), first*8/10)
		})
	}
}

// A table at its limit takes a batch that its erased slots have room for, though the batch is less than what the table
// may hold by its load.
func TestErasedSlotsAreRoom(t *testing.T) {
	pass.OneWidth(t, "the host decides when buckets are flushed")
	d := testdevice.Open(t)
	ctx := t.Context()
	const n = 60_000
	keys, others := make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i], others[i] = uint32(i)*0x9e3779b1, uint32(i+n)*0x9e3779b1
	}
	for _, c := range []struct {
		load float64
		gone int // of n pairs, and then inserted again
	}{{0.7, n - 2000}, {1, n - 2000}, {1.25, n / 10}} {
		o := slabhash.Options{Load: c.load, Capacity: n}
		m, err := slabhash.Build(ctx, d, keys, keys, o)
		require.NoError(t, err)
		stats, err := m.Inspect().Stats(ctx)
		require.NoError(t, err)
		require.NoError(t, m.Close())
		o.MaxBytes = stats.Bytes + stats.Bytes/20
		m, err = slabhash.Build(ctx, d, keys, keys, o)
		require.NoError(t, err)
		_, err = m.Delete(ctx, keys[:c.gone])
		require.NoError(t, err)
		_, err = m.Insert(ctx, others[:c.gone], others[:c.gone])
		require.NoError(t, err, "load %g", c.load)
		for part := range 200 { // and a few at a time
			k := []uint32{keys[c.gone+part%100], others[part%100]}
			_, err := m.Delete(ctx, k)
			require.NoError(t, err)
			_, err = m.Insert(ctx, k, k)
			require.NoError(t, err, "load %g, after %d", c.load, part)
		}
		length, err := m.Len(ctx)
		require.NoError(t, err)
		require.EqualValues(t, n, length)
		require.NoError(t, m.Close())
	}
}
