package combine

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/vkds/vkds/structures"
)

// batch is the calls that one worker does together, with the buffers that it fills for the dictionary. The buffers are
// kept for later batches.
type batch[K, V structures.Number] struct {
	core   *core[K, V]
	first  *call[K, V] // the calls that were taken from the queue
	n      int         // their operations
	groups [kinds][]*call[K, V]

	at       kind          // the group that is being done
	calls    []*call[K, V] // its calls, without those whose callers have left
	starts   []int         // the place of the first operation of each part of the calls
	parts    sync.WaitGroup
	changing bool // core.changing is held

	keys      []K
	values    []V
	found     []bool
	status    []structures.Status
	ranges    []structures.Range[K]
	ranks     []uint32
	numbers   []uint32
	neighbors structures.Neighbors[K, V]
	pairs     structures.Ranges[K, V]
	entries   entries[K, V]
}

// begin takes the calls that wait, and works.
func (b *batch[K, V]) begin() {
	b.core.mu.Lock()
	b.core.take(b)
	b.core.mu.Unlock()
	b.work()
}

// part is how many calls one goroutine answers.
const part = 64

// work does batches until no call waits.
func (b *batch[K, V]) work() {
	over := false
	defer b.rescue(&over)
	for !over {
		b.sort()
		for ; int(b.at) < kinds; b.at++ {
			if b.gather(); len(b.calls) > 0 {
				b.answer(b.do(context.Background()))
			}
		}
		over = !b.core.next(b)
	}
}

// rescue answers the calls of a group in which the dictionary has panicked or ended the goroutine, and has another
// goroutine go on with the other groups. over: the worker has ended by itself, and b may be another's.
func (b *batch[K, V]) rescue(over *bool) {
	if *over {
		return
	}
	err := error(&PanicError{recover()})
	if b.changing {
		b.changing = false
		b.core.changed()
	}
	for _, x := range b.calls {
		if x == nil {
			continue // it has its answer
		}
		// A call that was being answered had a result too short.
		if x.state.CompareAndSwap(running, answering) || x.state.Load() == answering {
			if x.err = err; x.isUpdate() {
				x.err = &UnknownError{x.size(), err}
			}
			x.done <- struct{}{}
		}
	}
	b.at++
	go b.work()
}

// sort puts new calls into their groups.
func (b *batch[K, V]) sort() {
	if b.first == nil {
		return
	}
	b.at = 0
	for x := b.first; x != nil; x = x.next {
		b.groups[x.kind] = append(b.groups[x.kind], x)
	}
	b.first = nil
}

// gather copies the operations of a group.
func (b *batch[K, V]) gather() {
	all := b.groups[b.at]
	b.calls, b.groups[b.at] = all[:0], all[:0]
	b.keys, b.values, b.ranges, b.ranks = b.keys[:0], b.values[:0], b.ranges[:0], b.ranks[:0]
	b.starts = b.starts[:0]
	for _, x := range all {
		if !x.state.CompareAndSwap(waiting, gathering) {
			continue
		}
		if len(b.calls)%part == 0 {
			b.starts = append(b.starts, len(b.keys)+len(b.ranges)+len(b.ranks))
		}
		b.calls = append(b.calls, x)
		b.keys = append(b.keys, x.keys...)
		b.ranges, b.ranks = append(b.ranges, x.ranges...), append(b.ranks, x.ranks...)
		if x.isUpdate() {
			b.values = append(b.values, x.values...)
		}
		x.state.Store(running)
	}
	clear(all[len(b.calls):])
}

// do does the operations of a group in one call on the dictionary.
func (b *batch[K, V]) do(ctx context.Context) (err error) {
	d, ordered := b.core.d, b.core.ordered
	if b.at >= firstUpdate {
		_ = b.core.change(ctx) // can't fail: this context never ends
		b.changing = true
	}
	switch n := len(b.keys); b.at {
	case find:
		b.values, b.found = slices.Grow(b.values[:0], n)[:n], slices.Grow(b.found[:0], n)[:n]
		err = d.FindInto(ctx, b.keys, b.values, b.found)
	case count:
		b.numbers, err = ordered.Count(ctx, b.ranges)
	case list:
		err = ordered.RangeInto(ctx, b.ranges, &b.pairs)
	case rank:
		b.numbers, err = ordered.Rank(ctx, b.keys)
	case choose:
		b.neighbors, err = ordered.Select(ctx, b.ranks)
	case modify:
		b.modify(ctx)
	default:
		if b.at < firstUpdate {
			b.neighbors, err = ordered.Neighbor(ctx, structures.Direction(b.at), b.keys)
			break
		}
		b.status = slices.Grow(b.status[:0], n)[:n]
		clear(b.status)
		if b.at != remove {
			err = d.UpdateInto(ctx, b.at.update(), b.keys, b.values, b.status)
			break
		}
		if err = d.UpdateInto(ctx, structures.Delete, b.keys, nil, b.status); len(b.calls) > 1 {
			b.inOrder()
		}
	}
	if b.changing {
		b.changing = false
		b.core.changed()
	}
	return err
}

// inOrder gives equal keys in a batch of deletions the statuses of one operation after the other: of one call after
// the other, too.
func (b *batch[K, V]) inOrder() {
	e := &b.entries
	e.reset()
	repeated := false
	for _, key := range b.keys {
		_, is := e.place(b.core.words.Word(key), key)
		repeated = repeated || is
	}
	if !repeated {
		return
	}
	e.counts = slices.Grow(e.counts[:0], len(e.keys))[:len(e.keys)]
	clear(e.counts)
	for i, s := range b.status {
		if s == structures.Deleted {
			e.counts[e.at[i]]++
		}
	}
	for i, s := range b.status {
		switch at := e.at[i]; {
		case s == structures.Pending:
		case e.counts[at] > 0:
			e.counts[at]--
			b.status[i] = structures.Deleted
		default:
			b.status[i] = structures.Absent
		}
	}
}

// answer gives the calls of a group their results. A batch of many is answered by several goroutines, since one needs
// longer to wake its callers than the dictionary to answer them.
func (b *batch[K, V]) answer(err error) {
	pending := pendingOf(err) // here, where rescue is: a method of the dictionary's error may panic
	if b.at != find && b.at < firstUpdate {
		b.answerSome(b.calls, 0, err, pending) // a dictionary that answers too little makes it panic
		return
	}
	for i, at := range b.starts[1:] {
		b.parts.Go(func() {
			b.answerSome(b.calls[(i+1)*part:min((i+2)*part, len(b.calls))], at, err, pending)
		})
	}
	b.answerSome(b.calls[:min(part, len(b.calls))], 0, err, pending)
	b.parts.Wait()
}

// answerSome gives some calls, the first operation of which is at a place of the batch, their results. pending: err is
// one, or nil.
func (b *batch[K, V]) answerSome(calls []*call[K, V], at int, err error, pending *structures.PendingError) {
	for i, x := range calls {
		n := x.size()
		if x.state.CompareAndSwap(running, answering) {
			switch {
			case x.kind == modify: // has its result
			case pending != nil && x.isUpdate():
				copy(x.status, b.status[at:])
				x.err = partOf(pending, b.status[at:at+n])
			case err != nil:
				x.err = err
			default:
				b.results(x, at, n)
			}
			calls[i] = nil // before the caller uses the call again
			x.done <- struct{}{}
		}
		calls[i] = nil
		at += n
	}
}

// pendingOf returns the *structures.PendingError that an error is, or nil.
func pendingOf(err error) (pending *structures.PendingError) {
	errors.As(err, &pending)
	return pending
}

// partOf returns the error of the call with some of a batch's operations.
func partOf(err *structures.PendingError, status []structures.Status) error {
	n := 0
	for _, s := range status {
		if s == structures.Pending {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return &structures.PendingError{Operations: n, Err: err.Err}
}

// results copies the results of a call's n operations, the first of which is at a place of the batch.
func (b *batch[K, V]) results(x *call[K, V], at, n int) {
	switch x.kind {
	case find:
		copy(x.values, b.values[at:])
		copy(x.found, b.found[at:])
	case count, rank:
		x.numbers = b.numbers[at : at+n : at+n]
	case list:
		b.list(x.into, at, n)
	default:
		if x.isUpdate() {
			copy(x.status, b.status[at:])
			return
		}
		all := b.neighbors
		x.neighbors = structures.Neighbors[K, V]{Keys: all.Keys[at : at+n : at+n],
			Values: all.Values[at : at+n : at+n], Found: all.Found[at : at+n : at+n]}
	}
}

// list copies the pairs of n ranges.
func (b *batch[K, V]) list(into *structures.Ranges[K, V], at, n int) {
	offsets := b.pairs.Offsets[at : at+n+1]
	first, end := offsets[0], offsets[n]
	into.Offsets = into.Offsets[:0]
	for _, o := range offsets {
		into.Offsets = append(into.Offsets, o-first)
	}
	into.Keys = append(into.Keys[:0], b.pairs.Keys[first:end]...)
	into.Values = append(into.Values[:0], b.pairs.Values[first:end]...)
}
