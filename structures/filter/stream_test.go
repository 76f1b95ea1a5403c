package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// A batch from device buffers, of which only the device knows the length, and lookups into bytes and bits after it.
func TestStream(t *testing.T) {
	d := testdevice.Open(t)
	const n, inserted, first = 1003, 700, 5
	f := newFilter[uint64](t, d, Options{Capacity: 100})
	keys := randomKeys[uint64](9, n+first)
	want := modelOf(f)
	want.insert(keys[first : first+inserted])
	words := make([]uint32, 0, 2*len(keys))
	for _, key := range keys {
		words = append(words, uint32(key), uint32(key>>32))
	}
	l, err := structures.NewDeviceLookups(d, structures.Bits64, n)
	require.NoError(t, err)
	defer l.Free()
	require.NoError(t, l.Keys.Upload(t.Context(), 0, words[:2*n]))
	count := testdevice.Upload(t, d, []uint32{inserted})
	s := testdevice.Stream(t, d)
	require.NoError(t, f.On(s).Insert(structures.DeviceBatch{Count: n, DeviceCount: count, First: first,
		Keys: testdevice.Upload(t, d, words)}))
	_, err = f.Save(t.Context(), new(discarded))
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	require.ErrorIs(t, f.Clear(t.Context()), vk.ErrUnsubmitted)
	require.ErrorIs(t, newFilter[uint64](t, d, Options{Capacity: 100}).Union(t.Context(), f), vk.ErrUnsubmitted)
	require.NoError(t, f.On(s).Contains(l))
	require.NoError(t, s.Wait(t.Context()))
	bytes, bits := testdevice.Download(t, l.Found, n), testdevice.Download(t, l.FoundBits, (n+31)/32)
	for i, there := range want.contains(keys[:n]) {
		require.Equal(t, there, bytes[i] == 1, "key %d", i)
		require.Equal(t, there, bits[i/32]>>(i%32)&1 == 1, "bit %d", i)
	}
	l.Found = nil // then there are the bits alone
	require.NoError(t, l.FoundBits.Upload(t.Context(), 0, make([]uint32, l.FoundBits.Len())))
	require.NoError(t, f.On(s).Contains(l))
	require.NoError(t, s.Wait(t.Context()))
	require.Equal(t, bits, testdevice.Download(t, l.FoundBits, len(bits)))
	want.require(t, f, keys[first:first+inserted], keys)
}

type discarded struct{}

func (*discarded) Write(p []byte) (int, error) { return len(p), nil }

// What can't be recorded is an error, and nothing is recorded.
func TestStreamErrors(t *testing.T) {
	pass.OneWidth(t, "nothing is dispatched")
	d, other := testdevice.Open(t), testdevice.Open(t, vk.Options{CacheDir: t.TempDir()})
	f := newFilter[uint64](t, d, Options{Capacity: 100})
	s := testdevice.Stream(t, d)
	keys := testdevice.Room[uint32](t, d, 20)
	found := testdevice.Room[uint8](t, d, 12)
	freed, err := vk.NewBuffer[uint32](d, 20)
	require.NoError(t, err)
	freed.Free()
	var length *structures.LengthError
	var count *structures.CountError
	var foreign *vk.ForeignError
	batch := func(n, first int, keys *vk.Buffer[uint32]) error {
		bytes := structures.DeviceLookups{Count: n, Keys: keys, Found: found}
		if first == 0 {
			insertion := f.On(s).Insert(structures.DeviceBatch{Count: n, Keys: keys})
			require.IsType(t, insertion, f.On(s).Contains(bytes))
			return insertion
		}
		return f.On(s).Insert(structures.DeviceBatch{Count: n, First: first, Keys: keys})
	}
	require.NoError(t, batch(0, 0, nil))
	require.ErrorAs(t, batch(11, 0, keys), &length)
	require.ErrorAs(t, batch(10, 1, keys), &length)
	require.ErrorAs(t, batch(10, -1, keys), &length)
	require.ErrorAs(t, batch(1, 0, nil), &length)
	require.ErrorAs(t, batch(-1, 0, keys), &count)
	require.ErrorIs(t, batch(10, 0, freed), vk.ErrClosed)
	require.ErrorAs(t, batch(10, 0, testdevice.Room[uint32](t, other, 20)), &foreign)
	require.ErrorAs(t, f.On(s).Contains(structures.DeviceLookups{Count: 10, Keys: keys}), &length)
	require.ErrorAs(t, f.On(testdevice.Stream(t, other)).Insert(structures.DeviceBatch{Count: 1, Keys: keys}), &foreign)
	require.ErrorAs(t, f.Union(t.Context(), newFilter[uint64](t, other, Options{Capacity: 100})), &foreign)
	closed, err := d.NewStream()
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, f.On(closed).Insert(structures.DeviceBatch{Count: 1, Keys: keys}), vk.ErrClosed)
	require.NoError(t, f.Clear(t.Context()), "nothing was recorded")
}
