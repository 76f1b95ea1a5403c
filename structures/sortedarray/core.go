package sortedarray

import (
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// array is the Array of any types.
type array struct {
	core  sorted.Core
	run   *runs.Memory
	spare *runs.Memory // for the next version; may be nil
	n     int
	most  uint64 // an upper bound of the keys, unless the array is empty
}

// anyKey is the value of most if no bound is known.
const anyKey = math.MaxUint64

// full returns the error for more pairs than an array may have.
func full(pairs int) error {
	return &vk.LimitError{What: "pairs of a sorted array", Want: uint64(pairs), Most: MaxPairs}
}

// bare returns an array that is not open.
func bare(columns saved.Columns) *array {
	a := new(array)
	a.core.Bare(columns)
	return a
}

// newArray makes an empty array.
func newArray(ctx context.Context, d *vk.Device, columns saved.Columns, o Options) (*array, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if o.Capacity < 0 || o.Capacity > MaxPairs {
		reason := fmt.Sprintf("%d is not between 0 and %d", o.Capacity, MaxPairs)
		return nil, &vk.OptionError{Option: "Capacity", Reason: reason}
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := d.Fits(runs.MemoryBytes(columns.Width(), o.Capacity)); err != nil {
		return nil, &structures.CapacityError{Option: "Capacity", Asked: o.Capacity, Err: err}
	}
	a := new(array)
	err := a.core.Open("sorted array", d, columns, (*updater)(a), o.Progress)
	if err == nil {
		a.run, err = runs.NewMemory(d, a.core.Width(), o.Capacity)
	}
	if err != nil {
		return nil, joint.Error(err, a.Close())
	}
	a.core.Hold()
	return a, nil
}

// build makes an array of pairs in any order.
func build(ctx context.Context, d *vk.Device, columns saved.Columns, pairs pipeline.Operations,
	o Options) (*array, error) {
	if pairs.N > MaxPairs {
		return nil, full(pairs.N)
	}
	a, err := newArray(ctx, d, columns, o)
	if err != nil {
		return nil, err
	}
	a.most = anyKey
	into, n, err := a.core.Build(ctx, pairs)
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

func (a *array) update(ctx context.Context, o pipeline.Operations) error {
	ctx, end := a.core.Progress.Begin(ctx)
	defer end()
	if err := a.core.EnterAfterAll(ctx); err != nil {
		return pipeline.NotBegun(o.Status, o.N, err)
	}
	defer a.core.Leave()
	return a.core.Update(ctx, o)
}

func (a *array) apply(ctx context.Context, o pipeline.Operations) error {
	ctx, end := a.core.Progress.Begin(ctx)
	defer end()
	if err := a.core.EnterAfterAll(ctx); err != nil {
		return pipeline.NotBegun(o.Status, o.N, err)
	}
	defer a.core.Leave()
	return a.core.Apply(ctx, o)
}

func (a *array) len(ctx context.Context) (uint64, error) {
	if err := a.core.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer a.core.LeaveShared()
	return uint64(a.n), nil
}

func (a *array) clear(ctx context.Context) error {
	if err := a.core.EnterAfterChanges(ctx); err != nil {
		return err
	}
	defer a.core.Leave()
	a.core.Changes.Made()
	a.n = 0
	return nil
}

func (a *array) reserve(ctx context.Context, n int) error {
	if err := a.core.Err(); err != nil {
		return err
	}
	switch {
	case n < 0:
		return &vk.OptionError{Option: "Capacity", Reason: "negative"}
	case n > MaxPairs:
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: full(n)}
	}
	if err := a.core.EnterAfterAll(ctx); err != nil {
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
		return (*updater)(a).reserveSpareOf(n)
	}
	return nil
}

// move moves the array to memory for n pairs, and frees its old memory.
func (a *array) move(n int) error {
	into, err := runs.NewMemory(a.core.Device, a.core.Width(), n)
	if err != nil {
		return err
	}
	spare, s := a.spare, a.core.Stream
	err = recording.Run(s, func() error {
		if a.n != 0 {
			words := a.n << a.core.Width()
			s.Copy(into.Buffer(), 0, a.run.Buffer(), 0, words)
			s.Copy(into.Buffer(), into.ValuesAt(), a.run.Buffer(), a.run.ValuesAt(), words)
		}
		return a.replace(s, into, a.n)
	})
	if a.run != into {
		into.Free()
		return err
	}
	a.core.Drop(a.spare) // the old memory of the array
	a.spare = spare
	return err
}

func (a *array) stats(ctx context.Context) (Stats, error) {
	if err := a.core.EnterQuery(ctx); err != nil {
		return Stats{}, err
	}
	defer a.core.LeaveShared()
	return Stats{Pairs: uint64(a.n), Bytes: a.bytes() + a.core.ScratchBytes()}, nil
}

// bytes returns how much memory the array and its next version take.
func (a *array) bytes() (sum uint64) {
	for _, m := range []*runs.Memory{a.run, a.spare} {
		if m != nil {
			sum += m.Bytes()
		}
	}
	return sum
}

func (a *array) trim() {
	if a.core.Enter(context.Background()) != nil {
		return
	}
	defer a.core.Leave()
	a.core.Drop(a.spare)
	a.spare = nil
	a.core.Trim()
}

func (a *array) Close() error {
	return a.core.Close(func() {
		a.core.Drop(a.run)
		a.core.Drop(a.spare)
		a.run, a.spare, a.n = nil, nil, 0
	})
}
