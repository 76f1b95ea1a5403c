// Package gate has the calls on a handle take turns, whichever goroutines they come from.
package gate

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Gate lets one call in at a time, in the order in which they come.
type Gate struct {
	turn     chan struct{} // full while a call is in
	ended    bool          // only for who is in
	callback atomic.Uint64 // the goroutine whose call is in, while that runs a function of the user's; else 0
}

// New is the gate of a handle that is open.
func New() *Gate { return &Gate{turn: make(chan struct{}, 1)} }

// Enter waits for the calls that came before, and lets this one in; Leave is its end. Errors: vk.ErrClosed, the context's
// if that has ended before, *structures.ReentryError.
func (g *Gate) Enter(ctx context.Context) error {
	select {
	case g.turn <- struct{}{}:
	default:
		if g.own() {
			return &structures.ReentryError{}
		}
		select {
		case g.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := ctx.Err()
	if g.ended {
		err = vk.ErrClosed
	}
	if err != nil {
		g.Leave()
	}
	return err
}

// Leave ends a call that Enter has let in.
func (g *Gate) Leave() { <-g.turn }

// Take is Enter for what is done with a closed handle, too, and for what a function of the user's may ask, called from
// inside. leave ends it.
func (g *Gate) Take() (leave func(), open bool) {
	if g.own() {
		return func() {}, !g.ended
	}
	g.turn <- struct{}{}
	return g.Leave, !g.ended
}

// Shut is Enter for closing the handle: open says whether it was not closed before. leave ends it. Error:
// *structures.ReentryError.
func (g *Gate) Shut() (leave func(), open bool, err error) {
	if g.own() {
		return nil, false, &structures.ReentryError{}
	}
	leave, open = g.Take()
	return leave, open, nil
}

// End has the handle closed, by who is in.
func (g *Gate) End() { g.ended = true }

// Progress is a function of the user's that calls which are in may call. What it calls of the handle itself is refused,
// since it would wait for its own end.
func (g *Gate) Progress(f structures.Progress) structures.Progress {
	if f == nil {
		return nil
	}
	return func(done, total int) {
		g.callback.Store(goroutine())
		defer g.callback.Store(0)
		f(done, total)
	}
}

// own says whether it is asked from inside of Progress.
func (g *Gate) own() bool {
	in := g.callback.Load()
	return in != 0 && in == goroutine()
}

// goroutine is the number of the goroutine that asks, from the first line of its stack: Go says nowhere else who is
// calling, and Progress has nothing that a call could hand on. 0, and own is false, should Go write it otherwise one day:
// then a call from inside waits for its context.
func goroutine() (number uint64) {
	var line [40]byte
	_, _ = fmt.Sscanf(string(line[:runtime.Stack(line[:], false)]), "goroutine %d ", &number)
	return number
}
