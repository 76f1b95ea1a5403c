package combine

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
)

// modification is what a call of the kind modify does with the value of its key.
type modification uint8

const (
	swap modification = iota
	add
	least
	greatest
	compareAndSet
)

// entries has the keys of a batch, each once.
type entries[K, V structures.Number] struct {
	index  map[uint64]int // of the word of each key in keys
	at     []int          // of each operation, the index of its key
	keys   []K
	values []V
	found  []bool
	counts []int // of deletions

	changed []bool // by an operation so far
	depends []bool // of each operation, whether it or one before it has changed its key
	written []int  // the keys that changed
	status  []structures.Status
}

func (e *entries[K, V]) reset() {
	if e.index == nil {
		e.index = map[uint64]int{}
	}
	clear(e.index)
	e.at, e.keys = e.at[:0], e.keys[:0]
}

// place adds an operation on a key. It returns the index of the key, and whether the key was there.
func (e *entries[K, V]) place(word uint64, key K) (at int, is bool) {
	if at, is = e.index[word]; !is {
		at = len(e.keys)
		e.index[word] = at
		e.keys = append(e.keys, key)
	}
	e.at = append(e.at, at)
	return at, is
}

// modify looks up the keys of a group, does its operations in their order on the host, and writes the values that have
// changed. Equal keys are resolved here, so the dictionary gets each once. No other change runs in between.
func (b *batch[K, V]) modify(ctx context.Context) {
	e := &b.entries
	e.reset()
	for _, x := range b.calls {
		e.place(b.core.words.Word(x.key[0]), x.key[0])
	}
	n := len(e.keys)
	e.values, e.found = slices.Grow(e.values[:0], n)[:n], slices.Grow(e.found[:0], n)[:n]
	e.changed = slices.Grow(e.changed[:0], n)[:n]
	e.depends = slices.Grow(e.depends[:0], len(b.calls))[:len(b.calls)]
	clear(e.changed)
	if err := b.core.d.FindInto(ctx, e.keys, e.values, e.found); err != nil {
		for _, x := range b.calls {
			x.err = pipeline.NotBegun(nil, 1, err)
		}
		return
	}
	for j, x := range b.calls {
		i := e.at[j]
		value, set := b.core.modified(x, e.values[i], e.found[i])
		x.value[0], x.there[0] = e.values[i], e.found[i]
		if set {
			e.values[i], e.found[i], e.changed[i] = value, true, true
		}
		if x.op != swap {
			x.value[0], x.there[0] = e.values[i], set
		}
		e.depends[j] = e.changed[i]
	}
	b.write(ctx)
}

// write writes what has changed.
func (b *batch[K, V]) write(ctx context.Context) {
	e := &b.entries
	b.keys, b.values, e.written = b.keys[:0], b.values[:0], e.written[:0]
	for i, changed := range e.changed {
		if changed {
			b.keys, b.values, e.written = append(b.keys, e.keys[i]), append(b.values, e.values[i]), append(e.written, i)
		}
	}
	if len(b.keys) == 0 {
		return
	}
	e.status = slices.Grow(e.status[:0], len(b.keys))[:len(b.keys)]
	clear(e.status)
	err := b.core.d.UpdateInto(ctx, structures.Insert, b.keys, b.values, e.status)
	if err == nil {
		return
	}
	var pending *structures.PendingError
	if errors.As(err, &pending) {
		err = &structures.PendingError{Operations: 1, Err: pending.Err}
		for j, s := range e.status {
			e.changed[e.written[j]] = s == structures.Pending // others are done
		}
	}
	for j, x := range b.calls {
		if e.depends[j] && e.changed[e.at[j]] {
			x.err = err
		}
	}
}

// modified returns the value that an operation gives a key, if it does.
func (c *core[K, V]) modified(x *call[K, V], old V, found bool) (_ V, set bool) {
	value := x.value[0]
	switch {
	case x.op == compareAndSet:
		return value, found && c.order.Word(old) == c.order.Word(x.expected)
	case x.op == swap || !found:
		return value, true
	case x.op == add:
		return sum(old, value), true
	}
	less := c.order.Word(value) < c.order.Word(old)
	return value, less == (x.op == least) && c.order.Word(value) != c.order.Word(old)
}

// sum adds as structures.Updates does: a sum that is not a number is always the same NaN.
func sum[V structures.Number](a, b V) V {
	s := a + b
	if s != s {
		return V(math.Float64frombits(0x7ff8000000000000))
	}
	return s
}
