package recording

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Changes are the changes to what a structure holds: those that streams have recorded, as Uses, and the number of all.
// The zero value has none. Calls that change the structure are in alone when they count themselves.
type Changes struct {
	vk.Uses
	made atomic.Uint64
}

// Made counts a change by a call with slices.
func (c *Changes) Made() { c.made.Add(1) }

// On counts a change that was recorded into a stream.
func (c *Changes) On(s *vk.Stream) {
	c.Made()
	c.Uses.On(s)
}

// Walk is an iteration over a structure in parts, between which others may change it. The zero value has not begun.
type Walk struct {
	In    bool // the caller has entered the structure, and its parts need not
	begun bool
	made  uint64
}

// Enter has a part of the iteration enter the structure by enter, and returns what ends the part. The first part waits
// until the changes that streams have submitted are done, so that none of them takes place between two parts. Errors:
// those of enter and of vk.Uses.Rest; structures.ErrChanged if there was a change since the first part.
func (w *Walk) Enter(ctx context.Context, c *Changes, enter func(context.Context) error,
	leave func()) (end func(), err error) {
	if w.In {
		enter, leave = func(ctx context.Context) error { return ctx.Err() }, func() {}
	}
	if w.changed(c) { // enter may refuse a change that was not submitted, which is one all the same
		return nil, structures.ErrChanged
	}
	if err := enter(ctx); err != nil {
		return nil, err
	}
	return leave, gate.Unless(leave, func() error {
		if !w.begun {
			if err := c.Rest(ctx); err != nil {
				return err
			}
			w.begun, w.made = true, c.made.Load()
		}
		if w.changed(c) {
			return structures.ErrChanged
		}
		return nil
	})
}

func (w *Walk) changed(c *Changes) bool { return w.begun && w.made != c.made.Load() }
