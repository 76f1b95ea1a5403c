// Package structures holds what users of all of vkds's GPU data structures see: the kinds of operations and their
// results, the interfaces Dictionary and Ordered, batches in Go slices and in device buffers, and the errors.
//
// The option MaxBytes bounds the memory that a structure keeps, and its second copy while it grows. It doesn't bound
// the memory that calls work in, because a full structure must still answer queries and delete:
//   - Batches in Go slices are copied through buffers, which the structure keeps for the next batch. A call takes up to
//     five of them, each of up to 64 MiB of host memory (4 MiB on a CPU device), and on a discrete GPU the same of
//     device memory. Up to four calls do so at once; others wait.
//   - Sorting a batch, and results whose number isn't known beforehand, take scratch memory. Each stream keeps as much
//     as its largest batch has taken.
//   - Calls that look at a whole structure (Check, Stats, Compact, exports) free what they take before they return.
//
// vk.Options.MemoryLimit bounds all memory on a device.
package structures

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/internal/engine/enum"
)

// Kind is what an operation of a batch does:
//
//	Mixed           each operation has its own kind
//	updates         Insert, InsertUnique, InsertDuplicate, InsertAdd, InsertMin, InsertMax, Delete, DeleteAll
//	lookups         Find, CountAll
//	ordered queries FindSuccessor, FindPredecessor, FindFloor, FindCeil, FindRange, CountRange
//
// The constants say what each does (go doc structures.Insert). The values are those of shaders/include/operation.glsl.
type Kind uint8

const (
	// Mixed, as the kind of a batch, says that each operation has its own kind.
	Mixed Kind = iota
	// Insert inserts a pair, or assigns the value if the key is there.
	Insert
	// InsertUnique inserts a pair unless the key is there; then nothing changes and the status is Found.
	InsertUnique
	// InsertDuplicate always inserts a pair: a key may have many values.
	InsertDuplicate
	// InsertAdd inserts a pair, or adds the value if the key is there (Updates.InsertAdd).
	InsertAdd
	// InsertMin inserts a pair, or assigns the value if it is less than the key's value (Updates.InsertMin).
	InsertMin
	// InsertMax inserts a pair, or assigns the value if it is greater than the key's value.
	InsertMax
	// Delete removes the least recently inserted pair of a key.
	Delete
	// DeleteAll removes all pairs of a key, not at one moment but one after the other. The result's value is their
	// number.
	DeleteAll
	// Find looks up the least recently inserted pair of a key. The result's value is the pair's.
	Find
	// CountAll counts the pairs of a key, not at one moment but one after the other. The result's value is their
	// number.
	CountAll

	// The kinds below are for dictionaries that keep their keys in order and answer queries while updates run
	// (btree.Tree). The result of the first four is the pair of the neighbor.

	// FindSuccessor finds the least key above the key.
	FindSuccessor
	// FindPredecessor finds the greatest key below the key.
	FindPredecessor
	// FindFloor finds the greatest key that is not above the key.
	FindFloor
	// FindCeil finds the least key that is not below the key.
	FindCeil
	// FindRange lists, in key order, the first Batch.Width pairs of the range from the key to its Batch.Highs. The
	// result's value is their number.
	FindRange
	// CountRange counts the keys in the range from the key to its Batch.Highs. The result's value is their number.
	CountRange
)

var kindNames = enum.Names[Kind]{
	"mixed", "insert", "insert-unique", "insert-duplicate", "insert-add", "insert-min", "insert-max",
	"delete", "delete-all", "find", "count-all",
	"find-successor", "find-predecessor", "find-floor", "find-ceil", "find-range", "count-range",
}

func (k Kind) String() string { return kindNames.String(k) }

// Inserts reports whether operations of this kind may insert a pair.
func (k Kind) Inserts() bool { return k >= Insert && k <= InsertMax }

// UpdatesInPlace reports whether operations of this kind combine their value with the one that is there.
func (k Kind) UpdatesInPlace() bool { return k >= InsertAdd && k <= InsertMax }

// Ordered reports whether operations of this kind are ordered queries, which need the order of keys.
func (k Kind) Ordered() bool { return k >= FindSuccessor }

// Ranges reports whether operations of this kind are on a range of keys (Batch.Highs).
func (k Kind) Ranges() bool { return k == FindRange || k == CountRange }

// Status is the outcome of one operation: Pending, Inserted, Assigned, Found, Deleted or Absent. The constants say more
// (go doc structures.Pending). The values are those of shaders/include/results.glsl.
type Status uint8

const (
	// Pending: not done. A call that succeeds leaves no operation pending. After a call that failed, pending operations
	// have had no effect; a pending DeleteAll may have removed some of the pairs.
	Pending Status = iota
	Inserted
	Assigned // the key was there; InsertMin and InsertMax may have left its value as it was
	Found
	Deleted
	Absent // the key was not there
)

var statusNames = enum.Names[Status]{"pending", "inserted", "assigned", "found", "deleted", "absent"}

func (s Status) String() string { return statusNames.String(s) }

// Pair is a key and its value.
type Pair[K, V Number] struct {
	Key   K
	Value V
}

// Pairs has keys and the value of each. The pairs of a set have no values.
type Pairs[K, V Number] struct {
	Keys   []K
	Values []V
}

// Batch is a batch of operations of any kinds in Go slices, all of length n, for Apply. The structure determines the
// order in which the operations take effect:
//
//   - lsm.LSM and sortedarray.Array first do the lookups and counts, which see what was there before the batch, then
//     the insertions of all kinds in the batch's order, and then the deletions in the batch's order. A key that is
//     inserted and deleted in one batch is gone afterwards (section III-A of the GPU LSM's paper).
//   - btree.Tree with btree.Batched as its Options.Path first does all queries, which see what was there before the
//     batch, and then the insertions and deletions in the batch's order.
//   - btree.Tree with any other Path, and so by default, and slabhash.Map and slabhash.Set run the operations
//     concurrently. The results are those of some sequential order of the operations, which may differ from one run to
//     the next. In a tree, ordered queries (FindSuccessor to CountRange) come first in that order, so they see what
//     was there before the batch, unless OwnMoments is set.
//
// DeleteAll and CountAll of slabhash take effect at several moments: they delete or count the pairs of a key one after
// the other.
//
// In batches of one kind from Go slices, equal keys have the order that Updates describes, in every structure and on
// every path.
type Batch[K, V Number] struct {
	Kinds  []Kind // what each operation does; none may be Mixed
	Keys   []K    // the key of each
	Values []V    // the value of each insertion; nil if no operation inserts, and for a set
	Highs  []K    // the greatest key of each FindRange and CountRange; nil if there are none
	Width  int    // greatest number of pairs that a FindRange lists
	// OwnMoments is for a btree.Tree without the path Batched. If it is set, an ordered query need not see what was
	// there before the batch. It then sees the tree at a moment of its own, while the updates of the batch run.
	OwnMoments bool
}

// Results has the outcomes of a batch, in the order of its operations.
type Results[K, V Number] struct {
	Status []Status
	// Values has the value of each Find and of each neighbor, 0 if the key is absent, and the number of keys or pairs
	// of each CountAll, DeleteAll, FindRange and CountRange. For other kinds it is undefined.
	Values []V
	// Keys has the key of each neighbor, 0 if there is none, and 0 for other kinds. It is nil if the batch searches for
	// no neighbors.
	Keys []K
	// Ranges has the pairs of each FindRange, by the index of its operation. It is the zero value if the batch has
	// none.
	Ranges Ranges[K, V]
}

// Dictionary is implemented by every vkds dictionary. Calls are synchronous, and take and return Go slices. OnStream
// has similar methods on device buffers and streams.
//
// Several goroutines may use one Dictionary. Calls that change it (updates, Clear, rebuilding, Close) run alone;
// queries (Find, Count, Range, neighbors, iterators) run at the same time as other queries. Calls begin in the order in
// which they come, so none waits for ever, and a call that waits returns when its context ends.
//
// Calls with slices are linearizable: each takes effect as a whole between its beginning and its end. That includes a
// batch of updates, as far as it gets. Batch says how the operations of one batch are ordered. Each part that an
// iterator reads is linearizable; if the dictionary changed between two parts, the iterator ends with ErrChanged.
//
// Calls that record work on a stream are ordered in the same way, but the recorded work runs when the stream runs it.
// Queries with slices, iterators, Save and snapshots wait for the updates that streams have submitted. If a stream has
// recorded updates and not submitted them, they return vk.ErrUnsubmitted. Other calls with slices do not wait for
// streams, unless their documentation says so. Each structure documents what may run concurrently, and the caller must
// ensure it. Calls without a context, as most calls that record, wait until the calls before them have ended.
//
// While Options.Progress runs, a call that it makes waits like any other. The io.Writer of Save must not call the
// dictionary, except for queries on streams: the call would wait for Save, and Save for the io.Writer.
//
// The Into forms write into the caller's slices. They save the making of new slices, which takes up to twice as long as
// the transfer itself. If a result slice is nil, that result is not transferred. Other result slices must be as long as
// the batch; otherwise the call returns a *LengthError before it does anything. Nobody else may use the slices during
// the call. A result slice may be the same slice as one of the inputs. It must not overlap an input in any other way,
// nor another result.
//
// If a call fails or its context ends:
//   - An update (Insert, Delete, Apply and the like) returns a *PendingError and the status of each operation.
//   - A query (Find, Count, Range, Len and the like) returns the error, for example the context's. Its results are
//     undefined.
//   - Clear, and calls that build or rebuild, return the error. Clear has then removed all pairs, or none.
type Dictionary[K, V Number] interface {
	Updates[K, V]

	// Find returns the value of each key, 0 if the key is absent, and whether the key is there.
	Find(ctx context.Context, keys []K) (values []V, found []bool, err error)
	// Get is Find of one key. A batch of many keys takes little longer than one key.
	Get(ctx context.Context, key K) (value V, found bool, err error)
	// Put is Insert of one pair.
	Put(ctx context.Context, key K, value V) error
	// FindInto is Find into the caller's slices.
	FindInto(ctx context.Context, keys []K, values []V, found []bool) error
	// Apply does a batch of operations of any kinds.
	Apply(ctx context.Context, b Batch[K, V]) (Results[K, V], error)
	// UpdateInto does a batch of updates of one kind, and writes the status of each to the caller's slice. values
	// belong to insertions, and are nil for Delete. If status is nil, a *PendingError still says how many operations
	// are not done.
	UpdateInto(ctx context.Context, kind Kind, keys []K, values []V, status []Status) error
	// Len returns the number of pairs.
	Len(ctx context.Context) (uint64, error)
	// Clear removes all pairs.
	Clear(ctx context.Context) error
	// All returns the pairs: for pair, err := range d.All(ctx). A hash table returns them in no particular order. All
	// reads them in parts, and they must not change in between. An error ends the iteration and comes without a pair:
	//   - ErrChanged if the pairs changed, also by streams and by kernels of your own
	//   - vk.ErrUnsubmitted if a stream has recorded updates and not submitted them
	//   - the context's
	All(ctx context.Context) iter.Seq2[Pair[K, V], error]
	// Chunks is All with many pairs at a time. The slices are valid until the next ones come.
	Chunks(ctx context.Context) iter.Seq2[Pairs[K, V], error]
	// Save writes all pairs, and the options that Load needs, to w, and returns the number of bytes. Calls that change
	// the dictionary wait until it ends. Every structure can Load the file, as can the vkds tool, and each byte is
	// checked.
	Save(ctx context.Context, w io.Writer) (int64, error)
	// Prepare makes all kernels that calls on the dictionary may need, so that no later call makes one. A driver may
	// take seconds for the kernels of the first calls. Prepare uses all processors, does the work with a small
	// dictionary of the same types, and does not block other calls. A second call does nothing. It calls
	// Options.Progress. If the context ends, the kernels made so far are kept.
	//
	// Errors: the context's, vk.ErrClosed, *vk.OutOfMemoryError, and those of making a kernel.
	Prepare(ctx context.Context) error
	// Close frees the memory. The other methods then return vk.ErrClosed.
	Close() error
}

// Progress is called between the chunks of a long call with the number of its operations that are done. It runs on a
// goroutine of its own, and never twice at once for one structure. It may take its time:
//   - The call waits for it for a tenth of a second and then goes on. Once Progress returns, it is called with the
//     latest numbers.
//   - While Progress runs for one call, other calls on the structure leave their reports out.
//   - The call does not return before Progress has.
//
// Progress may call the structure. Such a call waits until the structure is free, which may be at the end of the call
// that is reported on.
//
// If Progress panics, the panic reaches the caller of the call, and the structure stays open and usable. Part of the
// batch is then done. The call returns no statuses, and those in the caller's slice mean nothing.
type Progress func(done, total int)
