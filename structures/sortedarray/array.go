// Package sortedarray is a dictionary in GPU memory that is one array of pairs in key order, with a small search tree
// over it: the best of the ordered dictionaries to read, and one that every batch of updates copies as a whole. The
// GPU LSM's paper measures against it (Ashkiani et al., GPU LSM: A Dynamic Dictionary Data Structure for the GPU,
// 2018, section V).
//
// Keys and values are 32 bits, and none of them is reserved. Methods take Go slices, copy a batch to the device and its
// results back; those that end in On work on device buffers and a stream.
package sortedarray

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/structures/internal/sorted"
	"github.com/vkds/vkds/vk"
)

// Options say how an array is made. The zero value makes a small one that grows as it must.
type Options struct {
	// Capacity is how many pairs there is room for at first, so that so many need no further allocation.
	Capacity int
	// Progress, if not nil, is told how long calls get on.
	Progress structures.Progress
}

// MaxPairs is the most pairs that an array may have.
const MaxPairs = 1 << 30

// Array is a sorted array of pairs. Several goroutines may use one: its calls take turns
// (structures.Dictionary says more).
type Array struct {
	core  sorted.Core
	run   *runs.Memory
	spare *runs.Memory // for the next version; or nil
	n     int
}

var _ structures.Ordered = (*Array)(nil)

// full says that an array can't have so many pairs.
func full(pairs int) error {
	return &structures.LimitError{What: "pairs of a sorted array", Want: uint64(pairs), Most: MaxPairs}
}

// New makes an empty array. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated, where there is
// no memory for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*Array, error) {
	if o.Capacity < 0 || o.Capacity > MaxPairs {
		return nil, &structures.OptionError{Option: "Capacity", Reason: fmt.Sprintf("%d, but an array has 0 to %d pairs", o.Capacity, MaxPairs)}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.Fits(runs.MemoryBytes(o.Capacity)); err != nil {
		return nil, &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
	}
	a := &Array{}
	err := a.core.Open(d, (*updater)(a), o.Progress)
	if err == nil {
		a.run, err = runs.NewMemory(d, o.Capacity)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Build makes an array of pairs in any order. Where a key comes twice, the last of its values stays. The pairs and what
// it takes to sort them have to fit into the device's memory at once.
//
// Errors: *structures.OptionError, *structures.LengthError, *structures.LimitError, *vk.OutOfMemoryError.
func Build(ctx context.Context, d *vk.Device, keys, values []uint32, o Options) (*Array, error) {
	if len(keys) > MaxPairs {
		return nil, full(len(keys))
	}
	a, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	into, n, err := a.core.Build(ctx, keys, values)
	if err == nil {
		if err = recording.Run(a.core.Stream, func() error { return a.replace(a.core.Stream, into, n) }); err != nil {
			into.Free()
		}
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned. Of equal keys in the batch the
// last one's value stays. A batch costs the copying of the whole array, and so does each chunk of a batch of millions.
//
// Errors of this and of Delete: *structures.LengthError; *structures.PendingError, with the statuses that say what is
// done, around *structures.LimitError, *vk.OutOfMemoryError or the context's.
func (a *Array) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	if err := a.core.EnterAlone(ctx); err != nil {
		return pipeline.NotBegun(len(keys), err)
	}
	defer a.core.Leave()
	return a.core.Insert(ctx, keys, values)
}

// Delete removes each key: Deleted or Absent. It costs the copying of the whole array.
func (a *Array) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	if err := a.core.EnterAlone(ctx); err != nil {
		return pipeline.NotBegun(len(keys), err)
	}
	defer a.core.Leave()
	return a.core.Delete(ctx, keys)
}

// Find returns the value of each key, 0 where it is absent, and whether it is there.
func (a *Array) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	return a.core.Find(ctx, keys)
}

// Apply does a batch of Insert, Delete, Find and Count: first the lookups and counts, then the insertions in their
// order, then the deletions. Errors: *structures.KindError before anything is done, and those of Insert.
func (a *Array) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	if err := pipeline.Lengths(b); err != nil {
		return structures.Results{}, err
	}
	if err := a.core.EnterAlone(ctx); err != nil {
		statuses, err := pipeline.NotBegun(len(b.Keys), err)
		return structures.Results{Status: statuses, Values: make([]uint32, len(b.Keys))}, err
	}
	defer a.core.Leave()
	return a.core.Apply(ctx, b)
}

// Count returns how many keys each range has.
func (a *Array) Count(ctx context.Context, ranges []structures.Range) ([]uint32, error) {
	return a.core.Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (a *Array) Range(ctx context.Context, ranges []structures.Range) (structures.Ranges, error) {
	return a.core.Range(ctx, ranges)
}

// Successor finds the least key above each key.
func (a *Array) Successor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return a.core.Neighbors(ctx, structures.Successor, keys)
}

// Predecessor finds the greatest key below each key.
func (a *Array) Predecessor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return a.core.Neighbors(ctx, structures.Predecessor, keys)
}

// Floor finds the greatest key up to each key, itself included.
func (a *Array) Floor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return a.core.Neighbors(ctx, structures.Floor, keys)
}

// Ceil finds the least key from each key on, itself included.
func (a *Array) Ceil(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return a.core.Neighbors(ctx, structures.Ceil, keys)
}

// Min returns the pair with the least key; found is false in an empty array.
func (a *Array) Min(ctx context.Context) (key, value uint32, found bool, err error) {
	return a.core.Min(ctx)
}

// Max returns the pair with the greatest key.
func (a *Array) Max(ctx context.Context) (key, value uint32, found bool, err error) {
	return a.core.Max(ctx)
}

// Ascend returns the pairs of a range in key order, read part by part. The array must not change meanwhile. If the
// device fails or ctx ends, so does the sequence, and the function returned tells why.
func (a *Array) Ascend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return a.core.Walk(ctx, r, false)
}

// Descend is Ascend from the greatest key down.
func (a *Array) Descend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return a.core.Walk(ctx, r, true)
}

// All returns all pairs in key order, as Ascend does.
func (a *Array) All(ctx context.Context) (iter.Seq2[uint32, uint32], func() error) {
	return a.Ascend(ctx, structures.AllKeys)
}

// Len returns the number of pairs, which is known.
func (a *Array) Len(ctx context.Context) (uint64, error) {
	if err := a.core.Enter(ctx); err != nil {
		return 0, err
	}
	defer a.core.Leave()
	return uint64(a.n), nil
}

// Clear removes all pairs. The memory stays.
func (a *Array) Clear(ctx context.Context) error {
	if err := a.core.Enter(ctx); err != nil {
		return err
	}
	defer a.core.Leave()
	a.core.Changed()
	a.n = 0
	return nil
}

// Stats are an array's measures.
type Stats struct {
	Pairs uint64
	Bytes uint64 // device memory, with what is kept for the next batch
}

// Stats returns the array's measures, which are known: the device is not asked.
func (a *Array) Stats(ctx context.Context) (Stats, error) {
	if err := a.core.Enter(ctx); err != nil {
		return Stats{}, err
	}
	defer a.core.Leave()
	s := Stats{Pairs: uint64(a.n), Bytes: a.run.Bytes() + a.core.ScratchBytes()}
	if a.spare != nil {
		s.Bytes += a.spare.Bytes()
	}
	return s, nil
}

// Trim gives back the memory that is kept from batch to batch, for the next version of the array and in between, behind
// the work that streams have recorded or submitted.
func (a *Array) Trim() {
	if a.core.EnterOn(context.Background()) != nil {
		return
	}
	defer a.core.Leave()
	a.core.Free(a.spare)
	a.spare = nil
	a.core.Trim()
}

// Close frees the array's memory. What streams have recorded or submitted is allowed to end first: the memory goes when the
// streams find that it has.
func (a *Array) Close() error {
	return a.core.Close(func() {
		a.core.Free(a.run)
		a.core.Free(a.spare)
		a.run, a.spare, a.n = nil, nil, 0
	})
}
