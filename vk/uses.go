package vk

import (
	"context"
	"errors"
	"sync"
)

// Uses knows which batches name some memory: recorded ones, which may still be submitted, and those under way. By it the
// owner of the memory replaces or frees it only behind them. The zero value knows of none. Several goroutines may use it
// at once, each with streams of its own.
type Uses struct {
	mu    sync.Mutex
	open  map[*Stream]*use  // in batches that are being recorded
	all   map[*use]struct{} // these and those submitted that are not known to have ended
	after []func()          // to be called when there is none
}

// use is that of one batch.
type use struct {
	stream    *Stream
	point     Point
	submitted bool
}

// ErrUnsubmitted says that a call has to come behind work that a stream has recorded, but not submitted: by its memory or
// by its results. Submit that work, or discard it, and try again.
var ErrUnsubmitted = errors.New("vk: this comes behind work that a stream has recorded, but not submitted: submit or discard that first")

// On says that what was recorded into a stream so far names the memory. It is called once something was recorded.
func (u *Uses) On(s *Stream) {
	u.mu.Lock()
	if u.open[s] != nil && s.open != nil {
		u.mu.Unlock()
		return
	}
	if u.all == nil {
		u.open, u.all = map[*Stream]*use{}, map[*use]struct{}{}
	}
	one := &use{stream: s}
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

// end forgets a use, and does what waited for the last one's end.
func (u *Uses) end(one *use) {
	u.mu.Lock()
	delete(u.all, one)
	var after []func()
	if len(u.all) == 0 {
		after, u.after = u.after, nil
	}
	u.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// Rest waits until no batch that was submitted names the memory. Where one names it that was not submitted yet, it
// returns ErrUnsubmitted at once. Other errors: the context's, ErrDeviceLost.
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

// Order has the batch that a stream is recording wait for those of other streams that name the memory. Where one of them
// was not submitted yet, it returns ErrUnsubmitted, and the stream is as it was.
func (u *Uses) Order(s *Stream) error {
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
	for _, w := range s.waits {
		if w.line == p.line && w.value >= p.value {
			return
		}
	}
	s.waits = append(s.waits, p)
}

// Free calls free as soon as no batch names the memory: at once, or where the last of these batches is found to have
// ended, or is dropped.
func (u *Uses) Free(free func()) {
	u.mu.Lock()
	for one := range u.all {
		// A stream may not look for long whether its work has ended.
		if done, err := one.point.Done(); one.submitted && done && err == nil {
			delete(u.all, one)
		}
	}
	waits := len(u.all) != 0
	if waits {
		u.after = append(u.after, free)
	}
	u.mu.Unlock()
	if !waits {
		free()
	}
}
