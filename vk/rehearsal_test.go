package vk

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A rehearsal records nothing, even with wrong arguments, and otherwise acts like other streams.
func TestRehearsal(t *testing.T) {
	d := openFor(t, Options{})
	type mark struct{}
	s, err := d.NewRehearsal(context.WithValue(t.Context(), mark{}, 7))
	require.NoError(t, err)
	require.Equal(t, 7, s.Rehearsal().Value(mark{}))
	other := stream(t, d)
	require.Nil(t, other.Rehearsal())

	b := buffer[uint32](t, d, 4)
	other.Fill(b, 0, 16, 1)
	p, err := other.Submit()
	require.NoError(t, err)
	done := 0
	require.NoError(t, s.Whole(func() error {
		s.After(p)
		s.Fill(b, 0, 16, 2)
		s.Fill(b, 1<<20, 4, 2) // beyond the end of b
		s.Copy((*Buffer[uint32])(nil), 0, b, 0, 16)
		k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
		k.Dispatch(s, 1<<30, scale{})
		k.DispatchIndirect(s, (*Buffer[uint32])(nil), 0, scale{})
		require.Zero(t, NewArguments(s, [4]uint32{}).address)
		s.Timed("nothing", func() { done++ })
		s.Concurrent(func() { done++ })
		return nil
	}))
	s.OnSubmit(func(_ Point, submitted bool) { require.True(t, submitted); done++ })
	s.Finally(func() { done++ })
	require.Equal(t, 4, done)
	require.NoError(t, s.Wait(t.Context()))
	require.NoError(t, other.Wait(t.Context()))
	require.Empty(t, s.Timings())
	require.Equal(t, []uint32{1, 1, 1, 1}, download(t, b))
	require.ErrorIs(t, s.Whole(func() error { return errStage }), errStage)
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Wait(t.Context()), ErrClosed)
}
