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
	"iter"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/structures/internal/sorted"
	"github.com/vkds/vkds/vk"
)

// maxLevels is how many levels there may be: row 0 of a stack is the front.
const maxLevels = runs.StackRows - 1

// LSM is a log-structured dictionary of pairs. Several goroutines may use one: its calls take turns
// (structures.Dictionary says more).
type LSM struct {
	core sorted.Core
	o    Options
	state

	levels  [maxLevels]*runs.Memory // level i: of Batch << i pairs; nil: not needed so far
	fronts  [2]*runs.Memory         // of Batch pairs; fronts[0] is the front, the other its next version
	partial *runs.Memory            // a part of a batch that is less than Batch, sorted
	carries [maxLevels]*runs.Memory // of Batch << i pairs: what is merged on its way up; nil: not needed so far

	begun      uint32 // bit i: the memory of level i has what levels need; else it is new
	tombstones bool   // runs have bitmaps of tombstones: from the first deletion to the next cleanup
	live       int    // valid pairs; unknown: not known without counting
	cleaned    int    // pairs after the last cleanup
	open       *open  // or nil
}

const unknown = -1

var _ structures.Ordered = (*LSM)(nil)

// New makes an empty LSM. Errors: *structures.OptionError; *structures.CapacityError, before memory is taken for pairs, where there
// is none for what the options ask for; *vk.OutOfMemoryError.
func New(ctx context.Context, d *vk.Device, o Options) (*LSM, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l := &LSM{o: o}
	err := l.core.Open(d, (*updater)(l), o.Progress)
	l.o.Progress = l.core.Progress
	if err == nil {
		err = l.layOut()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
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
	steps := l.capacitySteps()
	if err := l.fits(steps); err != nil {
		return &structures.CapacityError{Option: "Capacity", Asked: l.o.Capacity, Err: err}
	}
	return l.reserve(steps, false, l.o.MaxBytes)
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
	return l, nil
}

// Insert inserts each pair, or assigns to the key that is there: Inserted or Assigned. Of equal keys in the batch the
// last one's value stays.
//
// Errors of this and of Delete: *structures.LengthError; *structures.PendingError, with the statuses that say what is
// done, around *structures.LimitError, *vk.OutOfMemoryError or the context's.
func (l *LSM) Insert(ctx context.Context, keys, values []uint32) ([]structures.Status, error) {
	if err := l.prepare(ctx); err != nil {
		return pipeline.NotBegun(len(keys), err)
	}
	defer l.core.Leave()
	live := l.live
	statuses, err := l.core.Insert(ctx, keys, values)
	l.keep(live, statuses)
	return statuses, err
}

// Delete removes each key: Deleted or Absent. Where there is no room for the tombstones, it cleans up on the way, which
// takes the memory of a Cleanup.
func (l *LSM) Delete(ctx context.Context, keys []uint32) ([]structures.Status, error) {
	if err := l.prepare(ctx); err != nil {
		return pipeline.NotBegun(len(keys), err)
	}
	defer l.core.Leave()
	live := l.live
	statuses, err := l.core.Delete(ctx, keys)
	if pipeline.Short(err) {
		err = l.deleteInPlace(ctx, keys, statuses)
	}
	l.keep(live, statuses)
	return statuses, err
}

// pending are the operations that are not done.
func pending(statuses []structures.Status) (all []int) {
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
	left := pending(statuses)
	keys = pipeline.Pick(keys, left)
	_, found, err := l.core.Lookup(ctx, keys)
	if err == nil {
		sorted := slices.Clone(keys)
		slices.Sort(sorted)
		err = l.cleanup(ctx, slices.Compact(sorted))
	}
	if err != nil {
		return pipeline.Stopped(statuses, err)
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

// keep keeps the number of valid pairs, if it was known before a batch.
func (l *LSM) keep(live int, statuses []structures.Status) {
	l.settle()
	if live == unknown {
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

// Find returns the value of each key, 0 where it is absent, and whether it is there.
func (l *LSM) Find(ctx context.Context, keys []uint32) (values []uint32, found []bool, err error) {
	return l.core.Find(ctx, keys)
}

// Apply does a batch of Insert, Delete, Find and Count: first the lookups and counts, then the insertions in their
// order, then the deletions (section III-A). Errors: *structures.KindError before anything is done, and those of
// Insert.
func (l *LSM) Apply(ctx context.Context, b structures.Batch) (structures.Results, error) {
	if err := pipeline.Lengths(b); err != nil {
		return structures.Results{}, err
	}
	if err := l.prepare(ctx); err != nil {
		statuses, err := pipeline.NotBegun(len(b.Keys), err)
		return structures.Results{Status: statuses, Values: make([]uint32, len(b.Keys))}, err
	}
	defer l.core.Leave()
	live := l.live
	r, err := l.core.Apply(ctx, b)
	if pipeline.Short(err) && !slices.ContainsFunc(pending(r.Status), func(i int) bool { return b.Kinds[i] != structures.Delete }) {
		err = l.deleteInPlace(ctx, b.Keys, r.Status)
	}
	l.keep(live, r.Status)
	return r, err
}

// Count returns how many keys each range has.
func (l *LSM) Count(ctx context.Context, ranges []structures.Range) ([]uint32, error) {
	return l.core.Count(ctx, ranges)
}

// Range returns the pairs of each range, in key order.
func (l *LSM) Range(ctx context.Context, ranges []structures.Range) (structures.Ranges, error) {
	return l.core.Range(ctx, ranges)
}

// Successor finds the least key above each key.
func (l *LSM) Successor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return l.core.Neighbors(ctx, structures.Successor, keys)
}

// Predecessor finds the greatest key below each key.
func (l *LSM) Predecessor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return l.core.Neighbors(ctx, structures.Predecessor, keys)
}

// Floor finds the greatest key up to each key, itself included.
func (l *LSM) Floor(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return l.core.Neighbors(ctx, structures.Floor, keys)
}

// Ceil finds the least key from each key on, itself included.
func (l *LSM) Ceil(ctx context.Context, keys []uint32) (structures.Neighbors, error) {
	return l.core.Neighbors(ctx, structures.Ceil, keys)
}

// Min returns the pair with the least key; found is false where there is none.
func (l *LSM) Min(ctx context.Context) (key, value uint32, found bool, err error) {
	return l.core.Min(ctx)
}

// Max returns the pair with the greatest key.
func (l *LSM) Max(ctx context.Context) (key, value uint32, found bool, err error) {
	return l.core.Max(ctx)
}

// Ascend returns the pairs of a range in key order, read part by part. The LSM must not change meanwhile. If the device
// fails or ctx ends, so does the sequence, and the function returned tells why.
func (l *LSM) Ascend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return l.core.Walk(ctx, r, false)
}

// Descend is Ascend from the greatest key down.
func (l *LSM) Descend(ctx context.Context, r structures.Range) (iter.Seq2[uint32, uint32], func() error) {
	return l.core.Walk(ctx, r, true)
}

// All returns all pairs in key order, as Ascend does.
func (l *LSM) All(ctx context.Context) (iter.Seq2[uint32, uint32], func() error) {
	return l.Ascend(ctx, structures.AllKeys)
}

// Len returns the number of valid pairs. As long as all updates come from Go slices it is known. After others it is
// counted, by a kernel that looks each pair's key up in all newer runs.
func (l *LSM) Len(ctx context.Context) (uint64, error) {
	if err := l.core.Enter(ctx); err != nil {
		return 0, err
	}
	defer l.core.Leave()
	return l.count(ctx)
}

// count is Len by who has entered.
func (l *LSM) count(ctx context.Context) (uint64, error) {
	if l.live == unknown {
		if _, err := l.survey(ctx); err != nil {
			return 0, err
		}
	}
	return uint64(l.live), nil
}

// Clear removes all pairs. The memory stays.
func (l *LSM) Clear(ctx context.Context) error {
	if err := l.core.Enter(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	l.core.Changed()
	l.state, l.live, l.cleaned = state{}, 0, 0
	return nil
}

// Close frees the LSM's memory. What streams have recorded or submitted is allowed to end first: the memory goes when the
// streams find that it has.
func (l *LSM) Close() error {
	return l.core.Close(func() {
		for _, m := range l.memories() {
			l.core.Free(m)
		}
		l.levels, l.carries, l.fronts, l.partial = [maxLevels]*runs.Memory{}, [maxLevels]*runs.Memory{}, [2]*runs.Memory{}, nil
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
