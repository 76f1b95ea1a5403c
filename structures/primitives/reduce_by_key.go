package primitives

import (
	"fmt"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// ValueType says how ReduceByKey adds and compares values.
type ValueType uint8

const (
	Unsigned ValueType = iota
	Signed             // in two's complement
	Float              // encoded by structures.KeyCode, in their total order
)

var valueTypeNames = enum.Names[ValueType]{"unsigned", "signed", "float"}

func (t ValueType) String() string { return valueTypeNames.String(t) }

// ValueTypeOf returns the ValueType of a type's numbers.
func ValueTypeOf[V structures.Number]() ValueType {
	switch {
	case structures.Float[V]():
		return Float
	case structures.Signed[V]():
		return Signed
	}
	return Unsigned
}

// SumBytes returns the bytes of a sum of values of a type and a width: 16 for integers of 64 bits, and 8 for others.
func (t ValueType) SumBytes(w structures.Width) int {
	if t != Float && w == structures.Bits64 {
		return 16
	}
	return 8
}

// ReduceByKeyArgs are the operands of ReduceByKey.
type ReduceByKeyArgs struct {
	Keys      uint64 // equal keys make a run if they are adjacent
	Values    uint64 // as many values; 0 if OutSums, OutMins and OutMaxs are 0
	OutKeys   uint64 // a key for each run
	OutCounts uint64 // a word for each run: its number of keys
	OutSums   uint64 // 0, or a sum for each run: of ValueType.SumBytes, and aligned to them
	OutMins   uint64 // 0, or a value for each run: its least
	OutMaxs   uint64 // 0, or a value for each run: its greatest
	OutRuns   uint64 // 0, or a word for the number of runs
	Length    Length
	Widths    Widths // here values may be wider than keys
	Type      ValueType
	Scratch   uint64 // as many bytes as Scratch says
}

var reduceByKeyShape = shape{workgroup: 128, quads: 2, chunks: 1024}

// aggregateArrays is AggregateArrays of shaders/primitives/aggregate.glsl.
type aggregateArrays struct{ Sums, Mins, Maxs uint64 }

type reduceByKeyPush struct {
	Keys, Values    uint64
	Results, Firsts aggregateArrays
	Counts          uint64
	Length          length
}

type reduceByKeyJoinPush struct {
	Results, Firsts aggregateArrays
	Counts          uint64
	Chunks, Most    uint32
}

// runs returns the operands that are those of RunLength.
func (a ReduceByKeyArgs) runs() RunLengthArgs {
	return RunLengthArgs{Keys: a.Keys, OutKeys: a.OutKeys, OutCounts: a.OutCounts, OutRuns: a.OutRuns, Length: a.Length,
		Width: a.Widths.Key, Scratch: a.Scratch}
}

// reduces reports whether anything is wanted of the values.
func (a ReduceByKeyArgs) reduces() bool { return a.OutSums|a.OutMins|a.OutMaxs != 0 }

// wanted is WANTED of aggregate.glsl.
func (a ReduceByKeyArgs) wanted() recording.Specialization {
	return recording.Constant("WANTED", word(a.OutSums != 0)|word(a.OutMins != 0)<<1|word(a.OutMaxs != 0)<<2)
}

func (a ReduceByKeyArgs) suffix() string { return [...]string{"", "signed", "float"}[a.Type] }

func (a ReduceByKeyArgs) kernel() recording.Spec[reduceByKeyPush] {
	module := recording.OfPairs("primitives/reduce_by_key", a.Widths.Key, a.Widths.Value) + a.suffix()
	return recording.Of[reduceByKeyPush](module, reduceByKeyShape.workgroup, reduceByKeyShape.constant(), a.wanted())
}

func (a ReduceByKeyArgs) joinKernel() recording.Spec[reduceByKeyJoinPush] {
	module := fmt.Sprintf("primitives/reduce_by_key_join.v%d%s", a.Widths.Value.Bits(), a.suffix())
	return recording.Of[reduceByKeyJoinPush](module, reduceByKeyShape.workgroup, a.wanted())
}

func (a ReduceByKeyArgs) kernels(*Primitives) recording.Table {
	all := a.runs().kernelsOf(reduceByKeyShape)
	if a.reduces() && a.Type <= Float {
		all = append(all, a.kernel(), a.joinKernel())
	}
	return all
}

func (a ReduceByKeyArgs) check() error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := checkWidth(max(a.Widths.Key, a.Widths.Value)); err != nil {
		return err
	}
	if a.Type > Float {
		return &vk.OptionError{Option: "Type", Reason: a.Type.String() + " is not a type of values"}
	}
	if a.Length.N > 0 && a.reduces() && (a.Values == 0 || a.Scratch == 0) {
		return ErrNoMemory
	}
	return nil
}

// reduceByKeyScratch has room for the counts of runs, and for three numbers of up to 16 bytes for each chunk.
const reduceByKeyFirst = 16

func reduceByKeyScratch() int {
	return runLengthScratch(reduceByKeyShape) + 3*reduceByKeyFirst*reduceByKeyShape.chunks
}

// ReduceByKey records the reduction of the values of each run of equal adjacent keys: RunLength, with the sum, the
// least and the greatest value of each run, as far as OutSums, OutMins and OutMaxs have addresses. Sort the keys first
// to group by them. The outputs must have room for the greatest possible number of runs, at most Length.
//
// Sums are exact and can't overflow: those of 32-bit integers have 64 bits, and those of 64-bit integers 128, in two's
// complement with the low word first. Sums of floats have 64 bits, encoded as structures.KeyCode[float64] says, also on
// devices without doubles. Each addition is rounded, in an order that depends on the device. Minimum and maximum of
// floats are by their total order, so a NaN is greater than all numbers, or less if its sign bit is set.
//
// The time does not depend on the lengths of runs. ReduceByKey has one form, which first counts the runs of each chunk.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) ReduceByKey(s *vk.Stream, a ReduceByKeyArgs) error {
	return p.whole(s, func() error { return p.reduceByKey(s, a) })
}

func (p *Primitives) reduceByKey(s *vk.Stream, a ReduceByKeyArgs) error {
	if err := a.check(); err != nil {
		return err
	}
	if err := p.runLength(s, a.runs(), reduceByKeyShape); err != nil || !a.reduces() || a.Length.N == 0 {
		return err
	}
	k, err := a.kernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	firsts := a.Scratch + uint64(runLengthScratch(reduceByKeyShape))
	part := uint64(reduceByKeyFirst * reduceByKeyShape.chunks)
	push := reduceByKeyPush{
		Keys: a.Keys, Values: a.Values, Results: aggregateArrays{a.OutSums, a.OutMins, a.OutMaxs},
		Firsts: aggregateArrays{firsts, firsts + part, firsts + 2*part}, Counts: a.Scratch, Length: a.Length.device(),
	}
	chunks := reduceByKeyShape.chunksOf(a.Length.N, a.Widths.Key)
	k.Dispatch(s, chunks, push)
	if chunks == 1 {
		return nil
	}
	join, err := a.joinKernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	join.Dispatch(s, chunks-1, reduceByKeyJoinPush{push.Results, push.Firsts, push.Counts, uint32(chunks),
		uint32(a.Length.N)})
	return nil
}
