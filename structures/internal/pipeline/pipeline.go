// Package pipeline carries batches in Go slices through a device. Beside it stands what the structures do alike with
// batches that could not be finished.
package pipeline

import (
	"context"
	"log/slog"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/vk"
)

// Chunk is the part of a batch that one dispatch works on.
type Chunk struct {
	First, Count int
	Columns      []uint64 // the address of each column's part on the device, in the order given to Run; 0: none
	Pending      uint64   // the address of a counter (uint32, zero) of operations given up
	Retry        bool     // the chunk was dispatched before: only its pending operations are to be done
}

// Turns have the chunks of a batch work one after the other, each on what the one before has left; their copies still
// overlap, those of its results with the next one's work, too.
type Turns struct {
	last *vk.Stream
	done vk.Point // its work, but for the copying of results
}

// Take has what is recorded into a stream next wait for the chunk before.
func (t *Turns) Take(s *vk.Stream) {
	if t.last != nil && t.last != s {
		s.After(t.done)
	}
	t.last = s
}

// pass submits the work on the chunk that has taken its turn last.
func (t *Turns) pass() (err error) {
	if t.last != nil {
		t.done, err = t.last.Submit()
	}
	return err
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
	// Turns are those that the chunks take, if they do.
	Turns *Turns
	// Whole says that a batch of no more than Pool.Chunk operations is to be one chunk: where there is no memory for
	// that, Run returns an error that is Short, and Record has not been called or has failed.
	Whole bool
	// Parts is how many parts a batch is to be done in at least, where they are large enough, so that their copies
	// overlap with their work: the more of them, the less a part costs by itself.
	Parts int
}

// What measured best on the H200 (docs/benchmarks.md).
const (
	PartsOfQueries = 8
	PartsInTurn    = 2 // of updates whose chunks take turns
)

// Pipeline carries batches in Go slices through the device in chunks: while some are computed or on their way there or
// back, the next one is copied in and the one before is copied out. A batch may be larger than the device's memory.
// Where there is no room for a chunk, smaller ones are tried. A Pipeline keeps its staging memory until it is closed,
// and serves one call at a time.
type Pipeline struct {
	d       *vk.Device
	chunk   int  // operations
	direct  bool // kernels work in the host buffers: the device's memory is the host's
	slots   []*slot
	started int // chunks of this batch: says whose turn it is
}

const (
	chunksInFlight = 3
	slots          = chunksInFlight + 2 // and one that is filled, and one whose results are copied out

	leastChunk = 1 << 8 // operations: less is not tried where room is short

	gpuChunk = 1 << 21
	cpuChunk = 1 << 17 // a dispatch on a CPU device takes some 10 ms with these

	leastPart = 1 << 19 // operations: to submit less by itself, and to wait for it, costs more than its copies
)

var chunkForTests int

// InChunksOf is for tests: pipelines that are made from here on cut batches into chunks of so many operations; 0: as
// many as the device is best with.
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
	n        int
	columns  []Column
	task     Task
	done     int // operations of chunks that are finished
	left     int // operations that are not done
	finished []Chunk
}

// Run carries a batch of n operations through the device. When it returns, no chunk is running. With an error, the
// chunks that were finished have their outputs, and no other output was written, but for statuses; left is how many
// operations are not done. Cancellation is seen between chunks.
func (p *Pipeline) Run(ctx context.Context, n int, columns []Column, task Task) (left int, err error) {
	b := &batch{n: n, columns: columns, task: task, left: n}
	p.started = 0
	panics := true
	defer func() {
		if panics { // a method of the context's, or Progress
			b.task.Progress = nil
			_ = p.end(context.Background(), b, true)
		}
	}()
	err = p.run(ctx, b)
	err = joint.Error(err, p.end(context.WithoutCancel(ctx), b, err != nil))
	panics = false
	return b.left, err
}

// end waits for what is at work for a batch. failed: it has not been done to its end; what is in flight is finished in
// any case, since its memory is about to be used again.
func (p *Pipeline) end(ctx context.Context, b *batch, failed bool) (err error) {
	if failed {
		err = p.clearUp(ctx, b)
	}
	for _, s := range p.slots {
		s.settled()
	}
	if failed || err != nil {
		b.zero()
	}
	return err
}

// zero has the statuses of chunks that were not finished say so.
func (b *batch) zero() {
	slices.SortFunc(b.finished, func(x, y Chunk) int { return x.First - y.First })
	next := 0
	for _, c := range append(b.finished, Chunk{First: b.n}) {
		for _, column := range b.columns {
			if column.zeroed {
				clear(column.Part(next, c.First-next).To)
			}
		}
		next = c.First + c.Count
	}
}

func (p *Pipeline) run(ctx context.Context, b *batch) error {
	chunk := p.chunkOf(b)
	var ahead *slot // the next chunk's, into which it is copied already
	for first := 0; first < b.n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := ahead, error(nil)
		if s == nil {
			s, err = p.begin(b, first, chunk)
		}
		if err == nil {
			ahead, err = p.ahead(b, s, chunk)
		}
		if err == nil {
			if err := p.turn(ctx, b); err != nil {
				return err
			}
			err = p.start(s, b)
		}
		if err == nil {
			first += s.chunk.Count
			continue
		}
		count := min(chunk, b.n-first)
		if !Short(err) || count <= leastChunk || b.task.Whole {
			return err
		}
		// There may be room for less of it, and for all of it in parts.
		if err := p.drain(ctx, b); err != nil {
			return err
		}
		p.release()
		ahead, chunk = nil, max(leastChunk, count/2)
	}
	return p.drain(ctx, b)
}

// begin has a slot take the chunk that begins with operation `first`: nil if there is none.
func (p *Pipeline) begin(b *batch, first, chunk int) (*slot, error) {
	if first >= b.n {
		return nil, nil
	}
	s, err := p.next()
	if err != nil {
		return nil, err
	}
	if err = p.fill(s, first, min(chunk, b.n-first), b); err != nil {
		p.started-- // it has nothing
	}
	return s, err
}

// ahead has the chunk behind a slot's copied into another one, if there is memory for it yet.
func (p *Pipeline) ahead(b *batch, s *slot, chunk int) (*slot, error) {
	next, err := p.begin(b, s.chunk.First+s.chunk.Count, chunk)
	if Short(err) {
		return nil, nil
	}
	return next, err
}

// release frees the staging memory, while no chunk is in flight.
func (p *Pipeline) release() {
	for _, s := range p.slots {
		s.settled()
		s.free()
	}
}

// chunkOf is how many operations the chunks of a batch have.
func (p *Pipeline) chunkOf(b *batch) int {
	parts := max(b.task.Parts, 1)
	return min(p.chunk, max(leastPart, (b.n+parts-1)/parts))
}

// turn finishes the oldest chunk if there are enough in flight.
func (p *Pipeline) turn(ctx context.Context, b *batch) error {
	open := p.inFlight()
	if len(open) < chunksInFlight {
		return nil
	}
	left, err := open[0].wait(ctx)
	if err != nil {
		return err
	}
	if left != 0 {
		return p.drain(ctx, b)
	}
	open[0].finish(b)
	return nil
}

// next returns the slot that was used longest ago, with nothing in it, or a new one: a batch of few chunks takes no
// more slots than these.
func (p *Pipeline) next() (*slot, error) {
	at := p.started % slots
	if at == len(p.slots) {
		stream, err := p.d.NewStream()
		if err != nil {
			return nil, err
		}
		p.slots = append(p.slots, &slot{stream: stream})
	}
	p.started++
	s := p.slots[at]
	s.settled()
	return s, p.d.Accept("stream", s.stream) // its memory has gone with a device that was closed
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
		failure = joint.Error(failure, err)
		if len(open) == 0 {
			return failure
		}
		if err = ctx.Err(); err == nil {
			logRetry(ctx, p.d, pending, pending == last)
			err = b.task.Recover(ctx, pending, pending == last)
		}
		if err != nil {
			finish(open, b)
			return joint.Error(failure, err)
		}
		last = pending
		failure = joint.Error(failure, p.again(open, b))
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
			failure = joint.Error(failure, err)
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
		failure = joint.Error(failure, s.submit(p.direct, b.task, false))
	}
	return failure
}

// Close frees the staging memory.
func (p *Pipeline) Close() error {
	var err error
	for _, s := range p.slots {
		s.free()
		err = joint.Error(err, s.stream.Close())
	}
	p.slots = nil
	return err
}
