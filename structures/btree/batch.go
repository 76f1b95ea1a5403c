package btree

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// UpdateOn records a batch of structures.Insert, InsertUnique or Delete from device buffers on a stream, and does not
// wait unless the tree may need more memory. The batch is sorted, and each node that it touches is changed once, without
// latches: nothing else may work on the tree meanwhile. The result is that of the operations one after the other, and
// the same in every run. Without a Status it is faster.
//
// Leaves that a deletion leaves without pairs go back to the pool, but for the first one beneath each parent.
//
// Errors: *structures.KindError, *structures.LengthError, *structures.CountError, *structures.LimitError,
// *vk.OutOfMemoryError, vk.ErrUnsubmitted (Finish), vk.ErrClosed, and what making a kernel may return. Then nothing of it
// will run: what is refused before its first command leaves the stream as it was, and after that the stream drops its batch.
func (t *Tree) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceUpdates) error {
	if err := t.gate.Enter(ctx); err != nil {
		return err
	}
	defer t.gate.Leave()
	switch kind {
	case structures.Insert, structures.InsertUnique, structures.Delete:
	default:
		return &structures.KindError{Kind: kind}
	}
	if u.Count > primitives.MaxLength {
		return &structures.CountError{What: "updates", N: u.Count, Most: primitives.MaxLength}
	}
	err := cmp.Or(t.d.Accept("stream", s), recording.NeedUpdates(t.d, kind, u))
	if err != nil || u.Count == 0 {
		return err
	}
	t.settle(s)
	if kind != structures.Delete && t.crowded(u.Count) {
		if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		if err := t.reserveBatched(ctx, u.Count); err != nil {
			return err
		}
	}
	t.changes++
	b := batched{Kind: kind, Keys: u.Keys.AddressOf(u.First), Statuses: u.Status.Address(), N: u.Count}
	if kind != structures.Delete {
		b.Values = u.Values.AddressOf(u.First)
	}
	err = t.on(s, func() error {
		for first := 0; first < u.Count; first += maxBatch {
			part := b
			part.Keys += uint64(4 * first)
			part.Values += uint64(4 * first)
			if b.Statuses != 0 {
				part.Statuses += uint64(first)
			}
			part.N = min(maxBatch, u.Count-first)
			if err := t.recordBatched(ctx, s, part); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		submitted(s, &t.batches.batched)
	}
	return err
}

// batched is a batch on the device. Kinds, a byte each, are those of a Mixed one: Insert, InsertUnique and Delete.
// Statuses, if not 0, are bytes, with room up to a multiple of 4. N is added to the word at Pending, if that is not 0,
// should the batch not be done because the pool is full.
type batched struct {
	Kind                          structures.Kind
	Kinds, Keys, Values, Statuses uint64
	Pending                       uint64
	N                             int
}

// maxBatch is how many operations are done at a time, a multiple of 4.
var maxBatch = 1 << 22

// leastShare is how many pairs each node gets at least when nodes are split. No less, so that a node makes another one
// only after having got so many.
const leastShare = Slots / 2

// share is how many pairs, or children, a node gets at least when nodes are split.
func (t *Tree) share() int { return max(leastShare, min(Slots, int(t.o.Fill*Slots+1e-9))) }

// batchedNodes returns how many nodes batches of n insertions may add to the tree, to what t.nodes counts: each node that
// was there when the tree was last counted may be split at once; every other one only after leastShare more pairs or
// children. headroom says that those are among them, so that the next batch needn't count them in again.
//
// Of a few operations it is less that each one splits a node of each level. So may each that was done beside others
// since; a guess of what these added is all that t.nodes has as long as there is no headroom.
func (t *Tree) batchedNodes(n int) (nodes uint64, headroom bool) {
	few := 15 * (uint64(n) + t.beside + 15)
	many := uint64(n)/(leastShare-1) + 64
	if !t.headroom {
		many += t.nodes + t.nodes/(leastShare-1)
	}
	if few < many {
		return few, t.headroom
	}
	return many, true
}

// crowded says whether the pool may be too full for a batch of n insertions, and if not, sets nodes aside for it.
func (t *Tree) crowded(n int) bool {
	extra, headroom := t.batchedNodes(n)
	if t.nodes+extra > t.slabs {
		return true
	}
	t.nodes, t.headroom, t.beside = t.nodes+extra, headroom, 0
	return false
}

// reserveBatched makes room in the pool for a batch of n insertions. Nothing may run that uses the tree.
func (t *Tree) reserveBatched(ctx context.Context, n int) error {
	if n == 0 || !t.crowded(n) { // deletions make no nodes
		return nil
	}
	if err := t.uses.Rest(ctx); err != nil {
		return err
	}
	stats, err := t.pool.Stats(ctx)
	if err != nil {
		return err
	}
	t.counted(stats)
	if !t.crowded(n) {
		return nil
	}
	extra, _ := t.batchedNodes(n)
	if err := t.pool.Grow(ctx, blocksFor(int(t.nodes+extra-t.slabs))); err != nil {
		return err
	}
	if stats, err = t.pool.Stats(ctx); err != nil {
		return err
	}
	t.slabs = uint64(stats.Slabs)
	if t.crowded(n) {
		return fmt.Errorf("btree: the pool has %d nodes after it has grown for %d operations", t.slabs, n)
	}
	return nil
}

// batch is Batch of shaders/btree/batch.glsl.
type batch struct {
	Keys, Payload, Values, Kinds, Marks uint64
	Count, Kind, Placed, Split          uint32
}

// work is Work of shaders/btree/batch.glsl.
type work struct {
	At       uint64
	Capacity uint32
	Level    uint32
	TopBits  uint32
	Group    uint32
}

const (
	workControl = 2048 // BATCH_CONTROL
	workLevel   = 64   // 1 << BATCH_LEVEL_SHIFT
	outputsArgs = 16   // BATCH_OUTPUTS_ARGS_AT
	splitArgs   = 28   // BATCH_SPLIT_ARGS_AT
	workElement = 40   // bytes of memory an element, beside the groups'
)

// batchShape is how the kernels of the batched path are laid out.
type batchShape struct {
	group int // invocations of a workgroup, which has as many elements
	tile  int // lanes that read their leaves together: 4 or 1
	halve int // invocations of a workgroup that goes over records of leaves
	alone int // those of one that has all to itself
}

// halveRow is how many bytes of shared memory an invocation takes that halves a leaf.
const halveRow = 272

func (t *Tree) batchShape() batchShape {
	info := t.d.Info()
	shape := batchShape{group: min(128, info.MaxWorkgroup), tile: 1, halve: min(128, info.MaxWorkgroup), alone: min(1024, info.MaxWorkgroup)}
	if t.tiles.walk > 1 {
		shape.tile = 4
	}
	for shape.halve > max(32, t.d.SubgroupSize()) && shape.halve*halveRow > info.SharedBytes {
		shape.halve /= 2
	}
	return shape
}

// marks is how many positions a workgroup marks (MARKS_GROUP).
func (s batchShape) marks() int { return 4 * s.group }

// aloneUpTo is how many new nodes a level may bring to leave all that is above to one workgroup.
var aloneUpTo = 2048

// wideLevels returns how many inner levels of a batch have dispatches of their own.
func wideLevels(n int) int {
	levels := 0
	for nodes := n / leastShare; nodes > aloneUpTo; nodes /= leastShare {
		levels++
	}
	return levels
}

// batchPlan is how the scratch of a batch is divided.
type batchPlan struct {
	top           uint64
	work          work
	keys, payload uint64
	places        uint64 // 0, 1, 2, …, before they are sorted
	sort          uint64
	marks         uint64
	free          uint64
	leaves        uint64
	statuses      uint64
	emptied       uint64
	empty, count  uint64 // keys of leaves that are empty, and how many
	compact       uint64
	bytes         int
}

func (t *Tree) batchPlan(b batched, shape batchShape, blocks, bits int, base uint64) batchPlan {
	p := recording.Parts{Base: base}
	var plan batchPlan
	n := b.N
	capacity := (n + 64 + 63) &^ 63
	groups := capacity/shape.group + 2
	plan.top = p.Take(topBytes(bits))
	plan.work = work{At: p.Take(workControl + workElement*capacity + 8*groups), Capacity: uint32(capacity), TopBits: uint32(bits), Group: uint32(shape.group)}
	plan.keys = p.Take(4 * n)
	plan.free = p.Take(8 * (blocks + 1))
	if b.payload() {
		plan.payload = p.Take(4 * n)
	}
	if b.placed() {
		plan.places = p.Take(4 * n)
	}
	if b.Kind != structures.Delete {
		plan.marks = p.Take(8*(n/32+1) + 8*(n/shape.marks()+2) + 4*(n/32+1))
	}
	plan.leaves = p.Take(4 * n)
	if b.Statuses != 0 {
		plan.statuses = p.Take(4 * n)
	}
	before, after := p, p
	plan.sort = before.Take(t.primitives.SortScratch(n, b.payload()))
	if b.deletes() {
		plan.emptied, plan.count = after.Take(4*(n/32+1+shape.group/32)), after.Take(4)
		plan.empty, plan.compact = after.Take(4*n), after.Take(t.primitives.CompactScratch(n))
	}
	plan.bytes = int(max(before.Used, after.Used))
	return plan
}

// placed says that positions of the sorted batch know their places, not their values.
func (b batched) placed() bool { return b.Statuses != 0 || b.Kind == structures.Mixed }

// payload says that keys are sorted with something beside them.
func (b batched) payload() bool { return b.placed() || b.Kind != structures.Delete }

func (b batched) deletes() bool { return b.Kind == structures.Delete || b.Kind == structures.Mixed }

type batchBeginPush struct {
	Tree          Device
	Control, Free uint64
}

type batchMarkPush struct{ Batch batch }

type batchSumPush struct {
	Pairs uint64
	Count uint32
}

type batchSumLeavesPush struct {
	Tree             Device
	Work             work
	Free             uint64
	Count, Splitting uint32
}

type batchLocatePush struct {
	Tree   Device
	Work   work
	Batch  batch
	Leaves uint64
}

type batchStatusPush struct {
	Tree             Device
	Work             work
	Batch            batch
	Leaves, Statuses uint64
}

type batchLeavesPush struct {
	Tree            Device
	Work            work
	Batch           batch
	Leaves, Emptied uint64
}

type batchInnerPush struct {
	Tree  Device
	Work  work
	Split uint32
}

type batchSplitLeavesPush struct {
	Tree  Device
	Work  work
	Batch batch
	Free  uint64
}

type batchSplitInnerPush struct {
	Tree  Device
	Work  work
	Free  uint64
	Split uint32
}

type batchFinishPush struct {
	Tree                   Device
	Work                   work
	Free                   uint64
	Split, Splitting, Most uint32
}

type batchEndPush struct {
	Tree                   Device
	Control, Free, Pending uint64
	Count                  uint32
}

type batchUnlinkPush struct {
	Tree        Device
	Keys, Count uint64
}

type batchPackPush struct {
	Words, Bytes uint64
	Count        uint32
}

// batchKernel returns a kernel of the batched path with so many invocations a workgroup, for groups of so many elements.
// One invocation goes over a node.
func batchKernel[P any](t *Tree, s *vk.Stream, module string, tile, workgroup, group int) (*vk.Kernel[P], error) {
	return recording.Kernel[P](t.kernels, s, "btree/batch_"+module, workgroup, recording.OverPool(t.pool.Constants(),
		recording.Constant("TILE", uint32(tile)), recording.Constant("BATCH_GROUP", uint32(group)))...)
}

// recordBatched records a batch of up to maxBatch operations, for which the pool has room.
func (t *Tree) recordBatched(ctx context.Context, s *vk.Stream, b batched) error {
	if b.N == 0 {
		return nil
	}
	r := batchRecorder{t: t, s: s, b: b, shape: t.batchShape(), tree: t.device()}
	blocks := int(r.tree.Pool.Blocks)
	bits := t.topBits(b.N)
	bytes := t.batchPlan(b, r.shape, blocks, bits, 0).bytes
	scratch, err := t.scratch.Take(s, bytes)
	if err != nil {
		return err
	}
	r.args = t.scratch.Of(s)
	r.plan = t.batchPlan(b, r.shape, blocks, bits, scratch)
	return r.record()
}

// batchRecorder records one batch.
type batchRecorder struct {
	t     *Tree
	s     *vk.Stream
	b     batched
	shape batchShape
	plan  batchPlan
	tree  Device
	batch batch
	args  vk.Memory // the scratch, which begins with the top and the control words
	err   error
}

// batchRun records a dispatch, unless one before has failed: of so many workgroups of a group each, or where at is not 0
// of as many as the control words at that byte say.
func batchRun[P any](r *batchRecorder, module string, groups, at int, push P) {
	if r.err != nil {
		return
	}
	workgroup, group := r.shape.group, r.shape.group
	switch module {
	case "finish", "sum_free", "sum_marks", "sum_leaves":
		workgroup = r.shape.alone
	case "split_leaves":
		workgroup = r.shape.halve
	}
	tile := 1
	if module == "apply_leaves" {
		tile = r.shape.tile
	}
	k, err := batchKernel[P](r.t, r.s, module, tile, workgroup, group)
	switch {
	case err != nil:
		r.err = err
	case at != 0:
		k.DispatchIndirect(r.s, r.args, int(r.plan.work.At-r.plan.top)+at, push)
	default:
		k.Dispatch(r.s, groups, push)
	}
}

func (r *batchRecorder) groups(n int) int { return (n + r.shape.group - 1) / r.shape.group }

func (r *batchRecorder) record() error {
	t, s, b, plan := r.t, r.s, r.b, r.plan
	n := b.N
	blocks := int(r.tree.Pool.Blocks)
	if b.placed() {
		r.err = t.primitives.Number(s, plan.places, n)
	}
	r.batch = batch{Keys: plan.keys, Payload: plan.payload, Kinds: b.Kinds, Marks: plan.marks, Count: uint32(n), Kind: uint32(b.Kind), Split: uint32(t.share())}
	sort := primitives.SortArgs{Keys: b.Keys, OutKeys: plan.keys, Length: primitives.Length{N: n}, Scratch: plan.sort}
	if b.payload() {
		sort.Values, sort.OutValues = b.Values, plan.payload
	}
	if b.placed() {
		sort.Values = plan.places
		r.batch.Values, r.batch.Placed = b.Values, 1
	}
	if r.err == nil {
		r.err = t.primitives.Sort(s, sort)
	}

	s.Concurrent(func() {
		batchRun(r, "begin", r.groups(max(blocks, workControl/4)), 0, batchBeginPush{r.tree, plan.work.At, plan.free})
		if b.Kind != structures.Delete {
			batchRun(r, "mark", n/r.shape.marks()+1, 0, batchMarkPush{r.batch})
		}
		if r.err == nil {
			_, r.err = t.recordTop(s, plan.top, int(plan.work.TopBits))
		}
	})
	s.Concurrent(func() {
		batchRun(r, "sum_free", 1, 0, batchSumPush{plan.free, uint32(blocks)})
		if b.Kind != structures.Delete {
			marks := plan.marks + 8*uint64(n/32+1)
			batchRun(r, "sum_marks", 1, 0, batchSumPush{marks, uint32(n/r.shape.marks() + 1)})
		}
		if b.Statuses != 0 {
			batchRun(r, "locate_statuses", r.groups(n), 0, batchStatusPush{r.tree, plan.work, r.batch, plan.leaves, plan.statuses})
		} else {
			batchRun(r, "locate_leaves", r.groups(n), 0, batchLocatePush{r.tree, plan.work, r.batch, plan.leaves})
		}
	})
	batchRun(r, "apply_leaves", r.groups(n), 0, batchLeavesPush{r.tree, plan.work, r.batch, plan.leaves, plan.emptied})
	batchRun(r, "sum_leaves", 1, 0, batchSumLeavesPush{r.tree, plan.work, plan.free, uint32(n), uint32(r.shape.halve)})
	batchRun(r, "split_leaves", 0, splitArgs, batchSplitLeavesPush{r.tree, plan.work, r.batch, plan.free})
	if b.Kind != structures.Delete { // which never makes a node (batch_nodes)
		r.inner()
		batchRun(r, "end", r.groups(blocks), 0, batchEndPush{r.tree, plan.work.At, plan.free, b.Pending, uint32(n)})
	}
	if b.deletes() && r.err == nil {
		r.err = t.primitives.Compact(s, primitives.CompactArgs{
			Keys: plan.keys, Flags: plan.emptied, OutKeys: plan.empty, OutCount: plan.count, Length: primitives.Length{N: n},
			Scratch: plan.compact,
		})
		batchRun(r, "unlink", r.groups(n), 0, batchUnlinkPush{r.tree, plan.empty, plan.count})
	}
	if b.Statuses != 0 && r.err == nil {
		k, err := recording.Kernel[batchPackPush](t.kernels, s, "runs/pack", 256)
		if r.err = err; err == nil {
			k.Dispatch(s, (n+255)/256, batchPackPush{plan.statuses, b.Statuses, uint32(n)})
		}
	}
	return r.err
}

// inner records the levels above the leaves. Of those whose batches may be large, each has dispatches of its own; the last
// of these levels is summed up, and those above it done, by one workgroup. That also goes for a level of which few new
// nodes come: then there is nothing to do for the dispatches that follow.
func (r *batchRecorder) inner() {
	w, free, split := r.plan.work, r.plan.free, r.batch.Split
	wide := wideLevels(r.b.N)
	if wide == 0 {
		w.Level = 1
		batchRun(r, "finish", 1, 0, batchFinishPush{r.tree, w, free, split, 0, 0})
	}
	for level := 1; level <= wide; level++ {
		w.Level = uint32(level)
		batchRun(r, "apply_inner", 0, (level-1)*workLevel+outputsArgs, batchInnerPush{r.tree, w, split})
		most := uint32(aloneUpTo)
		if level == wide {
			most = math.MaxUint32
		}
		batchRun(r, "finish", 1, 0, batchFinishPush{r.tree, w, free, split, uint32(r.shape.group), most})
		if level < wide {
			batchRun(r, "split_inner", 0, level*workLevel+splitArgs, batchSplitInnerPush{r.tree, w, free, split})
		}
	}
}
