// Package sorted is the common part of the sorted array and the LSM: a dictionary whose pairs are a stack of sorted
// runs (package runs), with its calls from Go slices and on streams. Each structure writes its runs itself.
package sorted

import (
	"context"
	"math"
	"sync"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/handle"
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

// Core is the common part of a sorted array and an LSM. Its Reader answers their queries. EnterAfterChanges and
// EnterQuery settle; Enter and EnterShared are the gate's, and don't.
type Core struct {
	handle.Handle
	*ordered.Reader
	Primitives *primitives.Primitives
	Queries    *runs.Queries
	Rows       *vk.Buffer[uint64]
	Columns    saved.Columns // the types of keys and values

	of       Structure
	counted  *vk.HostBuffer[uint32] // a word, for a caller that has entered alone and waits for the stream
	settling sync.Mutex             // guards what Settle changes
	scratch  recording.Scratch
}

// Bare initializes the core of a structure that was never opened, whose calls return errors.
func (c *Core) Bare(of saved.Columns) {
	c.Columns = of
	c.Reader = ordered.NewReader(&c.Handle, c.Width(), recorder{c})
}

// Open makes the core of a structure, which errors call by what. Close it even after an error.
func (c *Core) Open(what string, d *vk.Device, columns saved.Columns, of Structure,
	progress structures.Progress) error {
	c.Bare(columns)
	c.Handle.Open(what, d, progress)
	c.of = of
	w := c.Width()
	c.Primitives = primitives.New(d, primitives.Options{})
	c.Queries = runs.New(d, c.Primitives, w)
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

// EnterQuery, EnterAfterChanges and EnterAfterAll are those of the handle. They also settle dropped updates.
func (c *Core) EnterQuery(ctx context.Context) error { return c.settle(c.Handle.EnterQuery(ctx)) }

func (c *Core) EnterAfterChanges(ctx context.Context) error {
	return c.settle(c.Handle.EnterAfterChanges(ctx))
}

func (c *Core) EnterAfterAll(ctx context.Context) error {
	if err := c.Handle.EnterAfterAll(ctx); err != nil {
		return err
	}
	return gate.Unless(c.Handle.Leave, func() error { return c.settle(c.Changes.Rest(ctx)) })
}

// settle settles dropped updates, if a call that must come after the updates of other streams does (err is nil).
//
// When a stream is submitted, Changes is told last. So when Changes lets the call pass, the outcome that Settle reads
// is final, even if another goroutine submits the stream just then. Of concurrent queries, the first one settles
// everything, and the others read state that no longer changes. A query on the stream of the updates themselves follows
// them there.
func (c *Core) settle(err error) error {
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
	use := c.Using
	if updates {
		if err := c.Uses.Order(s); err != nil {
			return err
		}
		use = c.Changing
	}
	if err := c.settle(c.Changes.Order(s)); err != nil {
		return err
	}
	return use(s, record)
}

// Drop frees memory of the structure after the work that uses it.
func (c *Core) Drop(m *runs.Memory) { c.Uses.Free(m.Free) }

// Leave ends a call.
func (c *Core) Leave() {
	if before, now := c.Hold(); now > before {
		c.Meter.Grow()
		c.Device.Log().Info("runs grown", "bytes", now, "bytes_before", before)
	}
	c.Handle.Leave()
}

// Hold updates how much memory the structure has, and returns the value before and now.
func (c *Core) Hold() (before, now uint64) {
	now = 8*4*runs.StackRows + c.of.Held() // the stack's rows, and its runs
	return c.Meter.Hold(now), now
}

// Close waits for the calls before it, and frees the core after the work that streams have recorded. free frees the
// rest of the structure. Further calls do nothing.
func (c *Core) Close(free func()) error {
	return c.Handle.Close(func(bool) error {
		err := joint.Error(c.Free(), c.Queries.Close(), c.Primitives.Close())
		c.Trim()
		c.Uses.Free(c.counted.Free)
		c.Uses.Free(c.Rows.Free)
		free()
		return err
	})
}

// Scratch returns the address of the given number of bytes for the next work on a stream. They are used after all work
// that the stream has recorded before. Each stream has its own memory.
func (c *Core) Scratch(s *vk.Stream, bytes int) (uint64, error) { return c.scratch.Take(s, bytes) }

// UpdateScratch is Scratch for updates of the structure, which never overlap.
func (c *Core) UpdateScratch(s *vk.Stream, bytes int) (uint64, error) {
	return c.scratch.TakeShared(s, &c.Uses, bytes)
}

// ScratchBytes returns how much memory the scratch takes.
func (c *Core) ScratchBytes() uint64 { return c.scratch.Bytes() + c.Own.Bytes() }

// Trim frees the scratch after the work that uses it.
func (c *Core) Trim() {
	c.scratch.Release(&c.Uses)
	c.Own.Release(&c.Uses)
}
