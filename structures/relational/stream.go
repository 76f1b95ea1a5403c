package relational

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// OnStream has the calls on arrays in device memory. They record work on a stream, completely or not at all, and don't
// wait. They allocate nothing: arrays are given by device addresses, and the caller provides scratch memory
// (Relational.Scratch). Arrays are aligned to their elements, scratch to 256 bytes. Inputs and outputs must not
// overlap.
//
// Keys are words that have the order of numbers (structures.KeyCode). Unsigned integers are their own words;
// primitives.EncodeKeys encodes others. Values are words as structures.ValueCode says, at their own width.
type OnStream struct {
	r *Relational
	s *vk.Stream
}

// On returns the calls for a stream.
func (r *Relational) On(s *vk.Stream) OnStream { return OnStream{r, s} }

// err returns why the stream or the Relational can't be used, or nil.
func (o OnStream) err() error {
	if err := o.r.err(); err != nil {
		return err
	}
	return o.r.d.Accept("stream", o.s)
}

// GroupArgs are the operands of Group on a stream. The outputs are as in primitives.ReduceByKeyArgs; they must have
// room for the greatest possible number of groups, at most Length.
type GroupArgs struct {
	Keys      uint64
	Values    uint64 // as many values; 0 if OutSums, OutMins and OutMaxs are 0
	OutKeys   uint64 // the keys of groups, ascending
	OutCounts uint64 // a word for each group: its number of rows
	OutSums   uint64 // 0, or a sum for each group: of primitives.ValueType.SumBytes, and aligned to them
	OutMins   uint64 // 0, or a value for each group: its least
	OutMaxs   uint64 // 0, or a value for each group: its greatest
	OutGroups uint64 // 0, or a word for the number of groups
	Length    primitives.Length
	Widths    primitives.Widths
	Type      primitives.ValueType
	Scratch   uint64 // as many bytes as Scratch says
}

// groupSteps are the operands of the steps of a grouping.
type groupSteps struct {
	sort   primitives.SortArgs
	reduce primitives.ReduceByKeyArgs
	bytes  uint64 // of scratch memory
}

func (a GroupArgs) steps(r *Relational) (g groupSteps) {
	parts := partsOf(a.Scratch)
	n := max(0, a.Length.N)
	g.sort = primitives.SortArgs{Keys: a.Keys, Values: a.Values, OutKeys: parts.Take(n * a.Widths.Key.Bytes()),
		Length: a.Length, Widths: a.Widths}
	if a.Values != 0 {
		g.sort.OutValues = parts.Take(n * a.Widths.Value.Bytes())
	}
	g.reduce = primitives.ReduceByKeyArgs{Keys: g.sort.OutKeys, Values: g.sort.OutValues, OutKeys: a.OutKeys,
		OutCounts: a.OutCounts, OutSums: a.OutSums, OutMins: a.OutMins, OutMaxs: a.OutMaxs, OutRuns: a.OutGroups,
		Length: a.Length, Widths: a.Widths, Type: a.Type}
	scratch := parts.Take(max(r.bulk.Scratch(g.sort), r.bulk.Scratch(g.reduce)))
	g.sort.Scratch, g.reduce.Scratch = scratch, scratch
	g.bytes = parts.Used
	return g
}

// partsOf divides scratch memory. Without an address it measures; then, too, no part has the address 0, which stands
// for an array that isn't there.
func partsOf(scratch uint64) recording.Parts {
	return recording.Parts{Base: max(scratch, recording.Align)}
}

func (a GroupArgs) layout(r *Relational, base uint64) uint64 {
	a.Scratch = base
	return a.steps(r).bytes
}

func (a GroupArgs) table(r *Relational) recording.Table {
	g := a.steps(r)
	return recording.KernelsOf[primitives.Operation](r.bulk, g.sort, g.reduce)
}

// Group records the grouping of values by their keys. Sums can't overflow (primitives.ReduceByKey).
//
// Errors: *structures.CountError, *vk.OptionError, primitives.ErrNoMemory, vk.ErrClosed, that of a stream of another
// device, and those of making a kernel.
func (o OnStream) Group(a GroupArgs) error {
	if err := o.err(); err != nil {
		return err
	}
	return o.s.Whole(func() error { return o.r.recordGroup(o.s, a) })
}

func (r *Relational) recordGroup(s *vk.Stream, a GroupArgs) error {
	if a.Length.N > 0 && a.Scratch == 0 {
		return primitives.ErrNoMemory
	}
	g := a.steps(r)
	if err := r.bulk.Sort(s, g.sort); err != nil {
		return err
	}
	return r.bulk.ReduceByKey(s, g.reduce)
}
