package vk

import (
	"errors"
	"slices"
)

// ErrUnfinished is returned by the Submit or Wait of a batch that is dropped because a function that recorded into it
// panicked.
var ErrUnfinished = errors.New("vk: a function that recorded into this batch panicked, and the batch was dropped")

// Whole records the commands of record completely or not at all. If record or one of its commands fails before the
// first command was recorded, the batch stays as it was. If it fails later, the next Submit or Wait returns the error
// and drops the batch. Whole returns the error in both cases. If the batch is to be dropped already, nothing is
// recorded and Whole returns the reason. A record that panics counts as one that returns ErrUnfinished.
//
// Calls may be nested. Then everything that the outermost one records is recorded, or nothing.
func (s *Stream) Whole(record func() error) (err error) {
	if !s.made() {
		return ErrNotOpen
	}
	if s.err != nil {
		return s.err
	}
	before, outermost := s.commands, !s.whole
	s.whole = true
	defer func() {
		s.Fail(err)
		err = s.err
		if !outermost {
			return
		}
		s.whole = false
		// What a Submit within has sent on its way is no longer part of the batch.
		if s.commands == before || s.open == nil {
			s.err = nil
		}
	}()
	err = ErrUnfinished // unless record returns
	return record()
}

// Fail marks the batch as failed because a part of it could not be recorded. Nothing more is recorded, and the next
// Submit or Wait returns the error and drops the batch, none of which runs. The first error counts. A nil error does
// nothing.
func (s *Stream) Fail(err error) {
	if err != nil && s.made() {
		s.fail(err)
	}
}

// OnSubmit has f called when the fate of the work that was recorded so far is known: when it is submitted, with the
// Point at which it will be done, or when it is dropped because of an error, Discard or Close. Functions of one batch
// are called in the order in which they were given. If nothing was recorded since the last Submit, f is called at once.
// f is called by the goroutine that uses the stream, and must not use the stream.
func (s *Stream) OnSubmit(f func(p Point, submitted bool)) {
	switch {
	case !s.made() || s.err != nil:
		f(Point{}, false)
	case s.open != nil:
		s.open.onSubmit = append(s.open.onSubmit, f)
	default:
		f(Point{s.line, s.last}, true)
	}
}

// Finally has f called when no work that was recorded or submitted so far can still run. Use it to free memory that the
// work names. f is called by the goroutine that uses the stream, in a Submit, Wait, Discard or Close, or at once if
// there is no such work. f must not use the stream. After the device was lost, f is not called: Device.Close frees what
// is left.
func (s *Stream) Finally(f func()) {
	if !s.made() {
		f()
		return
	}
	if s.open == nil && len(s.waits) > 0 {
		s.begin() // what comes next belongs behind the points that the stream was told to wait for, and so does f
	}
	s.retire()
	switch n := len(s.flying); {
	case s.open != nil:
		s.open.finally = append(s.open.finally, f)
	case n > 0:
		s.flying[n-1].finally = append(s.flying[n-1].finally, f)
	default:
		f()
	}
}

// settled tells those who asked for it what becomes of a batch. If one of their functions panics, the others are called
// all the same: they keep account of memory.
func (b *batch) settled(p Point, submitted bool) {
	for _, f := range slices.Backward(b.onSubmit) {
		defer f(p, submitted)
	}
}

// ended does what was to be done behind a batch, all of it, as settled does.
func (b *batch) ended() {
	for _, f := range slices.Backward(b.finally) {
		defer f()
	}
}
