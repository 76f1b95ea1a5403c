package btree

import (
	"context"
	"math"

	"github.com/vkds/vkds/internal/engine/fold"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// batch is PushedBatch of shaders/btree/batch.glsl.
type batch struct {
	Keys, Payload, Values, Kinds, Marks uint64
	Count, How                          uint32
}

// The bits of How.
const (
	howKind    = 1<<8 - 1
	howIndexed = 1 << 8 // the payload has indices of operations
	howCounted = 1 << 9 // the word after the keys is their number
	howShare   = 16     // the first bit of the least number of pairs of a split node
)

// work is Work of shaders/btree/batch.glsl.
type work struct {
	At        uint64
	Capacity  uint32
	Level     uint32
	IndexBits uint32
	Group     uint32
}

const (
	workControl = 2048 // BATCH_CONTROL
	workLevel   = 64   // 1 << BATCH_LEVEL_SHIFT
	outputsArgs = 16   // BATCH_OUTPUTS_ARGS_AT
	splitArgs   = 28   // BATCH_SPLIT_ARGS_AT
)

// workElement is how many bytes of memory each element takes, besides those of the groups (batch_groups).
var workElement = [...]int{structures.Bits32: 40, structures.Bits64: 48}

// batchShape is the layout of the kernels of the batched path.
type batchShape struct {
	group int // invocations of a workgroup, and its elements
	tile  int // lanes that read a leaf together: 4 or 1
	halve int // invocations of a workgroup that splits leaves
	alone int // invocations of a dispatch with one workgroup
}

// halveRow is how many bytes of shared memory an invocation that splits a leaf takes.
const halveRow = 280

func (t *tree) batchShape() batchShape {
	info := t.Device.Info()
	shape := batchShape{group: min(128, info.MaxWorkgroup), tile: 1, halve: min(128, info.MaxWorkgroup),
		alone: min(1024, info.MaxWorkgroup)}
	if info.Type == vk.CPU { // which runs a workgroup on one core, and each of its invocations up to each barrier
		shape.alone = shape.group
	}
	if t.tiles.walk > 1 {
		shape.tile = 4
	}
	for shape.halve > max(32, t.Device.SubgroupSize()) && shape.halve*halveRow > info.SharedBytes {
		shape.halve /= 2
	}
	return shape
}

// marks returns how many positions a workgroup marks (MARKS_GROUP).
func (s batchShape) marks() int { return 4 * s.group }

// aloneUpTo is how many new nodes of a level one workgroup inserts into the levels above, without further dispatches.
var aloneUpTo = 2048

// wideLevels returns how many inner levels of a batch have their own dispatches.
func (g geometry) wideLevels(n int) int {
	levels := 0
	for nodes := n / g.leastShare(); nodes > aloneUpTo; nodes /= g.leastShare() {
		levels++
	}
	return levels
}

// batchPlan is the division of the scratch memory of a batch.
type batchPlan struct {
	index         uint64
	work          work
	keys, payload uint64
	sources       uint64 // the indices of the unsorted batch: 0, 1, 2, …
	sort          uint64
	marks         uint64
	free          uint64
	leaves        uint64
	statuses      uint64
	met, found    uint64 // for each key, its value before the batch, and whether it was there
	folded, kinds uint64 // the combined operation of each key
	fold          uint64
	emptied       uint64
	empty, count  uint64 // keys of empty leaves, and their number
	compact       uint64
	bytes         int
}

func (t *tree) batchPlan(b batched, shape batchShape, blocks, bits int, base uint64) batchPlan {
	p := recording.Parts{Base: base}
	var plan batchPlan
	n, each := b.N, t.width.Bytes()
	capacity := (n + 64 + 63) &^ 63
	groups := capacity/shape.group + 2
	plan.index = p.Take(t.indexBytes(bits))
	plan.work = work{At: p.Take(workControl + workElement[t.width]*capacity + 8*groups), Capacity: uint32(capacity),
		IndexBits: uint32(bits), Group: uint32(shape.group)}
	plan.keys = p.Take(each * (n + 1))
	plan.free = p.Take(8 * (blocks + 1))
	if b.payload() {
		plan.payload = p.Take(each * n)
	}
	if b.indexed() {
		plan.sources = p.Take(4 * n)
	}
	if b.Kind != structures.Delete {
		plan.marks = p.Take(8*(n/32+1) + 8*(n/shape.marks()+2) + 4*(n/32+1))
	}
	plan.leaves = p.Take(4 * n)
	if b.Statuses != 0 {
		plan.statuses = p.Take(4 * n)
	}
	if b.Folds {
		plan.folded, plan.kinds = p.Take(each*n), p.Take(recording.Padded(n))
	}
	before, between, after := p, p, p
	sort := primitives.SortArgs{Length: primitives.Length{N: n}, Widths: t.sortWidths(b)}
	if b.payload() {
		sort.Values = recording.Align
	}
	plan.sort = before.Take(t.primitives.Scratch(sort))
	if b.Folds {
		plan.met, plan.found = between.Take(each*n), between.Take(recording.Padded(n))
		plan.fold = between.Take(fold.Scratch(n))
	}
	if b.deletes() {
		plan.emptied, plan.count = after.Take(4*(n/32+1+shape.group/32)), after.Take(4)
		plan.empty, plan.compact = after.Take(each*n), after.Take(t.primitives.Scratch(primitives.CompactArgs{}))
	}
	plan.bytes = int(max(before.Used, between.Used, after.Used))
	return plan
}

// indexed reports whether keys are sorted with the indices of their operations, not with values.
func (b batched) indexed() bool { return b.Statuses != 0 || b.Folds || b.Kind == structures.Mixed }

// sortWidths returns the widths of the keys of a batch and of what is sorted with them: values or indices.
func (t *tree) sortWidths(b batched) primitives.Widths {
	if b.indexed() || !b.payload() {
		return primitives.Widths{Key: t.width}
	}
	return t.widths()
}

// payload reports whether anything is sorted with the keys.
func (b batched) payload() bool { return b.indexed() || b.Kind != structures.Delete }

func (b batched) deletes() bool { return b.Kind == structures.Delete || b.Kind == structures.Mixed }

type batchCountPush struct {
	Count, Behind uint64
	First         uint32
}

type batchBeginPush struct {
	Tree          Description
	Control, Free uint64
}

type batchMarkPush struct{ Batch batch }

type batchSumPush struct {
	Pairs uint64
	Count uint32
}

type batchSumLeavesPush struct {
	Tree             Description
	Work             work
	Free             uint64
	Count, Splitting uint32
}

type batchLocatePush struct {
	Tree   Description
	Work   work
	Batch  batch
	Leaves uint64
}

type batchStatusPush struct {
	Tree             Description
	Work             work
	Batch            batch
	Leaves, Statuses uint64
}

type batchMeetPush struct {
	Tree                  Description
	Batch                 batch
	Leaves, Values, Found uint64
}

type batchLeavesPush struct {
	Tree            Description
	Work            work
	Batch           batch
	Leaves, Emptied uint64
}

type batchInnerPush struct {
	Tree  Description
	Work  work
	Split uint32
}

type batchSplitLeavesPush struct {
	Tree  Description
	Work  work
	Batch batch
	Free  uint64
}

type batchSplitInnerPush struct {
	Tree  Description
	Work  work
	Free  uint64
	Split uint32
}

type batchFinishPush struct {
	Tree                   Description
	Work                   work
	Free                   uint64
	Split, Splitting, Most uint32
}

type batchEndPush struct {
	Tree                   Description
	Control, Free, Pending uint64
	Count                  uint32
}

type batchUnlinkPush struct {
	Tree        Description
	Keys, Count uint64
}

type batchPackPush struct {
	Words, Bytes uint64
	Count        recording.Length
}

// recordBatched records a batch of up to maxBatch operations. The pool must have room for it.
func (t *tree) recordBatched(ctx context.Context, s *vk.Stream, b batched) error {
	if b.N == 0 {
		return nil
	}
	r := t.batchRecorder(s, b)
	r.begins()
	r.tree = t.description()
	blocks := int(r.tree.Pool.Blocks)
	bits := t.indexBits(b.N)
	bytes := t.batchPlan(b, r.shape, blocks, bits, 0).bytes
	scratch, err := t.scratch.Take(s, bytes)
	if err != nil {
		return err
	}
	r.args = t.scratch.Of(s)
	r.plan = t.batchPlan(b, r.shape, blocks, bits, scratch)
	r.length = recording.Length{N: uint32(b.N)}
	if b.CountAt != 0 {
		r.length.At = r.plan.keys + uint64(t.width.Bytes()*b.N)
	}
	if b.claim != nil {
		r.plan.free = b.claim.address()
	}
	return r.record()
}

func (t *tree) batchRecorder(s *vk.Stream, b batched) batchRecorder {
	return batchRecorder{t: t, b: b, stager: stager{
		s: s, kernels: t.Kernels, device: t.Device, width: t.width, shared: t.Shares, shape: t.batchShape(),
		keeps: t.versions.protect(),
	}}
}

// begins begins to make the kernels of the batch, if it is the first one of its form.
func (r *batchRecorder) begins() {
	form := int(r.b.Kind)<<2 | int(word(r.b.Statuses != 0))<<1 | int(word(r.keeps))
	r.t.ahead.Begin(r.kernels, form, r.needs)
}

// batchRecorder records one batch.
type batchRecorder struct {
	stager
	t      *tree
	b      batched
	length recording.Length // the number of operations
	tree   Description
}

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
	own    func(r *stager) recording.Specialization // a specialization constant of this stage only, or nil
	words  bool                                     // the kernel uses no keys, and one module serves all widths
	splits bool                                     // it splits leaves: the module depends on open snapshots
}

// byKind specializes a kernel for the kind of the batch.
func byKind(r *stager) recording.Specialization {
	return recording.Constant("KIND", r.batch.How&howKind)
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
	stageApplyLeaves    = stage[batchLeavesPush]{module: "apply_leaves", layout: leaves, own: byKind}
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
		k.DispatchIndirect(r.s, r.args, int(r.plan.work.At-r.plan.index)+at, push)
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
	if g.own != nil {
		constants = append(constants, g.own(r))
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
