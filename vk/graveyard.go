package vk

import (
	"context"
	"sync"
)

// graveyard keeps released objects until no queue can use them any more. It is not enough that the work that used an
// object has ended, as the value of its stream's semaphore shows. Submissions that wait for that value still name the
// semaphore, and the driver's own threads may read a submission for some time after its value was reached.
//
// So objects that a queue may have used are destroyed only after vkDeviceWaitIdle. If that were called on each release,
// closing one stream would wait for the work of all others. So while other work runs, the graveyard keeps the objects
// until a later sweep.
type graveyard struct {
	mu   sync.Mutex
	dead []mortal
}

// mortal is an object that is destroyed through the graveyard: a block of memory or a pipeline. The parts of streams
// are reused instead, and are destroyed with the Device.
type mortal interface{ destroy(d *Device) }

func (g *graveyard) bury(m mortal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = append(g.dead, m)
}

// bytes returns how much memory of a heap the objects in the graveyard still take.
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

// The graveyard is swept when it has this many objects or bytes, not on each release: vkDeviceWaitIdle takes 0.4 ms on
// an H200 even if no work runs, and a rehash or a cleanup frees several buffers.
const (
	manyDead      = 64
	manyDeadBytes = 256 << 20
)

// worthwhile reports whether the graveyard has enough objects for a sweep.
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

// empty destroys the objects in the graveyard. The queues must be idle and locked.
func (g *graveyard) empty(d *Device) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.dead {
		m.destroy(d)
	}
	g.dead = nil
}

// lockQueues prevents submissions until unlock is called.
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

// sweep empties the graveyard if it has many objects and all work has ended. So it waits only for the driver's own
// threads. The caller must have entered the Device.
func (d *Device) sweep() {
	if !d.dead.worthwhile() {
		return
	}
	defer d.lockQueues()()
	for _, q := range d.queues {
		if done, err := q.newest.Done(); !done || err != nil {
			return // if the device is lost, Close empties the graveyard
		}
	}
	if d.check("vkDeviceWaitIdle", d.native.WaitIdle()) == nil {
		d.dead.empty(d)
	}
}

// settle waits until the submitted work has ended, and empties the graveyard. It is for allocations that need the
// memory. The caller must have entered the Device.
func (d *Device) settle() error {
	for _, q := range d.queues {
		q.Lock()
		newest := q.newest
		q.Unlock()
		if err := newest.Wait(context.Background()); err != nil {
			return err
		}
	}
	defer d.lockQueues()() // work that was submitted since must end as well
	if err := d.check("vkDeviceWaitIdle", d.native.WaitIdle()); err != nil {
		return err
	}
	d.dead.empty(d)
	return nil
}
