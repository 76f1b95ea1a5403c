package structures

import (
	"context"
	"iter"

	"github.com/vkds/vkds/internal/enum"
)

// Range is the keys from Lo to Hi, both inclusive. With Lo above Hi it is empty.
type Range struct{ Lo, Hi uint32 }

// AllKeys is the range of every key.
var AllKeys = Range{0, ^uint32(0)}

// Ranges are the pairs of several ranges. Those of range i are Keys[Offsets[i]:Offsets[i+1]] with their Values, in
// key order. A pair that lies in two ranges is in both.
type Ranges struct {
	Offsets []uint64 // one more than there are ranges
	Keys    []uint32
	Values  []uint32
}

// Neighbors are the nearest pairs of several keys: of key i, Keys[i] and Values[i] if Found[i], else 0.
type Neighbors struct {
	Keys   []uint32
	Values []uint32
	Found  []bool
}

// Direction says which neighbor of a key is asked for.
type Direction uint8

const (
	Successor   Direction = iota // the least key above it
	Predecessor                  // the greatest key below it
	Floor                        // the greatest key up to it, itself included
	Ceil                         // the least key from it on, itself included
)

var directionNames = enum.Names[Direction]{"successor", "predecessor", "floor", "ceil"}

func (d Direction) String() string { return directionNames.String(d) }

// Ordered is what every vkds dictionary does that keeps its pairs in key order, keys taken as unsigned numbers.
//
// Mixed batches (Apply) of an Ordered have an order, unlike those of a hash table: lookups and counts see what was there
// before the batch, then come the insertions, then the deletions: a key that is inserted and deleted in one batch is gone
// afterwards (section III-A of the GPU LSM's paper). Apply does Insert, Delete, Find and Count.
//
// A structure may say otherwise: btree.Tree does insertions and deletions of a mixed batch in the batch's order, and has
// a path on which the operations of mixed batches run concurrently, as those of a hash table do.
type Ordered interface {
	Dictionary

	// Count returns how many keys each range has.
	Count(ctx context.Context, ranges []Range) ([]uint32, error)
	// Range returns the pairs of each range.
	Range(ctx context.Context, ranges []Range) (Ranges, error)

	// Successor finds the least key above each key.
	Successor(ctx context.Context, keys []uint32) (Neighbors, error)
	// Predecessor finds the greatest key below each key.
	Predecessor(ctx context.Context, keys []uint32) (Neighbors, error)
	// Floor finds the greatest key up to each key, itself included.
	Floor(ctx context.Context, keys []uint32) (Neighbors, error)
	// Ceil finds the least key from each key on, itself included.
	Ceil(ctx context.Context, keys []uint32) (Neighbors, error)

	// Min returns the pair with the least key; found is false where there is none.
	Min(ctx context.Context) (key, value uint32, found bool, err error)
	// Max returns the pair with the greatest key.
	Max(ctx context.Context) (key, value uint32, found bool, err error)

	// Ascend returns the pairs of a range in key order. It reads them part by part, so the dictionary must not change
	// meanwhile. The sequence ends early if the device fails or ctx ends; the function then returned says so. All is
	// Ascend over AllKeys.
	Ascend(ctx context.Context, r Range) (iter.Seq2[uint32, uint32], func() error)
	// Descend is Ascend the other way round, the greatest key first.
	Descend(ctx context.Context, r Range) (iter.Seq2[uint32, uint32], func() error)
}
