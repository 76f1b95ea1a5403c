package shard

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/structures"
)

// core is what a Map, a Tree and a Snapshot are but for their types: the gate of their calls, and where keys belong.
type core struct {
	gate *gate.Gate
	// progress reports nothing. It has calls wait for the Options.Progress of shards only after they have left the
	// gate, because such a function may use the Map or the Tree.
	progress *gate.Progress
	place    placement // changes only while a call is alone; its splits are read only inside the gate
	strays   []stray   // as place
	// tidy deletes strays, for a caller that has entered alone. It is nil if there can be none.
	tidy func(ctx context.Context) error
	// changes counts the calls that change pairs. A call counts before it changes anything.
	changes atomic.Uint64

	mu   sync.Mutex
	idle []*block // memory for the next calls; at most inFlight
}

func newCore(p placement) *core {
	return &core{gate: gate.New("dictionary of shards"), progress: gate.NewProgress(func(int, int) {}), place: p}
}

// alone enters the gate for a change, until leave is called, and returns the context for the shards' calls.
func (c *core) alone(ctx context.Context) (_ context.Context, leave func(), err error) {
	return c.enter(ctx, c.gate.Enter, c.gate.Leave)
}

// beside is alone for a query, which runs beside other queries.
func (c *core) beside(ctx context.Context) (_ context.Context, leave func(), err error) {
	return c.enter(ctx, c.gate.EnterShared, c.gate.LeaveShared)
}

func (c *core) enter(ctx context.Context, in func(context.Context) error,
	out func()) (_ context.Context, leave func(), err error) {
	ctx, end := c.progress.Begin(ctx)
	if err := in(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return ctx, func() { out(); end() }, nil
}

// stray is a range of words of keys. A shard may have pairs of it that belong to another shard, because deleting them
// failed. Queries by key don't see them.
type stray struct {
	shard     int
	low, high uint64
}

// whole is beside for a query that can't tell strays from other pairs. It deletes them first.
func (c *core) whole(ctx context.Context) (context.Context, func(), error) {
	for {
		inside, leave, err := c.beside(ctx)
		if err != nil || len(c.strays) == 0 {
			return inside, leave, err
		}
		leave()
		if err := c.tidyAlone(ctx); err != nil {
			return nil, nil, err
		}
	}
}

func (c *core) tidyAlone(ctx context.Context) error {
	ctx, leave, err := c.alone(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return c.tidy(ctx)
}

// part is the part of a block that belongs to a shard. Its columns have the order of the batch's.
type part struct{ in, out []column }

// batch is a batch of operations from a user's slices.
type batch struct {
	n    int
	keys column   // by which it is divided; the first or the second of in
	in   []column // what goes to the shards, in pairs of columns
	out  []column // what comes back, in pairs of columns
	// do does a shard's part.
	do func(ctx context.Context, shard int, p part) error
	// status says that the first column of out has statuses. Those of operations that were not done are Pending.
	status bool
	// lanes is how many blocks a shard may work on at the same time: one unless operations are queries.
	lanes int
	// whole says that the batch must be one block.
	whole bool
}

const (
	shardBlock = 1 << 20 // operations of a block for each shard; a compromise (BenchmarkBlocks)
	inFlight   = 3       // blocks: one is divided, the shards work on another, and the results of one are put back
	leastShare = 1 << 12 // operations for which another core pays off
)

var blockForTests int

// run does a batch, as far as the shards can. left is the number of operations that were not done. The caller has
// entered the gate.
func (c *core) run(ctx context.Context, b *batch) (left int, err error) {
	if b.n == 0 {
		return 0, nil
	}
	r := &running{core: c, batch: b, failed: make(failures, c.place.shards)}
	size := shardBlock * c.place.shards
	if blockForTests != 0 {
		size = blockForTests
	}
	if b.whole || b.n <= size {
		r.one(ctx)
	} else {
		r.blocks(ctx, size)
	}
	r.rethrow()
	return r.left, r.failed.error(context.Cause(ctx))
}

// running is a call of run.
type running struct {
	*core
	*batch

	thrown
	failed failures // by the lock of thrown, as left
	left   int
}

// one does a batch of one block.
func (r *running) one(ctx context.Context) {
	x := r.take()
	defer r.give(x)
	x.divide(&r.place, r.batch, 0, r.n)
	r.each(x.touched(), func(s int) { r.part(ctx, x, s) })
	x.putBack(r.batch)
}

// blocks does a batch of several blocks: while the shards work on some, the next one is divided.
func (r *running) blocks(ctx context.Context, size int) {
	free, divided := make(chan *block, inFlight), make(chan *block, inFlight)
	for range inFlight {
		free <- r.take()
	}
	queues := make([]chan *block, r.place.shards)
	var all sync.WaitGroup
	for s := range queues {
		queues[s] = make(chan *block, inFlight)
		for range r.lanes {
			all.Go(func() {
				for x := range queues[s] {
					r.apart(func() { r.part(ctx, x, s) })
					x.open.Done()
				}
			})
		}
	}
	all.Go(func() {
		for x := range divided {
			x.open.Wait()
			x.putBack(r.batch)
			free <- x
		}
	})
	for first := 0; first < r.n && !r.stopped(ctx, first); first += size {
		x := <-free
		x.divide(&r.place, r.batch, first, min(first+size, r.n))
		touched := x.touched()
		x.open.Add(len(touched))
		for _, s := range touched {
			queues[s] <- x
		}
		divided <- x
	}
	for _, q := range queues {
		close(q)
	}
	close(divided)
	all.Wait()
	for range inFlight {
		r.give(<-free)
	}
}

// part has a shard do its part of a block, unless it has failed before.
func (r *running) part(ctx context.Context, x *block, s int) {
	p := x.part(r.batch, s)
	r.Lock()
	err := r.failed[s]
	r.Unlock()
	if r.status {
		clearAll(p.out) // of earlier batches: a shard that fails may write nothing
	}
	left := x.begins[s+1] - x.begins[s]
	if err == nil {
		if err = r.do(ctx, s, p); err == nil {
			return
		}
		left, err = r.notDone(p, left, err), x.inCaller(err, s)
	}
	if !r.status {
		clearAll(p.out)
	}
	r.Lock()
	defer r.Unlock()
	r.failed[s], r.left = err, r.left+left
}

// stopped reports whether the context has ended before the operation first of the batch. If so, the rest is not done.
func (r *running) stopped(ctx context.Context, first int) bool {
	var cause error
	r.apart(func() { cause = context.Cause(ctx) })
	r.Lock()
	defer r.Unlock()
	if cause == nil && r.again == nil {
		return false
	}
	clearAll(cutAll(nil, r.out, first, r.n))
	for s := range r.failed {
		r.failed[s] = cmp.Or(r.failed[s], cause)
	}
	r.left += r.n - first
	return true
}

// notDone returns how many of n operations of a part a shard has not done, by its error.
func (r *running) notDone(p part, n int, err error) int {
	if !r.status {
		var pending *structures.PendingError
		if errors.As(err, &pending) {
			return pending.Operations
		}
		return n
	}
	left := 0
	for _, s := range p.out[0].bytes {
		if structures.Status(s) == structures.Pending {
			left++
		}
	}
	return left
}

// take returns memory for a block, and give returns it for later calls.
func (c *core) take() *block {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.idle) - 1
	if last < 0 {
		return &block{}
	}
	x := c.idle[last]
	c.idle = c.idle[:last]
	return x
}

func (c *core) give(x *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) < inFlight && cap(x.of) <= 2*shardBlock*c.place.shards {
		c.idle = append(c.idle, x)
	}
}

// thrown is the panic, or the end of a goroutine, of a part of a call, such as of a method of its context. It happens
// to the caller, too.
type thrown struct {
	sync.Mutex // of running, too
	again      func()
}

// catch calls do, and keeps its panic. If do ends the goroutine, only deferred functions of the caller still run.
func (t *thrown) catch(do func()) {
	done := false
	defer func() {
		if done {
			return
		}
		value := recover()
		again := runtime.Goexit
		if value != nil {
			again = func() { panic(value) }
		}
		t.Lock()
		defer t.Unlock()
		t.again = again
	}()
	do()
	done = true
}

// apart is catch for a caller that must go on: do has a goroutine of its own, which it may end.
func (t *thrown) apart(do func()) {
	var one sync.WaitGroup
	one.Go(func() { t.catch(do) })
	one.Wait()
}

func (t *thrown) rethrow() {
	if t.again != nil {
		t.again()
	}
}

// each calls do for some shards at the same time, and returns when all calls have returned.
func (t *thrown) each(shards []int, do func(s int)) {
	var all sync.WaitGroup
	defer all.Wait() // also if the caller's goroutine ends
	for i, s := range shards {
		if i == len(shards)-1 {
			t.catch(func() { do(s) })
			break
		}
		all.Go(func() { t.catch(func() { do(s) }) })
	}
}

// each calls do for some shards at the same time, and returns their errors as one.
func each(ctx context.Context, shards []int, do func(s int) error) error {
	if len(shards) == 0 {
		return nil
	}
	var t thrown
	failed := make(failures, shards[len(shards)-1]+1)
	t.each(shards, func(s int) { failed[s] = do(s) })
	t.rethrow()
	return failed.error(context.Cause(ctx))
}
