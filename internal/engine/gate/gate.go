// Package gate orders the calls on a handle, whichever goroutines they come from.
package gate

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/semaphore"
)

// Gate lets in either one call that changes the handle, or any number of queries. Calls take turns in the order in
// which they come: a change waits for the calls before it, and the calls after it wait for the change. The gate of a
// handle that was never opened is nil, and lets nothing in.
type Gate struct {
	in    *semaphore.Weighted // a query takes a part, a change takes all
	ended atomic.Bool         // set by the only call inside
	what  string              // the handle, for errors
	outer *Gate               // a gate that calls enter after this one; nil: none
}

const (
	part = 1
	all  = 1 << 30 // more than there can be goroutines
)

// New returns the gate of an open handle. Errors call it by what, such as "hash table".
func New(what string) *Gate { return &Gate{in: semaphore.NewWeighted(all), what: what} }

// Within returns the gate of a handle that shares something with other handles. Its calls enter outer, too.
func (g *Gate) Within(outer *Gate) *Gate {
	g = New(g.what)
	g.outer = outer
	return g
}

// Enter waits for the calls that came before, and lets this one in alone, until Leave. Errors: *vk.ClosedError,
// vk.ErrNotOpen, or the context's cause if it ends first.
func (g *Gate) Enter(ctx context.Context) error { return g.enter(ctx, all) }

// Err returns why no call can enter: vk.ErrNotOpen or *vk.ClosedError. It returns nil if the handle is open. It does
// not wait. Calls check it before their arguments.
func (g *Gate) Err() error {
	switch {
	case g == nil:
		return vk.ErrNotOpen
	case g.ended.Load():
		return &vk.ClosedError{What: g.what}
	case g.outer != nil:
		return g.outer.Err()
	}
	return nil
}

// Leave ends a call that entered with Enter.
func (g *Gate) Leave() { g.leave(all) }

// EnterShared is Enter for a query: other queries may be inside at the same time.
func (g *Gate) EnterShared(ctx context.Context) error { return g.enter(ctx, part) }

// LeaveShared ends a call that entered with EnterShared.
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
		if g.in.Acquire(ctx, share) != nil {
			return context.Cause(ctx)
		}
	}
	return Unless(func() { g.in.Release(share) }, func() error {
		switch {
		case g.ended.Load():
			return &vk.ClosedError{What: g.what}
		case g.outer != nil:
			return g.outer.enter(ctx, share)
		}
		return context.Cause(ctx)
	})
}

// Unless calls undo if f returns an error or panics. A method of a context may panic. It returns the error of f.
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

// Take is like Enter, but also enters the gate of a closed handle. The caller calls leave at the end.
func (g *Gate) Take() (leave func(), open bool) {
	if g == nil {
		return func() {}, false
	}
	_ = g.in.Acquire(context.Background(), all) // can't fail: this context never ends
	if g.outer == nil {
		return g.Leave, !g.ended.Load()
	}
	outer, _ := g.outer.Take()
	return func() {
		outer()
		g.in.Release(all)
	}, !g.ended.Load()
}

// Shut is like Take, to close the handle. open is false if it was closed before. Error: vk.ErrNotOpen.
func (g *Gate) Shut() (leave func(), open bool, err error) {
	if g == nil {
		return nil, false, vk.ErrNotOpen
	}
	leave, open = g.Take()
	return leave, open, nil
}

// Close calls free while no call is in, unless the handle is closed. free calls End, or returns an error and leaves the
// handle open. Error: free's; vk.ErrNotOpen.
func (g *Gate) Close(free func() error) error {
	leave, open, err := g.Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	return free()
}

// End marks the handle as closed. The caller must be inside alone.
func (g *Gate) End() { g.ended.Store(true) }
