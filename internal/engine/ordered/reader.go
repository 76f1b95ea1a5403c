// Package ordered is the host part of the queries on ordered structures: lookups, neighbors, ranges and iterators, from
// Go slices and on streams. It also makes calls wait for each other. Each structure brings a Recorder, which records
// its kernels.
package ordered

import (
	"context"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/handle"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Recorder is a structure as its Reader uses it. Methods that record are called after Enter or EnterOn, and allocate
// scratch as needed.
type Recorder interface {
	// Err returns an error if the structure is not open.
	Err() error
	// Enter begins a call that reads the structure and waits for the result. It waits until no call changes the
	// structure; several reading calls run at the same time. EnterOn begins a call that records on a stream, and waits
	// for nothing else. Leave ends both.
	Enter(ctx context.Context) error
	EnterOn(ctx context.Context) error
	Leave()
	// On records the commands of record into a stream, completely or not at all, and registers that they use the
	// structure's memory.
	On(s *vk.Stream, record func() error) error
	// Changes returns the changes of the pairs.
	Changes() *recording.Changes
	Limits() Limits
	// Exact reports whether Survey returns exact numbers of pairs, and not upper bounds.
	Exact() bool

	Find(s *vk.Stream, l Lookups) error
	Neighbors(s *vk.Stream, to structures.Direction, n Neighbors) error
	Survey(s *vk.Stream, v Survey) error
	Count(s *vk.Stream, c Counts) error
	Range(s *vk.Stream, r Ranges) error
	Rank(s *vk.Stream, r Ranks) error
	Select(s *vk.Stream, n Neighbors) error // Keys are ranks
	Export(s *vk.Stream, e structures.DeviceExport) error
	// Pairs adds the pairs of some ranges to a Sink, range by range, and returns the number of pairs of each.
	// candidates are the results of Survey. Nothing else is recorded on the stream at the same time. After
	// *vk.OutOfMemoryError the Sink is as it was.
	Pairs(ctx context.Context, s *vk.Stream, ranges []structures.Range[uint64], candidates []uint32,
		to Sink) (counts []uint32, err error)
}

// Limits has the bounds of queries from Go slices.
type Limits struct {
	VisitsAtOnce int    // the most steps of a search for a neighbor in one dispatch, as long as searches end
	Visits       uint64 // a bound on the steps of a search, exceeded only after a stray write
	Parts        int    // a bound on the parts of a range that are TooMany, in the same way
	Sections     int    // the number of parts, by keys, of an iteration over all keys
}

// Lookups is a batch of lookups on the device, as addresses.
type Lookups struct {
	Keys, Values uint64 // a word a lookup
	Found        uint64 // a byte a lookup, padded to whole words
	N            int
	CountAt      uint64 // 0, or the address of their number; the same in the types below
	Order        structures.LookupOrder
}

// Neighbors is a batch of searches for neighbors on the device, as structures.DeviceNeighbors.
type Neighbors struct {
	Keys, OutKeys, OutValues, Status, Left uint64
	N                                      int
	CountAt                                uint64
	Resume                                 bool
	Visits                                 int // steps after which a search without a result is left pending; 0: many
}

// Survey asks how many pairs ranges have, or at most have.
type Survey struct {
	Ranges uint64 // two words a range
	Out    uint64 // a word a range: the number, or TooMany
	N      int
	Whole  bool // count whatever time it takes; otherwise a range too large for one dispatch is TooMany
}

// TooMany is the result of Survey for ranges that it did not count.
const TooMany = ^uint32(0)

// Counts is a batch of ranges on the device whose keys are counted, as structures.DeviceCounts.
type Counts struct {
	Ranges, Out uint64
	Total       uint64 // 0: none
	N           int
	CountAt     uint64
}

// Ranges is a batch of ranges on the device whose pairs are listed, as structures.DeviceRanges.
type Ranges struct {
	Ranges, Offsets, OutKeys, OutValues, Total uint64
	N                                          int
	CountAt                                    uint64
	Capacity                                   int // room for pairs
	Candidates                                 int // the most that may be examined
}

// Sink receives pairs that are read.
type Sink interface {
	// Grow makes room for up to n more pairs.
	Grow(n int)
	// Extend adds n pairs, and returns the columns to write them to.
	Extend(n int) (keys, values pipeline.Column)
}

// Reader answers queries.
type Reader struct {
	h     *handle.Handle
	width structures.Width // of keys and values on the device
	of    Recorder
}

// NewReader returns the reader of a structure.
func NewReader(h *handle.Handle, w structures.Width, of Recorder) *Reader { return &Reader{h, w, of} }

// words returns the number of 32-bit words of a key, or of a value, on the device.
func (r *Reader) words() int { return r.width.Bytes() / 4 }

// ask enters and does n queries.
func (r *Reader) ask(ctx context.Context, n int, columns []pipeline.Column, task pipeline.Task) error {
	ctx, end := r.h.Progress.Begin(ctx)
	defer end()
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	r.h.Meter.Query(n)
	task.Progress = gate.Told(ctx)
	_, err := r.h.Pipelines.Run(ctx, n, columns, task)
	return err
}

// lookups looks up the keys of the first column.
func (r *Reader) lookups() pipeline.Task {
	return pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Find(s, Lookups{Keys: c.Columns[0], Values: c.Columns[1], Found: c.Columns[2], N: c.Count})
		},
		Parts: pipeline.PartsOfQueries,
	}
}

// Lookup looks up n keys for the structure itself, without counting them. The caller has entered.
func (r *Reader) Lookup(ctx context.Context, n int, keys, values, found pipeline.Column) error {
	task := r.lookups()
	task.Progress = gate.Told(ctx)
	_, err := r.h.Pipelines.Run(ctx, n, []pipeline.Column{keys, values, found}, task)
	return err
}
