// Package ordered is the host half of the queries that ordered structures answer: lookups, neighbors, ranges and
// iterators, from Go slices and on streams, with the turns that calls take. What is a structure's own, how its kernels
// are recorded, it brings as a Recorder.
package ordered

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

// Recorder is a structure as its Reader sees it. What records is called by who has entered, and allocates scratch as it
// needs it.
type Recorder interface {
	// Err returns why the structure is not open; nil if it is.
	Err() error
	// Enter begins a call that reads the structure, beside others like it, and waits for the result, when no call
	// changes the structure; EnterOn one that records on a stream, and waits for nothing but that. Leave ends either.
	Enter(ctx context.Context) error
	EnterOn(ctx context.Context) error
	Leave()
	// On has a stream do what record records into it, all of it or nothing, and notes that it names the structure's
	// memory.
	On(s *vk.Stream, record func() error) error
	// Changes are those to the pairs.
	Changes() *recording.Changes
	Limits() Limits
	// Meter counts what is asked of the structure.
	Meter() *recording.Meter
	// Exact says that Survey tells how many pairs there are, and not only how many there may be.
	Exact() bool

	Find(s *vk.Stream, l Lookups) error
	Neighbors(s *vk.Stream, to structures.Direction, n Neighbors) error
	Survey(s *vk.Stream, v Survey) error
	Count(s *vk.Stream, c Counts) error
	Range(s *vk.Stream, r Ranges) error
	Rank(s *vk.Stream, r Ranks) error
	Select(s *vk.Stream, n Neighbors) error // whose Keys are ranks
	Export(s *vk.Stream, e structures.DeviceExport) error
	// Pairs adds the pairs of some ranges to others, range by range, and says how many each has. What Survey has said
	// of the ranges is given. On the stream nothing else is recorded meanwhile.
	Pairs(ctx context.Context, s *vk.Stream, ranges []structures.Range[uint64], candidates []uint32,
		to Sink) (counts []uint32, err error)
}

// Limits are what bounds queries from Go slices.
type Limits struct {
	VisitsAtOnce int    // the most steps of a search for a neighbor in one dispatch, while searches end
	Visits       uint64 // more steps than such a search has to make: only what a stray write leaves takes so many
	Parts        int    // more parts than a range has to be cut into because they are TooMany, but for the same reason
	Sections     int    // in how many parts, by keys, an iteration over all keys looks at the structure
}

// Lookups are lookups on the device: addresses.
type Lookups struct {
	Keys, Values uint64 // a word a lookup
	Found        uint64 // a byte a lookup, padded to whole words
	N            int
	CountAt      uint64 // 0, or where it is said how many of them; so in what follows
	Order        structures.LookupOrder
}

// Neighbors are searches for neighbors on the device, as structures.DeviceNeighbors.
type Neighbors struct {
	Keys, OutKeys, OutValues, Status, Left uint64
	N                                      int
	CountAt                                uint64
	Resume                                 bool
	Visits                                 int // steps behind which one that has found nothing is left pending; 0: many
}

// Survey asks how many pairs ranges have, or may have.
type Survey struct {
	Ranges uint64 // two words a range
	Out    uint64 // a word a range: the number, or TooMany
	N      int
	Whole  bool // however long it takes; otherwise what would take a dispatch too long is TooMany
}

// TooMany is what Survey says of ranges of which it can't say more.
const TooMany = ^uint32(0)

// Counts are ranges on the device whose keys are to be counted, as structures.DeviceCounts.
type Counts struct {
	Ranges, Out uint64
	Total       uint64 // 0: none
	N           int
	CountAt     uint64
}

// Ranges are ranges on the device whose pairs are asked for, as structures.DeviceRanges.
type Ranges struct {
	Ranges, Offsets, OutKeys, OutValues, Total uint64
	N                                          int
	CountAt                                    uint64
	Capacity                                   int // pairs that there is room for
	Candidates                                 int // that may be looked at
}

// Sink takes pairs that are read.
type Sink interface {
	// Grow makes room for n pairs, which may come.
	Grow(n int)
	// Extend adds n pairs, and returns where they are to be written.
	Extend(n int) (keys, values pipeline.Column)
}

// Reader answers queries.
type Reader struct {
	d         *vk.Device
	width     structures.Width // of keys and values on the device
	of        Recorder
	pipelines *pipeline.Pool
	own       *recording.Own
	progress  structures.Progress
}

// NewReader returns the reader of a structure.
func NewReader(d *vk.Device, w structures.Width, of Recorder, p *pipeline.Pool, own *recording.Own,
	progress structures.Progress) *Reader {
	return &Reader{d, w, of, p, own, progress}
}

// words is how many 32-bit words a key takes on the device, and a value.
func (r *Reader) words() int { return r.width.Bytes() / 4 }

// ask has n queries done, when their turn has come.
func (r *Reader) ask(ctx context.Context, n int, columns []pipeline.Column, task pipeline.Task) error {
	if err := r.of.Enter(ctx); err != nil {
		return err
	}
	defer r.of.Leave()
	return r.asked(ctx, n, columns, task)
}

// asked is ask by who has entered.
func (r *Reader) asked(ctx context.Context, n int, columns []pipeline.Column, task pipeline.Task) error {
	r.of.Meter().Query(n)
	return r.run(ctx, n, columns, task)
}

// run has queries done without counting them, as the structure asks for them itself.
func (r *Reader) run(ctx context.Context, n int, columns []pipeline.Column, task pipeline.Task) error {
	task.Progress = r.progress
	_, err := r.pipelines.Run(ctx, n, columns, task)
	return err
}

// Find looks n keys up.
func (r *Reader) Find(ctx context.Context, n int, keys, values, found pipeline.Column) error {
	return r.ask(ctx, n, []pipeline.Column{keys, values, found}, r.lookups())
}

// Lookup is Find by who has entered, for a purpose of the structure's own.
func (r *Reader) Lookup(ctx context.Context, n int, keys, values, found pipeline.Column) error {
	return r.run(ctx, n, []pipeline.Column{keys, values, found}, r.lookups())
}

func (r *Reader) lookups() pipeline.Task {
	return pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return r.of.Find(s, Lookups{Keys: c.Columns[0], Values: c.Columns[1], Found: c.Columns[2], N: c.Count})
		},
		Parts: pipeline.PartsOfQueries,
	}
}
