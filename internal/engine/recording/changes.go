package recording

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Changes counts the changes of a structure's contents, and tracks those that streams have recorded (vk.Uses). The zero
// value has none. A call that counts a change has entered the structure alone.
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

// Walk is an iteration over a structure in parts. Others may change the structure between parts. The zero value has not
// begun.
type Walk struct {
	In    bool // the caller has entered the structure, so the parts do not enter
	begun bool
	made  uint64
}

// Enter enters the structure for a part of the iteration, by calling enter, and returns the function that ends the
// part. The first part waits until the changes that streams have submitted are done, so that none of them happens
// between two parts. Errors: those of enter and of vk.Uses.Rest; structures.ErrChanged if there was a change since the
// first part.
func (w *Walk) Enter(ctx context.Context, c *Changes, enter func(context.Context) error,
	leave func()) (end func(), err error) {
	if w.In {
		enter, leave = func(ctx context.Context) error { return context.Cause(ctx) }, func() {}
	}
	if w.changed(c) { // checked before enter, which fails if a change was not submitted
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
