// Package sortedarray is a dictionary in GPU memory: one array of pairs in key order, with a small search tree over it.
// It is the fastest of the ordered dictionaries to read, but most batches of updates copy the whole array. The GPU
// LSM's paper compares with such an array (Ashkiani et al., GPU LSM: A Dynamic Dictionary Data Structure for the GPU,
// 2018, section V).
//
// Keys and values are numbers of 32 or 64 bits, of any type. No value is reserved. Methods with Go slices copy a batch
// to the device and its results back. Array.On returns methods that work with device buffers and a stream.
package sortedarray

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Options configure an array. The zero value makes a small one that grows as needed.
type Options struct {
	// Capacity is the number of pairs for which memory is allocated at first.
	Capacity int
	// Progress, if not nil, is called with the progress of long calls.
	Progress structures.Progress
}

// Stats has the sizes of an array.
type Stats struct {
	Pairs uint64
	Bytes uint64 // device memory, including memory kept for the next batch
}

// MaxPairs is the greatest number of pairs of an array.
const MaxPairs = 1 << 30

// Array is a sorted array of pairs. It is safe for many goroutines: queries run at the same time, and calls that change
// the array run alone (see structures.Dictionary).
//
// Its updates and queries are those of structures.Updates and structures.Queries. Each batch of updates, and each chunk
// of a batch of millions, copies the whole array, unless it inserts ascending keys after all others and there is room.
// For each stream, the array keeps temporary memory until Trim or Close.
type Array[K, V structures.Number] struct {
	core    *array
	queries ordered.Queries[K, V]
}

var _ structures.Ordered[uint32, uint64] = (*Array[uint32, uint64])(nil)

// of returns the public type of an array.
func of[K, V structures.Number](a *array, err error) (*Array[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &Array[K, V]{a, ordered.Queries[K, V]{Reader: a.core.Reader}}, nil
}

// open returns a, or an array that is not open if a is nil or a zero value.
func (a *Array[K, V]) open() *Array[K, V] {
	if a == nil || a.core == nil {
		a, _ = of[K, V](bare(saved.Pairs[K, V]()), nil)
	}
	return a
}

// New makes an empty array. Errors: *vk.OptionError; *structures.CapacityError, before anything is allocated,
// if there is too little memory for the options; *vk.OutOfMemoryError.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*Array[K, V], error) {
	return of[K, V](newArray(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes an array of pairs in any order. If keys are equal, the last value stays. The pairs and the memory to sort
// them must fit into the device's memory at once.
//
// Errors: *vk.OptionError, *structures.LengthError, *vk.LimitError, *vk.OutOfMemoryError.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*Array[K, V], error) {
	columns := saved.Pairs[K, V]()
	p, err := pipeline.UpdatesOf(structures.Insert, keys, values, nil, columns.Width())
	if err != nil {
		return nil, err
	}
	return of[K, V](build(ctx, d, columns, p, o))
}

// Load makes an array from the file of any structure or of the command vkds. It reads r to its end. The types of keys
// and values must be those of the file, or wider (structures.TypeError). The values of a set become 0.
//
// Errors: *structures.SavedError, also if keys have several values; those of r; those of New; and those of Insert,
// without the PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Array[K, V], error) {
	return of[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// On returns the methods that work on a stream, with device buffers.
//
// Update does its batch after the work that the stream has recorded before. It waits for the stream, because the host
// must know the number of pairs, and then records the rest of the work. It submits what it records, so Discard cannot
// undo it. Nothing is left pending, so Finish only waits.
//
// Queries must come after an update: on the same stream, on a stream that waits for it (vk.Stream.After), or after the
// caller has waited for the stream. Queries with slices wait by themselves.
//
// Errors of Update: those of Insert, and *structures.KindError. After an error the array is unchanged.
func (a *Array[K, V]) On(s *vk.Stream) structures.OrderedOnStream {
	return a.open().core.core.On(s)
}

// Reserve makes room for n pairs in all, both for the array and for its next version. Up to n pairs, batches then need
// no further memory for these two. If there is room already, it does nothing. Errors: *structures.CapacityError, before
// anything is allocated; *vk.OutOfMemoryError; vk.ErrUnsubmitted.
func (a *Array[K, V]) Reserve(ctx context.Context, n int) error {
	return a.open().core.reserve(ctx, n)
}

// Trim frees the memory that is kept between batches, for the next version of the array and for temporary data, after
// the work that streams have recorded or submitted.
func (a *Array[K, V]) Trim() {
	a.open().core.trim()
}
