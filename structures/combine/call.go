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

// call is the operations of one caller, all of one kind.
type call[K, V structures.Number] struct {
	next  *call[K, V]
	turn  uint64 // of the queue that it is in
	state atomic.Uint32
	kind  kind
	op    modification // of modify
	done  chan struct{}
	keys  []K
	found []bool

	values   []V // of insertions and lookups
	key      [1]K
	value    [1]V
	there    [1]bool
	expected V // of compareAndSet
	prev     *call[K, V]

	status    []structures.Status
	ranges    []structures.Range[K]
	ranks     []uint32
	numbers   []uint32 // results of count and rank
	neighbors structures.Neighbors[K, V]
	into      *structures.Ranges[K, V]
	err       error
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
	x.state.Store(waiting)
}

// queue has the calls that wait, in the order in which they came. Its user locks it, except for operations.
type queue[K, V structures.Number] struct {
	first, last *call[K, V]
	turn        uint64 // how often all calls were taken
	operations  atomic.Int64
}

// taken is the turn of calls that were taken while others stayed.
const taken = ^uint64(0)

func (q *queue[K, V]) push(x *call[K, V]) {
	x.next, x.prev, x.turn = nil, q.last, q.turn
	if q.last == nil {
		q.first = x
	} else {
		q.last.next = x
	}
	q.last = x
	q.operations.Add(int64(x.size()))
}

// withdraw takes a call out of the queue, if it is still there.
func (q *queue[K, V]) withdraw(x *call[K, V]) {
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
	q.operations.Add(-int64(x.size()))
}

// take takes the first calls, of at most so many operations together, but at least one call. It returns the first, to
// which the others are linked, and the number of operations. It looks at each call only if it can't take all.
func (q *queue[K, V]) take(most int) (first *call[K, V], n int) {
	first, n = q.first, int(q.operations.Load())
	if n <= most || first == q.last {
		q.first, q.last = nil, nil
		q.turn++
		q.operations.Store(0)
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
	q.operations.Add(-int64(n))
	return first, n
}
