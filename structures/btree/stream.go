package btree

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// DeviceBatch is a batch of concurrent operations in device buffers.
type DeviceBatch struct {
	Count  int                // operations
	Keys   *vk.Buffer[uint32] // the key of each
	Values *vk.Buffer[uint32] // in and out, as in structures.Batch and Results; nil for Delete
	Kinds  *vk.Buffer[uint8]  // the kind of each; for structures.Mixed only
	Status *vk.Buffer[uint8]  // structures.Status of each, out; Count rounded up to a multiple of 4 bytes
	Left   *vk.Buffer[uint32] // one word, 0 at first: the operations left pending are added to it
	// Alone says that nothing else changes the tree while the batch runs. Then its keys are located first, by a kernel
	// that reads without care.
	Alone bool
}

func (b DeviceBatch) check(kind structures.Kind) error {
	need := func(name string, have, want int) error {
		if have < want {
			return &structures.LengthError{Keys: b.Count, Other: name, Got: have}
		}
		return nil
	}
	when := func(condition bool) int {
		if condition {
			return b.Count
		}
		return 0
	}
	for _, err := range []error{
		need("keys", b.Keys.Len(), b.Count),
		need("values", b.Values.Len(), when(kind != structures.Delete)),
		need("kinds", b.Kinds.Len(), when(kind == structures.Mixed)),
		need("status bytes", b.Status.Len(), (b.Count+3)&^3),
		need("words for the number left", b.Left.Len(), 1),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// does says whether concurrent batches do operations of a kind.
func does(kind structures.Kind) bool {
	switch kind {
	case structures.Insert, structures.InsertUnique, structures.Delete, structures.Find:
		return true
	}
	return false
}

type locatePush struct {
	Tree     Device
	Top      top
	Keys     uint64
	Statuses uint64
	Hints    uint64
	Count    uint32
	Retry    uint32
}

type applyPush struct {
	Tree     Device
	Top      top
	Keys     uint64
	Values   uint64
	Kinds    uint64
	Statuses uint64
	Pending  uint64
	Hints    uint64
	Count    uint32
	Rounds   uint32
	Retry    uint32
}

// operands are the addresses of a batch on the device.
type operands struct {
	keys, values, kinds, statuses, pending uint64
	count                                  int
	retry                                  bool
	alone                                  bool
}

// Batches from here on are located first, where they run alone (docs/benchmarks.md).
const locateFrom = 1 << 19

// initialRounds bounds the node visits of a tile in one dispatch, far above what batches need; where latches hold them
// up, it is raised, up to maxRounds.
const (
	initialRounds = 1 << 14
	maxRounds     = 1 << 18
)

// apply records a batch of concurrent operations of one kind, or Mixed.
func (t *Tree) apply(s *vk.Stream, kind structures.Kind, b operands) error {
	if b.count == 0 {
		return nil
	}
	retry := uint32(0)
	if b.retry {
		retry = 1
	}
	p := applyPush{
		Tree: t.device(), Keys: b.keys, Values: b.values, Kinds: b.kinds, Statuses: b.statuses, Pending: b.pending,
		Count: uint32(b.count), Rounds: t.rounds, Retry: retry,
	}
	locates := b.alone && b.count >= locateFrom
	bits := t.topBits(b.count)
	plan := recording.Parts{}
	if locates {
		plan.Take(8 * b.count)
	}
	plan.Take(topBytes(bits))
	scratch, err := t.scratch.Take(s, int(plan.Used))
	if err != nil {
		return err
	}
	plan = recording.Parts{Base: scratch}
	if locates {
		p.Hints = plan.Take(8 * b.count)
		top, err := t.recordTop(s, plan.Take(topBytes(bits)), bits)
		if err != nil {
			return err
		}
		k, err := kernel[locatePush](t, "locate", t.queries.seek, t.queries.constant())
		if err != nil {
			return err
		}
		k.Dispatch(s, groups(b.count), locatePush{p.Tree, top, b.keys, b.statuses, p.Hints, p.Count, retry})
	} else if p.Top, err = t.recordTopBeside(s, plan.Take(topBytes(bits)), bits); err != nil {
		return err
	}
	k, err := kernel[applyPush](t, t.applyModule(), t.tiles.update, recording.Constant("KIND", uint32(kind)), recording.Constant("BTREE_TORN", t.torn()))
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(b.count), p)
	return nil
}

func (t *Tree) applyModule() string {
	if t.d.Info().Type == vk.CPU {
		return "apply." + t.atomics() + ".rolled"
	}
	return "apply." + t.atomics() + ".unrolled"
}

// torn is 1 where the two words of a pair may be read by one load as of different age. Every GPU whose litmus test
// (vkds doctor) was seen reads aligned pairs whole; CPU drivers read vectors word by word.
func (t *Tree) torn() uint32 {
	if t.d.Info().Type == vk.CPU {
		return 1
	}
	return 0
}

// ApplyOn records a batch of operations of one kind, or structures.Mixed, on a stream and does not wait: Insert,
// InsertUnique, Delete, Find. Batches on several streams may work on the tree at the same time. Where
// the pool is full, operations are left pending; give the batch to Finish for them once no stream works on the tree.
//
// Errors: *structures.KindError, *structures.LengthError, vk.ErrClosed.
func (t *Tree) ApplyOn(s *vk.Stream, kind structures.Kind, b DeviceBatch) error {
	return t.applyOn(s, kind, b, false)
}

func (t *Tree) applyOn(s *vk.Stream, kind structures.Kind, b DeviceBatch, retry bool) error {
	if err := t.usable(context.Background()); err != nil {
		return err
	}
	if kind != structures.Mixed && !does(kind) {
		return &structures.KindError{Kind: kind}
	}
	if err := b.check(kind); err != nil {
		return err
	}
	if kind != structures.Find && kind != structures.Delete {
		t.nodes += uint64(b.Count)
	}
	return t.apply(s, kind, operands{
		keys: b.Keys.Address(), values: b.Values.Address(), kinds: b.Kinds.Address(), statuses: b.Status.Address(),
		pending: b.Left.Address(), count: b.Count, retry: retry, alone: b.Alone,
	})
}

// Finish waits for the stream, and has what is pending of a batch done: it gives the tree more memory and dispatches
// again, until b.Left is 0. No other stream may work on the tree. Errors: *structures.PendingError around what stopped
// it: *alloc.PoolFullError, *vk.OutOfMemoryError, *StuckError, the context's.
func (t *Tree) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b DeviceBatch) error {
	last := -1
	for {
		if err := s.Wait(ctx); err != nil {
			return err
		}
		var left [1]uint32
		if err := b.Left.Download(ctx, 0, left[:]); err != nil {
			return err
		}
		pending := int(left[0])
		if pending == 0 {
			return nil
		}
		if err := t.makeRoom(ctx, pending, pending == last); err != nil {
			return &structures.PendingError{Operations: pending, Err: err}
		}
		last = pending
		s.Fill(b.Left, 0, 4, 0)
		if err := t.applyOn(s, kind, b, true); err != nil {
			return err
		}
	}
}
