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
	// InsertAdd inserts a pair, or adds its value to the one that is there (Updates.InsertAdd).
	InsertAdd
	// InsertMin inserts a pair, or lowers the value that is there to its own if that is less (Updates.InsertMin).
	InsertMin
	// InsertMax inserts a pair, or raises the value that is there to its own if that is greater.
	InsertMax
	// Delete removes the least recently inserted pair of a key.
	Delete
	// DeleteAll removes all pairs of a key, each at a moment of its own; the result's value is their number.
	DeleteAll
	// Find looks up the least recently inserted pair of a key; the result's value is its value.
	Find
	// CountAll counts the pairs of a key, each at a moment of its own; the result's value is their number.
	CountAll

	// The kinds from here on are for dictionaries that keep their keys in order and answer them while others update
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
	"mixed", "insert", "insert-unique", "insert-duplicate", "insert-add", "insert-min", "insert-max",
	"delete", "delete-all", "find", "count-all",
	"find-successor", "find-predecessor", "find-floor", "find-ceil", "find-range", "count-range",
}

func (k Kind) String() string { return kindNames.String(k) }

// Inserts says whether operations of this kind may insert a pair.
func (k Kind) Inserts() bool { return k >= Insert && k <= InsertMax }

// UpdatesInPlace says whether operations of this kind make a new value of the one that is there.
func (k Kind) UpdatesInPlace() bool { return k >= InsertAdd && k <= InsertMax }

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

// Pairs are keys, each with its value. A set's have no values.
type Pairs[K, V Number] struct {
	Keys   []K
	Values []V
}

// Batch is a batch of operations of any kinds in Go slices, all of length n, for Apply. The order in which the
// operations take effect depends on the structure:
//
//   - lsm.LSM and sortedarray.Array first do the lookups and counts, which see what was there before the batch, then
//     the insertions of all kinds in the batch's order, and then the deletions in the batch's order. A key that is
//     inserted and deleted in one batch is gone afterwards (section III-A of the GPU LSM's paper).
//   - btree.Tree with btree.Batched as its Options.Path first does all queries, which see what was there before the
//     batch, and then the insertions and deletions in the batch's order.
//   - btree.Tree with any other Path, and so by default, and slabhash.Map and slabhash.Set run the operations
//     concurrently. The results are those of some sequential order of the operations, which may differ from one run to
//     the next. In a tree, the operations that ask for order (FindSuccessor to CountRange) come first in that order,
//     so they see what was there before the batch, unless OwnMoments is set.
//
// DeleteAll and CountAll of slabhash have no single moment: they delete or count the pairs of a key one after the
// other, each at its own moment.
//
// In batches of one kind from Go slices, equal keys have the order that Updates describes, in every structure and on
// every path.
type Batch[K, V Number] struct {
	Kinds  []Kind // what each operation does; none may be Mixed
	Keys   []K    // the key of each
	Values []V    // the value that an insertion brings; nil if no operation inserts (or the structure is a set)
	Highs  []K    // of FindRange and CountRange the greatest key of the range; nil if there are none
	Width  int    // pairs that each FindRange lists at most
	// OwnMoments is for a btree.Tree without the path Batched. Operations that ask for order then need not see what was
	// there before the batch. Each sees a moment of its own while the updates of the batch go on.
	OwnMoments bool
}

// Results are the outcomes of a batch, in its order.
type Results[K, V Number] struct {
	Status []Status
	// Values are of Find and of neighbors the value (0 if absent), of CountAll, DeleteAll and ranges the number; of
	// others undefined.
	Values []V
	// Keys are of neighbors the key (0 if absent), of others 0; nil if the batch asks for none.
	Keys []K
	// Ranges are the pairs of each FindRange, by the number of its operation; the zero value if the batch has none.
	Ranges Ranges[K, V]
}

// Dictionary is what every vkds dictionary does. Calls are synchronous and take and return Go slices;
// OnStream has twins of them on device buffers and streams.
//
// Several goroutines may use one Dictionary. Calls that change it (updates, Clear, what rebuilds it, Close) run alone,
// each behind the calls that came before; those that only ask (Find, Count, Range, neighbors, iterators) run beside one
// another. Whoever waits does so until his context ends, and nobody is overtaken for ever. So calls with slices are
// linearizable: each takes effect as a whole between its beginning and its end, a batch of updates too, as far as it
// gets; what operations of one batch are to each other, Batch says. Iterators are so part by part, and end with
// ErrChanged where the dictionary was changed in between.
//
// Recording on streams is ordered in the same way, updates alone and queries beside one another, but not the recorded
// work: what is said of that, what may run concurrently, is the caller's to keep. Calls without a context, as most that
// record are, wait as at a mutex: for as long as those before them take, which the contexts of these may bound.
// Progress runs inside of a call, that of several queries at the same time, and must not call the dictionary: such a
// call is a *ReentryError.
//
// The forms that end in Into write into the caller's slices, which saves the making of new ones: that takes up to twice
// the time of the transfer itself. A slice for results that is nil is not wanted, and nothing of it is transferred; any
// other is as long as the batch, or the call is a *LengthError before anything is done. Nobody else may use the slices
// during the call. One for results may be the very slice of keys or values that the call reads (each operation's result
// then takes its place), but must not overlap with one otherwise, nor with another for results.
//
// When a call's context ends, or it fails otherwise, an update (Insert, Delete, Apply and their like)
// returns a *PendingError and a status for each operation, which says whether it is done. What only asks
// (Find, Count, Range, Len and their like) returns the context's error, and results that mean nothing.
// Clear and what builds or rebuilds return it, too; Clear has then done nothing, or all.
type Dictionary[K, V Number] interface {
	Updates[K, V]

	// Find looks each key up: its value (0 if absent) and whether it is there.
	Find(ctx context.Context, keys []K) (values []V, found []bool, err error)
	// FindInto is Find into the caller's slices.
	FindInto(ctx context.Context, keys []K, values []V, found []bool) error
	// Apply does a batch of mixed operations.
	Apply(ctx context.Context, b Batch[K, V]) (Results[K, V], error)
	// ApplyInto is Apply into the caller's slices. Ranges go to those of into from their beginning, and to new ones
	// where they have no room; what the batch doesn't ask for stays as it is.
	ApplyInto(ctx context.Context, b Batch[K, V], into *Results[K, V]) error
	// UpdateInto does a batch of updates of one kind, and tells in the caller's slice what has become of each. values
	// are those of insertions; of Delete there are none. Without a status an error still says how many operations are
	// not done (*PendingError).
	UpdateInto(ctx context.Context, kind Kind, keys []K, values []V, status []Status) error
	// Len returns the number of pairs.
	Len(ctx context.Context) (uint64, error)
	// Clear removes all pairs.
	Clear(ctx context.Context) error
	// All returns the pairs, in no particular order for a hash table: for pair, err := range d.All(ctx). It reads
	// them part by part, and they must not change meanwhile. An error comes last, with no pair: ErrChanged if they did,
	// by streams and other people's kernels too (UpdateOn, UsedOn); vk.ErrUnsubmitted if a stream has recorded updates
	// and not submitted them; the context's.
	All(ctx context.Context) iter.Seq2[Pair[K, V], error]
	// Chunks is All with many pairs at a time. The slices are valid until the next ones come.
	Chunks(ctx context.Context) iter.Seq2[Pairs[K, V], error]
	// Save writes all pairs, and what the structure was laid out for, to w, and returns how many bytes. It is one call:
	// what changes the dictionary waits until it ends. The Load of each structure reads what any of them has saved, as
	// vkds does, and checks every byte. What WriteTo does is Save without a context.
	Save(ctx context.Context, w io.Writer) (int64, error)
	io.WriterTo
	// Prepare makes all kernels that calls on the dictionary may need, whatever they do and of whatever size, so that
	// none of them makes one: a driver may take seconds for those of the first calls. It does so by a small dictionary
	// of the same sort, beside other calls, on all processors. A second time it does nothing. Options.Progress is told
	// how it gets on; the context ends it between two kernels, and those that were made stay. Errors: the context's,
	// vk.ErrClosed, *vk.OutOfMemoryError, what making a kernel may return.
	Prepare(ctx context.Context) error
	// Metrics are what the host knows. It never waits.
	Metrics() Metrics
	// Close frees the memory. The other methods then return vk.ErrClosed.
	Close() error
}

// Progress is called between the chunks of a long call with the number of its operations that are done. The goroutine
// that made the call calls it, so if several goroutines make calls, it may run several times at once. If Progress calls
// the structure itself, that call returns *ReentryError.
//
// If Progress panics, the panic reaches the caller of the call, and the structure stays open and usable. Part of the
// batch is then done. The call returns no statuses, and those in the caller's slice mean nothing.
type Progress func(done, total int)
