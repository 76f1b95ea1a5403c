package structures

import (
	"context"

	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/vk"
)

// OnStream is what every dictionary does with batches in device buffers, by calls that record on a stream and, as a
// rule, do not wait. What may run concurrently, and which calls may wait, each structure says.
type OnStream interface {
	// UpdateOn records a batch of Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete; a structure may do
	// other kinds.
	UpdateOn(ctx context.Context, s *vk.Stream, kind Kind, b DeviceBatch) error
	// Finish waits for the stream, and has what such a batch has left pending done, until b.Left is 0.
	Finish(ctx context.Context, s *vk.Stream, kind Kind, b DeviceBatch) error
	// FindOn records lookups. Nothing may change the dictionary while they run.
	FindOn(s *vk.Stream, l DeviceLookups) error
	// ExportOn records the writing of all pairs, by which steps that follow on the stream can work on them. Nothing may
	// change the dictionary while it runs.
	ExportOn(s *vk.Stream, e DeviceExport) error
}

// ConcurrentOnStream is what those do, besides, whose batches may work on them at the same time.
type ConcurrentOnStream interface {
	OnStream
	// ApplyOn records a batch of one kind, or Mixed, whose operations run concurrently with each other and with those
	// of other streams. Their results are those of some sequential order, as Batch says of concurrent operations.
	ApplyOn(s *vk.Stream, kind Kind, b DeviceBatch) error
}

// OrderedOnStream is what those do that keep their keys in order. Nothing may change them while queries run.
type OrderedOnStream interface {
	OnStream
	QueriesOnStream
}

// DeviceExport is where all pairs go, in key order from dictionaries that keep one: as many as both buffers have room
// for.
type DeviceExport struct {
	Keys, Values *vk.Buffer[uint32]
	// Total is one word, out: how many pairs there are, those among them that there was no room for.
	Total *vk.Buffer[uint32]
}

// InShaders is what those have that other people's kernels work on; D is what describes one to its device-side
// functions.
type InShaders[D any] interface {
	// Device describes the structure as it is now: it goes into push constants, or into memory that these point to. It
	// holds until the next call that may give the structure more memory or another shape, and the structure says which
	// these are.
	Device() D
	// Constants are the specialization constants that such a kernel needs, by name. They last as long.
	Constants() map[string]uint32
	// UsedOn notes that what was recorded into a stream so far names the structure's memory, as Device describes it.
	UsedOn(s *vk.Stream)
}

// DeviceBatch is a batch of operations in device buffers. What a call has no use for may be nil.
//
// How many operations there are the device alone may know, and so it is with lookups, ranges and neighbors: DeviceCount
// is then one word, which an earlier step of the stream writes and the batch reads when it runs, and Count, which
// buffers are measured by, the most that there may be: a greater number is taken for Count. Time and temporary memory
// go by Count. Results behind the number are undefined. UpdateOn of lsm.LSM and of sortedarray.Array, whose pairs the
// host counts, wait for such a number, and so submit what the stream has recorded. No other call waits for it.
type DeviceBatch struct {
	Count       int                // operations
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them
	// First is where they begin in Keys and Values; in the other buffers they begin at 0.
	First  int
	Keys   *vk.Buffer[uint32] // the key of each
	Values *vk.Buffer[uint32] // the value of each, and what comes of it, as in Batch and Results; nil for Delete
	Kinds  *vk.Buffer[uint8]  // the kind of each; for Mixed only
	// Status is where the Status of each goes; Count rounded up to a multiple of 4 bytes. Left is one word, 0 at first,
	// to which the number of operations left pending is added. Either is nil where nobody wants to know. Finish still
	// works for the last such batch of a stream, by memory of the dictionary's own: else it is ErrSuperseded. UpdateOn
	// of what keeps its keys in order is faster without a Status, since it need not look the keys up, and leaves
	// nothing pending.
	Status *vk.Buffer[uint8]
	Left   *vk.Buffer[uint32]

	// Operations that ask for order (FindSuccessor to CountRange), alone or in a mixed batch, want a Width of 1 at
	// least; a mixed batch then has all of what follows but Windows. They may be concurrent with updates (Batch). A
	// dictionary without order takes none of them.
	Width int                // pairs that a range lists at most
	Highs *vk.Buffer[uint32] // of ranges the greatest key of each; the least is the operation's key
	// OutKeys and OutValues, out: the pairs of ranges and neighbors. Those of operation i begin at Width*i, or at
	// Width*Windows[i]; what is behind them, up to the next one's, is undefined. Values has, besides, the value of a
	// neighbor, 0 if there is none, and the number of a range's pairs.
	OutKeys, OutValues *vk.Buffer[uint32]
	Windows            *vk.Buffer[uint32] // nil: each operation's own number

	// OwnMoments, of a mixed batch on a btree.Tree: as in Batch. Others see what was there before the batch.
	OwnMoments bool

	// Alone says that nothing else changes the dictionary while the batch runs. A tree then locates its keys first, by
	// a kernel that reads without care.
	Alone bool
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

// DeviceLookups are a batch of lookups in device buffers.
type DeviceLookups struct {
	Count       int
	DeviceCount *vk.Buffer[uint32] // nil, or how many there are
	Keys        *vk.Buffer[uint32]
	Values      *vk.Buffer[uint32] // out: the value of each key, 0 if it is absent; nil for a set
	// Whether each key is there, out, as the next step wants it: Found is a byte each, 1 or 0, Count rounded up to a
	// multiple of 4 bytes; FoundBits a bit each, from the lowest of each word up, as primitives.Compact takes them. One
	// of them may be nil.
	Found     *vk.Buffer[uint8]
	FoundBits *vk.Buffer[uint32]
	Order     LookupOrder // of no account to a hash table
}

// DeviceCounts are a batch of ranges in device buffers whose keys are to be counted, for an Ordered.
type DeviceCounts struct {
	Count       int                // ranges
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them
	Ranges      *vk.Buffer[uint32] // two words each: Lo and Hi
	Counts      *vk.Buffer[uint32] // out: the keys of each
	// Candidates, if not nil, is one number, out: how many pairs lie in the ranges together, those among them that were
	// overwritten or deleted. With more than 2^31 nothing was counted.
	Candidates *vk.Buffer[uint64]
}

// DeviceRanges are a batch of ranges in device buffers whose pairs are asked for, for an Ordered.
type DeviceRanges struct {
	Count       int                // ranges
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them: those behind are taken for empty
	Ranges      *vk.Buffer[uint32] // two words each: Lo and Hi
	Offsets     *vk.Buffer[uint32] // out: Count+1 words: range i has the pairs Offsets[i] … Offsets[i+1]-1
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

// DeviceWindow are a batch of ranges in device buffers of which up to so many pairs each are asked for, for a
// btree.Tree. That takes half the time of DeviceRanges, since nobody has to know beforehand how many there are.
type DeviceWindow struct {
	Count       int                // ranges
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them
	Ranges      *vk.Buffer[uint32] // two words each: Lo and Hi
	Width       int                // pairs that are asked for of each range; Count times as many are less than 2^32
	// Keys and Values, out: range i has the first pairs in key order, from i*Width on. What is behind them, up to the
	// next range's, is undefined.
	Keys, Values *vk.Buffer[uint32]
	Counts       *vk.Buffer[uint32] // out: how many these are
}

// DeviceRanks are a batch of keys in device buffers whose ranks are asked for, for an Ordered.
type DeviceRanks struct {
	Count       int
	DeviceCount *vk.Buffer[uint32] // nil, or how many there are
	Keys        *vk.Buffer[uint32]
	Ranks       *vk.Buffer[uint32] // out: how many keys are less than each
}

// DeviceNeighbors are a batch of keys in device buffers whose neighbors are asked for, for an Ordered.
type DeviceNeighbors struct {
	Count              int
	DeviceCount        *vk.Buffer[uint32] // nil, or how many there are
	Keys               *vk.Buffer[uint32]
	OutKeys, OutValues *vk.Buffer[uint32] // out: the pair found, 0 and 0 where there is none
	Status             *vk.Buffer[uint8]  // out: Found, Absent or Pending; Count rounded up to a multiple of 4 bytes
	// Left is one word, to which the number of queries left pending is added. These met so many deleted keys in a row
	// or empty leaves that they were given up: FinishNeighbors carries them on. Who records the batch again, with
	// Resume, has them go on, too, without an end where a stray write leads them in circles. OutKeys keeps their place.
	Left   *vk.Buffer[uint32]
	Resume bool
}
