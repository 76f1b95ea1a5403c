package vk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk/internal/native"
)

var errStage = errors.New("a stage that can't be recorded")

// If Whole fails before its first command, the batch stays as it was. If it fails later, the batch is dropped, even if
// the error is ignored several times. The next batch is not affected.
func TestWhole(t *testing.T) {
	ctx := t.Context()
	d := openFor(t, Options{})
	b := buffer[uint32](t, d, 4)
	s := stream(t, d)
	s.Fill(b, 0, 4, 0)
	require.NoError(t, s.Wait(ctx))

	s.Fill(b, 0, 1, 1)
	require.ErrorIs(t, s.Whole(func() error {
		s.Fail(errStage)
		s.Fill(b, 1, 1, 2) // recording continues
		return nil
	}), errStage)
	require.ErrorIs(t, s.Whole(func() error {
		inner := s.Whole(func() error { return errStage })
		s.Fill(b, 1, 1, 2)
		return inner
	}), errStage)
	s.Fill(b, 2, 1, 3)
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, []uint32{1, 0, 3, 0}, download(t, b))

	s.Fill(b, 0, 1, 7)
	require.ErrorIs(t, s.Whole(func() error {
		s.Fill(b, 1, 1, 7)
		return errStage
	}), errStage)
	s.Fill(b, 2, 1, 7)
	require.ErrorIs(t, s.Whole(func() error { t.Error("recorded into a batch that is dropped"); return nil }), errStage)
	_, err := s.Submit()
	require.ErrorIs(t, err, errStage)
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, []uint32{1, 0, 3, 0}, download(t, b))

	// A command that can't be recorded has the effect of an error, too.
	var out *RangeError
	require.ErrorAs(t, s.Whole(func() error {
		s.Fill(b, 1, 1, 7)
		s.Fill(b, 1<<20, 1, 7)
		return nil
	}), &out)
	require.ErrorAs(t, s.Wait(ctx), &out)

	// Work that was submitted inside Whole is done, so there is nothing to drop.
	require.ErrorIs(t, s.Whole(func() error {
		s.Fill(b, 3, 1, 4)
		if err := s.Wait(ctx); err != nil {
			return err
		}
		return errStage
	}), errStage)
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, []uint32{1, 0, 3, 4}, download(t, b))

	s.Fail(nil)
	s.Fail(errStage)
	s.Fail(ErrClosed)
	require.ErrorIs(t, s.Wait(ctx), errStage)
	require.NoError(t, s.Wait(ctx))
}

// However a batch ends, its functions are called once, in the order in which they were given.
func TestOnSubmit(t *testing.T) {
	ctx := t.Context()
	failing := false
	d := openFor(t, Options{fault: func(call string) native.Result {
		if failing && call == "vkEndCommandBuffer" {
			return native.ErrorOutOfHostMemory
		}
		return native.Success
	}})
	b := buffer[uint32](t, d, 4)
	s := stream(t, d)
	var told []int
	ask := func() {
		for i := 1; i <= 3; i++ {
			s.Fill(b, 0, 1, uint32(i))
			s.OnSubmit(func(p Point, submitted bool) {
				if submitted {
					require.Equal(t, s.last, p.value)
					told = append(told, i)
				} else {
					told = append(told, -i)
				}
			})
		}
		require.Empty(t, told)
	}
	expect := func(want ...int) {
		t.Helper()
		require.Equal(t, want, told)
		told = nil
	}
	ask()
	_, err := s.Submit()
	require.NoError(t, err)
	expect(1, 2, 3)
	require.NoError(t, s.Wait(ctx))
	s.OnSubmit(func(_ Point, submitted bool) { require.True(t, submitted); told = append(told, 4) })
	expect(4)
	ask()
	s.Discard()
	expect(-1, -2, -3)
	ask()
	s.Fill(b, 1<<20, 1, 0)
	s.OnSubmit(func(_ Point, submitted bool) { require.False(t, submitted); told = append(told, 5) })
	expect(5)
	require.Error(t, s.Wait(ctx))
	expect(-1, -2, -3)
	ask()
	failing = true
	_, err = s.Submit()
	require.Error(t, err)
	failing = false
	expect(-1, -2, -3)
	other := stream(t, d)
	other.Fill(b, 0, 1, 9)
	p, err := other.Submit()
	require.NoError(t, err)
	ask()
	s.After(p)
	expect(1, 2, 3)
	ask()
	require.NoError(t, s.Close())
	expect(-1, -2, -3)
}

// Functions that must follow work are called after it: not while the work may still be submitted, nor while it runs.
func TestFinally(t *testing.T) {
	ctx := t.Context()
	d := openFor(t, Options{})
	b := buffer[uint32](t, d, 4)
	s := stream(t, d)
	done := 0
	finally := func() { s.Finally(func() { done++ }) }
	finally()
	require.Equal(t, 1, done, "nothing was recorded")
	s.Fill(b, 0, 1, 1)
	finally()
	require.Equal(t, 1, done)
	s.Discard()
	require.Equal(t, 2, done)

	slow, submit := busy(t, d, 200*time.Millisecond)
	submit()
	p, err := slow.Submit()
	require.NoError(t, err)
	s.After(p)
	finally() // after the point that comes first
	_, err = s.Submit()
	require.NoError(t, err)
	finally()
	s.Fill(b, 0, 1, 1)
	finally()
	s.Discard() // but work that uses the same memory was submitted before, and runs
	over, err := p.Done()
	require.NoError(t, err)
	require.True(t, over || done == 2)
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, 5, done)
	require.NoError(t, slow.Wait(ctx))

	s.Fill(b, 0, 1, 1)
	finally()
	_, err = s.Submit()
	require.NoError(t, err)
	s.Fill(b, 0, 1, 1)
	finally()
	require.NoError(t, s.Close())
	require.Equal(t, 7, done)
}

// If batches of two streams use memory, it is free after both have ended. While they are not submitted, no call waits
// for them.
func TestUses(t *testing.T) {
	ctx := t.Context()
	d := openFor(t, Options{})
	b := buffer[uint32](t, d, 4)
	one, two := stream(t, d), stream(t, d)
	var u Uses
	freed := false
	u.Free(func() { freed = true })
	require.True(t, freed)
	require.NoError(t, u.Rest(ctx))

	for _, s := range []*Stream{one, two, one} {
		s.Fill(b, 0, 1, 1)
		u.On(s)
	}
	freed = false
	u.Free(func() { freed = true })
	require.ErrorIs(t, u.Rest(ctx), ErrUnsubmitted)
	one.Discard()
	require.ErrorIs(t, u.Rest(ctx), ErrUnsubmitted)
	require.False(t, freed)
	_, err := two.Submit()
	require.NoError(t, err)
	require.NoError(t, u.Rest(ctx))
	require.NoError(t, two.Wait(ctx))
	require.True(t, freed)

	// Streams follow each other, unless recorded work may still be dropped.
	one.Fill(b, 0, 1, 1)
	u.On(one)
	require.NoError(t, u.Order(one))
	two.Fill(b, 0, 1, 2)
	require.ErrorIs(t, u.Order(two), ErrUnsubmitted)
	require.NotNil(t, two.open)
	_, err = one.Submit()
	require.NoError(t, err)
	require.NoError(t, u.Order(two))
	require.NotNil(t, two.open, "nothing is submitted by that")
	require.LessOrEqual(t, len(two.waits), 1)
	two.Discard()
	require.NoError(t, one.Wait(ctx))

	// A stream that is not used any more delays nothing after its work has ended.
	one.Fill(b, 0, 1, 1)
	u.On(one)
	p, err := one.Submit()
	require.NoError(t, err)
	require.NoError(t, p.Wait(ctx))
	freed = false
	u.Free(func() { freed = true })
	require.True(t, freed)

	// Work that is recorded later delays nothing either.
	one.Fill(b, 0, 1, 1)
	u.On(one)
	freed = false
	u.Free(func() { freed = true })
	two.Fill(b, 0, 1, 2)
	u.On(two)
	require.False(t, freed)
	require.NoError(t, one.Wait(ctx))
	require.True(t, freed)
	two.Discard()

	slow, submit := busy(t, d, 200*time.Millisecond)
	submit()
	u.On(slow)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := u.Rest(ended); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, u.Rest(ctx))
	require.NoError(t, slow.Wait(ctx))
}

// From Hold on, memory is in use, whatever the stream submits meanwhile, until the work that was recorded before the
// release has ended. Memory that was given up before the release is freed no earlier.
func TestHold(t *testing.T) {
	ctx := t.Context()
	d := openFor(t, Options{})
	b := buffer[uint32](t, d, 4)
	one, two := stream(t, d), stream(t, d)
	var u Uses
	release := u.Hold(one)
	freed := false
	u.Free(func() { freed = true })
	for range 2 {
		require.ErrorIs(t, u.Rest(ctx), ErrUnsubmitted)
		require.ErrorIs(t, u.Submitted(), ErrUnsubmitted)
		require.ErrorIs(t, u.Order(two), ErrUnsubmitted)
		require.NoError(t, u.Order(one))
		one.Fill(b, 0, 1, 1)
		u.On(one)
		require.NoError(t, one.Wait(ctx))
		require.False(t, freed)
	}
	one.Fill(b, 0, 1, 1)
	release()
	require.ErrorIs(t, u.Rest(ctx), ErrUnsubmitted)
	require.False(t, freed)
	require.NoError(t, one.Wait(ctx))
	require.True(t, freed)
	require.NoError(t, u.Order(two))

	for _, recorded := range []bool{false, true} {
		release = u.Hold(one)
		freed = false
		u.Free(func() { freed = true })
		if recorded {
			one.Fill(b, 0, 1, 1)
			u.On(one)
			one.Discard()
			require.False(t, freed)
		}
		release()
		require.True(t, freed, "no work uses it")
		require.NoError(t, u.Submitted())
	}
	new(Uses).Hold(nil)()
}
