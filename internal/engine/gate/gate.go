// Package gate has the calls on a handle wait for each other where they must, whichever goroutines they come from.
package gate

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/semaphore"
)

// Gate lets one call in that changes the handle, or any number of calls that don't, in the order in which they come:
// who changes it waits for the queries that came before, and those that come later wait for him. A nil Gate is that of
// a handle that was never opened: nobody enters it.
type Gate struct {
	in    *semaphore.Weighted // a part for each query, all for a change
	ended atomic.Bool         // changed by who is in alone
	outer *Gate               // that calls enter behind this one; nil: none
}

const (
	part = 1
	all  = 1 << 30 // more than there are goroutines
)

// New is the gate of a handle that is open.
func New() *Gate { return &Gate{in: semaphore.NewWeighted(all)} }

// Within is the gate of a handle whose calls wait for those of another one's as well: of what several handles share.
func Within(outer *Gate) *Gate {
	g := New()
	g.outer = outer
	return g
}

// Enter waits for the calls that came before, and lets this one in, alone; Leave is its end. Errors: vk.ErrClosed,
// vk.ErrNotOpen, the context's if that has ended before.
func (g *Gate) Enter(ctx context.Context) error { return g.enter(ctx, all) }

// Err returns why no call is let in: vk.ErrNotOpen or vk.ErrClosed; nil if the handle is open. It waits for nothing.
// Calls ask it before they look at their arguments.
func (g *Gate) Err() error {
	switch {
	case g == nil:
		return vk.ErrNotOpen
	case g.ended.Load():
		return vk.ErrClosed
	case g.outer != nil:
		return g.outer.Err()
	}
	return nil
}

// Leave ends a call that Enter has let in.
func (g *Gate) Leave() { g.leave(all) }

// EnterShared is Enter for a call that changes nothing of the handle: others like it are in at the same time.
func (g *Gate) EnterShared(ctx context.Context) error { return g.enter(ctx, part) }

// LeaveShared ends a call that EnterShared has let in.
func (g *Gate) LeaveShared() { g.leave(part) }

func (g *Gate) leave(share int64) {
	if g.outer != nil {
		g.outer.leave(share)
	}
	g.in.Release(share)
}

func (g *Gate) enter(ctx context.Context, share int64) error {
	if g == nil {
		return vk.ErrNotOpen
	}
	if !g.in.TryAcquire(share) {
		if err := g.in.Acquire(ctx, share); err != nil {
			return err
		}
	}
	return Unless(func() { g.in.Release(share) }, func() error {
		switch {
		case g.ended.Load():
			return vk.ErrClosed
		case g.outer != nil:
			return g.outer.enter(ctx, share)
		}
		return ctx.Err()
	})
}

// Unless calls undo if f returns an error, which is Unless's then, or panics, as a method of a context may.
func Unless(undo func(), f func() error) error {
	done := false
	defer func() {
		if !done {
			undo()
		}
	}()
	err := f()
	done = err == nil
	return err
}

// Take is Enter for what is done with a closed handle, too. leave ends it.
func (g *Gate) Take() (leave func(), open bool) {
	if g == nil {
		return func() {}, false
	}
	_ = g.in.Acquire(context.Background(), all) // which never ends
	if g.outer == nil {
		return g.Leave, !g.ended.Load()
	}
	outer, _ := g.outer.Take()
	return func() {
		outer()
		g.in.Release(all)
	}, !g.ended.Load()
}

// Shut is Take for closing the handle: open says whether it was not closed before. Error: vk.ErrNotOpen.
func (g *Gate) Shut() (leave func(), open bool, err error) {
	if g == nil {
		return nil, false, vk.ErrNotOpen
	}
	leave, open = g.Take()
	return leave, open, nil
}

// End has the handle closed, by who is in, alone.
func (g *Gate) End() { g.ended.Store(true) }
