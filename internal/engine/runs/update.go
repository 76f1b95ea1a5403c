package runs

import (
	"github.com/vkds/vkds/internal/engine/fold"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Source is a run of N pairs as an operand of Merge.
type Source struct {
	Keys       uint64 // N keys, ascending
	Values     uint64 // N values; 0: all pairs are tombstones
	Tombstones uint64 // as in Row; 0: no pair that has a value is a tombstone
	N          int
}

// Of returns the run of a row of n pairs as a source.
func Of(r Row, n int) Source { return Source{r.Keys, r.Values, r.Tombstones, n} }

// MergeArgs are the operands of Merge.
type MergeArgs struct {
	Older, Newer Source
	// Begin and N select the pairs of the merged run that are written, as a run of their own: Begin … Begin+N-1.
	Begin, N int
	// Out is where they are written. If Tombstones is 0, no source may have tombstones, and both must have values. If
	// Index is 0, the run gets no index; otherwise N is a multiple of 32, and the words that fill the index up to whole
	// nodes were written before (FillIndex).
	Out     Row
	Scratch uint64 // MergeScratch bytes; 0: no scratch, which is slower for large runs
}

type mergeSource struct{ Keys, Values, Tombstones uint64 }

func (s Source) device() mergeSource { return mergeSource{s.Keys, s.Values, s.Tombstones} }

type mergePush struct {
	Older, Newer            mergeSource
	Keys, Values            uint64
	Tombstones, Index       uint64
	Splits                  uint64
	OlderCount, NewerCount  uint32
	Begin, Count, IndexSize uint32
}

type splitPush struct {
	A, B             uint64
	ALength, BLength recording.Length
	Splits           uint64
	Mask             uint64
	Tile             uint32
}

// mergeLayout is the layout of the merge kernel.
type mergeLayout struct {
	workgroup, items int
	// alone is the number of outputs up to which workgroups find their own tiles, without a dispatch before.
	alone int
}

func mergeLayoutFor(d *vk.Device) mergeLayout {
	return mergeLayout{workgroup: min(128, d.Info().MaxWorkgroup), items: 7, alone: 1 << 22}
}

func (m mergeLayout) tile() int { return m.workgroup * m.items }

// MergeScratch returns the bytes of scratch memory that Merge needs for up to n pairs.
func (q *Queries) MergeScratch(n int) int { return 4 * (max(n, 0)/q.merging.tile() + 2) }

// Merge records a merge of two runs into one, or into a part of one. Among equal keys, those of the older run come
// first. Nothing is dropped. Sections III-B and IV-A of the paper; the algorithm is that of primitives.Merge.
func (q *Queries) Merge(s *vk.Stream, a MergeArgs) error {
	for _, n := range []int{a.Older.N, a.Newer.N, a.N} {
		if err := check(n); err != nil {
			return err
		}
	}
	if a.N == 0 {
		return nil
	}
	o := q.merging
	var marks uint32
	if a.Out.Tombstones != 0 {
		marks = 1
	}
	// For a part of the output, and for a small output, each workgroup finds its own tile.
	var splits uint32
	if all := a.Older.N + a.Newer.N; a.Scratch != 0 && a.Begin == 0 && a.N == all && a.N > o.alone {
		splits = 1
	}
	k, err := q.of.merge[marks][splits].Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	if splits != 0 {
		split, err := q.of.split.Kernel(q.kernels, s)
		if err != nil {
			return err
		}
		split.Dispatch(s, groups(a.N/o.tile()+2, split.Workgroup()), splitPush{
			A: a.Older.Keys, B: a.Newer.Keys, ALength: recording.Length{N: uint32(a.Older.N)},
			BLength: recording.Length{N: uint32(a.Newer.N)}, Splits: a.Scratch, Mask: ^uint64(0),
			Tile: uint32(o.tile()),
		})
	}
	k.Dispatch(s, groups(a.N, o.tile()), mergePush{
		Older: a.Older.device(), Newer: a.Newer.device(),
		Keys: a.Out.Keys, Values: a.Out.Values, Tombstones: a.Out.Tombstones, Index: a.Out.Index, Splits: a.Scratch,
		OlderCount: uint32(a.Older.N), NewerCount: uint32(a.Newer.N), Begin: uint32(a.Begin), Count: uint32(a.N),
		IndexSize: uint32(IndexKeys(q.w, a.N)),
	})
	return nil
}

type markPush struct {
	Keys, Values, Tombstones, Flags uint64
	Count                           uint32
}

const (
	markWorkgroup = 128
	markEach      = 8 // pairs of an invocation: EACH of mark.comp
)

// Mark records the search for the valid pairs of a run, if there is no other run: the last pair of each key, unless it
// is a tombstone. It writes a bit for each pair, in groups of 32.
func (q *Queries) Mark(s *vk.Stream, run Source, flags uint64) error {
	if err := check(run.N); err != nil {
		return err
	}
	k, err := q.of.mark.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(run.N, markEach*markWorkgroup), markPush{run.Keys, run.Values, run.Tombstones, flags,
		uint32(run.N)})
	return nil
}

// Ranges are ranges of keys in device memory, which must ascend and not overlap.
type Ranges struct {
	At uint64 // two keys each, aligned to the size of both: the least and the greatest one, both inclusive
	N  int
}

type withoutPush struct {
	Keys, Flags, Ranges uint64
	Count, All          uint32
}

// Without records that the flags of pairs whose keys lie in ranges are cleared. There is a bit for each pair, in groups
// of 32.
func (q *Queries) Without(s *vk.Stream, run Source, ranges Ranges, flags uint64) error {
	if run.N == 0 || ranges.N == 0 {
		return nil
	}
	k, err := q.of.without.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(groups(run.N, 32), k.Workgroup()), withoutPush{run.Keys, flags, ranges.At, uint32(run.N),
		uint32(ranges.N)})
	return nil
}

// OutcomesArgs are the operands of Outcomes.
type OutcomesArgs struct {
	Kind     structures.Kind // Insert or Delete
	Keys     uint64          // the key of each operation
	Statuses uint64          // out: a byte for each operation; room for N rounded up to a multiple of 4
	N        int
	Scratch  uint64 // OutcomesScratch bytes
}

type outcomePush struct {
	Keys, Sources, Found, Outcomes, Kinds uint64
	Count, Kind                           uint32
}

type packPush struct {
	Words, Bytes uint64
	Count        recording.Length
}

// outcomesPlan is the division of the scratch memory of Outcomes.
type outcomesPlan struct {
	keys, sources uint64
	indices, sort uint64 // at first
	values, found uint64 // then, in the same memory
	outcomes      uint64
	bytes         uint64
}

func (q *Queries) outcomesPlan(n int, scratch uint64) outcomesPlan {
	var o outcomesPlan
	p := recording.Parts{Base: scratch}
	o.keys, o.sources = p.Take(q.bytes*n), p.Take(4*n)
	first, then := p, p
	numbered := primitives.SortArgs{Length: primitives.Length{N: n}, Values: recording.Align, Widths: q.numbered()}
	o.indices, o.sort = first.Take(4*n), first.Take(q.p.Scratch(numbered))
	o.values, o.found = then.Take(q.bytes*n), then.Take(4*groups(n, 4))
	o.outcomes = o.values
	o.bytes = max(first.Used, then.Used)
	return o
}

// OutcomesScratch returns the bytes of scratch memory that Outcomes needs for up to n operations.
func (q *Queries) OutcomesScratch(n int) int {
	return int(q.outcomesPlan(max(0, min(n, MaxQueries)), 0).bytes)
}

// Outcomes records the computing of the statuses that a batch of insertions or deletions will have, as if its
// operations were done one after the other. It changes only the statuses.
func (q *Queries) Outcomes(s *vk.Stream, st Stack, a OutcomesArgs) error {
	if err := check(a.N); err != nil || a.N == 0 {
		return err
	}
	o := q.outcomesPlan(a.N, a.Scratch)
	if err := q.meet(s, st, a.Keys, a.N, o); err != nil {
		return err
	}
	return q.tell(s, a.Kind, 0, a.Statuses, a.N, o)
}

// meet records the lookup of each key of a batch in the stack, in key order.
func (q *Queries) meet(s *vk.Stream, st Stack, keys uint64, n int, o outcomesPlan) error {
	if err := q.p.Iota(s, o.indices, n); err != nil {
		return err
	}
	err := q.p.Sort(s, primitives.SortArgs{
		Keys: keys, Values: o.indices, OutKeys: o.keys, OutValues: o.sources,
		Length: primitives.Length{N: n}, Widths: q.numbered(), Scratch: o.sort,
	})
	if err != nil {
		return err
	}
	return q.Find(s, st, FindArgs{Keys: o.keys, Values: o.values, Found: o.found, N: n})
}

// tell records the computing of the statuses of a batch from the results of meet. It overwrites the values that meet
// found. kinds is for a Mixed batch.
func (q *Queries) tell(s *vk.Stream, kind structures.Kind, kinds, statuses uint64, n int, o outcomesPlan) error {
	outcome, err := q.of.outcome.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	pack, err := q.of.pack.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	outcome.Dispatch(s, groups(n, outcome.Workgroup()), outcomePush{o.keys, o.sources, o.found, o.outcomes, kinds,
		uint32(n), uint32(kind)})
	pack.Dispatch(s, groups(n, pack.Workgroup()), packPush{o.outcomes, statuses, recording.Length{N: uint32(n)}})
	return nil
}

// FoldArgs are the operands of Fold.
type FoldArgs struct {
	Type     saved.Type      // of values
	Kind     structures.Kind // a kind that updates in place, InsertUnique, or Mixed for these and Insert
	Keys     uint64          // the key of each operation
	Values   uint64          // its value
	Kinds    uint64          // its kind, a byte; for Mixed only
	Statuses uint64          // out: a byte for each operation; room for N rounded up to a multiple of 4; or 0
	N        int
	Scratch  uint64 // FoldScratch bytes
}

// foldPlan is the division of the scratch memory of Fold.
type foldPlan struct {
	outcomesPlan
	folded, fold uint64
}

func (q *Queries) foldPlan(n int, scratch uint64) foldPlan {
	f := foldPlan{outcomesPlan: q.outcomesPlan(n, scratch)}
	p := recording.Parts{Base: scratch, Used: f.bytes}
	f.folded, f.fold = p.Take(q.bytes*n), p.Take(fold.Scratch(n))
	f.bytes = p.Used
	return f
}

// FoldScratch returns the bytes of scratch memory that Fold needs for up to n operations.
func (q *Queries) FoldScratch(n int) int {
	return int(q.foldPlan(max(0, min(n, MaxQueries)), 0).bytes)
}

// Fold records the computing of a batch whose values depend on those that are there: the statuses, as in Outcomes, and
// N insertions with the same result as the batch. It returns the keys and values of these insertions, which are in the
// scratch memory, in key order. Among equal keys, the value of the last one stays.
func (q *Queries) Fold(s *vk.Stream, st Stack, a FoldArgs) (keys, values uint64, err error) {
	if err := check(a.N); err != nil || a.N == 0 {
		return 0, 0, err
	}
	f := q.foldPlan(a.N, a.Scratch)
	if err := q.meet(s, st, a.Keys, a.N, f.outcomesPlan); err != nil {
		return 0, 0, err
	}
	err = fold.Record(q.kernels, s, fold.Args{
		Width: q.w, Type: a.Type, Kind: a.Kind, Keys: f.keys, Sources: f.sources, Values: a.Values, Kinds: a.Kinds,
		Old: f.values, Found: f.found,
		OutValues: f.folded, N: a.N, Scratch: f.fold,
	})
	if err == nil && a.Statuses != 0 {
		err = q.tell(s, a.Kind, a.Kinds, a.Statuses, a.N, f.outcomesPlan)
	}
	return f.keys, f.folded, err
}

type rowPush struct {
	Rows uint64
	Row  Row
	At   uint32
}

// SetRow records that a row of a stack's array is set to r.
func (q *Queries) SetRow(s *vk.Stream, rows uint64, row int, r Row) error {
	k, err := q.of.row.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, 1, rowPush{rows, r, uint32(row)})
	return nil
}

type validPush struct {
	Stack        Stack
	Counters     uint64
	First, Count uint32
}

// ValidCounters is the number of words that CountValid adds to: pairs of words, first the valid pairs, then the
// tombstones.
const ValidCounters = 2 * 64

// CountValid records the counting of the valid pairs and of the tombstones among the pairs first … first+n-1 of a
// stack, numbered through all rows. The counts are added to the words at counters. The results are the sums of these
// words.
func (q *Queries) CountValid(s *vk.Stream, st Stack, first, n int, counters uint64) error {
	if err := check(n); err != nil {
		return err
	}
	k, err := q.of.survey.Kernel(q.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(n, k.Workgroup()), validPush{st, counters, uint32(first), uint32(n)})
	return nil
}
