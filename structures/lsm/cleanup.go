package lsm

import (
	"cmp"
	"context"
	"time"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

func (l *lsm) cleanup(ctx context.Context) error {
	ctx, end := l.core.Progress.Begin(ctx)
	defer end()
	if err := l.core.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	return l.cleanUp(ctx, nil)
}

// workspace is the memory of a cleanup.
type workspace struct {
	merged, packed *runs.Memory
	scratch        *vk.Buffer[byte]
	without        *vk.Buffer[uint32] // the ranges of keys to be deleted
}

func (w *workspace) free() {
	w.merged.Free()
	w.packed.Free()
	if w.scratch != nil {
		w.scratch.Free()
	}
	if w.without != nil {
		w.without.Free()
	}
}

// workspace allocates the memory to clean up all pairs and delete that many ranges.
func (l *lsm) workspace(all, ranges int) (w workspace, err error) {
	d := l.core.Device
	w.merged, err = runs.NewMemory(d, l.core.Width(), all)
	if err == nil {
		w.packed, err = runs.NewMemory(d, l.core.Width(), all)
	}
	if err == nil {
		w.scratch, err = vk.NewBuffer[byte](d, max(l.core.Queries.MergeScratch(all), l.core.ValidScratch(all)))
	}
	if err == nil {
		w.without, err = vk.NewBuffer[uint32](d, 2*ranges*l.core.Width().Bytes()/4)
	}
	if err != nil {
		w.free()
		return workspace{}, err
	}
	return w, nil
}

// cleanUp is cleanup for a caller that has entered. It also deletes the keys of ranges, which must ascend and not
// overlap.
func (l *lsm) cleanUp(ctx context.Context, without []structures.Range[uint64]) error {
	begin, all := time.Now(), int(l.pairs(l.o.Batch))
	if all == 0 {
		l.giveBack(l.o.Capacity)
		return nil
	}
	w, err := l.workspace(all, len(without))
	if pipeline.Short(err) {
		l.giveBack(0)
		w, err = l.workspace(all, len(without))
	}
	if err != nil {
		return err
	}
	defer w.free()
	if err := pipeline.Ranges(without, l.core.Width()).Upload(ctx, w.without, 0); err != nil {
		return err
	}
	run, err := l.mergeAll(ctx, &w, all)
	if err != nil {
		return err
	}
	s := l.core.Stream
	err = recording.Run(s, func() error {
		return l.timed("pack", func() error {
			gone := runs.Ranges{At: w.without.Address(), N: len(without)}
			return l.core.Valid(s, run, gone, w.merged.Row(false), w.scratch.Address())
		})
	})
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return err
	}
	tell(ctx, 3*all/2, 2*all)
	w.packed.Free()
	w.scratch.Free()
	// The levels that stay take no more memory than those before.
	if err := l.distribute(runs.Of(w.merged.Row(false), l.core.Counted()), 0); err != nil {
		return err
	}
	tell(ctx, 2*all, 2*all)
	l.giveBack(l.o.Capacity)
	l.core.Meter.Rebuild()
	l.core.Device.Log().Info("cleaned up", "pairs", l.core.Counted(), "pairs_before", all,
		"duration", time.Since(begin))
	return nil
}

// mergeAll merges all runs, the newest first. all is the number of their pairs. It writes only to the workspace, so an
// error leaves the LSM as it was.
func (l *lsm) mergeAll(ctx context.Context, w *workspace, all int) (runs.Source, error) {
	s := l.core.Stream
	var run runs.Source
	for _, older := range l.runs() {
		if run.N == 0 {
			run = older
			continue
		}
		out, newer := w.merged.Row(l.tombstones), run
		out.Index = 0
		n := newer.N + older.N
		err := s.Whole(func() error {
			return l.timed("merge", func() error {
				return l.core.Queries.Merge(s, runs.MergeArgs{
					Older: older, Newer: newer, N: n, Out: out, Scratch: w.scratch.Address(),
				})
			})
		})
		if err == nil {
			_, err = s.Submit()
		}
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			s.Discard()
			return runs.Source{}, joint.Error(err, s.Wait(context.WithoutCancel(ctx)))
		}
		run = runs.Of(out, n)
		w.merged, w.packed = w.packed, w.merged
		tell(ctx, n, 2*all)
	}
	return run, nil
}

// runs returns the runs that hold pairs, the newest first.
func (l *lsm) runs() (all []runs.Source) {
	if l.front > 0 {
		all = append(all, runs.Of(l.fronts[0].Row(l.tombstones), l.front))
	}
	for i := range l.levels {
		if l.full>>i&1 == 1 {
			all = append(all, runs.Of(l.levels[i].Row(l.tombstones), l.o.Batch<<i))
		}
	}
	return all
}

// timed records a stage of a long call, with timestamps if Options.Timed is set.
func (l *lsm) timed(stage string, record func() error) error {
	if !l.o.Timed {
		return record()
	}
	failed := new(error)
	l.core.Stream.Timed(stage, func() { *failed = record() })
	return *failed
}

// tell reports the progress of a call.
func tell(ctx context.Context, done, total int) {
	if told := gate.Told(ctx); told != nil {
		told(done, total)
	}
}

// distribute replaces the content by a run in other memory, all of whose pairs are valid. The largest level takes the
// smallest keys, and a rest of less than a batch becomes the front. The runs may take up to limit bytes of memory (0:
// no limit). distribute waits for the device. After an error nothing is changed.
func (l *lsm) distribute(run runs.Source, limit uint64) error {
	after := state{full: uint32(run.N / l.o.Batch), front: run.N % l.o.Batch}
	s := l.core.Stream
	var steps []step
	for i := range l.levels {
		if after.full>>i&1 == 1 {
			steps = append(steps, step{n: l.o.Batch << i, unit: i, lowest: i, to: i})
		}
	}
	if after.front > 0 {
		steps = append(steps, step{n: after.front, unit: front, to: front})
	}
	if err := l.reserveSteps(steps, false, limit); err != nil {
		return err
	}
	before := l.past()
	err := recording.Run(s, func() error {
		if err := l.begin(s); err != nil {
			return err
		}
		if err := l.setTombstones(s, false); err != nil {
			return err
		}
		return l.timed("distribute", func() error { return l.recordDistribution(run, after) })
	})
	if err != nil {
		l.restore(before)
		return err
	}
	l.core.Changes.Made()
	l.state, l.live, l.cleaned = after, run.N, run.N
	return nil
}

// recordDistribution records copies of parts of a run to the levels that become full, and to the front.
func (l *lsm) recordDistribution(run runs.Source, after state) error {
	s, q := l.core.Stream, l.core.Queries
	begin := 0
	for i := maxLevels - 1; i >= 0; i-- {
		if after.full>>i&1 == 0 {
			continue
		}
		n := l.o.Batch << i
		if err := q.Merge(s, runs.MergeArgs{Newer: run, Begin: begin, N: n, Out: l.levels[i].Row(false)}); err != nil {
			return err
		}
		begin += n
	}
	if after.front == 0 {
		return nil
	}
	row := l.fronts[0].Row(false)
	out := row
	out.Index = 0
	if err := q.Merge(s, runs.MergeArgs{Newer: run, Begin: begin, N: after.front, Out: out}); err != nil {
		return err
	}
	return q.BuildIndex(s, row.Keys, after.front, row.Index)
}

// giveBack frees memory that has no pairs and is not needed for a capacity of that many pairs.
func (l *lsm) giveBack(capacity int) {
	keep := map[**runs.Memory]bool{}
	for i := range l.levels {
		keep[&l.levels[i]] = l.full>>i&1 == 1 || l.o.Batch<<i <= capacity
		keep[&l.carries[i]] = l.o.Batch<<(i+1) <= capacity
	}
	keep[&l.fronts[0]] = l.front > 0 || capacity > 0
	keep[&l.fronts[1]] = capacity > 0
	keep[&l.partial] = capacity > 0
	for m, stays := range keep {
		if !stays {
			l.core.Drop(*m)
			*m = nil
		}
	}
	for i, m := range l.levels {
		if m == nil {
			l.begun &^= 1 << i
		}
	}
	l.core.Trim()
}

func (l *lsm) trim() error {
	if err := l.core.EnterAfterChanges(context.Background()); err != nil {
		return err
	}
	defer l.core.Leave()
	l.giveBack(l.o.Capacity)
	return nil
}

func (l *lsm) maintain(ctx context.Context) error {
	ctx, end := l.core.Progress.Begin(ctx)
	defer end()
	if err := l.core.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer l.core.Leave()
	return l.upkeep(ctx)
}

// upkeep is maintain for a caller that has entered.
func (l *lsm) upkeep(ctx context.Context) error {
	due, err := l.due(ctx)
	if err != nil || !due {
		return err
	}
	err = l.cleanUp(ctx, nil)
	if pipeline.Short(err) {
		return nil
	}
	return err
}

func (l *lsm) due(ctx context.Context) (bool, error) {
	all := l.pairs(l.o.Batch)
	switch p := l.o.Cleanup; {
	case p.doubled:
		return all >= 2*uint64(max(l.cleaned, l.o.Batch)), nil
	case p.stale > 0 && all > 0:
		live, err := l.count(ctx)
		return float64(all-live) > p.stale*float64(all), err
	}
	return false, nil
}

func (l *lsm) timings() []vk.Timing {
	leave, _ := l.core.Take()
	defer leave()
	return l.core.Stream.Timings()
}

func (l *lsm) stats(ctx context.Context) (Stats, error) {
	if err := l.core.EnterQuery(ctx); err != nil {
		return Stats{}, err
	}
	defer l.core.LeaveShared()
	pairs, tombstones, err := l.measure(ctx)
	if err != nil {
		return Stats{}, err
	}
	s := Stats{
		Pairs: pairs, Resident: l.pairs(l.o.Batch), Tombstones: tombstones, Batch: l.o.Batch, Front: l.front,
		Bytes: l.bytes() + l.core.ScratchBytes(),
	}
	if s.Resident > 0 {
		s.Stale = 1 - float64(s.Pairs)/float64(s.Resident)
	}
	for i := range l.levels {
		if l.full>>i&1 == 1 {
			s.Levels = append(s.Levels, Level{i, l.o.Batch << i})
		}
	}
	return s, nil
}
