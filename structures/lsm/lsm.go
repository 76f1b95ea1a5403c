// Package lsm is a dictionary in GPU memory that takes batches of insertions and deletions at the speed of sorting
// them: the GPU LSM of Ashkiani, Li, Farach-Colton, Amenta and Owens, "GPU LSM: A Dynamic Dictionary Data Structure for
// the GPU" (2018), over Vulkan.
//
// Pairs are kept in levels: sorted runs of b, 2b, 4b, … pairs, each full or empty, the larger ones older. A batch of b
// operations is sorted and merged with the full levels from the lowest on into the first empty one, as a carry runs
// through a binary number. A deletion inserts a tombstone. What was overwritten or deleted stays, invisible, until a
// cleanup. Unlike the original, a batch may have any size, no bit of keys is taken, and there are the queries that the
// paper's footnote 1 leaves out.
//
// Batches follow the semantics of section III-A: of equal keys in a batch the last one counts; a batch's lookups and
// counts come before its insertions, and these before its deletions.
//
// Methods take Go slices, copy a batch to the device and its results back, in overlapping chunks. Those that end in On
// record the same work on a stream, over device buffers, and do not wait.
package lsm

import (
	"context"
	"io"

	"github.com/vkds/vkds/internal/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/vk"
)

// LSM is a log-structured dictionary of pairs. Several goroutines may use one: queries run beside one another, and what
// changes it runs alone (structures.Dictionary says more).
//
// Its updates and queries are those of structures.Updates and structures.Queries. Each operation of an update takes
// room until a cleanup, also of an InsertUnique that finds its key. Where there is no room for the tombstones of
// deletions, these clean up on the way, which takes the memory of a Cleanup. Streams keep temporary memory of theirs
// until Trim, Cleanup or Close.
type LSM[K, V structures.Number] struct {
	core    *lsm
	queries ordered.Queries[K, V]
}

var (
	_ structures.Ordered[uint32, uint64] = (*LSM[uint32, uint64])(nil)
	_ structures.OrderedOnStream         = (*LSM[uint32, uint64])(nil)
)

// of is the front of an LSM.
func of[K, V structures.Number](l *lsm, err error) (*LSM[K, V], error) {
	if err != nil {
		return nil, err
	}
	return &LSM[K, V]{l, ordered.Queries[K, V]{Reader: l.core.Reader}}, nil
}

// open is the LSM itself, or, for a nil pointer or a zero value, one that is not open.
func (l *LSM[K, V]) open() *LSM[K, V] {
	if l == nil || l.core == nil {
		l, _ = of[K, V](bare(saved.Pairs[K, V]()), nil)
	}
	return l
}

// New makes an empty LSM. Errors: *structures.OptionError; *structures.CapacityError, before memory is taken for pairs,
// where there is none for what the options ask for; *vk.OutOfMemoryError.
func New[K, V structures.Number](ctx context.Context, d *vk.Device, o Options) (*LSM[K, V], error) {
	return of[K, V](newLSM(ctx, d, saved.Pairs[K, V](), o))
}

// Build makes an LSM of pairs in any order, by one sort: each level gets a part of them. Where a key comes twice, the
// last of its values stays, and nothing is stale. The pairs and what it takes to sort them have to fit into the
// device's memory at once; Insert takes more.
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

// Load makes an LSM of what any structure has saved, or vkds has, to the end of r: of the types that were saved, or of
// wider ones (structures.TypeError). An Options.Batch of 0 is what a saved LSM had; the values of a set are 0. Errors:
// *structures.SavedError, also where keys have several values; r's own; those of New and of Insert, without the
// PendingError around them.
func Load[K, V structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*LSM[K, V], error) {
	return of[K, V](load(ctx, d, r, saved.Pairs[K, V](), o))
}

// UpdateOn records a batch of structures.Insert, InsertUnique, InsertAdd, InsertMin, InsertMax or Delete from device
// buffers on a stream and does not wait, but for a DeviceCount: deleted keys are inserted as tombstones, and of those
// whose values depend on what is there the values that come of it. Where batches are of Options.Batch operations and no
// Status is asked for, an Insert or Delete is one sort and on average one merge. Nothing is left pending.
//
// Updates count from the moment when they are recorded, unless the stream drops them: then all is as it was. What comes
// later, on other streams and without one, comes behind what was submitted, by itself; while updates are recorded, but
// not submitted, it is vk.ErrUnsubmitted. So are updates while another stream has queries recorded, but not submitted.
// The memory for levels is allocated here when they are needed first; Options.Capacity has it allocated before.
//
// Errors: *structures.KindError, *structures.LengthError, *structures.LimitError, *vk.OutOfMemoryError,
// vk.ErrUnsubmitted, what making a kernel may return; nothing is changed then. What is refused before its first command
// leaves the stream as it was; after that the stream drops its batch.
func (l *LSM[K, V]) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.open().core.core.UpdateOn(ctx, s, kind, b)
}

// Finish waits for the stream: no batch leaves anything pending.
func (l *LSM[K, V]) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.open().core.core.Finish(ctx, s, kind, b)
}

// Reserve makes room for n pairs in all, stale ones among them, as Options.Capacity does: cleanups keep it. Less than
// there is room for does nothing. Errors: *structures.CapacityError, before anything is allocated;
// *vk.OutOfMemoryError; vk.ErrUnsubmitted.
func (l *LSM[K, V]) Reserve(ctx context.Context, n int) error {
	return l.open().core.reserve(ctx, n)
}

// Cleanup removes what is stale and the tombstones, and divides what is left among levels anew (sections III-F and
// IV-E): the runs are merged, the newest first, what is valid is packed, and cut up. Memory that is no longer needed
// is given back, but for what Options.Capacity asks for. It waits for the streams that work on the LSM.
//
// It takes memory for two copies of all pairs while it runs, whatever Options.MaxBytes says; where there is too little,
// it first gives back what holds no pairs. After an error, *vk.OutOfMemoryError, vk.ErrUnsubmitted where a stream has
// work recorded that was not submitted, or the context's, the LSM is as it was.
func (l *LSM[K, V]) Cleanup(ctx context.Context) error {
	return l.open().core.cleanup(ctx)
}

// Maintain cleans up if Options.Cleanup says that it is time. Insert, Delete and Apply call it; who updates on streams
// calls it in between, when no work on the LSM is under way. Where there is no memory for a cleanup, it does nothing.
func (l *LSM[K, V]) Maintain(ctx context.Context) error {
	return l.open().core.maintain(ctx)
}

// Stats measures the LSM, by a kernel that looks each pair's key up in all newer runs, and waits for it.
func (l *LSM[K, V]) Stats(ctx context.Context) (Stats, error) {
	return l.open().core.stats(ctx)
}

// Timings returns how long the stages of Build and Cleanup took on the device since the last call: "merge" (one a run),
// "pack", "distribute". Empty without Options.Timed.
func (l *LSM[K, V]) Timings() []vk.Timing {
	return l.open().core.timings()
}

// Trim gives back the memory that holds no pairs: empty levels, and what merging them and the queries of streams take.
// What Options.Capacity asks for stays. It is made again when it is needed. Error: vk.ErrUnsubmitted where a stream has
// updates recorded that were not submitted.
func (l *LSM[K, V]) Trim() error {
	return l.open().core.trim()
}
