package goroutines

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

func upTo(n int) (keys []uint32) {
	for i := range uint32(n) {
		keys = append(keys, i)
	}
	return keys
}

// Metrics count what was asked for, with slices and on streams; and the memory that is there, which more pairs need
// more of.
func TestMetrics(t *testing.T) {
	eachSubject(t, func(t *testing.T, d *vk.Device, x u32.Dictionary) {
		first := onstream.Of(x).Metrics()
		require.Equal(t, structures.Metrics{Bytes: first.Bytes, Kernels: first.Kernels}, first)
		require.NotZero(t, first.Bytes)
		keys := upTo(200_000)
		_, err := x.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		_, err = x.Delete(t.Context(), keys[:70])
		require.NoError(t, err)
		_, _, err = x.Find(t.Context(), keys[:50])
		require.NoError(t, err)
		m := onstream.Of(x).Metrics()
		require.Equal(t, structures.Calls{Batches: 2, Operations: 200_070}, m.Updates)
		require.Equal(t, structures.Calls{Batches: 1, Operations: 50}, m.Queries)
		require.Positive(t, m.Growths)
		require.Greater(t, m.Bytes, first.Bytes)
		require.Greater(t, m.Kernels, uint64(0))

		s := testdevice.Stream(t, d)
		on := onstream.Of(x)
		b := testdevice.Upload(t, d, keys)
		found := testdevice.Room[uint8](t, d, 100)
		status, left := testdevice.Room[uint8](t, d, 100), testdevice.Upload(t, d, []uint32{0})
		values := b
		if _, ok := x.(set[uint32]); ok {
			values = nil
		}
		require.NoError(t, on.On(s).Find(structures.DeviceLookups{Count: 100, Keys: b, Values: values, Found: found}))
		require.NoError(t, on.On(s).Update(t.Context(), structures.Delete,
			structures.DeviceBatch{Count: 60, Keys: b, Status: status, Left: left}))
		require.NoError(t, s.Wait(t.Context()))
		if o, ok := x.(u32.Ordered); ok {
			_, err := o.Count(t.Context(), []u32.Range{u32.AllKeys})
			require.NoError(t, err)
			_, err = o.Neighbor(t.Context(), structures.Floor, keys[:6])
			require.NoError(t, err)
			after := onstream.Of(x).Metrics()
			require.Equal(t, structures.Calls{Batches: 4, Operations: 157}, after.Queries)
		}
		after := onstream.Of(x).Metrics()
		require.Equal(t, structures.Calls{Batches: 3, Operations: 200_130}, after.Updates)
		require.Equal(t, m.Growths, after.Growths)
		require.NoError(t, x.Close())
		after.Bytes, after.Kernels = 0, onstream.Of(x).Metrics().Kernels
		require.Equal(t, after, onstream.Of(x).Metrics(), "only the memory goes")
	})
}

// They are told at any time: while others work, and by a function that the structure itself has called.
func TestMetricsNeverWait(t *testing.T) {
	var x u32.Dictionary
	d := testdevice.Open(t)
	for _, s := range subjects[uint32]() {
		calls := 0
		var err error
		x, err = s.make(t.Context(), d, func(int, int) { onstream.Of(x).Metrics(); calls++ })
		require.NoError(t, err)
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(t.Context())
		wg.Go(func() {
			for before := onstream.Of(x).Metrics(); ctx.Err() == nil; {
				m := onstream.Of(x).Metrics()
				if m.Updates.Operations < before.Updates.Operations || m.Growths < before.Growths || m.Bytes == 0 {
					t.Errorf("%s: %+v after %+v", s.name, m, before)
					return
				}
				before = m
			}
		})
		keys := upTo(50_000)
		for range 5 {
			_, err = x.Insert(t.Context(), keys, keys)
			require.NoError(t, err)
		}
		_, err = x.Save(t.Context(), writer(func(p []byte) (int, error) {
			onstream.Of(x).Metrics()
			calls++
			return len(p), nil
		}))
		require.NoError(t, err)
		cancel()
		wg.Wait()
		require.Greater(t, calls, 5, s.name)
		require.NoError(t, x.Close())
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// Rebuilds count, and the log has them.
func TestRebuildsAreLogged(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	d := testdevice.Open(t, vk.Options{Logger: logger})
	keys := upTo(5000)
	hears := func(x u32.Dictionary, err error, rebuilt uint64, messages ...string) {
		t.Helper()
		require.NoError(t, err)
		require.Equal(t, rebuilt, onstream.Of(x).Metrics().Rebuilds)
		for _, message := range messages {
			require.Contains(t, log.String(), `msg="`+message+`"`)
		}
		log.Reset()
		require.NoError(t, x.Close())
	}
	m, err := slabhash.Build(t.Context(), d, keys, keys, slabhash.Options{})
	require.NoError(t, err)
	require.NoError(t, m.Flush(t.Context()))
	require.Contains(t, log.String(), "msg=flushed")
	hears(m, m.Rehash(t.Context(), 1000), 1)
	tree, err := btree.Build(t.Context(), d, keys, keys, btree.Options{})
	require.NoError(t, err)
	err = tree.Compact(t.Context(), 1)
	require.Contains(t, log.String(), "msg=compacted")
	hears(tree, err, 1)
	l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 64})
	require.NoError(t, err)
	_, err = l.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	hears(l, l.Cleanup(t.Context()), 1, "runs grown", "cleaned up")
	a, err := sortedarray.New[uint32, uint32](t.Context(), d, sortedarray.Options{})
	require.NoError(t, err)
	_, err = a.Insert(t.Context(), keys, keys)
	hears(a, err, 0, "runs grown")
}

// What was reserved needs no growth.
func TestReservedDoesntGrow(t *testing.T) {
	var log bytes.Buffer
	d := testdevice.Open(t, vk.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, s := range subjects[uint32]() {
		x, err := s.make(t.Context(), d, nil)
		require.NoError(t, err)
		log.Reset()
		r, ok := x.(interface {
			Reserve(ctx context.Context, n int) error
		})
		if !ok {
			require.NoError(t, x.Close())
			continue
		}
		require.NoError(t, r.Reserve(t.Context(), 300_000))
		before := onstream.Of(x).Metrics()
		keys := upTo(300_000)
		for at := 0; at < len(keys); at += 50_000 {
			_, err := x.Insert(t.Context(), keys[at:at+50_000], keys[at:at+50_000])
			require.NoError(t, err)
		}
		after := onstream.Of(x).Metrics()
		require.Equal(t, [2]uint64{before.Growths, before.Bytes}, [2]uint64{after.Growths, after.Bytes}, "%s: %s",
			s.name, &log)
		require.NoError(t, r.Reserve(t.Context(), 10))
		require.Equal(t, after.Growths, onstream.Of(x).Metrics().Growths, s.name)
		require.NoError(t, x.Close())
	}
}
