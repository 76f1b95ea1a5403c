package slabhash

import (
	"context"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Len counts the keys with a kernel that reads the whole table.
func (s *Set[K]) Len(ctx context.Context) (uint64, error) {
	return s.open().Len(ctx)
}

// Clear removes all keys, as Map.Clear.
func (s *Set[K]) Clear(ctx context.Context) error {
	return s.open().Clear(ctx)
}

// Reserve makes room for n keys in all, as Map.Reserve.
func (s *Set[K]) Reserve(ctx context.Context, n int) error {
	return s.open().Reserve(ctx, n)
}

// Flush reclaims erased slots, as Map.Flush.
func (s *Set[K]) Flush(ctx context.Context) error {
	return s.open().Flush(ctx)
}

// Rehash moves the keys to that many buckets, as Map.Rehash.
func (s *Set[K]) Rehash(ctx context.Context, buckets int) error {
	return s.open().Rehash(ctx, buckets)
}

// Save writes all keys and Options.Load to w, as Map.Save.
func (s *Set[K]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return s.open().Save(ctx, w)
}

// On returns the methods that record work on a stream, as Map.On. Batches need no values, Find writes none, and
// DeviceExport.Values may be nil.
func (s *Set[K]) On(stream *vk.Stream) structures.ConcurrentOnStream { return s.open().On(stream) }

// InShaders is for your own kernels, as Map.InShaders.
func (s *Set[K]) InShaders() structures.InShaders[Description] { return s.open() }

// Prepare makes all kernels that calls may need, so that no later call makes one (structures.Dictionary).
func (s *Set[K]) Prepare(ctx context.Context) error {
	return s.open().Prepare(ctx)
}

// Close frees the table's memory, as Map.Close.
func (s *Set[K]) Close() error {
	return s.open().Close()
}
