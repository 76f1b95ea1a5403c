package filter

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/handle"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

const (
	blockWords = 8
	blockBytes = 4 * blockWords
	maxBlocks  = min(1<<31, math.MaxInt/blockWords)
	workgroup  = 128
	maxTile    = 8
)

// Description is a filter as kernels see it: BloomFilter of shaders/include/bloom_filter.glsl. Embed it in the push
// constants of your own kernel.
type Description struct {
	Blocks uint64 // address
	Count  uint32 // blocks
}

// core is the Filter of any type.
type core struct {
	handle.Handle
	key    saved.Type
	width  structures.Width // of keys
	blocks *vk.Buffer[uint32]
	count  uint32 // blocks
}

// bare returns a filter that is not open.
func bare(key saved.Type) *core { return &core{key: key, width: key.Width} }

// newCore makes an empty filter.
func newCore(ctx context.Context, d *vk.Device, key saved.Type, o Options) (*core, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	blocks := blocksFor(o.Capacity, o.FalsePositives)
	impossible := structures.CapacityError{Option: "Capacity", Asked: o.Capacity}
	if blocks > maxBlocks {
		impossible.Err = &vk.LimitError{What: "blocks of a filter", Want: uint64(blocks), Most: maxBlocks}
		return nil, &impossible
	}
	if impossible.Err = d.Fits(uint64(blocks) * blockBytes); impossible.Err != nil {
		return nil, &impossible
	}
	c := open(d, key, o)
	if err := transfer.Filled(c, func() error { return c.resize(ctx, int(blocks)*blockWords) }); err != nil {
		return nil, err
	}
	return c, nil
}

// complete sets the defaults. Error: *vk.OptionError.
func (o *Options) complete() error {
	if o.Capacity == 0 {
		o.Capacity = DefaultCapacity
	}
	if o.FalsePositives == 0 {
		o.FalsePositives = DefaultFalsePositives
	}
	switch {
	case o.Capacity < 0:
		return &vk.OptionError{Option: "Capacity", Reason: "negative"}
	case !(o.FalsePositives >= leastRate && o.FalsePositives <= mostRate):
		return &vk.OptionError{Option: "FalsePositives",
			Reason: fmt.Sprintf("%g is not between %g and %g", o.FalsePositives, leastRate, mostRate)}
	}
	return nil
}

// open makes a filter without blocks.
func open(d *vk.Device, key saved.Type, o Options) *core {
	c := bare(key)
	c.Open("filter", d, o.Progress)
	return c
}

// resize gives a new filter memory of that many words. Words after those that it has are 0.
func (c *core) resize(ctx context.Context, words int) error {
	into, err := vk.NewBuffer[uint32](c.Device, words)
	if err != nil {
		return err
	}
	err = gate.Unless(into.Free, func() error {
		return c.do(ctx, func(s *vk.Stream) error {
			have := c.blocks.Len()
			if have > 0 {
				s.Copy(into, 0, c.blocks, 0, have)
			}
			s.Fill(into, have, into.Len()-have, 0)
			return nil
		})
	})
	if err != nil {
		return err
	}
	c.blocks.Free()
	c.blocks, c.count = into, uint32(words/blockWords)
	c.Meter.Hold(into.Bytes())
	return nil
}

// do records work on a stream and waits for its end.
func (c *core) do(ctx context.Context, record func(s *vk.Stream) error) error {
	return c.Pipelines.Do(ctx, func(s *vk.Stream) error {
		return recording.Run(s, func() error { return record(s) })
	})
}

func (c *core) insert(ctx context.Context, n int, keys pipeline.Column) error {
	ctx, end := c.Progress.Begin(ctx)
	defer end()
	if err := c.Enter(ctx); err != nil {
		return pipeline.NotBegun(nil, n, err)
	}
	defer c.Leave()
	c.Changes.Made()
	c.Meter.Batch(structures.Insert, n)
	left, err := c.Pipelines.Run(ctx, n, []pipeline.Column{keys}, pipeline.Task{
		Record: func(s *vk.Stream, part pipeline.Chunk) error {
			return c.recordInsert(s, part.Columns[0], recording.Length{N: uint32(part.Count)})
		},
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	})
	return pipeline.Stopped(nil, left, err)
}

func (c *core) contains(ctx context.Context, n int, keys, found pipeline.Column) error {
	ctx, end := c.Progress.Begin(ctx)
	defer end()
	if err := c.EnterShared(ctx); err != nil {
		return err
	}
	defer c.LeaveShared()
	c.Meter.Query(n)
	_, err := c.Pipelines.Run(ctx, n, []pipeline.Column{keys, found}, pipeline.Task{
		Record: func(s *vk.Stream, part pipeline.Chunk) error {
			return c.recordContains(s, part.Columns[0], part.Columns[1], recording.Length{N: uint32(part.Count)})
		},
		Progress: gate.Told(ctx),
		Parts:    pipeline.PartsOfQueries,
	})
	return err
}

func (c *core) clear(ctx context.Context) error {
	if err := c.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer c.Leave()
	c.Changes.Made()
	return c.do(ctx, func(s *vk.Stream) error {
		s.Fill(c.blocks, 0, c.blocks.Len(), 0)
		return nil
	})
}

func (c *core) union(ctx context.Context, other *core) error {
	if err := cmp.Or(c.Err(), other.Err(), c.Device.Accept("filter", other.blocks)); err != nil {
		return err
	}
	if c.count != other.count {
		return &vk.OptionError{Option: "filter",
			Reason: fmt.Sprintf("it has %d blocks, and this one %d", other.count, c.count)}
	}
	if c == other {
		return context.Cause(ctx)
	}
	turns := []struct {
		enter func(context.Context) error
		leave func()
	}{{c.Enter, c.Leave}, {other.EnterShared, other.LeaveShared}}
	if c.blocks.Address() > other.blocks.Address() { // one order, so that no two calls wait for each other
		turns[0], turns[1] = turns[1], turns[0]
	}
	for _, turn := range turns {
		if err := turn.enter(ctx); err != nil {
			return err
		}
		defer turn.leave()
	}
	if err := cmp.Or(c.Uses.Rest(ctx), other.Changes.Rest(ctx)); err != nil {
		return err
	}
	c.Changes.Made()
	return c.do(ctx, func(s *vk.Stream) error { return c.recordMerge(s, other.blocks.Address()) })
}

func (c *core) Close() error {
	return c.Handle.Close(func(bool) error {
		err := c.Free()
		c.Uses.Free(c.blocks.Free)
		return err
	})
}

// Description returns the filter as kernels see it, or the zero value after Close.
func (c *core) Description() Description { return handle.Describe(&c.Handle, c.description) }

func (c *core) description() Description { return Description{c.blocks.Address(), c.count} }

// Constants returns the specialization constants of kernels that insert keys.
func (c *core) Constants() map[string]uint32 {
	if c.Gate == nil {
		return nil
	}
	return map[string]uint32{"TILE": c.tile()}
}
