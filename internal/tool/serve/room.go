package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/semaphore"
)

const (
	pairBytes  = 64  // of a pair in an answer, besides its texts
	largeBytes = 256 // of an operation of a large command: the operation, its parts of the buffer and its answer
	mostOfOne  = pairBytes * mostPairs
	// mostHeld is how many bytes the answers of all connections have in memory at a time, besides those that have at
	// most mostOut. One that has more than mostOfOne counts as that.
	mostHeld = 4 * mostOfOne
)

var errRoom = errors.New("too many answers wait to be taken: ask for less at a time, or later")

// errDone is errRoom of a SET whose old value finds no room.
var errDone = fmt.Errorf("it was done, but %w", errRoom)

// errFull says that answers don't fit the room.
var errFull = errors.New("there is no room")

// room is the part of mostHeld that a connection's answers have. The zero value with a connection has none.
type room struct {
	c          *conn
	asks       bool // the answers are also those of other servers
	has, needs int64
}

// of returns what the room is part of. Those who ask other servers have their own: if they took the room of those whom
// they ask, servers that ask each other would wait for each other.
func (r *room) of() *semaphore.Weighted {
	if r.asks {
		return r.c.s.asking
	}
	return r.c.s.held
}

// fits reports whether there is room for answers of so many bytes. If there is more at once, it takes it.
func (r *room) fits(bytes int64) bool {
	bytes = min(bytes, mostOfOne)
	switch {
	case bytes <= max(mostOut, r.has):
	case r.of().TryAcquire(bytes - r.has):
		r.has = bytes
	default:
		r.needs = min(bytes+bytes/8, mostOfOne) // others insert while it waits
		return false
	}
	return true
}

// wait waits for the room that was missing. The caller has dropped its answers, and asks again. Clients that don't take
// their answers may hold the room for long, so others are refused after a while.
func (r *room) wait() error {
	if r.leave(); r.c.crowded {
		return errRoom
	}
	ctx, cancel := context.WithTimeout(r.c.s.scanning, r.c.s.o.stalled)
	defer cancel()
	if r.of().Acquire(ctx, r.needs) != nil {
		r.c.crowded = true
		return cmp.Or(stopping(r.c.s.scanning), errRoom)
	}
	r.has = r.needs
	return nil
}

// take is fits for answers that are not there yet. It waits.
func (r *room) take(bytes int64) error {
	if r.fits(bytes) {
		return nil
	}
	return r.wait()
}

func (r *room) leave() {
	r.of().Release(r.has)
	r.has = 0
}
