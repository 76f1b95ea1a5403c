package structures

import (
	"context"

	"github.com/vkds/vkds/internal/enum"
)

// Range is the keys from Lo to Hi, both inclusive. With Lo above Hi it is empty.
type Range[K Number] struct{ Lo, Hi K }

// AllKeys is the range of every key.
func AllKeys[K Number]() Range[K] { return Range[K]{Least[K](), Greatest[K]()} }

// Ranges are the pairs of several ranges. Those of range i are Keys[Offsets[i]:Offsets[i+1]] with their Values, in
// key order. A pair that lies in two ranges is in both.
type Ranges[K, V Number] struct {
	Offsets []uint64 // one more than there are ranges
	Keys    []K
	Values  []V
}

// Neighbors are the nearest pairs of several keys: of key i, Keys[i] and Values[i] if Found[i], else 0.
type Neighbors[K, V Number] struct {
	Keys   []K
	Values []V
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

// Ordered is implemented by every dictionary that keeps its pairs in key order. The order is that of the type of the
// keys: signed and unsigned integers as Go compares them, floats by their total order (KeyCode).
//
// Apply does Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find and CountAll. A btree.Tree also does
// the kinds that ask for order. Batch says in which order the operations take effect.
type Ordered[K, V Number] interface {
	Dictionary[K, V]
	Queries[K, V]

	// DeleteRange removes the keys of each range, one range after the other, and returns how many each has removed: of
	// ranges that overlap, the first takes what they share. Where it fails, with a *PendingError of as many ranges as
	// may still have keys, the counts are of the keys that are gone.
	DeleteRange(ctx context.Context, ranges []Range[K]) (counts []uint32, err error)
}
