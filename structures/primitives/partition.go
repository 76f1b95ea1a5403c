package primitives

import (
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// PartitionArgs are the operands of Partition.
type PartitionArgs struct {
	Keys         uint64           // address of Length keys
	Width        structures.Width // of a key
	Pairs        bool             // each element is two numbers, a key and its value
	OutKeys      uint64           // address of as many elements, for the result
	Destinations uint64           // address of Length words, out: the index in OutKeys of each key. 0: not wanted
	Sources      uint64           // the same, out: the index in Keys of each key of the result. 0: not wanted
	Length       Length
	Bits         int    // log2 of the number of parts: 1 to MaxPartitionBits
	Scratch      uint64 // as many bytes as Scratch says
}

// MaxPartitionBits is log2 of the most parts that Partition makes: each has a counter in a workgroup's shared memory.
const MaxPartitionBits = 8

// These values measured best on an H200: the invocations of a workgroup, the keys of each invocation in a tile, and the
// number of workgroups that count.
const (
	partitionWorkgroup = 512
	partitionItems     = 8
	partitionCounting  = 528

	partitionShared = 4 << 10 // the most bytes of shared memory that a workgroup has in addition to its tile
)

type partitionRangePush struct {
	Keys, Range, Counters uint64
	Bits, KeyShift        uint32
	Length                length
}

type partitionStartsPush struct {
	Counters uint64
	Bits     uint32
}

type partitionPlacePush struct {
	Keys, Sorted, Destinations, Sources, Range, Counters uint64
	Bits, KeyShift                                       uint32
	Length                                               length
}

// partitionKernels are the kernels of a Partition, by its width.
type partitionKernels struct {
	workgroup, each int // keys of an invocation in a tile
	choose, count   recording.Spec[partitionRangePush]
	starts          recording.Spec[partitionStartsPush]
	place           recording.Spec[partitionPlacePush]
}

func (p *Primitives) partitionKernels(w structures.Width) partitionKernels {
	workgroup, each := min(partitionWorkgroup, p.d.Info().MaxWorkgroup), partitionItems
	for each > 1 && workgroup*each*w.Bytes()+partitionShared > p.d.Info().SharedBytes {
		each /= 2
	}
	items := recording.Constant("ITEMS", uint32(each))
	return partitionKernels{workgroup, each,
		recording.Of[partitionRangePush](recording.OfKeys("primitives/partition_range", w), workgroup),
		recording.Of[partitionRangePush](recording.OfKeys("primitives/partition_count", w), workgroup, items),
		recording.Of[partitionStartsPush]("primitives/partition_starts", workgroup),
		recording.Of[partitionPlacePush](recording.OfKeys("primitives/partition_place", w), workgroup, items),
	}
}

func (a PartitionArgs) kernels(p *Primitives) recording.Table {
	k := p.partitionKernels(a.Width)
	return recording.Table{k.choose, k.count, k.starts, k.place}
}

// Partition records the division of keys into parts. A part is a range of keys, all ranges have the same width, and the
// parts follow one another in key order. Within a part the order is undefined. A sample of the keys determines the
// width, so keys that lie close together are divided as well; keys far from the others may share the first or the last
// part.
//
// Destinations tell where each key went, so that results computed in the new order can be read in the original order;
// within a tile, these reads are almost sequential. Sources tell where each key came from, for results that are too
// large to be moved.
//
// Errors: *structures.CountError, *vk.OptionError, ErrNoMemory, and those of making a kernel.
func (p *Primitives) Partition(s *vk.Stream, a PartitionArgs) error {
	return p.whole(s, func() error { return p.partition(s, a) })
}

func (p *Primitives) partition(s *vk.Stream, a PartitionArgs) error {
	if err := a.Length.check(); err != nil {
		return err
	}
	if err := checkWidth(a.Width); err != nil {
		return err
	}
	if a.Bits < 1 || a.Bits > MaxPartitionBits {
		return noBits(32-a.Bits, a.Bits, MaxPartitionBits, 32)
	}
	if a.Length.N == 0 {
		return nil
	}
	if a.Keys == 0 || a.OutKeys == 0 || a.Scratch == 0 {
		return ErrNoMemory
	}
	k := p.partitionKernels(a.Width)
	choose, err := k.choose.Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	count, err := k.count.Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	starts, err := k.starts.Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	place, err := k.place.Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	bits, length, tiles := uint32(a.Bits), a.Length.device(), groups(a.Length.N, k.workgroup*k.each)
	keyShift := uint32(2 + a.Width)
	if a.Pairs {
		keyShift++
	}
	counters := a.Scratch + recording.Align
	read := partitionRangePush{Keys: a.Keys, Range: a.Scratch, Counters: counters, Bits: bits, KeyShift: keyShift,
		Length: length}
	choose.Dispatch(s, 1, read)
	count.Dispatch(s, min(tiles, partitionCounting), read)
	starts.Dispatch(s, 1, partitionStartsPush{counters, bits})
	place.Dispatch(s, tiles, partitionPlacePush{a.Keys, a.OutKeys, a.Destinations, a.Sources, a.Scratch, counters, bits,
		keyShift, length})
	return nil
}
