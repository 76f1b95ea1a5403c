// Package pipeline carries batches in Go slices through a device. Beside it stands what the structures do alike with batches
// that could not be finished.
package pipeline

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"unsafe"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Column is one array of a batch on its way to the device, back, or both: Width bytes an operation.
type Column struct {
	Data  []byte // of the whole batch; nil: there is no such column, and its address is 0
	Width int
	In    bool // goes to the device
	Out   bool // comes back
}

// In returns a column that goes to the device: of words, or of structs of words. Like the other two it may be made of a
// nil slice.
func In[T any](s []T) Column { return column(s, true, false) }

// Out returns a column that the device fills. Of a []bool it writes bytes of 0 and 1 alone.
func Out[T any](s []T) Column { return column(s, false, true) }

// InOut returns a column that the device changes.
func InOut[T any](s []T) Column { return column(s, true, true) }

func column[T any](s []T, in, out bool) Column {
	width := int(unsafe.Sizeof(*new(T)))
	c := Column{Width: width, In: in, Out: out}
	if len(s) != 0 {
		c.Data = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*width)
	}
	return c
}

// Chunk is the part of a batch that one dispatch works on.
type Chunk struct {
	First, Count int
	Columns      []uint64 // the address of each column's part on the device, in the order given to Run; 0: none
	Pending      uint64   // the address of a counter (uint32, zero) of operations given up
	Retry        bool     // the chunk was dispatched before: only its pending operations are to be done
}

// Turns have the chunks of a batch work one after the other, each on what the one before has left; their copies still
// overlap.
type Turns struct{ last *vk.Stream }

// Take has what is recorded into a stream next wait for the chunk before, whose stream it submits.
func (t *Turns) Take(s *vk.Stream) error {
	if t.last != nil && t.last != s {
		before, err := t.last.Submit()
		if err != nil {
			return err
		}
		s.After(before)
	}
	t.last = s
	return nil
}

// Wait waits for the chunk before.
func (t *Turns) Wait(ctx context.Context) error {
	if t.last == nil {
		return nil
	}
	return t.last.Wait(ctx)
}

// Task is what a Pipeline does with the chunks of a batch.
type Task struct {
	// Record records the work on a chunk. Where it returns an error that is Short, a smaller one is tried.
	Record func(s *vk.Stream, c Chunk) error
	// Recover is called when operations were left pending and no chunk is running. It makes room for
	// them; afterwards they are dispatched again. stuck: since the last call none was finished.
	Recover func(ctx context.Context, pending int, stuck bool) error
	// Progress, if not nil, is told of the operations done.
	Progress structures.Progress
}

// Pipeline carries batches in Go slices through the device in chunks: while one chunk is computed, the
// next one is copied in and the one before is copied out. A batch may be larger than the device's
// memory. Where there is no room for a chunk, smaller ones are tried. A Pipeline keeps its staging memory
// until it is closed, and serves one call at a time.
type Pipeline struct {
	d       *vk.Device
	chunk   int  // operations
	direct  bool // kernels work in the host buffers: the device's memory is the host's
	slots   []*slot
	started int // chunks given out: says whose turn it is
}

const (
	chunksInFlight = 3

	leastChunk = 1 << 8 // operations: less is not tried where room is short

	gpuChunk = 1 << 21
	cpuChunk = 1 << 17 // a dispatch on a CPU device takes some 10 ms with these
)

var chunkForTests int

// InChunksOf is for tests: pipelines that are made from here on cut batches into chunks of so many operations; 0: as many
// as the device is best with.
func InChunksOf(n int) { chunkForTests = n }

// New makes a pipeline. It takes memory only when it is used.
func New(d *vk.Device) *Pipeline {
	p := &Pipeline{d: d, chunk: gpuChunk}
	switch d.Info().Type {
	case vk.CPU:
		p.chunk, p.direct = cpuChunk, true
	case vk.Integrated:
		p.direct = true
	}
	if chunkForTests != 0 {
		p.chunk = chunkForTests
	}
	return p
}

// batch is a call of Run.
type batch struct {
	n       int
	columns []Column
	task    Task
	done    int
}

// Run carries a batch of n operations through the device. When it returns, no chunk is running. With
// an error, the chunks that were finished have their outputs, and no other output was written.
// Cancellation is seen between chunks.
func (p *Pipeline) Run(ctx context.Context, n int, columns []Column, task Task) error {
	b := &batch{n: n, columns: columns, task: task}
	err := p.run(ctx, b)
	if err == nil {
		return nil
	}
	// What is in flight is finished in any case: its memory is about to be used again.
	return errors.Join(err, p.clearUp(context.WithoutCancel(ctx), b))
}

func (p *Pipeline) run(ctx context.Context, b *batch) error {
	chunk := p.chunk
	for first := 0; first < b.n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := p.turn(ctx, b)
		if err != nil {
			return err
		}
		count := min(chunk, b.n-first)
		err = p.start(s, first, count, b)
		if Short(err) && count > leastChunk {
			// There may be room for less of it, and for all of it in parts.
			if err := p.drain(ctx, b); err != nil {
				return err
			}
			p.release()
			chunk = max(leastChunk, count/2)
			continue
		}
		if err != nil {
			return err
		}
		first += count
	}
	return p.drain(ctx, b)
}

// release frees the staging memory, while no chunk is in flight.
func (p *Pipeline) release() {
	for _, s := range p.slots {
		s.free()
	}
}

// turn returns the slot whose turn it is, after finishing the chunk in it.
func (p *Pipeline) turn(ctx context.Context, b *batch) (*slot, error) {
	if len(p.slots) < chunksInFlight {
		stream, err := p.d.NewStream()
		if err != nil {
			return nil, err
		}
		p.slots = append(p.slots, &slot{stream: stream})
		p.started = len(p.slots)
		return p.slots[len(p.slots)-1], nil
	}
	s := p.slots[p.started%len(p.slots)]
	p.started++
	if !s.busy {
		return s, nil
	}
	left, err := s.wait(ctx)
	if err != nil {
		return nil, err
	}
	if left != 0 {
		return s, p.drain(ctx, b)
	}
	s.finish(b)
	return s, nil
}

// inFlight are the slots with a chunk, the oldest first.
func (p *Pipeline) inFlight() []*slot {
	var all []*slot
	for _, s := range p.slots {
		if s.busy {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *slot) int { return a.chunk.First - b.chunk.First })
	return all
}

// drain waits for all chunks in flight and has their pending operations done.
func (p *Pipeline) drain(ctx context.Context, b *batch) error {
	var failure error
	open, last := p.inFlight(), -1
	for {
		var pending int
		var err error
		open, pending, err = settle(ctx, open, b, failure == nil)
		failure = errors.Join(failure, err)
		if len(open) == 0 {
			return failure
		}
		if err = ctx.Err(); err == nil {
			logRetry(ctx, p.d, pending, pending == last)
			err = b.task.Recover(ctx, pending, pending == last)
		}
		if err != nil {
			finish(open, b)
			return errors.Join(failure, err)
		}
		last = pending
		failure = errors.Join(failure, p.again(open, b))
	}
}

// logRetry tells of operations that were left pending, and are to be dispatched again.
func logRetry(ctx context.Context, d *vk.Device, pending int, stuck bool) {
	d.Log().LogAttrs(ctx, slog.LevelInfo, "batch retried", slog.Int("pending", pending), slog.Bool("stuck", stuck))
}

// clearUp waits for all chunks in flight. Those with pending operations count as never run, but for their statuses.
func (p *Pipeline) clearUp(ctx context.Context, b *batch) error {
	_, _, err := settle(ctx, p.inFlight(), b, false)
	return err
}

// settle waits for chunks, and finishes those that have nothing pending; and all, unless the others are to be gone on
// with, which it returns with the number of their pending operations.
func settle(ctx context.Context, open []*slot, b *batch, goOn bool) (rest []*slot, pending int, failure error) {
	for _, s := range open {
		left, err := s.wait(ctx)
		switch {
		case err != nil:
			s.busy = false
			failure = errors.Join(failure, err)
		case left == 0 || !goOn || failure != nil:
			s.finish(b)
		default:
			pending += left
			rest = append(rest, s)
		}
	}
	return rest, pending, failure
}

func finish(open []*slot, b *batch) {
	for _, s := range open {
		s.finish(b)
	}
}

// again dispatches the pending operations of chunks, in the order of the batch.
func (p *Pipeline) again(open []*slot, b *batch) error {
	var failure error
	for _, s := range open {
		s.chunk.Retry = true
		failure = errors.Join(failure, s.submit(p.direct, b.task, false))
	}
	return failure
}

// Close frees the staging memory.
func (p *Pipeline) Close() error {
	var err error
	for _, s := range p.slots {
		s.free()
		err = errors.Join(err, s.stream.Close())
	}
	p.slots = nil
	return err
}
