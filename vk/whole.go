package vk

import (
	"errors"
)

// ErrUnfinished is returned by the Submit or Wait of a batch that is dropped because a function panicked while it
// recorded the batch.
var ErrUnfinished = errors.New("vk: a function that recorded into this batch panicked, and the batch was dropped")

// Whole records the commands of record completely or not at all, and returns the error of record or of the first
// command that failed. If that error occurs before the first command was recorded, the batch stays as it was. If it
// occurs later, the next Submit or Wait returns it, too, and drops the batch. If an earlier error has already marked
// the batch as failed, Whole records nothing and returns that error. A panic in record has the effect of ErrUnfinished.
//
// Calls may be nested. Then everything that the outermost call records is recorded, or nothing.
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
		// Commands that were submitted inside record are no longer part of the batch.
		if s.commands == before || s.open == nil {
			s.err = nil
		}
	}()
	err = ErrUnfinished // unless record returns
	return record()
}

// Fail marks the batch as failed because a part of it could not be recorded. Nothing more is recorded, and the next
// Submit or Wait returns the error and drops the whole batch. Only the first error counts. If err is nil, Fail does
// nothing.
func (s *Stream) Fail(err error) {
	if err != nil && s.made() {
		s.fail(err)
	}
}

// OnSubmit calls f when the work that was recorded so far is submitted or dropped. When it is submitted, p is the Point
// at which it will have ended. It is dropped after an error, or by Discard or Close. Functions of one batch are called
// in the order of the OnSubmit calls. If nothing was recorded since the last Submit, f is called at once. f is called
// by the goroutine that uses the stream, and must not use the stream.
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

// Finally calls f when no work that was recorded or submitted so far can still run. Use it to free memory that the work
// uses. f is called by the goroutine that uses the stream, in Submit, Wait, Timings, Discard or Close, or in a later
// call of Finally, or at once if there is no such work. f must not use the stream. If the device is lost, f may never
// be called; Device.Close frees what is left.
func (s *Stream) Finally(f func()) {
	if !s.made() {
		f()
		return
	}
	if s.open == nil && len(s.waits) > 0 {
		s.begin() // later commands come after the points of After, and so must f
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

// settled calls the OnSubmit functions of a batch in order. If one of them panics, the others are still called, because
// they track memory.
func (b *batch) settled(p Point, submitted bool) {
	each(b.onSubmit, func(f func(Point, bool)) { f(p, submitted) })
}

// ended calls the Finally functions of a batch in order, all of them, like settled.
func (b *batch) ended() { each(b.finally, func(f func()) { f() }) }

// each calls do with all elements in order, also with those after one for which it panics.
func each[T any](all []T, do func(T)) {
	done := 0
	defer eachAfter(all, &done, do)
	for done < len(all) {
		done++
		do(all[done-1])
	}
}

// eachAfter goes on after the first done elements, if do has panicked.
func eachAfter[T any](all []T, done *int, do func(T)) {
	if *done < len(all) {
		each(all[*done:], do)
	}
}
