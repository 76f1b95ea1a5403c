package btree

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// check returns an error if a concurrent batch can't be recorded.
func check(d *vk.Device, kind structures.Kind, b structures.DeviceBatch, width structures.Width) error {
	end, err := recording.End(b)
	if err != nil {
		return err
	}
	values, kinds, highs, windows, pairs := end, 0, 0, 0, 0
	switch kind {
	case structures.Delete:
		values = 0
	case structures.Mixed:
		kinds = b.Count
	}
	places, err := recording.Windows(b.Count, b.Width)
	if err != nil {
		return err
	}
	if kind.Ordered() && b.Width == 0 {
		return &structures.LengthError{Keys: b.Count, Other: "pairs a range (Width)", Need: 1, Got: b.Width}
	}
	mixed := kind == structures.Mixed && asksForOrder(kind, b)
	if mixed || kind.Ranges() {
		highs = b.Count
	}
	if mixed || kind.Ordered() && kind != structures.CountRange {
		pairs = places
	}
	if b.Windows != nil {
		windows, pairs = b.Count, min(pairs, b.Width)
	}
	return cmp.Or(b.Made.Check(width), recording.NeedNumbers(d, b.Keys, "keys", b.Count, end, width),
		recording.NeedNumbers(d, b.Values, "values", b.Count, values, width),
		recording.Need(d, b.Kinds, "kinds", b.Count, kinds),
		recording.NeedNumbers(d, b.Highs, "highs", b.Count, highs, width),
		recording.Need(d, b.Windows, "windows", b.Count, windows),
		recording.NeedNumbers(d, b.OutKeys, "keys for the result", b.Count, pairs, width),
		recording.NeedNumbers(d, b.OutValues, "values for the result", b.Count, pairs, width),
		recording.NeedOutcomes(d, b))
}

// asksForOrder reports whether a concurrent batch may have ordered queries. In other batches, Width has no meaning.
func asksForOrder(kind structures.Kind, b structures.DeviceBatch) bool {
	return b.Width != 0 && (kind == structures.Mixed || kind.Ordered())
}

// does reports whether concurrent batches may have operations of a kind.
func does(kind structures.Kind) bool {
	return updates(kind) || kind == structures.Find || kind.Ordered() && kind <= structures.CountRange
}

type locatePush struct {
	Tree     Description
	Index    prefixIndex
	Keys     uint64
	Statuses uint64
	Hints    uint64
	Count    uint32
	Retry    uint32
}

type applyPush struct {
	Tree     Description
	Index    prefixIndex
	Keys     uint64
	Values   uint64
	Kinds    uint64
	Statuses uint64
	Pending  uint64
	Hints    uint64
	Count    uint32
	Visits   uint32
	Retry    uint32
}

// operands are the addresses of a batch on the device.
type operands struct {
	keys, values, kinds, statuses, pending uint64
	count                                  int
	retry                                  bool
	alone                                  bool
	few                                    bool // few operations, if any: they search from the root
	plain                                  bool // no operation updates a value in place
	groups                                 sequential.Indirect

	ordered                            bool // there are ordered queries
	highs, windows, outKeys, outValues uint64
	width                              int
	moments                            bool   // in a mixed batch, each ordered query sees a moment of its own
	countAt                            uint64 // the address of the number of operations, or 0
}

type mixedPush struct {
	Tree                Description
	Index               uint64
	Keys, Values, Kinds uint64
	To                  vk.Arguments[windowArguments]
	Statuses, Pending   uint64
	OutKeys, OutValues  uint64
	Count               uint32
	Visits, Slices      uint32
}

// windowArguments are Windows of shaders/btree/mixed.glsl.
type windowArguments struct {
	Highs, Windows, Gate uint64
	Number               recording.Length
	Width                uint32
}

// Slices of mixedPush has the number of groups of operations that a workgroup does, and a flag.
const (
	retries    = 1 << 31 // a flag in Slices
	mostSlices = 8
	sliceFrom  = 1 << 18 // operations from which on a workgroup does several groups
)

// typeOf returns the type of values by which a batch updates them.
func (t *tree) typeOf(b operands) saved.Type {
	if b.plain {
		return saved.Type{}
	}
	return t.columns.Values.Type
}

// asked returns the keys of a batch.
func (b operands) asked() askedFor {
	return askedFor{keys: b.keys, number: recording.Length{N: uint32(b.count)}}
}

// updated returns the operations of a batch, whose leaves must be kept.
func (b operands) updated() updated {
	return updated{keys: b.keys, kinds: b.kinds, number: recording.Length{N: uint32(b.count)}}
}

// applyMixed records a batch that has ordered queries, or updates that depend on the type of values. In a mixed batch
// the ordered queries run first, and after a barrier the other operations.
func (t *tree) applyMixed(s *vk.Stream, kind structures.Kind, b operands) error {
	const gateBytes = recording.Align
	bits := t.concurrentIndexBits(b.count)
	gate, err := t.scratch.Take(s, gateBytes+t.indexBytes(bits))
	if err != nil {
		return err
	}
	index, err := t.recordConcurrentIndex(s, gate+gateBytes, bits, b.asked())
	if err != nil {
		return err
	}
	p := mixedPush{
		Tree: t.description(), Index: index.Entries, Keys: b.keys, Values: b.values, Kinds: b.kinds,
		Statuses: b.statuses, Pending: b.pending, OutKeys: b.outKeys, OutValues: b.outValues,
		Count: uint32(b.count), Visits: t.visits | index.Bits<<24, Slices: 1,
	}
	if kind == structures.Mixed {
		p.Slices = uint32(min(max(b.count/sliceFrom, 1), mostSlices))
	}
	workgroups := (groups(b.count) + int(p.Slices) - 1) / int(p.Slices)
	if b.retry {
		p.Slices |= retries
	}
	asked, updates := t.mixedKernels(kind, b, t.versions.protect())
	var queries []*vk.Kernel[mixedPush]
	for _, of := range asked {
		k, err := of.Kernel(t.Kernels, s)
		if err != nil {
			return err
		}
		queries = append(queries, k)
	}
	var update *vk.Kernel[mixedPush]
	if updates != nil {
		if update, err = updates.Kernel(t.Kernels, s); err != nil {
			return err
		}
	}
	if b.moments {
		if err := t.recordMoments(s, b); err != nil {
			return err
		}
	} else if update != nil {
		if err := t.recordGate(s, gate, b); err != nil {
			return err
		}
		if t.versions.protect() {
			if err := t.recordKeep(s, b.updated(), index); err != nil {
				return err
			}
		}
	}
	p.To = vk.NewArguments(s, windowArguments{Highs: b.highs, Windows: b.windows, Gate: gate,
		Number: recording.Length{At: b.countAt, N: uint32(b.count)}, Width: uint32(b.width)})
	if b.moments {
		queries, update = append(queries, update), nil
	}
	dispatchBeside(s, queries, workgroups, p)
	if update != nil {
		sequential.Dispatch(s, update, workgroups, b.groups, p)
	}
	return nil
}

// dispatchBeside records kernels that run concurrently.
func dispatchBeside(s *vk.Stream, kernels []*vk.Kernel[mixedPush], workgroups int, p mixedPush) {
	s.Concurrent(func() {
		for _, k := range kernels {
			k.Dispatch(s, workgroups, p)
		}
	})
}

// recordGate records that all operations of a mixed batch become pending, unless it is a retry, and that no query was
// left pending.
func (t *tree) recordGate(s *vk.Stream, gate uint64, b operands) error {
	failed := new(error)
	s.Concurrent(func() {
		if !b.retry {
			*failed = t.clear(s, b.statuses, recording.Padded(b.count)/4)
		}
		*failed = cmp.Or(*failed, t.clear(s, gate, 1))
	})
	return *failed
}

// locateFrom is the number of operations from which on a batch that runs alone is located first
// (docs/notes/measurements.md).
const locateFrom = 1 << 19

// initialVisits bounds the nodes that a tile visits in one dispatch. It is far above what batches need. If latches
// delay operations, it is raised, up to maxVisits.
const (
	initialVisits = 1 << 14
	maxVisits     = 1 << 18
)

// firstVisits returns the first bound of visits. On a CPU, the thread that holds a latch may not run for a time slice
// or several. Meanwhile other threads make more visits than a whole batch needs.
func firstVisits(d *vk.Device) uint32 {
	if d.Info().Type == vk.CPU {
		return maxVisits
	}
	return initialVisits
}

// crowd is how many insertions one dispatch may have for each node. More would wait for leaves that other operations
// split.
const crowd = 8

// mostTurns is how many subgroups one dispatch of insertions may have. Insertions of one key run one after the other,
// each with a compare-and-swap of the result before: 3 µs on an H100, for any width. A batch on a stream with ordered
// queries is always one dispatch, because all of its queries see one moment.
var mostTurns = 1 << 16

// mostInserted returns the number of insertions of mostTurns subgroups.
func (t *tree) mostInserted() int { return mostTurns * t.Device.SubgroupSize() }

// apply records a batch of concurrent operations of one kind, or Mixed.
func (t *tree) apply(s *vk.Stream, kind structures.Kind, b operands) error {
	if b.ordered {
		return t.applyMixed(s, kind, b)
	}
	part, most := b.count, b.count
	if !b.few && (kind == structures.Mixed || kind.Inserts()) {
		part = max(leastPart, crowd*int(t.known.before(b.count)))
		most = t.mostInserted()
	}
	for b.count > 0 {
		now := b
		now.count = min(part, most, b.count)
		if err := t.applyPart(s, kind, now); err != nil {
			return err
		}
		b = t.behind(b, now.count)
		part *= 2 // now there are more nodes, or all operations are on the same nodes
	}
	return nil
}

// behind returns the operations after the first ones.
func (t *tree) behind(b operands, done int) operands {
	skip := func(array *uint64, bytes int) {
		if *array != 0 {
			*array += uint64(done * bytes)
		}
	}
	skip(&b.keys, 4*t.words())
	skip(&b.values, 4*t.words())
	skip(&b.kinds, 1)
	skip(&b.statuses, 1)
	b.count -= done
	return b
}

// applyPart records operations that one dispatch does.
func (t *tree) applyPart(s *vk.Stream, kind structures.Kind, b operands) error {
	if recording.ByType(kind, t.typeOf(b)) {
		return t.applyMixed(s, kind, b)
	}
	keeps := t.versions.protect() && (updates(kind) || kind == structures.Mixed)
	retry := word(b.retry)
	p := applyPush{
		Tree: t.description(), Keys: b.keys, Values: b.values, Kinds: b.kinds, Statuses: b.statuses, Pending: b.pending,
		Count: uint32(b.count), Visits: t.visits, Retry: retry,
	}
	if b.few {
		if keeps {
			if err := t.recordKeep(s, b.updated(), prefixIndex{}); err != nil {
				return err
			}
		}
		return t.dispatchApply(s, kind, b, p)
	}
	locates := b.alone && b.count >= locateFrom
	bits := t.indexBits(b.count)
	plan := recording.Parts{}
	if locates {
		plan.Take(8 * b.count)
	}
	plan.Take(t.indexBytes(bits))
	scratch, err := t.scratch.Take(s, int(plan.Used))
	if err != nil {
		return err
	}
	plan = recording.Parts{Base: scratch}
	if locates {
		p.Hints = plan.Take(8 * b.count)
		index, err := t.recordIndex(s, plan.Take(t.indexBytes(bits)), bits, b.asked())
		if err != nil {
			return err
		}
		k, err := t.locateKernel().Kernel(t.Kernels, s)
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(b.count), locatePush{p.Tree, index, b.keys, b.statuses, p.Hints, p.Count, retry})
	} else if p.Index, err = t.recordConcurrentIndex(s, plan.Take(t.indexBytes(bits)), bits, b.asked()); err != nil {
		return err
	}
	if keeps {
		u := b.updated()
		u.leaves, u.stride = p.Hints, 2
		if err := t.recordKeep(s, u, p.Index); err != nil {
			return err
		}
	}
	return t.dispatchApply(s, kind, b, p)
}

func (t *tree) dispatchApply(s *vk.Stream, kind structures.Kind, b operands, p applyPush) error {
	k, err := t.applyKernel(kind, t.versions.protect()).Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	sequential.Dispatch(s, k, groups(b.count), b.groups, p)
	return nil
}

// protocol returns the name of the module of a concurrent kernel, by what the device supports.
func (t *tree) protocol(module string) string {
	switch {
	case t.width == structures.Bits64:
		return module + ".k64v64" // the same on all devices: no atomic is as wide as a pair
	case t.Device.Has(vk.Int64Atomics):
		return module + ".a64"
	}
	return module + ".a32"
}

func (t *tree) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.Enter(context.Background()); err != nil {
		return err
	}
	defer t.Leave()
	t.Meter.Batch(kind, b.Count)
	err := t.applyOn(s, kind, b, false)
	if err == nil && kind <= structures.Delete {
		submitted(s, &t.batches.concurrent)
	}
	return err
}

// admits returns an error if a batch can't be recorded.
func (t *tree) admits(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if kind != structures.Mixed && !does(kind) {
		return &structures.KindError{Kind: kind}
	}
	return cmp.Or(t.Device.Accept("stream", s), check(t.Device, kind, b, t.width))
}

// expect adds the pairs that a batch may insert to t.known.
func (t *tree) expect(kind structures.Kind, operations int) {
	if kind == structures.Mixed || kind.Inserts() {
		t.known.inserted += uint64(operations)
	}
}

// recording returns the function that orders a batch among the work of other streams.
func (t *tree) recording(kind structures.Kind, b structures.DeviceBatch) func(*vk.Stream, func() error) error {
	apart := asksForOrder(kind, b)
	switch {
	case kind == structures.Mixed && apart:
		return t.apart
	case kind == structures.Mixed || updates(kind):
		return t.writing
	case apart:
		return t.newest().onSnapshot
	}
	return t.Using
}

func (t *tree) applyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch, retry bool) error {
	if err := t.admits(s, kind, b); err != nil {
		return err
	}
	if !retry {
		t.expect(kind, b.Count)
	}
	if b.Count == 0 {
		return nil
	}
	moments := b.OwnMoments && kind == structures.Mixed && asksForOrder(kind, b)
	if moments {
		if err := t.keepsMoving(context.Background(), s, b.Count, b.Count); err != nil {
			return err
		}
	} else if kind == structures.Mixed || updates(kind) {
		if err := t.keeps(context.Background(), s, b.Count); err != nil {
			return err
		}
	}
	return t.recording(kind, b)(s, func() error {
		b, retry, err := t.Own.Batch(s, kind, b, retry)
		if err != nil {
			return err
		}
		if kind != structures.Mixed {
			b.Kinds = nil // which have no meaning
		}
		return t.apply(s, kind, operands{
			keys: t.at(b.Keys, b.First), values: t.at(b.Values, b.First), kinds: b.Kinds.Address(),
			statuses: b.Status.Address(),
			pending:  b.Left.Address(), count: b.Count, retry: retry, alone: b.Alone,
			ordered: asksForOrder(kind, b), highs: b.Highs.Address(), windows: b.Windows.Address(),
			outKeys: b.OutKeys.Address(), outValues: b.OutValues.Address(), width: b.Width, moments: moments,
			countAt: b.DeviceCount.Address(),
		})
	})
}

func (t *tree) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := t.admits(s, kind, b); err != nil {
		return err
	}
	b, done, err := t.Own.Again(s, b)
	switch {
	case err != nil:
		return err
	case done:
		return s.Wait(ctx)
	}
	defer t.calm(t.visits)
	return pipeline.Finish(ctx, s, b.Left, t.makeRoom, func() error { return t.applyOn(s, kind, b, true) })
}
