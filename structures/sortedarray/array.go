// Package sortedarray is a dictionary in GPU memory that is one array of pairs in key order, with a small search tree
// over it: the best of the ordered dictionaries to read, and one that every batch of updates copies as a whole. The
// GPU LSM's paper measures against it (Ashkiani et al., GPU LSM: A Dynamic Dictionary Data Structure for the GPU,
// 2018, section V).
//
// Keys and values are numbers of 32 or 64 bits, of any type, and none of them is reserved. Methods take Go slices,
// copy a batch to the device and its results back; those that end in On work on device buffers and a stream.
package sortedarray

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// Options say how an array is made. The zero value makes a small one that grows as it must.
type Options struct {
	// Capacity is how many pairs there is room for at first, so that so many need no further allocation.
	Capacity int
	// Progress, if not nil, is told how long calls get on.
	Progress structures.Progress
}

// Stats are an array's measures.
type Stats struct {
	Pairs uint64
	Bytes uint64 // device memory, with what is kept for the next batch
}

// MaxPairs is the most pairs that an array may have.
const MaxPairs = 1 << 30

// Array is a sorted array of pairs. Several goroutines may use one: queries run beside one another, and what changes it
// runs alone (structures.Dictionary says more).
//
// Its updates and queries are those of structures.Updates and structures.Queries. A batch of updates costs the copying
// of the whole array, and so does each chunk of a batch of millions. No query is left pending on a stream. Streams keep
// temporary memory of theirs until Trim or Close.
type Array[K, V structures.Number] struct {
	core    *array
	queries ordered.Queries[K, V]
}

var (
	_ structures.Ordered[uint32, uint64] = (*Array[uint32, uint64])(nil)
	_ structures.OrderedOnStream         = (*Array[uint32, uint64])(nil)
)

// of is the front of an array.
func of[K, V structures.Number](a *array, err error) (*Array[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Array[K, V]{a, ordered.Queries[K, V]{Reader: a.core.Reader}}, nil
}

// open is the array itself, or, for a nil pointer or a zero value, one that is not open.
func (a *Array[K, V]) open() *Array[K, V] {
	if a == nil || a.core == nil {
		a, _ = of[K, V](bare(saved.Pairs[K, V]()), nil)
	}
	return a
}

// New makes an empty array. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated,
// where there is no memory for what the options ask for; *vk.OutOfMemoryError.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Array[K, V], error) {
	return of[K, V](newArray(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes an array of pairs in any order. Where a key comes twice, the last of its values stays. The pairs and what
// it takes to sort them have to fit into the device's memory at once.
//
// Errors: *structures.OptionError, *structures.LengthError, *structures.LimitError, *vk.OutOfMemoryError.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*Array[K, V], error) {
	columns := saved.Pairs[K, V]()
	p, err := pipeline.UpdatesOf(structures.Insert, keys, values, nil, columns.Width())
	if err != nil {
		return nil, err
	}
	return of[K, V](build(ctx, d, columns, p, o))
}

// Load makes an array of what any structure has saved, or vkds has, to the end of r: of the types that were saved, or
// of wider ones (structures.TypeError). The values of a set are 0. Errors: *structures.SavedError, also where keys have
// several values; r's own; those of New and of Insert, without the PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Array[K, V], error) {
	return of[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// UpdateOn does a batch of structures.Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete from device
// buffers, after what was recorded into the stream before. It waits for the stream, since the host has to know how many
// pairs there are, and records the rest of the work behind that: queries come later on the same stream, or on one that
// comes after it (vk.Stream.After), or when the stream was waited for. It submits what it records, so that discarding
// what the stream has recorded doesn't take it back. Nothing is left pending. Errors as Insert's, and
// *structures.KindError; then the array is as it was.
func (a *Array[K, V]) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind,
	b structures.DeviceBatch) error {
	return a.open().core.core.UpdateOn(ctx, s, kind, b)
}

// Finish waits for the stream: no batch leaves anything pending.
func (a *Array[K, V]) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.open().core.core.Finish(ctx, s, kind, b)
}

// Reserve makes room for n pairs in all, both for the array and for its next version, so that batches up to so many
// pairs need no memory for these. Less than there is room for does nothing. Errors: *structures.CapacityError, before
// anything is allocated; *vk.OutOfMemoryError; vk.ErrUnsubmitted.
func (a *Array[K, V]) Reserve(ctx context.Context, n int) error {
	return a.open().core.reserve(ctx, n)
}

// Stats returns the array's measures, which are known: the device is not asked.
func (a *Array[K, V]) Stats(ctx context.Context) (Stats, error) {
	return a.open().core.stats(ctx)
}

// Trim gives back the memory that is kept from batch to batch, for the next version of the array and in between, behind
// the work that streams have recorded or submitted.
func (a *Array[K, V]) Trim() {
	a.open().core.trim()
}
