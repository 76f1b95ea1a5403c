package btree

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// wideRig is a tree of 64-bit keys and values with its expected content. Its calls use device buffers.
type wideRig struct {
	testing.TB
	d     *vk.Device
	s     *vk.Stream
	tree  *dictionary[uint64]
	model map[uint64]uint64
}

func newWideRig(t testing.TB, d *vk.Device, o Options) *wideRig {
	t.Helper()
	tree, err := open(t.Context(), d, saved.Pairs[uint64, uint64](), o)
	t.Cleanup(func() { require.NoError(t, tree.Close()) })
	require.NoError(t, err)
	require.NoError(t, tree.inside(t.Context(), func() error { return tree.empty(t.Context()) }))
	return &wideRig{t, d, testdevice.Stream(t, d), dictionaryOf[uint64](tree), map[uint64]uint64{}}
}

func (r *wideRig) words(numbers []uint64) *vk.Buffer[uint32] {
	words := make([]uint32, 0, 2*len(numbers))
	for _, n := range numbers {
		words = append(words, uint32(n), uint32(n>>32))
	}
	return testdevice.Upload(r, r.d, words)
}

func (r *wideRig) room(numbers int) *vk.Buffer[uint32] {
	return testdevice.Room[uint32](r, r.d, 2*numbers)
}

func (r *wideRig) numbers(b *vk.Buffer[uint32], n int) []uint64 {
	words := testdevice.Download(r, b, 2*n)
	numbers := make([]uint64, n)
	for i := range numbers {
		numbers[i] = uint64(words[2*i]) | uint64(words[2*i+1])<<32
	}
	return numbers
}

func (r *wideRig) wait() { require.NoError(r, r.s.Wait(context.Background())) }

// sorted returns the model's pairs in key order.
func (r *wideRig) sorted() (keys, values []uint64) {
	keys = slices.Sorted(maps.Keys(r.model))
	for _, key := range keys {
		values = append(values, r.model[key])
	}
	return keys, values
}

// build replaces the tree's content by pairs. If keys are equal, the last one counts.
func (r *wideRig) build(keys, values []uint64) {
	r.Helper()
	clear(r.model)
	for i, key := range keys {
		r.model[key] = values[i]
	}
	b := structures.DeviceBatch{Count: len(keys), Keys: r.words(keys), Values: r.words(values)}
	require.NoError(r, r.tree.On(r.s).Build(r.Context(), b))
	r.wait()
}

// same compares the tree's nodes, pairs and number of pairs with the model.
func (r *wideRig) same() {
	r.Helper()
	require.NoError(r, r.tree.Check(r.Context()))
	n, err := r.tree.Len(r.Context())
	require.NoError(r, err)
	require.Equal(r, uint64(len(r.model)), n, "pairs")
	keys, values := r.sorted()
	e := structures.DeviceExport{Keys: r.room(len(keys) + 1), Values: r.room(len(keys) + 1),
		Total: testdevice.Room[uint32](r, r.d, 1)}
	require.NoError(r, r.tree.On(r.s).Export(e))
	r.wait()
	require.Equal(r, uint32(len(keys)), testdevice.Download(r, e.Total, 1)[0])
	same(r, keys, r.numbers(e.Keys, len(keys)), "keys")
	same(r, values, r.numbers(e.Values, len(keys)), "values")
}

// find compares lookups with the model.
func (r *wideRig) find(keys []uint64) {
	r.Helper()
	n := len(keys)
	l := structures.DeviceLookups{Count: n, Keys: r.words(keys), Values: r.room(n),
		Found: testdevice.Room[uint8](r, r.d, recording.Padded(n)), Order: r.tree.queries.order}
	require.NoError(r, r.tree.On(r.s).Find(l))
	r.wait()
	values, found := r.numbers(l.Values, n), testdevice.Download(r, l.Found, n)
	for i, key := range keys {
		want, there := r.model[key]
		if values[i] != want || (found[i] == 1) != there {
			r.Fatalf("key %#x: %#x, found %d, want %#x, %v", key, values[i], found[i], want, there)
		}
	}
}

// wideEdges are keys that differ from others in only one word, or whose words are all ones or zeros.
var wideEdges = []uint64{0, 1, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63, 0xffffffff00000000,
	0xffffffff00000001, ^uint64(0) - 1, ^uint64(0), 0x80000000, 0x7fffffff80000000}

// wideKeys returns n keys: the edges, neighbors in the low word and in the high word, and random keys.
func wideKeys(rng *rand.Rand, n int) []uint64 {
	keys := slices.Clone(wideEdges[:min(n, len(wideEdges))])
	for len(keys) < n {
		switch i := uint64(len(keys)); i % 4 {
		case 0:
			keys = append(keys, 7<<32|i)
		case 1:
			keys = append(keys, i<<32|7)
		default:
			keys = append(keys, rng.Uint64())
		}
	}
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

func wideValues(rng *rand.Rand, n int) []uint64 {
	values := make([]uint64, n)
	for i := range values {
		word := uint64(rng.Uint32())
		values[i] = [...]uint64{rng.Uint64(), word, word << 32, ^uint64(0), 0}[rng.IntN(5)]
	}
	return values
}

// beside returns keys near others. Most of them are absent.
func beside(keys []uint64) []uint64 {
	var all []uint64
	for _, key := range keys {
		all = append(all, key, key+1, key-1, key^1<<32, key^1<<63, key&0xffffffff, key&^0xffffffff)
	}
	return all
}

func TestWideBuildAndFind(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		for _, fill := range []float64{0, 0.01, 0.5, 1} {
			rng := random(64)
			r := newWideRig(t, d, Options{Tile: tile, Fill: fill})
			r.same()
			r.find(wideEdges)
			for _, n := range []int{1, len(wideEdges), 1500} {
				keys := wideKeys(rng, n)
				r.build(keys, wideValues(rng, n))
				r.same()
				r.find(beside(keys[:min(n, 300)]))
			}
			sorted, values := r.sorted()
			r.build(sorted, values) // sorted, as they are
			r.same()
			r.build(append(sorted, sorted...), append(values, wideValues(rng, len(values))...))
			r.same()
		}
	})
}

// Searches with a prefix index end where searches without one end.
func TestWidePrefixIndex(t *testing.T) {
	rng := random(65)
	r := newWideRig(t, openDevice(t), Options{})
	keys := wideKeys(rng, 5000)
	r.build(keys, wideValues(rng, len(keys)))
	for _, bits := range []int{0, 1, 9} {
		r.tree.queries.indexBits = bits
		r.find(beside(keys[:500]))
	}
	// The searched keys have the same first bits, or cover only a part of the tree, or are one key.
	times := make([]uint64, 5000)
	for i := range times {
		times[i] = 1<<60 + 977*uint64(i)
	}
	r.build(times, wideValues(rng, len(times)))
	for _, bits := range []int{0, 1, 9, 12} {
		r.tree.queries.indexBits = bits
		r.find(times)
		r.find(append(beside(times[2000:2100]), wideEdges...))
		r.find([]uint64{times[7], times[7]})
		r.find([]uint64{^uint64(0)})
		r.neighbors(append(times[:100:100], wideEdges...))
	}

	// Most of the searches begin at a low level.
	const bits = 12
	index := testdevice.Room[uint32](t, r.d, r.tree.indexBytes(bits)/4)
	_, err := r.tree.recordIndex(r.s, index.Address(), bits,
		askedFor{keys: r.words(times).Address(), number: recording.Length{N: uint32(len(times))}})
	require.NoError(t, err)
	r.wait()
	low := 0
	entries := testdevice.Download(t, index, index.Len())[indexBegin/4:]
	for i := range 1 << bits {
		if entries[2*i+1] <= 1 {
			low++
		}
	}
	require.Greater(t, low, 1<<(bits-1), "entries at leaves or right above them")
}

// Whatever keys a batch has, and whatever the tree contains, an index of any size leads all operations to the right
// leaf: one key, keys at both ends, keys that differ in only one word, and keys far from the others, which a sample of
// the batch may miss.
func TestWidePrefixRanges(t *testing.T) {
	rng := random(73)
	r := newWideRig(t, openDevice(t), Options{})
	around := func(first, step uint64) []uint64 {
		keys := make([]uint64, 1500)
		for i := range keys {
			keys[i] = first + step*uint64(i)
		}
		return keys
	}
	for name, keys := range map[string][]uint64{
		"at 0":                around(0, 3),
		"at ~0":               around(^uint64(0)-3*1499, 3),
		"one far below ~0":    append(around(^uint64(0)-3*1499, 3), 1<<62+12345), // parts of this range end after ~0
		"in the low word":     around(5<<32, 1),
		"over a low word":     around(5<<32-700, 1),
		"in the high word":    around(7, 1<<32),
		"at ~0, in steps":     around(^uint64(0)-1499<<32, 1<<32),
		"everywhere":          around(0, ^uint64(0)/1499),
		"one, and the others": append(slices.Repeat([]uint64{1 << 40}, 1000), wideEdges...),
	} {
		t.Log(name) // on failure, the last one logged failed
		values := wideValues(rng, len(keys))
		for _, bits := range []int{minIndexBits, 13} {
			r.tree.queries.indexBits = bits
			r.build(keys, values)
			for _, asked := range [][]uint64{
				keys, beside(keys[700:720]), {keys[3]}, slices.Repeat(keys[3:4], 300),
				append(slices.Repeat(keys[800:801], 300), wideEdges...), nil,
			} {
				r.find(asked)
				r.neighbors(asked)
				bounds := [][2]uint64{}
				for i, low := range asked {
					bounds = append(bounds, [2]uint64{low, low + uint64(i%7)}, [2]uint64{low, asked[i/2]})
				}
				r.ranges(bounds[:min(len(bounds), 100)])
			}
			some := unordered(rng, append(beside(keys[600:700]), wideEdges...))
			r.update(structures.Insert, some, wideValues(rng, len(some)), true)
			r.update(structures.Delete, some[:len(some)/2], nil, false)
			r.update(structures.Delete, append(unordered(rng, keys[200:300]), keys[len(keys)-1]), nil, true)
			r.update(structures.Insert, slices.Repeat(some[:1], 50), wideValues(rng, 50), true)
			fresh := unordered(rng, append(beside(keys[900:1000]), wideEdges...))
			b := structures.DeviceBatch{Count: len(fresh), Keys: r.words(fresh), Values: r.words(fresh)}
			for i, status := range r.apply(structures.Insert, b) {
				require.Equal(t, r.one(structures.Insert, fresh[i], fresh[i]), status, "%#x", fresh[i])
			}
			r.same()
		}
	}
}

// Only the device knows the number of keys: an index is made for these keys, or for none, whatever follows them in the
// buffer.
func TestWidePrefixesOfDeviceCounts(t *testing.T) {
	rng := random(74)
	r := newWideRig(t, openDevice(t), Options{})
	keys := unordered(rng, wideKeys(rng, 3000))
	r.build(keys, wideValues(rng, len(keys)))
	r.tree.queries.indexBits = 9
	const n = 500
	for _, count := range []int{0, 1, n / 2, n} {
		asked := append(slices.Clone(keys[:count]), slices.Repeat([]uint64{^uint64(0)}, n-count)...)
		l := structures.DeviceLookups{Count: n, DeviceCount: testdevice.Upload(t, r.d, []uint32{uint32(count)}),
			Keys: r.words(asked), Values: r.words(make([]uint64, n)),
			Found: testdevice.Upload(t, r.d, slices.Repeat([]uint8{7}, n))}
		require.NoError(t, r.tree.On(r.s).Find(l))
		r.s.Discard() // drops all of it
		require.NoError(t, r.tree.On(r.s).Find(l))
		r.wait()
		found, values := testdevice.Download(t, l.Found, n), r.numbers(l.Values, n)
		for i, key := range keys[:count] {
			require.Equal(t, []any{uint8(1), r.model[key]}, []any{found[i], values[i]}, "%#x", key)
		}
		whole := recording.Padded(count) // statuses are written in words
		same(t, slices.Repeat([]uint8{7}, n-whole), found[whole:], "those behind the number")
		for kind, values := range map[structures.Kind][]uint64{
			structures.Insert: wideValues(rng, n), structures.Delete: nil,
		} {
			b := structures.DeviceBatch{Count: n, DeviceCount: l.DeviceCount, Keys: l.Keys}
			if values != nil {
				b.Values = r.words(values)
			}
			require.NoError(t, r.tree.On(r.s).Update(t.Context(), kind, b))
			r.s.Discard()
			require.NoError(t, r.tree.On(r.s).Update(t.Context(), kind, b))
			require.NoError(t, r.tree.On(r.s).Finish(t.Context(), kind, b))
			for i, key := range asked[:count] {
				if r.one(kind, key, 0); kind == structures.Insert {
					r.model[key] = values[i]
				}
			}
			r.same()
			r.build(keys, slices.Repeat([]uint64{1}, len(keys)))
		}
	}
}

func TestWideRankAndSelect(t *testing.T) {
	rng := random(66)
	r := newWideRig(t, openDevice(t), Options{})
	all := wideKeys(rng, 2000)
	r.build(all, wideValues(rng, len(all)))
	keys, values := r.sorted()
	asked := beside(all[:200])
	q := structures.DeviceRanks{Count: len(asked), Keys: r.words(asked),
		Ranks: testdevice.Room[uint32](r, r.d, len(asked))}
	require.NoError(t, r.tree.On(r.s).Rank(q))
	n := structures.DeviceNeighbors{Count: len(keys) + 1, Keys: testdevice.Upload(t, r.d, ramp(len(keys)+1, 0, 1)),
		OutKeys: r.room(len(keys) + 1), OutValues: r.room(len(keys) + 1),
		Status: testdevice.Room[uint8](t, r.d, recording.Padded(len(keys)+1))}
	require.NoError(t, r.tree.On(r.s).Select(n))
	r.wait()
	for i, rank := range testdevice.Download(t, q.Ranks, len(asked)) {
		want, _ := slices.BinarySearch(keys, asked[i])
		require.Equal(t, uint32(want), rank, "rank of %#x", asked[i])
	}
	same(t, append(keys, 0), r.numbers(n.OutKeys, len(keys)+1), "keys")
	same(t, append(values, 0), r.numbers(n.OutValues, len(keys)+1), "values")
	statuses := testdevice.Download(t, n.Status, len(keys)+1)
	require.Equal(t, structures.Found, structures.Status(statuses[0]))
	require.Equal(t, structures.Absent, structures.Status(statuses[len(keys)]))
}

// The layout of nodes in Go is that of the shaders, for both widths.
func TestGeometryIsTheShaders(t *testing.T) {
	d := openDevice(t)
	for width, module := range map[structures.Width]string{
		structures.Bits32: "btree_geometry.k32v32", structures.Bits64: "btree_geometry.k64v64",
	} {
		type push struct{ Out uint64 }
		s := testdevice.Stream(t, d)
		k := testKernel[push](t, d, module, vk.KernelOptions{})
		out := testdevice.Room[uint32](t, d, 8)
		k.Dispatch(s, 1, push{out.Address()})
		require.NoError(t, s.Wait(t.Context()))
		g := geometries[width]
		require.Equal(t, []uint32{nodeBytes, uint32(g.slots), uint32(4 * g.meta), uint32(4 * g.low), uint32(4 * g.high),
			uint32(4 * g.link), uint32(2 * width.Bytes()), 0},
			testdevice.Download(t, out, 8), width)
	}
}

// update does a batch on the batched path. If kind is Mixed, kinds has the kind of each operation.
func (r *wideRig) update(kind structures.Kind, keys, values []uint64, statuses bool) {
	r.Helper()
	n := len(keys)
	b := structures.DeviceBatch{Count: n, Keys: r.words(keys)}
	if kind != structures.Delete {
		b.Values = r.words(values)
	}
	if statuses {
		b.Status = testdevice.Room[uint8](r, r.d, recording.Padded(n))
	}
	require.NoError(r, r.tree.On(r.s).Update(r.Context(), kind, b))
	require.NoError(r, r.tree.On(r.s).Finish(r.Context(), kind, b))
	r.wait()
	want := make([]structures.Status, n)
	for i, key := range keys {
		value := uint64(0)
		if kind != structures.Delete {
			value = values[i]
		}
		want[i] = r.one(kind, key, value)
	}
	if statuses {
		for i, got := range testdevice.Download(r, b.Status, n) {
			require.Equal(r, want[i], structures.Status(got), "%v of %#x, operation %d", kind, keys[i], i)
		}
	}
}

// one applies an operation to the model.
func (r *wideRig) one(kind structures.Kind, key, value uint64) structures.Status {
	old, there := r.model[key]
	switch {
	case kind == structures.Delete:
		delete(r.model, key)
		if there {
			return structures.Deleted
		}
		return structures.Absent
	case !there:
		r.model[key] = value
		return structures.Inserted
	}
	switch kind {
	case structures.InsertUnique:
		return structures.Found
	case structures.InsertAdd:
		r.model[key] = old + value
	case structures.InsertMin:
		r.model[key] = min(old, value)
	case structures.InsertMax:
		r.model[key] = max(old, value)
	default:
		r.model[key] = value
	}
	return structures.Assigned
}

// near returns keys in few leaves.
func near(rng *rand.Rand, n int) []uint64 {
	first := rng.Uint64()
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = first + uint64(rng.IntN(n))
	}
	return keys
}

func TestWideBatches(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng, fill := random(67), 0.0
		if tile > 1 {
			fill = 1
		}
		r := newWideRig(t, d, Options{Tile: tile, Fill: fill})
		base := wideKeys(rng, 2000)
		r.build(base, wideValues(rng, len(base)))
		for round, keys := range [][]uint64{
			wideKeys(rng, 1), wideEdges, wideKeys(rng, 3000), near(rng, 700),
			slices.Repeat([]uint64{1 << 32, 5}, 200), beside(base[:200]), base,
		} {
			for _, kind := range []structures.Kind{structures.Insert, structures.InsertUnique, structures.Delete} {
				if kind == structures.Delete && round%2 == 0 {
					keys = beside(keys[:len(keys)/2])
				}
				r.update(kind, keys, wideValues(rng, len(keys)), round%2 == 0)
				r.same()
			}
		}
		for _, kind := range []structures.Kind{structures.InsertAdd, structures.InsertMin, structures.InsertMax} {
			keys := append(beside(base[:100]), slices.Repeat(wideEdges, 20)...)
			r.update(kind, keys, wideValues(rng, len(keys)), true)
			r.same()
		}
		r.update(structures.Delete, slices.Collect(maps.Keys(r.model)), nil, true)
		r.same()
	})
}

// Large batches: levels with their own dispatches, long segments, splits of the root.
func TestWideBatchesOfManyLevels(t *testing.T) {
	defer func(most int) { aloneUpTo = most }(aloneUpTo)
	aloneUpTo = 8
	rng := random(68)
	r := newWideRig(t, openDevice(t), Options{})
	r.update(structures.Insert, wideKeys(rng, 20000), wideValues(rng, 20000), false)
	r.same()
	for range 2 {
		r.update(structures.Insert, near(rng, 9000), wideValues(rng, 9000), true)
		r.same()
	}
	descending := make([]uint64, 0, 3000)
	for i := range uint64(3000) {
		descending = append(descending, 1<<40-i<<20)
	}
	for part := range slices.Chunk(descending, 500) {
		r.update(structures.Insert, part, part, false)
	}
	r.same()
	r.find(beside(descending[:300]))
}

// between returns the indices of the model's pairs from one key to another.
func between(keys []uint64, low, high uint64) (first, end int) {
	first, _ = slices.BinarySearch(keys, low)
	end, there := slices.BinarySearch(keys, high)
	if there {
		end++
	}
	return first, max(first, end)
}

// ranges compares the counts, pairs and windows of ranges with the model.
func (r *wideRig) ranges(bounds [][2]uint64) {
	r.Helper()
	keys, values := r.sorted()
	n, width, all := len(bounds), 5, 0
	var flat, wantKeys, wantValues []uint64
	for _, b := range bounds {
		first, end := between(keys, b[0], b[1])
		flat, all = append(flat, b[:]...), all+end-first
		wantKeys, wantValues = append(wantKeys, keys[first:end]...), append(wantValues, values[first:end]...)
	}
	ranges := r.words(flat)
	c := structures.DeviceCounts{Count: n, Ranges: ranges, Counts: testdevice.Room[uint32](r, r.d, n)}
	require.NoError(r, r.tree.On(r.s).Count(c))
	q := structures.DeviceRanges{Count: n, Ranges: ranges, Offsets: testdevice.Room[uint32](r, r.d, n+1),
		Keys: r.room(all + 1), Values: r.room(all + 1), Candidates: testdevice.Room[uint64](r, r.d, 1)}
	require.NoError(r, r.tree.On(r.s).Range(q))
	w := structures.DeviceWindow{Count: n, Ranges: ranges, Width: width, Counts: testdevice.Room[uint32](r, r.d, n),
		Keys: r.room(n * width), Values: r.room(n * width)}
	require.NoError(r, r.tree.On(r.s).Window(w))
	r.wait()
	counts, offsets := testdevice.Download(r, c.Counts, n), testdevice.Download(r, q.Offsets, n+1)
	heads := testdevice.Download(r, w.Counts, n)
	headKeys, headValues := r.numbers(w.Keys, n*width), r.numbers(w.Values, n*width)
	for i, b := range bounds {
		first, end := between(keys, b[0], b[1])
		require.Equal(r, uint32(end-first), counts[i], "count of %#x", b)
		require.Equal(r, uint32(end-first), offsets[i+1]-offsets[i], "pairs of %#x", b)
		few := min(width, end-first)
		require.Equal(r, uint32(few), heads[i], "first pairs of %#x", b)
		same(r, keys[first:first+few], headKeys[i*width:][:few], "first keys")
		same(r, values[first:first+few], headValues[i*width:][:few], "first values")
	}
	same(r, wantKeys, r.numbers(q.Keys, all), "keys")
	same(r, wantValues, r.numbers(q.Values, all), "values")
}

// neighbors compares searches for neighbors in all directions with the model.
func (r *wideRig) neighbors(asked []uint64) {
	r.Helper()
	keys, values := r.sorted()
	n := len(asked)
	for _, to := range []structures.Direction{structures.Successor, structures.Predecessor, structures.Floor,
		structures.Ceil} {
		q := structures.DeviceNeighbors{Count: n, Keys: r.words(asked), OutKeys: r.room(n), OutValues: r.room(n),
			Status: testdevice.Room[uint8](r, r.d, recording.Padded(n)), Left: testdevice.Upload(r, r.d, []uint32{0})}
		require.NoError(r, r.tree.On(r.s).Neighbor(to, q))
		r.wait()
		require.Zero(r, testdevice.Download(r, q.Left, 1)[0])
		outKeys, outValues := r.numbers(q.OutKeys, n), r.numbers(q.OutValues, n)
		statuses := testdevice.Download(r, q.Status, n)
		for i, key := range asked {
			at, there := slices.BinarySearch(keys, key)
			switch {
			case to == structures.Successor && there:
				at++
			case to == structures.Predecessor, to == structures.Floor && !there:
				at--
			}
			want, wantKey, wantValue := structures.Absent, uint64(0), uint64(0)
			if at >= 0 && at < len(keys) {
				want, wantKey, wantValue = structures.Found, keys[at], values[at]
			}
			got := structures.Status(statuses[i])
			if got != want || outKeys[i] != wantKey || outValues[i] != wantValue {
				r.Fatalf("%v of %#x: %v, %#x, %#x; want %v, %#x, %#x", to, key, got, outKeys[i], outValues[i], want,
					wantKey, wantValue)
			}
		}
	}
}

func TestWideRangesAndNeighbors(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng := random(69)
		r := newWideRig(t, d, Options{Tile: tile})
		for _, n := range []int{0, 1, 1200} {
			keys := wideKeys(rng, n)
			r.build(keys, wideValues(rng, n))
			if n > 1 { // unsorted leaves, and empty ones
				r.update(structures.Insert, near(rng, 200), wideValues(rng, 200), false)
				sorted, _ := r.sorted()
				r.update(structures.Delete, sorted[100:400], nil, false)
			}
			asked := beside(append(keys[:min(n, 60)], wideEdges...))
			r.neighbors(asked)
			bounds := [][2]uint64{{0, ^uint64(0)}, {5, 4}, {^uint64(0), ^uint64(0)}, {0, 0}, {7 << 32, 8<<32 - 1},
				{1 << 32, 1<<32 - 1}, {0, 1<<63 - 1}}
			for range 60 {
				low := asked[rng.IntN(len(asked))]
				high := low + rng.Uint64N(1<<(1+rng.IntN(62)))
				bounds = append(bounds, [2]uint64{low, high}, [2]uint64{low, asked[rng.IntN(len(asked))]})
			}
			r.ranges(bounds)
			r.ranges(bounds[:2]) // in parts
			if tile == 1 {
				inOrder(r.tree, func() {
					r.find(asked)
					r.neighbors(asked)
					r.ranges(bounds)
				})
			}
		}
	})
}

// apply does a concurrent batch, and returns the statuses.
func (r *wideRig) apply(kind structures.Kind, b structures.DeviceBatch) []structures.Status {
	r.Helper()
	n := b.Count
	b.Status, b.Left = testdevice.Room[uint8](r, r.d, recording.Padded(n)), testdevice.Upload(r, r.d, []uint32{0})
	require.NoError(r, r.tree.On(r.s).Apply(kind, b))
	require.NoError(r, r.tree.On(r.s).Finish(r.Context(), kind, b))
	statuses := make([]structures.Status, n)
	for i, s := range testdevice.Download(r, b.Status, n) {
		statuses[i] = structures.Status(s)
	}
	return statuses
}

// unordered returns the distinct keys in random order.
func unordered(rng *rand.Rand, keys []uint64) []uint64 {
	keys = slices.Compact(slices.Sorted(slices.Values(keys)))
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys
}

// Concurrent operations on different keys have the same results as one after the other, beginning with an empty tree:
// leaves and inner nodes fill, split and become empty.
func TestWideConcurrent(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng := random(70)
		r := newWideRig(t, d, Options{Tile: tile})
		kinds := []structures.Kind{structures.Insert, structures.InsertUnique, structures.InsertAdd,
			structures.InsertMin, structures.InsertMax, structures.Delete, structures.Find}
		for round, keys := range [][]uint64{
			wideEdges, wideKeys(rng, 2500), near(rng, 900), near(rng, 60), beside(wideEdges), wideKeys(rng, 2500),
		} {
			keys = unordered(rng, keys)
			for _, kind := range []structures.Kind{structures.Mixed, structures.Find}[:1+round%2] {
				values := wideValues(rng, len(keys))
				b := structures.DeviceBatch{Count: len(keys), Keys: r.words(keys), Values: r.words(values)}
				each := slices.Repeat([]uint8{uint8(kind)}, len(keys))
				if kind == structures.Mixed {
					for i := range each {
						each[i] = uint8(kinds[rng.IntN(len(kinds))])
					}
					b.Kinds = testdevice.Upload(t, d, append(each, 0, 0, 0))
				}
				got := r.apply(kind, b)
				found := r.numbers(b.Values, len(keys))
				for i, key := range keys {
					if structures.Kind(each[i]) != structures.Find {
						require.Equal(t, r.one(structures.Kind(each[i]), key, values[i]), got[i], "%v of %#x",
							structures.Kind(each[i]), key)
						continue
					}
					want, there := r.model[key]
					require.Equal(t, there, got[i] == structures.Found, "%#x", key)
					require.Equal(t, want, found[i], "%#x", key)
				}
				r.same()
			}
		}
		r.crowd(rng)
	})
}

// crowd does many operations at once on few keys of one leaf: sums are complete, and of equal insertions one is first.
func (r *wideRig) crowd(rng *rand.Rand) {
	r.Helper()
	mixed := func(kind structures.Kind, n int) *vk.Buffer[uint8] {
		return testdevice.Upload(r, r.d, slices.Repeat([]uint8{uint8(kind)}, n+3))
	}
	leaf := []uint64{1 << 32, 1<<32 + 1, 2 << 32, 1 << 33, 1}
	for _, times := range []int{1, 40, 300} {
		keys := slices.Repeat(leaf, times)
		rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		values := wideValues(rng, len(keys))
		b := structures.DeviceBatch{Count: len(keys), Keys: r.words(keys), Values: r.words(values),
			Kinds: mixed(structures.InsertAdd, len(keys))}
		r.apply(structures.Mixed, b)
		for i, key := range keys {
			r.model[key] += values[i]
		}
		r.same()
		fresh := slices.Repeat([]uint64{uint64(times) << 40, uint64(times)<<40 + 1<<32}, times)
		b = structures.DeviceBatch{Count: len(fresh), Keys: r.words(fresh), Values: r.words(fresh),
			Kinds: mixed(structures.InsertUnique, len(fresh))}
		inserted := map[uint64]int{}
		for i, status := range r.apply(structures.Mixed, b) {
			if status == structures.Inserted {
				inserted[fresh[i]]++
			}
			r.model[fresh[i]] = fresh[i]
		}
		require.Equal(r, map[uint64]int{fresh[0]: 1, fresh[1]: 1}, inserted)
		r.same()
	}
}

// Ordered queries, alone and concurrently with updates of other keys.
func TestWideConcurrentOrder(t *testing.T) {
	d := openDevice(t)
	eachTile(t, d, func(t *testing.T, tile int) {
		rng := random(72)
		r := newWideRig(t, d, Options{Tile: tile})
		all := wideKeys(rng, 1500)
		r.build(all, wideValues(rng, len(all)))
		keys, values := r.sorted()
		const width = 4
		asked := beside(append(all[:40], wideEdges...))
		n := len(asked)
		kinds, highs := make([]uint8, n, n+3), make([]uint64, n)
		for i, key := range asked {
			kinds[i] = uint8(structures.FindSuccessor) + uint8(rng.IntN(6))
			highs[i] = key + rng.Uint64N(1<<(1+rng.IntN(62)))
		}
		b := structures.DeviceBatch{
			Count: n, Keys: r.words(asked), Highs: r.words(highs), Values: r.words(highs), Width: width,
			Kinds: testdevice.Upload(t, d, kinds[:n+3]), OutKeys: r.room(n * width), OutValues: r.room(n * width),
		}
		got := r.apply(structures.Mixed, b)
		answers := r.numbers(b.Values, n)
		outKeys, outValues := r.numbers(b.OutKeys, n*width), r.numbers(b.OutValues, n*width)
		for i, key := range asked {
			kind := structures.Kind(kinds[i])
			first, end := between(keys, key, highs[i])
			at, there := slices.BinarySearch(keys, key)
			switch kind {
			case structures.FindRange:
				end = min(end, first+width)
			case structures.CountRange:
				require.Equal(t, uint64(end-first), answers[i], "count %#x to %#x", key, highs[i])
				continue
			case structures.FindSuccessor, structures.FindCeil:
				first = at
				if kind == structures.FindSuccessor && there {
					first++
				}
				end = min(first+1, len(keys))
			default: // the greatest key that is small enough
				if kind == structures.FindPredecessor || !there {
					at--
				}
				first, end = max(at, 0), at+1
			}
			few := max(end-first, 0)
			require.Equal(t, few != 0, got[i] == structures.Found, "%v of %#x: %v", kind, key, got[i])
			same(t, keys[first:first+few], outKeys[i*width:][:few], "keys")
			same(t, values[first:first+few], outValues[i*width:][:few], "values")
		}
		r.same()
	})
}
