package btree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Ranges beside insertions that split the leaves which they read, and beside deletions: what was there all the time is
// in the results, in order, and beside it nothing but what the updates bring or take.
func TestRangesBesideUpdates(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
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
		s := newStream(t, d)
		w := DeviceWindow{Count: len(ranges), Width: width, Ranges: upload(t, d, words(ranges)), Counts: room[uint32](t, d, len(ranges)),
			Keys: room[uint32](t, d, len(ranges)*width), Values: room[uint32](t, d, len(ranges)*width)}
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
			kindsOn := room[uint8](t, d, len(kinds))
			require.NoError(t, kindsOn.Upload(t.Context(), 0, kinds))
			b := DeviceBatch{Count: len(keys), Keys: upload(t, d, keys), Values: upload(t, d, valuesOf(keys)), Kinds: kindsOn,
				Status: room[uint8](t, d, padded(len(keys))), Left: upload(t, d, []uint32{0})}
			require.NoError(t, tree.ApplyBesideOn(s, structures.Mixed, b, w))
			require.NoError(t, tree.Finish(t.Context(), s, structures.Mixed, b))
			require.NoError(t, tree.Check(t.Context()))
			counts, gotKeys, gotValues := download(t, w.Counts, w.Count), download(t, w.Keys, w.Count*width), download(t, w.Values, w.Count*width)
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

func TestErrorsOfRangesBesideUpdates(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	s := newStream(t, d)
	b := DeviceBatch{Left: upload(t, d, []uint32{0})}
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
