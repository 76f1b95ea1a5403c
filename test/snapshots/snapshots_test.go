// Package snapshots tests the snapshots of a B-link-tree as a program that uses them does.
package snapshots

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func newTree[K, V structures.Number](t testing.TB, o btree.Options) *btree.Tree[K, V] {
	t.Helper()
	return newTreeOn[K, V](t, testdevice.Open(t), o)
}

func newTreeOn[K, V structures.Number](t testing.TB, d *vk.Device, o btree.Options) *btree.Tree[K, V] {
	t.Helper()
	tree, err := btree.New[K, V](t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	return tree
}

func take[K, V structures.Number](t testing.TB, tree *btree.Tree[K, V]) *btree.Snapshot[K, V] {
	t.Helper()
	s, err := tree.Snapshot(t.Context())
	require.NoError(t, err)
	return s
}

// pairs are a snapshot's, by its iterator.
func pairs[K, V structures.Number](t testing.TB, s *btree.Snapshot[K, V]) map[K]V {
	t.Helper()
	got := map[K]V{}
	for p, err := range s.All(t.Context()) {
		require.NoError(t, err)
		got[p.Key] = p.Value
	}
	return got
}

// Mixed batches that ask for order come behind what other streams do to the tree, and before what they do next: so what
// one of these has not submitted can't be beside them. Other batches on streams may be beside each other.
func TestMixedBatchesOnStreams(t *testing.T) {
	d := testdevice.Open(t)
	tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, tree.Close()) }()
	const n = 4
	mine, others := testdevice.Stream(t, d), testdevice.Stream(t, d)
	room := func() *vk.Buffer[uint32] { return testdevice.Room[uint32](t, d, n) }
	updates := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, []uint32{1, 2, 3, 4}), Values: room(),
		Status: testdevice.Room[uint8](t, d, n), Left: testdevice.Room[uint32](t, d, 1)}
	mixed := updates
	mixed.Kinds, mixed.Width = testdevice.Room[uint8](t, d, n), 1
	mixed.Highs, mixed.OutKeys, mixed.OutValues = mixed.Keys, room(), room()
	require.NoError(t, mixed.Kinds.Upload(t.Context(), 0, []uint8{uint8(structures.FindRange), uint8(structures.Insert),
		uint8(structures.FindCeil), uint8(structures.Find)}))
	update := func(s *vk.Stream) error { return tree.On(s).Apply(structures.Insert, updates) }
	mix := func(s *vk.Stream) error { return tree.On(s).Apply(structures.Mixed, mixed) }
	ask := func(s *vk.Stream) error { return tree.On(s).Apply(structures.FindRange, mixed) }
	slices := func(*vk.Stream) error {
		_, err := tree.Apply(t.Context(), structures.Batch[uint32, uint32]{
			Kinds: []structures.Kind{structures.CountRange, structures.Insert}, Keys: []uint32{0, 1},
			Highs: []uint32{9, 9}, Values: []uint32{0, 1}, Width: 1})
		return err
	}
	for _, c := range []struct {
		what          string
		first, second func(*vk.Stream) error
		want          error
	}{
		{"updates, and a mixed batch", update, mix, vk.ErrUnsubmitted},
		{"updates, and ranges", update, ask, vk.ErrUnsubmitted},
		{"updates, and a mixed batch from slices", update, slices, vk.ErrUnsubmitted},
		{"mixed batches", mix, mix, vk.ErrUnsubmitted},
		{"a mixed batch, and updates", mix, update, vk.ErrUnsubmitted},
		{"a mixed batch, and one from slices", mix, slices, vk.ErrUnsubmitted},
		{"ranges, and updates", ask, update, vk.ErrUnsubmitted},
		{"ranges", ask, ask, nil},
		{"updates", update, update, nil},
	} {
		require.NoError(t, c.first(others), c.what)
		require.ErrorIs(t, c.second(mine), c.want, c.what)
		_, err := others.Submit()
		require.NoError(t, err)
		require.NoError(t, c.second(mine), c.what)
		require.NoError(t, mine.Wait(t.Context()))
	}
}

// Differences between any two snapshots are those of what they hold, of types whose words have another order, too.
func TestDiff(t *testing.T) {
	testDiff[uint32, uint32](t)
	testDiff[int64, float64](t)
}

func testDiff[K, V structures.Number](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tree := newTree[K, V](t, btree.Options{})
	now := map[K]V{}
	var all []*btree.Snapshot[K, V]
	var held []map[K]V
	for range 6 {
		all, held = append(all, take(t, tree)), append(held, maps.Clone(now))
		n := 200
		keys, values := make([]K, n), make([]V, n)
		for i := range keys {
			keys[i], values[i] = K(rng.IntN(900)), V(rng.IntN(5))
			if structures.Signed[K]() {
				keys[i] -= 450
			}
		}
		_, err := tree.Insert(t.Context(), keys, values)
		require.NoError(t, err)
		for i, key := range keys {
			now[key] = values[i]
		}
		_, err = tree.Delete(t.Context(), keys[:50])
		require.NoError(t, err)
		for _, key := range keys[:50] {
			delete(now, key)
		}
	}
	for i, older := range all {
		require.Equal(t, held[i], pairs(t, older))
		for j, newer := range all[i:] {
			was, is := held[i], held[i+j]
			want := map[K]btree.Change[K, V]{}
			for key := range maps.Keys(was) {
				if value, has := is[key]; !has || value != was[key] {
					want[key] = btree.Change[K, V]{Key: key, Old: was[key], New: value, Had: true, Has: has}
				}
			}
			for key, value := range is {
				if _, had := was[key]; !had {
					want[key] = btree.Change[K, V]{Key: key, New: value, Has: true}
				}
			}
			got := map[K]btree.Change[K, V]{}
			var keys []K
			for c, err := range btree.Diff(t.Context(), newer, older) { // in whatever order
				require.NoError(t, err)
				got[c.Key] = c
				keys = append(keys, c.Key)
			}
			require.Equal(t, want, got, "%d and %d", i, i+j)
			require.True(t, slices.IsSorted(keys))
			require.Len(t, keys, len(got))
		}
	}
	require.NoError(t, all[0].Close())
	for _, err := range btree.Diff(t.Context(), all[0], all[1]) {
		require.ErrorIs(t, err, vk.ErrClosed)
	}
	for _, s := range all[1:] {
		require.NoError(t, s.Close())
	}
}

// Changes that are read part by part come to an end, also where the last part is of one, two or three.
func TestDiffInParts(t *testing.T) {
	tree := newTree[uint32, uint32](t, btree.Options{})
	for more := range 5 {
		before := take(t, tree)
		keys := make([]uint32, 1<<12+more)
		for i := range keys {
			keys[i] = uint32(more<<20 + i)
		}
		_, err := tree.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		after := take(t, tree)
		var got []uint32
		for c, err := range btree.Diff(t.Context(), before, after) {
			require.NoError(t, err)
			got = append(got, c.Key)
			require.LessOrEqual(t, len(got), len(keys))
		}
		require.Equal(t, keys, got)
		require.NoError(t, before.Close())
		require.NoError(t, after.Close())
	}
}

// A snapshot can be opened again at its time, and no other time; and it is of its own tree.
func TestAt(t *testing.T) {
	tree := newTree[uint32, uint32](t, btree.Options{})
	first := take(t, tree)
	_, err := tree.Insert(t.Context(), []uint32{1}, []uint32{2})
	require.NoError(t, err)
	second := take(t, tree)
	require.Greater(t, second.Time(), first.Time())
	again, err := btree.SnapshotAt(t.Context(), tree, first.Time())
	require.NoError(t, err)
	require.NoError(t, first.Close())
	require.Empty(t, pairs(t, again), "which another handle holds")
	require.NoError(t, again.Close())
	for _, time := range []uint64{first.Time(), second.Time() + 1, 0, 1 << 40} {
		_, err = btree.SnapshotAt(t.Context(), tree, time)
		require.ErrorIs(t, err, btree.ErrNoSnapshot, time)
	}
	require.Equal(t, map[uint32]uint32{1: 2}, pairs(t, second))
	same := take(t, tree)
	require.Equal(t, second.Time(), same.Time(), "nothing has changed")
	versions, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, versions.Snapshots)
	require.Equal(t, [2]uint64{second.Time(), second.Time()}, [2]uint64{versions.Oldest, versions.Newest})
	require.NoError(t, same.Close())
	require.NoError(t, second.Close())
	other := newTree[uint32, uint32](t, btree.Options{})
	for _, err := range btree.Diff(t.Context(), take(t, tree), take(t, other)) {
		var foreign *vk.OptionError
		require.ErrorAs(t, err, &foreign)
	}
	later := take(t, tree)
	require.Greater(t, later.Time(), second.Time(), "though the clock began anew")
	require.NoError(t, tree.Close())
	_, err = later.Len(t.Context())
	require.ErrorIs(t, err, vk.ErrClosed)
	require.NoError(t, later.Close())
}

// A snapshot behind which nothing has changed is taken once more, but not the one before it, once it is closed.
func TestSameTime(t *testing.T) {
	tree := newTree[uint32, uint32](t, btree.Options{})
	first := take(t, tree)
	_, err := tree.Insert(t.Context(), []uint32{1}, []uint32{2})
	require.NoError(t, err)
	second := take(t, tree)
	same := take(t, tree)
	require.Equal(t, second.Time(), same.Time())
	require.NoError(t, second.Close())
	require.NoError(t, same.Close())
	third := take(t, tree)
	require.Equal(t, map[uint32]uint32{1: 2}, pairs(t, third))
	require.Empty(t, pairs(t, first))
	require.NoError(t, third.Close())
	require.NoError(t, first.Close())
}

// A snapshot is saved as it is, while the tree changes, and loaded by any structure.
func TestSaveSnapshot(t *testing.T) {
	tree := newTree[uint64, uint32](t, btree.Options{})
	_, err := tree.Insert(t.Context(), []uint64{5, 1 << 40}, []uint32{6, 7})
	require.NoError(t, err)
	s := take(t, tree)
	_, err = tree.Insert(t.Context(), []uint64{5, 8}, []uint32{9, 9})
	require.NoError(t, err)
	var file bytes.Buffer
	n, err := s.Save(t.Context(), &file)
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), n)
	require.NoError(t, s.Close())
	loaded, err := btree.Load[uint64, uint32](t.Context(), testdevice.Open(t), &file, btree.Options{})
	require.NoError(t, err)
	defer loaded.Close()
	keys, values, err := numbers.All(t.Context(), loaded)
	require.NoError(t, err)
	require.Equal(t, []uint64{5, 1 << 40}, keys)
	require.Equal(t, []uint32{6, 7}, values)
}

// A snapshot that nobody refers to any more is closed, counted, and said in the log.
func TestForgottenSnapshot(t *testing.T) {
	var text bytes.Buffer
	var mu sync.Mutex
	d, err := vk.Open(vk.Options{Logger: slog.New(slog.NewTextHandler(locked{&mu, &text}, nil))})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	tree, err := btree.New[uint32, uint32](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	func() { take(t, tree) }()
	closed := take(t, tree)
	require.NoError(t, closed.Close())
	for range 1000 {
		runtime.GC()
		v, err := tree.Inspect().Versions(t.Context())
		require.NoError(t, err)
		if v.Forgotten == 1 && v.Snapshots == 0 {
			mu.Lock()
			defer mu.Unlock()
			require.Equal(t, 1, strings.Count(text.String(), "a snapshot was not closed"))
			return
		}
	}
	t.Fatal("never found")
}

type locked struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Accounts between which money goes to and fro: whoever looks at a snapshot, while batches go on, sees all of it.
func TestReadersBesideUpdates(t *testing.T) {
	const accounts, each, rounds = 1000, 100, 40
	tree := newTree[uint32, uint32](t, btree.Options{})
	ids, balances := make([]uint32, accounts), make([]uint32, accounts)
	for i := range ids {
		ids[i], balances[i] = uint32(i)*7, each
	}
	_, err := tree.Insert(t.Context(), ids, balances)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	failed := make(chan error, 3)
	for range 3 {
		readers.Go(func() {
			for looks := 0; ctx.Err() == nil || looks == 0; looks++ {
				if err := lookAt(t.Context(), tree, accounts*each); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range rounds {
		some := rng.Perm(accounts)[:200]
		keys, values := make([]uint32, len(some)), make([]uint32, len(some))
		for i := 0; i < len(some); i += 2 {
			from, to := some[i], some[i+1]
			sum := uint32(rng.IntN(int(balances[from] + 1)))
			balances[from] -= sum
			balances[to] += sum
			keys[i], values[i], keys[i+1], values[i+1] = ids[from], balances[from], ids[to], balances[to]
		}
		_, err := tree.Insert(t.Context(), keys, values)
		require.NoError(t, err)
	}
	stop()
	readers.Wait()
	close(failed)
	require.NoError(t, <-failed)
	require.NoError(t, tree.Inspect().Check(t.Context()))
	v, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Kept)
}

// lookAt sums up a snapshot by several calls, between which the tree changes.
func lookAt(ctx context.Context, tree *btree.Tree[uint32, uint32], want uint32) error {
	s, err := tree.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	for range 2 {
		sum := uint32(0)
		for at := uint32(0); at < 7000; at += 1000 {
			r, err := s.Range(ctx, []structures.Range[uint32]{{Lo: at, Hi: at + 999}})
			if err != nil {
				return err
			}
			for _, balance := range r.Values {
				sum += balance
			}
		}
		if sum != want {
			return fmt.Errorf("a snapshot has %d of %d", sum, want)
		}
	}
	return nil
}

// A copy is kept as long as a snapshot is open that needs it, and no longer.
func TestKept(t *testing.T) {
	tree := newTree[uint32, uint32](t, btree.Options{})
	set := func(value uint32) { // in the one leaf that has keys
		_, err := tree.Insert(t.Context(), []uint32{1, 2}, []uint32{value, value})
		require.NoError(t, err)
	}
	kept := func() int {
		v, err := tree.Inspect().Versions(t.Context())
		require.NoError(t, err)
		return v.Kept
	}
	set(1)
	first := take(t, tree)
	require.Zero(t, kept())
	set(2)
	set(3)
	require.Equal(t, 1, kept(), "one copy a leaf and snapshot")
	second := take(t, tree)
	require.Equal(t, 1, kept())
	set(4)
	third := take(t, tree)
	set(5)
	require.Equal(t, 3, kept())
	require.NoError(t, second.Close())
	require.Equal(t, 2, kept())
	require.Equal(t, map[uint32]uint32{1: 1, 2: 1}, pairs(t, first))
	require.Equal(t, map[uint32]uint32{1: 4, 2: 4}, pairs(t, third))
	require.NoError(t, first.Close())
	require.Equal(t, 1, kept())
	require.Equal(t, map[uint32]uint32{1: 4, 2: 4}, pairs(t, third))
	require.NoError(t, third.Close())
	require.Zero(t, kept())
}

// The function that records kernels at a snapshot may call the tree and the snapshot, and even close both: the memory
// that it was told of stays as it is.
func TestOnIsCalledFromInside(t *testing.T) {
	d := testdevice.Open(t)
	tree, err := btree.Build(t.Context(), d, []uint32{1}, []uint32{2}, btree.Options{})
	require.NoError(t, err)
	defer tree.Close()
	at, err := tree.Snapshot(t.Context())
	require.NoError(t, err)
	defer at.Close()
	s, err := d.NewStream()
	require.NoError(t, err)
	defer s.Close()
	own := errors.New("its own")
	err = at.InShaders(s, func(then btree.Description) error {
		require.NotEqual(t, tree.InShaders().Description().State, then.State)
		require.NotEmpty(t, tree.InShaders().Constants())
		_, err := tree.Insert(t.Context(), []uint32{3}, []uint32{4})
		require.True(t, err == nil || errors.Is(err, vk.ErrUnsubmitted), err)
		_, found, err := at.Find(t.Context(), []uint32{1, 3})
		require.NoError(t, err)
		require.Equal(t, []bool{true, false}, found)
		require.ErrorIs(t, tree.Clear(t.Context()), vk.ErrUnsubmitted)
		return own
	})
	require.ErrorIs(t, err, own)
	require.ErrorIs(t, s.Wait(t.Context()), own) // nothing of a stream runs of which a part is missing
	require.NoError(t, tree.InShaders().On(s, btree.Moving{Updates: 1, Snapshots: 1}, func(btree.Description) error {
		_, _, err := tree.Find(t.Context(), []uint32{1})
		require.ErrorIs(t, err, vk.ErrUnsubmitted)
		require.ErrorIs(t, tree.Clear(t.Context()), vk.ErrUnsubmitted)
		return nil
	}))
	s.Discard()
	_, err = tree.Insert(t.Context(), []uint32{5}, []uint32{6})
	require.NoError(t, err)
	require.NoError(t, at.InShaders(s, func(btree.Description) error {
		require.NoError(t, at.Close())
		return tree.Close()
	}))
	require.NoError(t, s.Wait(t.Context()))
}
