package structures

import (
	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/vk"
)

// DeviceUpdates are a batch of insertions or of deletions in device buffers, for an Ordered.
type DeviceUpdates struct {
	Count  int                // operations
	First  int                // where they begin in Keys and Values; they begin at 0 in Status
	Keys   *vk.Buffer[uint32] // the key of each
	Values *vk.Buffer[uint32] // the value of each; of deletions nil
	// Status is where the Status of each goes, or nil, which is faster: to know them, the keys have to be looked up.
	// Count rounded up to a multiple of 4 bytes.
	Status *vk.Buffer[uint8]
}

// LookupOrder is how lookups are done.
type LookupOrder uint8

const (
	// AutoOrder is what measured best for the number of lookups and of runs to search.
	AutoOrder LookupOrder = iota
	// OneByOne looks each key up by itself, in the order in which they come.
	OneByOne
	// SortedFirst brings the keys into order first, as far as it helps, so that neighbours look at the same places.
	SortedFirst
)

var lookupOrderNames = enum.Names[LookupOrder]{"auto", "one-by-one", "sorted-first"}

func (o LookupOrder) String() string { return lookupOrderNames.String(o) }

// DeviceLookups are a batch of lookups in device buffers, for an Ordered.
type DeviceLookups struct {
	Count  int
	Keys   *vk.Buffer[uint32]
	Values *vk.Buffer[uint32] // out: the value of each key, 0 if it is absent
	Found  *vk.Buffer[uint8]  // out: 1 if the key is there, else 0; Count rounded up to a multiple of 4 bytes
	Order  LookupOrder
}

// DeviceCounts are a batch of ranges in device buffers whose keys are to be counted, for an Ordered.
type DeviceCounts struct {
	Count  int                // ranges
	Ranges *vk.Buffer[uint32] // two words each: Lo and Hi
	Counts *vk.Buffer[uint32] // out: the keys of each
	// Candidates, if not nil, is one number, out: how many pairs lie in the ranges together, those among them that were
	// overwritten or deleted. With more than 2^31 nothing was counted.
	Candidates *vk.Buffer[uint64]
}

// DeviceRanges are a batch of ranges in device buffers whose pairs are asked for, for an Ordered.
type DeviceRanges struct {
	Count   int                // ranges
	Ranges  *vk.Buffer[uint32] // two words each: Lo and Hi
	Offsets *vk.Buffer[uint32] // out: Count+1 words: range i has the pairs Offsets[i] … Offsets[i+1]-1
	// Keys and Values, out: the pairs, in the order of the ranges and of their keys. Pairs that there is no room for
	// are not written, but Offsets count them.
	Keys, Values *vk.Buffer[uint32]
	// MaxCandidates is how many pairs may be looked at in all ranges together, those among them that were overwritten
	// or deleted. The memory that this takes is the structure's. 0: as many as there is room for pairs.
	MaxCandidates int
	// Candidates is one number, out: how many there are. If they are more than MaxCandidates, nothing was done and the
	// Offsets mean nothing.
	Candidates *vk.Buffer[uint64]
}

// DeviceNeighbors are a batch of keys in device buffers whose neighbors are asked for, for an Ordered.
type DeviceNeighbors struct {
	Count              int
	Keys               *vk.Buffer[uint32]
	OutKeys, OutValues *vk.Buffer[uint32] // out: the pair found, 0 and 0 where there is none
	Status             *vk.Buffer[uint8]  // out: Found, Absent or Pending; Count rounded up to a multiple of 4 bytes
	// Left is one word, to which the number of queries left pending is added. These met so many deleted keys in a row
	// or empty leaves that they were given up: FinishNeighbors carries them on. Who records the batch again, with Resume,
	// has them go on, too, without an end where a stray write leads them in circles. OutKeys keeps their place.
	Left   *vk.Buffer[uint32]
	Resume bool
}
