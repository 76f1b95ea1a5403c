package btree

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/kernels"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// eachProtocol runs a test with 64-bit atomics, if the device has them, with tiles of one lane and of four, and without
// them, unless other runs do that.
func eachProtocol(t *testing.T, test func(t *testing.T, d *vk.Device, tile int)) {
	d := openDevice(t)
	if d.Has(vk.Int64Atomics) {
		t.Run("a64/tile1", func(t *testing.T) { test(t, d, 1) })
		t.Run("a64/tile4", func(t *testing.T) { test(t, d, 4) })
	}
	t.Run("a32", func(t *testing.T) {
		if testdevice.OneProtocol(d) {
			t.Skip("other runs have this protocol")
		}
		test(t, openDevice(t, vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}), 2)
	})
}

// eachWidth runs a test for 32 bits with each protocol, and for 64 bits, where all devices have the same protocol.
func eachWidth(t *testing.T, at32, at64 func(t *testing.T, d *vk.Device, tile int)) {
	eachProtocol(t, at32)
	tile := 2
	if testing.Short() {
		tile = 1 // as in other tests, because SwiftShader has compiled those kernels
	}
	t.Run("64", func(t *testing.T) {
		if pass.Delayed() {
			t.Skip("32 bits without 64-bit atomics have this protocol; make stress has 64 bits with delays")
		}
		at64(t, openDevice(t), tile)
	})
}

// Ranges are read while insertions split the same leaves, and while keys are deleted. The results have all keys that
// stay, in order, and otherwise only keys that the updates insert or delete.
func TestRangesWithUpdates(t *testing.T) {
	eachWidth(t, testRangesWithUpdates[uint32], testRangesWithUpdates[uint64])
}

func testRangesWithUpdates[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	const n, spread = 3000, 1000
	stays := widened[W](ramp(n, 0, 3*spread))        // never updated
	goes := widened[W](ramp(n, spread, 3*spread))    // deleted in every second round, inserted in the others
	comes := widened[W](ramp(n, 2*spread, 3*spread)) // inserted in the first round, assigned later
	value := func(key W) W { return key*7 + 1 }
	valuesOf := func(keys []W) []W { return numbers.Each(keys, value) }
	stay, all := modelOf[W]{}.insert(stays, stays), modelOf[W]{}
	for _, keys := range [][]W{stays, goes, comes} {
		all.insert(keys, valuesOf(keys))
	}
	tree := buildTree(t, d, stays, valuesOf(stays), Options{Tile: tile, Fill: 1, Capacity: 5 * n})
	rng := random(14)
	var ranges []structures.Range[W]
	add := func(lo, hi uint32) {
		ranges = append(ranges, structures.Range[W]{Lo: numbers.Key[W](lo), Hi: numbers.Key[W](hi)})
	}
	for range 700 {
		lo := rng.Uint32N(3 * spread * n)
		add(lo, lo+rng.Uint32N(60*spread))
	}
	add(2, 1)
	add(9000*n, ^uint32(0))
	const width = 40
	s := testdevice.Stream(t, d)
	for round := range 4 {
		type operation struct {
			kind  structures.Kind
			key   W
			which int // the index of the range
		}
		var mixed []operation
		add := func(kind structures.Kind, of []W) {
			for _, k := range of {
				mixed = append(mixed, operation{kind: kind, key: k})
			}
		}
		for i, r := range ranges {
			mixed = append(mixed, operation{structures.FindRange, r.Lo, i})
		}
		add(structures.Insert, comes)
		if round%2 == 0 {
			add(structures.Insert, goes)
		} else {
			add(structures.Delete, goes)
		}
		// Operations of all kinds, in random order.
		rng.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
		count := len(mixed)
		keys, highs, kinds := make([]W, count), make([]W, count), make([]uint8, count)
		places := make([]int, len(ranges))
		for i, o := range mixed {
			keys[i], kinds[i] = o.key, uint8(o.kind)
			if o.kind == structures.FindRange {
				highs[i], places[o.which] = ranges[o.which].Hi, i
			}
		}
		kindsOn := testdevice.Room[uint8](t, d, count)
		require.NoError(t, kindsOn.Upload(t.Context(), 0, kinds))
		b := orderedBatch(t, d, keys, width)
		b.Values, b.Kinds, b.Highs = upload(t, d, valuesOf(keys)), kindsOn, upload(t, d, highs)
		require.NoError(t, tree.On(s).Apply(structures.Mixed, b))
		require.NoError(t, tree.On(s).Finish(t.Context(), structures.Mixed, b))
		require.NoError(t, tree.Check(t.Context()))
		counts, gotKeys, gotValues := download[W](t, b.Values, count), download[W](t, b.OutKeys, count*width),
			download[W](t, b.OutValues, count*width)
		for i, r := range ranges {
			at, number := places[i]*width, int(counts[places[i]])
			got, values := gotKeys[at:at+number], gotValues[at:at+number]
			first, end := within(stays, r)
			if len(got) == width && end > first { // the window is full: only up to the last key in it
				end, _ = slices.BinarySearch(stays, got[width-1]+1)
			}
			at = first
			for j, k := range got {
				v, known := all[k]
				if j > 0 && got[j-1] >= k || k < r.Lo || k > r.Hi || !known || values[j] != v {
					t.Fatalf("round %d, range %#x: pair %d of %#x %#x", round, r, j, got, values)
				}
				if _, there := stay[k]; there {
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
}

// Keys of one leaf are inserted and deleted concurrently, so that the leaf is cleaned and split while other operations
// search it for a free slot. No key is there twice.
func TestChurnInOneLeaf(t *testing.T) {
	limit, most := 300*time.Millisecond, 20
	if stress.Level > 0 {
		limit, most = time.Duration(stress.Level)*6*time.Second, math.MaxInt
	}
	eachWidth(t, func(t *testing.T, d *vk.Device, tile int) { churn[uint32](t, d, tile, limit, most) },
		func(t *testing.T, d *vk.Device, tile int) { churn[uint64](t, d, tile, limit, most) })
}

func churn[W structures.Word](t *testing.T, d *vk.Device, tile int, limit time.Duration, most int) {
	const n = 1 << 12
	tree := newTreeOf[W](t, d, Options{Tile: tile, Capacity: n})
	rng := random(51)
	s := testdevice.Stream(t, d)
	keys, kinds := make([]W, n), make([]uint8, n)
	b := orderedBatch(t, d, keys, 0)
	b.OutKeys, b.OutValues, b.Kinds = nil, nil, testdevice.Room[uint8](t, d, n)
	start := time.Now()
	for round := 0; round < most && time.Since(start) < limit; round++ {
		for i := range keys {
			keys[i] = numbers.Key[W](100 + rng.Uint32N(9)*977)
			kinds[i] = uint8([]structures.Kind{structures.Insert, structures.InsertUnique,
				structures.Delete}[rng.IntN(3)])
		}
		require.NoError(t, b.Keys.Upload(t.Context(), 0, numbers.Words(keys)))
		require.NoError(t, b.Kinds.Upload(t.Context(), 0, kinds))
		require.NoError(t, tree.On(s).Apply(structures.Mixed, b))
		require.NoError(t, tree.On(s).Finish(t.Context(), structures.Mixed, b))
		require.NoError(t, tree.Check(t.Context()), "round %d", round)
	}
}

// orderedBatch returns buffers for ordered queries of one kind.
func orderedBatch[W structures.Word](t testing.TB, d *vk.Device, queries []W, width int) structures.DeviceBatch {
	n := len(queries)
	room := func(n int) *vk.Buffer[uint32] { return testdevice.Room[uint32](t, d, numbers.WordsOf[W](n)) }
	return structures.DeviceBatch{
		Count: n, Keys: upload(t, d, queries), Values: room(n),
		Status: testdevice.Room[uint8](t, d, recording.Padded(n)), Left: testdevice.Upload(t, d, []uint32{0}),
		Width: width, OutKeys: room(n * width), OutValues: room(n * width),
	}
}

// upload copies keys or values to a device buffer, and download reads some.
func upload[W structures.Word](t testing.TB, d *vk.Device, all []W) *vk.Buffer[uint32] {
	return testdevice.Upload(t, d, numbers.Words(all))
}

func download[W structures.Word](t testing.TB, b *vk.Buffer[uint32], n int) []W {
	return numbers.From[W](testdevice.Download(t, b, numbers.WordsOf[W](n)))
}

// resultsOf returns the results of such a batch.
func resultsOf[W structures.Word](t testing.TB, kinds []structures.Kind,
	b structures.DeviceBatch) structures.Results[W, W] {
	n, width := b.Count, b.Width
	r := structures.Results[W, W]{Status: make([]structures.Status, n), Values: download[W](t, b.Values, n),
		Keys: make([]W, n)}
	r.Ranges.Offsets = []uint64{0}
	outKeys, outValues := download[W](t, b.OutKeys, n*width), download[W](t, b.OutValues, n*width)
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

// dispatchMixed does a mixed batch as applyMixed does, but with a prefix index of the test, one kernel after the other,
// and with ordered queries as kernels ask them beside updates. It returns how many queries are pending.
func dispatchMixed[W structures.Word](t testing.TB, d *vk.Device, tree *dictionary[W], begin prefixIndex,
	q structures.Batch[W, W]) (b structures.DeviceBatch, left uint32) {
	t.Helper()
	kinds := make([]uint8, len(q.Keys))
	for i, k := range q.Kinds {
		kinds[i] = uint8(k)
	}
	b = orderedBatch(t, d, q.Keys, q.Width)
	b.Kinds = testdevice.Room[uint8](t, d, len(kinds))
	require.NoError(t, b.Kinds.Upload(t.Context(), 0, kinds))
	require.NoError(t, b.Status.Upload(t.Context(), 0, make([]uint8, recording.Padded(len(kinds)))))
	b.Highs, b.Values = upload(t, d, q.Highs), upload(t, d, q.Keys)
	s := testdevice.Stream(t, d)
	tree.known.unsure = true // as after a kernel of the caller
	gate := testdevice.Upload(t, d, []uint32{0}).Address()
	_, of := tree.mixedKernels(structures.Mixed, operands{ordered: true}, tree.versions.protect())
	update, err := of.Kernel(tree.Kernels, s)
	require.NoError(t, err)
	for _, k := range []*vk.Kernel[mixedPush]{besideKernel(t, d, tree), update} {
		k.Dispatch(s, groups(b.Count), besidePush(s, tree, begin, gate, b))
	}
	require.NoError(t, s.Wait(t.Context()))
	return b, testdevice.Download(t, b.Left, 1)[0]
}

// besidePush are the arguments of a kernel of a mixed batch. gate is where pending queries are counted.
func besidePush[W structures.Word](s *vk.Stream, tree *dictionary[W], begin prefixIndex, gate uint64,
	b structures.DeviceBatch) mixedPush {
	return mixedPush{
		Tree: tree.description(), Index: begin.Entries, Keys: b.Keys.Address(), Values: b.Values.Address(),
		Kinds: b.Kinds.Address(),
		To: vk.NewArguments(s, windowArguments{Highs: b.Highs.Address(), Gate: gate,
			Number: recording.Length{N: uint32(b.Count)}, Width: uint32(b.Width)}),
		Statuses: b.Status.Address(), Pending: b.Left.Address(), OutKeys: b.OutKeys.Address(),
		OutValues: b.OutValues.Address(),
		Count:     uint32(b.Count), Visits: tree.visits | begin.Bits<<24, Slices: 1,
	}
}

// besideKernel compiles the ordered queries of btree_range.glsl and btree_neighbor.glsl.
func besideKernel[W structures.Word](t testing.TB, d *vk.Device, tree *dictionary[W]) *vk.Kernel[mixedPush] {
	t.Helper()
	m, err := kernels.Load(tree.protocol("test/btree_beside"))
	require.NoError(t, err)
	constants := tree.Constants()
	constants["KIND"], constants["BTREE_TORN"], constants["WORKGROUP"] = uint32(structures.Mixed), 1, workgroup
	k, err := vk.NewKernel[mixedPush](d, m, vk.KernelOptions{Constants: constants})
	require.NoError(t, err)
	t.Cleanup(k.Free)
	return k
}

// If a search begins at a wrong node, one that is no leaf or has greater keys, because it read words of different age
// or the prefix index was made during a split of the root, it restarts, with no other effect.
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
			t.Log(what) // on failure, the last one logged failed
			nodes, err := tree.Nodes(t.Context())
			require.NoError(t, err)
			entries := make([]uint32, 2<<bits)
			for i := range uint32(1 << bits) {
				if at := entry(nodes, i<<(32-bits)); at >= 0 {
					entries[2*i] = nodes[at].Ref // with the level of a leaf
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
			done, left := dispatchMixed(t, d, tree, begin, asks)
			require.Zero(t, left)
			requireAnswers(t, asks, resultsOf[uint32](t, asks.Kinds, done), want)

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
			_, left = dispatchMixed(t, d, tree, begin, updates)
			require.Zero(t, left)
			requireTree(t, tree, want)
		}
	})
}

// The root's level rises when the root is split, and a search may read its old level and its new children. The index
// tells the right level of every other node all the same, because lookups rely on it.
func TestIndexDuringASplitOfTheRoot(t *testing.T) {
	eachProtocol(t, func(t *testing.T, d *vk.Device, tile int) {
		keys := ramp(3000, 0, ^uint32(0)/3000)
		tree := buildTree(t, d, keys, keys, Options{Tile: tile, Fill: 0.6})
		nodes, err := tree.Nodes(t.Context())
		require.NoError(t, err)
		levels := map[uint32]int{}
		for _, n := range nodes {
			levels[n.Ref] = n.Level
		}
		root := tree.description().Root
		require.Greater(t, levels[root], 1)
		raw := rawNode(t, tree, root)[metaWord]
		poke(t, tree, poked{slab: root, word: metaWord, value: raw.value - 2}) // a level too low
		const bits = 9
		at := testdevice.Room[uint32](t, d, tree.indexBytes(bits)/4)
		s := testdevice.Stream(t, d)
		_, err = tree.recordConcurrentIndex(s, at.Address(), bits, askedFor{})
		require.NoError(t, err)
		require.NoError(t, s.Wait(t.Context()))
		entries, below := testdevice.Download(t, at, 2<<bits), 0
		for i := 0; i < len(entries); i += 2 {
			if entries[i] != root {
				require.Equal(t, levels[entries[i]], int(entries[i+1]), "entry %d", i/2)
				below++
			}
		}
		require.Greater(t, below, 1<<bits/2)
		poke(t, tree, poked{slab: root, word: metaWord, value: raw.value})
	})
}

// A lookup beside updates finds keys by a glance at their leaves, unless other structures use the pool: then its kernel
// must not.
func TestSharedPoolsAreNotGlancedAt(t *testing.T) {
	d := openDevice(t)
	own, shared := newTree(t, d, Options{}), newTree(t, d, Options{Pool: sharedPool(t, d, alloc.PoolOptions{})})
	for tree, want := range map[*dictionary[uint32]]uint32{own: 0, shared: 1} {
		require.Equal(t, want, tree.Constants()["BTREE_SHARES"])
		_, mixed := tree.mixedKernels(structures.Mixed, operands{ordered: true}, false)
		for _, kernel := range []any{tree.applyKernel(structures.Find, false), *mixed} {
			require.Contains(t, fmt.Sprint(kernel), fmt.Sprintf("{BTREE_SHARES %d}", want))
		}
	}
}

// A range returns a key once, even if the leaf has it twice: a reader may see that while the key moves to another slot,
// and a damaged tree may have it.
func TestRangeOverAKeyTwice(t *testing.T) {
	eachWidth(t, testRangeOverAKeyTwice[uint32], testRangeOverAKeyTwice[uint64])
}

func testRangeOverAKeyTwice[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	keys := widened[W](ramp(100, 5, 10))
	tree := buildTree(t, d, keys, keys, Options{Tile: tile, Fill: 0.6})
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	for _, n := range nodes {
		if n.Level == 0 && len(n.Keys) > 2 {
			poke(t, tree, pairIn(n.Ref, tree.geometry().slots-1, n.Keys[2], n.Values[2])...)
		}
	}
	var corrupt *CorruptError
	require.ErrorAs(t, tree.Check(t.Context()), &corrupt)
	q := structures.Batch[W, W]{Width: 100}
	for i := range uint32(120) {
		q.Kinds = append(q.Kinds, orderedKinds[int(i)%len(orderedKinds)])
		q.Keys = append(q.Keys, numbers.Key[W](i*8))
		q.Highs = append(q.Highs, numbers.Key[W](i*8+150))
	}
	b, left := dispatchMixed(t, d, tree, prefixIndex{}, q)
	require.Zero(t, left)
	requireAnswers(t, q, resultsOf[W](t, q.Kinds, b), modelOf[W]{}.insert(keys, keys))
}

// Batches of one kind of ordered queries have their own kernels. Without visits all stay pending, and with few visits
// some do. They are done later, and the pairs of those that are done stay.
func TestQueriesOfOneKindWithUpdates(t *testing.T) {
	eachWidth(t, testQueriesOfOneKindWithUpdates[uint32], testQueriesOfOneKindWithUpdates[uint64])
}

func testQueriesOfOneKindWithUpdates[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	rng := random(15)
	keys := widened[W](uniqueKeys(rng, 3000))
	want := modelOf[W]{}.insert(keys, widened[W](randomWords(rng, len(keys))))
	sorted, values := want.sorted()
	tree := buildTree(t, d, sorted, values, Options{Tile: tile})
	for i, kind := range []structures.Kind{structures.FindPredecessor, structures.FindCeil, structures.FindRange,
		structures.FindRange} {
		width, visits := 6, uint32(0)
		if i == 3 {
			width, visits = 3, 1
		}
		q := queryBatch(rng, keys, 1000, 20, width)
		for i := range q.Kinds {
			q.Kinds[i] = kind
		}
		b := orderedBatch(t, d, q.Keys, width)
		b.Highs, b.OutKeys = upload(t, d, q.Highs), upload(t, d, make([]W, len(q.Keys)*width)) // or it has old answers
		enough := tree.visits
		tree.visits = visits
		require.NoError(t, tree.On(tree.Stream).Apply(kind, b))
		require.NoError(t, tree.Stream.Wait(t.Context()))
		left := int(testdevice.Download(t, b.Left, 1)[0])
		for _, s := range testdevice.Download(t, b.Status, len(q.Keys)) {
			if structures.Status(s) == structures.Pending {
				left--
			}
		}
		require.Zero(t, left, "queries left pending")
		tree.visits = enough
		require.NoError(t, tree.On(tree.Stream).Finish(t.Context(), kind, b))
		requireAnswers(t, q, resultsOf[W](t, q.Kinds, b), want)
		requireOthersKept(t, tree, kind, b)
		requireAnswers(t, q, resultsOf[W](t, q.Kinds, b), want)
	}
}

// Neighbouring lanes that all count the whole tree are done in one dispatch if its budget is enough for one of them.
func TestCountsOfTheWholeTree(t *testing.T) {
	eachWidth(t, testCountsOfTheWholeTree[uint32], testCountsOfTheWholeTree[uint64])
}

func testCountsOfTheWholeTree[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	keys := widened[W](ramp(1000, 0, 1000))
	tree := buildTree(t, d, keys, keys, Options{Tile: tile})
	nodes, err := tree.Nodes(t.Context())
	require.NoError(t, err)
	tree.visits, tree.mostVisits = uint32(len(nodes)), uint32(len(nodes))
	q := structures.Batch[W, W]{Keys: make([]W, 40), Highs: slices.Repeat([]W{^W(0)}, 40), Width: 1,
		Kinds: slices.Repeat([]structures.Kind{structures.CountRange}, 40)}
	q.Kinds[0] = structures.FindRange
	requireBatch(t, tree, q, modelOf[W]{}.insert(keys, keys))
}

// requireOthersKept makes every third query of a batch run again. The others keep their windows.
func requireOthersKept[W structures.Word](t *testing.T, tree *dictionary[W], kind structures.Kind,
	b structures.DeviceBatch) {
	t.Helper()
	status := testdevice.Download(t, b.Status, b.Status.Len())
	before, left := download[W](t, b.OutKeys, b.Count*b.Width), uint32(0)
	for i := 0; i < b.Count; i += 3 {
		status[i] = uint8(structures.Pending)
		left++
	}
	require.NoError(t, b.Status.Upload(t.Context(), 0, status))
	require.NoError(t, b.Left.Upload(t.Context(), 0, []uint32{left}))
	require.NoError(t, tree.On(tree.Stream).Finish(t.Context(), kind, b))
	for i, key := range download[W](t, b.OutKeys, b.Count*b.Width) {
		if i/b.Width%3 != 0 {
			require.Equal(t, before[i], key, "query %d, place %d", i/b.Width, i%b.Width)
		}
	}
}

// Searches for neighbors while another stream updates: the result is at least as near as the nearest key that stays,
// and is a key that may be there.
func TestNeighborsWhileKeysChange(t *testing.T) {
	eachWidth(t, testNeighborsWhileKeysChange[uint32], testNeighborsWhileKeysChange[uint64])
}

func testNeighborsWhileKeysChange[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	const n = 2000
	rng := random(21)
	stays, changes := widened[W](ramp(n, 500, 1000)), widened[W](ramp(n, 0, 1000))
	there := modelOf[W]{}.insert(changes, changes)
	tree := buildTree(t, d, stays, stays, Options{Tile: tile, Fill: 1, Capacity: 4 * n})
	queries := make([]W, 1500)
	for i := range queries {
		queries[i] = numbers.Key[W](1000 + rng.Uint32N(1000*(n-2)))
	}
	updates, asks, beside := testdevice.Stream(t, d), testdevice.Stream(t, d), besideKernel(t, d, tree)
	for round := range 4 {
		kind := []structures.Kind{structures.Insert, structures.Delete}[round%2]
		rng.Shuffle(n, func(i, j int) { changes[i], changes[j] = changes[j], changes[i] })
		b := structures.DeviceBatch{Count: n, Keys: upload(t, d, changes),
			Values: upload(t, d, changes), Status: testdevice.Room[uint8](t, d, n),
			Left: testdevice.Upload(t, d, []uint32{0})}
		asked := []structures.Kind{structures.FindCeil, structures.FindPredecessor}[round/2]
		q := orderedBatch(t, d, queries, 1)
		require.NoError(t, tree.On(updates).Apply(kind, b))
		// As in a kernel of the caller that does both. ApplyOn would make the device do one after the other.
		kinds := slices.Repeat([]uint8{uint8(asked)}, len(queries))
		q.Kinds = testdevice.Room[uint8](t, d, len(kinds))
		require.NoError(t, q.Kinds.Upload(t.Context(), 0, kinds))
		require.NoError(t, q.Status.Upload(t.Context(), 0, make([]uint8, recording.Padded(len(kinds)))))
		beside.Dispatch(asks, groups(q.Count), besidePush(asks, tree, prefixIndex{}, q.Left.Address(), q))
		for _, s := range []*vk.Stream{updates, asks} {
			_, err := s.Submit()
			require.NoError(t, err)
		}
		require.NoError(t, asks.Wait(t.Context()))
		require.NoError(t, tree.On(updates).Finish(t.Context(), kind, b))
		// in case a thread with a latch was not running
		require.NoError(t, tree.On(asks).Finish(t.Context(), asked, q))
		keys, values := download[W](t, q.OutKeys, len(queries)), download[W](t, q.OutValues, len(queries))
		to := directionOf[asked]
		for i, query := range queries {
			// The nearest key of stays, or a key between that and the query.
			nearest := stays[neighborOf(stays, to, query)]
			_, changing := there[keys[i]]
			between := changing && (to == structures.Ceil && keys[i] >= query && keys[i] < nearest ||
				to == structures.Predecessor && keys[i] < query && keys[i] > nearest)
			if values[i] != keys[i] || keys[i] != nearest && !between {
				t.Fatalf("%v of %d: %d with %d, and %d is there all the time", to, query, keys[i], values[i],
					nearest)
			}
		}
		require.NoError(t, tree.Check(t.Context()))
	}
}

func TestErrorsOfQueriesWithUpdates(t *testing.T) {
	pass.OneDriver(t, "the host handles errors")
	d := openDevice(t)
	tree := newTree(t, d, Options{})
	s := testdevice.Stream(t, d)
	var kind *structures.KindError
	require.ErrorAs(t, tree.On(s).Apply(structures.CountAll, orderedBatch(t, d, []uint32{1}, 1)), &kind)
	require.ErrorAs(t, tree.On(s).Apply(structures.CountRange+1, orderedBatch(t, d, []uint32{1}, 1)), &kind)
	good := orderedBatch(t, d, []uint32{1}, 2)
	good.Highs = good.Keys
	require.NoError(t, tree.On(s).Apply(structures.FindRange, good))
	require.NoError(t, tree.On(s).Finish(t.Context(), structures.FindRange, good))
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
		require.ErrorAs(t, tree.On(s).Apply(structures.FindRange, b), &length, what)
	}
	many := good
	many.Count, many.Width = 1<<20, 1<<20
	var long *structures.CountError
	require.ErrorAs(t, tree.On(s).Apply(structures.FindRange, many), &long, "too many pairs")
	mixed := good
	mixed.Kinds = testdevice.Room[uint8](t, d, 4)
	require.NoError(t, mixed.Kinds.Upload(t.Context(), 0, []uint8{uint8(structures.FindRange), 0, 0, 0}))
	require.NoError(t, tree.On(s).Apply(structures.Mixed, mixed))
	require.NoError(t, tree.On(s).Finish(t.Context(), structures.Mixed, mixed))
	for what, spoil := range map[string]func(b *structures.DeviceBatch){
		"no kinds": func(b *structures.DeviceBatch) { b.Kinds = nil },
		"no highs": func(b *structures.DeviceBatch) { b.Highs = nil },
		"no room":  func(b *structures.DeviceBatch) { b.OutKeys = nil },
	} {
		b := mixed
		spoil(&b)
		var length *structures.LengthError
		require.ErrorAs(t, tree.On(s).Apply(structures.Mixed, b), &length, "mixed, "+what)
	}
	closed, err := makeDictionary[uint32](t.Context(), d, Options{})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	require.ErrorIs(t, closed.On(s).Apply(structures.FindRange, good), vk.ErrClosed)
}

// A batch that is large for a tree is recorded in parts, each with the operations after those of the part before.
func TestBatchLargerThanTheTree(t *testing.T) {
	eachWidth(t, testBatchLargerThanTheTree[uint32], testBatchLargerThanTheTree[uint64])
}

func testBatchLargerThanTheTree[W structures.Word](t *testing.T, d *vk.Device, tile int) {
	const first, n = 5, 3*leastPart + 77
	s := testdevice.Stream(t, d)
	keys := widened[W](ramp(first+n, 10, 7))
	random(1).Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	values := numbers.Each(keys, func(k W) W { return k*3 + 1 })
	b := structures.DeviceBatch{Keys: upload(t, d, keys), Values: upload(t, d, values),
		Status: testdevice.Room[uint8](t, d, recording.Padded(first+n)), Left: testdevice.Upload(t, d, []uint32{0})}
	do := func(kind structures.Kind, status func(i int) structures.Status) {
		t.Helper()
		tree := newTreeOf[W](t, d, Options{Tile: tile})
		require.NoError(t, tree.On(s).Apply(kind, b))
		require.NoError(t, tree.On(s).Finish(t.Context(), kind, b))
		want := modelOf[W]{}
		for i, got := range testdevice.Download(t, b.Status, b.Count) {
			if structures.Status(got) != status(i) {
				t.Fatalf("%v: operation %d is %v, and not %v", kind, i, structures.Status(got), status(i))
			}
			if status(i) == structures.Inserted {
				want[keys[b.First+i]] = values[b.First+i]
			}
		}
		require.NoError(t, tree.Check(t.Context()))
		gotKeys, gotValues, err := numbers.All(t.Context(), tree)
		require.NoError(t, err)
		wantKeys, wantValues := want.sorted()
		require.True(t, slices.Equal(gotKeys, wantKeys), "the tree's keys")
		require.True(t, slices.Equal(gotValues, wantValues), "the tree's values")
	}
	b.First, b.Count = first, n
	do(structures.Insert, func(int) structures.Status { return structures.Inserted })

	// Mixed batches begin at the start of their buffers. Every third operation inserts, so that each part begins with a
	// different kind.
	kinds := make([]uint8, first+n)
	for i := range kinds {
		kinds[i] = uint8(structures.Delete)
		if i%3 == 0 {
			kinds[i] = uint8(structures.Insert)
		}
	}
	b.First, b.Count, b.Kinds = 0, first+n, testdevice.Room[uint8](t, d, recording.Padded(first+n))
	require.NoError(t, b.Kinds.Upload(t.Context(), 0, kinds))
	do(structures.Mixed, func(i int) structures.Status {
		if i%3 == 0 {
			return structures.Inserted
		}
		return structures.Absent
	})
}

// A dispatch of insertions has a limited number of operations, so that it ends in time on the slowest device, whatever
// the size of the batch. The result is that of one dispatch.
func TestInsertionsADispatch(t *testing.T) {
	pass.OneDriver(t, "how much a dispatch takes is the same on all CPU devices")
	defer func(was int) { mostTurns = was }(mostTurns)
	mostTurns = 64
	d := testdevice.Open(t, vk.Options{TimeDispatches: true})
	tree := buildTree(t, d, ramp(60_000, 1, 2), ramp(60_000, 1, 2), Options{Path: Concurrent})
	most := tree.mostInserted()
	rng := random(77)
	fresh := ramp(5*most+1, 0, 2)
	rng.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
	s := testdevice.Stream(t, d)
	require.NoError(t, tree.On(s).Apply(structures.Insert, structures.DeviceBatch{Count: len(fresh),
		Keys: testdevice.Upload(t, d, fresh), Values: testdevice.Upload(t, d, fresh)}))
	require.NoError(t, s.Wait(t.Context()))
	if d.Has(vk.Timestamps) {
		dispatches := 0
		for _, timing := range s.Timings() {
			if strings.HasPrefix(timing.Label, "btree/apply") {
				dispatches++
			}
		}
		require.GreaterOrEqual(t, dispatches, 6)
	}
	values, found, err := tree.Find(t.Context(), fresh)
	require.NoError(t, err)
	require.NotContains(t, found, false)
	require.Equal(t, fresh, values)
	require.NoError(t, tree.Check(t.Context()))
}

// The same limit holds for each part of a batch from slices whose queries see their own moments or the content before
// the batch. Their results, and the final content, are the same as without parts.
func TestInsertionsAPart(t *testing.T) {
	pass.OneDriver(t, "how much a dispatch takes is the same on all CPU devices")
	defer func(was int) { mostTurns = was }(mostTurns)
	mostTurns = 64
	d := openDevice(t)
	const n = 20_000
	for _, own := range []bool{false, true} {
		var parts []int
		before := 0
		tree := buildTree(t, d, ramp(n, 1, 2), ramp(n, 1, 2), Options{Progress: func(done, _ int) {
			parts, before = append(parts, done-before), done
		}})
		parts, before = nil, 0
		most := tree.mostInserted()
		b := u32.Batch{OwnMoments: own}
		for i := range uint32(3*most + 1) {
			b.Keys, b.Values = append(b.Keys, 2*i, 2*i), append(b.Values, 7, 0)
			b.Kinds = append(b.Kinds, structures.Insert, structures.FindSuccessor)
		}
		r, err := tree.Apply(t.Context(), b)
		require.NoError(t, err)
		for i, kind := range b.Kinds {
			if kind == structures.Insert {
				require.Equal(t, structures.Inserted, r.Status[i])
				continue
			}
			require.Equal(t, structures.Found, r.Status[i])
			require.Equal(t, b.Keys[i]+1, r.Keys[i]) // a key that stays
		}
		if own {
			require.LessOrEqual(t, slices.Max(parts), most)
			require.GreaterOrEqual(t, len(parts), 6)
		}
		_, found, err := tree.Find(t.Context(), b.Keys)
		require.NoError(t, err)
		require.NotContains(t, found, false)
		require.NoError(t, tree.Check(t.Context()))
	}
}
