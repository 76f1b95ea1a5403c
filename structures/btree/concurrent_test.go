package btree

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/u32"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// eachProtocol runs a test with 64-bit atomics where the device has them, at tiles of one lane and of four, and
// without.
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

// Ranges concurrent with insertions that split the leaves which they read, and with deletions: what was there all the
// time is in the results, in order, and beside it nothing but what the updates bring or take.
func TestRangesWithUpdates(t *testing.T) {
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
		var ranges []u32.Range
		for range 700 {
			lo := rng.Uint32N(3 * spread * n)
			ranges = append(ranges, u32.Range{Lo: lo, Hi: lo + rng.Uint32N(60*spread)})
		}
		ranges = append(ranges, u32.Range{Lo: 2, Hi: 1}, u32.Range{Lo: 9000 * n, Hi: ^uint32(0)})
		const width = 40
		s := testdevice.Stream(t, d)
		for round := range 4 {
			type operation struct {
				kind  structures.Kind
				key   uint32
				which int // of the ranges
			}
			var all []operation
			add := func(kind structures.Kind, of []uint32) {
				for _, k := range of {
					all = append(all, operation{kind: kind, key: k})
				}
			}
			for i, r := range ranges {
				all = append(all, operation{structures.FindRange, r.Lo, i})
			}
			add(structures.Insert, comes)
			if round%2 == 0 {
				add(structures.Insert, goes)
			} else {
				add(structures.Delete, goes)
			}
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] }) // of all kinds everywhere
			count := len(all)
			keys, highs, kinds := make([]uint32, count), make([]uint32, count), make([]uint8, count)
			places := make([]int, len(ranges))
			for i, o := range all {
				keys[i], kinds[i] = o.key, uint8(o.kind)
				if o.kind == structures.FindRange {
					highs[i], places[o.which] = ranges[o.which].Hi, i
				}
			}
			kindsOn := testdevice.Room[uint8](t, d, count)
			require.NoError(t, kindsOn.Upload(t.Context(), 0, kinds))
			b := structures.DeviceBatch{Count: count, Keys: testdevice.Upload(t, d, keys),
				Values: testdevice.Upload(t, d, valuesOf(keys)), Kinds: kindsOn,
				Status: testdevice.Room[uint8](t, d, recording.Padded(count)),
				Left:   testdevice.Upload(t, d, []uint32{0}),
				Width:  width, Highs: testdevice.Upload(t, d, highs),
				OutKeys:   testdevice.Room[uint32](t, d, count*width),
				OutValues: testdevice.Room[uint32](t, d, count*width)}
			require.NoError(t, tree.ApplyOn(s, structures.Mixed, b))
			require.NoError(t, tree.Finish(t.Context(), s, structures.Mixed, b))
			require.NoError(t, tree.Check(t.Context()))
			counts, gotKeys, gotValues := testdevice.Download(t, b.Values, count),
				testdevice.Download(t, b.OutKeys, count*width), testdevice.Download(t, b.OutValues, count*width)
			for i, r := range ranges {
				at, number := places[i]*width, int(counts[places[i]])
				got, values := gotKeys[at:at+number], gotValues[at:at+number]
				first, end := within(stays, r)
				if len(got) == width && end > first { // cut off: up to the last one there is
					end, _ = slices.BinarySearch(stays, got[width-1]+1)
				}
				at = first
				for j, k := range got {
					if j > 0 && got[j-1] >= k || k < r.Lo || k > r.Hi || values[j] != value(k) || k%spread != 0 ||
						k >= 3*spread*n {
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

// The keys of one leaf, inserted and deleted concurrently, so that it is cleaned and split all the time while others
// look for a slot in it: none is there twice.
func TestChurnInOneLeaf(t *testing.T) {
	limit, most := 300*time.Millisecond, 20
	if stress.Level > 0 {
		limit, most = time.Duration(stress.Level)*6*time.Second, math.MaxInt
	}
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		const n = 1 << 12
		tree := newTree(t, d, Options{Tile: tile, Capacity: n})
		rng := random(51)
		s := testdevice.Stream(t, d)
		keys, kinds := make([]uint32, n), make([]uint8, n)
		b := orderedBatch(t, d, keys, 0)
		b.OutKeys, b.OutValues, b.Kinds = nil, nil, testdevice.Room[uint8](t, d, n)
		start := time.Now()
		for round := 0; round < most && time.Since(start) < limit; round++ {
			for i := range keys {
				keys[i] = 100 + rng.Uint32N(9)*977
				kinds[i] = uint8([]structures.Kind{structures.Insert, structures.InsertUnique,
					structures.Delete}[rng.IntN(3)])
			}
			require.NoError(t, b.Keys.Upload(t.Context(), 0, keys))
			require.NoError(t, b.Kinds.Upload(t.Context(), 0, kinds))
			require.NoError(t, tree.ApplyOn(s, structures.Mixed, b))
			require.NoError(t, tree.Finish(t.Context(), s, structures.Mixed, b))
			require.NoError(t, tree.Check(t.Context()), "round %d", round)
		}
	})
}

// orderedBatch are buffers for queries of one kind.
func orderedBatch(t testing.TB, d *vk.Device, queries []uint32, width int) structures.DeviceBatch {
	n := len(queries)
	return structures.DeviceBatch{
		Count: n, Keys: testdevice.Upload(t, d, queries), Values: testdevice.Room[uint32](t, d, n),
		Status: testdevice.Room[uint8](t, d, recording.Padded(n)), Left: testdevice.Upload(t, d, []uint32{0}),
		Width: width, OutKeys: testdevice.Room[uint32](t, d, n*width),
		OutValues: testdevice.Room[uint32](t, d, n*width),
	}
}

// resultsOf are the results of such a batch.
func resultsOf(t testing.TB, kinds []structures.Kind, b structures.DeviceBatch) u32.Results {
	n, width := b.Count, b.Width
	r := u32.Results{Status: make([]structures.Status, n), Values: testdevice.Download(t, b.Values, n),
		Keys: make([]uint32, n)}
	r.Ranges.Offsets = []uint64{0}
	outKeys, outValues := testdevice.Download(t, b.OutKeys, n*width), testdevice.Download(t, b.OutValues, n*width)
	for i, s := range testdevice.Download(t, b.Status, n) {
		r.Status[i] = structures.Status(s)
		if _, neighbor := directionOf[kinds[i]]; neighbor && r.Status[i] == structures.Found {
			r.Keys[i] = outKeys[i*width]
			require.Equal(t, r.Values[i], outValues[i*width])
		}
		if kinds[i] == structures.FindRange {
			from, to := i*width, i*width+int(r.Values[i])
			r.Ranges.Keys = append(r.Ranges.Keys, outKeys[from:to]...)
			r.Ranges.Values = append(r.Ranges.Values, outValues[from:to]...)
		}
		r.Ranges.Offsets = append(r.Ranges.Offsets, uint64(len(r.Ranges.Keys)))
	}
	return r
}

// dispatchMixed does a mixed batch as applyOrdered does, by a prefix index that the test made, one function after the
// other.
func dispatchMixed(t testing.TB, d *vk.Device, tree *tree[uint32], begin prefixIndex,
	q u32.Batch) structures.DeviceBatch {
	t.Helper()
	kinds := make([]uint8, len(q.Keys))
	for i, k := range q.Kinds {
		kinds[i] = uint8(k)
	}
	b := orderedBatch(t, d, q.Keys, q.Width)
	b.Kinds = testdevice.Room[uint8](t, d, len(kinds))
	require.NoError(t, b.Kinds.Upload(t.Context(), 0, kinds))
	require.NoError(t, b.Status.Upload(t.Context(), 0, make([]uint8, recording.Padded(len(kinds)))))
	b.Highs, b.Values = testdevice.Upload(t, d, q.Highs), testdevice.Upload(t, d, q.Keys)
	s := testdevice.Stream(t, d)
	tree.known.unsure = true // as of a kernel of somebody else's
	for _, module := range tree.ordering(structures.Mixed) {
		k, err := kernel[mixedPush](tree, s, module, tree.tiles.update,
			recording.Constant("KIND", uint32(structures.Mixed)), recording.Constant("BTREE_TORN", tree.torn()))
		require.NoError(t, err)
		k.Dispatch(s, groups(b.Count), mixedPush{
			Tree: tree.device(), Index: begin.Entries, Keys: b.Keys.Address(), Values: b.Values.Address(),
			Kinds:    b.Kinds.Address(),
			To:       vk.NewArguments(s, windowArguments{Highs: b.Highs.Address(), Width: uint32(q.Width)}),
			Statuses: b.Status.Address(), Pending: b.Left.Address(), OutKeys: b.OutKeys.Address(),
			OutValues: b.OutValues.Address(),
			Count:     uint32(b.Count), Visits: tree.visits | begin.Bits<<24, Slices: 1,
		})
	}
	require.NoError(t, s.Wait(t.Context()))
	require.Zero(t, testdevice.Download(t, b.Left, 1)[0], "pending operations")
	return b
}

// A search that is led astray, to a node that is no leaf or to one for greater keys, as by words of different age or by
// a prefix index that was made while the root was split, begins again, and nothing else comes of it.
func TestLedAstray(t *testing.T) {
	const bits = 8
	entryOf := map[string]func(nodes []Node[uint32], first uint32) int{
		"a level too low": func(nodes []Node[uint32], first uint32) int {
			return slices.IndexFunc(nodes, func(n Node[uint32]) bool {
				return n.Level == 1 && n.Low <= first && first <= n.High
			})
		},
		"too far right": func(nodes []Node[uint32], first uint32) int {
			return slices.IndexFunc(nodes, func(n Node[uint32]) bool {
				return n.Level == 0 && n.Low > first && !n.Last
			})
		},
	}
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		rng := random(41)
		keys := ramp(3000, 0, ^uint32(0)/3000)
		tree := buildTree(t, d, keys, keys, Options{Tile: tile, Fill: 0.6})
		want := model{}.insert(keys, keys)
		for what, entry := range entryOf {
			t.Log(what) // of a failure, the last one
			nodes, err := tree.Nodes(t.Context())
			require.NoError(t, err)
			entries := make([]uint32, 2<<bits)
			for i := range uint32(1 << bits) {
				if at := entry(nodes, i<<(32-bits)); at >= 0 {
					entries[2*i] = nodes[at].Ref // as a leaf
				} else {
					entries[2*i], entries[2*i+1] = nodes[0].Ref, 1
				}
			}
			begin := prefixIndex{testdevice.Upload(t, d, entries).Address(), bits}
			asks := queryBatch(rng, keys, 1500, 20, 40)
			for i, k := range asks.Kinds {
				if k == structures.CountAll {
					asks.Kinds[i] = structures.FindCeil
				}
			}
			requireAnswers(t, asks, resultsOf(t, asks.Kinds, dispatchMixed(t, d, tree, begin, asks)), want)

			updates := u32.Batch{Keys: uniqueKeys(rng, 1000), Kinds: make([]structures.Kind, 1000),
				Highs: make([]uint32, 1000), Width: 1}
			copy(updates.Keys, asked(keys, 400)[5:])
			slices.Sort(updates.Keys)
			updates.Keys = slices.Compact(updates.Keys)
			for i, key := range updates.Keys {
				updates.Kinds[i] = []structures.Kind{structures.Insert, structures.InsertUnique, structures.Delete}[i%3]
				if i%3 == 2 {
					delete(want, key)
				} else {
					want[key] = key
				}
			}
			updates.Kinds, updates.Highs = updates.Kinds[:len(updates.Keys)], updates.Highs[:len(updates.Keys)]
			dispatchMixed(t, d, tree, begin, updates)
			requireTree(t, tree, want)
		}
	})
}

// A range meets a key once, though the leaf has it twice: as who reads the leaf may see it that is moved from one slot
// to another meanwhile, and as only a damaged tree has it for good.
func TestRangeOverAKeyTwice(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		keys := ramp(100, 5, 10)
		tree := buildTree(t, d, keys, keys, Options{Tile: tile, Fill: 0.6})
		nodes, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		for _, n := range nodes {
			if n.Level == 0 && len(n.Keys) > 2 {
				poke(t, tree, poked{slab: n.Ref, word: 26, value: n.Keys[2]},
					poked{slab: n.Ref, word: 27, value: n.Values[2]})
			}
		}
		var corrupt *CorruptError
		require.ErrorAs(t, tree.Check(t.Context()), &corrupt)
		q := u32.Batch{Width: 100}
		for i := range 120 {
			q.Kinds = append(q.Kinds, orderedKinds[i%len(orderedKinds)])
			q.Keys = append(q.Keys, uint32(i)*8)
			q.Highs = append(q.Highs, uint32(i)*8+150)
		}
		requireBatch(t, tree, q, model{}.insert(keys, keys))
	})
}

// Queries of one kind, which have kernels of their own. Given no visits, all stay pending, and are done later.
func TestQueriesOfOneKindWithUpdates(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		rng := random(15)
		keys := uniqueKeys(rng, 3000)
		want := model{}.insert(keys, randomWords(rng, len(keys)))
		sorted, values := want.sorted()
		tree := buildTree(t, d, sorted, values, Options{Tile: tile})
		for _, kind := range []structures.Kind{structures.FindPredecessor, structures.FindCeil, structures.FindRange} {
			const width = 6
			q := queryBatch(rng, keys, 1000, 20, width)
			for i := range q.Kinds {
				q.Kinds[i] = kind
			}
			b := orderedBatch(t, d, q.Keys, width)
			b.Highs = testdevice.Upload(t, d, q.Highs)
			enough := tree.visits
			tree.visits = 0
			require.NoError(t, tree.ApplyOn(tree.stream, kind, b))
			require.NoError(t, tree.stream.Wait(t.Context()))
			left := int(testdevice.Download(t, b.Left, 1)[0])
			for _, s := range testdevice.Download(t, b.Status, len(q.Keys)) {
				if structures.Status(s) == structures.Pending {
					left--
				}
			}
			require.Zero(t, left, "queries left pending")
			tree.visits = enough
			require.NoError(t, tree.Finish(t.Context(), tree.stream, kind, b))
			requireAnswers(t, q, resultsOf(t, q.Kinds, b), want)
		}
	})
}

// Neighbours concurrent with updates on another stream: no further away than the nearest key that is there all the
// time, and a key that may be there.
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
			b := structures.DeviceBatch{Count: n, Keys: testdevice.Upload(t, d, changes),
				Values: testdevice.Upload(t, d, changes), Status: testdevice.Room[uint8](t, d, n),
				Left: testdevice.Upload(t, d, []uint32{0})}
			asked := []structures.Kind{structures.FindCeil, structures.FindPredecessor}[round/2]
			q := orderedBatch(t, d, queries, 1)
			require.NoError(t, tree.ApplyOn(updates, kind, b))
			require.NoError(t, tree.ApplyOn(asks, asked, q))
			for _, s := range []*vk.Stream{updates, asks} {
				_, err := s.Submit()
				require.NoError(t, err)
			}
			require.NoError(t, asks.Wait(t.Context()))
			require.NoError(t, tree.Finish(t.Context(), updates, kind, b))
			// where what held a latch was off its processor
			require.NoError(t, tree.Finish(t.Context(), asks, asked, q))
			keys, values := testdevice.Download(t, q.OutKeys, len(queries)),
				testdevice.Download(t, q.OutValues, len(queries))
			to := directionOf[asked]
			for i, query := range queries {
				// The nearest of stays, or what lies between it and the query.
				nearest := stays[neighborOf(stays, to, query)]
				between := keys[i]%1000 == 0 && (to == structures.Ceil && keys[i] >= query && keys[i] < nearest ||
					to == structures.Predecessor && keys[i] < query && keys[i] > nearest)
				if values[i] != keys[i] || keys[i] != nearest && !between {
					t.Fatalf("%v of %d: %d with %d, and %d is there all the time", to, query, keys[i], values[i],
						nearest)
				}
			}
			require.NoError(t, tree.Check(t.Context()))
		}
	})
}

func TestErrorsOfQueriesWithUpdates(t *testing.T) {
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	s := testdevice.Stream(t, d)
	var kind *structures.KindError
	require.ErrorAs(t, tree.ApplyOn(s, structures.CountAll, orderedBatch(t, d, []uint32{1}, 1)), &kind)
	require.ErrorAs(t, tree.ApplyOn(s, structures.CountRange+1, orderedBatch(t, d, []uint32{1}, 1)), &kind)
	good := orderedBatch(t, d, []uint32{1}, 2)
	good.Highs = good.Keys
	require.NoError(t, tree.ApplyOn(s, structures.FindRange, good))
	require.NoError(t, tree.Finish(t.Context(), s, structures.FindRange, good))
	for what, spoil := range map[string]func(b *structures.DeviceBatch){
		"no width": func(b *structures.DeviceBatch) {
			b.Width = 0
		}, "a negative width": func(b *structures.DeviceBatch) { b.Width = -1 },
		"no highs": func(b *structures.DeviceBatch) {
			b.Highs = nil
		}, "no keys": func(b *structures.DeviceBatch) { b.Keys = nil },
		"little room":                 func(b *structures.DeviceBatch) { b.OutKeys = b.Left },
		"no room":                     func(b *structures.DeviceBatch) { b.OutValues = nil },
		"few windows":                 func(b *structures.DeviceBatch) { b.Windows = testdevice.Room[uint32](t, d, 0) },
		"few statuses":                func(b *structures.DeviceBatch) { b.Status = testdevice.Room[uint8](t, d, 0) },
		"nothing to say what is left": func(b *structures.DeviceBatch) { b.Left = testdevice.Room[uint32](t, d, 0) },
		"nothing to say how many": func(b *structures.DeviceBatch) {
			b.DeviceCount = testdevice.Room[uint32](t, d, 0)
		},
	} {
		b := good
		spoil(&b)
		var length *structures.LengthError
		require.ErrorAs(t, tree.ApplyOn(s, structures.FindRange, b), &length, what)
	}
	many := good
	many.Count, many.Width = 1<<20, 1<<20
	var long *structures.CountError
	require.ErrorAs(t, tree.ApplyOn(s, structures.FindRange, many), &long, "too many pairs")
	mixed := good
	mixed.Kinds = testdevice.Room[uint8](t, d, 4)
	require.NoError(t, mixed.Kinds.Upload(t.Context(), 0, []uint8{uint8(structures.FindRange), 0, 0, 0}))
	require.NoError(t, tree.ApplyOn(s, structures.Mixed, mixed))
	require.NoError(t, tree.Finish(t.Context(), s, structures.Mixed, mixed))
	for what, spoil := range map[string]func(b *structures.DeviceBatch){
		"no kinds": func(b *structures.DeviceBatch) { b.Kinds = nil },
		"no highs": func(b *structures.DeviceBatch) { b.Highs = nil },
		"no room":  func(b *structures.DeviceBatch) { b.OutKeys = nil },
	} {
		b := mixed
		spoil(&b)
		var length *structures.LengthError
		require.ErrorAs(t, tree.ApplyOn(s, structures.Mixed, b), &length, "mixed, "+what)
	}
	closed, err := makeTree[uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, closed.ApplyOn(s, structures.FindRange, good), vk.ErrClosed)
}
