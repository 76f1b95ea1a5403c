package faults

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// reserver is what has room made.
type reserver interface {
	Reserve(ctx context.Context, n int) error
	Close() error
}

func reservers(t *testing.T, d *vk.Device) map[string]reserver {
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	s, err := slabhash.NewSet[uint32](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 1 << 10})
	require.NoError(t, err)
	a, err := sortedarray.New[uint32, uint32](t.Context(), d, sortedarray.Options{})
	require.NoError(t, err)
	all := map[string]reserver{"map": m, "set": s, "lsm": l, "array": a}
	t.Cleanup(func() {
		for _, r := range all {
			require.NoError(t, r.Close())
		}
	})
	return all
}

// Room that can't be had is refused by name, and none is taken.
func TestReserveTooMuch(t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 64 << 20})
	for name, r := range reservers(t, d) {
		for _, n := range []int{16 << 20, 1 << 31, math.MaxInt} {
			before, _ := d.Memory()
			err := r.Reserve(t.Context(), n)
			var capacity *structures.CapacityError
			require.ErrorAs(t, err, &capacity, "%s of %d", name, n)
			require.Equal(t, n, capacity.Asked)
			require.Equal(t, "Capacity", capacity.Option)
			after, _ := d.Memory()
			require.LessOrEqual(t, after, before+4<<20, "%s of %d: but for what counting takes", name, n)
		}
		var option *vk.OptionError
		require.ErrorAs(t, r.Reserve(t.Context(), -1), &option, name)
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, r.Reserve(cancelled, 10), context.Canceled, name)
	}
}

// A hash table that has room for its pairs neither rehashes nor grows its pool for them, at the load that it is laid
// out for, in one bucket's slab or in many; one that has none does.
func TestReservedTable(t *testing.T) {
	const n = 150_000
	for _, o := range []slabhash.Options{{}, {Load: 3}, {Load: 0.2}} {
		for _, reserves := range []bool{false, true} {
			var log bytes.Buffer
			d := testdevice.Open(t, vk.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			m, err := slabhash.New[uint32, uint32](t.Context(), d, o)
			require.NoError(t, err)
			defer m.Close()
			some := keysTo(1000)
			_, err = m.Insert(t.Context(), some, some)
			require.NoError(t, err)
			if reserves {
				require.NoError(t, m.Reserve(t.Context(), n))
				require.Contains(t, log.String(), "rehashed")
			}
			log.Reset()
			require.NoError(t, m.Reserve(t.Context(), 100), "less than there is room for")
			keys := keysTo(n)
			for first := 0; first < n; first += 10_000 {
				_, err := m.Insert(t.Context(), keys[first:first+10_000], keys[first:first+10_000])
				require.NoError(t, err)
			}
			quiet := !bytes.Contains(log.Bytes(), []byte("rehashed")) &&
				!bytes.Contains(log.Bytes(), []byte("pool grown"))
			require.Equal(t, reserves, quiet, "load %g: %s", o.Load, log.String())
			values, _, err := m.Find(t.Context(), keys)
			require.NoError(t, err)
			require.Equal(t, keys, values)
		}
	}
}

func keysTo(n int) (keys []uint32) {
	for i := range uint32(n) {
		keys = append(keys, i*0x9e3779b1)
	}
	return keys
}

// An array that is moved to where there is room is the same array, and takes no more memory while it grows into it.
func TestReservedArray(t *testing.T) {
	d := testdevice.Open(t)
	for _, before := range []int{0, 3000} {
		a, err := sortedarray.New[uint32, uint32](t.Context(), d, sortedarray.Options{})
		require.NoError(t, err)
		defer a.Close()
		keys := keysTo(40_000)
		_, err = a.Insert(t.Context(), keys[:before], keys[:before])
		require.NoError(t, err)
		require.NoError(t, a.Reserve(t.Context(), len(keys)))
		a.Trim()
		require.NoError(t, a.Reserve(t.Context(), len(keys)))
		values, found, err := a.Find(t.Context(), keys)
		require.NoError(t, err)
		for i := range keys {
			require.Equal(t, i < before, found[i])
			require.True(t, !found[i] || values[i] == keys[i])
		}
		s, err := a.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, before, s.Pairs)
		_, err = a.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		values, _, err = a.Find(t.Context(), keys)
		require.NoError(t, err)
		require.Equal(t, keys, values)
	}
}
