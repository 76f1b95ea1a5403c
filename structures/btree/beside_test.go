package btree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// eachProtocol runs a test with 64-bit atomics where the device has them, at tiles of one lane and of four, and without.
func eachProtocol(t *testing.T, test func(t *testing.T, d *vk.Device, tile int)) {
	d := openDevice(t)
	if d.Has(vk.Int64Atomics) {
		t.Run("a64/tile1", func(t *testing.T) { test(t, d, 1) })
		t.Run("a64/tile4", func(t *testing.T) { test(t, d, 4) })
	}
	t.Run("a32", func(t *testing.T) {
		test(t, openDevice(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}), 2)
	})
}

// Ranges beside insertions that split the leaves which they read, and beside deletions: what was there all the time is
// in the results, in order, and beside it nothing but what the updates bring or take.
func TestRangesBesideUpdates(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		const n, spread = 3000, 1000
		stays := ramp(n, 0, 3*spread)        // never touched
		goes := ramp(n, spread, 3*spread)    // deleted in every second round, inserted in the others
		comes := ramp(n, 2*spread, 3*spread) // inserted in the first round, assigned later
		value := func(key uint32) uint32 { return key*7 + 1 }
		valuesOf := func(keys []uint32) []uint32 {
			v := make([]uint32, len(keys))
			for i, k := range keys {
				v[i] = value(k)
			}
			return v
		}
		tree := buildTree(t, d, stays, valuesOf(stays), Options{Tile: tile, Fill: 1, Capacity: 5 * n})
		rng := random(14)
		var ranges []structures.Range
		for range 700 {
			lo := rng.Uint32N(3 * spread * n)
			ranges = append(ranges, structures.Range{Lo: lo, Hi: lo + rng.Uint32N(60*spread)})
		}
		ranges = append(ranges, structures.Range{Lo: 2, Hi: 1}, structures.Range{Lo: 9000 * n, Hi: ^uint32(0)})
		const width = 40
		s := testdevice.Stream(t, d)
		w := DeviceWindow{Count: len(ranges), Width: width, Ranges: testdevice.Upload(t, d, words(ranges)), Counts: testdevice.Room[uint32](t, d, len(ranges)),
			Keys: testdevice.Room[uint32](t, d, len(ranges)*width), Values: testdevice.Room[uint32](t, d, len(ranges)*width)}
		for round := range 4 {
			var keys []uint32
			var kinds []uint8
			add := func(kind structures.Kind, of []uint32) {
				for _, k := range of {
					keys, kinds = append(keys, k), append(kinds, uint8(kind))
				}
			}
			add(structures.Insert, comes)
			if round%2 == 0 {
				add(structures.Insert, goes)
			} else {
				add(structures.Delete, goes)
			}
			for i, j := range rng.Perm(len(keys)) { // beside each other everywhere
				keys[i], keys[j], kinds[i], kinds[j] = keys[j], keys[i], kinds[j], kinds[i]
			}
			kindsOn := testdevice.Room[uint8](t, d, len(kinds))
			require.NoError(t, kindsOn.Upload(t.Context(), 0, kinds))
			b := DeviceBatch{Count: len(keys), Keys: testdevice.Upload(t, d, keys), Values: testdevice.Upload(t, d, valuesOf(keys)), Kinds: kindsOn,
				Status: testdevice.Room[uint8](t, d, recording.Padded(len(keys))), Left: testdevice.Upload(t, d, []uint32{0})}
			require.NoError(t, tree.ApplyBesideOn(s, structures.Mixed, b, w))
			require.NoError(t, tree.Finish(t.Context(), s, structures.Mixed, b))
			require.NoError(t, tree.Check(t.Context()))
			counts, gotKeys, gotValues := testdevice.Download(t, w.Counts, w.Count), testdevice.Download(t, w.Keys, w.Count*width), testdevice.Download(t, w.Values, w.Count*width)
			for i, r := range ranges {
				got, values := gotKeys[i*width:i*width+int(counts[i])], gotValues[i*width:i*width+int(counts[i])]
				first, end := within(stays, r)
				if len(got) == width && end > first { // cut off: up to the last one there is
					end, _ = slices.BinarySearch(stays, got[width-1]+1)
				}
				at := first
				for j, k := range got {
					if j > 0 && got[j-1] >= k || k < r.Lo || k > r.Hi || values[j] != value(k) || k%spread != 0 || k >= 3*spread*n {
						t.Fatalf("round %d, range %#x: pair %d of %#x %#x", round, r, j, got, values)
					}
					if k%(3*spread) == 0 {
						if stays[at] != k {
							t.Fatalf("round %d, range %#x: key %#x is not in %#x", round, r, stays[at], got)
						}
						at++
					}
				}
				if at < end {
					t.Fatalf("round %d, range %#x: key %#x is not in %#x", round, r, stays[at], got)
				}
			}
		}
	})
}

// The neighbours that may be asked for beside updates, of trees in every state. Given no rounds, all stay pending.
func TestNeighborsByWhatRunsBesideUpdates(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		rng := random(15)
		keys := uniqueKeys(rng, 3000)
		values := randomWords(rng, len(keys))
		want := model{}.insert(keys, values)
		tree := buildTree(t, d, keys, values, Options{Tile: tile})
		requireNear(t, tree, asked(keys, 1000), want)
		ravage(t, tree, want)
		orphan(t, tree)
		requireNear(t, tree, asked(keys, 1000), want)
		emptyLeaves(t, tree, want, func(leaf int) bool { return leaf%40 != 20 })
		requireNear(t, tree, asked(keys, 1000), want)
		emptyLeaves(t, tree, want, func(leaf int) bool { return true })
		requireNear(t, tree, asked(keys, 50), want)
	})
}

// neighborsBeside are buffers for queries.
func neighborsBeside(t testing.TB, d *vk.Device, queries []uint32) structures.DeviceNeighbors {
	n := len(queries)
	return structures.DeviceNeighbors{
		Count: n, Keys: testdevice.Upload(t, d, queries), OutKeys: testdevice.Room[uint32](t, d, n), OutValues: testdevice.Room[uint32](t, d, n),
		Status: testdevice.Room[uint8](t, d, recording.Padded(n)), Left: testdevice.Upload(t, d, []uint32{0}),
	}
}

func requireNear(t testing.TB, tree *Tree, queries []uint32, want model) {
	t.Helper()
	keys, values := want.sorted()
	for _, to := range []structures.Direction{structures.Floor, structures.Ceil, structures.Successor, structures.Predecessor} {
		q := neighborsBeside(t, tree.d, queries)
		enough := tree.rounds
		tree.rounds = 0
		require.NoError(t, tree.NeighborBesideOn(tree.stream, to, q))
		require.NoError(t, tree.stream.Wait(t.Context()))
		left := int(testdevice.Download(t, q.Left, 1)[0])
		for i, s := range testdevice.Download(t, q.Status, len(queries)) {
			if structures.Status(s) == structures.Pending {
				left--
				continue
			}
			beyond := to == structures.Successor && queries[i] == ^uint32(0) || to == structures.Predecessor && queries[i] == 0
			require.True(t, beyond, "%v of %#x in no rounds", to, queries[i])
		}
		require.Zero(t, left, "queries left pending")
		tree.rounds, q.Resume = enough, true
		require.NoError(t, tree.NeighborBesideOn(tree.stream, to, q))
		require.NoError(t, tree.stream.Wait(t.Context()))
		gotKeys, gotValues, statuses := testdevice.Download(t, q.OutKeys, len(queries)), testdevice.Download(t, q.OutValues, len(queries)), testdevice.Download(t, q.Status, len(queries))
		for i, query := range queries {
			wanted := []uint32{uint32(structures.Absent), 0, 0}
			if at := neighborOf(keys, to, query); at >= 0 {
				wanted = []uint32{uint32(structures.Found), keys[at], values[at]}
			}
			if got := []uint32{uint32(statuses[i]), gotKeys[i], gotValues[i]}; !slices.Equal(got, wanted) {
				t.Fatalf("%v of %#x: %#x instead of %#x", to, query, got, wanted)
			}
		}
	}
}

// Neighbours beside updates on another stream: no further away than the nearest key that is there all the time, and a
// key that may be there.
func TestNeighborsWhileKeysChange(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		const n = 2000
		rng := random(21)
		stays, changes := ramp(n, 500, 1000), ramp(n, 0, 1000)
		tree := buildTree(t, d, stays, stays, Options{Tile: tile, Fill: 1, Capacity: 4 * n})
		queries := make([]uint32, 1500)
		for i := range queries {
			queries[i] = 1000 + rng.Uint32N(1000*(n-2))
		}
		updates, asks := testdevice.Stream(t, d), testdevice.Stream(t, d)
		for round := range 4 {
			kind := []structures.Kind{structures.Insert, structures.Delete}[round%2]
			rng.Shuffle(n, func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
			b := DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, changes), Values: testdevice.Upload(t, d, changes), Status: testdevice.Room[uint8](t, d, n), Left: testdevice.Upload(t, d, []uint32{0})}
			to := []structures.Direction{structures.Ceil, structures.Predecessor}[round/2]
			q := neighborsBeside(t, d, queries)
			require.NoError(t, tree.ApplyOn(updates, kind, b))
			require.NoError(t, tree.NeighborBesideOn(asks, to, q))
			for _, s := range []*vk.Stream{updates, asks} {
				_, err := s.Submit()
				require.NoError(t, err)
			}
			require.NoError(t, asks.Wait(t.Context()))
			require.NoError(t, tree.Finish(t.Context(), updates, kind, b))
			for testdevice.Download(t, q.Left, 1)[0] != 0 { // what held a latch was off its processor
				q.Resume = true
				require.NoError(t, q.Left.Upload(t.Context(), 0, []uint32{0}))
				require.NoError(t, tree.NeighborBesideOn(asks, to, q))
				require.NoError(t, asks.Wait(t.Context()))
			}
			keys, values := testdevice.Download(t, q.OutKeys, len(queries)), testdevice.Download(t, q.OutValues, len(queries))
			for i, query := range queries {
				// The nearest of stays, or what lies between it and the query.
				nearest := stays[neighborOf(stays, to, query)]
				between := keys[i]%1000 == 0 && (to == structures.Ceil && keys[i] >= query && keys[i] < nearest ||
					to == structures.Predecessor && keys[i] < query && keys[i] > nearest)
				if values[i] != keys[i] || keys[i] != nearest && !between {
					t.Fatalf("%v of %d: %d with %d, and %d is there all the time", to, query, keys[i], values[i], nearest)
				}
			}
			require.NoError(t, tree.Check(t.Context()))
		}
	})
}

func TestErrorsOfRangesBesideUpdates(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	s := testdevice.Stream(t, d)
	b := DeviceBatch{Left: testdevice.Upload(t, d, []uint32{0})}
	var kind *structures.KindError
	require.ErrorAs(t, tree.ApplyBesideOn(s, structures.Count, b, DeviceWindow{}), &kind)
	var length *structures.LengthError
	require.ErrorAs(t, tree.ApplyBesideOn(s, structures.Find, b, DeviceWindow{Count: 1}), &length)
	require.ErrorAs(t, tree.ApplyBesideOn(s, structures.Find, DeviceBatch{Count: 1}, DeviceWindow{}), &length)
	closed, err := New(t.Context(), d, Options{})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, closed.ApplyBesideOn(s, structures.Find, b, DeviceWindow{}), vk.ErrClosed)
}
