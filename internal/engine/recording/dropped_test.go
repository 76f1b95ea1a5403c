package recording_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Batches are recorded and then dropped in every possible way, with one or several calls in a batch. They have no
// effect, and the same calls then work.
func TestDropped(t *testing.T) {
	ways := map[string]func(t *testing.T, s *vk.Stream, b *vk.Buffer[uint32]){
		"discarded": func(t *testing.T, s *vk.Stream, _ *vk.Buffer[uint32]) { s.Discard() },
		"failed command": func(t *testing.T, s *vk.Stream, b *vk.Buffer[uint32]) {
			s.Fill(b, 1<<30, 1, 0)
			var out *vk.RangeError
			require.ErrorAs(t, s.Wait(t.Context()), &out)
		},
		"stream closed": func(t *testing.T, s *vk.Stream, _ *vk.Buffer[uint32]) { require.NoError(t, s.Close()) },
	}
	eachStructure(t, func(t *testing.T, d *vk.Device, s *structure) {
		word := testdevice.Upload(t, d, []uint32{0})
		for _, c := range s.on {
			if c.waits || c.out != nil {
				continue
			}
			for name, drop := range ways {
				for _, times := range []int{1, 3} {
					t.Run(fmt.Sprint(c.name, " ", name, " ", times), func(t *testing.T) {
						s.reset(t)
						before := s.contents(t)
						stream := testdevice.Stream(t, d)
						for range times {
							require.NoError(t, c.record(stream))
						}
						drop(t, stream, word)
						require.Equal(t, before, s.contents(t))

						stream = testdevice.Stream(t, d)
						require.NoError(t, c.record(stream))
						require.NoError(t, stream.Wait(t.Context()))
						require.NotEqual(t, before, s.contents(t))
					})
				}
			}
		}
	})
}

// The first batches of an LSM are dropped. One has made levels and turned on tombstones; another is on a different
// stream, after a batch that was submitted.
func TestDroppedFirst(t *testing.T) {
	d := testdevice.Open(t)
	l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 64})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	keys := keysOf(3000, 1)
	b := testdevice.Upload(t, d, keys)
	want := map[uint32]uint32{}
	part := func(first, n int) structures.DeviceBatch {
		return structures.DeviceBatch{First: first, Count: n, Keys: b, Values: b}
	}
	holds := func() {
		t.Helper()
		s := structure{Dictionary: l}
		require.Equal(t, want, s.contents(t))
	}
	one, two := testdevice.Stream(t, d), testdevice.Stream(t, d)
	for round := range 8 {
		first := round * 300
		require.NoError(t, l.On(one).Update(t.Context(), structures.Insert, part(first, 200)))
		require.NoError(t, l.On(one).Update(t.Context(), structures.Delete, part(first+50, 100)))
		require.NoError(t, l.On(one).Update(t.Context(), structures.Insert, part(first, 7)))
		one.Discard()
		holds()
		require.NoError(t, l.On(one).Update(t.Context(), structures.Insert, part(first, 130+round)))
		_, err = one.Submit()
		require.NoError(t, err)
		for _, k := range keys[first : first+130+round] {
			want[k] = k
		}
		require.NoError(t, l.On(two).Update(t.Context(), structures.Delete, part(first, 130)))
		require.NoError(t, l.On(two).Update(t.Context(), structures.Insert, part(first+200, 90)))
		if round%2 == 0 {
			two.Discard()
		} else {
			require.NoError(t, two.Wait(t.Context()))
			for _, k := range keys[first : first+130] {
				delete(want, k)
			}
			for _, k := range keys[first+200 : first+290] {
				want[k] = k
			}
		}
		holds()
		if round == 5 {
			require.NoError(t, l.Cleanup(t.Context()))
			holds()
		}
	}
}

// A stream is submitted while another goroutine records. The outcome of the stream's updates is final before the other
// call may follow them. The test makes the other call between the moments at which the stream's queries and its updates
// learn of the submission.
func TestUpdatesDuringSubmit(t *testing.T) {
	d := testdevice.Open(t)
	l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 64})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	keys := keysOf(640, 1)
	b := testdevice.Upload(t, d, keys)
	values, found := testdevice.Room[uint32](t, d, 640), testdevice.Room[uint8](t, d, 640)
	one, two := testdevice.Stream(t, d), testdevice.Stream(t, d)
	require.NoError(t, l.On(one).Find(structures.DeviceLookups{Count: 640, Keys: b, Values: values, Found: found}))
	var during error
	one.OnSubmit(func(vk.Point, bool) {
		during = l.On(two).Update(t.Context(), structures.Insert,
			structures.DeviceBatch{First: 320, Count: 320, Keys: b, Values: b})
	})
	require.NoError(t, l.On(one).Update(t.Context(), structures.Insert,
		structures.DeviceBatch{Count: 320, Keys: b, Values: b}))
	_, err = one.Submit()
	require.NoError(t, err)
	two.Discard()
	n, err := l.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 320, n)
	require.ErrorIs(t, during, vk.ErrUnsubmitted)
}

// A call that must follow updates that may still be dropped returns an error. After submitted updates, streams are
// ordered automatically.
func TestUnsubmittedUpdates(t *testing.T) {
	d := testdevice.Open(t)
	l, err := lsm.New[uint32, uint32](t.Context(), d, lsm.Options{Batch: 64})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	keys := keysOf(640, 1)
	b := testdevice.Upload(t, d, keys)
	values, found := testdevice.Room[uint32](t, d, 640), testdevice.Room[uint8](t, d, 640)
	lookups := structures.DeviceLookups{Count: 640, Keys: b, Values: values, Found: found}
	u := structures.DeviceBatch{Count: 640, Keys: b, Values: b}
	one, two := testdevice.Stream(t, d), testdevice.Stream(t, d)
	require.NoError(t, l.On(one).Update(t.Context(), structures.Insert, u))
	require.ErrorIs(t, l.On(two).Find(lookups), vk.ErrUnsubmitted)
	require.ErrorIs(t, l.On(two).Update(t.Context(), structures.Insert, u), vk.ErrUnsubmitted)
	_, _, err = l.Find(t.Context(), keys)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	_, err = l.Insert(t.Context(), keys, keys)
	require.ErrorIs(t, err, vk.ErrUnsubmitted)
	for _, call := range []func() error{
		func() error { return l.Cleanup(t.Context()) }, func() error { return l.Clear(t.Context()) }, l.Trim,
		func() error { _, err := l.Len(t.Context()); return err },
	} {
		require.ErrorIs(t, call(), vk.ErrUnsubmitted)
	}
	require.NoError(t, l.On(one).Find(lookups), "on the same stream")
	_, err = one.Submit()
	require.NoError(t, err)
	require.NoError(t, l.On(two).Find(lookups))
	require.ErrorIs(t, l.On(one).Update(t.Context(), structures.Insert, u), vk.ErrUnsubmitted, "the queries come first")
	require.NoError(t, two.Wait(t.Context()))
	require.Equal(t, keys, testdevice.Download(t, values, 640))
	require.NoError(t, l.On(one).Update(t.Context(), structures.Delete, u))
	_, err = one.Submit()
	require.NoError(t, err)
	n, err := l.Len(t.Context())
	require.NoError(t, err)
	require.Zero(t, n, "behind what was submitted")
}
