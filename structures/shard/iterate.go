package shard

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
)

// iteration is over the shards of a core. Without a core, the caller has entered, so the pairs can't change.
type iteration struct {
	ctx   context.Context
	of    *core
	enter func(ctx context.Context) (_ context.Context, leave func(), err error)
}

// begin waits for the call that changes pairs, if there is one. It returns the shards and the number of changes.
func (i iteration) begin(shards func() []int) (these []int, changes uint64, err error) {
	if i.of == nil {
		return shards(), 0, nil
	}
	_, leave, err := i.enter(i.ctx)
	if err != nil {
		return nil, 0, err
	}
	defer leave()
	return shards(), i.of.changes.Load(), nil
}

// chained returns what the iterators of shards return, one after the other. The iteration ends with
// structures.ErrChanged if the pairs change.
func chained[T any](i iteration, shards func() []int, of func(s int) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		these, changes, err := i.begin(shards)
		if err != nil {
			yield(*new(T), err)
			return
		}
		w := &walk[T]{iteration: i, yield: yield, changes: changes}
		for _, s := range these {
			if !w.shard(s, of(s)) {
				return
			}
		}
	}
}

// walk is an iteration that has begun.
type walk[T any] struct {
	iteration
	yield   func(T, error) bool
	changes uint64 // before the first pair was read
	some    bool   // the shard has returned something
}

// shard passes on what a shard returns, and reports whether to go on.
//
// A shard's own iterator notices changes from its first part on. So if nothing has changed until the first part of the
// last shard was read, everything is what there was at that moment: later changes of shards that were read already
// don't matter.
func (w *walk[T]) shard(s int, of iter.Seq2[T, error]) bool {
	w.some = false
	for x, err := range of {
		if err != nil {
			w.yield(*new(T), wrapped(w.ctx, s, err))
			return false
		}
		if !w.some && w.changed() {
			return false
		}
		w.some = true
		if !w.yield(x, nil) {
			return false
		}
	}
	return w.some || !w.changed()
}

// changed reports whether pairs have changed, and if so ends the iteration.
func (w *walk[T]) changed() bool {
	if w.of == nil || w.of.changes.Load() == w.changes {
		return false
	}
	w.yield(*new(T), structures.ErrChanged)
	return true
}
