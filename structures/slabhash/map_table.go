package slabhash

import (
	"context"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Len counts the pairs, by a kernel that reads the table.
func (m *Map[K, V]) Len(ctx context.Context) (uint64, error) {
	return m.open().Len(ctx)
}

// Clear removes all pairs; the number of buckets stays. It waits for the streams that work on the table, and where
// one has work recorded that was not submitted, it is vk.ErrUnsubmitted.
func (m *Map[K, V]) Clear(ctx context.Context) error {
	return m.open().Clear(ctx)
}

// Reserve makes room for n pairs in all, as Options.Capacity does: as long as there are no more, erased ones among
// them, insertions neither rehash the table nor, but for bad luck with the hash function, grow its pool. Less than
// there is room for does nothing. It waits for the streams that work on the table, and where one has work recorded
// that was not submitted, it is vk.ErrUnsubmitted. Errors also: *structures.CapacityError, before anything is
// allocated; those of Rehash.
func (m *Map[K, V]) Reserve(ctx context.Context, n int) error {
	return m.open().Reserve(ctx, n)
}

// Flush compacts the buckets in place and gives slabs back to the pool (FLUSH). A cancelled flush is
// harmless: some buckets are then compacted and others are not.
func (m *Map[K, V]) Flush(ctx context.Context) error {
	return m.open().Flush(ctx)
}

// Rehash moves the pairs to so many buckets, at least 4; 0: as many as Options.Load asks for. The new
// base slabs are made before the old ones go. It waits for the streams that work on the table, and where one has
// work recorded that was not submitted, it is vk.ErrUnsubmitted. After an error the table is as it was.
func (m *Map[K, V]) Rehash(ctx context.Context, buckets int) error {
	return m.open().Rehash(ctx, buckets)
}

// Save writes all pairs and Options.Load to w, so that Load makes such a table of them, and returns how many bytes
// w took. It is one call: what changes the table waits until it ends; w must not use the table, but for its queries
// on streams. Errors: w's, structures.ErrChanged where kernels have changed the table meanwhile, the context's,
// what Chunks ends with.
func (m *Map[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return m.open().Save(ctx, w)
}

// On returns the calls on device buffers that are recorded on a stream. Update does Insert to DeleteAll; apart from
// that it is Apply.
//
// Apply does operations of any kinds and does not wait. Batches on several streams may work on the table at the same
// time. If the pool is full, or buckets are long, operations are left pending; give the batch to Finish for them once
// no stream works on the table. Neither looks at the table's load: call Rehash when the statistics say so. A mixed
// batch gives up sooner in long buckets than one of a single kind, because the host does not know its kinds. If keys
// get hundreds of values and more, InsertDuplicate and DeleteAll are faster in batches of their own.
//
// Finish grows the pool and dispatches again, until b.Left is 0. No other stream may work on the table: Finish waits
// for those that do. If one has work recorded that was not submitted, Finish returns a *structures.PendingError around
// vk.ErrUnsubmitted.
//
// Find reads faster than Apply. Export writes the pairs in no order. Nothing may change the table while they run.
func (m *Map[K, V]) On(s *vk.Stream) structures.ConcurrentOnStream { return m.open().On(s) }

// InShaders returns what kernels of your own need that include shaders/include/slab_hash.glsl. After UsedOn, calls that
// replace the table's memory wait until the work has ended, or return vk.ErrUnsubmitted if it was not submitted; Close
// frees the memory after the work.
func (m *Map[K, V]) InShaders() structures.InShaders[Description] { return m.open() }

// Prepare makes all kernels that calls may need, so that no later call makes one (structures.Dictionary).
func (m *Map[K, V]) Prepare(ctx context.Context) error {
	return m.open().Prepare(ctx)
}

// Close frees the table's memory, and gives the slabs of a shared pool back. What streams have recorded or
// submitted is allowed to end first: the memory goes when the streams find that it has. But the slabs of a shared
// pool can't go back then: with work recorded that was not submitted, Close returns vk.ErrUnsubmitted, and the
// table stays open.
func (m *Map[K, V]) Close() error {
	return m.open().Close()
}
