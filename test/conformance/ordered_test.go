package conformance

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
	"pgregory.net/rapid"
)

// orderedKinds are the operations that ordered dictionaries do in mixed batches.
var orderedKinds = []structures.Kind{
	structures.Insert, structures.InsertUnique, structures.Delete, structures.Find, structures.CountAll,
}

// inPlaceKinds are those that update in place.
var inPlaceKinds = []structures.Kind{structures.InsertAdd, structures.InsertMin, structures.InsertMax}

// meetingKinds are the insertions that leave a value behind which depends on the one that they meet.
var meetingKinds = append([]structures.Kind{structures.InsertUnique}, inPlaceKinds...)

// nearest are the kinds that stand in for others, where a dictionary hasn't them: the same keys, the same sequence.
var nearest = map[structures.Kind]structures.Kind{structures.DeleteAll: structures.Delete}

// restrict replaces the operations of a sequence that are not among some kinds.
func restrict[W structures.Word](acts []act[W], kinds []structures.Kind) []act[W] {
	if kinds == nil {
		return acts
	}
	acts = slices.Clone(acts)
	for i := range acts {
		b := &acts[i].batch
		b.Kinds = slices.Clone(b.Kinds)
		for j, k := range b.Kinds {
			if !slices.Contains(kinds, k) {
				b.Kinds[j] = nearest[k]
			}
		}
	}
	return acts
}

// orderedKey gives keys all over 32 bits, few and close together, and at both ends.
func orderedKey(noise uint32) uint32 {
	switch noise >> 29 {
	case 0:
		return noise % 40
	case 1:
		return ^(noise % 40)
	case 2, 3, 4:
		return 1<<31 + noise%700
	}
	return noise % 300 * 0x9e3779b1
}

// orderedSequence draws batches in which keys may come many times, and ranges.
func orderedSequence[W structures.Word](t *rapid.T) []act[W] {
	whats := []string{"insert", "insert", "insert", "update", "update", "delete", "delete", "delete", "delete-range",
		"find", "ranks", "apply", "apply", "count", "range", "neighbors", "walk", "upkeep", "upkeep", "clear"}
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act[W] {
		a := act[W]{what: rapid.SampledFrom(whats).Draw(t, "what"),
			choice: rapid.IntRange(0, 1000).Draw(t, "choice")}
		if a.what == "clear" && a.choice%4 != 0 {
			a.what = "upkeep"
		}
		n := rapid.SampledFrom([]int{0, 1, 2, 17, 64, 100, 333, 700}).Draw(t, "n")
		noise := rapid.Uint32().Draw(t, "noise")
		next := func() uint32 {
			noise = noise*1664525 + 1013904223
			return noise ^ noise>>15
		}
		draw := func() uint32 { return orderedKey(next()) }
		// In a leaf or two far more keys than it holds: those that are there, or some of them and many that aren't.
		if width := rapid.SampledFrom([]uint32{0, 0, 0, 80, 1 << 16, 1 << 24}).Draw(t, "width"); width != 0 {
			around := orderedKey(noise)
			draw = func() uint32 { return around + next()%width - width/2 }
		}
		for range n {
			a.batch.Keys = append(a.batch.Keys, numbers.Key[W](draw()))
			a.batch.Kinds = append(a.batch.Kinds, orderedKinds[next()%uint32(len(orderedKinds))])
			noise := next()
			value := numbers.Value[W](noise)
			if noise%8 == 0 {
				value = -W(noise >> 3 & 1) // the least and the greatest
			}
			a.batch.Values = append(a.batch.Values, value)
			lo, hi := orderedKey(next()), orderedKey(next())
			switch next() % 8 {
			case 0:
				lo, hi = 0, ^uint32(0)
			case 1, 2, 3:
				hi = lo + next()%50
			case 4:
				hi = lo
			}
			a.ranges = append(a.ranges, Range[W]{Lo: numbers.Key[W](lo), Hi: numbers.Key[W](hi)})
		}
		return a
	}), 1, 14).Draw(t, "sequence")
}

// once are the steps without what has a key for the second time in a batch, so that answers don't depend on the order.
func once[W structures.Word](acts []act[W]) []act[W] {
	acts = slices.Clone(acts)
	for i := range acts {
		all := acts[i].batch
		b, seen := Batch[W]{}, map[W]bool{}
		for j, k := range all.Keys {
			if !seen[k] {
				b.Keys, b.Kinds = append(b.Keys, k), append(b.Kinds, all.Kinds[j])
				b.Values = append(b.Values, all.Values[j])
			}
			seen[k] = true
		}
		acts[i].batch = b
	}
	return acts
}

// One sequence of batches in which keys may come many times, and of what only ordered dictionaries do.
func TestOrderedSequences(t *testing.T) {
	pass.OneLavapipe(t, "the structures' own tests of ordered queries run at all widths")
	devices := openDevices(t)
	testOrderedSequences[uint32](t, devices)
	testOrderedSequences[uint64](t, devices)
}

func testOrderedSequences[W structures.Word](t *testing.T, devices []protocol) {
	for _, s := range orderedSubjects[W]() {
		t.Run(s.name, func(t *testing.T) {
			check(openVariants(t, s, devices, true),
				func(rt *rapid.T) []act[W] {
					if s.free {
						return once(orderedSequence[W](rt))
					}
					return orderedSequence[W](rt)
				})
		})
	}
}

// A direction that there is not is refused by name, and nothing is written.
func TestNoSuchDirection(t *testing.T) {
	d := testdevice.Open(t)
	testNoSuchDirection[uint32](t, d)
	testNoSuchDirection[uint64](t, d)
}

func testNoSuchDirection[W structures.Word](t *testing.T, d *vk.Device) {
	for _, s := range orderedSubjects[W]() {
		t.Run(s.name, func(t *testing.T) {
			dictionary, err := s.open(t.Context(), d, shape{tile: 1, size: 4})
			require.NoError(t, err)
			defer func() { require.NoError(t, dictionary.Close()) }()
			ordered := dictionary.(Ordered[W])
			o := &streamed[W]{Dictionary: dictionary, t: t, d: d}
			stream := o.stream()
			defer func() { require.NoError(t, stream.Close()) }()
			defer o.release()
			none := structures.Ceil + 1
			keys, values := []W{7}, []W{8}
			on := structures.DeviceNeighbors{
				Keys: o.put(keys), OutKeys: o.put(keys), OutValues: o.put(values),
				Status: upload(o, make([]uint8, 4)), Left: upload(o, []uint32{7}), Count: 1,
			}
			_, refused := ordered.Neighbor(t.Context(), none, keys)
			for what, err := range map[string]error{
				"of slices":   refused,
				"on a stream": onstream.Of(ordered).Ordered(stream).Neighbor(none, on),
				"finished":    onstream.Of(ordered).Ordered(stream).FinishNeighbors(t.Context(), none, on),
			} {
				var direction *vk.OptionError
				require.ErrorAs(t, err, &direction, what)
				require.Equal(t, "direction", direction.Option, what)
			}
		})
	}
}

// Batches of deletions that all fall into one leaf, three times what it holds, most of keys that aren't there: all over
// a dictionary whose leaves hold few pairs, many, and as many as they can.
func TestDeletionsInOneLeaf(t *testing.T) {
	pass.OneWidth(t, "what leaves hold depends on no width")
	devices := openDevices(t)
	testDeletionsInOneLeaf[uint32](t, devices)
	testDeletionsInOneLeaf[uint64](t, devices)
}

func testDeletionsInOneLeaf[W structures.Word](t *testing.T, devices []protocol) {
	const apart = 1 << 20
	pairs := 120
	if structures.WidthOf[W]() == structures.Bits64 {
		pairs = 56 // leaves hold less than half as many
	}
	var acts []act[W]
	for _, step := range []int{1, 4, 2, 3} { // into leaves that there are
		var b Batch[W]
		for i := step - 1; i < pairs; i += 4 {
			b.Keys, b.Values = append(b.Keys, numbers.Key[W](uint32(i*apart))), append(b.Values, W(i))
		}
		acts = append(acts, act[W]{what: "insert", batch: b})
		for i := 7 * step; i < pairs; i += 28 { // other leaves at each step
			var b Batch[W]
			for j := range 42 {
				// Of every fourth batch the first key may be there.
				b.Keys = append(b.Keys, numbers.Key[W](uint32(i*apart+j*apart/50+i%4)))
			}
			acts = append(acts, act[W]{what: "delete", batch: b})
		}
		acts = append(acts, act[W]{what: "walk"})
	}
	for _, s := range orderedSubjects[W]() {
		if !s.fills {
			continue // it has no leaves
		}
		t.Run(s.name, func(t *testing.T) {
			for _, v := range openVariants(t, s, devices, true).all {
				for _, dictionary := range v.both(t, s, 1) {
					require.NoError(t, v.dictionary.Clear(t.Context()))
					run(t, v.d, s, dictionary, acts)
				}
				v.ran = true
			}
		})
	}
}
