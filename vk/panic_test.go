package vk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// If a function of the user panics, the functions of others are still called, none is called twice, and neither the
// stream nor the Device stays locked.
func TestPanickingFunctionsOfStreams(t *testing.T) {
	ctx := t.Context()
	d := openFor(t, Options{})
	b := buffer[uint32](t, d, 4)
	panics := func() { panic("the user's") }
	for name, call := range map[string]func(s *Stream){
		"Submit":  func(s *Stream) { _, _ = s.Submit() },
		"Wait":    func(s *Stream) { _ = s.Wait(ctx) },
		"Discard": func(s *Stream) { s.Discard() },
		"Timings": func(s *Stream) {
			p, _ := s.Submit()
			_ = p.Wait(ctx)
			s.Timings()
		},
		"Finally": func(s *Stream) {
			p, _ := s.Submit()
			_ = p.Wait(ctx)
			s.Finally(func() {})
		},
		"Close": func(s *Stream) {
			p, _ := s.Submit()
			_ = p.Wait(ctx)
			_ = s.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var uses Uses
			s := stream(t, d)
			var called [4]int
			s.Fill(b, 0, 1, 1)
			uses.On(s)
			uses.Free(func() { called[0]++ })
			uses.Free(panics)
			uses.Free(func() { called[1]++ })
			s.Finally(panics)
			s.Finally(func() { called[2]++ })
			if name != "Timings" && name != "Finally" && name != "Close" { // these submit first, without a panic
				s.OnSubmit(func(Point, bool) { panics() })
			}
			s.OnSubmit(func(Point, bool) { called[3]++ })
			require.Panics(t, func() { call(s) })
			if name == "Submit" || name == "Wait" { // they ended in the OnSubmit functions
				require.Panics(t, func() { _ = s.Wait(ctx) })
			}
			require.NoError(t, s.Wait(ctx))
			s.Fill(b, 1, 1, 2)
			require.NoError(t, s.Wait(ctx))
			require.NoError(t, s.Close())
			require.Equal(t, [4]int{1, 1, 1, 1}, called)
			require.NoError(t, uses.Submitted())
		})
	}
	for name, record := range map[string]func(s *Stream, panics func()){
		"Whole": func(s *Stream, panics func()) {
			_ = s.Whole(func() error { panics(); return nil })
		},
		"Whole in Whole": func(s *Stream, panics func()) {
			_ = s.Whole(func() error { return s.Whole(func() error { panics(); return nil }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := stream(t, d)
			s.Fill(b, 0, 4, 1)
			require.NoError(t, s.Wait(ctx))
			require.Panics(t, func() { record(s, panics) })
			s.Fill(b, 0, 1, 2)
			require.NoError(t, s.Wait(ctx), "nothing was recorded")
			require.Panics(t, func() { record(s, func() { s.Fill(b, 1, 1, 2); panics() }) })
			require.ErrorIs(t, s.Wait(ctx), ErrUnfinished)
			require.Equal(t, []uint32{2, 1, 1, 1}, download(t, b), "some of what is dropped has run")
			require.NoError(t, s.Whole(func() error { s.Fill(b, 2, 1, 2); return nil }))
			require.NoError(t, s.Wait(ctx))
		})
	}
	s := stream(t, d)
	require.Panics(t, func() { s.Concurrent(panics) })
	require.Panics(t, func() { s.Timed("panics", panics) })
	require.NoError(t, s.Wait(ctx))
	closed := make(chan error)
	go func() { closed <- d.Close() }()
	select {
	case err := <-closed:
		require.NoError(t, err)
	case <-time.After(20 * time.Second):
		require.Fail(t, "the Device is locked")
	}
}
