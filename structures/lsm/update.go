package lsm

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// updater is the LSM as sorted.Core uses it.
type updater lsm

func (u *updater) Stack() runs.Stack {
	return runs.Stack{Rows: u.core.Rows.Address(), Full: u.full, Unit: uint32(u.o.Batch), Front: uint32(u.front)}
}

func (u *updater) Unique() bool { return false }

// idle reports whether a batch changes nothing.
func (u *updater) idle(b sorted.Batch) bool {
	return b.N == 0 || b.Kind == structures.Delete && u.pairs(u.o.Batch) == 0
}

// Reserve allocates the memory for the steps of a batch.
func (u *updater) Reserve(s *vk.Stream, b sorted.Batch) error {
	l := (*lsm)(u)
	l.settle() // of the previous chunk, if the batch is from Go slices
	if u.idle(b) {
		return nil
	}
	steps, after := l.plan(b.N, l.o.Batch)
	if pairs := after.pairs(l.o.Batch); pairs > MaxPairs {
		return tooMany(pairs)
	}
	if _, err := l.core.UpdateScratch(s, int(l.scratch(steps, 0).bytes)); err != nil {
		return err
	}
	return l.reserveSteps(steps, b.Kind == structures.Delete, l.o.MaxBytes)
}

func (u *updater) Held() uint64 { return (*lsm)(u).bytes() }

// Settle undoes updates that were recorded and then dropped.
func (u *updater) Settle() { (*lsm)(u).settle() }

// Update records the steps of a batch. Reserve has allocated the memory.
func (u *updater) Update(_ context.Context, s *vk.Stream, b sorted.Batch) error {
	if u.idle(b) {
		return nil
	}
	l := (*lsm)(u)
	before := l.past()
	if err := l.record(s, b); err != nil {
		l.restore(before)
		return err
	}
	l.note(s, before)
	return nil
}

func (l *lsm) record(s *vk.Stream, b sorted.Batch) error {
	steps, _ := l.plan(b.N, l.o.Batch)
	scratch, err := l.core.UpdateScratch(s, int(l.scratch(steps, 0).bytes))
	if err != nil {
		return err
	}
	plan := l.scratch(steps, scratch)
	err = l.begin(s)
	if err == nil && b.Kind == structures.Delete && !l.tombstones {
		err = l.setTombstones(s, true)
	}
	for _, t := range steps {
		if err == nil {
			err = l.step(s, b, t, plan)
		}
	}
	l.live = unknown
	return err
}

// scratchPlan is the division of a batch's scratch memory.
type scratchPlan struct{ sort, merge, bytes uint64 }

func (l *lsm) scratch(steps []step, base uint64) scratchPlan {
	sort, merge := 0, 0
	for _, t := range steps {
		sort = max(sort, t.n)
		merge = max(merge, l.o.Batch<<max(0, t.to))
	}
	p := recording.Parts{Base: base}
	plan := scratchPlan{
		sort: p.Take(l.core.Primitives.Scratch(primitives.SortArgs{Length: primitives.Length{N: sort},
			Values: recording.Align, Widths: l.core.Widths()})),
		merge: p.Take(l.core.Queries.MergeScratch(merge)),
	}
	plan.bytes = p.Used
	return plan
}

// frontSteps are the steps of the smallest batch.
var frontSteps = []step{{n: 1, front: true, to: front, unit: front}}

// capacitySteps returns steps that need all the memory that batches may need until there are that many pairs.
func (l *lsm) capacitySteps(capacity int) []step {
	steps := frontSteps
	for i := 0; l.o.Batch<<i <= capacity; i++ {
		steps = append(steps, step{n: l.o.Batch, to: i})
	}
	return steps
}

// reserveSteps allocates the memory for steps, if all runs then take no more than limit bytes (0: no limit). After an
// error it has allocated nothing, so that smaller steps find room.
func (l *lsm) reserveSteps(steps []step, deletes bool, limit uint64) error {
	var made []**runs.Memory
	for _, need := range l.needs(steps, deletes) {
		if *need.m != nil {
			continue
		}
		m, err := l.newMemory(need.pairs, limit)
		if err != nil {
			for _, m := range made {
				(*m).Free()
				*m = nil
			}
			return err
		}
		*need.m, made = m, append(made, need.m)
	}
	return nil
}

// need is a memory that a step needs, and its size in pairs.
type need struct {
	m     **runs.Memory
	pairs int
}

// needs returns the memory that steps need, some of it several times.
func (l *lsm) needs(steps []step, deletes bool) (all []need) {
	for _, t := range steps {
		if direct := t.merges() == 0 && !deletes; !direct && t.unit == front {
			all = append(all, need{&l.partial, l.o.Batch})
		} else if !direct {
			all = append(all, need{&l.carries[t.unit], l.o.Batch << t.unit})
		}
		if t.front && t.to > 0 {
			all = append(all, need{&l.carries[0], l.o.Batch})
		}
		for i := t.lowest + 1; i < t.to; i++ {
			all = append(all, need{&l.carries[i], l.o.Batch << i})
		}
		if t.to == front || t.rest > 0 {
			all = append(all, need{&l.fronts[0], l.o.Batch}, need{&l.fronts[1], l.o.Batch})
		}
		if t.to != front {
			all = append(all, need{&l.levels[t.to], l.o.Batch << t.to})
		}
	}
	return all
}

// fits returns an error if there is too little memory for what steps of insertions need in addition to what is
// allocated. It allocates nothing.
func (l *lsm) fits(steps []step) error {
	needs := map[**runs.Memory]int{}
	for _, need := range l.needs(steps, false) {
		if *need.m == nil {
			needs[need.m] = need.pairs
		}
	}
	var sizes []uint64
	sum := l.bytes()
	for _, pairs := range needs {
		sizes = append(sizes, runs.MemoryBytes(l.core.Width(), pairs))
		sum += runs.MemoryBytes(l.core.Width(), pairs)
	}
	if l.o.MaxBytes != 0 && sum > l.o.MaxBytes {
		return tooLarge(sum, l.o.MaxBytes)
	}
	return l.core.Device.Fits(sizes...)
}

// newMemory allocates memory for n pairs, if all runs then take no more than limit bytes (0: no limit).
func (l *lsm) newMemory(n int, limit uint64) (*runs.Memory, error) {
	if bytes := l.bytes() + runs.MemoryBytes(l.core.Width(), n); limit != 0 && bytes > limit {
		return nil, tooLarge(bytes, limit)
	}
	return runs.NewMemory(l.core.Device, l.core.Width(), n)
}

// begin records the initialization of levels whose memory is new.
func (l *lsm) begin(s *vk.Stream) error {
	for i, m := range l.levels {
		if l.begun>>i&1 == 1 || m == nil {
			continue
		}
		m.FillIndex(s)
		if err := l.core.Queries.SetRow(s, l.core.Rows.Address(), i+1, m.Row(l.tombstones)); err != nil {
			return err
		}
		l.begun |= 1 << i
	}
	return nil
}

// setTombstones records that all runs have bitmaps of tombstones from here on, all zero, or that no run has one.
func (l *lsm) setTombstones(s *vk.Stream, on bool) error {
	l.tombstones = on
	for i, m := range l.levels {
		if m == nil {
			continue
		}
		if on && l.full>>i&1 == 1 {
			m.ClearTombstones(s, l.o.Batch<<i)
		}
		if err := l.core.Queries.SetRow(s, l.core.Rows.Address(), i+1, m.Row(on)); err != nil {
			return err
		}
	}
	if l.fronts[0] == nil {
		return nil
	}
	if on && l.front > 0 {
		l.fronts[0].ClearTombstones(s, l.front)
	}
	return l.core.Queries.SetRow(s, l.core.Rows.Address(), 0, l.fronts[0].Row(on))
}

// putBack records a merge of the last pairs of the front and of a part of a batch into the next version of the front.
func (l *lsm) putBack(s *vk.Stream, older, newer runs.Source, rest int, plan scratchPlan) error {
	row := l.fronts[1].Row(l.tombstones)
	out := row
	out.Index = 0
	err := l.core.Queries.Merge(s, runs.MergeArgs{
		Older: older, Newer: newer, Begin: older.N + newer.N - rest, N: rest, Out: out, Scratch: plan.merge,
	})
	if err == nil {
		err = l.core.Queries.BuildIndex(s, row.Keys, rest, row.Index)
	}
	if err == nil {
		err = l.core.Queries.SetRow(s, l.core.Rows.Address(), 0, row)
	}
	// The next merge still reads the old front, by the address that it already has.
	l.fronts[0], l.fronts[1] = l.fronts[1], l.fronts[0]
	return err
}

// step records one step of a batch: it sorts a part, merges it with older runs, level by level, and makes the result a
// level or the front.
func (l *lsm) step(s *vk.Stream, b sorted.Batch, t step, plan scratchPlan) error {
	target := l.fronts[1]
	if t.to != front {
		target = l.levels[t.to]
	}
	older := l.older(t)
	if len(older) == 0 && (b.Kind == structures.Delete || b.Sorted) {
		older = append(older, runs.Source{}) // an empty run: the merge then writes the tombstones, or copies
	}
	direct := len(older) == 0 // the sorted part is the result
	into := target
	switch {
	case direct:
	case t.unit == front:
		into = l.partial
	default:
		into = l.carries[t.unit]
	}
	run, err := l.sortPart(s, b, t, into, plan)
	if err != nil {
		return err
	}
	if run, err = l.carry(s, t, older, run, target, plan); err != nil {
		return err
	}
	if direct && l.tombstones {
		target.ClearTombstones(s, t.n)
	}
	if direct || t.to == front {
		row := target.Row(false)
		if err := l.core.Queries.BuildIndex(s, row.Keys, run.N, row.Index); err != nil {
			return err
		}
	}
	return l.put(s, t, run.N)
}

// older returns the runs that a step merges its part with, the newest first.
func (l *lsm) older(t step) (all []runs.Source) {
	if t.front {
		all = append(all, runs.Of(l.fronts[0].Row(l.tombstones), t.frontSize))
	}
	for i := t.lowest; i < t.to; i++ {
		all = append(all, runs.Of(l.levels[i].Row(l.tombstones), l.o.Batch<<i))
	}
	return all
}

// sortPart records the sort of a step's part of a batch, and returns the sorted run. If the batch is sorted already,
// this is the part itself.
func (l *lsm) sortPart(s *vk.Stream, b sorted.Batch, t step, to *runs.Memory,
	plan scratchPlan) (runs.Source, error) {
	from := uint64(l.core.Width().Bytes() * t.from)
	part := runs.Source{Keys: b.Keys + from, Values: b.Values + from, N: t.n}
	if b.Kind == structures.Delete {
		part.Values = 0
	}
	if b.Sorted {
		return part, nil
	}
	into := to.Row(false)
	run := runs.Source{Keys: into.Keys, N: t.n}
	if part.Values != 0 {
		run.Values = into.Values
	}
	err := l.core.Primitives.Sort(s, primitives.SortArgs{
		Keys: part.Keys, Values: part.Values, OutKeys: run.Keys, OutValues: run.Values,
		Length: primitives.Length{N: t.n}, Widths: l.core.Widths(), Scratch: plan.sort,
	})
	return run, err
}

// carry records the merges of a run with older ones, and returns the result. The last merge writes to target.
func (l *lsm) carry(s *vk.Stream, t step, older []runs.Source, run runs.Source, target *runs.Memory,
	plan scratchPlan) (runs.Source, error) {
	for i, from := range older {
		n := from.N + run.N
		if t.rest > 0 && i == 0 {
			if err := l.putBack(s, from, run, t.rest, plan); err != nil {
				return run, err
			}
			n -= t.rest
		}
		out := target.Row(l.tombstones)
		if i < len(older)-1 {
			level := t.lowest + i + 1
			if t.front {
				level--
			}
			out = l.carries[level].Row(l.tombstones)
			out.Index = 0
		} else if t.to == front {
			out.Index = 0 // step builds it, because the front may have any length
		}
		err := l.core.Queries.Merge(s, runs.MergeArgs{Older: from, Newer: run, N: n, Out: out, Scratch: plan.merge})
		if err != nil {
			return run, err
		}
		run = runs.Of(out, n)
	}
	return run, nil
}

// put updates the state after a step. n is the length of the run that it wrote.
func (l *lsm) put(s *vk.Stream, t step, n int) error {
	if t.to == front {
		l.fronts[0], l.fronts[1] = l.fronts[1], l.fronts[0]
		l.state.front = n
		return l.core.Queries.SetRow(s, l.core.Rows.Address(), 0, l.fronts[0].Row(l.tombstones))
	}
	if t.front {
		l.state.front = t.rest
	}
	l.full += 1 << t.lowest
	return nil
}
