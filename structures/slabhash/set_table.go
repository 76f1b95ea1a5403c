package slabhash

import (
	"context"
	"io"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Len counts the keys, by a kernel that reads the table.
func (s *Set[K]) Len(ctx context.Context) (uint64, error) {
	return s.open().Len(ctx)
}

// Stats measures the table, as Map.Stats.
func (s *Set[K]) Stats(ctx context.Context) (Stats, error) {
	return s.open().Stats(ctx)
}

// Metrics are what the host knows, as Map.Metrics.
func (s *Set[K]) Metrics() structures.Metrics { return s.open().Metrics() }

// Loads returns what each bucket holds, as Map.Loads.
func (s *Set[K]) Loads(ctx context.Context) iter.Seq2[BucketLoad, error] {
	return s.open().Loads(ctx)
}

// Clear removes all keys, as Map.Clear.
func (s *Set[K]) Clear(ctx context.Context) error {
	return s.open().Clear(ctx)
}

// Reserve makes room for n keys in all, as Map.Reserve.
func (s *Set[K]) Reserve(ctx context.Context, n int) error {
	return s.open().Reserve(ctx, n)
}

// Flush compacts the buckets in place, as Map.Flush.
func (s *Set[K]) Flush(ctx context.Context) error {
	return s.open().Flush(ctx)
}

// Rehash moves the keys to so many buckets, as Map.Rehash.
func (s *Set[K]) Rehash(ctx context.Context, buckets int) error {
	return s.open().Rehash(ctx, buckets)
}

// Save writes all keys and Options.Load to w, as Map.Save.
func (s *Set[K]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return s.open().Save(ctx, w)
}

// UpdateOn is ApplyOn of updates of one kind, as Map.UpdateOn. A batch brings no values.
func (s *Set[K]) UpdateOn(ctx context.Context, stream *vk.Stream, kind structures.Kind,
	b structures.DeviceBatch) error {
	return s.open().UpdateOn(ctx, stream, kind, b)
}

// ApplyOn records a batch of operations on a stream and does not wait, as Map.ApplyOn. A batch brings no values.
func (s *Set[K]) ApplyOn(stream *vk.Stream, kind structures.Kind,
	b structures.DeviceBatch) error {
	return s.open().ApplyOn(stream, kind, b)
}

// Finish waits for the stream, and has what is pending of a batch done, as Map.Finish.
func (s *Set[K]) Finish(ctx context.Context, stream *vk.Stream, kind structures.Kind,
	b structures.DeviceBatch) error {
	return s.open().Finish(ctx, stream, kind, b)
}

// ExportOn records the writing of all keys, as Map.ExportOn. Values may be nil.
func (s *Set[K]) ExportOn(stream *vk.Stream, e structures.DeviceExport) error {
	return s.open().ExportOn(stream, e)
}

// FindOn records lookups on a stream and does not wait, as Map.FindOn. It writes no values.
func (s *Set[K]) FindOn(stream *vk.Stream, q structures.DeviceLookups) error {
	return s.open().FindOn(stream, q)
}

// Device describes the table to kernels, as Map.Device.
func (s *Set[K]) Device() Device {
	return s.open().Device()
}

// Constants are the specialization constants that a kernel over this table needs, as Map.Constants.
func (s *Set[K]) Constants() map[string]uint32 {
	return s.open().Constants()
}

// UsedOn notes that what was recorded into a stream so far names the table's memory, as Map.UsedOn.
func (s *Set[K]) UsedOn(stream *vk.Stream) {
	s.open().UsedOn(stream)
}

// Timings returns how long the kernels of Flush, Rehash and Clear took, as Map.Timings.
func (s *Set[K]) Timings() []vk.Timing { return s.open().Timings() }

// Prepare makes all kernels that calls may need, so that no later call makes one (structures.Dictionary).
func (s *Set[K]) Prepare(ctx context.Context) error {
	return s.open().Prepare(ctx)
}

// Close frees the table's memory, as Map.Close.
func (s *Set[K]) Close() error {
	return s.open().Close()
}
