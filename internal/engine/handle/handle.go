// Package handle has what the handles of all structures in device memory share: the gate of their calls, their kernels,
// and the memory that streams use.
package handle

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Handle is embedded by the core of a structure. The zero value is a handle that was never open: its gate is nil and
// returns vk.ErrNotOpen.
type Handle struct {
	*gate.Gate
	Progress  *gate.Progress
	Device    *vk.Device
	Stream    *vk.Stream     // for work of calls that run alone; the structure makes it, if it has such work
	Pipelines *pipeline.Pool // for batches from Go slices, and for work of queries
	Kernels   *recording.Kernels
	Own       *recording.Own
	Pool      *slabs.Pool // of the structure's slabs; nil if it has none
	Shares    bool        // the pool is the caller's, and others may use it
	Uses      vk.Uses     // of the structure's memory, by streams
	Changes   recording.Changes
	Meter     recording.Meter

	metered  atomic.Pointer[slabs.Pool] // Pool, for Metrics, which does not enter
	prepared atomic.Bool                // all kernels are made
}

// Open opens the handle of a structure, which errors call by what. Free frees what it has.
func (h *Handle) Open(what string, d *vk.Device, progress structures.Progress) {
	h.Gate, h.Progress, h.Device = gate.New(what), gate.NewProgress(progress), d
	h.Pipelines, h.Kernels, h.Own = pipeline.NewPool(d), recording.NewKernels(d), recording.NewOwn(d)
}

// Over gives the handle its pool: a shared one, whose gate its calls then enter, too, or if shared is nil its own one.
func (h *Handle) Over(ctx context.Context, shared *slabs.Pool, own slabs.Options) (err error) {
	if h.Pool, h.Shares = shared, shared != nil; h.Shares {
		h.Gate = h.Within(shared.Gate())
	} else if h.Pool, err = slabs.New(ctx, h.Device, own); err != nil {
		return err
	}
	h.Kernels.Over(func() recording.Form { return h.Pool.Form() }) // it may be replaced
	h.metered.Store(h.Pool)
	return nil
}

// Replaced makes Metrics those of a pool that Pool was set to.
func (h *Handle) Replaced() { h.Meter.GrowBy(h.metered.Swap(h.Pool).Growths()) }

// EnterQuery is EnterShared for a query from Go slices, which comes after the changes that streams have submitted.
// LeaveShared ends it. Error also: vk.ErrUnsubmitted.
func (h *Handle) EnterQuery(ctx context.Context) error {
	if err := h.EnterShared(ctx); err != nil {
		return err
	}
	return gate.Unless(h.LeaveShared, func() error { return h.Changes.Rest(ctx) })
}

// EnterAfterChanges is Enter for a call that comes after the changes that streams have submitted. Leave ends it. Error
// also: vk.ErrUnsubmitted.
func (h *Handle) EnterAfterChanges(ctx context.Context) error { return h.enter(ctx, &h.Changes.Uses) }

// EnterAfterAll is EnterAfterChanges for a call that comes after all work that streams have submitted.
func (h *Handle) EnterAfterAll(ctx context.Context) error { return h.enter(ctx, &h.Uses) }

func (h *Handle) enter(ctx context.Context, earlier *vk.Uses) error {
	if err := h.Enter(ctx); err != nil {
		return err
	}
	return gate.Unless(h.Leave, func() error { return earlier.Rest(ctx) })
}

// Using records work completely or not at all, and registers that the stream uses the structure's memory.
func (h *Handle) Using(s *vk.Stream, record func() error) error {
	err := s.Whole(record)
	if err == nil {
		h.used(s)
	}
	return err
}

// Changing is Using for work that changes the structure. Changes is told last.
func (h *Handle) Changing(s *vk.Stream, record func() error) error {
	err := h.Using(s, record)
	if err == nil {
		h.Changes.On(s)
	}
	return err
}

// UsedOn is structures.InShaders.UsedOn.
func (h *Handle) UsedOn(s *vk.Stream) {
	leave, open := h.Take()
	defer leave()
	if open {
		h.used(s)
		h.Changes.On(s)
	}
}

func (h *Handle) used(s *vk.Stream) {
	h.Uses.On(s)
	if h.Pool != nil {
		h.Pool.Uses().On(s)
	}
}

// Describe returns what describe returns, while no call changes the structure. If the handle or its pool is closed, it
// returns the zero value.
func Describe[D any](h *Handle, describe func() D) (d D) {
	leave, _ := h.Take()
	defer leave()
	if h.Err() == nil {
		d = describe()
	}
	return d
}

// Metrics returns what the host knows. It neither asks the device nor waits for other calls.
func (h *Handle) Metrics() structures.Metrics {
	m := h.Meter.Metrics(h.Device)
	pool := h.metered.Load()
	m.Bytes += pool.Bytes()
	m.Growths += pool.Growths()
	return m
}

// Prepare makes all kernels of the structure, in each form that its pool may have, unless they are made already.
// kernels is called while calls that change the structure wait.
func (h *Handle) Prepare(ctx context.Context, kernels func() recording.Table) error {
	ctx, end := h.Progress.Begin(ctx)
	defer end()
	if err := h.EnterShared(ctx); err != nil {
		return err
	}
	if h.prepared.Load() {
		h.LeaveShared()
		return nil
	}
	all, forms := kernels(), h.Pool.Forms()
	h.LeaveShared()
	err := all.Prepare(ctx, h.Device, gate.Told(ctx), forms...)
	if err == nil {
		h.prepared.Store(true)
	}
	return err
}

// Close calls free while no call is in, unless the handle is closed. free calls Free, or returns an error and leaves
// the handle open.
//
// shares says that the structure has slabs of a shared pool that stays open. Streams have then done their work on the
// structure, and free returns the slabs, because nothing may find them in the structure later.
//
// Errors: free's; vk.ErrNotOpen; vk.ErrUnsubmitted if a stream has recorded work on a structure in a shared pool and
// not submitted it. The handle then stays open.
func (h *Handle) Close(free func(shares bool) error) error {
	return h.Gate.Close(func() error {
		shares := h.Shares && h.Err() == nil
		if shares {
			if err := h.Uses.Rest(context.Background()); errors.Is(err, vk.ErrUnsubmitted) {
				return err
			}
		}
		return free(shares)
	})
}

// Free ends the handle, and frees what it has after the work that uses it. The structure's own memory follows.
func (h *Handle) Free() (err error) {
	h.End()
	if h.Stream != nil {
		err = h.Stream.Close()
	}
	err = joint.Error(err, h.Pipelines.Close())
	h.Kernels.Close()
	h.Own.Release(&h.Uses)
	h.Meter.Hold(0)
	h.Meter.GrowBy(h.metered.Swap(nil).Growths())
	if h.Pool != nil && !h.Shares {
		err = joint.Error(err, h.Pool.Close())
	}
	return err
}
