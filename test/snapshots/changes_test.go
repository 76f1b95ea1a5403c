package snapshots

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Replicas that hold what a tree held, a map and a tree, follow it through random histories by what has changed alone,
// and hold in the end what it holds, byte for byte.
func TestReplicasFollow(t *testing.T) {
	for _, path := range []btree.Path{btree.Concurrent, btree.Batched} {
		t.Run(fmt.Sprint(path, " 32 bits"), func(t *testing.T) { testReplicas[uint32, uint32](t, path) })
		t.Run(fmt.Sprint(path, " 64 bits"), func(t *testing.T) { testReplicas[int64, float32](t, path) })
	}
}

// replica is a tree that follows another one on the device, without the host's looking at what it does.
type replica[K, V structures.Number] struct {
	tree   *btree.Tree[K, V]
	stream *vk.Stream
	to     btree.DeviceDiff
	batch  structures.DeviceBatch
}

// newReplica has room for so many changes at a time.
func newReplica[K, V structures.Number](t *testing.T, d *vk.Device, room int) *replica[K, V] {
	tree, err := btree.New[K, V](t.Context(), d, btree.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	words := room * max(structures.WidthOf[K]().Bytes(), structures.WidthOf[V]().Bytes()) / 4
	to := btree.DeviceDiff{Keys: testdevice.Room[uint32](t, d, words), New: testdevice.Room[uint32](t, d, words),
		Kinds: testdevice.Room[uint8](t, d, room), Total: testdevice.Room[uint32](t, d, 1)}
	return &replica[K, V]{tree, testdevice.Stream(t, d), to, structures.DeviceBatch{
		Count: room, DeviceCount: to.Total, Keys: to.Keys, Values: to.New, Kinds: to.Kinds,
	}}
}

// follow carries the replica on from one snapshot to another.
func (r *replica[K, V]) follow(t *testing.T, older, newer *btree.Snapshot[K, V]) {
	require.NoError(t, btree.DiffOn(r.stream, older, newer, r.to))
	require.NoError(t, r.tree.On(r.stream).Apply(structures.Mixed, r.batch))
	require.NoError(t, r.tree.On(r.stream).Finish(t.Context(), structures.Mixed, r.batch))
}

func testReplicas[K, V structures.Number](t *testing.T, path btree.Path) {
	const most = 600
	rng := rand.New(rand.NewPCG(7, uint64(path)))
	d := testdevice.Open(t)
	tree := newTreeOn[K, V](t, d, btree.Options{Path: path})
	follower, followed := newReplica[K, V](t, d, 2*most), map[K]V{}
	since := take(t, tree)
	for range 12 {
		for range rng.IntN(4) {
			n := 1 + rng.IntN(most/4)
			keys, values := make([]K, n), make([]V, n)
			for i := range keys {
				keys[i], values[i] = K(rng.IntN(3*most)), V(rng.IntN(3))
			}
			var err error
			if rng.IntN(3) == 0 {
				_, err = tree.Delete(t.Context(), keys)
			} else {
				_, err = tree.Insert(t.Context(), keys, values)
			}
			require.NoError(t, err)
		}
		now, changes, err := tree.Changes(t.Context(), since)
		require.NoError(t, err)
		_, err = tree.Insert(t.Context(), []K{K(rng.IntN(3 * most))}, []V{9}) // which are the next changes
		require.NoError(t, err)
		for c, err := range changes {
			require.NoError(t, err)
			old, had := followed[c.Key]
			require.Equal(t, btree.Change[K, V]{Key: c.Key, Old: old, New: c.New, Had: had, Has: c.Has}, c)
			if followed[c.Key] = c.New; !c.Has {
				delete(followed, c.Key)
			}
		}
		require.Equal(t, pairs(t, now), followed)
		follower.follow(t, since, now)
		var want, got bytes.Buffer
		_, err = now.Save(t.Context(), &want)
		require.NoError(t, err)
		_, err = follower.tree.Save(t.Context(), &got)
		require.NoError(t, err)
		require.Equal(t, want.Bytes(), got.Bytes())
		require.NoError(t, since.Close())
		since = now
	}
	require.NoError(t, since.Close())
	_, _, err := tree.Changes(t.Context(), since)
	require.ErrorIs(t, err, vk.ErrClosed)
}

// Where there is no room for all differences, the first ones are there, and the others can be asked for from the next
// key on. What nobody wants is not written.
func TestDiffOn(t *testing.T) {
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, btree.Options{})
	keys := make([]uint32, 300)
	for i := range keys {
		keys[i] = uint32(i) * 3
	}
	_, err := tree.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	older := take(t, tree)
	_, err = tree.Insert(t.Context(), []uint32{0, 3, 4, ^uint32(0)}, []uint32{0, 7, 8, 9}) // of which 0 has its value
	require.NoError(t, err)
	_, err = tree.Delete(t.Context(), []uint32{6, 30, 897})
	require.NoError(t, err)
	newer := take(t, tree)
	_, err = tree.Delete(t.Context(), keys)
	require.NoError(t, err)
	wantKeys := []uint32{3, 4, 6, 30, 897, ^uint32(0)}
	wantKinds := []uint8{uint8(structures.Insert), uint8(structures.InsertUnique), uint8(structures.Delete),
		uint8(structures.Delete), uint8(structures.Delete), uint8(structures.InsertUnique)}
	wantOld, wantNew := []uint32{3, 0, 6, 30, 897, 0}, []uint32{7, 8, 0, 0, 0, 9}

	s := testdevice.Stream(t, d)
	to := btree.DeviceDiff{Keys: testdevice.Room[uint32](t, d, 9), Old: testdevice.Room[uint32](t, d, 5),
		Kinds: testdevice.Upload(t, d, []uint8{9, 9, 9, 9, 9, 9, 9, 9}), Total: testdevice.Room[uint32](t, d, 1)}
	run := func() []uint32 {
		require.NoError(t, btree.DiffOn(s, older, newer, to))
		require.NoError(t, s.Wait(t.Context()))
		return testdevice.Download(t, to.Total, 1)
	}
	require.Equal(t, []uint32{6}, run())
	require.Equal(t, wantKeys[:5], testdevice.Download(t, to.Keys, 5), "as many as there are old values")
	require.Equal(t, wantOld[:5], testdevice.Download(t, to.Old, 5))
	require.Equal(t, append(slices.Clone(wantKinds[:5]), 0, 0, 0), testdevice.Download(t, to.Kinds, 8))
	to.From, to.New = 898, to.Old
	to.Old = nil
	require.Equal(t, []uint32{1}, run())
	require.Equal(t, wantKeys[5:], testdevice.Download(t, to.Keys, 1))
	require.Equal(t, wantNew[5:], testdevice.Download(t, to.New, 1))
	to.From = 4
	require.Equal(t, []uint32{5}, run())
	require.Equal(t, wantKeys[1:], testdevice.Download(t, to.Keys, 5))
	require.Equal(t, wantNew[1:], testdevice.Download(t, to.New, 5))
	to = btree.DeviceDiff{Total: to.Total} // only how many
	require.Equal(t, []uint32{6}, run())

	require.NoError(t, btree.DiffOn(s, newer, newer, to))
	require.NoError(t, s.Wait(t.Context()))
	require.Equal(t, []uint32{0}, testdevice.Download(t, to.Total, 1))
	var order *vk.OptionError
	require.ErrorAs(t, btree.DiffOn(s, newer, older, to), &order)
	var foreign *vk.OptionError
	other := take(t, newTree[uint32, uint32](t, btree.Options{}))
	require.ErrorAs(t, btree.DiffOn(s, older, other, to), &foreign)
	_, _, err = tree.Changes(t.Context(), other)
	require.ErrorAs(t, err, &foreign)
	require.NoError(t, other.Close())
	var short *structures.LengthError
	require.ErrorAs(t, btree.DiffOn(s, older, newer, btree.DeviceDiff{}), &short)
	require.NoError(t, newer.Close())
	require.ErrorIs(t, btree.DiffOn(s, older, newer, to), vk.ErrClosed)
	require.NoError(t, older.Close())
	require.ErrorIs(t, btree.DiffOn(s, older, newer, to), vk.ErrClosed)
}
