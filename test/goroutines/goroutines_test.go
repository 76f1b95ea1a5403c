// Package goroutines uses one handle from several goroutines at once. Under the race detector (make test-race) it also
// looks at what they share.
package goroutines

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

type (
	dictionary[W structures.Word] = structures.Dictionary[W, W]
	ordered[W structures.Word]    = structures.Ordered[W, W]
)

// subject is a structure to be shared.
type subject[W structures.Word] struct {
	name string
	make func(ctx context.Context, d *vk.Device, p structures.Progress) (dictionary[W], error)
}

// set is a Set as a dictionary whose values are its keys.
type set[W structures.Word] struct{ *slabhash.Set[W] }

func (s set[W]) Insert(ctx context.Context, keys, _ []W) ([]structures.Status, error) {
	return s.Set.Insert(ctx, keys)
}

func (s set[W]) InsertUnique(ctx context.Context, keys, _ []W) ([]structures.Status, error) {
	return s.Set.Insert(ctx, keys)
}

func (s set[W]) InsertAdd(ctx context.Context, keys, _ []W) ([]structures.Status, error) {
	return s.Set.Insert(ctx, keys)
}

func (s set[W]) InsertMin(ctx context.Context, keys, _ []W) ([]structures.Status, error) {
	return s.Set.Insert(ctx, keys)
}

func (s set[W]) InsertMax(ctx context.Context, keys, _ []W) ([]structures.Status, error) {
	return s.Set.Insert(ctx, keys)
}

func (s set[W]) UpdateInto(ctx context.Context, kind structures.Kind, keys, _ []W, status []structures.Status) error {
	return s.Set.UpdateInto(ctx, kind, keys, status)
}

func (s set[W]) FindInto(ctx context.Context, keys, values []W, found []bool) error {
	copy(values, keys)
	return s.ContainsInto(ctx, keys, found)
}

func (s set[W]) Find(ctx context.Context, keys []W) ([]W, []bool, error) {
	found, err := s.Contains(ctx, keys)
	return keys, found, err
}

func (s set[W]) Apply(ctx context.Context, b structures.Batch[W, W]) (structures.Results[W, W], error) {
	r, err := s.Set.Apply(ctx, structures.Batch[W, uint32]{Kinds: b.Kinds, Keys: b.Keys})
	return structures.Results[W, W]{Status: r.Status}, err
}

func (s set[W]) Get(ctx context.Context, key W) (W, bool, error) {
	found, err := s.Set.Get(ctx, key)
	return 0, found, err
}

func (s set[W]) Put(ctx context.Context, key, _ W) error { return s.Set.Put(ctx, key) }

func (s set[W]) Chunks(ctx context.Context) iter.Seq2[structures.Pairs[W, W], error] {
	return func(yield func(structures.Pairs[W, W], error) bool) {
		for pairs, err := range s.Set.Chunks(ctx) {
			if !yield(structures.Pairs[W, W]{Keys: pairs.Keys, Values: pairs.Keys}, err) {
				return
			}
		}
	}
}

func (s set[W]) All(ctx context.Context) iter.Seq2[structures.Pair[W, W], error] {
	return func(yield func(structures.Pair[W, W], error) bool) {
		for k, err := range s.Set.All(ctx) {
			if !yield(structures.Pair[W, W]{Key: k, Value: k}, err) {
				return
			}
		}
	}
}

func subjects[W structures.Word]() []subject[W] {
	return []subject[W]{
		{"map", func(ctx context.Context, d *vk.Device, p structures.Progress) (dictionary[W], error) {
			return slabhash.New[W, W](ctx, d, slabhash.Options{Progress: p})
		}},
		{"set", func(ctx context.Context, d *vk.Device, p structures.Progress) (dictionary[W], error) {
			s, err := slabhash.NewSet[W](ctx, d, slabhash.Options{Progress: p})
			return set[W]{s}, err
		}},
		{"tree", func(ctx context.Context, d *vk.Device, p structures.Progress) (dictionary[W], error) {
			return btree.New[W, W](ctx, d, btree.Options{Progress: p})
		}},
		{"lsm", func(ctx context.Context, d *vk.Device, p structures.Progress) (dictionary[W], error) {
			return lsm.New[W, W](ctx, d, lsm.Options{Batch: 1 << 10, Cleanup: lsm.WhenDoubled, Progress: p})
		}},
		{"array", func(ctx context.Context, d *vk.Device, p structures.Progress) (dictionary[W], error) {
			return sortedarray.New[W, W](ctx, d, sortedarray.Options{Progress: p})
		}},
	}
}

// eachSubject runs a test with each structure of a width, empty.
func eachSubject[W structures.Word](t *testing.T, test func(t *testing.T, d *vk.Device, x dictionary[W])) {
	d := testdevice.Open(t)
	for _, s := range subjects[W]() {
		t.Run(fmt.Sprintf("%s%d", s.name, 8*structures.WidthOf[W]().Bytes()), func(t *testing.T) {
			x, err := s.make(t.Context(), d, nil)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, x.Close()) })
			test(t, d, x)
		})
	}
}

const (
	goroutines = 4
	rounds     = 6
	batch      = 3000
)

// keysOf are those that one goroutine brings in one of its rounds, which no other brings.
func keysOf[W structures.Word](goroutine, round int) []W {
	keys := make([]W, batch)
	for i := range keys {
		keys[i] = numbers.Key[W](uint32((goroutine*rounds+round)*batch+i) * 2654435761)
	}
	return keys
}

// each runs a function in several goroutines, and returns when all have.
func each(n int, f func(goroutine int)) {
	var wg sync.WaitGroup
	for g := range n {
		wg.Go(func() { f(g) })
	}
	wg.Wait()
}

func requireFound[W structures.Word](t testing.TB, x dictionary[W], keys []W) bool {
	values, found, err := x.Find(t.Context(), keys)
	if err != nil {
		t.Errorf("find: %v", err)
		return false
	}
	for i := range keys {
		if !found[i] || values[i] != keys[i] {
			t.Errorf("key %#x: value %#x, %v", keys[i], values[i], found[i])
			return false
		}
	}
	return true
}

// Insertions of several goroutines are all there, and each goroutine finds what it has inserted, while the others look
// at the whole.
func TestUpdates(t *testing.T) {
	testUpdates[uint32](t)
	testUpdates[uint64](t)
}

func testUpdates[W structures.Word](t *testing.T) {
	eachSubject(t, func(t *testing.T, d *vk.Device, x dictionary[W]) {
		each(goroutines, func(g int) {
			for r := range rounds {
				keys := keysOf[W](g, r)
				statuses, err := x.Insert(t.Context(), keys, keys)
				if err != nil {
					t.Errorf("insert: %v", err)
					return
				}
				for _, s := range statuses {
					if s == structures.Pending {
						t.Error("an operation is pending")
						return
					}
				}
				if !requireFound(t, x, keys) {
					return
				}
				gone := keys[:batch/3]
				if _, err := x.Delete(t.Context(), gone); err != nil {
					t.Errorf("delete: %v", err)
				}
				if n, err := x.Len(t.Context()); err != nil || n < uint64(r+1)*(batch-batch/3) ||
					n > goroutines*rounds*batch {
					t.Errorf("%d pairs: %v", n, err)
				}
				b := structures.Batch[W, W]{Kinds: make([]structures.Kind, 10), Keys: keys[:10], Values: keys[:10]}
				for i := range b.Kinds {
					b.Kinds[i] = [...]structures.Kind{structures.Find, structures.Insert, structures.Delete}[i%3]
				}
				if _, err := x.Apply(t.Context(), b); err != nil {
					t.Errorf("apply: %v", err)
				}
				if _, err := x.Delete(t.Context(), gone); err != nil {
					t.Errorf("delete: %v", err)
				}
			}
		})
		n, err := x.Len(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, goroutines*rounds*(batch-batch/3), n)
		for g := range goroutines {
			for r := range rounds {
				require.True(t, requireFound(t, x, keysOf[W](g, r)[batch/3:]))
			}
		}
	})
}

// Several readers of one structure get right answers.
func TestReaders(t *testing.T) {
	testReaders[uint32](t)
	testReaders[uint64](t)
}

func testReaders[W structures.Word](t *testing.T) {
	eachSubject(t, func(t *testing.T, d *vk.Device, x dictionary[W]) {
		keys := keysOf[W](0, 0)
		_, err := x.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		each(goroutines, func(int) {
			for range rounds {
				if !requireFound(t, x, keys) {
					return
				}
				n := 0
				for pair, err := range x.All(t.Context()) {
					if n++; err != nil || pair.Key != pair.Value {
						t.Errorf("key %#x has the value %#x: %v", pair.Key, pair.Value, err)
					}
				}
				if n != batch {
					t.Errorf("%d pairs", n)
				}
				o, ok := x.(ordered[W])
				if !ok {
					continue
				}
				counts, err := o.Count(t.Context(), []structures.Range[W]{structures.AllKeys[W]()})
				if err != nil || counts[0] != batch {
					t.Errorf("%d keys: %v", counts[0], err)
				}
				r, err := o.Range(t.Context(), []structures.Range[W]{structures.AllKeys[W]()})
				if err != nil || len(r.Keys) != batch {
					t.Errorf("a range of %d keys: %v", len(r.Keys), err)
				}
				ranks, err := o.Rank(t.Context(), keys)
				if err != nil || slices.Max(ranks) != batch-1 {
					t.Errorf("ranks up to %d: %v", slices.Max(ranks), err)
				}
				if pairs, err := o.Select(t.Context(), ranks); err != nil || !slices.Equal(keys, pairs.Keys) {
					t.Errorf("pairs of ranks: %v", err)
				}
				if c, err := o.Neighbor(t.Context(), structures.Ceil, keys); err != nil || c.Keys[7] != keys[7] {
					t.Errorf("ceil: %v", err)
				}
			}
		})
	})
}

// Close waits for what is under way; what comes later is told that it is too late; and it may be called by many.
func TestClose(t *testing.T) {
	d := testdevice.Open(t)
	for _, s := range subjects[uint32]() {
		t.Run(s.name, func(t *testing.T) {
			for range 5 {
				x, err := s.make(t.Context(), d, nil)
				require.NoError(t, err)
				began := make(chan struct{})
				var once sync.Once
				each(2*goroutines, func(g int) {
					if g >= goroutines {
						<-began
						if err := x.Close(); err != nil {
							t.Errorf("close: %v", err)
						}
						return
					}
					for r := range rounds {
						keys := keysOf[uint32](g, r)
						_, err := x.Insert(t.Context(), keys, keys)
						once.Do(func() { close(began) })
						if err == nil {
							_, found, failure := x.Find(t.Context(), keys)
							if err = failure; err == nil && !found[0] {
								t.Error("a key is not there")
							}
						}
						if err != nil {
							if !errors.Is(err, vk.ErrClosed) {
								t.Errorf("%v", err)
							}
							return
						}
					}
				})
				_, err = x.Len(t.Context())
				require.ErrorIs(t, err, vk.ErrClosed)
			}
		})
	}
}

// A call that waits for its turn gives up with its context, and says that nothing is done.
func TestGivingUp(t *testing.T) {
	d := testdevice.Open(t)
	for _, s := range subjects[uint32]() {
		t.Run(s.name, func(t *testing.T) {
			held, release := make(chan struct{}), make(chan struct{})
			var once sync.Once
			x, err := s.make(t.Context(), d, func(int, int) {
				once.Do(func() {
					close(held)
					<-release
				})
			})
			require.NoError(t, err)
			keys := keysOf[uint32](0, 0)
			done := make(chan error)
			go func() {
				_, err := x.Insert(t.Context(), keys, keys)
				done <- err
			}()
			<-held
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			statuses, err := x.Delete(ctx, keys)
			requirePending(t, len(keys), statuses, err, context.DeadlineExceeded)
			_, _, err = x.Find(ctx, keys)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			close(release)
			require.NoError(t, <-done)
			require.True(t, requireFound(t, x, keys))
			require.NoError(t, x.Close())
		})
	}
}

func requirePending(t testing.TB, n int, statuses []structures.Status, err, why error) {
	t.Helper()
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
	require.ErrorIs(t, err, why)
	require.Equal(t, n, pending.Operations)
	require.Equal(t, make([]structures.Status, n), statuses)
}

// Progress may call its own structure: the call gets its turn after the one that is reported on, which returns after
// Progress has. Calls that report, too, don't call Progress again, and one may close the structure.
func TestProgressCallsBack(t *testing.T) {
	d := testdevice.Open(t)
	for _, s := range subjects[uint32]() {
		t.Run(s.name, func(t *testing.T) {
			var x u32.Dictionary
			keys := keysOf[uint32](0, 0)
			calls, pairs := 0, uint64(0)
			var from, closing error
			x, err := s.make(t.Context(), d, func(int, int) {
				if calls++; calls > 1 {
					return
				}
				if _, _, from = x.Find(t.Context(), keys); from == nil {
					pairs, from = x.Len(t.Context())
				}
				closing = x.Close()
			})
			require.NoError(t, err)
			_, err = x.Insert(t.Context(), keys, keys)
			require.NoError(t, err)
			require.NoError(t, from)
			require.NoError(t, closing)
			require.EqualValues(t, len(keys), pairs, "the call that is reported on is done")
			_, err = x.Len(t.Context())
			require.ErrorIs(t, err, vk.ErrClosed)
		})
	}
}

// Tables and trees of both widths that share a pool, those of each goroutine its own: the pool grows, and is counted,
// while others work.
func TestSharedPool(t *testing.T) {
	d := testdevice.Open(t)
	p, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{SuperShift: 2})
	require.NoError(t, err)
	each(goroutines, func(g int) {
		if g%2 == 0 {
			growsInShared[uint32](t, d, p, g)
		} else {
			growsInShared[uint64](t, d, p, g)
		}
	})
	stats, err := p.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats.Allocated)

	// A pool that is closed before its tables.
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Buckets: 16, MaxLoad: -1, Pool: p})
	require.NoError(t, err)
	keys := keysOf[uint32](0, 0)
	_, err = m.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	each(goroutines, func(int) {
		if err := p.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	_, err = m.Insert(t.Context(), keys, keys)
	require.ErrorIs(t, err, vk.ErrClosed)
	each(goroutines, func(int) {
		if err := m.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// growsInShared is what a goroutine does with a table and a tree of its own in a pool that it shares.
func growsInShared[W structures.Word](t *testing.T, d *vk.Device, p *alloc.SlabPool, g int) {
	m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 16, MaxLoad: -1, Pool: p})
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	tree, err := btree.New[W, W](t.Context(), d, btree.Options{Pool: p})
	if err != nil {
		t.Errorf("%v", err)
		return
	}
	for r := range rounds {
		keys := keysOf[W](g, r)
		for _, x := range []dictionary[W]{m, tree} {
			if _, err := x.Insert(t.Context(), keys, keys); err != nil {
				t.Errorf("insert: %v", err)
			}
			if !requireFound(t, x, keys) {
				return
			}
		}
		if _, err := p.Stats(t.Context()); err != nil {
			t.Errorf("stats: %v", err)
		}
		if g == 0 && r%2 == 0 {
			if err := p.Grow(t.Context(), 1); err != nil {
				t.Errorf("grow: %v", err)
			}
		}
	}
	for _, x := range []dictionary[W]{m, tree} {
		if n, err := x.Len(t.Context()); err != nil || n != rounds*batch {
			t.Errorf("%d pairs: %v", n, err)
		}
		if err := x.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

// Buffers and a device that several goroutines close.
func TestCloseDevice(t *testing.T) {
	for range 3 {
		d := testdevice.Open(t, vk.Options{CacheDir: "none"})
		x, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{})
		require.NoError(t, err)
		b, err := vk.NewBuffer[uint32](d, 1000)
		require.NoError(t, err)
		each(2*goroutines, func(g int) {
			if b.Free(); g%2 == 0 {
				if err := x.Close(); err != nil {
					t.Errorf("%v", err)
				}
			}
		})
	}
}
