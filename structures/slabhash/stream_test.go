package slabhash_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	. "github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/slabcheck"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func contents[T vk.Element](t testing.TB, b *vk.Buffer[T]) []T {
	t.Helper()
	return testdevice.Download(t, b, b.Len())
}

func deviceBatch(t testing.TB, d *vk.Device, keys, values []uint32) structures.DeviceBatch {
	t.Helper()
	n := len(keys)
	b := structures.DeviceBatch{
		Count: n, Keys: testdevice.Upload(t, d, keys),
		Status: testdevice.Upload(t, d, make([]uint8, (n+3)&^3)), Left: testdevice.Upload(t, d, []uint32{0}),
	}
	if values != nil {
		b.Values = testdevice.Upload(t, d, values)
	}
	return b
}

// Two streams insert and delete at the same time, in a pool that does not suffice, and Finish has the rest done.
func TestStreams(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device) {
		const n = 20001 // no multiple of anything
		m := newMap(t, d, Options{Buckets: 100, MaxLoad: -1})
		rng := rand.New(rand.NewPCG(1, 1))
		keys := distinct(rng, 3*n, m.InShaders().Description())
		values := make([]uint32, 3*n)
		for i := range values {
			values[i] = rng.Uint32()
		}
		s1, s2 := testdevice.Stream(t, d), testdevice.Stream(t, d)
		// The middle third comes on both streams, with the same values.
		b1 := deviceBatch(t, d, keys[:2*n], values[:2*n])
		b2 := deviceBatch(t, d, keys[n:], values[n:])
		require.NoError(t, m.On(s1).Apply(structures.InsertUnique, b1))
		require.NoError(t, m.On(s2).Apply(structures.InsertUnique, b2))
		_, err := s1.Submit()
		require.NoError(t, err)
		_, err = s2.Submit()
		require.NoError(t, err)
		require.NoError(t, s1.Wait(t.Context()))
		require.NoError(t, s2.Wait(t.Context()))
		require.NotZero(t, contents(t, b1.Left)[0]+contents(t, b2.Left)[0], "the pool was full")
		require.NoError(t, m.On(s1).Finish(t.Context(), structures.InsertUnique, b1))
		require.NoError(t, m.On(s2).Finish(t.Context(), structures.InsertUnique, b2))
		require.Zero(t, contents(t, b1.Left)[0])
		inserted := 0
		for _, s := range append(contents(t, b1.Status)[:2*n], contents(t, b2.Status)[:2*n]...) {
			switch structures.Status(s) {
			case structures.Inserted:
				inserted++
			case structures.Found:
			default:
				t.Fatalf("status %d", s)
			}
		}
		require.Equal(t, 3*n, inserted)
		want := map[uint32]uint32{}
		for i, k := range keys {
			want[k] = values[i]
		}
		requireContents(t, d, m, want)

		q := structures.DeviceLookups{Count: n, Keys: testdevice.Upload(t, d, append(keys[:n-1:n-1], 0x1234567)),
			Values: testdevice.Upload(t, d, make([]uint32, n)), Found: testdevice.Upload(t, d, make([]uint8, n+3))}
		require.NoError(t, m.On(s1).Find(q))
		require.NoError(t, s1.Wait(t.Context()))
		same(t, append(values[:n-1:n-1], 0), contents(t, q.Values), "values found")
		found := contents(t, q.Found)
		all(t, 1, n-1, found[:n-1], "found")
		require.Zero(t, found[n-1])

		// One stream deletes, the other one counts what nobody deletes.
		b1 = deviceBatch(t, d, keys[:n], nil)
		b2 = deviceBatch(t, d, keys[n:], make([]uint32, 2*n))
		require.NoError(t, m.On(s1).Apply(structures.Delete, b1))
		require.NoError(t, m.On(s2).Apply(structures.CountAll, b2))
		_, err = s1.Submit()
		require.NoError(t, err)
		require.NoError(t, m.On(s2).Finish(t.Context(), structures.CountAll, b2))
		require.NoError(t, m.On(s1).Finish(t.Context(), structures.Delete, b1))
		all(t, uint8(structures.Deleted), n, contents(t, b1.Status)[:n], "deletions")
		all(t, uint32(1), 2*n, contents(t, b2.Values), "counts")
		for _, k := range keys[:n] {
			delete(want, k)
		}
		requireContents(t, d, m, want)
	})
}

func TestSetOnStream(t *testing.T) {
	d := testdevice.Open(t)
	s := newSet(t, d, Options{Buckets: 10, MaxLoad: -1})
	keys := distinct(rand.New(rand.NewPCG(2, 2)), 1001, s.InShaders().Description())
	stream := testdevice.Stream(t, d)
	b := deviceBatch(t, d, keys, nil)
	require.NoError(t, s.On(stream).Apply(structures.InsertUnique, b))
	q := structures.DeviceLookups{Count: 1001, Keys: b.Keys, Found: testdevice.Upload(t, d, make([]uint8, 1004))}
	require.NoError(t, s.On(stream).Find(q))
	require.NoError(t, s.On(stream).Finish(t.Context(), structures.InsertUnique, b))
	all(t, 1, 1001, contents(t, q.Found)[:1001], "commands of a stream see those before them")
	b.Kinds = testdevice.Upload(t, d, make([]uint8, 1001))
	kinds := make([]uint8, 1001)
	for i := range kinds {
		kinds[i] = uint8([...]structures.Kind{structures.Delete, structures.Find, structures.Insert}[i%3])
	}
	require.NoError(t, b.Kinds.Upload(t.Context(), 0, kinds))
	require.NoError(t, s.On(stream).Apply(structures.Mixed, b))
	require.NoError(t, s.On(stream).Finish(t.Context(), structures.Mixed, b))
	for i, status := range contents(t, b.Status)[:1001] {
		require.EqualValues(t, [...]structures.Status{structures.Deleted, structures.Found, structures.Assigned}[i%3],
			status)
	}
	require.Equal(t, 1001-334, len(slabcheck.Check(t, d, slabcheck.Expect{}, s)[0]))
}

func TestBadDeviceBatches(t *testing.T) {
	d := testdevice.Open(t)
	m, set := newMap(t, d, Options{}), newSet(t, d, Options{})
	s := testdevice.Stream(t, d)
	good := deviceBatch(t, d, ramp(5, 1, 1), ramp(5, 1, 1))
	good.Kinds = testdevice.Upload(t, d, make([]uint8, 5))
	bad := func(change func(b *structures.DeviceBatch)) structures.DeviceBatch {
		b := good
		change(&b)
		return b
	}
	var length *structures.LengthError
	none := testdevice.Room[uint32](t, d, 0)
	four, five := testdevice.Upload(t, d, make([]uint32, 4)), testdevice.Upload(t, d, make([]uint8, 5))
	on := m.On(s)
	require.ErrorAs(t, on.Apply(structures.Insert, bad(func(b *structures.DeviceBatch) { b.Keys = four })), &length)
	require.ErrorAs(t, on.Apply(structures.Insert, bad(func(b *structures.DeviceBatch) { b.Keys = nil })), &length)
	require.ErrorAs(t, on.Apply(structures.Insert, bad(func(b *structures.DeviceBatch) {
		b.Values = four
	})), &length)
	require.ErrorAs(t, on.Apply(structures.Find, bad(func(b *structures.DeviceBatch) { b.Values = nil })), &length)
	require.ErrorAs(t, on.Apply(structures.Mixed, bad(func(b *structures.DeviceBatch) { b.Kinds = nil })), &length)
	require.ErrorAs(t, on.Apply(structures.Delete, bad(func(b *structures.DeviceBatch) {
		b.Status = five
	})), &length)
	require.ErrorAs(t, on.Apply(structures.Delete, bad(func(b *structures.DeviceBatch) { b.Left = none })), &length)
	require.ErrorAs(t, on.Apply(structures.Delete, bad(func(b *structures.DeviceBatch) {
		b.DeviceCount = none
	})), &length)
	require.ErrorAs(t, set.On(s).Apply(structures.CountAll, bad(func(b *structures.DeviceBatch) {
		b.Values = nil
	})), &length)
	var kind *structures.KindError
	require.ErrorAs(t, m.On(s).Apply(structures.CountAll+1, good), &kind)
	found := testdevice.Upload(t, d, make([]uint8, 8))
	require.ErrorAs(t, m.On(s).Find(structures.DeviceLookups{Count: 5, Keys: four, Values: good.Values, Found: found}),
		&length)
	require.ErrorAs(t, m.On(s).Find(structures.DeviceLookups{Count: 5, Keys: good.Keys, Found: found}), &length)
	require.ErrorAs(t, m.On(s).Find(structures.DeviceLookups{Count: 5, Keys: good.Keys, Values: good.Values,
		Found: five}), &length)
	// Nothing was recorded by any of them.
	require.NoError(t, s.Wait(t.Context()))
	requireContents(t, d, m, nil)
	empty := good
	empty.Count = 0
	require.NoError(t, m.On(s).Apply(structures.Insert, empty))
	require.NoError(t, m.On(s).Finish(t.Context(), structures.Insert, empty))
	requireContents(t, d, m, nil)
}
