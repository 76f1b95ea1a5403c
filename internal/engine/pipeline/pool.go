package pipeline

import (
	"context"
	"math"
	"sync"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/semaphore"
)

// Pool carries batches in Go slices through the device, for the calls on a handle. Each running call has a line. The
// number of lines is limited, to bound the staging memory of the handle; further calls wait.
type Pool struct {
	d      *vk.Device
	chunk  int // the most operations in a chunk
	direct int // kernels use the host buffers themselves, without copies, if a chunk takes up to so many bytes
	room   *semaphore.Weighted
	mu     sync.Mutex
	idle   []*line // the last one was used most recently
}

const (
	mostLines = 4

	gpuChunk = 1 << 21
	cpuChunk = 1 << 17 // a dispatch on a CPU device takes some 10 ms with these

	directOnGPU = 1 << 18 // bytes; docs/notes/measurements.md, "Small batches"
)

var chunkForTests int

// InChunksOf is for tests. Pools that are made afterwards cut batches into chunks of n operations; 0 selects the
// default.
func InChunksOf(n int) { chunkForTests = n }

// NewPool makes a pool. It takes memory only when it is used.
func NewPool(d *vk.Device) *Pool {
	p := &Pool{d: d, chunk: gpuChunk, direct: directOnGPU, room: semaphore.NewWeighted(mostLines)}
	switch d.Info().Type { // these share memory with the host
	case vk.CPU:
		p.chunk, p.direct = cpuChunk, math.MaxInt
	case vk.Integrated:
		p.direct = math.MaxInt
	}
	if chunkForTests != 0 {
		p.chunk = chunkForTests
	}
	return p
}

// Chunk returns the greatest number of operations in a chunk.
func (p *Pool) Chunk() int { return p.chunk }

// take returns a line for the caller's use until give. Error: the context's.
func (p *Pool) take(ctx context.Context) (*line, error) {
	if !p.room.TryAcquire(1) && p.room.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return &line{of: p}, nil
	}
	taken := p.idle[last]
	p.idle = p.idle[:last]
	return taken, nil
}

func (p *Pool) give(l *line) {
	p.mu.Lock()
	p.idle = append(p.idle, l)
	p.mu.Unlock()
	p.room.Release(1)
}

// Run carries a batch of n operations through the device. When it returns, no chunk is running. After an error, the
// finished chunks have their outputs, and no other output was written, except statuses; left is the number of
// operations that are not done. Cancellation is checked between chunks.
func (p *Pool) Run(ctx context.Context, n int, columns []Column, task Task) (left int, err error) {
	l, err := p.take(ctx)
	if err != nil {
		return n, err
	}
	defer p.give(l)
	b := &l.batch
	*b = batch{n: n, columns: columns, task: task, left: n, finished: b.finished[:0]}
	l.started = 0
	panics := true
	defer func() {
		if panics { // a method of the context, or Progress
			b.task.Progress = nil
			_ = l.end(b, true)
		}
	}()
	err = l.run(ctx, b)
	err = joint.Error(err, l.end(b, err != nil))
	panics = false
	return b.left, err
}

// Do runs call with a stream on which nothing else is recorded at the same time, unless the context has ended.
func (p *Pool) Do(ctx context.Context, call func(s *vk.Stream) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	l, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.give(l)
	l.started = 0 // always the same stream, so that only one stream has scratch memory for such calls
	s, err := l.next()
	if err != nil {
		return err
	}
	defer s.stream.Discard() // commands that a panic may have left
	return call(s.stream)
}

// Close frees the staging memory. No call may be running.
func (p *Pool) Close() (err error) {
	for _, l := range p.idle {
		l.release()
		for _, s := range l.slots {
			err = joint.Error(err, s.stream.Close())
		}
	}
	p.idle = nil
	return err
}
