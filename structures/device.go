package structures

import (
	"context"

	"github.com/vkds/vkds/internal/engine/enum"
	"github.com/vkds/vkds/vk"
)

// OnStream has the calls of a dictionary on batches that lie in device buffers. Every dictionary has a method On, which
// returns them for a stream: d.On(stream).Find(lookups). The calls record work on the stream and, as a rule, do not
// wait. The documentation of each structure's On says which work may run concurrently, and which calls may wait.
type OnStream interface {
	// Update records a batch of Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete. A structure may
	// accept other kinds, too.
	Update(ctx context.Context, kind Kind, b DeviceBatch) error
	// Finish waits for the stream and completes the operations that the batch left pending, until b.Left is 0.
	Finish(ctx context.Context, kind Kind, b DeviceBatch) error
	// Find records lookups. The dictionary must not change while they run.
	Find(l DeviceLookups) error
	// Export records the writing of all pairs to device buffers, for later steps of the stream. The dictionary must
	// not change while it runs.
	Export(e DeviceExport) error
}

// ConcurrentOnStream has the calls of dictionaries on which several batches may run at the same time.
type ConcurrentOnStream interface {
	OnStream
	// Apply records a batch of one kind, or Mixed. Its operations run concurrently with each other and with those of
	// other streams. The results are those of some sequential order, as Batch describes for concurrent operations.
	Apply(kind Kind, b DeviceBatch) error
}

// OrderedOnStream has the calls of dictionaries that keep their keys in order. They must not change while queries run.
type OrderedOnStream interface {
	OnStream
	QueriesOnStream
}

// DeviceExport holds the buffers that an export writes to. It writes as many pairs as both Keys and Values have room
// for, in key order if the dictionary keeps one.
type DeviceExport struct {
	Made         Made // of NewDeviceExport
	Keys, Values *vk.Buffer[uint32]
	// Total is one word, out: the number of pairs, including those for which there was no room.
	Total *vk.Buffer[uint32]
}

// InShaders has what kernels of your own need to use a structure. Structures that can be used so have a method
// InShaders, which returns it. D describes a structure to its device-side functions.
type InShaders[D any] interface {
	// Description describes the structure as it is now. Put the result into push constants, or into memory that they
	// point to. It is valid until the next call that may allocate memory for the structure or rearrange it; each
	// structure lists these calls.
	Description() D
	// Constants returns the specialization constants that such a kernel needs, by name. They are valid as long as the
	// result of Description.
	Constants() map[string]uint32
	// UsedOn tells the structure that the work recorded into a stream so far uses its memory, as Description says.
	UsedOn(s *vk.Stream)
}

// DeviceBatch is a batch of operations in device buffers. Fields that a call does not use may be nil. Keys and values
// are words, as the table of Code says: signed keys and all floats are encoded.
//
// The number of operations may be known to the device alone. DeviceCount is then one word that an earlier step of the
// stream writes and that the batch reads when it runs. Count is then the greatest number that is possible: buffers are
// checked by it, time and temporary memory depend on it, and a greater DeviceCount counts as Count. Results after the
// last operation are undefined. The same holds for lookups, ranges and neighbors.
//
// Only Update of lsm.LSM and of sortedarray.Array waits for a DeviceCount, because there the host counts the pairs.
// It therefore submits what the stream has recorded.
//
// A Count of 0 is an empty batch: it needs no buffers, and the call does nothing, except that Range sets Offsets[0] and
// Candidates to 0 if there are such buffers. So it is for all structs of this package that describe device buffers.
type DeviceBatch struct {
	Made        Made               // of NewDeviceBatch
	Count       int                // operations; may be 0
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them
	// First is the index of the first operation in Keys and Values. In the other buffers operations begin at 0.
	First  int
	Keys   *vk.Buffer[uint32] // the key of each
	Values *vk.Buffer[uint32] // in and out: the value of each, as in Batch and Results; nil for Delete
	Kinds  *vk.Buffer[uint8]  // the kind of each; for Mixed only
	// Status, out, has the Status of each operation, as Count bytes, rounded up to a multiple of 4. Left is one word,
	// at first 0; the number of operations left pending is added to it. Either may be nil. The dictionary then keeps it
	// in its own memory, and Finish works only for the last such batch of a stream: for others it returns
	// ErrSuperseded.
	//
	// Update of ordered dictionaries is faster without a Status, because it then does not look up the keys. It leaves
	// nothing pending.
	Status *vk.Buffer[uint8]
	Left   *vk.Buffer[uint32]

	// Ordered queries (FindSuccessor to CountRange), alone or in a mixed batch, need a Width of at least 1. A mixed
	// batch with ordered queries needs all fields below except Windows. Ordered queries may run concurrently with
	// updates (Batch). Dictionaries without order do not accept them.
	Width int                // greatest number of pairs that a range lists
	Highs *vk.Buffer[uint32] // the greatest key of each range; its least key is in Keys
	// OutKeys and OutValues, out: the pairs of ranges and neighbors. Those of operation i begin at Width*i, or at
	// Width*Windows[i]; elements between its last pair and the next operation's first one are undefined. Values has the
	// value of each neighbor, 0 if there is none, and the number of pairs of each range.
	OutKeys, OutValues *vk.Buffer[uint32]
	Windows            *vk.Buffer[uint32] // nil: operation i has window i

	// OwnMoments is for a mixed batch on a btree.Tree and means the same as in Batch. Without it, ordered queries see
	// what was there before the batch.
	OwnMoments bool

	// Alone says that nothing else changes the dictionary while the batch runs. A tree then locates the keys first, by
	// a faster kernel that relies on this.
	Alone bool
}

// LookupOrder is the order in which lookups are done: AutoOrder, OneByOne or SortedFirst.
type LookupOrder uint8

const (
	// AutoOrder is the order that measured best for the number of lookups and of runs to search.
	AutoOrder LookupOrder = iota
	// OneByOne looks up each key by itself, in the order of the batch.
	OneByOne
	// SortedFirst sorts the keys first, as far as that helps, so that neighboring lanes read the same memory.
	SortedFirst
)

var lookupOrderNames = enum.Names[LookupOrder]{"auto", "one-by-one", "sorted-first"}

func (o LookupOrder) String() string { return lookupOrderNames.String(o) }

// DeviceLookups is a batch of lookups in device buffers.
//
// Keys and values are words, as the table of Code says: signed keys and all floats are encoded. An absent value is word
// 0, which is not the number 0 for floats: read Found first.
type DeviceLookups struct {
	Made        Made               // of NewDeviceLookups
	Count       int                // may be 0 (DeviceBatch)
	DeviceCount *vk.Buffer[uint32] // nil, or how many there are
	Keys        *vk.Buffer[uint32]
	Values      *vk.Buffer[uint32] // out: the value of each key, word 0 if it is absent; nil for a set
	// Found and FoundBits, out, tell whether each key is there, in the form that the next step needs. Found has a byte
	// for each key, 1 or 0, rounded up to a multiple of 4 bytes. FoundBits has a bit for each key, from the lowest bit
	// of each word up, as primitives.Compact takes it. One of them may be nil.
	Found     *vk.Buffer[uint8]
	FoundBits *vk.Buffer[uint32]
	Order     LookupOrder // ignored by hash tables
}

// DeviceCounts is a batch of ranges in device buffers whose keys an Ordered counts.
type DeviceCounts struct {
	Made        Made               // of NewDeviceCounts
	Count       int                // ranges; may be 0 (DeviceBatch)
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them
	Ranges      *vk.Buffer[uint32] // two words each: Lo and Hi
	Counts      *vk.Buffer[uint32] // out: the keys of each
	// Candidates, if not nil, is one number, out: the number of pairs in all ranges together, including pairs that were
	// overwritten or deleted. If it is greater than 2^31, nothing was counted.
	Candidates *vk.Buffer[uint64]
}

// DeviceRanges is a batch of ranges in device buffers whose pairs an Ordered lists.
type DeviceRanges struct {
	Made        Made               // of NewDeviceRanges
	Count       int                // ranges; may be 0 (DeviceBatch)
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them; later ranges count as empty
	Ranges      *vk.Buffer[uint32] // two words each: Lo and Hi
	Offsets     *vk.Buffer[uint32] // out: Count+1 words; range i has the pairs Offsets[i] … Offsets[i+1]-1
	// Keys and Values, out: the pairs, in the order of the ranges and of their keys. Pairs for which there is no room
	// are not written, but Offsets count them.
	Keys, Values *vk.Buffer[uint32]
	// MaxCandidates is the greatest number of pairs that may be examined in all ranges together, including pairs that
	// were overwritten or deleted. The structure provides the memory for them. 0: as many as Keys and Values have room
	// for.
	MaxCandidates int
	// Candidates is one number, out: how many such pairs there are. If it is greater than MaxCandidates, nothing was
	// written and the Offsets are undefined.
	Candidates *vk.Buffer[uint64]
}

// DeviceWindow is a batch of ranges in device buffers, of each of which a btree.Tree lists the first Width pairs. It
// takes half the time of DeviceRanges, because the numbers of pairs need not be known before they are written.
type DeviceWindow struct {
	Made        Made               // of NewDeviceWindow
	Count       int                // ranges; may be 0 (DeviceBatch)
	DeviceCount *vk.Buffer[uint32] // nil, or how many of them
	Ranges      *vk.Buffer[uint32] // two words each: Lo and Hi
	Width       int                // greatest number of pairs of a range; Count*Width is less than 2^32
	// Keys and Values, out: the first pairs of range i, in key order, begin at i*Width. Elements between its last pair
	// and the next range's first one are undefined.
	Keys, Values *vk.Buffer[uint32]
	Counts       *vk.Buffer[uint32] // out: how many pairs each range has there
}

// DeviceRanks is a batch of keys in device buffers whose ranks an Ordered finds.
type DeviceRanks struct {
	Made        Made               // of NewDeviceRanks
	Count       int                // may be 0 (DeviceBatch)
	DeviceCount *vk.Buffer[uint32] // nil, or how many there are
	Keys        *vk.Buffer[uint32]
	Ranks       *vk.Buffer[uint32] // out: for each key, how many keys are less
}

// DeviceNeighbors is a batch of keys in device buffers whose neighbors an Ordered finds.
type DeviceNeighbors struct {
	Made               Made               // of NewDeviceNeighbors
	Count              int                // may be 0 (DeviceBatch)
	DeviceCount        *vk.Buffer[uint32] // nil, or how many there are
	Keys               *vk.Buffer[uint32]
	OutKeys, OutValues *vk.Buffer[uint32] // out: the pair found, words 0 if there is none
	Status             *vk.Buffer[uint8]  // out: Found, Absent or Pending; Count rounded up to a multiple of 4 bytes
	// Left is one word; the number of searches left pending is added to it. A search is left pending if it meets too
	// many deleted keys or empty leaves in a row. OutKeys keeps its position, and FinishNeighbors continues it. To
	// continue the searches yourself, record the batch again with Resume set; but if a stray write has made a cycle in
	// memory, they never end.
	Left   *vk.Buffer[uint32]
	Resume bool
}
