package faults

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

type opening[W structures.Word] func(ctx context.Context, d *vk.Device) (structures.Ordered[W, W], error)

// ordereds are the ordered dictionaries, small ones.
func ordereds[W structures.Word]() map[string]opening[W] {
	return map[string]opening[W]{
		"sortedarray": func(ctx context.Context, d *vk.Device) (structures.Ordered[W, W], error) {
			return sortedarray.New[W, W](ctx, d, sortedarray.Options{})
		},
		"lsm": func(ctx context.Context, d *vk.Device) (structures.Ordered[W, W], error) {
			return lsm.New[W, W](ctx, d, lsm.Options{Batch: 1 << 10})
		},
		"lsm with cleanups": func(ctx context.Context, d *vk.Device) (structures.Ordered[W, W], error) {
			return lsm.New[W, W](ctx, d, lsm.Options{Batch: 1 << 10, Cleanup: lsm.WhenDoubled})
		},
	}
}

// holds compares what a dictionary has with a Go map.
func holds[W structures.Word](t *testing.T, o structures.Ordered[W, W], want map[W]W) {
	t.Helper()
	n, err := o.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(want), n)
	got := make(map[W]W, len(want))
	last, first := W(0), true
	for pair, err := range o.All(t.Context()) {
		require.NoError(t, err)
		require.True(t, first || pair.Key > last)
		last, first = pair.Key, false
		got[pair.Key] = pair.Value
	}
	require.True(t, maps.Equal(want, got))
}

// A device that is full before all is inserted: what the statuses say is done is there, and what they don't is not.
// When there is memory again, the rest goes in.
func TestOrderedDeviceFull(t *testing.T) {
	atEachWidth(t, testOrderedDeviceFull[uint32], testOrderedDeviceFull[uint64])
}

func testOrderedDeviceFull[W structures.Word](t *testing.T) {
	for name, open := range ordereds[W]() {
		t.Run(name, func(t *testing.T) {
			d := testdevice.Open(t, vk.Options{MemoryLimit: 10 << 20})
			o, err := open(t.Context(), d)
			require.NoError(t, err)
			defer func() { require.NoError(t, o.Close()) }()
			rng := rand.New(rand.NewPCG(1, 1))
			want := map[W]W{}
			first := keys[W](rng, 20000)
			s, err := o.Insert(t.Context(), first, first)
			require.NoError(t, err)
			require.Equal(t, len(first), done(t, want, first, first, s))
			_, err = o.Count(t.Context(), []structures.Range[W]{structures.AllKeys[W]()})
			require.NoError(t, err)
			holds(t, o, want) // takes what queries need

			used, budget := d.Memory()
			ballast, err := vk.NewBuffer[byte](d, int(budget-used)-(1<<20))
			require.NoError(t, err)
			var memory *vk.OutOfMemoryError
			var pending *structures.PendingError
			for range 100 {
				more := keys[W](rng, 10000)
				s, err = o.Insert(t.Context(), more, more)
				n := done(t, want, more, more, s)
				if err != nil {
					require.ErrorAs(t, err, &memory)
					require.ErrorAs(t, err, &pending)
					require.Equal(t, len(more)-n, pending.Operations)
					break
				}
			}
			require.NotNil(t, memory, "a million pairs in 10 MiB")
			ballast.Free()
			holds(t, o, want)
			more := keys[W](rng, 10000)
			s, err = o.Insert(t.Context(), more, more)
			require.NoError(t, err)
			require.Equal(t, len(more), done(t, want, more, more, s))
			s, err = o.Delete(t.Context(), more)
			require.NoError(t, err)
			require.False(t, slices.ContainsFunc(s, func(s structures.Status) bool { return s != structures.Deleted }))
			for _, k := range more {
				delete(want, k)
			}
			holds(t, o, want)
		})
	}
}

// A dictionary can be iterated over and saved although the device has next to no memory left.
func TestSaveOnFullDevice(t *testing.T) {
	atEachWidth(t, testSaveOnFullDevice[uint32], testSaveOnFullDevice[uint64])
}

func testSaveOnFullDevice[W structures.Word](t *testing.T) {
	all := map[string]func(ctx context.Context, d *vk.Device) (structures.Dictionary[W, W], error){
		"slabhash": func(ctx context.Context, d *vk.Device) (structures.Dictionary[W, W], error) {
			return slabhash.New[W, W](ctx, d, slabhash.Options{})
		},
		"btree": func(ctx context.Context, d *vk.Device) (structures.Dictionary[W, W], error) {
			return btree.New[W, W](ctx, d, btree.Options{})
		},
	}
	for name, open := range ordereds[W]() {
		all[name] = func(ctx context.Context, d *vk.Device) (structures.Dictionary[W, W], error) { return open(ctx, d) }
	}
	all["shards"] = func(ctx context.Context, d *vk.Device) (structures.Dictionary[W, W], error) {
		a, err := btree.New[W, W](ctx, d, btree.Options{})
		require.NoError(t, err)
		b, err := btree.New[W, W](ctx, d, btree.Options{})
		require.NoError(t, err)
		return shard.NewTree[W, W](ctx, a, b)
	}
	for name, open := range all {
		t.Run(name, func(t *testing.T) {
			d := testdevice.Open(t, vk.Options{MemoryLimit: 64 << 20})
			x, err := open(t.Context(), d)
			require.NoError(t, err)
			defer func() { require.NoError(t, x.Close()) }()
			rng := rand.New(rand.NewPCG(1, 1))
			first := keys[W](rng, 300_000)
			want := map[W]W{}
			s, err := x.Insert(t.Context(), first, first)
			require.NoError(t, err)
			require.Equal(t, len(first), done(t, want, first, first, s))
			if l, ok := x.(*lsm.LSM[W, W]); ok {
				require.NoError(t, l.Trim())
			}
			var snapshot *btree.Snapshot[W, W]
			if tree, ok := x.(*btree.Tree[W, W]); ok {
				snapshot, err = tree.Snapshot(t.Context())
				require.NoError(t, err)
			}

			used, budget := d.Memory()
			ballast, err := vk.NewBuffer[byte](d, int(budget-used)-(128<<10))
			require.NoError(t, err)
			defer ballast.Free()
			n, err := x.Len(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, len(want), n)
			var file bytes.Buffer
			_, err = x.Save(t.Context(), &file)
			require.NoError(t, err)
			loaded, err := host.LoadTree[W, W](t.Context(), &file)
			require.NoError(t, err)
			holds(t, loaded, want)
			if snapshot != nil {
				_, err = snapshot.Save(t.Context(), &file)
				require.NoError(t, err)
				loaded, err = host.LoadTree[W, W](t.Context(), &file)
				require.NoError(t, err)
				holds(t, loaded, want)
				require.NoError(t, snapshot.Close())
			}
			if o, ok := x.(structures.Ordered[W, W]); ok {
				var down []W
				for pair, err := range o.Descend(t.Context(), structures.AllKeys[W]()) {
					require.NoError(t, err)
					down = append(down, pair.Key)
				}
				slices.Reverse(down)
				require.Equal(t, slices.Sorted(maps.Keys(want)), down)
			}
		})
	}
}

// The same calls on devices with a little more memory each time: each call does what it is asked for or names the
// lack of memory, and what was done stays.
func TestOrderedEveryAllocationFails(t *testing.T) {
	atEachWidth(t, testOrderedEveryAllocationFails[uint32], testOrderedEveryAllocationFails[uint64])
}

func testOrderedEveryAllocationFails[W structures.Word](t *testing.T) {
	for name, open := range ordereds[W]() {
		t.Run(name, func(t *testing.T) {
			succeeded := false
			for limit := uint64(16 << 10); !succeeded; limit += 448 << 10 {
				require.Less(t, limit, uint64(64<<20))
				d := testdevice.Open(t, vk.Options{MemoryLimit: limit})
				var memory *vk.OutOfMemoryError
				o, err := open(t.Context(), d)
				if err != nil {
					require.ErrorAs(t, err, &memory, "limit %d", limit)
					continue
				}
				want := map[W]W{}
				k := keys[W](rand.New(rand.NewPCG(1, 1)), 7000)
				succeeded = true
				for i, step := range []func() error{
					func() error {
						s, err := o.Insert(t.Context(), k, k)
						done(t, want, k, k, s)
						return err
					},
					func() error {
						s, err := o.Delete(t.Context(), k[:3000])
						for i, status := range s {
							if status == structures.Deleted {
								delete(want, k[i])
							}
						}
						return err
					},
					func() error { _, _, err := o.Find(t.Context(), k); return err },
					func() error {
						_, err := o.Count(t.Context(), []structures.Range[W]{structures.AllKeys[W]()})
						return err
					},
					func() error {
						_, err := o.Range(t.Context(),
							[]structures.Range[W]{{Lo: 0, Hi: numbers.Key[W](1 << 31)}})
						return err
					},
					func() error { _, err := o.Neighbor(t.Context(), structures.Floor, k); return err },
					func() error {
						least := W(1) << (structures.WidthOf[W]().Bits() - 5)
						ranges := []structures.Range[W]{{Lo: least << 1, Hi: least << 2}, {Lo: least, Hi: 5 * least}}
						counts, err := o.DeleteRange(t.Context(), ranges)
						// whichever they are: after a failure their number is looked at alone
						gone := counts[0] + counts[1]
						for key := range want {
							if gone != 0 && key >= least && key <= 5*least {
								delete(want, key)
								gone--
							}
						}
						require.Zero(t, gone)
						return err
					},
					func() error {
						for _, err := range o.All(t.Context()) {
							if err != nil {
								return err
							}
						}
						return nil
					},
					func() error {
						if l, ok := o.(*lsm.LSM[W, W]); ok {
							return l.Cleanup(t.Context())
						}
						return nil
					},
				} {
					if err := step(); err != nil {
						require.ErrorAs(t, err, &memory, "step %d with limit %d", i, limit)
						succeeded = false
					}
				}
				n, err := o.Len(t.Context())
				require.NoError(t, err)
				require.EqualValues(t, len(want), n, "limit %d", limit)
				if succeeded {
					holds(t, o, want)
				}
				require.NoError(t, o.Close())
			}
		})
	}
}

// A cleanup that is cancelled at each point in turn leaves all as it was.
func TestCleanupCancelled(t *testing.T) {
	atEachWidth(t, testCleanupCancelled[uint32], testCleanupCancelled[uint64])
}

func testCleanupCancelled[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	var cancel context.CancelFunc
	reports, last := 0, -1
	l, err := lsm.New[W, W](t.Context(), d, lsm.Options{Batch: 64, Progress: func(int, int) {
		if reports++; reports == last {
			cancel()
		}
	}})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	want := map[W]W{}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 9 {
		k := keys[W](rng, 301)
		s, err := l.Insert(t.Context(), k, k)
		require.NoError(t, err)
		done(t, want, k, k, s)
		_, err = l.Delete(t.Context(), k[:100])
		require.NoError(t, err)
		for _, key := range k[:100] {
			delete(want, key)
		}
	}
	holds(t, l, want)
	before, err := l.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(before.Levels), 2)
	cancels := 0
	for last = 0; ; last++ {
		ctx, stop := context.WithCancel(t.Context())
		cancel, reports = stop, 0
		if last == 0 {
			stop()
		}
		err := l.Cleanup(ctx)
		stop()
		if err == nil {
			break
		}
		cancels++
		require.ErrorIs(t, err, context.Canceled)
		now, err := l.Inspect().Stats(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, now, fmt.Sprint("cancelled at report ", last))
		holds(t, l, want)
	}
	require.GreaterOrEqual(t, cancels, len(before.Levels))
	now, err := l.Inspect().Stats(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(want), now.Resident)
	holds(t, l, want)
}

// A cleanup for which there is no memory, and a build.
func TestCleanupWithoutMemory(t *testing.T) {
	atEachWidth(t, testCleanupWithoutMemory[uint32], testCleanupWithoutMemory[uint64])
}

func testCleanupWithoutMemory[W structures.Word](t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 16 << 20})
	l, err := lsm.New[W, W](t.Context(), d, lsm.Options{Batch: 1 << 10})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	k := keys[W](rand.New(rand.NewPCG(3, 3)), 50_000*64/structures.WidthOf[W]().Bits())
	want := map[W]W{}
	s, err := l.Insert(t.Context(), k, k)
	require.NoError(t, err)
	done(t, want, k, k, s)
	holds(t, l, want)
	require.NoError(t, l.Trim(), "else a cleanup could give something back")
	used, budget := d.Memory()
	ballast, err := vk.NewBuffer[byte](d, int(budget-used)-(1<<20))
	require.NoError(t, err)
	var memory *vk.OutOfMemoryError
	require.ErrorAs(t, l.Cleanup(t.Context()), &memory)
	_, err = lsm.Build(t.Context(), d, k, k, lsm.Options{})
	require.ErrorAs(t, err, &memory)
	_, err = sortedarray.Build(t.Context(), d, k, k, sortedarray.Options{})
	require.ErrorAs(t, err, &memory)
	ballast.Free()
	holds(t, l, want)
	require.NoError(t, l.Cleanup(t.Context()))
	holds(t, l, want)
}

// looks is a context that ends at the last of so many looks.
type looks struct {
	context.Context
	left int
}

func (l *looks) Err() error {
	if l.left--; l.left < 0 {
		return context.Canceled
	}
	return nil
}

// A deletion of ranges in several parts, of many ranges and of a long one, that is cancelled early and late: its counts
// are of what is gone, and the next call does the rest.
func TestDeleteRangeCancelled(t *testing.T) {
	atEachWidth(t, testDeleteRangeCancelled[uint32], testDeleteRangeCancelled[uint64])
}

func testDeleteRangeCancelled[W structures.Word](t *testing.T) {
	const n = 80_000
	points := []int{1, 2, 3, 14}
	if structures.WidthOf[W]() == structures.Bits64 {
		points = []int{2, 14} // the way is the same
	}
	many := make([]structures.Range[W], 16_000)
	for i := range many {
		lo := uint32(12 * i)
		many[i] = structures.Range[W]{Lo: numbers.Key[W](lo), Hi: numbers.Key[W](lo + 8)} // three keys of four
	}
	opens := ordereds[W]()
	opens["btree"] = func(ctx context.Context, d *vk.Device) (structures.Ordered[W, W], error) {
		return btree.New[W, W](ctx, d, btree.Options{})
	}
	for name, open := range opens {
		t.Run(name, func(t *testing.T) {
			o, err := open(t.Context(), testdevice.Open(t))
			require.NoError(t, err)
			defer func() { require.NoError(t, o.Close()) }()
			all := make([]W, n)
			for i := range all {
				all[i] = numbers.Key[W](uint32(3 * i))
			}
			for _, c := range []struct {
				ranges []structures.Range[W]
				keys   int
			}{{many, 48_000}, {[]structures.Range[W]{{Lo: numbers.Key[W](1), Hi: numbers.Key[W](3*n - 4)}}, n - 2}} {
				stopped := 0
				for _, looked := range points {
					_, err := o.Insert(t.Context(), all, all)
					require.NoError(t, err)
					gone := 0
					ctx := context.Context(&looks{t.Context(), looked})
					for again := true; again; ctx = t.Context() {
						counts, err := o.DeleteRange(ctx, c.ranges)
						if again = err != nil; again {
							require.ErrorIs(t, err, context.Canceled)
							var pending *structures.PendingError
							require.ErrorAs(t, err, &pending)
							stopped++
						}
						for _, k := range counts {
							gone += int(k)
						}
						left, err := o.Len(t.Context())
						require.NoError(t, err)
						require.EqualValues(t, n-gone, left)
					}
					require.Equal(t, c.keys, gone)
				}
				require.Positive(t, stopped)
			}
		})
	}
}
