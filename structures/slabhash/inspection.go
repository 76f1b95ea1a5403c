package slabhash

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Inspection looks inside of a table.
type Inspection struct{ table *table }

// Inspect returns what looks inside of the map: statistics, the loads of its buckets, times of its kernels.
func (m *Map[K, V]) Inspect() Inspection { return Inspection{m.open()} }

// Inspect returns what looks inside of the set, as Map.Inspect.
func (s *Set[K]) Inspect() Inspection { return Inspection{s.open()} }

// Metrics returns what the host knows, without asking the device or waiting. The metrics of a shared pool are in it.
func (i Inspection) Metrics() structures.Metrics { return i.table.Metrics() }

// Stats measures the table. It waits for a kernel that reads all of it.
func (i Inspection) Stats(ctx context.Context) (Stats, error) { return i.table.Stats(ctx) }

// Loads returns what each bucket holds, bucket by bucket. It reads the table in parts, and the table must not change
// in between. An error comes last: structures.ErrChanged if it did, vk.ErrUnsubmitted if a stream has recorded updates
// and not submitted them, the context's.
func (i Inspection) Loads(ctx context.Context) iter.Seq2[BucketLoad, error] {
	return i.table.Loads(ctx)
}

// Timings returns how long the kernels of Flush, Rehash and Clear took on the device since the last call, by kernel:
// "flush", "rehash", "release" (of the slabs after the old base slabs). It is empty without Options.Timed.
func (i Inspection) Timings() []vk.Timing { return i.table.Timings() }
