package lsm

import (
	"context"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// maxLevels is the greatest number of levels. Row 0 of a stack is the front.
const maxLevels = runs.StackRows - 1

// lsm is the LSM of any types.
type lsm struct {
	core sorted.Core
	o    Options
	state

	levels  [maxLevels]*runs.Memory // level i has Batch << i pairs; nil: not needed so far
	fronts  [2]*runs.Memory         // Batch pairs each; fronts[0] is the front, fronts[1] its next version
	partial *runs.Memory            // a sorted part of a batch, shorter than Batch
	carries [maxLevels]*runs.Memory // Batch << i pairs each: intermediate results of merges; nil: not needed so far

	begun      uint32     // bit i: the memory of level i was initialized (begin)
	tombstones bool       // runs have bitmaps of tombstones: from the first deletion to the next cleanup
	live       int        // valid pairs, or unknown
	counting   sync.Mutex // guards live while queries run at the same time
	cleaned    int        // pairs after the last cleanup
	open       *open      // recorded updates that may still be dropped; or nil
}

const unknown = -1

// bare returns an LSM that is not open.
func bare(columns saved.Columns) *lsm {
	l := new(lsm)
	l.core.Bare(columns)
	return l
}

// newLSM makes an empty LSM.
func newLSM(ctx context.Context, d *vk.Device, columns saved.Columns, o Options) (*lsm, error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	l := &lsm{o: o}
	err := l.core.Open("LSM", d, columns, (*updater)(l), o.Progress)
	if err == nil {
		err = l.layOut()
	}
	if err != nil {
		return nil, joint.Error(err, l.Close())
	}
	l.core.Hold()
	return l, nil
}

// layOut allocates the memory for the options. It returns an error for too little memory before it allocates any.
func (l *lsm) layOut() error {
	if err := l.fits(frontSteps); err != nil {
		return &structures.CapacityError{Option: "Batch", Asked: l.o.Batch, Err: err}
	}
	if l.o.Capacity == 0 {
		return nil
	}
	return l.reserveFor(l.o.Capacity)
}

// reserveFor allocates the memory for that many pairs.
func (l *lsm) reserveFor(pairs int) error {
	steps := l.capacitySteps(pairs)
	if err := l.fits(steps); err != nil {
		return &structures.CapacityError{Option: "Capacity", Asked: pairs, Err: err}
	}
	return l.reserveSteps(steps, false, l.o.MaxBytes)
}

func (l *lsm) reserve(ctx context.Context, n int) error {
	if err := l.core.Err(); err != nil {
		return err
	}
	switch {
	case n < 0:
		return &vk.OptionError{Option: "Capacity", Reason: "negative"}
	case n > MaxPairs:
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: tooMany(uint64(n))}
	}
	if err := l.core.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	if err := l.reserveFor(n); err != nil {
		return err
	}
	l.o.Capacity = max(l.o.Capacity, n)
	return nil
}

// build makes an LSM of pairs in any order.
func build(ctx context.Context, d *vk.Device, columns saved.Columns, pairs pipeline.Operations,
	o Options) (*lsm, error) {
	if pairs.N > MaxPairs {
		return nil, tooMany(uint64(pairs.N))
	}
	l, err := newLSM(ctx, d, columns, o)
	if err != nil {
		return nil, err
	}
	all, n, err := l.core.Build(ctx, pairs)
	if err == nil {
		err = l.distribute(runs.Of(all.Row(false), n), l.o.MaxBytes)
		all.Free()
	}
	if err != nil {
		return nil, joint.Error(err, l.Close())
	}
	l.core.Hold()
	return l, nil
}

func (l *lsm) update(ctx context.Context, o pipeline.Operations) error {
	ctx, end := l.core.Progress.Begin(ctx)
	defer end()
	if err := l.ready(ctx); err != nil {
		return pipeline.NotBegun(o.Status, o.N, err)
	}
	defer l.core.Leave()
	live := l.live
	err := l.core.Update(ctx, o)
	if o.Kind == structures.Delete && pipeline.Short(err) {
		err = l.deleteInPlace(ctx, o)
	}
	l.keep(live, o)
	return err
}

// pending returns the indices of the operations that are not done, or of all if there are no statuses.
func pending(n int, statuses []structures.Status) (all []int) {
	for i := range n {
		if statuses == nil {
			all = append(all, i)
		}
	}
	for i, s := range statuses {
		if s == structures.Pending {
			all = append(all, i)
		}
	}
	return all
}

// deleteInPlace does the pending deletions of a batch by a cleanup, after which the LSM has no more memory than before.
func (l *lsm) deleteInPlace(ctx context.Context, o pipeline.Operations) error {
	l.settle()
	left := pending(o.N, o.Status)
	picked := o.Keys.Pick(left)
	keys := pipeline.Words[uint64](picked)
	found := make([]bool, len(keys))
	err := l.core.Lookup(ctx, len(keys), picked, pipeline.Unwanted(l.core.Width()), pipeline.Result(found))
	if err == nil {
		err = l.cleanUp(ctx, single(keys))
	}
	if err != nil {
		return pipeline.Stopped(o.Status, len(left), err)
	}
	if o.Status == nil {
		return nil
	}
	gone := map[uint64]bool{}
	for j, i := range left {
		o.Status[i] = structures.Absent
		if found[j] && !gone[keys[j]] {
			o.Status[i] = structures.Deleted
		}
		gone[keys[j]] = true
	}
	return nil
}

// single returns a range for each key, in order and without duplicates.
func single(keys []uint64) (ranges []structures.Range[uint64]) {
	for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		ranges = append(ranges, structures.Range[uint64]{Lo: k, Hi: k})
	}
	return ranges
}

// ready enters for a batch from Go slices, and cleans up if a cleanup is due.
func (l *lsm) ready(ctx context.Context) error {
	if err := l.core.EnterAfterAll(ctx); err != nil {
		return err
	}
	return gate.Unless(l.core.Leave, func() error { return l.upkeep(ctx) })
}

// keep updates the number of valid pairs after a batch, if it was known before and the batch has statuses.
func (l *lsm) keep(live int, o pipeline.Operations) {
	l.settle()
	if live == unknown || o.N != len(o.Status) {
		return
	}
	for _, s := range o.Status {
		switch s {
		case structures.Inserted:
			live++
		case structures.Deleted:
			live--
		}
	}
	l.live = live
}

func (l *lsm) apply(ctx context.Context, o pipeline.Operations) error {
	ctx, end := l.core.Progress.Begin(ctx)
	defer end()
	if err := l.ready(ctx); err != nil {
		return pipeline.NotBegun(o.Status, o.N, err)
	}
	defer l.core.Leave()
	live := l.live
	err := l.core.Apply(ctx, o)
	more := func(i int) bool { return o.Kinds[i] != structures.Delete }
	if pipeline.Short(err) && !slices.ContainsFunc(pending(o.N, o.Status), more) {
		err = l.deleteInPlace(ctx, o)
	}
	l.keep(live, o)
	return err
}

func (l *lsm) len(ctx context.Context) (uint64, error) {
	if err := l.core.EnterQuery(ctx); err != nil {
		return 0, err
	}
	defer l.core.LeaveShared()
	return l.count(ctx)
}

// count is len for a caller that has entered.
func (l *lsm) count(ctx context.Context) (uint64, error) {
	l.counting.Lock()
	live := l.live
	l.counting.Unlock()
	if live != unknown {
		return uint64(live), nil
	}
	pairs, _, err := l.measure(ctx)
	return pairs, err
}

// measure counts the valid pairs and the tombstones. The caller has entered.
func (l *lsm) measure(ctx context.Context) (pairs, tombstones uint64, err error) {
	pairs, tombstones, err = l.core.CountValid(ctx)
	if err == nil {
		l.counting.Lock()
		l.live = int(pairs)
		l.counting.Unlock()
	}
	return pairs, tombstones, err
}

func (l *lsm) clear(ctx context.Context) error {
	if err := l.core.EnterAfterChanges(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	l.empty()
	return nil
}

// empty is clear for a caller that has entered.
func (l *lsm) empty() {
	l.core.Changes.Made()
	l.state, l.live, l.cleaned = state{}, 0, 0
}

func (l *lsm) Close() error {
	return l.core.Close(func() {
		for _, m := range l.memories() {
			l.core.Drop(m)
		}
		clear(l.levels[:])
		clear(l.carries[:])
		clear(l.fronts[:])
		l.partial = nil
		l.state, l.live = state{}, 0
	})
}

// memories returns the memory of all runs. Some are nil.
func (l *lsm) memories() []*runs.Memory {
	all := append(l.levels[:], l.carries[:]...)
	return append(append([]*runs.Memory{}, all...), l.fronts[0], l.fronts[1], l.partial)
}

// bytes returns how much memory the runs take.
func (l *lsm) bytes() uint64 {
	var sum uint64
	for _, m := range l.memories() {
		if m != nil {
			sum += m.Bytes()
		}
	}
	return sum
}
