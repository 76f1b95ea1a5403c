package slabhash

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Table is what a Map and a Set do alike, whatever their types: both embed it, so that these are methods of their own.
type Table struct{ t anyTable }

// anyTable is a table of words of any width.
type anyTable interface {
	len(ctx context.Context) (uint64, error)
	stats(ctx context.Context) (Stats, error)
	metrics() structures.Metrics
	loads(ctx context.Context) iter.Seq2[BucketLoad, error]
	clear(ctx context.Context) error
	reserve(ctx context.Context, n int) error
	flush(ctx context.Context) error
	rehashTo(ctx context.Context, buckets int) error
	save(ctx context.Context, w io.Writer) (int64, error)
	prepare(ctx context.Context) error
	updateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error
	applyOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error
	finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error
	exportOn(s *vk.Stream, e structures.DeviceExport) error
	findOn(s *vk.Stream, q structures.DeviceLookups) error
	described() Device
	constants() map[string]uint32
	usedOn(s *vk.Stream)
	timings() []vk.Timing
	Close() error
}

// table is that of an open Table, or one that isn't open.
func (x Table) table() anyTable {
	if x.t == nil {
		return &table[uint32]{}
	}
	return x.t
}

// Len counts the pairs, by a kernel that reads the table.
func (x Table) Len(ctx context.Context) (uint64, error) {
	return x.table().len(ctx)
}

// Stats measures the table, by a kernel that goes over all of it, and waits for that.
func (x Table) Stats(ctx context.Context) (Stats, error) {
	return x.table().stats(ctx)
}

// Metrics are what the host knows, without a look at the table and without a turn. Those of a shared pool are in them.
func (x Table) Metrics() structures.Metrics { return x.table().metrics() }

// Loads returns what each bucket holds, bucket by bucket. The table is read part by part, so it must not change
// meanwhile. An error comes last: structures.ErrChanged if it did, vk.ErrUnsubmitted if a stream has
// recorded updates and not submitted them, the context's.
func (x Table) Loads(ctx context.Context) iter.Seq2[BucketLoad, error] {
	return x.table().loads(ctx)
}

// Clear removes all pairs; the number of buckets stays. It waits for the streams that work on the table, and where
// one has work recorded that was not submitted, it is vk.ErrUnsubmitted.
func (x Table) Clear(ctx context.Context) error {
	return x.table().clear(ctx)
}

// Reserve makes room for n pairs in all, as Options.Capacity does: as long as there are no more, erased ones among
// them, insertions neither rehash the table nor, but for bad luck with the hash function, grow its pool. Less than
// there is room for does nothing. It waits for the streams that work on the table, and where one has work recorded
// that was not submitted, it is vk.ErrUnsubmitted. Errors also: *structures.CapacityError, before anything is
// allocated; those of Rehash.
func (x Table) Reserve(ctx context.Context, n int) error {
	return x.table().reserve(ctx, n)
}

// Flush compacts the buckets in place and gives slabs back to the pool (FLUSH). A cancelled flush is
// harmless: some buckets are then compacted and others are not.
func (x Table) Flush(ctx context.Context) error {
	return x.table().flush(ctx)
}

// Rehash moves the pairs to so many buckets, at least 4; 0: as many as Options.Load asks for. The new
// base slabs are made before the old ones go. It waits for the streams that work on the table, and where one has
// work recorded that was not submitted, it is vk.ErrUnsubmitted. After an error the table is as it was.
func (x Table) Rehash(ctx context.Context, buckets int) error {
	return x.table().rehashTo(ctx, buckets)
}

// Save writes all pairs and Options.Load to w, so that Load makes such a table of them, and returns how many bytes
// w took. It is one call: what changes the table waits until it ends; w must not use the table, but for its queries
// on streams. Errors: w's, structures.ErrChanged where kernels have changed the table meanwhile, the context's,
// what Chunks ends with.
func (x Table) Save(ctx context.Context, w io.Writer) (int64, error) {
	return x.table().save(ctx, w)
}

// WriteTo is Save without a context: io.WriterTo.
func (x Table) WriteTo(w io.Writer) (int64, error) {
	return x.Save(context.Background(), w)
}

// UpdateOn is ApplyOn of updates of one kind: Insert to DeleteAll.
func (x Table) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return x.table().updateOn(ctx, s, kind, b)
}

// ApplyOn records a batch of operations of one kind, or structures.Mixed, on a stream and does not
// wait. Batches on several streams may work on the table at the same time. Where the pool is full, or buckets
// are long, operations are left pending; give the batch to Finish for them once no stream works on the table.
// Neither looks at the table's load: call Rehash when Stats says so.
//
// A mixed batch gives up sooner in long buckets than one of a single kind, since the host does not know its kinds. If
// keys get hundreds of values and more, InsertDuplicate and DeleteAll are faster in batches of their own.
func (x Table) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return x.table().applyOn(context.Background(), s, kind, b)
}

// Finish waits for the stream, and has what is pending of a batch done: it grows the pool and
// dispatches again, until b.Left is 0. No other stream may work on the table: Finish waits for those that do, and
// where one has work recorded that was not submitted, it is a *structures.PendingError around vk.ErrUnsubmitted.
func (x Table) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return x.table().finish(ctx, s, kind, b)
}

// ExportOn records the writing of all pairs, in no order, on a stream and does not wait. Nothing may change the table
// until it is done. Of a set Values may be nil.
func (x Table) ExportOn(s *vk.Stream, e structures.DeviceExport) error {
	return x.table().exportOn(s, e)
}

// FindOn records lookups on a stream and does not wait. They read faster than ApplyOn's, but nothing may
// change the table while they run.
func (x Table) FindOn(s *vk.Stream, q structures.DeviceLookups) error {
	return x.table().findOn(s, q)
}

// Device describes the table to kernels. Of a table that is closed, or whose pool is, it is the zero value.
func (x Table) Device() Device {
	return x.table().described()
}

// Constants are the specialization constants that a kernel over this table needs, by name: TILE as it is
// best for updates, and those of the pool. They may change when the table grows.
func (x Table) Constants() map[string]uint32 {
	return x.table().constants()
}

// UsedOn notes that what was recorded into a stream so far names the table's memory, as Device describes it:
// kernels of your own, for the table's methods do so themselves. Calls that replace that memory wait until the work
// has ended, or return vk.ErrUnsubmitted where it was not submitted; Close frees it behind the work.
func (x Table) UsedOn(s *vk.Stream) {
	x.table().usedOn(s)
}

// Timings returns how long the kernels of Flush, Rehash and Clear took on the device since the last call,
// by kernel: "flush", "rehash", "release" (of the slabs behind the old base slabs). Empty without
// Options.Timed.
func (x Table) Timings() []vk.Timing { return x.table().timings() }

// Close frees the table's memory, and gives the slabs of a shared pool back. What streams have recorded or
// submitted is allowed to end first: the memory goes when the streams find that it has. But the slabs of a shared
// pool can't go back then: with work recorded that was not submitted, Close returns vk.ErrUnsubmitted, and the
// table stays open.
func (x Table) Close() error {
	return x.table().Close()
}
