package vk

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Uses records which batches use some memory: batches that are being recorded, and submitted batches that have not
// ended. The owner of the memory can then replace or free it after these batches. The zero value is ready to use.
// Several goroutines may use one Uses at once, each with its own streams.
type Uses struct {
	mu    sync.Mutex
	open  map[*Stream]*use  // the uses in batches that are being recorded
	held  int               // the number of uses by Hold that are not released
	all   map[*use]struct{} // those in open, those held, and those in submitted batches that may not have ended
	begun uint64            // number of uses so far
	after []waiting         // in the order of the calls of Free
}

// waiting is a function to call when the uses up to some number have ended.
type waiting struct {
	behind uint64
	free   func()
}

// use is the use of the memory by one batch.
type use struct {
	number    uint64
	stream    *Stream
	point     Point
	submitted bool
}

// ErrUnsubmitted is returned if a call must follow work, because of its memory or its results, and a stream has
// recorded that work but not submitted it. Submit or discard the work, and try again.
var ErrUnsubmitted = errors.New(
	"vk: this call must follow work that a stream has recorded, but not submitted: submit or discard it first")

// On records that the work that was recorded into a stream so far uses the memory. Call it after recording.
func (u *Uses) On(s *Stream) {
	if !s.made() {
		return
	}
	u.mu.Lock()
	if u.open[s] != nil && s.open != nil {
		u.mu.Unlock()
		return
	}
	one := u.begin(s)
	u.open[s] = one
	u.mu.Unlock()
	u.follow(one)
}

// Hold records that a stream is going to record work that uses the memory. Until release is called, the memory is in
// use as by a batch that is not submitted, whatever the stream submits. Then the use is that of the work that the
// stream has recorded, as after On. Call release once, on the goroutine that uses the stream.
func (u *Uses) Hold(s *Stream) (release func()) {
	if !s.made() {
		return func() {}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	one := u.begin(s)
	u.held++
	return func() {
		u.mu.Lock()
		u.held--
		u.open[s] = one
		u.mu.Unlock()
		u.follow(one)
	}
}

// begin adds a use. The lock must be held.
func (u *Uses) begin(s *Stream) *use {
	if u.all == nil {
		u.open, u.all = map[*Stream]*use{}, map[*use]struct{}{}
	}
	u.begun++
	one := &use{number: u.begun, stream: s}
	u.all[one] = struct{}{}
	return one
}

// follow ends a use with the work that its stream has recorded so far.
func (u *Uses) follow(one *use) {
	s := one.stream
	s.OnSubmit(func(p Point, submitted bool) {
		u.mu.Lock()
		defer u.mu.Unlock()
		one.point, one.submitted = p, submitted
		delete(u.open, s)
		if !submitted {
			delete(u.all, one) // it will never run; Finally calls the waiting functions
		}
	})
	s.Finally(func() { u.end(one) })
}

// end removes a use, and calls the functions that waited for its end.
func (u *Uses) end(one *use) {
	u.mu.Lock()
	delete(u.all, one)
	due := u.due()
	u.mu.Unlock()
	free(due)
}

// free calls all functions in order, even if one of them panics.
func free(due []waiting) {
	for _, w := range slices.Backward(due) {
		defer w.free()
	}
}

// due removes the functions that need not wait for any of the remaining uses, and returns them. The lock must be held.
func (u *Uses) due() []waiting {
	if len(u.after) == 0 {
		return nil
	}
	oldest := u.begun + 1
	for one := range u.all {
		oldest = min(oldest, one.number)
	}
	n := 0
	for n < len(u.after) && u.after[n].behind < oldest {
		n++
	}
	due := u.after[:n]
	u.after = u.after[n:]
	return due
}

// Rest waits until no submitted batch uses the memory. If a batch that is not submitted yet uses it, Rest returns
// ErrUnsubmitted at once. Other errors: that of ctx, ErrDeviceLost.
func (u *Uses) Rest(ctx context.Context) error {
	u.mu.Lock()
	var points []Point
	for one := range u.all {
		points = append(points, one.point)
	}
	waiting := len(u.open) + u.held
	u.mu.Unlock()
	if waiting != 0 {
		return ErrUnsubmitted
	}
	for _, p := range points {
		if err := p.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Submitted returns ErrUnsubmitted if a batch that is not submitted yet uses the memory.
func (u *Uses) Submitted() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.open)+u.held != 0 {
		return ErrUnsubmitted
	}
	return nil
}

// Order makes the batch that a stream is recording wait for the batches of other streams that use the memory. If one of
// those is not submitted yet, Order returns ErrUnsubmitted and does not change the stream.
func (u *Uses) Order(s *Stream) error {
	if !s.made() {
		return ErrNotOpen
	}
	u.mu.Lock()
	var points []Point
	var err error
	for one := range u.all {
		if one.stream == s {
			continue
		}
		if done, _ := one.point.Done(); !one.submitted {
			err = ErrUnsubmitted
		} else if !done {
			points = append(points, one.point)
		}
	}
	u.mu.Unlock()
	if err != nil {
		return err
	}
	for _, p := range points {
		s.join(p)
	}
	return nil
}

// join is After for the whole batch that is being recorded. It submits nothing.
func (s *Stream) join(p Point) {
	for _, w := range s.waits {
		if w.line == p.line && w.value >= p.value {
			return
		}
	}
	s.waits = append(s.waits, p)
}

// Free calls f when no batch so far uses the memory any more: at once, or when the last of them has ended or is
// dropped. Work that is recorded later must not use the memory.
func (u *Uses) Free(f func()) {
	u.mu.Lock()
	for one := range u.all {
		// A stream may not check for a long time whether its work has ended, so check here.
		if done, err := one.point.Done(); one.submitted && done && err == nil {
			delete(u.all, one)
		}
	}
	u.after = append(u.after, waiting{u.begun, f})
	due := u.due()
	u.mu.Unlock()
	free(due)
}
