package combine

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
)

// ends passes the end of a context on to several channels. Calls with one context each wait at one of them: all that
// wait at one channel need its lock twice each, which bounds how many a program makes
// (docs/notes/measurements.md, "Combining calls").
type ends struct {
	done     <-chan struct{}
	channels [32]chan struct{}
	over     atomic.Bool
	stop     func() bool
}

// seldom is after how many calls, on average, a context is taken for one that many calls have.
const seldom = 64

// ending returns a channel that is closed when a context has ended, whose own is done.
func (c *core[K, V]) ending(ctx context.Context, done <-chan struct{}) <-chan struct{} {
	e, n := c.ends.Load(), rand.Uint32()
	switch {
	case e != nil && e.done == done:
		return e.channels[n%uint32(len(e.channels))]
	case n%seldom == 0 && (e == nil || e.over.Load()):
		of := &ends{done: done}
		for i := range of.channels {
			of.channels[i] = make(chan struct{})
		}
		of.stop = context.AfterFunc(ctx, of.end)
		if !c.ends.CompareAndSwap(e, of) {
			of.stop()
		}
	}
	return done
}

// end tells those who wait that the context has ended.
func (e *ends) end() {
	e.over.Store(true)
	for _, c := range e.channels {
		close(c)
	}
}

// unwatch ends the waiting for the context's end, once no call waits for it.
func (c *core[K, V]) unwatch() {
	if e := c.ends.Load(); e != nil {
		e.stop()
	}
}
