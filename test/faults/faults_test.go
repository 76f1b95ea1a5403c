// Package faults makes the slab hash run out of everything that it needs, at every point, and looks whether what it
// says is true and whether it goes on.
package faults

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// eachProtocol runs a test with 64-bit atomics, where the device has them, and without.
func eachProtocol(t *testing.T, limit uint64, test func(t *testing.T, d *vk.Device)) {
	t.Run("a64", func(t *testing.T) {
		d := testdevice.Open(t, vk.Options{MemoryLimit: limit})
		if !d.Has(vk.Int64Atomics) {
			t.Skipf("%s has no 64-bit atomics", d.Info().Name)
		}
		test(t, d)
	})
	t.Run("a32", func(t *testing.T) {
		test(t, testdevice.Open(t, vk.Options{MemoryLimit: limit, Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}))
	})
}

// atEachWidth runs a test with numbers of 32 bits and of 64.
func atEachWidth(t *testing.T, narrow, wide func(t *testing.T)) {
	t.Run("32", narrow)
	t.Run("64", wide)
}

// slots are those of a slab of pairs.
func slots[W structures.Word]() int {
	if structures.WidthOf[W]() == structures.Bits64 {
		return 7
	}
	return 15
}

// poolOf makes a pool that may have so many memory blocks, and begins with one.
func poolOf(t *testing.T, d *vk.Device, blocks int) *alloc.SlabPool {
	t.Helper()
	whole, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{Blocks: blocks})
	require.NoError(t, err)
	p, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{MaxBytes: whole.Bytes()})
	require.NoError(t, err)
	require.NoError(t, whole.Close())
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func keys[W structures.Word](rng *rand.Rand, n int) []W {
	seen := map[W]bool{}
	k := make([]W, 0, n)
	for len(k) < n {
		if x := numbers.Key[W](rng.Uint32()); !seen[x] {
			seen[x] = true
			k = append(k, x)
		}
	}
	return k
}

// contents reads and checks a map, and compares it.
func contents[W structures.Word](t *testing.T, d *vk.Device, m *slabhash.Map[W, W], want map[W]W) {
	t.Helper()
	pairs := slabcheck.Check(t, d, slabcheck.Expect{}, m)[0]
	require.Equal(t, len(want), len(pairs))
	for _, p := range pairs {
		if v, ok := want[W(p.Key)]; !ok || v != W(p.Value) {
			t.Fatalf("key %#x has the value %d, want %d (%v)", p.Key, p.Value, v, ok)
		}
	}
}

// every returns each step-th key from an index on.
func every[W structures.Word](k []W, from, step int) (some []W) {
	for i := from; i < len(k); i += step {
		some = append(some, k[i])
	}
	return some
}

// done applies what the statuses of an unfinished insertion say is done, and returns how many operations that are.
func done[W structures.Word](t *testing.T, want map[W]W, k, v []W, status []structures.Status) int {
	t.Helper()
	n := 0
	for i, s := range status {
		switch s {
		case structures.Pending:
		case structures.Inserted, structures.Assigned:
			want[k[i]] = v[i]
			n++
		default:
			t.Fatalf("operation %d: status %v", i, s)
		}
	}
	return n
}

// A pool that may have k memory blocks, for each k: what does not fit is named, what fits is there, and all else works.
func TestPoolLimit(t *testing.T) {
	atEachWidth(t, testPoolLimit[uint32], testPoolLimit[uint64])
}

func testPoolLimit[W structures.Word](t *testing.T) {
	eachProtocol(t, 0, func(t *testing.T, d *vk.Device) {
		for _, blocks := range []int{1, 3} {
			pool := poolOf(t, d, blocks)
			m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 128, MaxLoad: -1, Pool: pool})
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(uint64(blocks), 1))
			n := (1024*blocks + 700) * slots[W]()
			k := keys[W](rng, n)
			want := map[W]W{}
			status, err := m.Insert(t.Context(), k, k)
			var pending *structures.PendingError
			require.ErrorAs(t, err, &pending)
			var full *vk.LimitError
			require.ErrorAs(t, err, &full)
			require.Equal(t, n, len(status))
			require.Equal(t, n-pending.Operations, done(t, want, k, k, status))
			require.Greater(t, len(want), 1024*blocks*slots[W]()*9/10,
				"the pool is full, but for the rest that nobody needed any more")
			contents(t, d, m, want)
			stats, err := m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			require.InDelta(t, 1024*blocks, stats.Pool.Allocated, 8)

			// What needs no slab works, also in one batch with what does.
			b := structures.Batch[W, W]{Keys: k, Values: k}
			for i := range k {
				b.Kinds = append(b.Kinds, [...]structures.Kind{structures.Find, structures.Insert, structures.CountAll,
					structures.Find}[i%4])
				if i%64 == 3 {
					b.Kinds[i] = structures.Delete // the insertions need more room than that
				}
			}
			r, err := m.Apply(t.Context(), b)
			require.ErrorAs(t, err, &full)
			for i, s := range r.Status {
				_, there := want[k[i]]
				switch {
				case there && i%4 == 1:
					require.Equal(t, structures.Assigned, s)
				case there && i%64 == 3:
					require.Equal(t, structures.Deleted, s)
					delete(want, k[i])
				case there:
					require.Equal(t, structures.Found, s)
				case i%4 != 1:
					require.Equal(t, structures.Absent, s)
				case s == structures.Inserted:
					want[k[i]] = k[i]
				default:
					require.Equal(t, structures.Pending, s)
				}
			}
			contents(t, d, m, want)

			// After deletions and a flush there is room for some of the rest, and then for no more.
			for i := 3; i < n; i += 4 {
				delete(want, k[i])
			}
			_, err = m.Delete(t.Context(), every(k, 3, 4))
			require.NoError(t, err)
			require.NoError(t, m.Flush(t.Context()))
			contents(t, d, m, want)
			var rest []W
			for i, s := range status {
				if s == structures.Pending && i%4 == 0 {
					rest = append(rest, k[i])
				}
			}
			s, err := m.Insert(t.Context(), rest, rest)
			require.NoError(t, err)
			require.Equal(t, len(rest), done(t, want, rest, rest, s))
			contents(t, d, m, want)

			// A rehash needs slabs while the old ones are still taken: it fails and leaves all as it was, or succeeds.
			device := m.InShaders().Description()
			if err := m.Rehash(t.Context(), 64); err != nil {
				require.ErrorAs(t, err, &full)
				require.Equal(t, device.Buckets, m.InShaders().Description().Buckets)
				require.Equal(t, device.Base, m.InShaders().Description().Base)
			}
			contents(t, d, m, want)
			require.NoError(t, m.Clear(t.Context()))
			contents(t, d, m, nil)
			s, err = m.Insert(t.Context(), k[:1000], k[:1000])
			require.NoError(t, err)
			require.Equal(t, 1000, done(t, map[W]W{}, k[:1000], k[:1000], s))
			require.NoError(t, m.Close())
		}
	})
}

// The same with a full device instead of a full pool, which a ballast makes, and which then is thrown off.
func TestDeviceMemoryLimit(t *testing.T) {
	atEachWidth(t, testDeviceMemoryLimit[uint32], testDeviceMemoryLimit[uint64])
}

func testDeviceMemoryLimit[W structures.Word](t *testing.T) {
	const limit = 12 << 20
	eachProtocol(t, limit, func(t *testing.T, d *vk.Device) {
		for _, free := range []int{200 << 10, 900 << 10} {
			m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 200, MaxLoad: -1})
			require.NoError(t, err)
			rng := rand.New(rand.NewPCG(uint64(free), 1))
			k := keys[W](rng, 5000)
			want := map[W]W{}
			s, err := m.Insert(t.Context(), k, k) // takes the staging memory as well
			require.NoError(t, err)
			done(t, want, k, k, s)
			_, err = m.Inspect().Stats(t.Context())
			require.NoError(t, err)
			k = keys[W](rng, slots[W]()*1024*7)
			_, found, err := m.Find(t.Context(), k)
			require.NoError(t, err)
			require.NotContains(t, found, true)

			used, budget := d.Memory()
			require.EqualValues(t, limit, budget)
			ballast, err := vk.NewBuffer[byte](d, int(budget-used)-free)
			require.NoError(t, err)
			status, err := m.InsertUnique(t.Context(), k, k)
			var pending *structures.PendingError
			var memory *vk.OutOfMemoryError
			require.ErrorAs(t, err, &memory)
			require.ErrorAs(t, err, &pending)
			n := done(t, want, k, k, status)
			require.Equal(t, len(k)-pending.Operations, n)
			ballast.Free()
			contents(t, d, m, want)
			// The rest, now that there is memory.
			before := slices.Clone(status)
			err = structures.Retry[W, W](t.Context(), m, structures.InsertUnique, k, k, status)
			if left := done(t, want, k, k, status); err != nil {
				require.ErrorAs(t, err, &memory)
				require.ErrorAs(t, err, &pending)
				require.Equal(t, len(k)-pending.Operations, left)
			}
			for i, s := range before {
				require.True(t, s == structures.Pending || s == status[i], "done operations stay as they were")
			}
			contents(t, d, m, want)
			// The same batch once more: nothing is doubled.
			status, err = m.InsertUnique(t.Context(), k, k)
			if errors.As(err, &memory) {
				done(t, want, nil, nil, nil)
				for i, s := range status {
					if s == structures.Inserted {
						want[k[i]] = k[i]
					}
				}
			} else {
				require.NoError(t, err)
				for _, x := range k {
					want[x] = x
				}
			}
			contents(t, d, m, want)
			require.NoError(t, m.Close())
		}
	})
}

// A rehash for which there is no memory, neither for base slabs nor for the others.
func TestRehashWithoutMemory(t *testing.T) {
	atEachWidth(t, testRehashWithoutMemory[uint32], testRehashWithoutMemory[uint64])
}

func testRehashWithoutMemory[W structures.Word](t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 8 << 20})
	m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 500, MaxLoad: -1})
	require.NoError(t, err)
	defer m.Close()
	k := keys[W](rand.New(rand.NewPCG(1, 1)), 733*slots[W]())
	want := map[W]W{}
	s, err := m.Insert(t.Context(), k, k)
	require.NoError(t, err)
	done(t, want, k, k, s)
	used, _ := d.Memory()
	var memory *vk.OutOfMemoryError
	require.ErrorAs(t, m.Rehash(t.Context(), 1<<20), &memory, "base slabs of 128 MiB")
	now, _ := d.Memory()
	require.Equal(t, used, now)
	require.EqualValues(t, 500, m.InShaders().Description().Buckets)
	contents(t, d, m, want)

	limited, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 500, MaxLoad: -1,
		Pool: poolOf(t, d, 1)})
	require.NoError(t, err)
	defer limited.Close()
	s, err = limited.Insert(t.Context(), k, k)
	require.NoError(t, err)
	done(t, map[W]W{}, k, k, s)
	var full *vk.LimitError
	require.ErrorAs(t, limited.Rehash(t.Context(), 4), &full,
		"733 slabs, and of 1024 some 500 are taken")
	require.EqualValues(t, 500, limited.InShaders().Description().Buckets)
	contents(t, d, limited, want)
	require.NoError(t, limited.Rehash(t.Context(), 2000), "base slabs of 250 KiB")
	contents(t, d, limited, want)
}

// A table that may rehash, but has no memory for it, takes what it can in longer lists.
func TestGrowthGivesWayToLists(t *testing.T) {
	atEachWidth(t, testGrowthGivesWayToLists[uint32], testGrowthGivesWayToLists[uint64])
}

func testGrowthGivesWayToLists[W structures.Word](t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 8 << 20})
	m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 64})
	require.NoError(t, err)
	defer m.Close()
	want := map[W]W{}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		k := keys[W](rng, 10000)
		s, err := m.Insert(t.Context(), k, k)
		n := done(t, want, k, k, s)
		if err == nil {
			require.Equal(t, len(k), n)
			continue
		}
		var pending *structures.PendingError
		var memory *vk.OutOfMemoryError
		require.ErrorAs(t, err, &memory)
		require.ErrorAs(t, err, &pending)
		require.Equal(t, len(k)-n, pending.Operations)
		break
	}
	length, err := m.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, len(want), length)
	require.Greater(t, len(want), 6666*slots[W](), "most of 8 MiB was put to use")
}

// Tables of which a part can't be had are not made, and leave nothing behind (testdevice looks).
func TestOpenWithoutMemory(t *testing.T) {
	atEachWidth(t, testOpenWithoutMemory[uint32], testOpenWithoutMemory[uint64])
}

func testOpenWithoutMemory[W structures.Word](t *testing.T) {
	d := testdevice.Open(t, vk.Options{MemoryLimit: 2 << 20})
	var memory *vk.OutOfMemoryError
	for _, o := range []slabhash.Options{{Buckets: 1 << 15}, {Capacity: 1 << 24}, {Buckets: 1 << 31}} {
		before, _ := d.Memory()
		_, err := slabhash.New[W, W](t.Context(), d, o)
		var large *vk.LimitError
		if !errors.As(err, &large) {
			require.ErrorAs(t, err, &memory, "%+v", o)
		}
		_, err = slabhash.NewSet[W](t.Context(), d, o)
		require.Error(t, err)
		after, _ := d.Memory()
		require.Equal(t, before, after)
	}
	_, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{MaxBytes: 1000})
	var full *vk.LimitError
	require.ErrorAs(t, err, &full)
	_, err = slabhash.Build(t.Context(), d, make([]W, 1<<20), make([]W, 1<<20), slabhash.Options{})
	require.ErrorAs(t, err, &memory)
	used, _ := d.Memory()
	require.Zero(t, used)
}

// The same points in time again and again: a device that gives memory n times only, for every n up to success.
func TestEveryAllocationFails(t *testing.T) {
	atEachWidth(t, testEveryAllocationFails[uint32], testEveryAllocationFails[uint64])
}

func testEveryAllocationFails[W structures.Word](t *testing.T) {
	succeeded := false
	for limit := uint64(16 << 10); !succeeded; limit += 96 << 10 {
		require.Less(t, limit, uint64(64<<20))
		d := testdevice.Open(t, vk.Options{MemoryLimit: limit})
		m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 16})
		var memory *vk.OutOfMemoryError
		if err != nil {
			require.ErrorAs(t, err, &memory, "limit %d", limit)
			continue
		}
		k := keys[W](rand.New(rand.NewPCG(1, 1)), 1333*slots[W]())
		s, err := m.Insert(t.Context(), k, k)
		want := map[W]W{}
		n := done(t, want, k, k, s)
		if err != nil {
			require.ErrorAs(t, err, &memory, "limit %d", limit)
		} else {
			require.Equal(t, len(k), n)
		}
		for _, step := range []func() error{
			func() error { _, _, err := m.Find(t.Context(), k); return err },
			func() error { return m.Flush(t.Context()) },
			func() error { return m.Rehash(t.Context(), 0) },
			func() error { _, _, err := m.FindAll(t.Context(), k[:100]); return err },
			func() error { _, _, err := numbers.All(t.Context(), m); return err },
			func() error { _, err := m.Inspect().Stats(t.Context()); return err },
		} {
			if e := step(); e != nil {
				require.ErrorAs(t, e, &memory, "limit %d", limit)
				err = e
			}
		}
		succeeded = err == nil && d.Fits(1<<20) == nil // which looking at the contents takes
		if succeeded {
			contents(t, d, m, want)
		}
		require.NoError(t, m.Close())
	}
}

func TestClosedDevice(t *testing.T) {
	d, err := vk.Open(vk.Options{CacheDir: "none"})
	require.NoError(t, err)
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{})
	require.NoError(t, err)
	one := []uint32{1}
	_, err = m.Insert(t.Context(), one, one)
	require.NoError(t, err)
	require.NoError(t, d.Close())
	for name, call := range map[string]func(context.Context) error{
		"insert": func(ctx context.Context) error { _, err := m.Insert(ctx, one, one); return err },
		"find":   func(ctx context.Context) error { _, _, err := m.Find(ctx, one); return err },
		"len":    func(ctx context.Context) error { _, err := m.Len(ctx); return err },
		"stats":  func(ctx context.Context) error { _, err := m.Inspect().Stats(ctx); return err },
		"flush":  m.Flush,
		"clear":  m.Clear,
		"rehash": func(ctx context.Context) error { return m.Rehash(ctx, 100) },
		"export": func(ctx context.Context) error { _, _, err := numbers.All(ctx, m); return err },
	} {
		require.ErrorIs(t, call(t.Context()), vk.ErrClosed, name)
	}
	require.NoError(t, m.Close())
	_, err = slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{})
	require.ErrorIs(t, err, vk.ErrClosed)
}
