package btree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/u32"
	"pgregory.net/rapid"
)

// TestMain sets on how many sequences a property is tested.
func TestMain(m *testing.M) {
	const concurrent = "Concurrent|WhileKeysChange"
	pass.Tests{
		InAll:  "4 8 16 swiftshader",
		Only:   map[string]string{"swiftshader": concurrent, "16": concurrent + "|TestBatchProperty"},
		Except: map[string]string{"4": concurrent},
		Why:    "SwiftShader and 16 lanes have what is concurrent, lavapipe's 4 the rest; other tests make the calls",
	}.Begin()
	stress.Main(m, 8, 30, 20)
}

// batchSizes are sizes around the limits of a leaf, a long segment, a group, and the levels above.
var batchSizes = []int{1, 2, 8, 14, 15, 32, 33, 64, 100, 129, 500, 3000}

// drawKeys returns the keys of a batch: in one leaf or a few, spread over all keys, at both ends, or among the keys in
// the tree. have are the tree's keys.
func drawKeys(rt *rapid.T, rng *rand.Rand, n int, have []uint32) []uint32 {
	around := rng.Uint32() // where the keys are clustered
	if len(have) != 0 {
		around = have[rng.IntN(len(have))]
	}
	leaf := uint32(1 << 32 / (uint64(len(have))/8 + 1) >> 1) // about half the range of a leaf
	keys := make([]uint32, n)
	shape := rapid.SampledFrom([]string{"near", "beside", "leaf", "leaves", "spread", "present", "one", "ends",
		"ascending"}).Draw(rt, "keys")
	for i := range keys {
		switch shape {
		case "near":
			keys[i] = around + rng.Uint32N(20)
		case "beside": // mostly in one leaf, and absent
			keys[i] = around + 1 + rng.Uint32N(leaf/100|1)
		case "leaf":
			keys[i] = around + rng.Uint32N(leaf|1)
		case "leaves":
			keys[i] = around + rng.Uint32N(max(leaf, 1<<26)/(1<<26)*(1<<26)+1)*uint32(rng.IntN(40))
		case "spread":
			keys[i] = rng.Uint32()
		case "present":
			keys[i] = around
			if len(have) != 0 {
				keys[i] = have[rng.IntN(len(have))]
			}
		case "one":
			keys[i] = around
		case "ends":
			keys[i] = rng.Uint32N(20) - 10
		case "ascending":
			keys[i] = around + uint32(i)
		}
	}
	return keys
}

// drawBatch returns a batch of any shape.
func drawBatch(rt *rapid.T, have []uint32) operations {
	n := rapid.SampledFrom(batchSizes).Draw(rt, "operations")
	rng := random(rapid.Uint64().Draw(rt, "seed"))
	b := insert(rng, drawKeys(rt, rng, n, have))
	b.kind = rapid.SampledFrom([]structures.Kind{
		structures.Insert, structures.Insert, structures.InsertUnique, structures.Delete, structures.Delete,
		structures.Mixed,
	}).Draw(rt, "kind")
	if b.kind == structures.Mixed {
		deletions := rapid.SampledFrom([]int{0, 1, 5, 9, 10}).Draw(rt, "deletions of 10")
		b.kinds = make([]structures.Kind, n)
		for i := range b.kinds {
			b.kinds[i] = []structures.Kind{structures.Insert, structures.InsertUnique}[rng.IntN(2)]
			if rng.IntN(10) < deletions {
				b.kinds[i] = structures.Delete
			}
		}
	}
	return b
}

// shrinking makes a test fail with the smallest sequence that rapid finds.
type shrinking struct {
	testing.TB
	rt *rapid.T
}

func (s shrinking) Errorf(format string, args ...any) { s.rt.Errorf(format, args...) }
func (s shrinking) Fatalf(format string, args ...any) { s.rt.Fatalf(format, args...) }
func (s shrinking) FailNow()                          { s.rt.FailNow() }

// fromSlices does a batch from Go slices.
func (r *batchRig) fromSlices(b operations) {
	r.t.Helper()
	var statuses []structures.Status
	var err error
	switch b.kind {
	case structures.Insert:
		statuses, err = r.tree.Insert(r.t.Context(), b.keys, b.values)
	case structures.InsertUnique:
		statuses, err = r.tree.InsertUnique(r.t.Context(), b.keys, b.values)
	case structures.Delete:
		statuses, err = r.tree.Delete(r.t.Context(), b.keys)
	default:
		var results u32.Results
		results, err = r.tree.Apply(r.t.Context(), u32.Batch{Kinds: b.kinds, Keys: b.keys, Values: b.values})
		statuses = results.Status
	}
	require.NoError(r.t, err)
	want := b.apply(r.want)
	got := make([]uint8, len(statuses))
	for i, s := range statuses {
		got[i] = uint8(s)
	}
	same(r.t, want, got, "statuses")
}

// Batches of any shape, one after the other, with a check of the tree after each: for each fill, each way to read
// leaves, from streams and from Go slices, in a full tree, an empty one, and one that concurrent updates have changed.
func TestBatchProperty(t *testing.T) {
	d := openDevice(t)
	for _, tile := range []int{1, 2, 4} {
		for _, fill := range []float64{0.01, 0, 0.7, 1} {
			t.Run(fmt.Sprintf("tile=%d/fill=%g", tile, fill), func(t *testing.T) {
				r := newBatchRig(t, d, Options{Fill: fill, Tile: tile, Path: Batched})
				rapid.Check(t, func(rt *rapid.T) {
					r.t = shrinking{t, rt}
					r.clear()
					if n := rapid.SampledFrom([]int{0, Slots, 300, 3000}).Draw(rt, "pairs"); n != 0 {
						rng := random(rapid.Uint64().Draw(rt, "seed"))
						keys, values := uniqueKeys(rng, n), randomWords(rng, n)
						rebuild(r.t, r.tree, keys, values)
						require.NoError(r.t, r.tree.Compact(t.Context(),
							rapid.SampledFrom([]float64{1, 1, 0, 0.01}).Draw(rt, "compacted to")))
						r.want.insert(keys, values)
					}
					defer func(was int) { aloneUpTo = was }(aloneUpTo)
					aloneUpTo = rapid.SampledFrom([]int{2, aloneUpTo}).Draw(rt, "alone up to")
					for range rapid.IntRange(1, 6).Draw(rt, "batches") {
						if rapid.IntRange(0, 3).Draw(rt, "concurrent updates") == 0 {
							ravage(r.t, r.tree, r.want)
						}
						have, _ := r.want.sorted()
						b := drawBatch(rt, have)
						before := r.nodes()
						if rapid.Bool().Draw(rt, "from slices") {
							r.fromSlices(b)
						} else {
							first := rapid.IntRange(0, 3).Draw(rt, "first")
							if b.kind == structures.Mixed {
								first = 0
							}
							r.doFrom(first, b, rapid.Bool().Draw(rt, "statuses"))
						}
						r.check()
						if b.kind == structures.Delete {
							require.LessOrEqual(r.t, r.nodes(), before, "nodes after deletions")
						}
					}
				})
			})
		}
	}
}
