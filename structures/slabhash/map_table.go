package slabhash

import (
	"context"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Len counts the pairs with a kernel that reads the whole table.
func (m *Map[K, V]) Len(ctx context.Context) (uint64, error) {
	return m.open().Len(ctx)
}

// Clear removes all pairs. The number of buckets stays. It waits for the streams that use the table, and returns
// vk.ErrUnsubmitted if one of them has work that is not submitted.
func (m *Map[K, V]) Clear(ctx context.Context) error {
	return m.open().Clear(ctx)
}

// Reserve makes room for n pairs in all, erased ones included, as Options.Capacity does. Up to n pairs, insertions do
// not rehash the table, and grow its pool only if the hash function spreads the keys badly. If there is room already,
// Reserve does nothing. It waits for the streams that use the table, and returns vk.ErrUnsubmitted if one of them has
// work that is not submitted. Errors also: *structures.CapacityError, before anything is allocated; those of Rehash.
func (m *Map[K, V]) Reserve(ctx context.Context, n int) error {
	return m.open().Reserve(ctx, n)
}

// Flush compacts the buckets in place and returns slabs to the pool (FLUSH). If the context ends, some buckets are
// compacted and the others are as they were.
func (m *Map[K, V]) Flush(ctx context.Context) error {
	return m.open().Flush(ctx)
}

// Rehash moves the pairs to that many buckets, at least 4; 0: the number for Options.Load. It makes the new base slabs
// before it frees the old ones. It waits for the streams that use the table, and returns vk.ErrUnsubmitted if one of
// them has work that is not submitted. After an error the table is unchanged.
func (m *Map[K, V]) Rehash(ctx context.Context, buckets int) error {
	return m.open().Rehash(ctx, buckets)
}

// Save writes all pairs and Options.Load to w, and returns the number of bytes. Load makes such a table of them. Calls
// that change the table wait until Save ends. w may use the table only for queries on streams. Errors: w's, those of
// Chunks, and structures.ErrChanged if kernels have changed the table meanwhile.
func (m *Map[K, V]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return m.open().Save(ctx, w)
}

// On returns the methods that record work on a stream, with device buffers. None but Finish waits. Update is Apply for
// the kinds Insert to DeleteAll.
//
// Batches of Apply on several streams may use the table at the same time. If the pool is full, or buckets are long,
// operations are left pending. Give such a batch to Finish when no stream uses the table. Neither checks the table's
// load: call Rehash when the statistics say so. The host does not know the kinds of a mixed batch, so it gives up
// sooner in long buckets. If keys get hundreds of values and more, InsertDuplicate and DeleteAll are faster in batches
// of their own.
//
// Finish grows the pool and dispatches again, until b.Left is 0. No other stream may use the table: Finish waits for
// those that do. If one has work that is not submitted, Finish returns a *structures.PendingError around
// vk.ErrUnsubmitted.
//
// Find reads faster than Apply. Export writes the pairs in no particular order. The table must not change while they
// run.
func (m *Map[K, V]) On(s *vk.Stream) structures.ConcurrentOnStream { return m.open().On(s) }

// InShaders is for your own kernels that include shaders/include/slab_hash.glsl. After UsedOn, calls that replace the
// table's memory wait for the work, or return vk.ErrUnsubmitted if it was not submitted. Close frees the memory after
// the work.
func (m *Map[K, V]) InShaders() structures.InShaders[Description] { return m.open() }

// Prepare makes all kernels that calls may need, so that no later call makes one (structures.Dictionary).
func (m *Map[K, V]) Prepare(ctx context.Context) error {
	return m.open().Prepare(ctx)
}

// Close frees the table's memory after the work that streams have recorded or submitted. If others share the pool,
// Close returns the slabs to it, and waits for the streams for that. If one has work that is not submitted, Close
// returns vk.ErrUnsubmitted, and the table stays open.
func (m *Map[K, V]) Close() error {
	return m.open().Close()
}
