package vk

import (
	"context"
	"sync"
	"time"

	"github.com/vkds/vkds/vk/internal/native"
)

// Point is a position in a stream's work: all work that was submitted up to some Submit. The zero Point is always
// reached. Any goroutine may use a Point, also after its stream was closed.
type Point struct {
	line  *timeline
	value uint64
}

// Wait waits until the device has reached the point. Errors: that of ctx if it ends first; ErrDeviceLost; ErrClosed for
// a Point of Device.PointAt after the Device was closed.
func (p Point) Wait(ctx context.Context) error {
	if p.line == nil {
		return context.Cause(ctx)
	}
	return p.line.wait(ctx, p.value)
}

// Done reports whether the device has reached the point. Errors: ErrDeviceLost; ErrClosed for a Point of Device.PointAt
// after the Device was closed.
func (p Point) Done() (bool, error) {
	if p.line == nil {
		return true, nil
	}
	value, err := p.line.reached()
	return err == nil && value >= p.value, err
}

// timeline is a stream's timeline semaphore. When the stream closes, a later stream continues with the same semaphore
// and larger values. A goroutine may wait for the semaphore while another closes the stream, so it is read under a
// lock.
type timeline struct {
	d         *Device
	mu        sync.RWMutex
	semaphore native.Semaphore // alive until the Device closes
	foreign   bool             // of the program (PointAt)
	closed    bool
	lost      bool // closed when the device was lost, so work may be unfinished
}

const (
	spin      = 100 * time.Microsecond // submit and wait take 13 µs if the host spins and 49 µs if it sleeps
	waitSlice = 5 * time.Millisecond   // the longest time until a cancelled context is noticed
)

// reached reads the semaphore. A caller that sees a value can read everything that the device wrote before it. A
// command buffer ends with a barrier to the host, and releasing the lock here is an atomic operation: no processor
// reads memory early across it.
func (t *timeline) reached() (uint64, error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if over, err := t.over(); over {
		return ^uint64(0), err
	}
	value, result := t.d.native.TimelineValue(t.semaphore)
	if err := t.d.check("vkGetSemaphoreCounterValue", result); err != nil {
		return 0, err
	}
	return value, nil
}

// over reports whether the semaphore's value will not change any more. The lock must be held.
func (t *timeline) over() (bool, error) {
	if t.lost || !t.closed && t.d.lost.Load() {
		return true, ErrDeviceLost
	}
	if t.closed && t.foreign {
		return true, &ClosedError{theDevice} // it is not known whether the value was reached
	}
	return t.closed, nil
}

func (t *timeline) wait(ctx context.Context, value uint64) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	// Don't spin on a CPU device, because the device needs the processor.
	for begin := time.Now(); ; {
		reached, err := t.reached()
		if err != nil || reached >= value {
			return err
		}
		if t.d.info.Type == CPU || time.Since(begin) > spin {
			break
		}
	}
	for {
		done, err := t.sleep(value)
		if err != nil || done {
			return err
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
}

// sleep waits for the value, at most waitSlice.
func (t *timeline) sleep(value uint64) (done bool, err error) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if over, err := t.over(); over {
		return true, err
	}
	result := t.d.native.WaitTimeline(t.semaphore, value, uint64(waitSlice))
	if err := t.d.check("vkWaitSemaphores", result); err != nil {
		return false, err
	}
	return result == native.Success, nil
}

// close ends the use of the semaphore. All submitted work must have ended, or the device must be lost.
func (t *timeline) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.lost = true, t.d.lost.Load()
}
