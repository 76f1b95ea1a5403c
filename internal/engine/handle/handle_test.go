package handle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// opened returns an open handle over a pool.
func opened(t *testing.T, d *vk.Device, shared *slabs.Pool) *Handle {
	h := new(Handle)
	h.Open("handle", d, nil)
	require.NoError(t, h.Over(t.Context(), shared, slabs.Options{}))
	return h
}

// A handle that was never open, or is closed, lets nothing in and describes nothing.
func TestNotOpen(t *testing.T) {
	d := testdevice.Open(t)
	closed := opened(t, d, nil)
	frees := 0
	free := func(bool) error { frees++; return closed.Free() }
	require.NoError(t, closed.Close(free))
	require.NoError(t, closed.Close(free), "a second time")
	require.Equal(t, 1, frees)
	require.Zero(t, closed.Metrics().Bytes)
	for want, h := range map[error]*Handle{vk.ErrNotOpen: {}, vk.ErrClosed: closed} {
		require.ErrorIs(t, h.EnterQuery(t.Context()), want)
		require.ErrorIs(t, h.EnterAfterChanges(t.Context()), want)
		require.ErrorIs(t, h.EnterAfterAll(t.Context()), want)
		require.ErrorIs(t, h.Prepare(t.Context(), func() recording.Table { t.Error("listed"); return nil }), want)
		require.Zero(t, Describe(h, func() int { t.Error("described"); return 1 }))
		h.UsedOn(testdevice.Stream(t, d))
	}
	require.Equal(t, vk.ErrNotOpen, new(Handle).Close(free))
}

// A call comes after the changes of streams, or after all their work. Work that is not submitted has no place, so that
// the call returns an error and leaves the gate.
func TestEnter(t *testing.T) {
	d := testdevice.Open(t)
	h := opened(t, d, nil)
	defer func() { require.NoError(t, h.Close(func(bool) error { return h.Free() })) }()
	s, b := testdevice.Stream(t, d), testdevice.Room[uint32](t, d, 1)
	record := func() error { s.Fill(b, 0, 1, 1); return nil }
	try := func(query, after, alone error) {
		t.Helper()
		for range 2 { // the second call would wait for ever if the first one had left the gate closed
			require.Equal(t, query, h.EnterQuery(t.Context()))
			if query == nil {
				h.LeaveShared()
			}
			require.Equal(t, after, h.EnterAfterChanges(t.Context()))
			if after == nil {
				h.Leave()
			}
			require.Equal(t, alone, h.EnterAfterAll(t.Context()))
			if alone == nil {
				h.Leave()
			}
		}
	}
	require.NoError(t, h.Using(s, record))
	try(nil, nil, vk.ErrUnsubmitted)
	require.NoError(t, s.Wait(t.Context()))
	try(nil, nil, nil)
	require.NoError(t, h.Changing(s, record))
	try(vk.ErrUnsubmitted, vk.ErrUnsubmitted, vk.ErrUnsubmitted)
	require.NoError(t, s.Wait(t.Context()))
	try(nil, nil, nil)
}

// A handle on a shared pool closes only after the work of streams, and says whether the pool stays open. The pool is
// its owner's.
func TestCloseShared(t *testing.T) {
	d := testdevice.Open(t)
	pool, err := slabs.New(t.Context(), d, slabs.Options{})
	require.NoError(t, err)
	one, other := opened(t, d, pool), opened(t, d, pool)
	s, b := testdevice.Stream(t, d), testdevice.Room[uint32](t, d, 1)
	require.NoError(t, one.Using(s, func() error { s.Fill(b, 0, 1, 1); return nil }))
	var shares []bool
	free := func(h *Handle) func(bool) error {
		return func(open bool) error { shares = append(shares, open); return h.Free() }
	}
	require.Equal(t, vk.ErrUnsubmitted, one.Close(free(one)))
	require.NoError(t, one.Err(), "it stays open")
	require.Empty(t, shares)
	require.NoError(t, s.Wait(t.Context()))
	require.NoError(t, one.Close(free(one)))
	require.NotZero(t, pool.Bytes(), "the pool is open")
	require.NoError(t, pool.Gate().Enter(t.Context()), "nobody is in")
	require.NoError(t, pool.Close())
	pool.Gate().Leave()
	require.ErrorIs(t, other.EnterQuery(t.Context()), vk.ErrClosed)
	require.NoError(t, other.Close(free(other)))
	require.Equal(t, []bool{true, false}, shares)
}
