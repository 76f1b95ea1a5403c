package recording_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// strangers are new buffers that take the place of freed ones, if there are any.
func strangers(t *testing.T, d *vk.Device) (intact func()) {
	var all []*vk.Buffer[uint32]
	for _, words := range []int{1 << 6, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16} {
		for range 24 {
			b := testdevice.Room[uint32](t, d, words)
			all = append(all, b)
			require.NoError(t, b.Upload(t.Context(), 0, make([]uint32, words)))
		}
	}
	return func() {
		t.Helper()
		for _, b := range all {
			for i, word := range testdevice.Download(t, b, b.Len()) {
				if word != 0 {
					t.Fatalf("word %d of %d of somebody else's buffer is %#x", i, b.Len(), word)
				}
			}
		}
	}
}

// Recorded work still finds its memory, whatever runs before it is submitted: calls that take more memory for the same
// purpose, on the same stream and on others; calls that free memory; and Close of the structure.
func TestMemoryIsFreedBehindWork(t *testing.T) {
	for _, closes := range []bool{false, true} {
		eachStructure(t, func(t *testing.T, d *vk.Device, s *structure) {
			stream := testdevice.Stream(t, d)
			for _, c := range s.on {
				if c.out == nil {
					continue
				}
				require.NoError(t, c.record(stream))
				require.NoError(t, stream.Wait(t.Context()))
			}
			var right [][]uint32
			written := func() (all [][]uint32) {
				for _, c := range s.on {
					for _, o := range c.out {
						all = append(all, testdevice.Download(t, o, o.Len()))
					}
				}
				return all
			}
			right = written()
			fresh := testdevice.Stream(t, d) // has no memory yet, and gets it in several steps
			for _, c := range s.on {
				for _, o := range c.out {
					fresh.Fill(o, 0, o.Len(), untouched)
				}
			}
			for _, c := range s.on {
				if c.out != nil {
					require.NoError(t, c.record(fresh))
				}
			}
			intactAtOnce := strangers(t, d)
			for _, c := range s.calls {
				if c.updates.Keys == nil && !c.clears && c.deletes == nil {
					if _, err := c.do(t.Context()); err != nil {
						require.ErrorIs(t, err, vk.ErrUnsubmitted, c.name)
					}
				}
			}
			if closes {
				require.NoError(t, s.Close())
			}
			intact := strangers(t, d)
			require.NoError(t, fresh.Wait(t.Context()))
			intactAtOnce()
			intact()
			require.Equal(t, right, written())
		})
	}
}

// A structure that is closed before its work is submitted frees its memory after the work, or when the work is dropped.
func TestClosedBeforeItsWork(t *testing.T) {
	for _, dropped := range []bool{false, true} {
		eachStructure(t, func(t *testing.T, d *vk.Device, s *structure) {
			one, two := testdevice.Stream(t, d), testdevice.Stream(t, d)
			for _, c := range s.on {
				if c.out != nil {
					require.NoError(t, c.record(one))
					require.NoError(t, c.record(two))
				}
			}
			require.NoError(t, s.Close())
			held, _ := d.Memory()
			if dropped {
				one.Discard()
			} else {
				require.NoError(t, one.Wait(t.Context()))
			}
			require.NoError(t, two.Wait(t.Context()))
			now, _ := d.Memory()
			require.Less(t, now+pairsThere*8, held, "the pairs themselves, at least")
			// The test's own operands are freed at its end, and testdevice checks that nothing else is left.
		})
	}
}

// Memory that recorded work uses by its address is not replaced: by a pool that grows, by more buckets, or by a
// compaction.
func TestReplacedUnderWork(t *testing.T) {
	d := testdevice.Open(t)
	b := buffers{t, d}
	keys, left, status := b.words(some...), b.words(0), testdevice.Room[uint8](t, d, updates)
	values, found := b.room(updates), testdevice.Room[uint8](t, d, updates)
	many := keysOf(1<<18, 3)
	stream := testdevice.Stream(t, d)

	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{})
	require.NoError(t, err)
	defer pool.Close()
	m, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Pool: pool, Buckets: 2000})
	require.NoError(t, err)
	other, err := slabhash.New[uint32, uint32](t.Context(), d, slabhash.Options{Pool: pool, MaxLoad: -1})
	require.NoError(t, err)
	require.NoError(t, m.On(stream).Apply(structures.Insert, structures.DeviceBatch{Count: updates, Keys: keys,
		Values: keys, Status: status, Left: left}))
	device := m.InShaders().Description()
	require.ErrorIs(t, m.Rehash(t.Context(), 500), vk.ErrUnsubmitted)
	var pending *structures.PendingError
	_, err = m.Insert(t.Context(), many, many)
	require.ErrorAs(t, err, &pending)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	_, err = other.Insert(t.Context(), many, many)
	require.ErrorAs(t, err, &pending, "the pool is that of both")
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	require.ErrorIs(t, pool.Grow(t.Context(), 1), vk.ErrUnsubmitted)
	require.ErrorIs(t, m.Clear(t.Context()), vk.ErrUnsubmitted)
	require.ErrorIs(t, m.Close(), vk.ErrUnsubmitted)
	require.Equal(t, device.Base, m.InShaders().Description().Base)
	require.Equal(t, device.Pool.Units, m.InShaders().Description().Pool.Units)
	_, err = stream.Submit()
	require.NoError(t, err)
	require.NoError(t, m.Rehash(t.Context(), 500), "behind what was submitted")
	require.NoError(t, m.On(stream).Finish(t.Context(), structures.Insert,
		structures.DeviceBatch{Count: updates, Keys: keys, Values: keys, Status: status, Left: left}))
	_, there, err := m.Find(t.Context(), some)
	require.NoError(t, err)
	require.NotContains(t, there, false)
	_, err = other.Insert(t.Context(), many, many)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.NoError(t, m.Close())

	tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Close()) }()
	require.NoError(t, tree.On(stream).Apply(structures.Insert,
		structures.DeviceBatch{Count: updates, Keys: keys, Values: keys, Status: status, Left: left}))
	require.NoError(t, tree.On(stream).Find(structures.DeviceLookups{Count: updates, Keys: keys, Values: values,
		Found: found}))
	require.ErrorIs(t, tree.Compact(t.Context(), 0), vk.ErrUnsubmitted)
	require.ErrorIs(t, tree.Clear(t.Context()), vk.ErrUnsubmitted)
	_, err = tree.Insert(t.Context(), many, many)
	require.ErrorAs(t, err, &pending)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	require.ErrorIs(t, tree.On(testdevice.Stream(t, d)).Build(t.Context(), structures.DeviceBatch{
		Count: 1 << 18, Keys: b.words(many...), Values: b.words(many...),
	}), vk.ErrUnsubmitted)
	_, err = stream.Submit()
	require.NoError(t, err)
	_, err = tree.Insert(t.Context(), many, many)
	require.NoError(t, err)
	require.NoError(t, tree.Inspect().Check(t.Context()))
	require.NoError(t, stream.Wait(t.Context()))
	require.Equal(t, some, testdevice.Download(t, values, updates))

	// A kernel of the user's that uses the tree's memory.
	stream.Fill(keys, 0, 1, 1)
	tree.InShaders().UsedOn(stream)
	require.ErrorIs(t, tree.Compact(t.Context(), 0), vk.ErrUnsubmitted)
	stream.Discard()
	require.NoError(t, tree.Compact(t.Context(), 0))
}

// Scratch memory that streams share is replaced by a batch that is dropped, while the work of another stream still uses
// the old memory.
func TestSharedScratchBehindOtherStreams(t *testing.T) {
	const few, many = 1 << 10, 1 << 12
	d := testdevice.Open(t)
	b := testdevice.Upload(t, d, keysOf(many, 1))
	slow, one, two := testdevice.Stream(t, d), testdevice.Stream(t, d), testdevice.Stream(t, d)
	fresh := func() (insert func(s *vk.Stream, n int)) {
		l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: few, Capacity: 8 * many})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, l.Close()) })
		return func(s *vk.Stream, n int) {
			require.NoError(t, l.On(s).Update(t.Context(), structures.Insert,
				structures.DeviceBatch{Count: n, Keys: b, Values: b}))
		}
	}
	kernels := fresh() // made first, because that takes time
	for _, n := range []int{few, few, few, many, few} {
		kernels(one, n)
	}
	require.NoError(t, one.Wait(t.Context()))
	insert := fresh()
	insert(one, few)
	require.NoError(t, one.Wait(t.Context()))

	large := testdevice.Room[uint32](t, d, 1<<24)
	fills := 100
	if d.Info().Type != vk.CPU {
		fills = 3000
	}
	for range fills {
		slow.Fill(large, 0, large.Len(), 0)
	}
	p, err := slow.Submit()
	require.NoError(t, err)
	one.After(p)
	insert(one, few)
	running, err := one.Submit()
	require.NoError(t, err)
	stillRuns := func() {
		t.Helper()
		done, err := running.Done()
		require.NoError(t, err)
		require.False(t, done, "else this shows nothing")
	}
	insert(two, many)
	two.Discard()
	stillRuns()
	intact := strangers(t, d)
	if d.Info().Type == vk.CPU { // on a GPU, the uploads of strangers wait for the same queue
		stillRuns()
	}
	require.NoError(t, one.Wait(t.Context()))
	intact()
}
