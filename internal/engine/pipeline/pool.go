package pipeline

import (
	"context"
	"sync"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/semaphore"
)

// Pool has the pipelines of a handle. Each running call uses one pipeline. The number of pipelines is limited, to bound
// the staging memory of the handle; further calls wait.
type Pool struct {
	d    *vk.Device
	room *semaphore.Weighted
	mu   sync.Mutex
	idle []*Pipeline // the last one was used most recently
}

const mostPipelines = 4

// NewPool makes a pool. It takes memory only when it is used.
func NewPool(d *vk.Device) *Pool { return &Pool{d: d, room: semaphore.NewWeighted(mostPipelines)} }

// Chunk returns the greatest number of operations in a chunk.
func (p *Pool) Chunk() int { return New(p.d).chunk }

// Take returns a pipeline for the caller's use until Give. Error: the context's.
func (p *Pool) Take(ctx context.Context) (*Pipeline, error) {
	if p.room.Acquire(ctx, 1) != nil {
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return New(p.d), nil
	}
	taken := p.idle[last]
	p.idle = p.idle[:last]
	return taken, nil
}

// Give returns a pipeline to the pool.
func (p *Pool) Give(line *Pipeline) {
	p.mu.Lock()
	p.idle = append(p.idle, line)
	p.mu.Unlock()
	p.room.Release(1)
}

// Run is Pipeline.Run on a pipeline of the pool.
func (p *Pool) Run(ctx context.Context, n int, columns []Column, task Task) (left int, err error) {
	line, err := p.Take(ctx)
	if err != nil {
		return n, err
	}
	defer p.Give(line)
	return line.Run(ctx, n, columns, task)
}

// Do runs call with a stream on which nothing else is recorded at the same time.
func (p *Pool) Do(ctx context.Context, call func(s *vk.Stream) error) error {
	line, err := p.Take(ctx)
	if err != nil {
		return err
	}
	defer p.Give(line)
	line.started = 0 // always the same stream, so that only one stream has scratch memory for such calls
	s, err := line.next()
	if err != nil {
		return err
	}
	defer s.stream.Discard() // commands that a panic may have left
	return call(s.stream)
}

// Close frees the staging memory. No pipeline may be in use.
func (p *Pool) Close() error {
	var err error
	for _, line := range p.idle {
		err = joint.Error(err, line.Close())
	}
	p.idle = nil
	return err
}
