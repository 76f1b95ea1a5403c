package structures

import (
	"context"
	"errors"
	"unsafe"

	"github.com/vkds/vkds/vk"
)

// Column is one array of a batch on its way to the device, back, or both: Width bytes an operation.
type Column struct {
	Data  []byte // of the whole batch; nil: there is no such column, and its address is 0
	Width int
	In    bool // goes to the device
	Out   bool // comes back
}

// In returns a column that goes to the device. Like the other two it may be made of a nil slice.
func In[T vk.Element](s []T) Column { return column(s, true, false) }

// Out returns a column that the device fills.
func Out[T vk.Element](s []T) Column { return column(s, false, true) }

// InOut returns a column that the device changes.
func InOut[T vk.Element](s []T) Column { return column(s, true, true) }

func column[T vk.Element](s []T, in, out bool) Column {
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

// Task is what a Feed does with the chunks of a batch.
type Task struct {
	// Record records the work on a chunk. Where it returns an error that is Short, a smaller one is tried.
	Record func(s *vk.Stream, c Chunk) error
	// Recover is called when operations were left pending and no chunk is running. It makes room for
	// them; afterwards they are dispatched again. stuck: since the last call none was finished.
	Recover func(ctx context.Context, pending int, stuck bool) error
	// Progress, if not nil, is told of the operations done.
	Progress Progress
}

// Feed carries batches in Go slices through the device in chunks: while one chunk is computed, the
// next one is copied in and the one before is copied out. A batch may be larger than the device's
// memory. Where there is no room for a chunk, smaller ones are tried. A Feed keeps its staging memory
// until it is closed, and serves one call at a time.
type Feed struct {
	d       *vk.Device
	chunk   int  // operations
	direct  bool // kernels work in the host buffers: the device's memory is the host's
	parts   []*part
	started int // chunks given out: says whose turn it is
}

// part holds one chunk in flight.
type part struct {
	stream *vk.Stream
	host   *vk.HostBuffer[byte]
	device *vk.Buffer[byte]
	size   int // bytes of each buffer

	busy    bool
	chunk   Chunk
	columns []Column // of this chunk: Data is its part of the batch
	at      []int    // where each column lies in the buffers
}

const (
	partsInFlight = 3
	columnAlign   = 256
	counterBytes  = columnAlign // the pending counter's room, at the start of a part's buffers

	leastChunk = 1 << 8 // operations: less is not tried where room is short

	gpuChunk = 1 << 21
	cpuChunk = 1 << 17 // a dispatch on a CPU device takes some 10 ms with these
)

// NewFeed makes a feed. It takes memory only when it is used.
func NewFeed(d *vk.Device) *Feed {
	f := &Feed{d: d, chunk: gpuChunk}
	switch d.Info().Type {
	case vk.CPU:
		f.chunk, f.direct = cpuChunk, true
	case vk.Integrated:
		f.direct = true
	}
	return f
}

// Run carries a batch of n operations through the device. When it returns, no chunk is running. With
// an error, the chunks that were finished have their outputs, and no other output was written.
// Cancellation is seen between chunks.
func (f *Feed) Run(ctx context.Context, n int, columns []Column, task Task) error {
	done := 0
	err := f.run(ctx, n, columns, task, &done)
	if err == nil {
		return nil
	}
	// What is in flight is finished in any case: its memory is about to be used again.
	return errors.Join(err, f.drain(context.WithoutCancel(ctx), task, n, &done, false))
}

func (f *Feed) run(ctx context.Context, n int, columns []Column, task Task, done *int) error {
	chunk := f.chunk
	for first := 0; first < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := f.turn(ctx, task, n, done)
		if err != nil {
			return err
		}
		count := min(chunk, n-first)
		err = f.start(p, first, count, columns, task)
		if Short(err) && count > leastChunk {
			// There may be room for less of it, and for all of it in parts.
			if err := f.drain(ctx, task, n, done, true); err != nil {
				return err
			}
			f.release()
			chunk = max(leastChunk, count/2)
			continue
		}
		if err != nil {
			return err
		}
		first += count
	}
	return f.drain(ctx, task, n, done, true)
}

// release frees the staging memory, while no chunk is in flight.
func (f *Feed) release() {
	for _, p := range f.parts {
		p.free()
	}
}

// turn returns the part whose turn it is, after finishing the chunk in it.
func (f *Feed) turn(ctx context.Context, task Task, n int, done *int) (*part, error) {
	if len(f.parts) < partsInFlight {
		s, err := f.d.NewStream()
		if err != nil {
			return nil, err
		}
		f.parts = append(f.parts, &part{stream: s})
		f.started = len(f.parts)
		return f.parts[len(f.parts)-1], nil
	}
	p := f.parts[f.started%len(f.parts)]
	f.started++
	if !p.busy {
		return p, nil
	}
	left, err := p.wait(ctx)
	if err != nil {
		return nil, err
	}
	if left != 0 {
		return p, f.drain(ctx, task, n, done, true)
	}
	p.finish(task, n, done)
	return p, nil
}

// drain waits for all chunks in flight, the oldest first, and has their pending operations done
// (unless it only clears up: then chunks with pending operations count as never run, but for their
// statuses).
func (f *Feed) drain(ctx context.Context, task Task, n int, done *int, recover bool) error {
	var open []*part
	for i := range f.parts {
		if p := f.parts[(f.started+i)%len(f.parts)]; p.busy {
			open = append(open, p)
		}
	}
	var failure error
	last := -1
	for len(open) != 0 {
		pending := 0
		var rest []*part
		for _, p := range open {
			left, err := p.wait(ctx)
			if err != nil {
				p.busy = false
				failure = errors.Join(failure, err)
				continue
			}
			if left == 0 || !recover || failure != nil {
				p.finish(task, n, done)
				continue
			}
			pending += left
			rest = append(rest, p)
		}
		open = rest
		if len(open) == 0 {
			break
		}
		err := ctx.Err()
		if err == nil {
			err = task.Recover(ctx, pending, pending == last)
		}
		if err != nil {
			for _, p := range open {
				p.finish(task, n, done)
			}
			return err
		}
		last = pending
		for _, p := range open {
			p.chunk.Retry = true
			if err := p.submit(f.direct, task, false); err != nil {
				failure = errors.Join(failure, err)
			}
		}
	}
	return failure
}

// start copies a chunk into a part and submits the work on it.
func (f *Feed) start(p *part, first, count int, columns []Column, task Task) error {
	p.columns, p.at = p.columns[:0], p.at[:0]
	size := counterBytes
	for _, c := range columns {
		if c.Data != nil {
			c.Data = c.Data[first*c.Width : (first+count)*c.Width]
		}
		p.columns = append(p.columns, c)
		p.at = append(p.at, size)
		size += (len(c.Data) + columnAlign - 1) / columnAlign * columnAlign
	}
	if err := p.reserve(f.d, size, f.direct); err != nil {
		return err
	}
	host := p.host.Slice()
	base := p.host.Address()
	if !f.direct {
		base = p.device.Address()
	}
	p.chunk = Chunk{First: first, Count: count, Pending: base, Columns: make([]uint64, len(columns))}
	for i, c := range p.columns {
		if c.Data == nil {
			continue
		}
		p.chunk.Columns[i] = base + uint64(p.at[i])
		if c.In {
			vk.ParallelCopy(host[p.at[i]:p.at[i]+len(c.Data)], c.Data)
		}
	}
	return p.submit(f.direct, task, true)
}

// reserve makes the part's buffers at least so many bytes large. Sizes go by powers of two, so that
// batches of growing size don't allocate each time.
func (p *part) reserve(d *vk.Device, size int, direct bool) error {
	if size <= p.size {
		return nil
	}
	want := 1 << 16
	for want < size {
		want *= 2
	}
	p.free()
	var err error
	if p.host, err = vk.NewHostBuffer[byte](d, want); err != nil {
		return err
	}
	if !direct {
		if p.device, err = vk.NewBuffer[byte](d, want); err != nil {
			return err
		}
	}
	p.size = want
	return nil
}

func (p *part) free() {
	if p.host != nil {
		p.host.Free()
	}
	if p.device != nil {
		p.device.Free()
	}
	p.host, p.device, p.size = nil, nil, 0
}

// submit records the chunk's way: in (the first time), the task's work, out.
func (p *part) submit(direct bool, task Task, in bool) error {
	s := p.stream
	if direct {
		s.Fill(p.host, 0, 4, 0)
	} else {
		s.Concurrent(func() {
			s.Fill(p.device, 0, 4, 0)
			for i, c := range p.columns {
				if in && c.In && c.Data != nil {
					s.Copy(p.device, p.at[i], p.host, p.at[i], len(c.Data))
				}
			}
		})
	}
	if err := task.Record(s, p.chunk); err != nil {
		s.Discard() // it speaks of memory that a later chunk may replace
		return err
	}
	if !direct {
		s.Concurrent(func() {
			s.Copy(p.host, 0, p.device, 0, 4)
			for i, c := range p.columns {
				if c.Out && c.Data != nil {
					s.Copy(p.host, p.at[i], p.device, p.at[i], len(c.Data))
				}
			}
		})
	}
	if _, err := s.Submit(); err != nil {
		return err
	}
	p.busy = true
	return nil
}

// wait waits for the chunk and returns how many of its operations are pending.
func (p *part) wait(ctx context.Context) (int, error) {
	// A chunk takes some milliseconds: that long a cancelled context waits.
	if err := p.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return 0, err
	}
	counter := p.host.Slice()[:4]
	return int(*(*uint32)(unsafe.Pointer(unsafe.SliceData(counter)))), nil
}

// finish copies the chunk's results out.
func (p *part) finish(task Task, n int, done *int) {
	host := p.host.Slice()
	for i, c := range p.columns {
		if c.Out && c.Data != nil {
			vk.ParallelCopy(c.Data, host[p.at[i]:p.at[i]+len(c.Data)])
		}
	}
	p.busy = false
	*done += p.chunk.Count
	if task.Progress != nil {
		task.Progress(*done, n)
	}
}

// Close frees the staging memory.
func (f *Feed) Close() error {
	var err error
	for _, p := range f.parts {
		p.free()
		err = errors.Join(err, p.stream.Close())
	}
	f.parts = nil
	return err
}
