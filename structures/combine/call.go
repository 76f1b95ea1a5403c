package combine

import (
	"sync/atomic"

	"github.com/vkds/vkds/structures"
)

// kind is what all calls of a group do. The first four are searches for neighbors, in the order of
// structures.Direction.
type kind uint8

const (
	find kind = iota + kind(structures.Ceil) + 1
	count
	list
	rank
	choose // Select
	insert
	insertUnique
	insertAdd
	insertMin
	insertMax
	remove
	modify
	kinds = iota + int(structures.Ceil) + 1

	firstUpdate = insert
)

// updates has the operation on the dictionary of each kind of updates.
var updates = [...]structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd,
	structures.InsertMin, structures.InsertMax, structures.Delete}

func (k kind) update() structures.Kind { return updates[k-firstUpdate] }

// kindOf returns the kind of the calls of an update. ok is false if calls of that update are not combined.
func kindOf(k structures.Kind) (_ kind, ok bool) {
	for i, u := range updates {
		if u == k {
			return firstUpdate + kind(i), true
		}
	}
	return 0, false
}

// state says who may use the slices of a call: its caller's, and those for its results.
type state = uint32

const (
	waiting   state = iota // the caller; the operations may be withdrawn
	gathering              // the worker, which copies the operations
	running                // the caller, who may leave; the operations are in a batch
	answering              // the worker, which writes the results
	left                   // the caller has left: no worker touches the call again
)

// call is the operations of one caller, all of one kind. A worker has to fetch each cache line of it from another
// processor, so the first two have all that a call of one key needs.
type call[K, V structures.Number] struct {
	next, prev *call[K, V]
	turn       uint64 // of the queue that it is in
	state      atomic.Uint32
	kind       kind
	op         modification // of modify
	there      [1]bool
	keys       []K
	key        [1]K

	done   chan struct{}
	values []V // of insertions and lookups
	found  []bool
	value  [1]V

	expected  V // of compareAndSet
	status    []structures.Status
	ranges    []structures.Range[K]
	ranks     []uint32
	numbers   []uint32 // results of count and rank
	neighbors structures.Neighbors[K, V]
	into      *structures.Ranges[K, V]
	err       error
	_         [40]byte // so that it begins with a cache line: the next size of the allocator is a multiple
}

// one makes the call one of a single key, with its slices inside.
func (x *call[K, V]) one(k kind, key K) {
	x.kind, x.key[0] = k, key
	x.keys = x.key[:]
}

// size returns the number of operations.
func (x *call[K, V]) size() int {
	switch x.kind {
	case count, list:
		return len(x.ranges)
	case choose:
		return len(x.ranks)
	}
	return len(x.keys)
}

// isUpdate reports whether the call may change the dictionary.
func (x *call[K, V]) isUpdate() bool { return x.kind >= firstUpdate }

// forget drops what belongs to the caller, so that the call can be used again.
func (x *call[K, V]) forget() {
	x.keys, x.found, x.values, x.status, x.ranges, x.ranks, x.numbers = nil, nil, nil, nil, nil, nil, nil
	x.neighbors, x.into, x.err = structures.Neighbors[K, V]{}, nil, nil
	x.next, x.prev = nil, nil // a neighbor may have left with its caller's slices
	x.state.Store(waiting)
}

// queue has the calls that wait, in the order in which they came. A caller pushes its call without a lock; for all else
// the queue's user has one.
type queue[K, V structures.Number] struct {
	_ [64]byte // all callers write the cache line of the next three

	pushed     atomic.Pointer[call[K, V]] // since the last collect; the last one is first
	operations atomic.Int64               // of all calls
	enough     atomic.Int64               // a caller that finds as many looks whether a batch may begin

	_ [64]byte

	first, last *call[K, V] // those before
	collected   int         // their operations
	turn        uint64      // how often all of them were taken
}

// taken is the turn of calls that were taken while others stayed.
const taken = ^uint64(0)

// fills reports whether there are enough operations with n more.
func (q *queue[K, V]) fills(n int) bool { return q.operations.Load()+int64(n) >= q.enough.Load() }

func (q *queue[K, V]) empty() bool { return q.first == nil && q.pushed.Load() == nil }

// waiting returns how many operations wait. It is at least one if a call does: a call that was pushed and taken before
// its caller counted it makes the count too small by its operations, until the caller goes on.
func (q *queue[K, V]) waiting() int {
	if q.empty() {
		return 0
	}
	return max(1, int(q.operations.Load()))
}

// push appends a call. Its operations are counted afterwards, so that those that are counted can be taken.
func (q *queue[K, V]) push(x *call[K, V]) {
	n := int64(x.size())
	for {
		x.next = q.pushed.Load()
		if q.pushed.CompareAndSwap(x.next, x) {
			break
		}
	}
	q.operations.Add(n)
}

// collect appends the calls that were pushed to the others.
func (q *queue[K, V]) collect() {
	last := q.pushed.Swap(nil)
	if last == nil {
		return
	}
	var first *call[K, V]
	for x := last; x != nil; {
		before := x.next
		x.next, x.turn = first, q.turn
		if first != nil {
			first.prev = x
		}
		q.collected += x.size()
		first, x = x, before
	}
	if first.prev = q.last; q.last == nil {
		q.first = first
	} else {
		q.last.next = first
	}
	q.last = last
}

// withdraw takes a call out of the queue, if it is still there.
func (q *queue[K, V]) withdraw(x *call[K, V]) {
	q.collect()
	if x.turn != q.turn {
		return
	}
	if x.prev == nil {
		q.first = x.next
	} else {
		x.prev.next = x.next
	}
	if x.next == nil {
		q.last = x.prev
	} else {
		x.next.prev = x.prev
	}
	q.gone(x.size())
}

// gone counts operations less.
func (q *queue[K, V]) gone(n int) {
	q.collected -= n
	q.operations.Add(-int64(n))
}

// take takes the first calls, of at most so many operations together, but at least one call. It returns the first, to
// which the others are linked, and the number of operations.
func (q *queue[K, V]) take(most int) (first *call[K, V], n int) {
	q.collect()
	first, n = q.first, q.collected
	if n <= most || first == q.last {
		q.first, q.last = nil, nil
		q.turn++
		q.gone(n)
		return first, n
	}
	last := first
	for n = last.size(); n+last.next.size() <= most; n += last.size() {
		last.turn = taken
		last = last.next
	}
	last.turn = taken
	q.first, last.next = last.next, nil
	q.first.prev = nil
	q.gone(n)
	return first, n
}
