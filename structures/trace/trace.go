// Package trace reads what kernels did, step by step: which operation read which node, took which latch,
// wrote which slot and split which node, in which order. The idea is that of the visual debugger in T. D. Duong's
// thesis, Implementation of B-trees on GPU (2021), whose kernels print commands.
//
//	d, err := vk.Open(vk.Options{Trace: traced.Kernels(1 << 20)}) // package shaders/traced
//	…                                                             // change structures
//	t, err := trace.Take(ctx, d)
//
// Concurrent updates of hash tables, trees and graphs write events, operation by operation. Merges of an LSM write one
// a tile. A tree's batched updates and all queries write none. Kernels that write events are slower.
package trace

import (
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// What is the kind of an event.
type What uint16

// The events. Place is where it happened: a node of a tree, by the number that its Inspect().Nodes has; a slab of a
// hash table or graph, or a sorted run of an LSM, by the line of 128 bytes that the address of the slab or of the run's
// keys is in.
const (
	Begin     What = 1 + iota // an operation begins: Place is its invocation, Other its structures.Kind
	End                       // it ends: Other is its structures.Status
	Visit                     // Place was read, once or several times in a row
	Side                      // a side link is followed from Place to Other
	Restart                   // the operation goes back to the root
	Latch                     // Place's latch was taken. Other is its level, Key how often a latch had been found taken
	Latched                   // another operation has Place's latch. Other is Place's level
	Release                   // Place's latch is released
	Write                     // Key and Value were put into slot Other
	Change                    // the value of Key in slot Other was replaced by Value, or combined with it
	Erase                     // Key in slot Other was erased
	Lost                      // another operation was faster at slot Other
	Link                      // slab Other was appended to slab Place
	Split                     // Place was split: from Key on, its content is now in Other. Value is its level
	Grow                      // the root was split into Other and Value, which has what is from Key on
	Separator                 // Key was put into the inner node Place as a separator, with the child Other
	Clean                     // erased slots of the leaf Place became free
	Keep                      // the content of the leaf Place was kept for snapshots, as version Other
	Row                       // the run Place is row Other of an LSM: 0 is the front, i level i-1
	Merge                     // a tile was merged into the run Place; Merged tells of which runs, and how many pairs
	Index                     // the run Place, of Other pairs, got its index
	Mark                      // those of the run Place's Other pairs that are valid were marked, to be packed
)

var names = [...]string{Begin: "begin", End: "end", Visit: "visit", Side: "side link", Restart: "restart",
	Latch: "latch", Latched: "latched", Release: "release", Write: "write", Change: "change", Erase: "erase",
	Lost: "lost", Link: "link", Split: "split", Grow: "grow", Separator: "separator", Clean: "clean", Keep: "keep",
	Row: "row", Merge: "merge", Index: "index", Mark: "mark"}

func (w What) String() string {
	if int(w) < len(names) && names[w] != "" {
		return names[w]
	}
	return fmt.Sprintf("event %d", uint16(w))
}

// NoOperation is the Operation of what isn't done for one: leaves are kept for a snapshot before a batch begins, a hash
// table's pairs are moved to new slabs when it grows, and an LSM merges whole batches.
const NoOperation = math.MaxUint32

// Event is one step of an operation.
type Event struct {
	What         What
	Kernel       uint16 // the index of its name in Trace.Kernels
	Operation    uint32 // which one, in the order in which they began; NoOperation: what is done for none
	Place, Other uint32
	// Key and Value are words, as structures.KeyCode and ValueCode make them. In two buckets of a hash table, slots
	// have other words of keys than operations (slab_hash.glsl). In a graph, an operation is one of an arc: its Key has
	// the source in the upper half and the destination in the lower one. An arc's slot has the destination plus 1.
	Key, Value uint64
}

// Trace is a sequence of events, in the order in which the kernels numbered them. Each event was numbered just before
// or after what it tells, so events of different operations may be in another order than what they tell: of two values
// that a key gets at the same time, the last one told may not be the one that it has. Those of one operation are not.
// An operation that waits for a latch tells of the first eight times that it finds one taken, and then nothing of its
// way until it takes one.
type Trace struct {
	Device  string // its name
	Kernels []string
	Events  []Event
	Dropped uint64 // events for which there was no room
}

// Merged is what a Merge says: of which runs (0: none, so it is a copy), how many pairs the tile has, and how many the
// whole merge. Event.Other is the number of the tile's first pair. Two merges may be of the same runs: one writes what
// goes to the levels, the other the rest, which goes to the front.
type Merged struct{ Older, Newer, Pairs, Whole uint32 }

// Merged returns what a Merge says.
func (e Event) Merged() Merged {
	return Merged{uint32(e.Key), uint32(e.Key >> 32), uint32(e.Value), uint32(e.Value >> 32)}
}

const eventWords = 8

// Take returns the events of a device since the last call, and makes room for the next ones. Call it while no updates
// run. Errors: those of vk.Device.Traced.
func Take(ctx context.Context, d *vk.Device) (*Trace, error) {
	from, err := d.Traced(ctx)
	if err != nil {
		return nil, err
	}
	t := &Trace{Device: d.Info().Name, Kernels: from.Kernels, Dropped: from.Dropped}
	t.Events = make([]Event, len(from.Words)/eventWords)
	for i := range t.Events {
		w := from.Words[eventWords*i:]
		t.Events[i] = Event{What: What(w[0]), Kernel: uint16(w[0] >> 16), Operation: w[1], Place: w[2], Other: w[3],
			Key: uint64(w[4]) | uint64(w[5])<<32, Value: uint64(w[6]) | uint64(w[7])<<32}
	}
	return t, nil
}

// Operation is what one operation did.
type Operation struct {
	Kind   structures.Kind
	Key    uint64
	Value  uint64            // what it inserts or combines
	Status structures.Status // Pending if it has no End
	Events []int             // the indices of its events
}

// Operations returns the operations whose beginning the trace has, by their numbers. An operation that was left pending
// and done again is two of them. One that was combined with an equal one of its subgroup begins and ends, and does
// nothing.
func (t *Trace) Operations() map[uint32]*Operation {
	all := map[uint32]*Operation{}
	for i, e := range t.Events {
		if e.What == Begin {
			all[e.Operation] = &Operation{Kind: structures.Kind(e.Other), Key: e.Key, Value: e.Value}
		}
		if o := all[e.Operation]; o != nil {
			o.Events = append(o.Events, i)
			if e.What == End {
				o.Status = structures.Status(e.Other)
			}
		}
	}
	return all
}
