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
	point     Point
	submitted bool
}

// ErrUnsubmitted says that memory can't be replaced, since a stream has work recorded that names it. Submit it, or
// discard it, and try again.
var ErrUnsubmitted = errors.New("vk: a stream has work recorded, but not submitted, that names memory which this call replaces")

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
	one := &use{}
	u.open[s], u.all[one] = one, struct{}{}
	u.mu.Unlock()
	s.OnSubmit(func(p Point, submitted bool) {
		u.mu.Lock()
		defer u.mu.Unlock()
		one.point, one.submitted = p, submitted
		delete(u.open, s)
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
