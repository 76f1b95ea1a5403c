package goroutines

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// onStream are a goroutine's stream and a batch on it.
type onStream struct {
	s            *vk.Stream
	keys, values *vk.Buffer[uint32]
	status       *vk.Buffer[uint8]
	left         *vk.Buffer[uint32]
	found        *vk.Buffer[uint8]
}

func newOnStream[W structures.Word](t testing.TB, d *vk.Device, keys []W) onStream {
	words := numbers.Words(keys)
	return onStream{
		testdevice.Stream(t, d), testdevice.Upload(t, d, words), testdevice.Upload(t, d, words),
		testdevice.Upload(t, d, make([]uint8, batch)), testdevice.Upload(t, d, []uint32{0}),
		testdevice.Upload(t, d, make([]uint8, batch)),
	}
}

func (o onStream) lookups() structures.DeviceLookups {
	return structures.DeviceLookups{Count: batch, Keys: o.keys, Values: o.values, Found: o.found}
}

// requireLookups compares what lookups have found.
func requireLookups[W structures.Word](t testing.TB, o onStream, keys []W) {
	t.Helper()
	require.Equal(t, keys, numbers.From[W](testdevice.Download(t, o.values, numbers.WordsOf[W](batch))))
	for i, there := range testdevice.Download(t, o.found, batch) {
		require.EqualValues(t, 1, there, "key %#x", keys[i])
	}
}

// Several goroutines record on streams of their own, over one structure.
func TestStreams(t *testing.T) {
	t.Run("32", testStreams[uint32])
	t.Run("64", testStreams[uint64])
}

func testStreams[W structures.Word](t *testing.T) {
	d := testdevice.Open(t)
	var all [goroutines]onStream
	for g := range all {
		all[g] = newOnStream(t, d, keysOf[W](g, 0))
	}
	wait := func() {
		for _, o := range all {
			require.NoError(t, o.s.Wait(t.Context()))
		}
	}
	t.Run("map", func(t *testing.T) {
		m, err := slabhash.New[W, W](t.Context(), d, slabhash.Options{Buckets: 1000})
		require.NoError(t, err)
		defer m.Close()
		batchOf := func(o onStream) structures.DeviceBatch {
			return structures.DeviceBatch{Count: batch, Keys: o.keys, Values: o.values, Status: o.status, Left: o.left}
		}
		each(goroutines, func(g int) {
			if err := m.On(all[g].s).Apply(structures.Insert, batchOf(all[g])); err != nil {
				t.Errorf("%v", err)
			}
		})
		wait()
		for _, o := range all {
			require.NoError(t, m.On(o.s).Finish(t.Context(), structures.Insert, batchOf(o)))
		}
		each(goroutines, func(g int) {
			if err := m.On(all[g].s).Find(all[g].lookups()); err != nil {
				t.Errorf("%v", err)
			}
		})
		wait()
		for g, o := range all {
			requireLookups(t, o, keysOf[W](g, 0))
		}
	})
	t.Run("tree", func(t *testing.T) {
		tree, err := btree.New[W, W](t.Context(), d, btree.Options{Capacity: 1 << 20})
		require.NoError(t, err)
		defer tree.Close()
		batchOf := func(o onStream) structures.DeviceBatch {
			return structures.DeviceBatch{Count: batch, Keys: o.keys, Values: o.values, Status: o.status, Left: o.left}
		}
		each(goroutines, func(g int) {
			if err := tree.On(all[g].s).Apply(structures.Insert, batchOf(all[g])); err != nil {
				t.Errorf("%v", err)
			}
		})
		wait()
		for _, o := range all {
			require.NoError(t, tree.On(o.s).Finish(t.Context(), structures.Insert, batchOf(o)))
		}
		each(goroutines, func(g int) {
			if err := tree.On(all[g].s).Find(all[g].lookups()); err != nil {
				t.Errorf("%v", err)
			}
		})
		wait()
		for g, o := range all {
			requireLookups(t, o, keysOf[W](g, 0))
		}
		require.NoError(t, tree.Inspect().Check(t.Context()))
	})
	for _, s := range subjects[W]() {
		if s.name != "lsm" && s.name != "array" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			x, err := s.make(t.Context(), d, nil)
			require.NoError(t, err)
			defer x.Close()
			for g := range all {
				keys := keysOf[W](g, 0)
				_, err := x.Insert(t.Context(), keys, keys)
				require.NoError(t, err)
			}
			each(goroutines, func(g int) {
				for range rounds {
					if err := onstream.Of(x).On(all[g].s).Find(all[g].lookups()); err != nil {
						t.Errorf("%v", err)
					}
				}
			})
			wait()
			for g, o := range all {
				requireLookups(t, o, keysOf[W](g, 0))
			}
		})
	}
}
