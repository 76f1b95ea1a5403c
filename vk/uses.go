package vk

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Uses knows which batches name some memory: recorded ones that may still be submitted, and submitted ones that have
// not ended. With it, the owner of the memory replaces or frees it only after them. The zero value knows of none.
// Several goroutines may use it at once, each with streams of its own.
type Uses struct {
	mu    sync.Mutex
	open  map[*Stream]*use  // in batches that are being recorded
	all   map[*use]struct{} // these and those submitted that are not known to have ended
	begun uint64            // uses so far
	after []waiting         // in the order in which it came
}

// waiting is what is to be called when the uses up to some number have ended.
type waiting struct {
	behind uint64
	free   func()
}

// use is that of one batch.
type use struct {
	number    uint64
	stream    *Stream
	point     Point
	submitted bool
}

// ErrUnsubmitted is returned by a call that must follow work which a stream has recorded but not submitted, because of
// its memory or its results. Submit that work, or discard it, and try again.
var ErrUnsubmitted = errors.New(
	"vk: this comes behind work that a stream has recorded, but not submitted: submit or discard that first")

// On notes that the work which was recorded into a stream so far names the memory. Call it after recording.
func (u *Uses) On(s *Stream) {
	if !s.made() {
		return
	}
	u.mu.Lock()
	if u.open[s] != nil && s.open != nil {
		u.mu.Unlock()
		return
	}
	if u.all == nil {
		u.open, u.all = map[*Stream]*use{}, map[*use]struct{}{}
	}
	u.begun++
	one := &use{number: u.begun, stream: s}
	u.open[s], u.all[one] = one, struct{}{}
	u.mu.Unlock()
	s.OnSubmit(func(p Point, submitted bool) {
		u.mu.Lock()
		defer u.mu.Unlock()
		one.point, one.submitted = p, submitted
		delete(u.open, s)
		if !submitted {
			delete(u.all, one) // it will never run; Finally still says when to look who waits
		}
	})
	s.Finally(func() { u.end(one) })
}

// end forgets a use, and does what waited for its end.
func (u *Uses) end(one *use) {
	u.mu.Lock()
	delete(u.all, one)
	due := u.due()
	u.mu.Unlock()
	free(due)
}

// free calls functions, in their order, all of them also where one panics.
func free(due []waiting) {
	for _, w := range slices.Backward(due) {
		defer w.free()
	}
}

// due takes off the list what waits for none of the uses that are left. The lock is held.
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

// Rest waits until no submitted batch names the memory. If a batch that is not submitted yet names it, Rest returns
// ErrUnsubmitted at once. Other errors: the context's, ErrDeviceLost.
func (u *Uses) Rest(ctx context.Context) error {
	u.mu.Lock()
	var points []Point
	for one := range u.all {
		points = append(points, one.point)
	}
	waiting := len(u.open)
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

// Submitted returns ErrUnsubmitted if a batch that is not submitted yet names the memory.
func (u *Uses) Submitted() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.open) != 0 {
		return ErrUnsubmitted
	}
	return nil
}

// Order has the batch that a stream is recording wait for the batches of other streams that name the memory. If one of
// them is not submitted yet, it returns ErrUnsubmitted, and the stream is as it was.
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

// join is After for all of the batch that is being recorded, so that nothing is submitted.
func (s *Stream) join(p Point) {
	if s.rehearsal != nil {
		return
	}
	for _, w := range s.waits {
		if w.line == p.line && w.value >= p.value {
			return
		}
	}
	s.waits = append(s.waits, p)
}

// Free calls f when none of the batches so far names the memory: at once, or when the last of them has ended or is
// dropped. Work that is recorded later must not name the memory.
func (u *Uses) Free(f func()) {
	u.mu.Lock()
	for one := range u.all {
		// A stream may not look for long whether its work has ended.
		if done, err := one.point.Done(); one.submitted && done && err == nil {
			delete(u.all, one)
		}
	}
	u.after = append(u.after, waiting{u.begun, f})
	due := u.due()
	u.mu.Unlock()
	free(due)
}
