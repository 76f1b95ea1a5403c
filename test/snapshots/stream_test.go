package snapshots

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A snapshot that is closed while a stream's queries on it are in flight: they have what it held, though updates of
// another stream and of Go slices come in behind them and use the memory of its versions again.
func TestClosedInFlight(t *testing.T) {
	const n, rounds = 3000, 8
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, btree.Options{})
	keys, values := make([]uint32, n), make([]uint32, n)
	for i := range keys {
		keys[i] = uint32(i) * 5
	}
	all := func(value uint32) []uint32 {
		for i := range values {
			values[i] = value
		}
		return values
	}
	_, err := tree.Insert(t.Context(), keys, all(0))
	require.NoError(t, err)
	reader, writer := testdevice.Stream(t, d), testdevice.Stream(t, d)
	asked, written := testdevice.Upload(t, d, keys), testdevice.Upload(t, d, all(0))
	lookups := structures.DeviceLookups{Count: n, Keys: asked, Values: testdevice.Room[uint32](t, d, n),
		Found: testdevice.Room[uint8](t, d, n)}
	batch := structures.DeviceBatch{Count: n, Keys: asked, Values: written}
	for round := range uint32(rounds) {
		at := take(t, tree)
		_, err := tree.Insert(t.Context(), keys, all(100+round))
		require.NoError(t, err)
		for range 4 {
			require.NoError(t, at.On(reader).Find(lookups))
		}
		_, err = reader.Submit()
		require.NoError(t, err)
		next := take(t, tree)
		require.NoError(t, at.Close())
		require.NoError(t, written.Upload(t.Context(), 0, all(round+1)))
		require.NoError(t, tree.On(writer).Update(t.Context(), structures.Insert, batch))
		_, err = writer.Submit()
		require.NoError(t, err)
		require.NoError(t, next.Close())
		require.NoError(t, reader.Wait(t.Context()))
		require.Equal(t, all(round), testdevice.Download(t, lookups.Values, n))
		require.NoError(t, writer.Wait(t.Context()))
	}
	v, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Kept)
	require.NoError(t, tree.Inspect().Check(t.Context()))
}

// Queries on a snapshot that a stream has dropped, or that was closed with its stream, hold nobody up.
func TestDroppedQueries(t *testing.T) {
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, btree.Options{})
	_, err := tree.Insert(t.Context(), []uint32{1, 2}, []uint32{3, 4})
	require.NoError(t, err)
	lookups := structures.DeviceLookups{Count: 2, Keys: testdevice.Upload(t, d, []uint32{1, 2}),
		Values: testdevice.Room[uint32](t, d, 2), Found: testdevice.Room[uint8](t, d, 4)}
	for i := range uint32(3) {
		at := take(t, tree)
		_, err = tree.Insert(t.Context(), []uint32{1}, []uint32{10 + i})
		require.NoError(t, err)
		s, err := d.NewStream()
		require.NoError(t, err)
		require.NoError(t, at.On(s).Find(lookups))
		switch i {
		case 0:
			s.Discard()
		case 1:
			_, err = s.Submit()
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
		require.NoError(t, at.Close())
		_, err = tree.Insert(t.Context(), []uint32{1}, []uint32{20 + i})
		require.NoError(t, err)
		v, err := tree.Inspect().Versions(t.Context())
		require.NoError(t, err)
		require.Zero(t, v.Kept)
	}
}

// A snapshot that is held while many updates go by, a million in the long form, with others that come and go, is byte
// for byte what it was.
func TestHeldSnapshot(t *testing.T) {
	const keys = 20000
	updates := 40000
	if stress.Level > 0 {
		updates = 1e6
	}
	tree := newTree[uint32, uint32](t, btree.Options{})
	rng := rand.New(rand.NewPCG(3, 3))
	batch := make([]uint32, 4000)
	some := func() []uint32 {
		for i := range batch {
			batch[i] = uint32(rng.IntN(keys)) * 101
		}
		return batch
	}
	for range 4 {
		_, err := tree.Insert(t.Context(), some(), batch)
		require.NoError(t, err)
	}
	held := take(t, tree)
	var was, is bytes.Buffer
	_, err := held.Save(t.Context(), &was)
	require.NoError(t, err)
	for done := 0; done < updates; done += len(batch) {
		other := take(t, tree)
		if done/len(batch)%3 == 2 {
			_, err = tree.Delete(t.Context(), some())
		} else {
			values := make([]uint32, len(batch))
			for i := range values {
				values[i] = rng.Uint32()
			}
			_, err = tree.Insert(t.Context(), some(), values)
		}
		require.NoError(t, err)
		require.NoError(t, other.Close())
	}
	_, err = held.Save(t.Context(), &is)
	require.NoError(t, err)
	require.True(t, bytes.Equal(was.Bytes(), is.Bytes()))
	require.NoError(t, held.Close())
	require.NoError(t, tree.Inspect().Check(t.Context()))
}

// streamed are updates that streams record, in that order, and snapshots among them.
type streamed struct {
	t       *testing.T
	d       *vk.Device
	tree    *btree.Tree[uint32, uint32]
	streams [2]*vk.Stream
	log     []*recorded
}

type recorded struct {
	keys, values []uint32
	deletes      bool
	dropped      bool
}

// update records a batch on a stream, after the other one has submitted what it has.
func (s *streamed) update(on int, rng *rand.Rand) {
	_, err := s.streams[1-on].Submit()
	require.NoError(s.t, err)
	r := &recorded{deletes: rng.IntN(4) == 0}
	base := rng.Uint32N(4000)
	for range 200 {
		r.keys, r.values = append(r.keys, (base+rng.Uint32N(400))*3), append(r.values, rng.Uint32())
	}
	if !r.deletes { // of equal keys in a batch on a stream any may stay
		slices.Sort(r.keys)
		r.keys = slices.Compact(r.keys)
	}
	batch := structures.DeviceBatch{Count: len(r.keys), Keys: testdevice.Upload(s.t, s.d, r.keys)}
	kind := structures.Insert
	if batch.Values = testdevice.Upload(s.t, s.d, r.values); r.deletes {
		kind, batch.Values = structures.Delete, nil
	}
	if rng.IntN(2) == 0 {
		require.NoError(s.t, s.tree.On(s.streams[on]).Apply(kind, batch))
	} else {
		require.NoError(s.t, s.tree.On(s.streams[on]).Update(s.t.Context(), kind, batch))
	}
	s.log = append(s.log, r)
	s.streams[on].OnSubmit(func(_ vk.Point, submitted bool) { r.dropped = !submitted })
}

// holds is what the tree holds behind so many of the updates.
func (s *streamed) holds(updates int) map[uint32]uint32 {
	m := map[uint32]uint32{}
	for _, r := range s.log[:updates] {
		for i, key := range r.keys {
			switch {
			case r.dropped:
			case r.deletes:
				delete(m, key)
			default:
				m[key] = r.values[i]
			}
		}
	}
	return m
}

// A snapshot that is taken in a stream's order has what the stream recorded before it and nothing behind, wherever the
// stream submits and whatever other streams do; one that the stream drops leaves nothing.
func TestSnapshotsInStreamsOrder(t *testing.T) {
	d := testdevice.Open(t)
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 6))
		s := streamed{t: t, d: d, tree: newTreeOn[uint32, uint32](t, d, btree.Options{Capacity: 20000}),
			streams: [2]*vk.Stream{testdevice.Stream(t, d), testdevice.Stream(t, d)}}
		open := map[*btree.Snapshot[uint32, uint32]]int{}
		dropped := 0
		for range 40 {
			on := rng.IntN(2)
			s.update(on, rng)
			if rng.IntN(2) == 0 {
				at, err := btree.SnapshotOn(s.streams[on], s.tree)
				require.NoError(t, err)
				open[at] = len(s.log)
				_, err = btree.SnapshotOn(s.streams[1-on], s.tree)
				require.ErrorIs(t, err, vk.ErrUnsubmitted)
			}
			if rng.IntN(2) == 0 {
				s.update(on, rng)
			}
			switch rng.IntN(3) {
			case 0:
				_, err := s.streams[on].Submit()
				require.NoError(t, err)
			case 1:
				s.streams[on].Discard()
			}
			for at, updates := range open {
				if s.log[updates-1].dropped {
					_, err := at.Len(t.Context())
					require.ErrorIs(t, err, vk.ErrClosed, "its stream dropped it")
					delete(open, at)
					dropped++
				} else if len(open) > 6 {
					require.NoError(t, at.Close())
					delete(open, at)
				}
			}
		}
		for _, stream := range s.streams {
			require.NoError(t, stream.Wait(t.Context()))
		}
		require.NotZero(t, dropped)
		require.NotEmpty(t, open)
		require.NoError(t, s.tree.Inspect().Check(t.Context()))
		for at, updates := range open {
			require.Equal(t, s.holds(updates), pairs(t, at), "seed %d, behind %d updates", seed, updates)
			require.NoError(t, at.Close())
		}
		v, err := s.tree.Inspect().Versions(t.Context())
		require.NoError(t, err)
		require.Equal(t, btree.Versions{Bytes: v.Bytes}, v, "nothing is left")
		require.NoError(t, s.tree.Compact(t.Context(), 0))
	}
}

// A stream records updates, a snapshot, more updates and lookups at the snapshot, and submits all of it at once.
func TestSnapshotAmongUpdates(t *testing.T) {
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, btree.Options{Capacity: 10000})
	keys := []uint32{1, 2, 3, 4}
	s := testdevice.Stream(t, d)
	room := func() *vk.Buffer[uint32] { return testdevice.Room[uint32](t, d, 4) }
	asked, then, now := testdevice.Upload(t, d, keys), room(), room()
	found := testdevice.Room[uint8](t, d, 4)
	update := func(values ...uint32) {
		require.NoError(t, tree.On(s).Update(t.Context(), structures.Insert,
			structures.DeviceBatch{Count: 4, Keys: asked, Values: testdevice.Upload(t, d, values)}))
	}
	held := take(t, tree) // for which there is memory for versions: no update has to wait for it
	update(0, 0, 0, 0)
	require.NoError(t, s.Wait(t.Context()))
	update(5, 6, 7, 8)
	at, err := btree.SnapshotOn(s, tree)
	require.NoError(t, err)
	_, _, err = at.Find(t.Context(), keys)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	update(9, 10, 11, 12)
	require.NoError(t, at.On(s).Find(structures.DeviceLookups{Count: 4, Keys: asked, Values: then, Found: found}))
	require.NoError(t, tree.On(s).Find(structures.DeviceLookups{Count: 4, Keys: asked, Values: now, Found: found}))
	_, err = tree.Snapshot(t.Context())
	require.ErrorIs(t, err, vk.ErrUnsubmitted, "nothing was submitted behind anybody's back")
	require.NoError(t, s.Wait(t.Context()))
	require.Equal(t, []uint32{5, 6, 7, 8}, testdevice.Download(t, then, 4))
	require.Equal(t, []uint32{9, 10, 11, 12}, testdevice.Download(t, now, 4))
	got, _, err := at.Find(t.Context(), keys)
	require.NoError(t, err)
	require.Equal(t, []uint32{5, 6, 7, 8}, got)
	require.NoError(t, at.Close())
	require.NoError(t, held.Close())
}

// What a stream drops before anything of it was submitted leaves no snapshot that anybody has to close or that the
// garbage collector warns of.
func TestDroppedSnapshot(t *testing.T) {
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, btree.Options{})
	b := structures.DeviceBatch{Count: 1, Keys: testdevice.Upload(t, d, []uint32{1}),
		Values: testdevice.Upload(t, d, []uint32{2})}
	closes := func(s *vk.Stream) { require.NoError(t, s.Close()) }
	for _, ends := range []func(s *vk.Stream){(*vk.Stream).Discard, closes} {
		s, err := d.NewStream()
		require.NoError(t, err)
		require.NoError(t, tree.On(s).Apply(structures.Insert, b))
		at, err := btree.SnapshotOn(s, tree)
		require.NoError(t, err)
		ends(s)
		require.NoError(t, s.Close())
		_, _, err = at.Find(t.Context(), []uint32{1})
		require.ErrorIs(t, err, vk.ErrClosed)
	}
	for range 5 {
		runtime.GC()
	}
	v, err := tree.Inspect().Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v, "none is open, none was forgotten")
	require.NoError(t, tree.Compact(t.Context(), 0))
	stranger, err := testdevice.Open(t).NewStream()
	require.NoError(t, err)
	defer stranger.Close()
	_, err = btree.SnapshotOn(stranger, tree)
	var foreign *vk.ForeignError
	require.ErrorAs(t, err, &foreign)
}
