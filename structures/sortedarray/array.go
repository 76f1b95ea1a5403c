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

// Array is a sorted array of pairs. Several goroutines may use one: queries run beside one another, and what changes it
// runs alone (structures.Dictionary says more).
//
// Its updates and queries are those of structures.Updates and structures.Queries. A batch of updates costs the copying
// of the whole array, and so does each chunk of a batch of millions. No query is left pending on a stream. Streams keep
// temporary memory of theirs until Trim or Close.
type Array struct {
	structures.Updates
	structures.Queries

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

// New makes an empty array. Errors: *structures.OptionError; *structures.CapacityError, before anything is allocated,
// where there is no memory for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*Array, error) {
	if o.Capacity < 0 || o.Capacity > MaxPairs {
		reason := fmt.Sprintf("%d, but an array has 0 to %d pairs", o.Capacity, MaxPairs)
		return nil, &structures.OptionError{Option: "Capacity", Reason: reason}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.Fits(runs.MemoryBytes(o.Capacity)); err != nil {
		return nil, &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
	}
	a := &Array{}
	a.Updates, a.Queries = pipeline.Updates(a.UpdateInto), &a.core.Reader
	err := a.core.Open(d, (*updater)(a), o.Progress)
	if err == nil {
		a.run, err = runs.NewMemory(d, o.Capacity)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.core.Hold()
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
	a.core.Hold()
	return a, nil
}

// UpdateInto does a batch of updates of one kind (Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete), and
// writes what becomes of each operation to the caller's slice, as long as keys, or nil: then it is not wanted, which
// saves a sort. Deletions have no values. Errors: those of structures.Updates, whose *PendingError then says how many
// operations are not done; *structures.KindError and *structures.LengthError before anything is done.
func (a *Array) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
	status []structures.Status) error {
	if err := sorted.Check(kind, keys, values, status); err != nil {
		return err
	}
	if err := a.core.EnterAlone(ctx); err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer a.core.Leave()
	return a.core.Update(ctx, kind, keys, values, status)
}

// Apply does a batch of Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find and CountAll: first the
// lookups and counts, then the insertions in their order, then the deletions. Errors: *structures.KindError before
// anything is done, and those of structures.Updates.
func (a *Array) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	return pipeline.MadeResults(b, func(into *structures.Results) error { return a.ApplyInto(ctx, b, into) })
}

// ApplyInto is Apply into the caller's slices: Status and Values, each as long as the batch or nil, which is not
// wanted. Values may be those of the batch. The rest of into stays as it is. Error also: *structures.LengthError.
func (a *Array) ApplyInto(ctx context.Context, b structures.Batch, into *structures.Results) error {
	if err := sorted.CheckMixed(b, into); err != nil {
		return err
	}
	if err := a.core.EnterAlone(ctx); err != nil {
		return pipeline.NotBegun(into.Status, len(b.Keys), err)
	}
	defer a.core.Leave()
	return a.core.Apply(ctx, b, sorted.WithStatus(into, len(b.Keys)))
}

// Len returns the number of pairs, which is known.
func (a *Array) Len(ctx context.Context) (uint64, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
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

// Reserve makes room for n pairs in all, both for the array and for its next version, so that batches up to so many
// pairs need no memory for these. Less than there is room for does nothing. Errors: *structures.CapacityError, before
// anything is allocated; *vk.OutOfMemoryError; vk.ErrUnsubmitted.
func (a *Array) Reserve(ctx context.Context, n int) error {
	switch {
	case n < 0:
		return &structures.OptionError{Option: "Capacity", Reason: "negative"}
	case n > MaxPairs:
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: full(n)}
	}
	if err := a.core.EnterAlone(ctx); err != nil {
		return err
	}
	defer a.core.Leave()
	moves, spare := a.run.Room() < n, a.spare == nil || a.spare.Room() < n
	var sizes []uint64
	for _, more := range []bool{moves, spare} {
		if more {
			sizes = append(sizes, runs.MemoryBytes(n))
		}
	}
	if err := a.core.Device.Fits(sizes...); err != nil {
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: err}
	}
	if moves {
		if err := a.move(n); err != nil {
			return err
		}
	}
	if spare {
		return (*updater)(a).reserveSpareOf(n)
	}
	return nil
}

// move moves the array to memory for n pairs. What it had is no longer there, not as the next version's, either.
func (a *Array) move(n int) error {
	into, err := runs.NewMemory(a.core.Device, n)
	if err != nil {
		return err
	}
	spare, s := a.spare, a.core.Stream
	err = recording.Run(s, func() error {
		if a.n != 0 {
			s.Copy(into.Buffer(), 0, a.run.Buffer(), 0, 4*a.n)
			s.Copy(into.Buffer(), 4*into.ValuesAt(), a.run.Buffer(), 4*a.run.ValuesAt(), 4*a.n)
		}
		return a.replace(s, into, a.n)
	})
	if a.run != into {
		into.Free()
		return err
	}
	a.core.Free(a.spare) // the memory that it had
	a.spare = spare
	return err
}

// Stats are an array's measures.
type Stats struct {
	Pairs uint64
	Bytes uint64 // device memory, with what is kept for the next batch
}

// Stats returns the array's measures, which are known: the device is not asked.
func (a *Array) Stats(ctx context.Context) (Stats, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return Stats{}, err
	}
	defer a.core.LeaveShared()
	return Stats{Pairs: uint64(a.n), Bytes: a.bytes() + a.core.ScratchBytes()}, nil
}

// bytes is how much memory the array and its next version take.
func (a *Array) bytes() (sum uint64) {
	for _, m := range []*runs.Memory{a.run, a.spare} {
		if m != nil {
			sum += m.Bytes()
		}
	}
	return sum
}

// Metrics are what the host knows, without a turn.
func (a *Array) Metrics() structures.Metrics { return a.core.Metrics() }

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

// Close frees the array's memory. What streams have recorded or submitted is allowed to end first: the memory goes when
// the streams find that it has.
func (a *Array) Close() error {
	return a.core.Close(func() {
		a.core.Free(a.run)
		a.core.Free(a.spare)
		a.run, a.spare, a.n = nil, nil, 0
	})
}
