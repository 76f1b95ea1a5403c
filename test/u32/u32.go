// Package u32 has short names for what package structures has, at keys and values that are 32-bit words: as most
// tests' numbers are.
package u32

import "github.com/vkds/vkds/structures"

// Each is structures' type of that name.
type (
	Pair       = structures.Pair[uint32, uint32]
	Pairs      = structures.Pairs[uint32, uint32]
	Batch      = structures.Batch[uint32, uint32]
	Results    = structures.Results[uint32, uint32]
	Range      = structures.Range[uint32]
	Ranges     = structures.Ranges[uint32, uint32]
	Neighbors  = structures.Neighbors[uint32, uint32]
	Updates    = structures.Updates[uint32, uint32]
	Queries    = structures.Queries[uint32, uint32]
	Dictionary = structures.Dictionary[uint32, uint32]
	Ordered    = structures.Ordered[uint32, uint32]
)

// AllKeys is the range of every key.
var AllKeys = structures.AllKeys[uint32]()
