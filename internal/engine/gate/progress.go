package gate

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Progress is a user's function that calls report their progress to. It may use the handle, because it runs on a
// goroutine of its own, and the reporting call leaves its gates before it waits for the function to return. A nil
// Progress reports nothing.
type Progress struct {
	tell func(done, total int)
	busy sync.Mutex // held while tell runs, so that calls made by tell don't call it again
}

// patience is how long a report waits for the function to return before the call goes on.
var patience = 100 * time.Millisecond

// Patient has reports wait for longer until the end of a test, which may be a slow one.
func Patient(t interface{ Cleanup(func()) }) {
	usual := patience
	patience = time.Minute
	t.Cleanup(func() { patience = usual })
}

// NewProgress returns a Progress for f, or nil if f is nil.
func NewProgress(f func(done, total int)) *Progress {
	if f == nil {
		return nil
	}
	return &Progress{tell: f}
}

// call is a user's call, together with the calls that its progress functions make.
type call struct {
	running sync.WaitGroup // the goroutines of progress functions

	mu     sync.Mutex
	failed func() // set if a progress function panicked or ended its goroutine; does the same to the caller
}

// fail panics or ends the goroutine, if a progress function of the call did so.
func (c *call) fail() {
	c.mu.Lock()
	failed := c.failed
	c.failed = nil
	c.mu.Unlock()
	if failed != nil {
		failed()
	}
}

// reports holds the reports of one call to a Progress.
type reports struct {
	of *Progress
	in *call

	mu          sync.Mutex
	done, total int  // the latest numbers
	fresh       bool // they have not been told yet
	runs        bool // a goroutine is telling them
}

type reportsKey struct{}

// Begin must be called before a call that may report enters any gate. Told returns where to report, given the context
// that Begin returns. The call runs end after it has left its gates.
func (p *Progress) Begin(ctx context.Context) (_ context.Context, end func()) {
	outer, _ := ctx.Value(reportsKey{}).(*reports)
	if outer == nil && p == nil {
		return ctx, func() {}
	}
	r := &reports{of: p}
	if end = (func() {}); outer != nil {
		r.in = outer.in // its end waits for the goroutines of this one, too
	} else {
		r.in = new(call)
		end = func() {
			r.in.running.Wait()
			r.in.fail()
		}
	}
	return context.WithValue(ctx, reportsKey{}, r), end
}

// Told returns the function that a call reports to, or nil. ctx is the context from Begin.
func Told(ctx context.Context) func(done, total int) {
	if r, _ := ctx.Value(reportsKey{}).(*reports); r != nil && r.of != nil {
		return r.report
	}
	return nil
}

// report calls the function and waits for it. It waits at most for patience, because the function may be waiting for
// the call. While the function runs, later numbers of this call replace earlier ones, and those of other calls are
// dropped.
func (r *reports) report(done, total int) {
	r.in.fail()
	r.mu.Lock()
	r.done, r.total, r.fresh = done, total, true
	if r.runs || !r.of.busy.TryLock() {
		r.mu.Unlock()
		return
	}
	r.runs = true
	r.mu.Unlock()
	returned := make(chan struct{})
	r.in.running.Go(func() {
		defer close(returned)
		r.run()
	})
	select {
	case <-returned:
	case <-time.After(patience):
	}
	r.in.fail()
}

// run calls the function until it has been told the latest numbers.
func (r *reports) run() {
	defer func() {
		if !r.runs {
			return
		}
		failed := runtime.Goexit
		if value := recover(); value != nil {
			failed = func() { panic(value) }
		}
		r.in.mu.Lock()
		r.in.failed = failed
		r.in.mu.Unlock()
		r.mu.Lock()
		r.stop()
		r.mu.Unlock()
	}()
	for {
		r.mu.Lock()
		done, total, fresh := r.done, r.total, r.fresh
		r.fresh = false
		if !fresh {
			r.stop()
		}
		r.mu.Unlock()
		if !fresh {
			return
		}
		r.of.tell(done, total)
	}
}

// stop records that no goroutine is telling the numbers any more. The lock must be held.
func (r *reports) stop() {
	r.runs = false
	r.of.busy.Unlock()
}
