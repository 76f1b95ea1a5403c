// Package lsm is a dictionary in GPU memory that inserts and deletes batches about as fast as it sorts them. It is the
// GPU LSM of Ashkiani, Li, Farach-Colton, Amenta and Owens, GPU LSM: A Dynamic Dictionary Data Structure for the GPU
// (2018).
//
// Pairs are kept in levels. A level is empty, or a sorted run of b, 2b, 4b, … pairs; larger levels are older. A batch
// of b operations is sorted and merged with the full levels, from the lowest up to the first empty one, like the carry
// of a binary counter. A deletion inserts a tombstone. Pairs that were overwritten or deleted are stale: queries do not
// see them, but they take memory until a cleanup.
//
// Differences from the paper: a batch may have any size, keys have all their bits, and there are also the queries that
// the paper's footnote 1 leaves out.
//
// Batches follow the semantics of section III-A. If keys in a batch are equal, the last one counts. In a mixed batch,
// lookups and counts come before insertions, and insertions before deletions.
//
// Methods with Go slices copy a batch to the device and its results back, in overlapping chunks. LSM.On returns methods
// that record the same work on a stream, with device buffers, and do not wait unless they say so.
package lsm

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// LSM is a log-structured dictionary of pairs. It is safe for many goroutines: queries run at the same time, and calls
// that change the LSM run alone (see structures.Dictionary).
//
// Its updates and queries are those of structures.Updates and structures.Queries. Each operation of an update takes
// room until a cleanup, even an InsertUnique whose key is there. If there is no room for the tombstones of deletions,
// the call cleans up instead, which takes the memory of a Cleanup. For each stream, the LSM keeps temporary memory
// until Trim, Cleanup or Close.
type LSM[K, V structures.Number] struct {
	core    *lsm
	queries ordered.Queries[K, V]
}

var _ structures.Ordered[uint32, uint64] = (*LSM[uint32, uint64])(nil)

// of returns the public type of an LSM.
func of[K, V structures.Number](l *lsm, err error) (*LSM[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &LSM[K, V]{l, ordered.Queries[K, V]{Reader: l.core.Reader}}, nil
}

// open returns l, or an LSM that is not open if l is nil or a zero value.
func (l *LSM[K, V]) open() *LSM[K, V] {
	if l == nil || l.core == nil {
		l, _ = of[K, V](bare(saved.Pairs[K, V]()), nil)
	}
	return l
}

// New makes an empty LSM. Errors: *vk.OptionError; *structures.CapacityError, before memory for pairs is
// allocated, if there is too little memory for the options; *vk.OutOfMemoryError.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*LSM[K, V], error) {
	return of[K, V](newLSM(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes an LSM of pairs in any order, by one sort. If keys are equal, the last value stays. No pair of the result
// is stale. The pairs and the memory to sort them must fit into the device's memory at once; Insert needs less at a
// time.
//
// Errors: those of New, *structures.LengthError.
func Build[K, V structures.Number](ctx context.Context, d *vk.Device, keys []K, values []V,
	o Options) (*LSM[K, V], error) {
	columns := saved.Pairs[K, V]()
	p, err := pipeline.UpdatesOf(structures.Insert, keys, values, nil, columns.Width())
	if err != nil {
		return nil, err
	}
	return of[K, V](build(ctx, d, columns, p, o))
}

// Load makes an LSM from the file of any structure or of the command vkds. It reads r to its end. The types of keys and
// values must be those of the file, or wider (structures.TypeError). An Options.Batch of 0 is the Batch of the saved
// LSM. The values of a set become 0.
//
// Errors: *structures.SavedError, also if keys have several values; those of r; those of New; and those of Insert,
// without the PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*LSM[K, V], error) {
	return of[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// On returns the methods that record work on a stream, with device buffers.
//
// Update waits only for a DeviceCount. A deletion inserts tombstones. An update that depends on values that are there
// inserts the resulting values. If batches have Options.Batch operations and no Status, an Insert or Delete is one sort
// and, on average, one merge. Nothing is left pending, so Finish only waits.
//
// Updates take effect when they are recorded, and are taken back if the stream drops them. Later work, on other streams
// or without a stream, follows submitted updates automatically. It returns vk.ErrUnsubmitted while updates are recorded
// and not submitted. Updates return vk.ErrUnsubmitted while another stream has queries recorded and not submitted.
// Memory for levels is allocated when they are first needed, or ahead by Options.Capacity.
//
// Errors of Update: *structures.KindError, *structures.LengthError, *vk.LimitError, *vk.OutOfMemoryError,
// vk.ErrUnsubmitted, and those of making a kernel. Then the LSM is not changed. If the error comes before the first
// command is recorded, the stream stays as it was; otherwise the stream drops its batch.
func (l *LSM[K, V]) On(s *vk.Stream) structures.OrderedOnStream {
	return l.open().core.core.On(s)
}

// Reserve makes room for n pairs in all, including stale ones, like Options.Capacity. Cleanups keep this room. If there
// is room already, it does nothing. Errors: *structures.CapacityError, before anything is allocated;
// *vk.OutOfMemoryError; vk.ErrUnsubmitted.
func (l *LSM[K, V]) Reserve(ctx context.Context, n int) error {
	return l.open().core.reserve(ctx, n)
}

// Cleanup removes stale pairs and tombstones, and distributes the valid pairs over the levels (sections III-F and
// IV-E). It merges the runs, the newest first, packs the valid pairs, and splits them. It frees memory that is no
// longer needed, except what Options.Capacity asks for. It waits for the streams that work on the LSM.
//
// While it runs, it takes memory for two copies of all pairs, even beyond Options.MaxBytes. If there is too little
// memory, it first frees memory that holds no pairs. Errors: *vk.OutOfMemoryError, vk.ErrUnsubmitted if a stream has
// recorded work that was not submitted, the context's. After an error the LSM is as it was.
func (l *LSM[K, V]) Cleanup(ctx context.Context) error {
	return l.open().core.cleanup(ctx)
}

// Maintain cleans up if it is due by Options.Cleanup. Calls from Go slices that update do this themselves. If you
// update on streams, call it between updates, when no work on the LSM is under way. If there is no memory for a
// cleanup, it does nothing.
func (l *LSM[K, V]) Maintain(ctx context.Context) error {
	return l.open().core.maintain(ctx)
}

// Trim frees memory that holds no pairs: empty levels, and memory for merges and for queries on streams. It keeps what
// Options.Capacity asks for. The memory is allocated again when it is needed. Error: vk.ErrUnsubmitted if a stream has
// recorded updates that were not submitted.
func (l *LSM[K, V]) Trim() error {
	return l.open().core.trim()
}
