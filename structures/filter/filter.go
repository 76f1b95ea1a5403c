// Package filter is a Bloom filter in GPU memory: a set of keys that answers "surely absent" or "perhaps there", in
// some ten bits a key. Use it to skip most of the work for absent keys: lookups in a larger structure, rows
// of a join, keys that would have to be sent to another machine.
//
// The filter is blocked: all bits of a key are in one block of 32 bytes, so that a lookup is one read of memory (Putze,
// Sanders, Singler, Cache-, Hash- and Space-Efficient Bloom Filters, 2007). A block is eight words, and a key has one
// bit in each, as in Apache Parquet's split block Bloom filter. The hash functions are others.
//
// Keys are numbers of 32 or 64 bits, of any type. Methods with Go slices copy a batch to the device and its results
// back. Filter.On returns methods that work with device buffers and a stream.
package filter

import (
	"cmp"
	"context"
	"io"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Options configure a filter.
type Options struct {
	// Capacity is the number of different keys that the filter is made for. 0: DefaultCapacity. A filter does not grow.
	// It takes more keys, with more false positives: of a filter for 1%, they are 6% at 1.5 times the capacity, 15%
	// at twice, and 43% at three times. ExpectedFalsePositives returns them for any number of keys.
	Capacity int
	// FalsePositives is the share of absent keys that Contains reports as there, once the filter has Capacity keys.
	// From 0.000001 to 0.5; 0: DefaultFalsePositives. A rate of 0.1 takes 6 bits a key, 0.01 takes 10.5, 0.001 takes
	// 17, and 0.0001 takes 26.
	FalsePositives float64
	// Progress, if not nil, is called with the progress of long calls.
	Progress structures.Progress
}

const (
	DefaultCapacity       = 1 << 20
	DefaultFalsePositives = 0.01
)

// Filter is a set of keys that Contains may report wrongly as there, but never as absent. Keys can't be removed one by
// one. A Filter is safe for many goroutines: calls of Contains run at the same time, and calls that change the filter
// run alone.
//
// Calls with slices are linearizable. They do not wait for work on streams, except as their documentation says: a key
// that a stream inserts is there once the stream has been waited for, and lookups beside it are right for other keys.
type Filter[K structures.Number] struct{ core *core }

// of returns the public type of a filter.
func of[K structures.Number](c *core, err error) (*Filter[K], error) {
	if err != nil {
		return nil, err
	}
	return &Filter[K]{c}, nil
}

// open returns the filter's core, or one that is not open if f is nil or a zero value.
func (f *Filter[K]) open() *core {
	if f == nil || f.core == nil {
		return bare(saved.TypeOf[K]())
	}
	return f.core
}

// New makes an empty filter. Errors: *vk.OptionError; *structures.CapacityError, before anything is allocated, if there
// is too little memory for the options; *vk.OutOfMemoryError; the context's.
func New[K structures.Number](ctx context.Context, d *vk.Device, o Options) (*Filter[K], error) {
	return of[K](newCore(ctx, d, saved.TypeOf[K](), o))
}

// Load makes a filter from what Save has written. It reads r to its end. K must be the type that the filter was saved
// with. Of the options, only Progress is used.
//
// Errors: *structures.SavedError, also around a *structures.TypeError; those of r and of New.
func Load[K structures.Number](ctx context.Context, d *vk.Device, r io.Reader, o Options) (*Filter[K], error) {
	return of[K](load(ctx, d, r, saved.TypeOf[K](), o))
}

// Insert inserts keys. If the context ends or the device fails before all are inserted, it returns a
// *structures.PendingError, and any of the keys may be there. To insert keys again changes nothing.
func (f *Filter[K]) Insert(ctx context.Context, keys []K) error {
	c := f.open()
	return c.insert(ctx, len(keys), pipeline.Keys(keys, c.width))
}

// Contains reports for each key whether it may be there. It returns true for each key that was inserted.
func (f *Filter[K]) Contains(ctx context.Context, keys []K) ([]bool, error) {
	found := make([]bool, len(keys))
	return found, f.ContainsInto(ctx, keys, found)
}

// ContainsInto is Contains into the caller's slice, which has the length of keys.
func (f *Filter[K]) ContainsInto(ctx context.Context, keys []K, found []bool) error {
	c, n := f.open(), len(keys)
	if err := cmp.Or(c.Err(), pipeline.Fits(n, "found flags", found)); err != nil {
		return err
	}
	return c.contains(ctx, n, pipeline.Keys(keys, c.width), pipeline.Result(found))
}

// Union inserts all keys of another filter with the same number of blocks, as filters with the same options have. It
// waits for the work on both that streams have submitted. Errors: *vk.OptionError if the numbers differ or the other
// filter is of another device; vk.ErrUnsubmitted if a stream has recorded work on either and not submitted it; the
// context's.
func (f *Filter[K]) Union(ctx context.Context, other *Filter[K]) error {
	return f.open().union(ctx, other.open())
}

// Clear removes all keys. It waits for the work that streams have submitted. Errors: vk.ErrUnsubmitted if a stream has
// recorded work on the filter and not submitted it; the context's.
func (f *Filter[K]) Clear(ctx context.Context) error { return f.open().clear(ctx) }

// ExpectedFalsePositives returns the share of absent keys that Contains reports as there, if that many different keys
// have been inserted. It is calculated, not measured: see Stats for what was inserted.
func (f *Filter[K]) ExpectedFalsePositives(keys int) float64 { return f.open().expected(keys) }

// On returns the methods that record work on a stream, with device buffers. Insertions may run at the same time, also
// on several streams. Lookups must come after the insertions whose keys they are to find: on the same stream, on a
// stream that waits for it (vk.Stream.After), or after the caller has waited for the stream.
func (f *Filter[K]) On(s *vk.Stream) OnStream { return OnStream{f.open(), s} }

// InShaders is for your own kernels over bloom_filter.glsl. A Description is valid until Close, because the filter does
// not move.
func (f *Filter[K]) InShaders() structures.InShaders[Description] { return f.open() }

// Save writes the filter to w, and returns the number of bytes. Load reads it; dictionaries and the vkds tool do not,
// because a filter does not have its keys. Errors: that of w; vk.ErrUnsubmitted if a stream has recorded insertions and
// not submitted them; the context's.
func (f *Filter[K]) Save(ctx context.Context, w io.Writer) (int64, error) {
	return f.open().save(ctx, w)
}

// Prepare makes all kernels that calls may need, so that no later call makes one.
func (f *Filter[K]) Prepare(ctx context.Context) error { return f.open().prepare(ctx) }

// Close waits for the calls that are running, and frees the memory after the work that uses it. Further calls do
// nothing. Other methods then return vk.ErrClosed.
func (f *Filter[K]) Close() error { return f.open().Close() }
