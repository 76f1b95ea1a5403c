package btree

import (
	"math"

	"github.com/vkds/vkds/internal/engine/fold"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// stager has what all stages of a batch need.
type stager struct {
	s       *vk.Stream
	kernels *recording.Kernels
	width   structures.Width
	device  *vk.Device
	shared  bool // others share the pool
	keeps   bool // snapshots are open
	shape   batchShape
	plan    batchPlan
	batch   batch
	args    vk.Memory // the scratch memory, which begins with the prefix index and the control words
	err     error
}

// layout returns the invocations of a workgroup of a stage, and the lanes that read a node together.
type layout func(s batchShape) (workgroup, tile int)

func elements(s batchShape) (workgroup, tile int) { return s.group, 1 }
func leaves(s batchShape) (workgroup, tile int)   { return s.group, s.tile }
func halves(s batchShape) (workgroup, tile int)   { return s.halve, 1 }
func alone(s batchShape) (workgroup, tile int)    { return s.alone, 1 }

// stage is one step of a batch: a kernel of shaders/btree and its layout.
type stage[P any] struct {
	module string
	layout layout
	kinds  bool // the kernel is specialized for the kind of the batch
	words  bool // it uses no keys, and one module serves all widths
	splits bool // it splits leaves: the module depends on open snapshots
}

// The stages, in order. Those of inner nodes run once for each level.
var (
	stageCount          = stage[batchCountPush]{module: "count", layout: elements, words: true}
	stageBegin          = stage[batchBeginPush]{module: "begin", layout: elements, words: true}
	stageMark           = stage[batchMarkPush]{module: "mark", layout: elements}
	stageSumFree        = stage[batchSumPush]{module: "sum_free", layout: alone, words: true}
	stageSumMarks       = stage[batchSumPush]{module: "sum_marks", layout: alone, words: true}
	stageLocateLeaves   = stage[batchLocatePush]{module: "locate_leaves", layout: elements}
	stageLocateStatuses = stage[batchStatusPush]{module: "locate_statuses", layout: elements}
	stageMeet           = stage[batchMeetPush]{module: "meet", layout: elements}
	stageApplyLeaves    = stage[batchLeavesPush]{module: "apply_leaves", layout: leaves, kinds: true}
	stageSumLeaves      = stage[batchSumLeavesPush]{module: "sum_leaves", layout: alone}
	stageSplitLeaves    = stage[batchSplitLeavesPush]{module: "split_leaves", layout: halves, splits: true}
	stageApplyInner     = stage[batchInnerPush]{module: "apply_inner", layout: elements}
	stageFinish         = stage[batchFinishPush]{module: "finish", layout: alone}
	stageSplitInner     = stage[batchSplitInnerPush]{module: "split_inner", layout: elements}
	stageEnd            = stage[batchEndPush]{module: "end", layout: elements, words: true}
	stageUnlink         = stage[batchUnlinkPush]{module: "unlink", layout: elements}
)

// run records groups workgroups of a stage, unless an earlier stage has failed.
func (g stage[P]) run(r *stager, groups int, push P) {
	if k := g.kernel(r); k != nil {
		k.Dispatch(r.s, groups, push)
	}
}

// runCounted records a stage whose number of workgroups is in the control words, at byte at.
func (g stage[P]) runCounted(r *stager, at int, push P) {
	if k := g.kernel(r); k != nil {
		k.DispatchIndirect(r.s, r.args, (int(r.plan.work.At-r.plan.index)+at)/4, push)
	}
}

func (g stage[P]) kernel(r *stager) (k *vk.Kernel[P]) {
	if r.err != nil {
		return nil
	}
	if k, r.err = g.spec(r).Kernel(r.kernels, r.s); r.err != nil {
		return nil
	}
	return k
}

// spec describes the stage's kernel.
func (g stage[P]) spec(r *stager) recording.Spec[P] {
	workgroup, tile := g.layout(r.shape)
	constants := []recording.Specialization{recording.Constant("TILE", uint32(tile)),
		recording.Constant("BATCH_GROUP", uint32(r.shape.group)), recording.Constant("SHARED", word(r.shared))}
	if g.kinds {
		constants = append(constants, recording.Constant("KIND", r.batch.How&howKind))
	}
	module := "btree/batch_" + g.module
	if !g.words {
		module = recording.Sized(module, r.width)
	}
	if g.splits {
		module = recording.ByLoops(r.device, keeping(module, r.keeps))
	}
	return recording.OfPool[P](module, workgroup, constants...)
}

func (r *batchRecorder) groups(n int) int { return (n + r.shape.group - 1) / r.shape.group }

func (r *batchRecorder) record() error {
	r.count()
	r.sort()
	if r.err == nil {
		r.err = r.t.recordPrefixes(r.s, r.plan.index, int(r.plan.work.IndexBits),
			askedFor{keys: r.plan.keys, number: recording.Length{At: r.length.At, N: uint32(r.b.N)}})
	}
	r.s.Concurrent(r.begin)
	r.s.Concurrent(r.locate)
	r.keep()
	if r.b.Folds {
		r.fold()
	}
	r.leaves()
	if r.b.Kind != structures.Delete { // a deletion never makes a node (batch_nodes)
		r.inner()
		blocks := int(r.tree.Pool.Blocks)
		stageEnd.run(&r.stager, r.groups(blocks),
			batchEndPush{r.tree, r.plan.work.At, r.plan.free, r.b.Pending, uint32(r.b.N)})
		if r.b.claim != nil && r.err == nil {
			r.err = r.t.recordGiveBack(r.s, r.b.claim, r.plan.free, 0)
		}
	}
	if r.b.deletes() && !r.t.versions.protect() { // a removed leaf would lose its versions
		r.unlink()
	}
	if r.b.Statuses != 0 {
		r.pack()
	}
	return r.err
}

// count writes the number of operations, if only the device knows it.
func (r *batchRecorder) count() {
	if r.length.At != 0 {
		stageCount.run(&r.stager, 1, batchCountPush{r.b.CountAt, r.length.At, uint32(r.b.First)})
	}
}

// sort sorts the keys, with their values or the indices of their operations.
func (r *batchRecorder) sort() {
	t, b, plan := r.t, r.b, r.plan
	if b.indexed() {
		r.err = t.primitives.Iota(r.s, plan.sources, b.N)
	}
	r.batch = batch{
		Keys: plan.keys, Payload: plan.payload, Kinds: b.Kinds, Marks: plan.marks, Count: uint32(b.N),
		How: uint32(b.Kind) | uint32(t.share())<<howShare,
	}
	if r.length.At != 0 {
		r.batch.How |= howCounted
	}
	sort := primitives.SortArgs{Keys: b.Keys, OutKeys: plan.keys, Length: primitives.Length{N: b.N, At: r.length.At},
		Widths: t.sortWidths(b), Scratch: plan.sort}
	if b.payload() {
		sort.Values, sort.OutValues = b.Values, plan.payload
	}
	if b.indexed() {
		sort.Values = plan.sources
		r.batch.Values = b.Values
		r.batch.How |= howIndexed
	}
	if r.err == nil {
		r.err = t.primitives.Sort(r.s, sort)
	}
}

// begin clears the control words, counts the free slabs of each block, and marks the first operation of each key.
func (r *batchRecorder) begin() {
	plan, blocks := r.plan, int(r.tree.Pool.Blocks)
	stageBegin.run(&r.stager, r.groups(max(blocks, workControl/4)), batchBeginPush{r.tree, plan.work.At, plan.free})
	if !r.b.Folds {
		r.mark()
	}
	if r.err == nil {
		_, r.err = r.t.recordEntries(r.s, indexModule, plan.index, int(plan.work.IndexBits), prefixIndex{})
	}
}

// locate sums the counts of begin, and finds the leaf of each key.
func (r *batchRecorder) locate() {
	plan, n := r.plan, r.b.N
	if !r.t.Shares {
		stageSumFree.run(&r.stager, 1, batchSumPush{plan.free, r.tree.Pool.Blocks})
	}
	if !r.b.Folds {
		r.sumMarks()
	}
	if r.b.Statuses != 0 {
		stageLocateStatuses.run(&r.stager, r.groups(n),
			batchStatusPush{r.tree, plan.work, r.batch, plan.leaves, plan.statuses})
	} else {
		stageLocateLeaves.run(&r.stager, r.groups(n), batchLocatePush{r.tree, plan.work, r.batch, plan.leaves})
	}
}

// keep makes versions of the leaves that will change, if snapshots are open.
func (r *batchRecorder) keep() {
	if r.err == nil && r.t.versions.protect() {
		r.err = r.t.recordKeep(r.s, updated{leaves: r.plan.leaves, stride: 1,
			number: recording.Length{N: uint32(r.b.N)}}, prefixIndex{})
	}
}

// mark marks the first operation of each key.
func (r *batchRecorder) mark() {
	if r.b.Kind != structures.Delete {
		stageMark.run(&r.stager, r.b.N/r.shape.marks()+1, batchMarkPush{r.batch})
	}
}

// sumMarks sums the marks.
func (r *batchRecorder) sumMarks() {
	if n := r.b.N; r.b.Kind != structures.Delete {
		marks := r.plan.marks + 8*uint64(n/32+1)
		stageSumMarks.run(&r.stager, 1, batchSumPush{marks, uint32(n/r.shape.marks() + 1)})
	}
}

// fold replaces a batch with updates in place by an equivalent one of insertions, or of insertions and deletions: the
// last operation of each key has the resulting value, and the others have no effect.
func (r *batchRecorder) fold() {
	b, plan, n := &r.batch, r.plan, r.b.N
	stageMeet.run(&r.stager, r.groups(n), batchMeetPush{r.tree, *b, plan.leaves, plan.met, plan.found})
	if r.err != nil {
		return
	}
	a := fold.Args{
		Width: r.t.width, Type: r.t.columns.Values.Type,
		Kind: r.b.Kind, Keys: plan.keys, Sources: plan.payload, Values: r.b.Values, Kinds: r.b.Kinds, Old: plan.met,
		Found:     plan.found,
		OutValues: plan.folded, N: n, CountAt: r.length.At, Scratch: plan.fold,
	}
	if r.b.Kind == structures.Mixed {
		a.OutKinds = plan.kinds
		b.Payload, b.Values, b.Kinds = plan.sources, plan.folded, plan.kinds // each position is its own index
	} else {
		b.How = uint32(structures.Insert) | uint32(r.t.share())<<howShare | b.How&howCounted
		b.Payload, b.Values = plan.folded, 0
	}
	r.err = fold.Record(r.t.Kernels, r.s, a)
	r.mark()
	r.sumMarks()
}

// leaves changes the leaves, and splits those that are too full.
func (r *batchRecorder) leaves() {
	plan, n := r.plan, r.b.N
	stageApplyLeaves.run(&r.stager, r.groups(n), batchLeavesPush{r.tree, plan.work, r.batch, plan.leaves, plan.emptied})
	stageSumLeaves.run(&r.stager, 1, batchSumLeavesPush{r.tree, plan.work, plan.free, uint32(n), uint32(r.shape.halve)})
	stageSplitLeaves.runCounted(&r.stager, splitArgs, batchSplitLeavesPush{r.tree, plan.work, r.batch, plan.free})
}

// unlink frees leaves without pairs.
func (r *batchRecorder) unlink() {
	if r.err != nil {
		return
	}
	plan, n := r.plan, r.b.N
	r.err = r.t.primitives.Compact(r.s, primitives.CompactArgs{
		Keys: plan.keys, Flags: plan.emptied, OutKeys: plan.empty, OutCount: plan.count,
		Length: primitives.Length{N: n}, Widths: primitives.Widths{Key: r.t.width},
		Scratch: plan.compact,
	})
	stageUnlink.run(&r.stager, r.groups(n), batchUnlinkPush{r.tree, plan.empty, plan.count})
}

// pack writes the statuses as bytes.
func (r *batchRecorder) pack() {
	if r.err != nil {
		return
	}
	k, err := packKernel().Kernel(r.kernels, r.s)
	if r.err = err; err == nil {
		k.Dispatch(r.s, (r.b.N+k.Workgroup()-1)/k.Workgroup(), batchPackPush{r.plan.statuses, r.b.Statuses, r.length})
	}
}

// inner records the levels above the leaves. Each level whose batch may be large has its own dispatches. One workgroup
// does the levels above the last of these. It also does all levels above a level with few new nodes; the dispatches of
// those levels then have nothing to do.
func (r *batchRecorder) inner() {
	w, free, split := r.plan.work, r.plan.free, uint32(max(r.t.share(), minChildren))
	wide := r.t.geometry().wideLevels(r.b.N)
	if wide == 0 {
		w.Level = 1
		stageFinish.run(&r.stager, 1, batchFinishPush{r.tree, w, free, split, 0, 0})
	}
	for level := 1; level <= wide; level++ {
		w.Level = uint32(level)
		stageApplyInner.runCounted(&r.stager, (level-1)*workLevel+outputsArgs, batchInnerPush{r.tree, w, split})
		most := uint32(aloneUpTo)
		if level == wide {
			most = math.MaxUint32
		}
		stageFinish.run(&r.stager, 1, batchFinishPush{r.tree, w, free, split, uint32(r.shape.group), most})
		if level < wide {
			stageSplitInner.runCounted(&r.stager, level*workLevel+splitArgs,
				batchSplitInnerPush{r.tree, w, free, split})
		}
	}
}
