package sortedarray

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// updater is the array as sorted.Core uses it.
type updater array

func (u *updater) Stack() runs.Stack {
	return runs.Stack{Rows: u.core.Rows.Address(), Unit: 1, Front: uint32(u.n)}
}

func (u *updater) Unique() bool { return true }

// updatePlan is the division of an update's scratch memory.
type updatePlan struct {
	sort                           uint64
	keys, values                   uint64 // of the sorted batch
	merge                          uint64
	allKeys, allValues, tombstones uint64 // of the array merged with the batch
	valid                          uint64
	bytes                          uint64
}

func (u *updater) plan(n int, scratch uint64) updatePlan {
	all, bytes := u.n+n, u.core.Width().Bytes()
	p := recording.Parts{Base: scratch}
	plan := updatePlan{
		sort: p.Take(u.core.Primitives.Scratch(primitives.SortArgs{Length: primitives.Length{N: n},
			Values: recording.Align, Widths: u.core.Widths()})),
		keys: p.Take(bytes * n), values: p.Take(bytes * n),
		merge:   p.Take(u.core.Queries.MergeScratch(all)),
		allKeys: p.Take(bytes * all), allValues: p.Take(bytes * all), tombstones: p.Take((all + 31) / 32 * 4),
		valid: p.Take(u.core.ValidScratch(all)),
	}
	plan.bytes = p.Used
	return plan
}

// idle reports whether a batch changes nothing.
func (u *updater) idle(b sorted.Batch) bool {
	return b.N == 0 || b.Kind == structures.Delete && u.n == 0
}

// Reserve allocates the scratch memory and the memory of the next version.
func (u *updater) Reserve(s *vk.Stream, b sorted.Batch) error {
	all := u.n + b.N
	switch {
	case u.idle(b), u.appends(b):
		return nil
	case all > MaxPairs:
		return full(all)
	}
	if _, err := u.core.UpdateScratch(s, int(u.plan(b.N, 0).bytes)); err != nil {
		return err
	}
	return u.reserveSpare(all)
}

// reserveSpare allocates memory for the next version of the array, with a quarter more for later batches if it can.
func (u *updater) reserveSpare(pairs int) error {
	if u.spare != nil && u.spare.Room() >= pairs {
		return nil
	}
	// The quarter is optional.
	if u.reserveSpareOf(min(MaxPairs, pairs+pairs/4)) == nil {
		return nil
	}
	return u.reserveSpareOf(pairs)
}

// reserveSpareOf is reserveSpare for exactly that many pairs.
func (u *updater) reserveSpareOf(pairs int) (err error) {
	u.core.Drop(u.spare)
	u.spare, err = runs.NewMemory(u.core.Device, u.core.Width(), pairs)
	return err
}

// Update sorts the batch, merges it with the array, and writes the valid pairs as the next version of the array. It
// waits, because the host must know their number.
func (u *updater) Update(ctx context.Context, s *vk.Stream, b sorted.Batch) error {
	switch {
	case u.idle(b):
		return nil
	case u.appends(b):
		return u.append(s, b)
	}
	scratch, err := u.core.UpdateScratch(s, int(u.plan(b.N, 0).bytes))
	if err != nil {
		return err
	}
	plan := u.plan(b.N, scratch)
	if err := u.resolve(s, b, plan); err != nil {
		return err
	}
	if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := (*array)(u).replace(s, u.spare, u.core.Counted()); err != nil {
		return err
	}
	if b.Kind == structures.Insert {
		u.most = anyKey
	}
	return nil
}

// appends reports whether all keys of an insertion are greater than those of the array, and there is room for them.
func (u *updater) appends(b sorted.Batch) bool {
	return b.Kind == structures.Insert && b.Ascending && u.n+b.N <= u.run.Room() && (u.n == 0 || b.First > u.most)
}

// append copies a batch to the end of the array. Queries do not look there before the number of pairs changes.
func (u *updater) append(s *vk.Stream, b sorted.Batch) error {
	row, at := u.run.Row(false), uint64(u.core.Width().Bytes()*u.n)
	err := u.core.Queries.Merge(s, runs.MergeArgs{
		Newer: runs.Source{Keys: b.Keys, Values: b.Values, N: b.N}, N: b.N,
		Out: runs.Row{Keys: row.Keys + at, Values: row.Values + at},
	})
	if err != nil {
		return err
	}
	spare := u.spare
	if err := (*array)(u).replace(s, u.run, u.n+b.N); err != nil {
		return err
	}
	u.spare, u.most = spare, b.Last
	return nil
}

func (u *updater) Held() uint64 { return (*array)(u).bytes() }

// Settle does nothing, because updates are submitted at once and cannot be dropped.
func (u *updater) Settle() {}

// resolve records the writing of the next version to the spare memory.
func (u *updater) resolve(s *vk.Stream, b sorted.Batch, plan updatePlan) error {
	batch := runs.Source{Keys: b.Keys, Values: b.Values, N: b.N}
	var err error
	if !b.Sorted {
		batch.Keys, batch.Values = plan.keys, plan.values
		if b.Kind == structures.Delete {
			batch.Values = 0
		}
		err = u.core.Primitives.Sort(s, primitives.SortArgs{
			Keys: b.Keys, Values: b.Values, OutKeys: batch.Keys, OutValues: batch.Values,
			Length: primitives.Length{N: b.N}, Widths: u.core.Widths(), Scratch: plan.sort,
		})
	}
	if err == nil && u.n != 0 {
		all := runs.Row{Keys: plan.allKeys, Values: plan.allValues}
		if b.Kind == structures.Delete {
			all.Tombstones = plan.tombstones
		}
		err = u.core.Queries.Merge(s, runs.MergeArgs{
			Older: runs.Of(u.run.Row(false), u.n), Newer: batch, N: u.n + b.N, Out: all, Scratch: plan.merge,
		})
		batch = runs.Of(all, u.n+b.N)
	}
	if err != nil {
		return err
	}
	return u.core.Valid(s, batch, runs.Ranges{}, u.spare.Row(false), plan.valid)
}

// replace makes n pairs in other memory the array's, submits this, and keeps the old memory for the next version.
func (a *array) replace(s *vk.Stream, run *runs.Memory, n int) error {
	row := run.Row(false)
	if err := a.core.Queries.BuildIndex(s, row.Keys, n, row.Index); err != nil {
		return err
	}
	if err := a.core.Queries.SetRow(s, a.core.Rows.Address(), 0, row); err != nil {
		return err
	}
	if _, err := s.Submit(); err != nil {
		return err
	}
	a.run, a.spare, a.n = run, a.run, n
	return nil
}
