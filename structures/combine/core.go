package combine

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// most is how many batches are under way at once: the device works on one while the host prepares or answers the other.
const most = 2

// large is the number of operations from which on a batch takes a device longer than a single operation does.
const large = 1 << 12

// core combines the calls of all goroutines.
//
// Each batch makes one call on the dictionary for each kind of operation in it. All calls in a batch are concurrent,
// and the dictionary is linearizable, so the moment of that call is the moment of them all. An update that first looks
// up what is there (modify) makes two calls; changing keeps other changes from coming in between.
type core[K, V structures.Number] struct {
	d       structures.Dictionary[K, V]
	ordered structures.Ordered[K, V] // nil: d has no order
	o       Options
	// changing has an element while a change of the dictionary runs. Batches of queries don't wait for it.
	changing chan struct{}
	words    structures.Code[K]
	order    structures.Code[V] // of values, in their order
	calls    sync.Pool          // of *call[K, V]
	batches  sync.Pool          // of *batch[K, V]
	users    sync.WaitGroup     // calls and workers that Close waits for

	ends atomic.Pointer[ends] // of a context that many calls have

	mu     sync.Mutex
	queue  queue[K, V]
	under  int  // batches under way, also calls that are alone
	load   int  // their operations
	waits  bool // a worker waits for more calls, and takes them
	late   *time.Timer
	armed  bool // late will run
	closed bool
}

// enter lets a call in that is not combined, until c.users.Done.
func (c *core[K, V]) enter() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return &vk.ClosedError{What: "combiner"}
	}
	c.users.Add(1)
	return nil
}

// call returns an empty call.
func (c *core[K, V]) call() *call[K, V] {
	if x, ok := c.calls.Get().(*call[K, V]); ok {
		return x
	}
	return &call[K, V]{done: make(chan struct{}, 1)}
}

// release keeps a call for another caller, unless a worker may still have it.
func (c *core[K, V]) release(x *call[K, V]) {
	if x.state.Load() != left {
		x.forget()
		c.calls.Put(x)
	}
}

// one does a call of one key, and returns its value.
func (c *core[K, V]) one(ctx context.Context, x *call[K, V]) (value V, found bool, err error) {
	if err = c.do(ctx, x); err == nil {
		value, found = x.value[0], x.there[0]
	}
	c.release(x)
	return value, found, err
}

// many does a call that has its results in the caller's slices.
func (c *core[K, V]) many(ctx context.Context, x *call[K, V]) error {
	err := c.do(ctx, x)
	c.release(x)
	return err
}

// do does a call: at once and alone if nothing waits and the dictionary has little to do, otherwise in a batch.
func (c *core[K, V]) do(ctx context.Context, x *call[K, V]) error {
	n, done, ended := x.size(), ctx.Done(), ctx.Err() // before anything: a method of a context may panic
	passed := n == 0 || n >= c.o.MaxBatch
	if passed || ended != nil || c.queue.fills(n) {
		c.mu.Lock()
		alone := !passed && c.queue.empty() && c.mayBegin(n)
		switch {
		case c.closed:
			c.mu.Unlock()
			return &vk.ClosedError{What: "combiner"}
		case ended != nil:
			c.mu.Unlock()
			return x.notBegun(context.Cause(ctx))
		case passed, alone:
			c.users.Add(1)
			defer c.users.Done()
			if alone {
				c.under++
				c.load += n
				c.expect()
				defer c.end(n)
			}
			c.mu.Unlock()
			return c.bare(ctx, x)
		}
		c.queue.push(x)
		c.begin(false)
		c.mu.Unlock()
	} else if c.queue.push(x); c.queue.fills(0) {
		if err := c.look(x); err != nil {
			return err
		}
	}
	if done == nil {
		<-x.done
		return x.err
	}
	select {
	case <-x.done:
		return x.err
	case <-c.ending(ctx, done):
		return c.leave(ctx, x)
	}
}

// look begins a batch if it may, for a caller that has pushed its call. If the dictionary was closed meanwhile and no
// worker has the call, it returns the error of the call.
func (c *core[K, V]) look(x *call[K, V]) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.closed:
		c.begin(false)
	case x.state.CompareAndSwap(waiting, left):
		c.queue.withdraw(x)
		return &vk.ClosedError{What: "combiner"}
	}
	return nil
}

// mayBegin reports whether n operations that wait may begin now.
func (c *core[K, V]) mayBegin(n int) bool { return int64(n) >= c.least() }

// least returns how many operations may begin now. A second batch begins if it is large: of its own, or next to the one
// under way. Many small ones would keep the host busy, and leave callers apart that could share one.
func (c *core[K, V]) least() int64 {
	switch {
	case c.waits, c.under == most:
		return math.MaxInt64
	case c.under == 0:
		return 1
	}
	return int64(min(large, 2*c.load-1))
}

// expect says for how many operations a caller looks after the queue: as many as may begin, or one if nobody else would
// look in time. Whoever calls it looks at the queue afterwards, since callers may have pushed before. c.mu is held.
func (c *core[K, V]) expect() {
	n := c.least()
	switch {
	case c.closed:
		n = math.MinInt64
	case n != math.MaxInt64 && !c.armed:
		n = 1
	}
	if n != c.queue.enough.Load() { // which costs less
		c.queue.enough.Store(n)
	}
}

// reserve keeps batches from beginning until a worker takes what waits.
func (c *core[K, V]) reserve() {
	c.waits = true
	c.expect()
}

// begin begins a batch of the calls that wait, if it may. late is set if they have waited for long enough. c.mu is
// held, and close does not wait for the last users yet, or the caller is one of them.
func (c *core[K, V]) begin(late bool) {
	c.expect()
	n := c.queue.waiting()
	switch {
	case n == 0, c.waits, c.under == most:
	case late, c.mayBegin(n):
		c.users.Add(1)
		c.under++
		c.reserve()
		go c.spare().begin()
	case !c.armed:
		c.armed = true
		if c.late == nil {
			c.late = time.AfterFunc(c.o.MaxWait, c.beginLate)
		} else {
			c.late.Reset(c.o.MaxWait)
		}
		c.expect()
	}
}

func (c *core[K, V]) beginLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed = false; !c.closed {
		c.begin(true)
	}
}

// end ends a call that was alone.
func (c *core[K, V]) end(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under--
	c.load -= n
	c.begin(false)
}

// spare returns an empty batch.
func (c *core[K, V]) spare() *batch[K, V] {
	if b, ok := c.batches.Get().(*batch[K, V]); ok {
		return b
	}
	return &batch[K, V]{core: c}
}

// keep keeps the buffers of a batch for another one.
func (c *core[K, V]) keep(b *batch[K, V]) {
	b.neighbors, b.numbers = structures.Neighbors[K, V]{}, nil
	c.batches.Put(b)
}

// take gives calls that wait to a batch, which is counted but for its operations. c.mu is held.
func (c *core[K, V]) take(b *batch[K, V]) {
	b.first, b.n = c.queue.take(c.o.MaxBatch)
	c.waits = false
	c.load += b.n
	c.begin(false)
}

// next gives a worker whose batch has ended the next one. It returns false if there is none, and the worker ends.
func (c *core[K, V]) next(b *batch[K, V]) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.under--
	c.load -= b.n
	if c.under == 0 && int(c.queue.operations.Load()) < b.n {
		c.reserve()
		c.mu.Unlock()
		c.gather(b.n)
		c.mu.Lock()
		c.waits = false
	}
	if n := c.queue.waiting(); n > 0 && c.mayBegin(n) {
		c.under++
		c.reserve() // so that no caller waits for the lock meanwhile
		c.take(b)
		return true
	}
	c.begin(false)
	c.keep(b)
	c.users.Done()
	return false
}

// gather waits until as many operations wait as the last batch had, whose callers may be about to come back, but at
// most for MaxWait. It lets other goroutines run, and does not sleep: timers are coarser than a batch is long. It does
// not look all the time, since callers need what it reads, and the scheduler's lock. The number of times is bounded
// because in a bubble of testing/synctest the time stands.
func (c *core[K, V]) gather(n int) {
	begin, waited := time.Now(), time.Duration(0)
	for range 1 << 12 {
		if c.queue.operations.Load() >= int64(n) || waited >= c.o.MaxWait {
			return
		}
		runtime.Gosched()
		for range 20 { // about 1 µs
			waited = time.Since(begin)
		}
	}
}

// leave returns the error of a caller whose context has ended. It waits while a worker uses the caller's slices.
func (c *core[K, V]) leave(ctx context.Context, x *call[K, V]) error {
	for {
		switch x.state.Load() {
		case waiting:
			if !x.state.CompareAndSwap(waiting, left) {
				continue
			}
			c.mu.Lock()
			c.queue.withdraw(x)
			c.mu.Unlock()
			return x.notBegun(context.Cause(ctx))
		case running:
			if !x.state.CompareAndSwap(running, left) {
				continue
			}
			cause := context.Cause(ctx)
			if x.isUpdate() {
				cause = &UnknownError{Operations: x.size(), Err: cause}
			}
			return cause
		case answering:
			<-x.done
			return x.err
		}
		runtime.Gosched() // the worker copies the operations
	}
}

// notBegun returns the error of a call that has had no effect.
func (x *call[K, V]) notBegun(err error) error {
	if x.isUpdate() {
		return pipeline.NotBegun(x.status, x.size(), err)
	}
	return err
}

// change waits until no other change of the dictionary runs. changed ends the change. Error: the context's cause.
func (c *core[K, V]) change(ctx context.Context) error {
	select {
	case c.changing <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.changing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *core[K, V]) changed() { <-c.changing }

// bare makes a call on the dictionary itself, by the caller's goroutine with its slices and its context.
func (c *core[K, V]) bare(ctx context.Context, x *call[K, V]) (err error) {
	if x.isUpdate() {
		if err := c.change(ctx); err != nil {
			return x.notBegun(err)
		}
		defer c.changed()
	}
	switch x.kind {
	case find:
		return c.d.FindInto(ctx, x.keys, x.values, x.found)
	case count:
		x.numbers, err = c.ordered.Count(ctx, x.ranges)
	case list:
		return c.ordered.RangeInto(ctx, x.ranges, x.into)
	case rank:
		x.numbers, err = c.ordered.Rank(ctx, x.keys)
	case choose:
		x.neighbors, err = c.ordered.Select(ctx, x.ranks)
	case modify:
		b := c.spare()
		b.calls = append(b.calls[:0], x)
		b.modify(ctx)
		err = x.err
		c.keep(b)
	default:
		if x.isUpdate() {
			return c.d.UpdateInto(ctx, x.kind.update(), x.keys, x.values, x.status)
		}
		x.neighbors, err = c.ordered.Neighbor(ctx, structures.Direction(x.kind), x.keys)
	}
	return err
}

// updateInto passes an update on.
func (c *core[K, V]) updateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.users.Done()
	if err := c.change(ctx); err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer c.changed()
	return c.d.UpdateInto(ctx, kind, keys, values, status)
}

// apply passes a mixed batch on.
func (c *core[K, V]) apply(ctx context.Context, b structures.Batch[K, V]) (r structures.Results[K, V], err error) {
	if err := c.enter(); err != nil {
		return r, err
	}
	defer c.users.Done()
	if err := c.change(ctx); err != nil {
		r = pipeline.ResultsOf(b)
		return r, pipeline.NotBegun(r.Status, len(b.Keys), err)
	}
	defer c.changed()
	return c.d.Apply(ctx, b)
}

// close waits for all calls, and closes the dictionary.
func (c *core[K, V]) close() error {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		c.begin(false) // a call that waits for another's caller to count it
	}
	c.mu.Unlock()
	c.users.Wait()
	c.unwatch()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late != nil {
		c.late.Stop()
	}
	return c.d.Close()
}

// numbers does a call that returns a number for each operation.
func (c *core[K, V]) numbers(ctx context.Context, x *call[K, V]) (numbers []uint32, err error) {
	if err = c.do(ctx, x); err == nil {
		numbers = x.numbers
	}
	c.release(x)
	return numbers, err
}

// neighbors does a call that returns a pair for each operation.
func (c *core[K, V]) neighbors(ctx context.Context, x *call[K, V]) (n structures.Neighbors[K, V], err error) {
	if err = c.do(ctx, x); err == nil {
		n = x.neighbors
	}
	c.release(x)
	return n, err
}
