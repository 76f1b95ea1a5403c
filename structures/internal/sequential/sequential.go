// Package sequential gives a batch of insertions from Go slices, whose operations run concurrently on the device, the
// results that they have one after another: of equal keys the last one's value stays, of unique keys the first one's.
//
// The kernels that insert know nothing of it. After a chunk's operations, if any of them has met its key, those with
// equal keys are found by a hash table of their indices. If there are any, the one of a key whose value has to stay is
// done once more, alone, and the statuses change places. Updates in place come to the same in any order, and are never
// done once more. Chunks work one after the other, and none begins while operations before it are pending: so what is
// done is done as if those that are pending had not been asked for. (But for a *structures.StuckError: where the visit
// budget ran out before a value was stored once more, the next dispatch does it, if there is one.)
package sequential

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Order orders the chunks of one batch at a time.
type Order struct {
	kernels *recording.Kernels
	scratch recording.Scratch // of all streams: chunks take turns
	uses    vk.Uses           // of the scratch
	turns   pipeline.Turns
	open    bool // no chunk before has operations pending, as the device is still to learn
}

// New makes an Order. It takes memory only when it is used.
func New(d *vk.Device) *Order {
	return &Order{kernels: recording.NewKernels(d), scratch: recording.NewScratch(d)}
}

// Matters says whether the order of a batch of n operations shows in what comes of it: one of insertions that don't
// come to the same in any order, and not so small and without equal keys that a look at it costs less than the
// dispatches that order it.
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

// few keys are looked at before they go to the device: it takes some 2 ns a key, and what orders them there 100 µs
// (H200).
var few = 1 << 14

// repeats says whether any of a few keys is there twice.
func repeats[W structures.Word](keys []W) bool {
	width := bits.Len(uint(len(keys))) + 2 // of the hash: a quarter of the table is in use at most
	numbers := make([]uint16, 1<<width)    // from 1, of the keys by their hashes
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

// Begin begins a batch, which the task does: chunks that were left with operations pending go on behind its Recover,
// the oldest first. No other batch runs.
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
	Retry                   bool // statuses say what is done already
	KeysOnly                bool // there are no values that could be another's
	Stepwise                bool // an operation has several steps, each with its value, between which others come
}

// Pass is a dispatch over a chunk that does its operations of which a status says Pending.
type Pass struct {
	Kind     structures.Kind
	Statuses uint64
	Retry    bool // false: all of them, whatever the statuses are
	Again    bool // few operations, if any, of keys that are there: it pays to prepare nothing
	Groups   Indirect
}

// Indirect is where the device finds how many workgroups a dispatch has; the zero value: nowhere.
type Indirect struct {
	Memory vk.Memory
	At     int
}

// Dispatch dispatches a kernel, in so many workgroups unless the device says otherwise.
func Dispatch[P any](s *vk.Stream, k *vk.Kernel[P], groups int, by Indirect, push P) {
	if by.Memory == nil {
		k.Dispatch(s, groups, push)
	} else {
		k.DispatchIndirect(s, by.Memory, by.At, push)
	}
}

// workgroup is what kernels have that are dispatched by an Indirect, those of the structures too.
const workgroup = 64

func groups(n int) int { return (n + workgroup - 1) / workgroup }

// What shaders/sequential/state.glsl has.
const (
	stateBytes = 40
	applyArgs  = 4
	groupArgs  = 16
	orderArgs  = 28
)

// equals is Equals of shaders/sequential/equals.glsl.
type equals struct{ Groups, Firsts, Lasts uint64 }

// plan is how the scratch is divided.
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

func kernel[P any](o *Order, s *vk.Stream, module string) (*vk.Kernel[P], error) {
	return recording.Kernel[P](o.kernels, s, "sequential/"+module, workgroup)
}

// Record records a chunk, behind the chunk before. apply records a pass.
func (o *Order) Record(s *vk.Stream, c Chunk, apply func(Pass) error) error {
	o.turns.Take(s)
	return s.Whole(func() error { return o.record(s, c, apply) })
}

func (o *Order) record(s *vk.Stream, c Chunk, apply func(Pass) error) error {
	// Of a batch the first chunks are the largest: memory is replaced only where none runs.
	scratch, err := o.scratch.TakeShared(s, &o.uses, planFor(c.Count, 0).bytes)
	if err != nil {
		return err
	}
	p := planFor(c.Count, scratch)
	memory := o.scratch.Of(nil)
	if o.open {
		s.Fill(memory, 0, 4, 0)
		s.OnSubmit(func(_ vk.Point, submitted bool) { o.open = o.open && !submitted })
	}
	begin, err := kernel[beginPush](o, s, "begin")
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
	end, err := kernel[endPush](o, s, "end")
	if err != nil {
		return err
	}
	end.Dispatch(s, 1, endPush{p.state, c.Pending})
	return nil
}

// order records what makes the outcomes those of the chunk's order.
func (o *Order) order(s *vk.Stream, c Chunk, p plan, memory vk.Memory, apply func(Pass) error) error {
	if err := o.group(s, c, p, Indirect{memory, groupArgs}); err != nil {
		return err
	}
	by := Indirect{memory, orderArgs}
	if !c.Kind.UpdatesInPlace() { // which are all done
		if err := o.again(s, c, p, by, apply); err != nil {
			return err
		}
	}
	settle, err := kernel[settlePush](o, s, "settle")
	if err != nil {
		return err
	}
	Dispatch(s, settle, 0, by, settlePush{
		Equals: p.equals, Statuses: c.Statuses, Marks: p.marks, Pending: c.Pending,
		Count: uint32(c.Count), Kind: uint32(c.Kind),
	})
	return nil
}

// group records what finds operations with equal keys, where any has met its key.
func (o *Order) group(s *vk.Stream, c Chunk, p plan, by Indirect) error {
	met := structures.Assigned
	if c.Kind == structures.InsertUnique {
		met = structures.Found
	}
	survey, err := kernel[surveyPush](o, s, "survey")
	if err != nil {
		return err
	}
	survey.Dispatch(s, groups(recording.Padded(c.Count)/4), surveyPush{
		State: p.state, Statuses: c.Statuses, Marks: p.marks, Table: p.table, Equals: p.equals,
		Count: uint32(c.Count), Groups: uint32(groups(c.Count)), Met: uint32(met), Kind: uint32(c.Kind),
	})
	group, err := kernel[groupPush](o, s, fmt.Sprintf("group.k%d", c.Width.Bits()))
	if err != nil {
		return err
	}
	Dispatch(s, group, 0, by, groupPush{
		State: p.state, Keys: c.Keys, Statuses: c.Statuses, Table: p.table, Equals: p.equals,
		Count: uint32(c.Count), Groups: uint32(groups(c.Count)), Kind: uint32(c.Kind),
	})
	return nil
}

// again records what does those operations once more whose values have to stay.
func (o *Order) again(s *vk.Stream, c Chunk, p plan, by Indirect, apply func(Pass) error) error {
	mark, err := kernel[markPush](o, s, "mark")
	if err != nil {
		return err
	}
	again := structures.Pending
	if c.KeysOnly {
		again = structures.Assigned // there is nothing to be done again
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

// Close frees the memory. No batch runs.
func (o *Order) Close() {
	o.kernels.Close()
	o.scratch.Release(&o.uses)
}
