//go:build cgo && linux

package foreign

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// open returns a program's device, and vkds's view of it.
func open(t *testing.T) (*Device, *vk.Device) {
	own, err := Open(false)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Close()) }) // the program's device outlives ours
	d, err := vk.Adopt(own.Handles(), vk.Options{CacheDir: "none"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return own, d
}

// Both sides work on one buffer in turn, ordered on the device alone: ours, the program's, ours.
func TestAdoptSharesBuffers(t *testing.T) {
	ctx := t.Context()
	own, d := open(t)
	const n = 1 << 20
	for _, n := range []int{n, 7} { // a buffer of its own, and one that shares a VkBuffer
		first, err := vk.NewBuffer[uint32](d, n)
		require.NoError(t, err)
		b, err := vk.NewBuffer[uint32](d, n)
		require.NoError(t, err)
		s, err := d.NewStream()
		require.NoError(t, err)
		require.NoError(t, first.Upload(ctx, 0, make([]uint32, n)))
		s.Fill(b, 0, n, 1)
		ours, err := s.Submit()
		require.NoError(t, err)

		wait, value := ours.Semaphore()
		buffer, at := b.Handle()
		reached := uint64(2 * n)
		require.NoError(t, own.Fill(wait, value, buffer, at+4, 4*uint64(n-1), 2, reached))

		done := d.PointAt(own.Done(), reached)
		s.After(done)
		s.Fill(b, n-1, 1, 3)
		require.NoError(t, s.Wait(ctx))
		require.NoError(t, done.Wait(ctx))
		got := make([]uint32, n)
		require.NoError(t, b.Download(ctx, 0, got))
		want := make([]uint32, n)
		for i := range want {
			want[i] = 2
		}
		want[0], want[n-1] = 1, 3
		require.Equal(t, want, got)
		neighbor := make([]uint32, n)
		require.NoError(t, first.Download(ctx, 0, neighbor))
		require.Equal(t, make([]uint32, n), neighbor, "the program filled another buffer")
		require.NoError(t, s.Close())
		first.Free()
		b.Free()
	}
}

// A structure works on the program's queue while the program submits to it from another goroutine.
func TestAdoptSharesTheQueue(t *testing.T) {
	ctx := t.Context()
	own, d := open(t)
	b, err := vk.NewBuffer[uint32](d, 64)
	require.NoError(t, err)
	s, err := d.NewStream()
	require.NoError(t, err)
	s.Fill(b, 0, 64, 0)
	first, err := s.Submit()
	require.NoError(t, err)

	const times = 200
	var group sync.WaitGroup
	group.Go(func() {
		wait, value := first.Semaphore()
		buffer, at := b.Handle()
		for i := range uint64(times) {
			if err := own.Fill(wait, value, buffer, at, 256, uint32(i+1), i+1); err != nil {
				t.Error(err)
				return
			}
		}
	})
	m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{})
	require.NoError(t, err)
	for i := range uint32(20) {
		_, err := m.Insert(ctx, []uint32{i, i + 100}, []uint32{i, 2 * i})
		require.NoError(t, err)
	}
	group.Wait()
	values, found, err := m.Find(ctx, []uint32{7, 119, 50})
	require.NoError(t, err)
	require.Equal(t, []uint32{7, 38, 0}, values)
	require.Equal(t, []bool{true, true, false}, found)
	require.NoError(t, m.Close())

	require.NoError(t, d.PointAt(own.Done(), times).Wait(ctx))
	got := make([]uint32, 64)
	require.NoError(t, b.Download(ctx, 0, got))
	require.EqualValues(t, times, got[63])
}

// Features that the program did not turn on are not used.
func TestAdoptHasTheProgramsFeaturesAlone(t *testing.T) {
	_, d := open(t)
	for _, f := range []vk.Feature{vk.Int64, vk.Int64Atomics, vk.MemoryBudget, vk.ExecutableStatistics} {
		require.False(t, d.Has(f), f)
	}
	require.Equal(t, 1, d.Info().Queues)
}

func TestAdoptRefuses(t *testing.T) {
	own, _ := open(t)
	for name, spoil := range map[string]func(*vk.Handles){
		"Instance":       func(h *vk.Handles) { h.Instance = 0 },
		"PhysicalDevice": func(h *vk.Handles) { h.PhysicalDevice = h.Device },
		"Device":         func(h *vk.Handles) { h.Device = 0 },
		"Queue":          func(h *vk.Handles) { h.Family = 1000 },
	} {
		h := own.Handles()
		spoil(&h)
		_, err := vk.Adopt(h, vk.Options{})
		var handle *vk.OptionError
		require.ErrorAs(t, err, &handle, name)
		require.Equal(t, "Handles."+name, handle.Option)
	}
	old, err := Open(true)
	require.NoError(t, err)
	defer old.Close()
	_, err = vk.Adopt(old.Handles(), vk.Options{})
	var missing *vk.MissingFeatureError // a device shows no more than its instance's version has
	require.ErrorAs(t, err, &missing)

	for i, f := range vk.RequiredFeatures() {
		h := own.Handles()
		h.Features = append(h.Features[:i:i], h.Features[i+1:]...)
		_, err := vk.Adopt(h, vk.Options{})
		require.ErrorAs(t, err, &missing)
		require.ErrorContains(t, err, string(f))
	}
}

// A Device that closes ends the waits for semaphores that nobody raises, and leaves the program's device alone.
func TestAdoptCloses(t *testing.T) {
	ctx := t.Context()
	own, err := Open(false)
	require.NoError(t, err)
	for range 3 {
		d, err := vk.Adopt(own.Handles(), vk.Options{CacheDir: "none"})
		require.NoError(t, err)
		never := d.PointAt(own.Done(), 1<<40)
		done, err := never.Done()
		require.NoError(t, err)
		require.False(t, done)
		ended := make(chan error)
		go func() { ended <- never.Wait(ctx) }()
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, d.Close())
		require.ErrorIs(t, <-ended, vk.ErrClosed)
		require.ErrorIs(t, never.Wait(context.Background()), vk.ErrClosed)
		require.ErrorIs(t, d.PointAt(own.Done(), 1).Wait(ctx), vk.ErrClosed)
	}
	require.NoError(t, own.Close())
}

// What vkds itself opened can be handed on: both Devices share it.
func TestAdoptWhatVkdsOpened(t *testing.T) {
	ctx := t.Context()
	a, err := vk.Open(vk.Options{})
	require.NoError(t, err)
	b, err := vk.Adopt(a.Handles(), vk.Options{})
	require.NoError(t, err)
	require.ElementsMatch(t, a.Info().Features, b.Info().Features)
	for _, d := range []*vk.Device{a, b} {
		m, err := slabhash.Build(ctx, d, []uint64{1}, []uint64{2}, slabhash.Options{})
		require.NoError(t, err)
		values, _, err := m.Find(ctx, []uint64{1})
		require.NoError(t, err)
		require.Equal(t, []uint64{2}, values)
	}
	require.NoError(t, b.Close())
	require.NoError(t, a.Close())
}
