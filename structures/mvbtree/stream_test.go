package mvbtree

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
)

// A snapshot that is closed while a stream's queries on it are in flight: they have what it held, though updates of
// another stream and of Go slices come in behind them and use the memory of its versions again.
func TestClosedInFlight(t *testing.T) {
	const n, rounds = 3000, 8
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, Options{})
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
			require.NoError(t, at.FindOn(reader, lookups))
		}
		_, err = reader.Submit()
		require.NoError(t, err)
		next := take(t, tree)
		require.NoError(t, at.Close())
		require.NoError(t, written.Upload(t.Context(), 0, all(round+1)))
		require.NoError(t, tree.UpdateOn(t.Context(), writer, structures.Insert, batch))
		_, err = writer.Submit()
		require.NoError(t, err)
		require.NoError(t, next.Close())
		require.NoError(t, reader.Wait(t.Context()))
		require.Equal(t, all(round), testdevice.Download(t, lookups.Values, n))
		require.NoError(t, writer.Wait(t.Context()))
	}
	v, err := tree.Versions(t.Context())
	require.NoError(t, err)
	require.Zero(t, v.Kept)
	require.NoError(t, tree.Check(t.Context()))
}

// Queries on a snapshot that a stream has dropped, or that was closed with its stream, hold nobody up.
func TestDroppedQueries(t *testing.T) {
	d := testdevice.Open(t)
	tree := newTreeOn[uint32, uint32](t, d, Options{})
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
		require.NoError(t, at.FindOn(s, lookups))
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
		v, err := tree.Versions(t.Context())
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
	tree := newTree[uint32, uint32](t, Options{})
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
	_, err := held.WriteTo(&was)
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
	_, err = held.WriteTo(&is)
	require.NoError(t, err)
	require.True(t, bytes.Equal(was.Bytes(), is.Bytes()))
	require.NoError(t, held.Close())
	require.NoError(t, tree.Check(t.Context()))
}
