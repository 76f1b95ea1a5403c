// Package combine lets many goroutines share a dictionary: it puts the operations that they ask for at the same time
// into one batch.
//
// A call on a dictionary in GPU memory takes as long for one key as for thousands, and calls that change it run one
// after the other. A server with a goroutine for each request therefore gets few requests a second from a dictionary
// alone. New returns a dictionary with the same methods, for which the requests of 1,000 goroutines are one call.
package combine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Options has the bounds of batches. The zero value is for most programs.
type Options struct {
	// MaxBatch is the greatest number of operations of a batch. A call with as many is not combined. 0: 2^16.
	MaxBatch int
	// MaxWait is how long a call waits at most for others, once fewer than two batches are under way. If the dictionary
	// is idle, a call does not wait, except right after a batch, whose callers may be about to come back. 0: 100 µs.
	// Timers of the operating system may be as coarse as 1 ms.
	MaxWait time.Duration
}

const (
	defaultBatch = 1 << 16
	defaultWait  = 100 * time.Microsecond
)

// Dictionary is a structures.Dictionary that combines the calls of many goroutines into batches for the dictionary
// inside.
//
//   - Find, Get, Put, Insert and the other updates of one kind, and the methods below that update one key, are
//     combined: with one key or with many, up to Options.MaxBatch.
//   - All other methods, and larger calls, are passed on.
//
// All calls are linearizable (structures.Dictionary), also those with many keys, and queries on the dictionary inside.
// While the Dictionary is in use, only its own methods may change the dictionary inside: Add, Min, Max, Swap and
// CompareAndSet make two calls on it.
//
// A call that comes alone is made at once, by its caller's goroutine. While calls are under way, others wait and become
// the next batch. At most two batches are under way. Each caller is blocked until its call is done, so at most as many
// calls wait as there are goroutines. Calls that wait are not copied. They begin in the order in which they come.
//
// A call that can't be done returns an error:
//   - If its context ends while the call waits, the call has no effect. An update returns a *structures.PendingError.
//   - If its context ends while its batch is under way, the call returns at once, and the batch goes on for the others.
//     An update returns an *UnknownError: it may still take effect.
//   - A *structures.PendingError of the dictionary inside goes to the callers whose operations are pending, and any
//     other error to all callers of the batch.
//   - If the dictionary inside panics, so does a call that was alone. Calls in a batch return a *PanicError, updates
//     inside an *UnknownError.
//
// Options.Progress of the dictionary inside must not call the Dictionary.
type Dictionary[K, V structures.Number] struct{ core *core[K, V] }

var (
	_ structures.Dictionary[uint32, uint64] = (*Dictionary[uint32, uint64])(nil)
	_ structures.Ordered[uint32, uint64]    = (*Ordered[uint32, uint64])(nil)
)

// New returns a dictionary that combines the calls on d, of which it takes possession: Close closes d. It starts no
// goroutine until calls are combined. Errors: *vk.OptionError, and vk.ErrNotOpen if d is nil.
func New[K, V structures.Number](d structures.Dictionary[K, V], o Options) (*Dictionary[K, V], error) {
	c, err := newCore(d, nil, o)
	if err != nil {
		return nil, err
	}
	return &Dictionary[K, V]{c}, nil
}

func newCore[K, V structures.Number](d structures.Dictionary[K, V], ordered structures.Ordered[K, V],
	o Options) (*core[K, V], error) {
	switch {
	case d == nil:
		return nil, vk.ErrNotOpen
	case o.MaxBatch < 0:
		return nil, &vk.OptionError{Option: "MaxBatch", Reason: fmt.Sprintf("%d is negative", o.MaxBatch)}
	case o.MaxWait < 0:
		return nil, &vk.OptionError{Option: "MaxWait", Reason: fmt.Sprintf("%v is negative", o.MaxWait)}
	}
	o.MaxBatch, o.MaxWait = cmp.Or(o.MaxBatch, defaultBatch), cmp.Or(o.MaxWait, defaultWait)
	return &core[K, V]{d: d, ordered: ordered, o: o, changing: make(chan struct{}, 1),
		words: structures.KeyCode[K](), order: structures.KeyCode[V]()}, nil
}

// open returns the core, or vk.ErrNotOpen if d is nil or a zero value.
func (d *Dictionary[K, V]) open() (*core[K, V], error) {
	if d == nil || d.core == nil {
		return nil, vk.ErrNotOpen
	}
	return d.core, nil
}

// Get is Find of one key.
func (d *Dictionary[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	c, err := d.open()
	if err != nil {
		return 0, false, err
	}
	x := c.call()
	x.one(find, key)
	x.values, x.found = x.value[:], x.there[:]
	return c.one(ctx, x)
}

// Put is Insert of one pair.
func (d *Dictionary[K, V]) Put(ctx context.Context, key K, value V) error {
	c, err := d.open()
	if err != nil {
		return err
	}
	x := c.call()
	x.one(insert, key)
	x.value[0] = value
	x.values = x.value[:]
	_, _, err = c.one(ctx, x)
	return err
}

// Add adds a number to the value of a key, or inserts it if the key is absent, and returns the sum. If the sum isn't
// needed, InsertAdd of one key is faster: Add takes a lookup and an update.
func (d *Dictionary[K, V]) Add(ctx context.Context, key K, value V) (sum V, err error) {
	sum, _, err = d.modify(ctx, add, key, 0, value)
	return sum, err
}

// Min assigns a value to a key if it is less than the key's value, or the key is absent. It returns the value that the
// key has then.
func (d *Dictionary[K, V]) Min(ctx context.Context, key K, value V) (V, error) {
	value, _, err := d.modify(ctx, least, key, 0, value)
	return value, err
}

// Max is Min with the greater value.
func (d *Dictionary[K, V]) Max(ctx context.Context, key K, value V) (V, error) {
	value, _, err := d.modify(ctx, greatest, key, 0, value)
	return value, err
}

// Swap is Put that returns the value before, and whether the key was there.
func (d *Dictionary[K, V]) Swap(ctx context.Context, key K, value V) (old V, found bool, err error) {
	return d.modify(ctx, swap, key, 0, value)
}

// CompareAndSet assigns a value to a key whose value is old, and returns whether it did. An absent key has no value.
// Floats are compared by their bits.
func (d *Dictionary[K, V]) CompareAndSet(ctx context.Context, key K, old, value V) (set bool, err error) {
	_, set, err = d.modify(ctx, compareAndSet, key, old, value)
	return set, err
}

func (d *Dictionary[K, V]) modify(ctx context.Context, op modification, key K, expected, value V) (V, bool, error) {
	c, err := d.open()
	if err != nil {
		return 0, false, err
	}
	x := c.call()
	x.one(modify, key)
	x.op, x.expected, x.value[0] = op, expected, value
	return c.one(ctx, x)
}

// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
func (d *Dictionary[K, V]) Find(ctx context.Context, keys []K) (values []V, found []bool, err error) {
	values, found = make([]V, len(keys)), make([]bool, len(keys))
	return values, found, d.FindInto(ctx, keys, values, found)
}

// FindInto is Find into the caller's slices, either of which may be nil.
func (d *Dictionary[K, V]) FindInto(ctx context.Context, keys []K, values []V, found []bool) error {
	c, err := d.open()
	if err != nil {
		return err
	}
	if !fits(values, len(keys)) || !fits(found, len(keys)) {
		return c.d.FindInto(ctx, keys, values, found)
	}
	x := c.call()
	x.kind, x.keys, x.values, x.found = find, keys, values, found
	return c.many(ctx, x)
}

// fits reports whether a slice is nil or has n elements.
func fits[T any](s []T, n int) bool { return s == nil || len(s) == n }

// Insert inserts each pair, or assigns the value if the key is there. Statuses are Inserted or Assigned.
func (d *Dictionary[K, V]) Insert(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.Insert, keys, values)
}

// InsertUnique inserts each pair whose key is not there. Statuses are Inserted or Found.
func (d *Dictionary[K, V]) InsertUnique(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertUnique, keys, values)
}

// InsertAdd inserts each pair, or adds the value to the one that is there.
func (d *Dictionary[K, V]) InsertAdd(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertAdd, keys, values)
}

// InsertMin inserts each pair, or assigns the value if it is less than the one that is there.
func (d *Dictionary[K, V]) InsertMin(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertMin, keys, values)
}

// InsertMax inserts each pair, or assigns the value if it is greater than the one that is there.
func (d *Dictionary[K, V]) InsertMax(ctx context.Context, keys []K, values []V) ([]structures.Status, error) {
	return d.update(ctx, structures.InsertMax, keys, values)
}

// Delete removes each key. Statuses are Deleted or Absent. If a key comes in several calls of a batch, the first call
// has deleted it.
func (d *Dictionary[K, V]) Delete(ctx context.Context, keys []K) ([]structures.Status, error) {
	return d.update(ctx, structures.Delete, keys, nil)
}

func (d *Dictionary[K, V]) update(ctx context.Context, kind structures.Kind, keys []K,
	values []V) ([]structures.Status, error) {
	status := make([]structures.Status, len(keys))
	return pipeline.Made(status, d.UpdateInto(ctx, kind, keys, values, status))
}

// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values belong to
// insertions, and are nil for Delete; status may be nil. Kinds that have no method here are passed on.
func (d *Dictionary[K, V]) UpdateInto(ctx context.Context, kind structures.Kind, keys []K, values []V,
	status []structures.Status) error {
	c, err := d.open()
	if err != nil {
		return err
	}
	k, combined := kindOf(kind)
	if !combined || kind.Inserts() != (values != nil) || !fits(values, len(keys)) || !fits(status, len(keys)) {
		return c.updateInto(ctx, kind, keys, values, status)
	}
	x := c.call()
	x.kind, x.keys, x.values, x.status = k, keys, values, status
	return c.many(ctx, x)
}

// Apply does a batch of operations of any kinds. It is passed on, as one change.
func (d *Dictionary[K, V]) Apply(ctx context.Context,
	b structures.Batch[K, V]) (r structures.Results[K, V], err error) {
	c, err := d.open()
	if err != nil {
		return r, err
	}
	return c.apply(ctx, b)
}

// Len returns the number of pairs.
func (d *Dictionary[K, V]) Len(ctx context.Context) (uint64, error) {
	c, err := d.enter()
	if err != nil {
		return 0, err
	}
	defer c.users.Done()
	return c.d.Len(ctx)
}

// Clear removes all pairs.
func (d *Dictionary[K, V]) Clear(ctx context.Context) error {
	c, err := d.enter()
	if err != nil {
		return err
	}
	defer c.users.Done()
	if err := c.change(ctx); err != nil {
		return err
	}
	defer c.changed()
	return c.d.Clear(ctx)
}

// All returns the pairs. It ends with structures.ErrChanged if the dictionary changes.
func (d *Dictionary[K, V]) All(ctx context.Context) iter.Seq2[structures.Pair[K, V], error] {
	c, err := d.open()
	if err != nil {
		return transfer.Sequence(func(func(structures.Pair[K, V]) bool) error { return err })
	}
	return c.d.All(ctx)
}

// Chunks is All with many pairs at a time, in slices that are valid until the next ones come.
func (d *Dictionary[K, V]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[K, V], error] {
	c, err := d.open()
	if err != nil {
		return transfer.Sequence(func(func(structures.Pairs[K, V]) bool) error { return err })
	}
	return c.d.Chunks(ctx)
}

// Save writes all pairs to w, and returns the number of bytes. Any structure can load them.
func (d *Dictionary[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	c, err := d.enter()
	if err != nil {
		return 0, err
	}
	defer c.users.Done()
	return c.d.Save(ctx, w)
}

// Prepare makes all kernels that calls may need.
func (d *Dictionary[K, V]) Prepare(ctx context.Context) error {
	c, err := d.enter()
	if err != nil {
		return err
	}
	defer c.users.Done()
	return c.d.Prepare(ctx)
}

// enter lets a call in that is passed on, until users.Done.
func (d *Dictionary[K, V]) enter() (*core[K, V], error) {
	c, err := d.open()
	if err != nil {
		return nil, err
	}
	return c, c.enter()
}

// Close waits for the calls under way and those that wait, and closes the dictionary inside. The other methods then
// return vk.ErrClosed. If the dictionary inside can't be closed, Close returns its error, and can be called again.
func (d *Dictionary[K, V]) Close() error {
	c, err := d.open()
	if err != nil {
		return err
	}
	return c.close()
}
