// Package sorted is the common part of the sorted array and the LSM: a dictionary whose pairs are a stack of sorted
// runs (package runs), with its calls from Go slices and on streams. Each structure writes its runs itself.
package sorted

import (
	"context"
	"math"
	"sync"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Structure has the methods that a Core calls on its structure.
type Structure interface {
	// Stack returns the runs that hold the pairs.
	Stack() runs.Stack
	// Unique reports whether the stack is one run in which each key comes once and nothing is deleted.
	Unique() bool
	// Reserve allocates the memory for a batch, or returns an error if the batch cannot be done. It records nothing.
	Reserve(s *vk.Stream, b Batch) error
	// Update records a batch after the work that the stream has recorded before. Reserve was called for the batch.
	// Update may wait for the stream. An error leaves the structure as it was.
	Update(ctx context.Context, s *vk.Stream, b Batch) error
	// Held returns how much device memory the structure takes, without scratch memory.
	Held() uint64
	// Settle undoes the state changes of updates that their streams have dropped since.
	Settle()
}

// Batch is a batch of updates on the device.
type Batch struct {
	Kind           structures.Kind // Structure.Update gets only Insert and Delete
	Keys           uint64          // address of a word for each operation
	Values         uint64          // the same, for insertions
	Kinds          uint64          // a byte for each operation; for Mixed only
	N              int
	pipeline.Order // of the keys, if known
}

// Core is the common part of a sorted array and an LSM. Its Reader answers their queries.
type Core struct {
	*ordered.Reader
	Device     *vk.Device
	Primitives *primitives.Primitives
	Queries    *runs.Queries
	Stream     *vk.Stream // for work outside of batches
	Rows       *vk.Buffer[uint64]
	Progress   *gate.Progress
	Columns    saved.Columns // the types of keys and values

	of        Structure
	counted   *vk.HostBuffer[uint32] // a word, for a caller that has entered alone and waits for the stream
	pipelines *pipeline.Pool
	settling  sync.Mutex // guards what Settle changes
	scratch   recording.Scratch
	own       *recording.Own
	uses      vk.Uses           // of the structure's memory
	changes   recording.Changes // of the contents
	gate      *gate.Gate
	meter     recording.Meter
	prepared  recording.Prepared
}

// Bare initializes the core of a structure that was never opened, whose calls return errors.
func (c *Core) Bare(of saved.Columns) {
	c.Columns = of
	c.Reader = ordered.NewReader(nil, c.Width(), recorder{c}, nil, nil, nil)
}

// Open makes the core of a structure. Close it even after an error.
func (c *Core) Open(d *vk.Device, columns saved.Columns, of Structure, progress structures.Progress) error {
	c.gate = gate.New()
	c.Device, c.Columns, c.of, c.Progress = d, columns, of, gate.NewProgress(progress)
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

// Width returns the width of keys and values.
func (c *Core) Width() structures.Width { return c.Columns.Width() }

// Widths returns the widths for sorting and compacting pairs.
func (c *Core) Widths() primitives.Widths {
	return primitives.Widths{Key: c.Width(), Value: c.Width()}
}

// allKeysAt is the index in Rows of the range of all keys, after the rows of the stack.
const allKeysAt = 4 * runs.StackRows

// Err returns an error if the structure is not open. Calls check it before they look at their arguments.
func (c *Core) Err() error { return c.gate.Err() }

// Enter begins a call that needs the core for itself. It waits for the calls before it and for the updates of all
// streams. Leave ends the call. Queries enter by themselves, and run at the same time.
func (c *Core) Enter(ctx context.Context) error {
	return c.enter(ctx, c.gate.Enter, c.gate.Leave, false)
}

// EnterShared is Enter for a call that changes nothing; several such calls run at the same time. LeaveShared ends the
// call.
func (c *Core) EnterShared(ctx context.Context) error {
	return c.enter(ctx, c.gate.EnterShared, c.gate.LeaveShared, false)
}

// LeaveShared ends a call that EnterShared began.
func (c *Core) LeaveShared() { c.gate.LeaveShared() }

// EnterAlone is Enter for a call that changes the structure. It waits for all work of all streams.
func (c *Core) EnterAlone(ctx context.Context) error {
	return c.enter(ctx, c.gate.Enter, c.gate.Leave, true)
}

// EnterOn is Enter for a call that records on a stream. It waits only for the calls before it.
func (c *Core) EnterOn(ctx context.Context) error { return c.gate.Enter(ctx) }

func (c *Core) enter(ctx context.Context, enter func(context.Context) error, leave func(), alone bool) error {
	if err := enter(ctx); err != nil {
		return err
	}
	return gate.Unless(leave, func() error {
		return c.behind(alone, func(u *vk.Uses) error { return u.Rest(ctx) })
	})
}

// behind makes a call come after the updates of other streams, or after all their work, and then settles dropped
// updates.
//
// When a stream is submitted, changes is told last. So when come lets the call pass, the outcome that Settle reads is
// final, even if another goroutine submits the stream just then. Of concurrent queries, the first one settles
// everything, and the others read state that no longer changes. A query on the stream of the updates themselves follows
// them there.
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

// on records a query or an update into a stream, completely or not at all, after the updates of other streams, or after
// all their work. The caller has entered.
func (c *Core) on(s *vk.Stream, updates bool, record func() error) error {
	if err := c.behind(updates, func(u *vk.Uses) error { return u.Order(s) }); err != nil {
		return err
	}
	if updates {
		return recording.Naming(s, record, &c.uses, &c.changes)
	}
	return recording.Naming(s, record, &c.uses)
}

// Free frees memory of the structure after the work that uses it.
func (c *Core) Free(m *runs.Memory) { c.uses.Free(m.Free) }

// Leave ends a call.
func (c *Core) Leave() {
	if before, now := c.Hold(); now > before {
		c.meter.Grow()
		c.Device.Log().Info("runs grown", "bytes", now, "bytes_before", before)
	}
	c.gate.Leave()
}

// Hold updates how much memory the structure has, and returns the value before and now.
func (c *Core) Hold() (before, now uint64) {
	now = 8*4*runs.StackRows + c.of.Held() // the stack's rows, and its runs
	return c.meter.Hold(now), now
}

// Rebuilt counts a rebuild of the structure.
func (c *Core) Rebuilt() { c.meter.Rebuild() }

// Metrics returns the counters.
func (c *Core) Metrics() structures.Metrics { return c.meter.Metrics(c.Device) }

// Take is Enter for a call that cannot fail. leave ends it.
func (c *Core) Take() (leave func(), open bool) { return c.gate.Take() }

// Changed records that the contents of the structure have changed.
func (c *Core) Changed() { c.changes.Made() }

// Close waits for the calls before it, and frees the core after the work that streams have recorded. free frees the
// rest of the structure. Further calls do nothing.
func (c *Core) Close(free func()) error {
	return c.gate.Close(func() (err error) {
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
	})
}

// Scratch returns the address of the given number of bytes for the next work on a stream. They are used after all work
// that the stream has recorded before. Each stream has its own memory.
func (c *Core) Scratch(s *vk.Stream, bytes int) (uint64, error) { return c.scratch.Take(s, bytes) }

// UpdateScratch is Scratch for updates of the structure, which never overlap.
func (c *Core) UpdateScratch(s *vk.Stream, bytes int) (uint64, error) {
	return c.scratch.TakeShared(s, &c.uses, bytes)
}

// ScratchBytes returns how much memory the scratch takes.
func (c *Core) ScratchBytes() uint64 { return c.scratch.Bytes() + c.own.Bytes() }

// Trim frees the scratch after the work that uses it.
func (c *Core) Trim() {
	c.scratch.Release(&c.uses)
	c.own.Release(&c.uses)
}
