package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// evenly are so many keys, as far apart as they can be, the least and the greatest one among them.
func evenly[W structures.Word](n int) []W {
	keys := make([]W, n)
	for i := range keys {
		keys[i] = numbers.Key[W](uint32(uint64(i) * (1<<32 - 1) / uint64(max(n-1, 1))))
	}
	return keys
}

// singles are ranges of the key each, and as many of keys beside them.
func singles[W structures.Word](keys []W) (ranges []Range[W]) {
	for i, k := range keys {
		if i%2 == 1 {
			k++
		}
		ranges = append(ranges, Range[W]{Lo: k, Hi: k})
	}
	return ranges
}

// fromTo is the range from one key to another one.
func fromTo[W structures.Word](keys []W, first, last int) Range[W] {
	return Range[W]{Lo: keys[first], Hi: keys[last]}
}

// requireRangesDeleted deletes ranges of a dictionary that holds some keys, each with its index as its value, twice:
// the second time nothing is left of them.
func requireRangesDeleted[W structures.Word](t *testing.T, x Ordered[W], keys []W, ranges []Range[W]) {
	ctx := t.Context()
	left := slices.Clone(keys)
	want := make([]uint32, len(ranges))
	for i, r := range ranges {
		first, _ := slices.BinarySearch(left, r.Lo)
		end, there := slices.BinarySearch(left, r.Hi)
		if there {
			end++
		}
		if first < end {
			left, want[i] = slices.Delete(left, first, end), uint32(end-first)
		}
	}
	for range 2 {
		counts, err := x.DeleteRange(ctx, ranges)
		require.NoError(t, err)
		require.Equal(t, len(ranges), len(counts))
		for i := range counts {
			require.Equal(t, want[i], counts[i], "range %d of %d: %v", i, len(ranges), ranges[i])
		}
		n, err := x.Len(ctx)
		require.NoError(t, err)
		require.EqualValues(t, len(left), n)
		i := 0
		for pair, err := range x.All(ctx) {
			require.NoError(t, err)
			at, _ := slices.BinarySearch(keys, pair.Key)
			if i >= len(left) || left[i] != pair.Key || int(pair.Value) != at {
				t.Fatalf("pair %d of %d left is %v", i, len(left), pair)
			}
			i++
		}
		require.Equal(t, len(left), i)
		clear(want)
	}
}

// Ranges of every size around what a word of flags has, a workgroup, a batch of an LSM and a dispatch, in pairs and in
// number, and ranges that overlap, touch, are empty, or reach to the ends.
func TestDeleteRange(t *testing.T) {
	pass.OneLavapipe(t, "ranges mean the same at each width")
	d := testdevice.Open(t)
	testDeleteRange[uint32](t, d)
	testDeleteRange[uint64](t, d)
}

func testDeleteRange[W structures.Word](t *testing.T, d *vk.Device) {
	const most = 1 << 16 // pairs, and ranges, that a CPU device's dispatch takes: ordered.AtOnce
	type deletion struct {
		pairs  int
		ranges func(keys []W) []Range[W]
	}
	all := func([]W) []Range[W] { return []Range[W]{structures.AllKeys[W]()} }
	cases := map[string]deletion{
		"none":         {100, func([]W) []Range[W] { return nil }},
		"none of none": {0, func([]W) []Range[W] { return nil }},
		"all of none":  {0, all},
		"the only one": {1, all},
		"inverted": {100, func(k []W) []Range[W] {
			return []Range[W]{{Lo: ^W(0)}, fromTo(k, 7, 6), {Lo: 1, Hi: 0}}
		}},
		"least and greatest": {100, func([]W) []Range[W] {
			return []Range[W]{{Lo: ^W(0), Hi: ^W(0)}, {}}
		}},
		"all but these": {100, func([]W) []Range[W] {
			return []Range[W]{{Lo: 1, Hi: ^W(1)}}
		}},
		"touching": {5000, func(k []W) []Range[W] {
			return []Range[W]{{Lo: k[200] + 1, Hi: k[300]}, fromTo(k, 100, 200), {Lo: k[300] + 1, Hi: k[301]}}
		}},
		"touching, to all": {5000, func(k []W) []Range[W] {
			return []Range[W]{{Lo: k[2000] + 1, Hi: ^W(0)}, {Hi: k[2000]}}
		}},
		"overlapping": {5000, func(k []W) []Range[W] {
			a, b, c := fromTo(k, 200, 400), fromTo(k, 100, 300), fromTo(k, 250, 270)
			return []Range[W]{a, b, c, fromTo(k, 90, 500), a}
		}},
		"one in another": {5000, func(k []W) []Range[W] {
			return []Range[W]{fromTo(k, 3000, 3000), fromTo(k, 10, 4000), fromTo(k, 20, 30), structures.AllKeys[W]()}
		}},
		"between keys": {5000, func(k []W) []Range[W] {
			return []Range[W]{{Lo: k[1] + 1, Hi: k[2] - 1}, {Lo: k[4] + 1, Hi: k[5]}, {Lo: k[7], Hi: k[8] - 1}}
		}},
	}
	sizes := []int{31, 32, 33, 511, 512, 513, 4095, 4096, 4097, most, most + 1}
	if structures.WidthOf[W]() == structures.Bits64 {
		sizes = []int{31, 512, 4097} // sizes mean the same
	}
	for _, n := range sizes {
		cases[fmt.Sprint("all of ", n)] = deletion{n, all}
		// Of an LSM so few go by tombstones, and more by a cleanup.
		cases[fmt.Sprint("the first ", n)] = deletion{2*n + 5, func(k []W) []Range[W] {
			return []Range[W]{fromTo(k, 0, n-1)}
		}}
		cases[fmt.Sprint("the last ", n)] = deletion{n + 3, func(k []W) []Range[W] {
			return []Range[W]{fromTo(k, 3, n+2)}
		}}
		cases[fmt.Sprint(n, " ranges")] = deletion{n + 40, func(k []W) []Range[W] {
			return singles(k[20 : 20+n])
		}}
	}
	for name, x := range open[W](t, d, false) {
		t.Run(name, func(t *testing.T) {
			for what, c := range cases {
				t.Run(what, func(t *testing.T) {
					if c.pairs >= most {
						pass.OneDriver(t, "SwiftShader's dispatches take as many pairs as lavapipe's")
					}
					require.NoError(t, x.Clear(t.Context()))
					keys, values := evenly[W](c.pairs), make([]W, c.pairs)
					for i := range values {
						values[i] = W(i)
					}
					_, err := x.Insert(t.Context(), keys, values)
					require.NoError(t, err)
					requireRangesDeleted(t, x.(Ordered[W]), keys, c.ranges(keys))
				})
			}
		})
	}
}
