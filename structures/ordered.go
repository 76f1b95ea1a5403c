package structures

import (
	"context"

	"github.com/vkds/vkds/internal/engine/enum"
)

// Range is the keys from Lo to Hi, both inclusive. If Lo is greater than Hi, it is empty.
type Range[K Number] struct{ Lo, Hi K }

// AllKeys returns the range of all keys.
func AllKeys[K Number]() Range[K] { return Range[K]{Least[K](), Greatest[K]()} }

// Ranges has the pairs of several ranges. Those of range i are Keys[Offsets[i]:Offsets[i+1]] with their Values, in key
// order. A pair that lies in two ranges is in both.
type Ranges[K, V Number] struct {
	Offsets []uint64 // one more than the number of ranges
	Keys    []K
	Values  []V
}

// Neighbors has the nearest pair of each of several keys. The pair of key i is Keys[i] and Values[i] if Found[i] is
// true; otherwise both are 0.
type Neighbors[K, V Number] struct {
	Keys   []K
	Values []V
	Found  []bool
}

// Direction is which neighbor of a key is searched for: Successor, Predecessor, Floor or Ceil.
type Direction uint8

const (
	Successor   Direction = iota // the least key above it
	Predecessor                  // the greatest key below it
	Floor                        // the greatest key that is not above it
	Ceil                         // the least key that is not below it
)

var directionNames = enum.Names[Direction]{"successor", "predecessor", "floor", "ceil"}

func (d Direction) String() string { return directionNames.String(d) }

// Ordered is implemented by every dictionary that keeps its pairs in key order: integers as Go compares them, floats in
// their total order (KeyCode).
//
// Apply does Insert, InsertUnique, InsertAdd, InsertMin, InsertMax, Delete, Find and CountAll. A btree.Tree also does
// ordered queries (Kind.Ordered). Batch says in which order the operations take effect.
type Ordered[K, V Number] interface {
	Dictionary[K, V]
	Queries[K, V]

	// DeleteRange removes the keys of each range, one range after the other, and returns how many it removed for each.
	// If ranges overlap, the first one counts the keys that they share. If it fails, it returns a *PendingError with
	// the number of ranges that may still have keys, and the counts of the keys that it did remove.
	DeleteRange(ctx context.Context, ranges []Range[K]) (counts []uint32, err error)
}
