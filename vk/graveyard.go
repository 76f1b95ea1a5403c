package vk

import (
	"context"
	"sync"
)

// graveyard holds what is no longer of use until no queue can be at it any more. That the work which used it has ended,
// as its stream's value shows, is not enough: submissions that wait for that value still name the semaphore, and
// drivers have threads of their own that look at a submission for a while after its value has shown.
//
// So nothing that a queue was given is destroyed but by waitIdle. To wait as soon as something dies would have one
// stream's Close wait for all others' work; where some is under way, the dead are kept until a later sweep.
type graveyard struct {
	mu   sync.Mutex
	dead []mortal
}

// mortal is what is destroyed by way of the graveyard: a block of memory or a pipeline. What streams are made of is
// used again and ends with the Device.
type mortal interface{ destroy(d *Device) }

func (g *graveyard) bury(m mortal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = append(g.dead, m)
}

// bytes is how much memory of a heap the dead still take.
func (g *graveyard) bytes(heap uint32) uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	var sum uint64
	for _, m := range g.dead {
		if b, ok := m.(*block); ok && b.heap == heap {
			sum += b.bytes
		}
	}
	return sum
}

// The dead are swept from so many of them, or bytes, on: vkDeviceWaitIdle takes 0.4 ms on an H200, even where nothing
// is under way, and a rehash or a cleanup frees several buffers.
const (
	manyDead      = 64
	manyDeadBytes = 256 << 20
)

// worthwhile says whether there are enough dead for a sweep.
func (g *graveyard) worthwhile() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.dead) >= manyDead {
		return true
	}
	var sum uint64
	for _, m := range g.dead {
		if b, ok := m.(*block); ok {
			sum += b.bytes
		}
	}
	return sum >= manyDeadBytes
}

// empty destroys the dead. The queues are idle, and locked.
func (g *graveyard) empty(d *Device) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.dead {
		m.destroy(d)
	}
	g.dead = nil
}

// lockQueues keeps all submissions away.
func (d *Device) lockQueues() (unlock func()) {
	for _, q := range d.queues {
		q.Lock()
	}
	return func() {
		for _, q := range d.queues {
			q.Unlock()
		}
	}
}

func (d *Device) waitIdle() error {
	defer d.lockQueues()()
	return d.check("vkDeviceWaitIdle", d.native.WaitIdle())
}

// sweep destroys the dead if they are many and all work has ended; then it waits for the driver's own threads alone.
// The Device was entered.
func (d *Device) sweep() {
	if !d.dead.worthwhile() {
		return
	}
	defer d.lockQueues()()
	for _, q := range d.queues {
		if done, err := q.newest.Done(); !done || err != nil {
			return // of a lost device the dead are left to Close
		}
	}
	if d.check("vkDeviceWaitIdle", d.native.WaitIdle()) == nil {
		d.dead.empty(d)
	}
}

// settle waits until the work has ended that is under way, and destroys the dead: for who needs their memory. The
// Device was entered.
func (d *Device) settle() error {
	for _, q := range d.queues {
		q.Lock()
		newest := q.newest
		q.Unlock()
		if err := newest.Wait(context.Background()); err != nil {
			return err
		}
	}
	defer d.lockQueues()() // what was submitted since has to end as well
	if err := d.check("vkDeviceWaitIdle", d.native.WaitIdle()); err != nil {
		return err
	}
	d.dead.empty(d)
	return nil
}
