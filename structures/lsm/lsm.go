// Package lsm is a dictionary in GPU memory that takes batches of insertions and deletions at the speed of sorting
// them: the GPU LSM of Ashkiani, Li, Farach-Colton, Amenta and Owens, "GPU LSM: A Dynamic Dictionary Data Structure for
// the GPU" (2018), over Vulkan.
//
// Pairs are kept in levels: sorted runs of b, 2b, 4b, … pairs, each full or empty, the larger ones older. A batch of b
// operations is sorted and merged with the full levels from the lowest on into the first empty one, as a carry runs
// through a binary number. A deletion inserts a tombstone. What was overwritten or deleted stays, invisible, until a
// cleanup. Unlike the original, a batch may have any size, no bit of keys is taken, and there are the queries that the
// paper's footnote 1 leaves out.
//
// Batches follow the semantics of section III-A: of equal keys in a batch the last one counts; a batch's lookups and
// counts come before its insertions, and these before its deletions.
//
// Methods take Go slices, copy a batch to the device and its results back, in overlapping chunks. Those that end in On
// record the same work on a stream, over device buffers, and do not wait.
package lsm

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/structures/internal/sorted"
	"github.com/vkds/vkds/vk"
)

// maxLevels is how many levels there may be: row 0 of a stack is the front.
const maxLevels = runs.StackRows - 1

// LSM is a log-structured dictionary of pairs. Several goroutines may use one: queries run beside one another, and what
// changes it runs alone (structures.Dictionary says more).
//
// Its updates and queries are those of structures.Updates and structures.Queries. Each operation of an update takes
// room until a cleanup, also of an InsertUnique that finds its key. Where there is no room for the tombstones of
// deletions, these clean up on the way, which takes the memory of a Cleanup. Streams keep temporary memory of theirs
// until Trim, Cleanup or Close.
type LSM struct {
	structures.Updates
	structures.Queries

	core sorted.Core
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

var _ structures.Ordered = (*LSM)(nil)

// New makes an empty LSM. Errors: *structures.OptionError; *structures.CapacityError, before memory is taken for pairs,
// where there is none for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*LSM, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &LSM{o: o}
	l.Updates, l.Queries = pipeline.Updates(l.UpdateInto), &l.core.Reader
	err := l.core.Open(d, (*updater)(l), o.Progress)
	l.o.Progress = l.core.Progress
	if err == nil {
		err = l.layOut()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.core.Hold()
	return l, nil
}

// layOut makes the memory that the options ask for. What can't be had is refused before any is taken.
func (l *LSM) layOut() error {
	if err := l.fits(frontSteps); err != nil {
		return &structures.CapacityError{Option: "Batch", Asked: l.o.Batch, Err: err}
	}
	if l.o.Capacity == 0 {
		return nil
	}
	return l.reserveFor(l.o.Capacity)
}

// reserveFor makes the memory that so many pairs take.
func (l *LSM) reserveFor(pairs int) error {
	steps := l.capacitySteps(pairs)
	if err := l.fits(steps); err != nil {
		return &structures.CapacityError{Option: "Capacity", Asked: pairs, Err: err}
	}
	return l.reserve(steps, false, l.o.MaxBytes)
}

// Reserve makes room for n pairs in all, stale ones among them, as Options.Capacity does: cleanups keep it. Less than
// there is room for does nothing. Errors: *structures.CapacityError, before anything is allocated;
// *vk.OutOfMemoryError; vk.ErrUnsubmitted.
func (l *LSM) Reserve(ctx context.Context, n int) error {
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

// Build makes an LSM of pairs in any order, by one sort: each level gets a part of them. Where a key comes twice, the
// last of its values stays, and nothing is stale. The pairs and what it takes to sort them have to fit into the
// device's memory at once; Insert takes more.
//
// Errors: those of New, *structures.LengthError.
func Build(ctx context.Context, d *vk.Device, keys, values []uint32, o Options) (*LSM, error) {
	if len(keys) > MaxPairs {
		return nil, tooMany(uint64(len(keys)))
	}
	l, err := New(ctx, d, o)
	if err != nil {
		return nil, err
	}
	all, n, err := l.core.Build(ctx, keys, values)
	if err == nil {
		err = l.distribute(runs.Of(all.Row(false), n), l.o.MaxBytes)
		all.Free()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	l.core.Hold()
	return l, nil
}

// UpdateInto does a batch of updates of one kind (Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete), and
// writes what becomes of each operation to the caller's slice, as long as keys, or nil: then it is not wanted, which
// saves a sort and a search of all levels. How many pairs are valid has to be counted afterwards. Deletions have no
// values. Errors: those of structures.Updates, whose *PendingError then says how many operations are not done;
// *structures.KindError and *structures.LengthError before anything is done.
func (l *LSM) UpdateInto(ctx context.Context, kind structures.Kind, keys, values []uint32,
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
func (l *LSM) deleteInPlace(ctx context.Context, keys []uint32, statuses []structures.Status) error {
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
	gone := map[uint32]bool{}
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
func single(keys []uint32) (ranges []structures.Range) {
	for _, k := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		ranges = append(ranges, structures.Range{Lo: k, Hi: k})
	}
	return ranges
}

// prepare begins a batch from Go slices.
func (l *LSM) prepare(ctx context.Context) error {
	if err := l.core.EnterAlone(ctx); err != nil {
		return err
	}
	err := l.maintain(ctx)
	if err != nil {
		l.core.Leave()
	}
	return err
}

// keep keeps the number of valid pairs, if it was known before a batch of n operations, and the batch has statuses.
func (l *LSM) keep(live, n int, statuses []structures.Status) {
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
func (l *LSM) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	return pipeline.MadeResults(b, func(into *structures.Results) error { return l.ApplyInto(ctx, b, into) })
}

// ApplyInto is Apply into the caller's slices: Status and Values, each as long as the batch or nil, which is not
// wanted. Values may be those of the batch. The rest of into stays as it is. Error also: *structures.LengthError.
func (l *LSM) ApplyInto(ctx context.Context, b structures.Batch, into *structures.Results) error {
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
func (l *LSM) Len(ctx context.Context) (uint64, error) {
	if err := l.core.EnterShared(ctx); err != nil {
		return 0, err
	}
	defer l.core.LeaveShared()
	return l.count(ctx)
}

// count is Len by who has entered.
func (l *LSM) count(ctx context.Context) (uint64, error) {
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
func (l *LSM) measure(ctx context.Context) (pairs, tombstones uint64, err error) {
	pairs, tombstones, err = l.core.CountValid(ctx)
	if err == nil {
		l.counting.Lock()
		l.live = int(pairs)
		l.counting.Unlock()
	}
	return pairs, tombstones, err
}

// Metrics are what the host knows, without a look at the LSM and without a turn.
func (l *LSM) Metrics() structures.Metrics { return l.core.Metrics() }

// Clear removes all pairs. The memory stays.
func (l *LSM) Clear(ctx context.Context) error {
	if err := l.core.Enter(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	l.empty()
	return nil
}

// empty is Clear by who has entered.
func (l *LSM) empty() {
	l.core.Changed()
	l.state, l.live, l.cleaned = state{}, 0, 0
}

// Close frees the LSM's memory. What streams have recorded or submitted is allowed to end first: the memory goes when
// the streams find that it has.
func (l *LSM) Close() error {
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
func (l *LSM) memories() []*runs.Memory {
	all := append(l.levels[:], l.carries[:]...)
	return append(append([]*runs.Memory{}, all...), l.fronts[0], l.fronts[1], l.partial)
}

// bytes is how much memory the runs take.
func (l *LSM) bytes() uint64 {
	var sum uint64
	for _, m := range l.memories() {
		if m != nil {
			sum += m.Bytes()
		}
	}
	return sum
}
