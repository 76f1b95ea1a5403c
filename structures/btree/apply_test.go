package btree

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

var orderedKinds = []structures.Kind{
	structures.FindSuccessor, structures.FindPredecessor, structures.FindFloor, structures.FindCeil,
	structures.FindRange, structures.CountRange,
}

var directionOf = map[structures.Kind]structures.Direction{
	structures.FindSuccessor: structures.Successor, structures.FindPredecessor: structures.Predecessor,
	structures.FindFloor: structures.Floor, structures.FindCeil: structures.Ceil,
}

// queryBatch returns a batch of queries of random kinds. Most ranges have at most about length pairs.
func queryBatch[W structures.Word](rng *rand.Rand, keys []W, n, length, width int) structures.Batch[W, W] {
	b := structures.Batch[W, W]{Keys: asked(keys, n), Highs: make([]W, n), Kinds: make([]structures.Kind, n),
		Width: width}
	gap := uint64(^W(0)) / uint64(len(keys)+1)
	for i := range b.Keys {
		b.Kinds[i] = append(orderedKinds, structures.Find, structures.CountAll)[rng.IntN(8)]
		b.Highs[i] = b.Keys[i] + min(^b.Keys[i], W(rng.Uint64N(uint64(length)*gap)))
		if i%200 == 7 {
			b.Highs[i] = W(rng.Uint64()) // of any length, also empty
		}
	}
	return b
}

// requireAnswers compares the results of queries with those of a model.
func requireAnswers[W structures.Word](t testing.TB, b structures.Batch[W, W], r structures.Results[W, W],
	want modelOf[W]) {
	t.Helper()
	keys, values := want.sorted()
	for i, k := range b.Kinds {
		status, key, value := structures.Absent, W(0), W(0)
		var listed, listedValues []W
		first, end := within(keys, structures.Range[W]{Lo: b.Keys[i], Hi: b.Highs[i]})
		switch k {
		case structures.Find, structures.CountAll:
			if v, there := want[b.Keys[i]]; there {
				status, value = structures.Found, v
				if k == structures.CountAll {
					value = 1
				}
			}
		case structures.FindRange, structures.CountRange:
			if k == structures.FindRange {
				end = min(end, first+b.Width)
				listed, listedValues = keys[first:end], values[first:end]
			}
			if value = W(max(end-first, 0)); value != 0 {
				status = structures.Found
			}
		default:
			if at := neighborOf(keys, directionOf[k], b.Keys[i]); at >= 0 {
				status, key, value = structures.Found, keys[at], values[at]
			}
		}
		if got := []W{W(r.Status[i]), r.Keys[i], r.Values[i]}; !slices.Equal(got, []W{W(status), key, value}) {
			t.Fatalf("%v of %#x to %#x: status, key, value %#x instead of %d, %#x, %#x", k, b.Keys[i], b.Highs[i], got,
				status, key, value)
		}
		from, to := r.Ranges.Offsets[i], r.Ranges.Offsets[i+1]
		if !slices.Equal(listed, r.Ranges.Keys[from:to]) || !slices.Equal(listedValues, r.Ranges.Values[from:to]) {
			t.Fatalf("%v from %#x to %#x: %#x instead of %#x", k, b.Keys[i], b.Highs[i], clip(r.Ranges.Keys[from:to]),
				clip(listed))
		}
	}
}

func requireBatch[W structures.Word](t testing.TB, tree *dictionary[W], queries structures.Batch[W, W],
	want modelOf[W]) {
	t.Helper()
	r, err := tree.Apply(t.Context(), queries)
	require.NoError(t, err)
	requireAnswers(t, queries, r, want)
}

// Queries of all kinds in one batch, of trees in every state. Also if the memory for windows is enough for only a few
// queries at once.
func TestQueriesOfAllKindsInOneBatch(t *testing.T) {
	eachWidth(t, testQueriesOfAllKindsInOneBatch[uint32], testQueriesOfAllKindsInOneBatch[uint64])
}

func testQueriesOfAllKindsInOneBatch[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	rng := random(31)
	keys := widened[W](uniqueKeys(rng, 3000))
	values := widened[W](randomWords(rng, len(keys)))
	want := modelOf[W]{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{Tile: tile})
	ask := func(n, length, width int) {
		t.Helper()
		requireBatch(t, tree, queryBatch(rng, keys, n, length, width), want)
	}
	ask(63, 5, 3)
	ask(3000, 20, 40)
	ask(3000, 20, 1<<10)
	ravage(t, tree, want)
	orphan(t, tree)
	ask(1000, 10, 8)
	emptyLeaves(t, tree, want, func(leaf int) bool { return leaf%40 != 20 })
	ask(300, 10, 8)
	emptyLeaves(t, tree, want, func(leaf int) bool { return true })
	ask(100, 10, 8)
}

// Neighbors in a mixed batch that are many empty leaves away. With too few visits nothing of the batch is done. A retry
// has more, and finds what was there before the batch.
func TestMixedNeighborsPastEmptyLeaves(t *testing.T) {
	eachWidth(t, testMixedNeighborsPastEmptyLeaves[uint32], testMixedNeighborsPastEmptyLeaves[uint64])
}

func testMixedNeighborsPastEmptyLeaves[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	keys := widened[W](ramp(3000, 0, 1000))
	tree := buildTree(t, d, keys, keys, Options{Path: Concurrent, Tile: tile})
	before := modelOf[W]{}
	var gone []W
	for i, key := range keys {
		if i%700 == 350 {
			before[key] = key
		} else {
			gone = append(gone, key)
		}
	}
	_, err := tree.Delete(t.Context(), gone) // on this path, empty leaves stay
	require.NoError(t, err)
	queries, after := structures.Batch[W, W]{Width: 1}, maps.Clone(before)
	for i := range 1000 {
		queries.Kinds = append(queries.Kinds, orderedKinds[i%5]) // all but counts
		queries.Keys = append(queries.Keys, keys[3*i]+1)
	}
	queries.Highs = queries.Keys
	all := queries
	for i := range 1000 {
		all.Kinds, all.Keys = append(all.Kinds, structures.Insert), append(all.Keys, keys[3*i])
		after[keys[3*i]] = keys[3*i]
	}
	all.Values, all.Highs = all.Keys, all.Keys

	tree.visits, tree.mostVisits = 1, 1
	r, err := tree.Apply(t.Context(), all)
	var stuck *structures.StuckError
	require.ErrorAs(t, err, &stuck)
	require.Equal(t, len(all.Keys), stuck.Operations)
	require.Equal(t, make([]structures.Status, len(all.Keys)), r.Status)
	requireTree(t, tree, before)
	tree.mostVisits = maxVisits
	r, err = tree.Apply(t.Context(), all)
	require.NoError(t, err)
	requireAnswers(t, queries, r, before)
	requireTree(t, tree, after)
}

// Updates and queries of all kinds in one batch: if updates don't touch the keys of a query, its result is as without
// them.
func TestMixedBatchOfAllKinds(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		tree := newTree(t, d, Options{Tile: tile})
		for _, path := range []Path{Concurrent, Batched} { // with one tree, so that its kernels are compiled once
			t.Run(path.String(), func(t *testing.T) {
				rng := random(32)
				quiet := uniqueKeys(rng, 2000) // in the lower half, where nothing is updated
				for i := range quiet {
					quiet[i] /= 2
				}
				still := model{}.insert(quiet, randomWords(rng, len(quiet)))
				keys, values := still.sorted()
				rebuild(t, tree, keys, values)
				tree.o.Path = path
				const border = 1 << 31
				_, err := tree.Insert(t.Context(), []uint32{border}, []uint32{1})
				require.NoError(t, err)
				still[border] = 1 // the last key that a query may find
				q := queryBatch(rng, keys, 2000, 20, 10)
				all := u32.Batch{Width: q.Width}
				var queries []int
				add := func(kind structures.Kind, key, value, high uint32) {
					all.Kinds, all.Keys = append(all.Kinds, kind), append(all.Keys, key)
					all.Values, all.Highs = append(all.Values, value), append(all.Highs, high)
				}
				after := model{}
				for i, k := range q.Kinds {
					q.Keys[i] = min(q.Keys[i], border-1)
					q.Highs[i] = min(q.Highs[i], border-1)
					queries = append(queries, len(all.Keys))
					add(k, q.Keys[i], 0, q.Highs[i])
					key := border + 1 + uint32(i)*1000
					add(structures.Insert, key, uint32(i), 0)
					after[key] = uint32(i)
				}
				r, err := tree.Apply(t.Context(), all)
				require.NoError(t, err)
				picked := u32.Results{Status: pipeline.Pick(r.Status, queries),
					Values: pipeline.Pick(r.Values, queries), Keys: pipeline.Pick(r.Keys, queries)}
				picked.Ranges = u32.Ranges{Offsets: []uint64{0}}
				for _, i := range queries {
					from, to := r.Ranges.Offsets[i], r.Ranges.Offsets[i+1]
					picked.Ranges.Keys = append(picked.Ranges.Keys, r.Ranges.Keys[from:to]...)
					picked.Ranges.Values = append(picked.Ranges.Values, r.Ranges.Values[from:to]...)
					picked.Ranges.Offsets = append(picked.Ranges.Offsets, uint64(len(picked.Ranges.Keys)))
				}
				requireAnswers(t, q, picked, still)
				for i, k := range all.Kinds {
					if k == structures.Insert {
						require.Equal(t, structures.Inserted, r.Status[i])
						require.Equal(t, r.Ranges.Offsets[i], r.Ranges.Offsets[i+1])
					}
				}
				for key, value := range still {
					after[key] = value
				}
				requireTree(t, tree, after)
			})
		}
	})
}

func TestErrorsOfMixedBatches(t *testing.T) {
	d := openDevice(t)
	tree := buildTree(t, d, []uint32{1}, []uint32{2}, Options{})
	apply := func(b u32.Batch) error {
		b.Keys = make([]uint32, len(b.Kinds))
		_, err := tree.Apply(t.Context(), b)
		return err
	}
	var kind *structures.KindError
	require.ErrorAs(t, apply(u32.Batch{Kinds: []structures.Kind{structures.Find, structures.InsertDuplicate},
		Values: []uint32{1, 2}}), &kind)
	require.Equal(t, structures.KindError{Index: 1, Kind: structures.InsertDuplicate}, *kind)
	require.ErrorAs(t, apply(u32.Batch{Kinds: []structures.Kind{structures.CountRange + 1}, Highs: []uint32{1},
		Width: 1}), &kind)
	var length *structures.LengthError
	require.ErrorAs(t, apply(u32.Batch{Kinds: []structures.Kind{structures.Insert}}), &length)
	require.Equal(t, structures.LengthError{Keys: 1, Other: "values"}, *length)
	require.ErrorAs(t, apply(u32.Batch{Kinds: []structures.Kind{structures.Find, structures.FindRange},
		Width: 1}), &length)
	require.Equal(t, structures.LengthError{Keys: 2, Other: "highs"}, *length)
	require.ErrorAs(t, apply(u32.Batch{Kinds: []structures.Kind{structures.FindRange}, Highs: []uint32{1}}),
		&length)
	require.ErrorAs(t, apply(u32.Batch{Kinds: []structures.Kind{structures.FindRange}, Highs: []uint32{1, 2},
		Width: 1}), &length)
}
