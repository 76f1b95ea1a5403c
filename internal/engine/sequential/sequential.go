// Package sequential orders the operations of a batch of insertions from Go slices, which run concurrently on the
// device. The results are as if the operations had run one after the other: of equal keys the last value stays, or the
// first one for InsertUnique.
//
// The inserting kernels do not know about the order. After the operations of a chunk, if any of them has met its key, a
// hash table of indices finds the operations with equal keys. If there are any, the operation whose value has to stay
// is done again, alone, and the statuses are exchanged. Updates in place have the same result in any order, and are
// never done again.
//
// Chunks run one after the other, and no chunk begins while earlier operations are pending. So the done operations have
// the results that they have without the pending ones. There is one exception, with a *structures.StuckError: if the
// visit budget ran out before a value was stored again, the next dispatch stores it, if there is one.
package sequential

import (
	"context"
	"math/bits"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Order orders the chunks of one batch at a time.
type Order struct {
	kernels *recording.Kernels
	scratch recording.Scratch // for all streams, because chunks run one after the other
	uses    vk.Uses           // of the scratch
	turns   pipeline.Turns
	open    bool // no earlier chunk has pending operations; the device must still be told
}

// New makes an Order. It takes memory only when it is used.
func New(d *vk.Device) *Order {
	return &Order{kernels: recording.NewKernels(d), scratch: recording.NewScratch(d)}
}

// Matters reports whether the order of a batch of n operations can change its results. Only insertions depend on the
// order. In a small batch, it looks for equal keys, because that costs less than the dispatches that order the
// operations; without equal keys the order does not matter.
func Matters(kind structures.Kind, n int, keys pipeline.Column) bool {
	inserts := kind == structures.Insert || kind == structures.InsertUnique || kind.UpdatesInPlace()
	switch {
	case !inserts || n > few:
		return inserts
	case len(keys.From) == 8*n:
		return repeats(pipeline.Numbers[uint64](keys))
	}
	return repeats(pipeline.Numbers[uint32](keys))
}

// few is the greatest number of keys that are checked for equal keys on the host. This takes about 2 ns for each key;
// the ordering on the device takes 100 µs (H200).
var few = 1 << 14

// repeats reports whether any of a few keys is there twice.
func repeats[W structures.Word](keys []W) bool {
	width := bits.Len(uint(len(keys))) + 2 // of the hash; at most a quarter of the table is in use
	numbers := make([]uint16, 1<<width)    // indices of keys, plus 1, by their hashes
	for i, key := range keys {
		at := uint32(uint64(key) * 0x9e3779b97f4a7c15 >> (64 - width))
		for ; numbers[at] != 0; at = (at + 1) % uint32(len(numbers)) {
			if keys[numbers[at]-1] == key {
				return true
			}
		}
		numbers[at] = uint16(i + 1)
	}
	return false
}

// Begin begins a batch and returns the task that does it. After Recover, chunks with pending operations continue, the
// oldest first. No other batch may run.
func (o *Order) Begin(task pipeline.Task) pipeline.Task {
	o.turns = pipeline.Turns{}
	o.open = true
	task.Turns, task.Parts = &o.turns, pipeline.PartsInTurn
	makeRoom := task.Recover
	task.Recover = func(ctx context.Context, pending int, stuck bool) error {
		o.open = true
		return makeRoom(ctx, pending, stuck)
	}
	return task
}

// Chunk is a part of a batch on the device. Statuses are bytes, with room up to a multiple of 4.
type Chunk struct {
	Kind                    structures.Kind
	Width                   structures.Width // of keys
	Keys, Statuses, Pending uint64
	Count                   int
	Retry                   bool // statuses tell which operations are done
	KeysOnly                bool // operations have no values
	Stepwise                bool // an operation has several steps, and others may run between them
}

// Pass is a dispatch over a chunk that does the operations whose status is Pending.
type Pass struct {
	Kind     structures.Kind
	Statuses uint64
	Retry    bool // false: do all operations and ignore the statuses
	Again    bool // few operations, if any, of keys that are there, so preparations do not pay
	Groups   Indirect
}

// Indirect is the place in memory of a dispatch's number of workgroups. With the zero value, the host gives the number.
type Indirect struct {
	Memory vk.Memory
	At     int // its element
}

// Dispatch dispatches a kernel in the given number of workgroups, or in the number at by.
func Dispatch[P any](s *vk.Stream, k *vk.Kernel[P], groups int, by Indirect, push P) {
	if by.Memory == nil {
		k.Dispatch(s, groups, push)
	} else {
		k.DispatchIndirect(s, by.Memory, by.At, push)
	}
}

// workgroup is the workgroup size of kernels that are dispatched by an Indirect, including those of the structures.
const workgroup = 64

func groups(n int) int { return (n + workgroup - 1) / workgroup }

// These are the size of the state in bytes and places in words, of shaders/sequential/state.glsl.
const (
	stateBytes = 40
	applyArgs  = 1
	groupArgs  = 4
	orderArgs  = 7
)

// equals is Equals of shaders/sequential/equals.glsl.
type equals struct{ Groups, Firsts, Lasts uint64 }

// plan is the division of the scratch memory.
type plan struct {
	state, marks, table uint64
	equals              equals
	bytes               int
}

func planFor(n int, base uint64) plan {
	p := recording.Parts{Base: base}
	words := func() uint64 { return p.Take(4 * recording.Padded(n)) }
	plan := plan{
		state: p.Take(stateBytes), marks: p.Take(recording.Padded(n)), table: p.Take(8 * recording.Padded(n)),
		equals: equals{words(), words(), words()},
	}
	plan.bytes = int(p.Used)
	return plan
}

type beginPush struct {
	State, Statuses, Pending uint64
	Count, Groups, Retry     uint32
}

type surveyPush struct {
	State, Statuses, Marks, Table uint64
	Equals                        equals
	Count, Groups, Met, Kind      uint32
}

type groupPush struct {
	State, Keys, Statuses, Table uint64
	Equals                       equals
	Count, Groups, Kind          uint32
}

type markPush struct {
	Equals                      equals
	Statuses, Marks             uint64
	Count, Kind, Mark, Stepwise uint32
}

type settlePush struct {
	Equals                   equals
	Statuses, Marks, Pending uint64
	Count, Kind              uint32
}

type endPush struct{ State, Pending uint64 }

func beginKernel() recording.Spec[beginPush]   { return of[beginPush]("begin") }
func surveyKernel() recording.Spec[surveyPush] { return of[surveyPush]("survey") }
func markKernel() recording.Spec[markPush]     { return of[markPush]("mark") }
func settleKernel() recording.Spec[settlePush] { return of[settlePush]("settle") }
func endKernel() recording.Spec[endPush]       { return of[endPush]("end") }
func groupKernel(w structures.Width) recording.Spec[groupPush] {
	return of[groupPush](recording.OfKeys("group", w))
}

func of[P any](module string) recording.Spec[P] {
	return recording.Of[P]("sequential/"+module, workgroup)
}

// Kernels lists the kernels for keys of a width.
func Kernels(w structures.Width) recording.Table {
	return recording.Table{beginKernel(), surveyKernel(), groupKernel(w), markKernel(), settleKernel(), endKernel()}
}

// Record records a chunk, after the previous chunk. apply records a pass.
func (o *Order) Record(s *vk.Stream, c Chunk, apply func(Pass) error) error {
	o.turns.Take(s)
	return s.Whole(func() error { return o.record(s, c, apply) })
}

func (o *Order) record(s *vk.Stream, c Chunk, apply func(Pass) error) error {
	// The first chunks of a batch are the largest, so memory is replaced only when no chunk runs.
	scratch, err := o.scratch.TakeShared(s, &o.uses, planFor(c.Count, 0).bytes)
	if err != nil {
		return err
	}
	p := planFor(c.Count, scratch)
	memory := o.scratch.Of(nil)
	if o.open {
		s.Fill(memory, 0, 1, 0)
		s.OnSubmit(func(_ vk.Point, submitted bool) { o.open = o.open && !submitted })
	}
	begin, err := beginKernel().Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	begin.Dispatch(s, groups(recording.Padded(c.Count)/4), beginPush{
		State: p.state, Statuses: c.Statuses, Pending: c.Pending,
		Count: uint32(c.Count), Groups: uint32(groups(c.Count)), Retry: word(c.Retry),
	})
	if err := apply(Pass{Kind: c.Kind, Statuses: c.Statuses, Retry: c.Retry,
		Groups: Indirect{memory, applyArgs}}); err != nil {
		return err
	}
	if err := o.order(s, c, p, memory, apply); err != nil {
		return err
	}
	end, err := endKernel().Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	end.Dispatch(s, 1, endPush{p.state, c.Pending})
	return nil
}

// order records the passes that order the outcomes of a chunk.
func (o *Order) order(s *vk.Stream, c Chunk, p plan, memory vk.Memory, apply func(Pass) error) error {
	if err := o.group(s, c, p, Indirect{memory, groupArgs}); err != nil {
		return err
	}
	by := Indirect{memory, orderArgs}
	if !c.Kind.UpdatesInPlace() { // those are never done again
		if err := o.again(s, c, p, by, apply); err != nil {
			return err
		}
	}
	settle, err := settleKernel().Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	Dispatch(s, settle, 0, by, settlePush{
		Equals: p.equals, Statuses: c.Statuses, Marks: p.marks, Pending: c.Pending,
		Count: uint32(c.Count), Kind: uint32(c.Kind),
	})
	return nil
}

// group records the search for operations with equal keys, if any operation has met its key.
func (o *Order) group(s *vk.Stream, c Chunk, p plan, by Indirect) error {
	met := structures.Assigned
	if c.Kind == structures.InsertUnique {
		met = structures.Found
	}
	survey, err := surveyKernel().Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	survey.Dispatch(s, groups(recording.Padded(c.Count)/4), surveyPush{
		State: p.state, Statuses: c.Statuses, Marks: p.marks, Table: p.table, Equals: p.equals,
		Count: uint32(c.Count), Groups: uint32(groups(c.Count)), Met: uint32(met), Kind: uint32(c.Kind),
	})
	group, err := groupKernel(c.Width).Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	Dispatch(s, group, 0, by, groupPush{
		State: p.state, Keys: c.Keys, Statuses: c.Statuses, Table: p.table, Equals: p.equals,
		Count: uint32(c.Count), Groups: uint32(groups(c.Count)), Kind: uint32(c.Kind),
	})
	return nil
}

// again records the operations whose values have to stay once more.
func (o *Order) again(s *vk.Stream, c Chunk, p plan, by Indirect, apply func(Pass) error) error {
	mark, err := markKernel().Kernel(o.kernels, s)
	if err != nil {
		return err
	}
	again := structures.Pending
	if c.KeysOnly {
		again = structures.Assigned // nothing to do again
	}
	Dispatch(s, mark, 0, by, markPush{
		Equals: p.equals, Statuses: c.Statuses, Marks: p.marks,
		Count: uint32(c.Count), Kind: uint32(c.Kind), Mark: uint32(again), Stepwise: word(c.Stepwise),
	})
	if c.KeysOnly {
		return nil
	}
	return apply(Pass{Kind: structures.Insert, Statuses: p.marks, Retry: true, Again: true, Groups: by})
}

func word(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// Close frees the memory. No batch may be running.
func (o *Order) Close() {
	o.kernels.Close()
	o.scratch.Release(&o.uses)
}
