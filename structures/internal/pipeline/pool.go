package pipeline

import (
	"context"
	"sync"

	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/vk"
	"golang.org/x/sync/semaphore"
)

// Pool has the pipelines of a handle. Calls that are at work beside each other have one each; more of them than there
// may be pipelines wait for one, so that the handle's staging memory is bounded.
type Pool struct {
	d    *vk.Device
	room *semaphore.Weighted
	mu   sync.Mutex
	idle []*Pipeline // the one used last is the last
}

const mostPipelines = 4

// NewPool makes a pool. It takes memory only when it is used.
func NewPool(d *vk.Device) *Pool { return &Pool{d: d, room: semaphore.NewWeighted(mostPipelines)} }

// Chunk is how many operations a chunk has at most.
func (p *Pool) Chunk() int { return New(p.d).chunk }

// Take gives a pipeline out, until Give. Error: the context's.
func (p *Pool) Take(ctx context.Context) (*Pipeline, error) {
	if err := p.room.Acquire(ctx, 1); err != nil {
		return nil, err
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

// Give takes a pipeline back.
func (p *Pool) Give(line *Pipeline) {
	p.mu.Lock()
	p.idle = append(p.idle, line)
	p.mu.Unlock()
	p.room.Release(1)
}

// Run has a pipeline carry a batch.
func (p *Pool) Run(ctx context.Context, n int, columns []Column, task Task) (left int, err error) {
	line, err := p.Take(ctx)
	if err != nil {
		return n, err
	}
	defer p.Give(line)
	return line.Run(ctx, n, columns, task)
}

// Do has a call do something on a stream, on which nothing else is recorded meanwhile.
func (p *Pool) Do(ctx context.Context, call func(s *vk.Stream) error) error {
	line, err := p.Take(ctx)
	if err != nil {
		return err
	}
	defer p.Give(line)
	line.started = 0 // always the same stream, so that it alone has scratch of such calls
	s, err := line.next()
	if err != nil {
		return err
	}
	defer s.stream.Discard() // what a panic may leave recorded
	return call(s.stream)
}

// Close frees the staging memory. All pipelines are back.
func (p *Pool) Close() error {
	var err error
	for _, line := range p.idle {
		err = joint.Error(err, line.Close())
	}
	p.idle = nil
	return err
}
