package slabhash

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Inspection reports statistics and other internals of a table.
type Inspection struct{ table *table }

// Inspect returns the map's Inspection: statistics, the loads of its buckets, and kernel times.
func (m *Map[K, V]) Inspect() Inspection { return Inspection{m.open()} }

// Inspect returns the set's Inspection, as Map.Inspect.
func (s *Set[K]) Inspect() Inspection { return Inspection{s.open()} }

// Metrics returns what the host knows, without waiting for the device. It includes the metrics of a shared pool.
func (i Inspection) Metrics() structures.Metrics { return i.table.Metrics() }

// Stats measures the table. It waits for the updates that streams have submitted, and for a kernel that reads all of
// the table. Errors: vk.ErrUnsubmitted if a stream has recorded updates and not submitted them; the context's.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.table.Stats(ctx) }

// Loads returns the load of each bucket, in order, or of each group of 16 buckets that share slabs. It reads the table
// in parts, and the table must not change in between. Errors, which come last: structures.ErrChanged if it did;
// vk.ErrUnsubmitted if a stream has recorded updates and not submitted them; the context's.
func (i Inspection) Loads(ctx context.Context) iter.Seq2[BucketLoad, error] {
	return i.table.Loads(ctx)
}

// Timings returns how long the kernels of Flush, Rehash and Clear took on the device since the last call, by kernel:
// "flush", "rehash" and "release" (of the slabs after base slabs). It is empty without Options.Timed.
func (i Inspection) Timings() []vk.Timing { return i.table.Timings() }
