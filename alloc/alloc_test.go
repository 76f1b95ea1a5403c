package alloc

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func newPool(t *testing.T, d *vk.Device, o PoolOptions) *SlabPool {
	t.Helper()
	p, err := NewSlabPool(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func newReclaimer(t *testing.T, p *SlabPool) *Reclaimer {
	t.Helper()
	r, err := NewReclaimer(t.Context(), p, ReclaimerOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

func TestCancelledContext(t *testing.T) {
	d := testdevice.Open(t)
	p := newPool(t, d, PoolOptions{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewSlabPool(cancelled, d, PoolOptions{})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, p.Grow(cancelled, 1), context.Canceled)
	require.ErrorIs(t, p.Reset(cancelled), context.Canceled)
	_, err = p.Stats(cancelled)
	require.ErrorIs(t, err, context.Canceled)
	s, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, BlockSlabs, s.Free)
	require.NoError(t, p.Grow(t.Context(), 1))
}

// A handle that was closed, or never opened, returns errors, and a reclaimer can be closed after its pool.
func TestClosed(t *testing.T) {
	d := testdevice.Open(t)
	closed := newPool(t, d, PoolOptions{})
	_, err := closed.Stats(t.Context()) // so that its kernel is made, too
	require.NoError(t, err)
	reclaimer := newReclaimer(t, closed)
	require.NoError(t, closed.Close())
	require.NoError(t, closed.Close())
	for p, want := range map[*SlabPool]error{closed: vk.ErrClosed, nil: vk.ErrNotOpen, {}: vk.ErrNotOpen} {
		require.Zero(t, p.Description())
		require.Zero(t, p.Bytes())
		require.Zero(t, p.Growths())
		require.False(t, p.Light())
		require.NotNil(t, p.Uses())
		require.Equal(t, p == closed, p.Constants() != nil)
		_, err := p.Stats(t.Context())
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, p.Grow(t.Context(), 1), want)
		require.ErrorIs(t, p.Reset(t.Context()), want)
		_, err = NewReclaimer(t.Context(), p, ReclaimerOptions{})
		require.ErrorIs(t, err, want)
		if p != closed {
			require.ErrorIs(t, p.Close(), want)
		}
	}
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	nothing := func(PoolDescription, ReclaimerDescription) error { return nil }
	require.ErrorIs(t, reclaimer.On(s, nothing), vk.ErrClosed)
	require.NoError(t, reclaimer.Close())
	require.NoError(t, reclaimer.Close())
	for _, r := range []*Reclaimer{nil, {}} {
		require.ErrorIs(t, r.On(s, nothing), vk.ErrNotOpen)
		_, err := r.Stats(t.Context())
		require.ErrorIs(t, err, vk.ErrNotOpen)
		require.ErrorIs(t, r.Close(), vk.ErrNotOpen)
	}
}

// The function that On calls may call pool and reclaimer. The memory that it was told of stays as it is, even if it
// submits work, panics, or closes both.
func TestOnCallsItsPool(t *testing.T) {
	d := testdevice.Open(t)
	p := newPool(t, d, PoolOptions{})
	r := newReclaimer(t, p)
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	table, used := uint64(0), func() uint64 { n, _ := d.Memory(); return n }
	require.NoError(t, r.On(s, func(of PoolDescription, _ ReclaimerDescription) error {
		table = of.Table
		for range 2 {
			require.ErrorIs(t, p.Grow(t.Context(), 1), vk.ErrUnsubmitted)
			_, err := r.Stats(t.Context())
			require.ErrorIs(t, err, vk.ErrUnsubmitted)
			stats, err := p.Stats(t.Context())
			require.NoError(t, err)
			require.Equal(t, BlockSlabs, stats.Free)
			_, err = s.Submit()
			require.NoError(t, err)
		}
		return r.On(s, func(of PoolDescription, _ ReclaimerDescription) error {
			require.Equal(t, table, of.Table)
			return nil
		})
	}))
	require.ErrorIs(t, p.Grow(t.Context(), 1), vk.ErrUnsubmitted)
	require.NoError(t, s.Wait(t.Context()))
	require.NoError(t, p.Grow(t.Context(), 1))

	require.PanicsWithValue(t, "by the user", func() {
		_ = r.On(s, func(PoolDescription, ReclaimerDescription) error { panic("by the user") })
	})
	s.Discard()
	require.NoError(t, p.Grow(t.Context(), 1))

	before := used()
	require.NoError(t, r.On(s, func(PoolDescription, ReclaimerDescription) error {
		require.NoError(t, r.Close())
		require.NoError(t, p.Close())
		require.Equal(t, before, used(), "the launch uses it")
		return nil
	}))
	require.Equal(t, before, used(), "the launch uses it")
	require.NoError(t, s.Wait(t.Context()))
	require.Less(t, used(), before)
}
