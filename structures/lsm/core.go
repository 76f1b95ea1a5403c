package lsm

import (
	"context"
	"slices"
	"sync"

	"github.com/vkds/vkds/internal/gate"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/joint"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/structures/internal/sorted"
	"github.com/vkds/vkds/vk"
)

// maxLevels is how many levels there may be: row 0 of a stack is the front.
const maxLevels = runs.StackRows - 1

// lsm is an LSM of words.
type lsm[W structures.Word] struct {
	structures.Updates[W, W]
	structures.Queries[W, W]

	core sorted.Core[W]
	o    Options
	state

	levels  [maxLevels]*runs.Memory // level i: of Batch << i pairs; nil: not needed so far
	fronts  [2]*runs.Memory         // of Batch pairs; fronts[0] is the front, the other its next version
	partial *runs.Memory            // a part of a batch that is less than Batch, sorted
	carries [maxLevels]*runs.Memory // of Batch << i pairs: what is merged on its way up; nil: not needed so far

	begun      uint32     // bit i: the memory of level i has what levels need; else it is new
	tombstones bool       // runs have bitmaps of tombstones: from the first deletion to the next cleanup
	live       int        // valid pairs; unknown: not known without counting
	counting   sync.Mutex // live, for who counts beside others
	cleaned    int        // pairs after the last cleanup
	open       *open      // or nil
}

const unknown = -1

var _ structures.Ordered[uint32, uint32] = (*lsm[uint32])(nil)

// bare is an LSM that is not open.
func bare[W structures.Word]() *lsm[W] {
	l := &lsm[W]{}
	l.Updates, l.Queries = pipeline.Updates[W](l.UpdateInto), &l.core.Reader
	l.core.Bare()
	return l
}

// newLSM makes an empty one.
func newLSM[W structures.Word](ctx context.Context, d *vk.Device, o Options) (*lsm[W], error) {
	if err := d.Err(); err != nil {
		return nil, err
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := bare[W]()
	l.o = o
	err := l.core.Open(d, (*updater[W])(l), o.Progress)
	l.o.Progress = l.core.Progress
	if err == nil {
		err = l.layOut()
	}
	if err != nil {
		return nil, joint.Error(err, l.Close())
	}
	l.core.Hold()
	return l, nil
}

// layOut makes the memory that the options ask for. What can't be had is refused before any is taken.
func (l *lsm[W]) layOut() error {
	if err := l.fits(frontSteps); err != nil {
		return &structures.CapacityError{Option: "Batch", Asked: l.o.Batch, Err: err}
	}
	if l.o.Capacity == 0 {
		return nil
	}
	return l.reserveFor(l.o.Capacity)
}

// reserveFor makes the memory that so many pairs take.
func (l *lsm[W]) reserveFor(pairs int) error {
	steps := l.capacitySteps(pairs)
	if err := l.fits(steps); err != nil {
		return &structures.CapacityError{Option: "Capacity", Asked: pairs, Err: err}
	}
	return l.reserve(steps, false, l.o.MaxBytes)
}

func (l *lsm[W]) Reserve(ctx context.Context, n int) error {
	switch {
	case n < 0:
		return &structures.OptionError{Option: "Capacity", Reason: "negative"}
	case n > MaxPairs:
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: tooMany(uint64(n))}
	}
	if err := l.core.EnterAlone(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	if err := l.reserveFor(n); err != nil {
		return err
	}
	l.o.Capacity = max(l.o.Capacity, n)
	return nil
}

// build makes one of pairs in any order.
func build[W structures.Word](ctx context.Context, d *vk.Device, keys, values []W, o Options) (*lsm[W], error) {
	if len(keys) > MaxPairs {
		return nil, tooMany(uint64(len(keys)))
	}
	l, err := newLSM[W](ctx, d, o)
	if err != nil {
		return nil, err
	}
	all, n, err := l.core.Build(ctx, keys, values)
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

// UpdateInto does a batch of updates of one kind (Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete), and
// writes what becomes of each operation to the caller's slice, as long as keys, or nil: then it is not wanted, which
// saves a sort and a search of all levels. How many pairs are valid has to be counted afterwards. Deletions have no
// values. Errors: those of structures.Updates, whose *PendingError then says how many operations are not done;
// *structures.KindError and *structures.LengthError before anything is done.
func (l *lsm[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W,
	status []structures.Status) error {
	if err := sorted.Check(kind, keys, values, status); err != nil {
		return err
	}
	if err := l.prepare(ctx); err != nil {
		return pipeline.NotBegun(status, len(keys), err)
	}
	defer l.core.Leave()
	live := l.live
	err := l.core.Update(ctx, kind, keys, values, status)
	if kind == structures.Delete && pipeline.Short(err) {
		err = l.deleteInPlace(ctx, keys, status)
	}
	l.keep(live, len(keys), status)
	return err
}

// pending are those of n operations that are not done; without statuses it may be any.
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

// deleteInPlace does the pending deletions of a batch by a cleanup, so that there is less afterwards than before.
func (l *lsm[W]) deleteInPlace(ctx context.Context, keys []W, statuses []structures.Status) error {
	l.settle()
	left := pending(len(keys), statuses)
	keys = pipeline.Pick(keys, left)
	found := make([]bool, len(keys))
	err := l.core.Lookup(ctx, keys, nil, found)
	if err == nil {
		err = l.cleanup(ctx, single(keys))
	}
	if err != nil {
		return pipeline.Stopped(statuses, len(left), err)
	}
	if statuses == nil {
		return nil
	}
	gone := map[W]bool{}
	for j, i := range left {
		statuses[i] = structures.Absent
		if found[j] && !gone[keys[j]] {
			statuses[i] = structures.Deleted
		}
		gone[keys[j]] = true
	}
	return nil
}

// single are the ranges of single keys, in order and each once.
func single[W structures.Word](keys []W) (ranges []structures.Range[W]) {
	for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		ranges = append(ranges, structures.Range[W]{Lo: k, Hi: k})
	}
	return ranges
}

// prepare begins a batch from Go slices.
func (l *lsm[W]) prepare(ctx context.Context) error {
	if err := l.core.EnterAlone(ctx); err != nil {
		return err
	}
	return gate.Unless(l.core.Leave, func() error { return l.maintain(ctx) })
}

// keep keeps the number of valid pairs, if it was known before a batch of n operations, and the batch has statuses.
func (l *lsm[W]) keep(live, n int, statuses []structures.Status) {
	l.settle()
	if live == unknown || n != len(statuses) {
		return
	}
	for _, s := range statuses {
		switch s {
		case structures.Inserted:
			live++
		case structures.Deleted:
			live--
		}
	}
	l.live = live
}

// Apply does a batch of Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find and CountAll: first the
// lookups and counts, then the insertions in their order, then the deletions (section III-A). Errors:
// *structures.KindError first, and those of structures.Updates.
func (l *lsm[W]) Apply(ctx context.Context, b structures.Batch[W, W]) (structures.Results[W, W], error) {
	return pipeline.MadeResults(b, func(into *structures.Results[W, W]) error { return l.ApplyInto(ctx, b, into) })
}

// ApplyInto is Apply into the caller's slices: Status and Values, each as long as the batch or nil, which is not
// wanted. Values may be those of the batch. The rest of into stays as it is. Error also: *structures.LengthError.
func (l *lsm[W]) ApplyInto(ctx context.Context, b structures.Batch[W, W], into *structures.Results[W, W]) error {
	if err := sorted.CheckMixed(b, into); err != nil {
		return err
	}
	if err := l.prepare(ctx); err != nil {
		return pipeline.NotBegun(into.Status, len(b.Keys), err)
	}
	defer l.core.Leave()
	into = sorted.WithStatus(into, len(b.Keys))
	live := l.live
	err := l.core.Apply(ctx, b, into)
	more := func(i int) bool { return b.Kinds[i] != structures.Delete }
	if pipeline.Short(err) && !slices.ContainsFunc(pending(len(b.Keys), into.Status), more) {
		err = l.deleteInPlace(ctx, b.Keys, into.Status)
	}
	l.keep(live, len(b.Keys), into.Status)
	return err
}

// Len returns the number of valid pairs. As long as all updates come from Go slices it is known. After others it is
// counted, by a kernel that looks each pair's key up in all newer runs.
func (l *lsm[W]) Len(ctx context.Context) (uint64, error) {
	if err := l.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer l.core.LeaveShared()
	return l.count(ctx)
}

// count is Len by who has entered.
func (l *lsm[W]) count(ctx context.Context) (uint64, error) {
	l.counting.Lock()
	live := l.live
	l.counting.Unlock()
	if live != unknown {
		return uint64(live), nil
	}
	pairs, _, err := l.measure(ctx)
	return pairs, err
}

// measure counts the valid pairs and the tombstones, by who has entered.
func (l *lsm[W]) measure(ctx context.Context) (pairs, tombstones uint64, err error) {
	pairs, tombstones, err = l.core.CountValid(ctx)
	if err == nil {
		l.counting.Lock()
		l.live = int(pairs)
		l.counting.Unlock()
	}
	return pairs, tombstones, err
}

// Metrics are what the host knows, without a look at the LSM and without a turn.
func (l *lsm[W]) Metrics() structures.Metrics { return l.core.Metrics() }

// Clear removes all pairs. The memory stays.
func (l *lsm[W]) Clear(ctx context.Context) error {
	if err := l.core.Enter(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	l.empty()
	return nil
}

// empty is Clear by who has entered.
func (l *lsm[W]) empty() {
	l.core.Changed()
	l.state, l.live, l.cleaned = state{}, 0, 0
}

// Close frees the LSM's memory. What streams have recorded or submitted is allowed to end first: the memory goes when
// the streams find that it has.
func (l *lsm[W]) Close() error {
	return l.core.Close(func() {
		for _, m := range l.memories() {
			l.core.Free(m)
		}
		clear(l.levels[:])
		clear(l.carries[:])
		clear(l.fronts[:])
		l.partial = nil
		l.state, l.live = state{}, 0
	})
}

// memories are all runs' memories, some of them nil.
func (l *lsm[W]) memories() []*runs.Memory {
	all := append(l.levels[:], l.carries[:]...)
	return append(append([]*runs.Memory{}, all...), l.fronts[0], l.fronts[1], l.partial)
}

// bytes is how much memory the runs take.
func (l *lsm[W]) bytes() uint64 {
	var sum uint64
	for _, m := range l.memories() {
		if m != nil {
			sum += m.Bytes()
		}
	}
	return sum
}
