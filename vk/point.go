package vk

import (
	"context"
	"sync"
	"time"

	"github.com/vkds/vkds/vk/internal/native"
)

// Point is a position in a stream's work: everything that was submitted up to some Submit. The zero Point is always
// reached. A Point may be used by any goroutine, also after its stream was closed.
type Point struct {
	line  *timeline
	value uint64
}

// Wait waits until the device has reached the point. Errors: the context's, if it ends first; ErrDeviceLost.
func (p Point) Wait(ctx context.Context) error {
	if p.line == nil {
		return ctx.Err()
	}
	return p.line.wait(ctx, p.value)
}

// Done reports whether the device has reached the point. Error: ErrDeviceLost.
func (p Point) Done() (bool, error) {
	if p.line == nil {
		return true, nil
	}
	value, err := p.line.reached()
	return err == nil && value >= p.value, err
}

// timeline is a stream's timeline semaphore, which a later stream takes over and raises further. It may be waited for
// while the stream is being closed, so it is read under a lock.
type timeline struct {
	d         *Device
	mu        sync.RWMutex
	semaphore native.Semaphore // alive until the Device closes
	foreign   bool             // the program's own: PointAt
	closed    bool
	lost      bool // closed when the device was lost, and perhaps not all done
}

const (
	spin      = 100 * time.Microsecond // submit and wait takes 13 µs spinning and 49 µs sleeping
	waitSlice = 5 * time.Millisecond   // how long a cancelled context may go unseen
)

func (t *timeline) hold() (release func()) {
	t.mu.RLock()
	return t.mu.RUnlock
}

// reached reads the semaphore. Who finds a value there reads what the device wrote before it: a command buffer ends
// with a barrier towards the host, and the lock that is given back here is an atomic operation, before which no
// processor reads ahead what stands behind it.
func (t *timeline) reached() (uint64, error) {
	defer t.hold()()
	if over, err := t.over(); over {
		return ^uint64(0), err
	}
	value, result := t.d.native.TimelineValue(t.semaphore)
	if err := t.d.check("vkGetSemaphoreCounterValue", result); err != nil {
		return 0, err
	}
	return value, nil
}

// over says whether nothing more will happen to the semaphore. The lock is held.
func (t *timeline) over() (bool, error) {
	if t.lost || !t.closed && t.d.lost.Load() {
		return true, ErrDeviceLost
	}
	if t.closed && t.foreign {
		return true, ErrClosed // nobody knows whether it is reached
	}
	return t.closed, nil
}

func (t *timeline) wait(ctx context.Context, value uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A CPU device needs the processor itself: spinning would take it away.
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
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// sleep waits for one slice of time.
func (t *timeline) sleep(value uint64) (done bool, err error) {
	defer t.hold()()
	if over, err := t.over(); over {
		return true, err
	}
	result := t.d.native.WaitTimeline(t.semaphore, value, uint64(waitSlice))
	if err := t.d.check("vkWaitSemaphores", result); err != nil {
		return false, err
	}
	return result == native.Success, nil
}

// close ends the use of the semaphore; all that was submitted is done, or the device is lost.
func (t *timeline) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.lost = true, t.d.lost.Load()
}
