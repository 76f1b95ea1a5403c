// Package sorted is what the sorted array and the LSM have in common: a dictionary whose pairs are a stack of sorted
// runs (package runs), seen from Go slices and from streams. How the runs come about is each structure's own business.
package sorted

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Structure is what a Core serves.
type Structure interface {
	// Stack is where the pairs are.
	Stack() runs.Stack
	// Unique says that the stack is one run, where each key comes once and nothing is deleted.
	Unique() bool
	// Reserve makes the memory that a batch takes, or says why it can't be done. It records nothing.
	Reserve(s *vk.Stream, b Batch) error
	// Update records a batch, for which Reserve was called, after what was recorded in the stream before. It may wait
	// for the stream. An error leaves the structure as it was.
	Update(ctx context.Context, s *vk.Stream, b Batch) error
	// Held is how much device memory there is, without scratch.
	Held() uint64
	// Settle takes back what Update has noted of batches that their streams have dropped since.
	Settle()
}

// Batch is a batch of updates on the device.
type Batch struct {
	Kind           structures.Kind // Update sees Insert and Delete alone
	Keys           uint64          // the address of a word each
	Values         uint64          // of insertions
	Kinds          uint64          // a byte each; of Mixed alone
	N              int
	pipeline.Order // of the keys, as far as it is known
}

// Core is the common part of both. Its Reader answers their queries.
type Core struct {
	*ordered.Reader
	Device     *vk.Device
	Primitives *primitives.Primitives
	Queries    *runs.Queries
	Stream     *vk.Stream // for what is done outside of batches
	Rows       *vk.Buffer[uint64]
	Progress   structures.Progress
	Columns    saved.Columns // what keys and values are

	of        Structure
	counted   *vk.HostBuffer[uint32] // a word, for who is in alone and waits for the stream
	pipelines *pipeline.Pool
	settling  sync.Mutex // what Settle changes
	scratch   recording.Scratch
	own       *recording.Own
	uses      vk.Uses           // of the structure's memory
	changes   recording.Changes // to the contents
	gate      *gate.Gate
	meter     recording.Meter
	prepared  atomic.Bool // all kernels are made
}

// Bare has calls on a structure that was never opened be refused.
func (c *Core) Bare(of saved.Columns) {
	c.Columns = of
	c.Reader = ordered.NewReader(nil, c.Width(), recorder{c}, nil, nil, nil)
}

// Open makes the core of a structure. It is to be closed, also after an error.
func (c *Core) Open(d *vk.Device, columns saved.Columns, of Structure, progress structures.Progress) error {
	c.gate = gate.New()
	c.Device, c.Columns, c.of, c.Progress = d, columns, of, c.gate.Progress(progress)
	w := c.Width()
	c.Primitives = primitives.New(d, primitives.Options{})
	c.Queries = runs.New(d, c.Primitives, w)
	c.pipelines = pipeline.NewPool(d)
	c.own = recording.NewOwn(d)
	c.Reader = ordered.NewReader(d, w, recorder{c}, c.pipelines, c.own, c.Progress)
	c.scratch = recording.NewScratch(d)
	var err error
	if c.Stream, err = d.NewStream(); err != nil {
		return err
	}
	if c.counted, err = vk.NewHostBuffer[uint32](d, 1); err != nil {
		return err
	}
	if c.Rows, err = vk.NewBuffer[uint64](d, allKeysAt+2); err != nil {
		return err
	}
	all := []uint64{math.MaxUint32 << 32, 0}
	if w == structures.Bits64 {
		all = []uint64{0, math.MaxUint64}
	}
	return c.Rows.Upload(context.Background(), allKeysAt, all)
}

// Width is that of keys and of values.
func (c *Core) Width() structures.Width { return c.Columns.Width() }

// Widths are those of pairs where they are sorted and compacted.
func (c *Core) Widths() primitives.Widths {
	return primitives.Widths{Key: c.Width(), Value: c.Width()}
}

// allKeysAt is where the range of all keys stands, behind the rows.
const allKeysAt = 4 * runs.StackRows

// Err returns why the structure is not open; nil if it is. Calls ask it before they look at their arguments.
func (c *Core) Err() error { return c.gate.Err() }

// Enter begins a call that uses what the core has but once, when its turn has come, and behind the updates of all
// streams; Leave ends it. Queries do so themselves, beside each other.
func (c *Core) Enter(ctx context.Context) error {
	return c.enter(ctx, c.gate.Enter, c.gate.Leave, false)
}

// EnterShared is Enter for a call that changes nothing, beside others like it; LeaveShared ends it.
func (c *Core) EnterShared(ctx context.Context) error {
	return c.enter(ctx, c.gate.EnterShared, c.gate.LeaveShared, false)
}

// LeaveShared ends a call that EnterShared has let in.
func (c *Core) LeaveShared() { c.gate.LeaveShared() }

// EnterAlone is Enter for a call that changes the structure: behind all work of all streams.
func (c *Core) EnterAlone(ctx context.Context) error {
	return c.enter(ctx, c.gate.Enter, c.gate.Leave, true)
}

// EnterOn is Enter for a call that records, and waits for nothing but its turn.
func (c *Core) EnterOn(ctx context.Context) error { return c.gate.Enter(ctx) }

func (c *Core) enter(ctx context.Context, enter func(context.Context) error, leave func(), alone bool) error {
	if err := enter(ctx); err != nil {
		return err
	}
	return gate.Unless(leave, func() error {
		return c.behind(alone, func(u *vk.Uses) error { return u.Rest(ctx) })
	})
}

// behind has a call come behind the updates of other streams, or behind all their work, and settles what has become of
// them. A stream that is submitted by another goroutine just now tells updates last of all: when these let the call
// pass, what Settle asks for is certain. So of queries beside each other the first has all settled, and the others read
// what nobody changes any more; but one that records on the stream of the updates themselves comes behind them there.
func (c *Core) behind(all bool, come func(u *vk.Uses) error) error {
	if all {
		if err := come(&c.uses); err != nil {
			return err
		}
	}
	err := come(&c.changes.Uses)
	if err == nil {
		c.settling.Lock()
		defer c.settling.Unlock()
		c.of.Settle()
	}
	return err
}

// on records a query, or an update, into a stream, by who has entered: all of it or nothing, behind the updates of
// other streams, or behind all their work.
func (c *Core) on(s *vk.Stream, updates bool, record func() error) error {
	if err := c.behind(updates, func(u *vk.Uses) error { return u.Order(s) }); err != nil {
		return err
	}
	if updates {
		return recording.Naming(s, record, &c.uses, &c.changes)
	}
	return recording.Naming(s, record, &c.uses)
}

// Free gives memory of the structure's back, behind the work that names it.
func (c *Core) Free(m *runs.Memory) { c.uses.Free(m.Free) }

// Outside runs a function of the user's by who has entered.
func (c *Core) Outside(f func() error) error { return c.gate.Outside(f) }

// Leave ends a call.
func (c *Core) Leave() {
	if before, now := c.Hold(); now > before {
		c.meter.Grow()
		c.Device.Log().Info("runs grown", "bytes", now, "bytes_before", before)
	}
	c.gate.Leave()
}

// Hold notes how much memory the structure has, and had.
func (c *Core) Hold() (before, now uint64) {
	now = 8*4*runs.StackRows + c.of.Held() // the stack's rows, and its runs
	return c.meter.Hold(now), now
}

// Rebuilt counts that the structure was made anew.
func (c *Core) Rebuilt() { c.meter.Rebuild() }

// Metrics are what was counted.
func (c *Core) Metrics() structures.Metrics { return c.meter.Metrics(c.Device) }

// Take is Enter for what doesn't fail. leave ends it.
func (c *Core) Take() (leave func(), open bool) { return c.gate.Take() }

// Changed says that what the structure holds is another than before.
func (c *Core) Changed() { c.changes.Made() }

// Close frees the core, when the calls before have ended, and behind the work that streams have recorded. free frees
// what else the structure has. Further calls do nothing.
func (c *Core) Close(free func()) error {
	leave, open, err := c.gate.Shut()
	if err != nil {
		return err
	}
	defer leave()
	if !open {
		return nil
	}
	c.gate.End()
	if c.Stream != nil {
		err = c.Stream.Close()
	}
	err = joint.Error(err, c.pipelines.Close(), c.Queries.Close(), c.Primitives.Close())
	c.Trim()
	if c.counted != nil {
		c.uses.Free(c.counted.Free)
	}
	if c.Rows != nil {
		c.uses.Free(c.Rows.Free)
	}
	free()
	c.meter.Hold(0)
	return err
}

// Scratch returns the address of so many bytes for what is recorded into a stream next, after all that was recorded
// into it before. Each stream has memory of its own.
func (c *Core) Scratch(s *vk.Stream, bytes int) (uint64, error) { return c.scratch.Take(s, bytes) }

// UpdateScratch is Scratch for the structure's updates, which never overlap.
func (c *Core) UpdateScratch(s *vk.Stream, bytes int) (uint64, error) {
	return c.scratch.TakeShared(s, &c.uses, bytes)
}

// ScratchBytes is how much memory the scratch takes.
func (c *Core) ScratchBytes() uint64 { return c.scratch.Bytes() + c.own.Bytes() }

// Trim gives the scratch back, behind the work that names it.
func (c *Core) Trim() {
	c.scratch.Release(&c.uses)
	c.own.Release(&c.uses)
}
