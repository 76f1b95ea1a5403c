// Package pipeline carries batches in Go slices through a device. It also has the functions that structures share for
// batches that could not be finished.
package pipeline

import (
	"context"
	"log/slog"
	"slices"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Chunk is the part of a batch that one dispatch works on.
type Chunk struct {
	First, Count int
	Columns      []uint64 // the device address of each column's part, in the order given to Run; 0: none
	Pending      uint64   // the address of the counter of operations left pending (uint32, at first 0)
	Retry        bool     // the chunk was dispatched before; do only its pending operations
}

// Turns makes the chunks of a batch run one after the other, each on the results of the one before. Copies still
// overlap with other chunks' work.
type Turns struct {
	last *vk.Stream
	done vk.Point // the end of its work, without the copying of results
}

// Take makes the next work on a stream wait for the previous chunk.
func (t *Turns) Take(s *vk.Stream) {
	if t.last != nil && t.last != s {
		s.After(t.done)
	}
	t.last = s
}

// pass submits the work of the chunk that called Take last.
func (t *Turns) pass() (err error) {
	if t.last != nil {
		t.done, err = t.last.Submit()
	}
	return err
}

// Wait waits for the previous chunk.
func (t *Turns) Wait(ctx context.Context) error {
	if t.last == nil {
		return nil
	}
	return t.last.Wait(ctx)
}

// Task is the work on the chunks of a batch.
type Task struct {
	// Record records the work on a chunk. If it returns an error that is Short, a smaller chunk is tried.
	Record func(s *vk.Stream, c Chunk) error
	// Recover is called when operations were left pending and no chunk is running. It makes room for them, and then
	// they are dispatched again. stuck: none was finished since the last call.
	Recover func(ctx context.Context, pending int, stuck bool) error
	// Progress, if not nil, is called with the number of operations done.
	Progress structures.Progress
	// Turns, if not nil, orders the chunks.
	Turns *Turns
	// Whole says that a batch of at most Pool.Chunk operations must be one chunk. If there is no memory for it, Run
	// returns an error that is Short, and Record was not called or has failed.
	Whole bool
	// Parts is the least number of parts of a batch, if they are large enough. Parts make copies overlap with work. A
	// task whose parts cost little may have more.
	Parts int
}

// These values measured best on an H200.
const (
	PartsOfQueries = 8
	PartsInTurn    = 2 // for updates with Turns
)

// line carries one batch at a time through the device in chunks. While some chunks are computed or transferred, the
// next one is copied in and the previous one is copied out. A batch may be larger than the device's memory. If there is
// no room for a chunk, smaller ones are tried. A line keeps its staging memory until the pool is closed.
type line struct {
	of      *Pool
	slots   []*slot
	started int     // number of chunks begun in this batch; selects the next slot
	batch   batch   // the call under way
	open    []*slot // of inFlight
}

const (
	chunksInFlight = 3
	slots          = chunksInFlight + 2 // one more is filled, and the results of another are copied out

	leastChunk = 1 << 8 // operations; smaller chunks are not tried if there is too little room

	leastPart = 1 << 19 // operations; submitting and waiting for fewer costs more than their copies
)

// batch is a call of Run.
type batch struct {
	n        int
	columns  []Column
	task     Task
	done     int // operations of chunks that are finished
	left     int // operations that are not done
	finished []Chunk
}

// end waits for the chunks that are running. failed says that the batch stopped early. Chunks in flight are finished in
// any case, because their memory will be used again.
func (l *line) end(b *batch, failed bool) (err error) {
	if failed { // the pending operations of a chunk stay pending
		_, _, err = settle(l.inFlight(), b, false)
	}
	for _, s := range l.slots {
		s.settled()
		clear(s.columns[:cap(s.columns)]) // so that the caller's memory can be freed
	}
	if failed || err != nil {
		b.zero()
	}
	*b = batch{finished: b.finished, left: b.left}
	return err
}

// zero sets the statuses of chunks that were not finished to Pending.
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

func (l *line) run(ctx context.Context, b *batch) error {
	chunk := l.chunkOf(b)
	var ahead *slot // the slot of the next chunk, which is already being copied in
	for first := 0; first < b.n; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		s, err := ahead, error(nil)
		if s == nil {
			s, err = l.begin(b, first, chunk)
		}
		if err == nil {
			ahead, err = l.ahead(b, s, chunk)
		}
		if err == nil {
			if err := l.turn(ctx, b); err != nil {
				return err
			}
			err = s.submit(b.task, true)
		}
		if err == nil {
			first += s.chunk.Count
			continue
		}
		count := min(chunk, b.n-first)
		if !Short(err) || count <= leastChunk || b.task.Whole {
			return err
		}
		// There may be room for smaller chunks.
		if err := l.drain(ctx, b); err != nil {
			return err
		}
		l.release()
		ahead, chunk = nil, max(leastChunk, count/2)
	}
	return l.drain(ctx, b)
}

// begin assigns a slot to the chunk that begins with operation first, and returns nil if there is no such operation.
func (l *line) begin(b *batch, first, chunk int) (*slot, error) {
	if first >= b.n {
		return nil, nil
	}
	s, err := l.next()
	if err != nil {
		return nil, err
	}
	if err = l.fill(s, first, min(chunk, b.n-first), b); err != nil {
		l.started-- // the slot is empty
	}
	return s, err
}

// ahead begins to copy the chunk after a slot's into another slot, if there is memory for it.
func (l *line) ahead(b *batch, s *slot, chunk int) (*slot, error) {
	next, err := l.begin(b, s.chunk.First+s.chunk.Count, chunk)
	if Short(err) {
		return nil, nil
	}
	return next, err
}

// release frees the staging memory, while no chunk is in flight.
func (l *line) release() {
	for _, s := range l.slots {
		s.settled()
		s.free()
	}
}

// chunkOf returns the number of operations in the chunks of a batch.
func (l *line) chunkOf(b *batch) int {
	parts := max(b.task.Parts, 1)
	return min(l.of.chunk, max(leastPart, (b.n+parts-1)/parts))
}

// turn finishes the oldest chunk if enough chunks are in flight.
func (l *line) turn(ctx context.Context, b *batch) error {
	open := l.inFlight()
	if len(open) < chunksInFlight {
		return nil
	}
	left, err := open[0].wait()
	if err != nil {
		return err
	}
	if left != 0 {
		return l.drain(ctx, b)
	}
	open[0].finish(b)
	return nil
}

// next returns the slot that was used longest ago, emptied, or a new one. A batch of few chunks needs only as many
// slots.
func (l *line) next() (*slot, error) {
	at := l.started % slots
	if at == len(l.slots) {
		stream, err := l.of.d.NewStream()
		if err != nil {
			return nil, err
		}
		l.slots = append(l.slots, &slot{stream: stream})
	}
	l.started++
	s := l.slots[at]
	s.settled()
	return s, l.of.d.Accept("stream", s.stream) // fails if the device was closed, which freed the slot's memory
}

// inFlight returns the slots that hold a chunk, the oldest first. The next call overwrites the slice.
func (l *line) inFlight() []*slot {
	l.open = l.open[:0]
	for _, s := range l.slots {
		if s.busy {
			l.open = append(l.open, s)
		}
	}
	slices.SortFunc(l.open, func(a, b *slot) int { return a.chunk.First - b.chunk.First })
	return l.open
}

// drain waits for all chunks in flight and completes their pending operations.
func (l *line) drain(ctx context.Context, b *batch) error {
	var failure error
	open, last := l.inFlight(), -1
	for {
		var pending int
		var err error
		open, pending, err = settle(open, b, failure == nil)
		failure = joint.Error(failure, err)
		if len(open) == 0 {
			return failure
		}
		if err = context.Cause(ctx); err == nil {
			logRetry(ctx, l.of.d, pending, pending == last)
			err = b.task.Recover(ctx, pending, pending == last)
		}
		if err != nil {
			finish(open, b)
			return joint.Error(failure, err)
		}
		last = pending
		failure = joint.Error(failure, l.again(open, b))
	}
}

// logRetry logs that operations were left pending and will be dispatched again.
func logRetry(ctx context.Context, d *vk.Device, pending int, stuck bool) {
	d.Log().LogAttrs(ctx, slog.LevelInfo, "batch retried", slog.Int("pending", pending), slog.Bool("stuck", stuck))
}

// settle waits for chunks and finishes those that have nothing pending. If goOn is set and nothing has failed, it
// returns the others and the number of their pending operations; otherwise it finishes these, too.
func settle(open []*slot, b *batch, goOn bool) (rest []*slot, pending int, failure error) {
	for _, s := range open {
		left, err := s.wait()
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
func (l *line) again(open []*slot, b *batch) error {
	var failure error
	for _, s := range open {
		s.chunk.Retry = true
		failure = joint.Error(failure, s.submit(b.task, false))
	}
	return failure
}
