package conformance

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/numbers"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/vk"
)

// bounds are what is certain of a tree while a batch runs: keys that are there all the time, and those that may be.
type bounds[W structures.Word] struct{ certain, possible []W }

// valueOf is the one value that a key ever has here.
func valueOf[W structures.Word](key W) W { return key*0x9e3779b1 ^ key>>7 }

// within are the keys of a sorted slice that lie in a range.
func within[W structures.Word](keys []W, r Range[W]) []W {
	if r.Lo > r.Hi {
		return nil
	}
	from, _ := slices.BinarySearch(keys, r.Lo)
	to, last := slices.BinarySearch(keys, r.Hi)
	if last {
		to++
	}
	return keys[from:to]
}

// neighbor is the key of a sorted slice beside another one.
func neighbor[W structures.Word](keys []W, kind structures.Kind, key W) (W, bool) {
	at, there := slices.BinarySearch(keys, key)
	switch {
	case kind == structures.FindSuccessor && there:
		at++
	case kind == structures.FindPredecessor, kind == structures.FindFloor && !there:
		at--
	}
	if at < 0 || at >= len(keys) {
		return 0, false
	}
	return keys[at], true
}

// requireNeighbor checks a neighbor that was found while others update: it may have been there, it is on the right
// side, and no key that was certainly there is nearer.
func (b bounds[W]) requireNeighbor(t testing.TB, kind structures.Kind, key W, found bool, k, v W) {
	nearest, certain := neighbor(b.certain, kind, key)
	switch down := kind == structures.FindPredecessor || kind == structures.FindFloor; {
	case !found && certain:
		t.Fatalf("%v(%#x) finds nothing, but %#x is there", kind, key, nearest)
	case !found:
	case v != valueOf(k):
		t.Fatalf("%v(%#x): %#x has the value %#x", kind, key, k, v)
	default:
		_, possible := slices.BinarySearch(b.possible, k)
		beyond := down && (k > key || k == key && kind == structures.FindPredecessor) ||
			!down && (k < key || k == key && kind == structures.FindSuccessor)
		if !possible || beyond || certain && (down && k < nearest || !down && k > nearest) {
			t.Fatalf("%v(%#x): %#x, while %#x (%v) is there", kind, key, k, nearest, certain)
		}
	}
}

// requireRange checks a range that was listed while others update, up to so many pairs.
func (b bounds[W]) requireRange(t testing.TB, r Range[W], width int, keys, values []W) {
	if len(keys) == width {
		r.Hi = keys[width-1] // it was cut off
	}
	certain := within(b.certain, r)
	for i, k := range keys {
		_, possible := slices.BinarySearch(b.possible, k)
		if !possible || values[i] != valueOf(k) || k < r.Lo || k > r.Hi || i > 0 && keys[i-1] >= k {
			t.Fatalf("range %#x: pair %d is %#x, %#x", r, i, k, values[i])
		}
		if len(certain) != 0 && certain[0] == k {
			certain = certain[1:]
		}
	}
	if len(certain) != 0 {
		t.Fatalf("range %#x: %d pairs, but not %#x", r, len(keys), certain[0])
	}
}

// concurrentKinds are those of the operations that stand with updates in a batch.
var concurrentKinds = []structures.Kind{
	structures.FindSuccessor, structures.FindPredecessor, structures.FindFloor, structures.FindCeil,
	structures.FindRange,
	structures.CountRange, structures.Find,
}

// concurrentBatch is a batch of insertions of new keys, of deletions of some that are there, and of what asks for the
// order of keys among them, in no order; and what is certain while it runs.
func concurrentBatch[W structures.Word](rng *rand.Rand, have []W, width int) (Batch[W], bounds[W]) {
	b := Batch[W]{Width: width}
	add := func(kind structures.Kind, key, high W) {
		b.Kinds, b.Keys = append(b.Kinds, kind), append(b.Keys, key)
		b.Values, b.Highs = append(b.Values, valueOf(key)), append(b.Highs, high)
	}
	certain, possible := slices.Clone(have), slices.Clone(have)
	if len(have) > 40 {
		from := rng.IntN(len(have) - 40) // neighbours: leaves become empty
		for _, k := range have[from : from+20+rng.IntN(20)] {
			add(structures.Delete, k, 0)
			at, _ := slices.BinarySearch(certain, k)
			certain = slices.Delete(certain, at, at+1)
		}
	}
	spread := uint32(1) << (8 + rng.IntN(25)%24)
	around := rng.Uint32()
	for range (20 + rng.IntN(300)) << rng.IntN(5) {
		k := numbers.Key[W](around + rng.Uint32N(spread))
		if rng.IntN(8) == 0 {
			k = numbers.Key[W](rng.Uint32N(9) - 4) // the ends
		}
		if _, there := slices.BinarySearch(have, k); !there { // perhaps twice, with one value
			add(structures.Insert, k, 0)
			possible = append(possible, k)
		}
	}
	for range 250 << rng.IntN(4) {
		lo, hi := around+rng.Uint32N(spread), rng.Uint32()
		switch rng.IntN(4) {
		case 0:
			lo, hi = 0, ^uint32(0)
		case 1:
			hi = lo + rng.Uint32N(spread)
		case 2:
			lo = rng.Uint32N(9) - 4
		}
		add(concurrentKinds[rng.IntN(len(concurrentKinds))], numbers.Key[W](lo), numbers.Key[W](hi))
	}
	rng.Shuffle(len(b.Keys), func(i, j int) {
		b.Kinds[i], b.Kinds[j] = b.Kinds[j], b.Kinds[i]
		b.Keys[i], b.Keys[j] = b.Keys[j], b.Keys[i]
		b.Values[i], b.Values[j] = b.Values[j], b.Values[i]
		b.Highs[i], b.Highs[j] = b.Highs[j], b.Highs[i]
	})
	slices.Sort(possible)
	return b, bounds[W]{certain, slices.Compact(possible)}
}

// listed are the results of a batch with what its ranges list, however it was done.
type listed[W structures.Word] struct {
	status               []structures.Status
	values               []W
	keys                 func(i int) W // of a neighbor
	rangeKeys, rangePair func(i int) []W
}

func fromSlices[W structures.Word](t testing.TB, tree *btree.Tree[W, W], b Batch[W]) listed[W] {
	b.Values = slices.Clone(b.Values)
	r, err := tree.Apply(t.Context(), b)
	require.NoError(t, err)
	of := func(all []W) func(i int) []W {
		return func(i int) []W { return all[r.Ranges.Offsets[i]:r.Ranges.Offsets[i+1]] }
	}
	return listed[W]{r.Status, r.Values, func(i int) W { return r.Keys[i] }, of(r.Ranges.Keys), of(r.Ranges.Values)}
}

// fromStreams does a batch in two parts at the same time, each on a stream.
func fromStreams[W structures.Word](t testing.TB, d *vk.Device, tree *btree.Tree[W, W], all Batch[W]) listed[W] {
	n := len(all.Keys)
	o := &streamed[W]{t: t, d: d}
	defer o.release()
	cuts := []int{0, n / 2, n}
	var parts [2]structures.DeviceBatch
	var streams [2]*vk.Stream
	for i := range parts {
		b := part(all, cuts[i], cuts[i+1])
		u := o.upload(b)
		parts[i] = structures.DeviceBatch{
			Count: u.n, Keys: u.keys, Values: u.values, Kinds: u.kinds, Status: u.outcome, Left: u.left,
			Width: all.Width, Highs: o.put(all.Highs[cuts[i]:cuts[i+1]]),
			OutKeys: o.roomFor(u.n * all.Width), OutValues: o.roomFor(u.n * all.Width),
		}
		streams[i] = o.stream()
		defer streams[i].Close()
	}
	for i, s := range streams {
		require.NoError(t, tree.On(s).Apply(structures.Mixed, parts[i]))
		_, err := s.Submit()
		require.NoError(t, err)
	}
	for _, s := range streams {
		require.NoError(t, s.Wait(t.Context()))
	}
	var r listed[W]
	var keys, values []W
	for i, s := range streams {
		require.NoError(t, tree.On(s).Finish(t.Context(), structures.Mixed, parts[i]))
		count := parts[i].Count
		for _, status := range download(o, parts[i].Status, count) {
			r.status = append(r.status, structures.Status(status))
		}
		r.values = append(r.values, o.get(parts[i].Values, count)...)
		keys = append(keys, o.get(parts[i].OutKeys, count*all.Width)...)
		values = append(values, o.get(parts[i].OutValues, count*all.Width)...)
	}
	of := func(pairs []W) func(i int) []W {
		return func(i int) []W { return pairs[i*all.Width:][:r.values[i]] }
	}
	r.keys, r.rangeKeys, r.rangePair = func(i int) W { return keys[i*all.Width] }, of(keys), of(values)
	return r
}

// requireConcurrent checks what a batch has answered.
func requireConcurrent[W structures.Word](t testing.TB, b Batch[W], known bounds[W], r listed[W]) {
	inserted := map[W]int{}
	for i, kind := range b.Kinds {
		key, status := b.Keys[i], r.status[i]
		switch kind {
		case structures.Insert:
			inserted[key] += 0
			if status == structures.Inserted {
				inserted[key]++
			} else {
				require.Equal(t, structures.Assigned, status, "insertion of %#x", key)
			}
		case structures.Delete:
			require.Equal(t, structures.Deleted, status, "deletion of %#x", key)
		case structures.Find:
			_, certain := slices.BinarySearch(known.certain, key)
			_, possible := slices.BinarySearch(known.possible, key)
			found := status == structures.Found
			if found && (!possible || r.values[i] != valueOf(key)) || !found &&
				(certain || status != structures.Absent) {
				t.Fatalf("find(%#x): %v %#x", key, status, r.values[i])
			}
		case structures.FindRange:
			known.requireRange(t, Range[W]{Lo: key, Hi: b.Highs[i]}, b.Width, r.rangeKeys(i), r.rangePair(i))
		case structures.CountRange:
			of := Range[W]{Lo: key, Hi: b.Highs[i]}
			least, most := len(within(known.certain, of)), len(within(known.possible, of))
			if n := int(r.values[i]); n < least || n > most {
				t.Fatalf("count(%#x): %d, but there are %d to %d", of, n, least, most)
			}
		default:
			require.Contains(t, []structures.Status{structures.Found, structures.Absent}, status)
			known.requireNeighbor(t, kind, key, status == structures.Found, r.keys(i), r.values[i])
		}
	}
	for key, times := range inserted {
		require.Equal(t, 1, times, "insertions of %#x that say that it was absent", key)
	}
}

// after are the keys that there are after a batch.
func after[W structures.Word](b Batch[W], known bounds[W]) []W {
	have := slices.Clone(known.certain)
	for i, kind := range b.Kinds {
		if kind == structures.Insert {
			have = append(have, b.Keys[i])
		}
	}
	slices.Sort(have)
	return slices.Compact(have)
}

// What asks for the order of keys, concurrent with insertions and deletions, in trees that begin with a few pairs or
// none, so that roots are split and levels added while the queries run. At each fill, with both protocols, from Go
// slices and on two streams.
func TestOrderWithSplits(t *testing.T) {
	pass.OneLavapipe(t, "test/linearizability has such queries and splits at 4 lanes")
	pass.Unvalidated(t, "other tests make the same calls")
	rounds := 8
	switch {
	case stress.Level > 0:
		rounds = 40 * stress.Level
	case testing.Short():
		rounds = 3
	}
	devices := openDevices(t)
	testOrderWithSplits[uint32](t, devices, rounds)
	testOrderWithSplits[uint64](t, devices, (rounds+2)/3)
}

func testOrderWithSplits[W structures.Word](t *testing.T, devices []protocol, rounds int) {
	s := subjects[W]()[slices.IndexFunc(subjects[uint32](), func(s subject[uint32]) bool {
		return s.name == "btree, concurrent"
	})]
	all := openVariants(t, s, devices, true)
	for _, v := range all.all {
		tree := v.dictionary.(*btree.Tree[W, W])
		for seed := range rounds {
			rng := rand.New(rand.NewPCG(uint64(seed), 11))
			require.NoError(t, tree.Clear(t.Context()))
			var have []W
			for range rng.IntN(16) {
				have = append(have, numbers.Key[W](rng.Uint32()))
			}
			slices.Sort(have)
			have = slices.Compact(have)
			values := make([]W, len(have))
			for i, k := range have {
				values[i] = valueOf(k)
			}
			_, err := tree.Insert(t.Context(), have, values)
			require.NoError(t, err)
			for batch := range 4 {
				b, known := concurrentBatch(rng, have, 1+rng.IntN(60))
				do := fromSlices[W]
				if (seed+batch)%2 == 0 {
					do = func(t testing.TB, tree *btree.Tree[W, W], b Batch[W]) listed[W] {
						return fromStreams(t, v.d, tree, b)
					}
				}
				requireConcurrent(t, b, known, do(t, tree, b))
				have = after(b, known)
				checkTree(t, v.d, tree)
				got, err := tree.Range(t.Context(), []Range[W]{structures.AllKeys[W]()})
				require.NoError(t, err)
				require.True(t, slices.Equal(have, got.Keys), "%d pairs, want %d, or others", len(got.Keys), len(have))
			}
		}
		v.ran = true
	}
}
