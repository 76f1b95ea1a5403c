package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/fold"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

func (t *tree) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, u structures.DeviceBatch) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := checkUpdate(kind); err != nil {
		return err
	}
	if u.Count > primitives.MaxLength {
		return &structures.CountError{What: "updates", N: u.Count, Most: primitives.MaxLength}
	}
	err := cmp.Or(t.Device.Accept("stream", s), recording.NeedUpdates(t.Device, kind, u, t.width))
	if err == nil {
		t.Own.Done(s, u)
	}
	if err != nil || u.Count == 0 {
		return err
	}
	t.settle(s)
	claims, err := t.roomOn(ctx, s, kind, u.Count)
	if err == nil {
		err = t.keeps(ctx, s, u.Count)
	}
	if err != nil {
		return t.abandon(err, claims...)
	}
	b := batched{Kind: kind, Folds: kind.UpdatesInPlace(), Keys: t.at(u.Keys, u.First),
		Statuses: u.Status.Address(), N: u.Count, CountAt: u.DeviceCount.Address()}
	if kind != structures.Delete {
		b.Values = t.at(u.Values, u.First)
	}
	if err := t.writing(s, func() error { return t.recordBatches(ctx, s, b, claims) }); err != nil {
		return t.abandon(err, claims...)
	}
	for _, c := range claims {
		t.recorded(s, c)
	}
	t.Meter.Batch(kind, u.Count)
	submitted(s, &t.batches.batched)
	return nil
}

// roomOn makes room in the pool for a batch that will be recorded. If others share the pool, it returns claims for the
// parts of the batch. It waits for the stream if the pool may have to grow.
func (t *tree) roomOn(ctx context.Context, s *vk.Stream, kind structures.Kind, n int) ([]*claim, error) {
	if kind == structures.Delete {
		return nil, nil
	}
	full := t.Shares || t.known.unsure
	if !full {
		lacks, err := t.lacks(ctx, n, Batched)
		if err != nil {
			return nil, err
		}
		full = lacks != 0
	}
	if full {
		if err := s.Wait(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
	}
	if t.Shares {
		return t.claimsFor(ctx, n, maxBatch)
	}
	err := t.reserve(ctx, n, Batched)
	t.known.inserted += uint64(n)
	return nil, err
}

// recordBatches records a batch of any length. The pool must have room for it, or each part a claim.
func (t *tree) recordBatches(ctx context.Context, s *vk.Stream, b batched, claims []*claim) error {
	for first := 0; first < b.N; first += maxBatch {
		part := b
		part.Keys += uint64(t.width.Bytes() * first)
		part.Values += uint64(t.width.Bytes() * first)
		if b.Statuses != 0 {
			part.Statuses += uint64(first)
		}
		part.N = min(maxBatch, b.N-first)
		part.First = first
		if claims != nil {
			part.claim = claims[first/maxBatch]
		}
		if err := t.recordBatched(ctx, s, part); err != nil {
			return err
		}
	}
	return nil
}

// batched is a batch on the device, by addresses. Kinds has a byte for each operation of a Mixed batch. Folds says that
// there are updates in place, whose results depend on the values in the tree. Statuses, if not 0, has a byte for each
// operation, and room for a multiple of 4. If the batch is not done because the pool is full, N is added to the word at
// Pending, unless Pending is 0. CountAt, if not 0, is the address of the number of operations, including First
// operations of earlier parts; N is the most of this part.
type batched struct {
	Kind                          structures.Kind
	Folds                         bool
	Kinds, Keys, Values, Statuses uint64
	Pending                       uint64
	N                             int
	CountAt                       uint64
	First                         int
	claim                         *claim // in a shared pool: slabs for new nodes
}

// maxBatch is how many operations are done at once, a multiple of 4.
var maxBatch = 1 << 22

// share returns how many pairs or children a node gets at least in a split.
func (t *tree) share() int {
	g := t.geometry()
	leaf, _ := g.shares(t.o.Fill)
	return max(g.leastShare(), leaf)
}

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
