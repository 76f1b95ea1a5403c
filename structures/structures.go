// Package structures holds what users of all of vkds's GPU data structures see: the kinds of operations and their
// results, the interfaces Dictionary and Ordered, batches in Go slices and in device buffers, and the errors.
package structures

import (
	"context"
	"iter"

	"github.com/vkds/vkds/internal/enum"
)

// Kind is what an operation of a batch does. The values are those of shaders/include/operation.glsl.
type Kind uint8

const (
	// Mixed, as the kind of a batch, says that each operation has its own kind.
	Mixed Kind = iota
	// Insert inserts a pair, or assigns the value if the key is there.
	Insert
	// InsertUnique inserts a pair unless the key is there; then nothing changes and the status is Found.
	InsertUnique
	// InsertDuplicate inserts a pair whatever is there: a key may have many values.
	InsertDuplicate
	// Add inserts a pair, or adds to the value that is there, modulo 2^32.
	Add
	// Min inserts a pair, or lowers the value that is there if the new one is smaller.
	Min
	// Max inserts a pair, or raises the value that is there if the new one is larger.
	Max
	// Delete removes the least recently inserted pair of a key.
	Delete
	// DeleteAll removes all pairs of a key, each at a moment of its own; the result's value is their number.
	DeleteAll
	// Find looks up the least recently inserted pair of a key; the result's value is its value.
	Find
	// Count counts the pairs of a key, each at a moment of its own; the result's value is their number.
	Count

	// The kinds from here on are for dictionaries that keep their keys in order and answer them beside updates
	// (btree.Tree). Those that find a neighbor result in its pair.

	// FindSuccessor finds the least key above the key.
	FindSuccessor
	// FindPredecessor finds the greatest key below it.
	FindPredecessor
	// FindFloor finds the greatest key up to it, itself included.
	FindFloor
	// FindCeil finds the least key from it on, itself included.
	FindCeil
	// FindRange lists the first Batch.Width pairs from the key up to Batch.Highs, in key order; the result's value is
	// their number.
	FindRange
	// CountRange counts the keys from the key up to Batch.Highs; the result's value is their number.
	CountRange
)

var kindNames = enum.Names[Kind]{
	"mixed", "insert", "insert-unique", "insert-duplicate", "add", "min", "max", "delete", "delete-all", "find", "count",
	"find-successor", "find-predecessor", "find-floor", "find-ceil", "find-range", "count-range",
}

func (k Kind) String() string { return kindNames.String(k) }

// Inserts says whether operations of this kind may insert a pair.
func (k Kind) Inserts() bool { return k >= Insert && k <= Max }

// Ordered says whether operations of this kind ask for the order of keys.
func (k Kind) Ordered() bool { return k >= FindSuccessor }

// Ranges says whether operations of this kind are about the keys up to another one (Batch.Highs).
func (k Kind) Ranges() bool { return k == FindRange || k == CountRange }

// Status is the outcome of one operation. The values are those of shaders/include/results.glsl.
type Status uint8

const (
	// Pending: not done. A call that succeeds leaves no operation pending; after one that failed, the
	// pending operations had no effect (of a DeleteAll: not all of it).
	Pending Status = iota
	Inserted
	Assigned // the key was there, and its value was assigned, added to, lowered or raised
	Found
	Deleted
	Absent // the key was not there
)

var statusNames = enum.Names[Status]{"pending", "inserted", "assigned", "found", "deleted", "absent"}

func (s Status) String() string { return statusNames.String(s) }

// Batch is a batch of operations in Go slices, all of length n. The operations of a batch run
// concurrently: their order is free, but their results are those of some sequential order. DeleteAll and
// Count are not one moment but many: they come to the pairs of a key one after the other, and delete or
// count each at its own moment.
type Batch struct {
	Kinds  []Kind   // what each operation does; none may be Mixed
	Keys   []uint32 // the key of each
	Values []uint32 // the value that an insertion brings; nil if no operation inserts (or the structure is a set)
	Highs  []uint32 // of FindRange and CountRange the greatest key of the range; nil if there are none
	Width  int      // pairs that each FindRange lists at most
}

// Results are the outcomes of a batch, in its order.
type Results struct {
	Status []Status
	// Values are of Find and of neighbors the value (0 if absent), of Count, DeleteAll and ranges the number; of others
	// undefined.
	Values []uint32
	// Keys are of neighbors the key (0 if absent), of others 0; nil if the batch asks for none.
	Keys []uint32
	// Ranges are the pairs of each FindRange, by the number of its operation; the zero value if the batch has none.
	Ranges Ranges
}

// Dictionary is what every vkds dictionary does. Calls are synchronous and take and return Go slices;
// OnStream has twins of them on device buffers and streams.
//
// Several goroutines may use one Dictionary. Its calls take turns: each waits for those that came before,
// or until its context ends. That goes for what is recorded on streams, too, but not for the work itself:
// what is said of that, which may run beside what, is the caller's to keep. Calls without a context, as most
// that record are, wait as at a mutex: for as long as those before them take, which the contexts of these may
// bound. Iterators take a turn for each part that they read, and end with ErrChanged where the dictionary was
// changed in between. Progress runs inside of a turn and must not call the dictionary: such a call is a
// *ReentryError.
//
// When a call's context ends, or it fails otherwise, an update (Insert, Delete, Apply and their like)
// returns a *PendingError and a status for each operation, which says whether it is done. What only asks
// (Find, Count, Range, Len and their like) returns the context's error, and results that mean nothing.
// Clear and what builds or rebuilds return it, too; Clear has then done nothing, or all.
type Dictionary interface {
	// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned. Of equal keys in the
	// batch the last one's value stays, and their statuses are those of one after the other.
	Insert(ctx context.Context, keys, values []uint32) ([]Status, error)
	// Delete removes each key.
	Delete(ctx context.Context, keys []uint32) ([]Status, error)
	// Find looks each key up: its value (0 if absent) and whether it is there.
	Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error)
	// Apply does a batch of mixed operations.
	Apply(ctx context.Context, b Batch) (Results, error)
	// Len returns the number of pairs.
	Len(ctx context.Context) (uint64, error)
	// Clear removes all pairs.
	Clear(ctx context.Context) error
	// All returns the pairs, in no particular order for a hash table. The sequence ends early if the
	// device fails; the function then returned says so.
	All(ctx context.Context) (pairs iter.Seq2[uint32, uint32], err func() error)
	// Close frees the memory. The other methods then return vk.ErrClosed.
	Close() error
}

// Progress is told how many of a call's operations are done. It is called between chunks of a long
// call, by the goroutine that made the call. It must not call the structure itself: *ReentryError.
type Progress func(done, total int)
