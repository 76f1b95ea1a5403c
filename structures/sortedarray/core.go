package sortedarray

import (
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/structures/internal/sorted"
	"github.com/vkds/vkds/vk"
)

// array is an Array of words.
type array[W structures.Word] struct {
	structures.Updates[W, W]
	structures.Queries[W, W]

	core  sorted.Core[W]
	run   *runs.Memory
	spare *runs.Memory // for the next version; or nil
	n     int
	most  uint64 // no key is greater, if there are pairs
}

var _ structures.Ordered[uint32, uint32] = (*array[uint32])(nil)

// anyKey is what a bound of keys is of which none is known.
const anyKey = math.MaxUint64

// full says that an array can't have so many pairs.
func full(pairs int) error {
	return &structures.LimitError{What: "pairs of a sorted array", Want: uint64(pairs), Most: MaxPairs}
}

// bare is an array that is not open.
func bare[W structures.Word]() *array[W] {
	a := &array[W]{}
	a.Updates, a.Queries = pipeline.Updates[W](a.UpdateInto), &a.core.Reader
	a.core.Bare()
	return a
}

// newArray makes an empty one.
func newArray[W structures.Word](ctx context.Context, d *vk.Device, o Options) (*array[W], error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if o.Capacity < 0 || o.Capacity > MaxPairs {
		reason := fmt.Sprintf("%d, but an array has 0 to %d pairs", o.Capacity, MaxPairs)
		return nil, &structures.OptionError{Option: "Capacity", Reason: reason}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := d.Fits(runs.MemoryBytes(structures.WidthOf[W](), o.Capacity)); err != nil {
		return nil, &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
	}
	a := bare[W]()
	err := a.core.Open(d, (*updater[W])(a), o.Progress)
	if err == nil {
		a.run, err = runs.NewMemory(d, a.core.Width(), o.Capacity)
	}
	if err != nil {
		return nil, joint.Error(err, a.Close())
	}
	a.core.Hold()
	return a, nil
}

// build makes one of pairs in any order.
func build[W structures.Word](ctx context.Context, d *vk.Device, keys, values []W, o Options) (*array[W], error) {
	if len(keys) > MaxPairs {
		return nil, full(len(keys))
	}
	a, err := newArray[W](ctx, d, o)
	if err != nil {
		return nil, err
	}
	a.most = anyKey
	into, n, err := a.core.Build(ctx, keys, values)
	if err == nil {
		if err = recording.Run(a.core.Stream, func() error { return a.replace(a.core.Stream, into, n) }); err != nil {
			into.Free()
		}
	}
	if err != nil {
		return nil, joint.Error(err, a.Close())
	}
	a.core.Hold()
	return a, nil
}

// UpdateInto does a batch of updates of one kind (Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete), and
// writes what becomes of each operation to the caller's slice, as long as keys, or nil: then it is not wanted, which
// saves a sort. Deletions have no values. Errors: those of structures.Updates, whose *PendingError then says how many
// operations are not done; *structures.KindError and *structures.LengthError before anything is done.
func (a *array[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W,
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
func (a *array[W]) Apply(ctx context.Context, b structures.Batch[W, W]) (structures.Results[W, W], error) {
	return pipeline.MadeResults(b, func(into *structures.Results[W, W]) error { return a.ApplyInto(ctx, b, into) })
}

// ApplyInto is Apply into the caller's slices: Status and Values, each as long as the batch or nil, which is not
// wanted. Values may be those of the batch. The rest of into stays as it is. Error also: *structures.LengthError.
func (a *array[W]) ApplyInto(ctx context.Context, b structures.Batch[W, W], into *structures.Results[W, W]) error {
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
func (a *array[W]) Len(ctx context.Context) (uint64, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
	return uint64(a.n), nil
}

// Clear removes all pairs. The memory stays.
func (a *array[W]) Clear(ctx context.Context) error {
	if err := a.core.Enter(ctx); err != nil {
		return err
	}
	defer a.core.Leave()
	a.core.Changed()
	a.n = 0
	return nil
}

func (a *array[W]) Reserve(ctx context.Context, n int) error {
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
			sizes = append(sizes, runs.MemoryBytes(a.core.Width(), n))
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
		return (*updater[W])(a).reserveSpareOf(n)
	}
	return nil
}

// move moves the array to memory for n pairs. What it had is no longer there, not as the next version's, either.
func (a *array[W]) move(n int) error {
	into, err := runs.NewMemory(a.core.Device, a.core.Width(), n)
	if err != nil {
		return err
	}
	spare, s := a.spare, a.core.Stream
	err = recording.Run(s, func() error {
		if a.n != 0 {
			bytes := a.core.Width().Bytes() * a.n
			s.Copy(into.Buffer(), 0, a.run.Buffer(), 0, bytes)
			s.Copy(into.Buffer(), 4*into.ValuesAt(), a.run.Buffer(), 4*a.run.ValuesAt(), bytes)
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

func (a *array[W]) Stats(ctx context.Context) (Stats, error) {
	if err := a.core.EnterShared(ctx); err != nil {
		return Stats{}, err
	}
	defer a.core.LeaveShared()
	return Stats{Pairs: uint64(a.n), Bytes: a.bytes() + a.core.ScratchBytes()}, nil
}

// bytes is how much memory the array and its next version take.
func (a *array[W]) bytes() (sum uint64) {
	for _, m := range []*runs.Memory{a.run, a.spare} {
		if m != nil {
			sum += m.Bytes()
		}
	}
	return sum
}

// Metrics are what the host knows, without a turn.
func (a *array[W]) Metrics() structures.Metrics { return a.core.Metrics() }

func (a *array[W]) Trim() {
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
func (a *array[W]) Close() error {
	return a.core.Close(func() {
		a.core.Free(a.run)
		a.core.Free(a.spare)
		a.run, a.spare, a.n = nil, nil, 0
	})
}
