package btree

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
)

// someRanges returns ranges of all kinds around a tree's keys: of about length keys, long ones, empty ones.
func someRanges(keys []uint32, n, length int) []u32.Range {
	rng := random(9)
	sorted := slices.Sorted(slices.Values(keys))
	r := []u32.Range{{}, {Hi: 1}, {Lo: 1}, {Lo: ^uint32(0), Hi: ^uint32(0)},
		{Lo: ^uint32(0) - 1, Hi: ^uint32(0)}, {Lo: 5, Hi: 4}}
	for len(r) < n {
		lo, hi := rng.Uint32(), rng.Uint32()
		if len(sorted) != 0 && len(r)%16 != 0 {
			at := rng.IntN(len(sorted))
			lo = sorted[at] + uint32(len(r)%3) - 1
			hi = sorted[min(len(sorted)-1, at+rng.IntN(2*length))] + uint32(len(r)%3) - 1
		}
		if hi-lo > 1<<28 && len(r) > 50 {
			hi = min(hi, lo|1<<16)
		}
		r = append(r, u32.Range{Lo: lo, Hi: hi})
	}
	return r
}

// within returns the indices of the first key of a range among sorted keys, and of the first key after the range.
func within[W structures.Word](sorted []W, r structures.Range[W]) (first, end int) {
	if r.Lo > r.Hi {
		return 0, 0
	}
	first, _ = slices.BinarySearch(sorted, r.Lo)
	end, there := slices.BinarySearch(sorted, r.Hi)
	if there {
		end++
	}
	return first, end
}

func requireRanges(t testing.TB, tree *dictionary[uint32], ranges []u32.Range, want model) {
	t.Helper()
	keys, values := want.sorted()
	counts, err := tree.Count(t.Context(), ranges)
	require.NoError(t, err)
	got, err := tree.Range(t.Context(), ranges)
	require.NoError(t, err)
	require.Equal(t, len(ranges)+1, len(got.Offsets))
	require.Zero(t, got.Offsets[0])
	for i, r := range ranges {
		first, end := within(keys, r)
		if int(counts[i]) != end-first || int(got.Offsets[i+1]-got.Offsets[i]) != end-first {
			t.Fatalf("range %d, %#x: %d counted, %d in the result, of %d", i, r, counts[i],
				got.Offsets[i+1]-got.Offsets[i], end-first)
		}
		if gotKeys := got.Keys[got.Offsets[i]:got.Offsets[i+1]]; !slices.Equal(gotKeys, keys[first:end]) {
			t.Fatalf("range %d, %#x: keys %#x instead of %#x", i, r, clip(gotKeys), clip(keys[first:end]))
		}
		if gotValues := got.Values[got.Offsets[i]:got.Offsets[i+1]]; !slices.Equal(gotValues, values[first:end]) {
			t.Fatalf("range %d, %#x: values %#x instead of %#x", i, r, clip(gotValues), clip(values[first:end]))
		}
	}
}

func clip[W structures.Word](words []W) []W { return words[:min(len(words), 20)] }

func TestRanges(t *testing.T) {
	d := openDevice(t)
	rng := random(10)
	keys := uniqueKeys(rng, 6000)
	for i := range keys[:1500] {
		keys[i] = 0x40000000 + uint32(i)*3
	}
	values := randomWords(rng, len(keys))
	want := model{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{})
	ranges := someRanges(keys, 800, 20)
	eachQueryShape(t, tree, func(t *testing.T) { requireRanges(t, tree, ranges, want) })
	ravage(t, tree, want)
	eachQueryShape(t, tree, func(t *testing.T) { requireRanges(t, tree, ranges, want) })
}

// The range of all keys, with more pairs than one dispatch reads, and with few leaves that are not empty.
func TestRangeOfAllKeys(t *testing.T) {
	d := openDevice(t)
	keys := append(ramp(70000, 0x7fff0000, 1), 0, 1, ^uint32(0))
	values := randomWords(random(11), len(keys))
	want := model{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{Fill: 1})
	requireRanges(t, tree, []u32.Range{{Lo: 2, Hi: 0x7fff8000}, u32.AllKeys, {Lo: 1, Hi: 0}}, want)
	requireRanges(t, tree, nil, want)
	emptyLeaves(t, tree, want, func(leaf int) bool { return leaf%1000 != 999 })
	requireRanges(t, tree, []u32.Range{u32.AllKeys}, want)
}

// deviceRanges compares CountOn, RangeOn and WindowOn with a model.
func deviceRanges(t testing.TB, tree *dictionary[uint32], ranges []u32.Range, width int, want model) {
	t.Helper()
	d, n := tree.Device, len(ranges)
	keys, values := want.sorted()
	var wantKeys, wantValues, wantCounts []uint32
	wantOffsets := []uint32{0}
	for _, r := range ranges {
		first, end := within(keys, r)
		wantKeys, wantValues = append(wantKeys, keys[first:end]...), append(wantValues, values[first:end]...)
		wantCounts = append(wantCounts, uint32(end-first))
		wantOffsets = append(wantOffsets, uint32(len(wantKeys)))
	}
	s := testdevice.Stream(t, d)
	in := testdevice.Upload(t, d, recording.Words(ranges))
	counts, total := testdevice.Room[uint32](t, d, n), testdevice.Room[uint64](t, d, 1)
	require.NoError(t, tree.On(s).Count(structures.DeviceCounts{Count: n, Ranges: in, Counts: counts}))
	require.NoError(t, s.Wait(t.Context()))
	same(t, wantCounts, testdevice.Download(t, counts, n), "counts")
	require.NoError(t, tree.On(s).Count(structures.DeviceCounts{Count: n, Ranges: in, Counts: counts,
		Candidates: total}))
	require.NoError(t, s.Wait(t.Context()))
	same(t, wantCounts, testdevice.Download(t, counts, n), "counts")
	if n != 0 {
		require.EqualValues(t, len(wantKeys), testdevice.Download(t, total, 1)[0])
	}

	offsets := testdevice.Room[uint32](t, d, n+1)
	outKeys, outValues := testdevice.Room[uint32](t, d, max(1, len(wantKeys))),
		testdevice.Room[uint32](t, d, max(1, len(wantKeys)))
	r := structures.DeviceRanges{Count: n, Ranges: in, Offsets: offsets, Keys: outKeys, Values: outValues,
		Candidates: total}
	require.NoError(t, tree.On(s).Range(r))
	require.NoError(t, s.Wait(t.Context()))
	same(t, wantOffsets, testdevice.Download(t, offsets, n+1), "offsets")
	require.EqualValues(t, len(wantKeys), testdevice.Download(t, total, 1)[0])
	same(t, wantKeys, testdevice.Download(t, outKeys, len(wantKeys)), "keys")
	same(t, wantValues, testdevice.Download(t, outValues, len(wantKeys)), "values")

	// If there is less room than pairs, as many as fit are written, and the others only counted.
	if less := len(wantKeys) / 2; less > 0 {
		r.Keys = testdevice.Room[uint32](t, d, less)
		r.MaxCandidates = len(wantKeys)
		require.NoError(t, tree.On(s).Range(r))
		require.NoError(t, s.Wait(t.Context()))
		same(t, wantOffsets, testdevice.Download(t, offsets, n+1), "offsets")
		same(t, wantKeys[:less], testdevice.Download(t, r.Keys, less), "keys")
		require.NoError(t, r.Keys.Upload(t.Context(), 0, make([]uint32, less)))
		r.MaxCandidates = 0
		require.NoError(t, tree.On(s).Range(r))
		require.NoError(t, s.Wait(t.Context()))
		require.EqualValues(t, len(wantKeys), testdevice.Download(t, total, 1)[0])
		same(t, make([]uint32, less), testdevice.Download(t, r.Keys, less), "keys of what was not done")
	}

	window := structures.DeviceWindow{Count: n, Ranges: in, Width: width, Keys: testdevice.Room[uint32](t, d, n*width),
		Values: testdevice.Room[uint32](t, d, n*width), Counts: counts}
	require.NoError(t, tree.On(s).Window(window))
	require.NoError(t, s.Wait(t.Context()))
	gotKeys, gotValues, gotCounts := testdevice.Download(t, window.Keys, n*width),
		testdevice.Download(t, window.Values, n*width), testdevice.Download(t, counts, n)
	for i, r := range ranges {
		first, end := within(keys, r)
		end = min(end, first+width)
		at := i * width
		if int(gotCounts[i]) != end-first || !slices.Equal(gotKeys[at:at+end-first], keys[first:end]) ||
			!slices.Equal(gotValues[at:at+end-first], values[first:end]) {
			t.Fatalf("window %d, %#x: %d pairs %#x instead of %#x", i, r, gotCounts[i], gotKeys[at:at+width],
				keys[first:end])
		}
	}
}

func TestDeviceRanges(t *testing.T) {
	d := openDevice(t)
	rng := random(12)
	keys := uniqueKeys(rng, 3000)
	values := randomWords(rng, len(keys))
	want := model{}.insert(keys, values)
	tree := buildTree(t, d, keys, values, Options{})
	for range 2 {
		deviceRanges(t, tree, someRanges(keys, 300, 10), 8, want)
		deviceRanges(t, tree, []u32.Range{u32.AllKeys, {Lo: 1 << 30, Hi: 3 << 30}}, 5, want)
		deviceRanges(t, tree, nil, 5, want)
		inOrder(tree, func() {
			deviceRanges(t, tree, someRanges(keys, 1001, 10), 8, want)
			deviceRanges(t, tree, someRanges(keys, 300, 10), 5, want)
			deviceRanges(t, tree, nil, 5, want)
		})
		ravage(t, tree, want)
	}
	s := testdevice.Stream(t, d)
	var length *structures.LengthError
	require.ErrorAs(t, tree.On(s).Count(structures.DeviceCounts{Count: 1}), &length)
	require.ErrorAs(t, tree.On(s).Range(structures.DeviceRanges{Count: 1}), &length)
	in := testdevice.Room[uint32](t, d, 2)
	require.ErrorAs(t, tree.On(s).Window(structures.DeviceWindow{Count: 1, Ranges: in, Counts: in, Width: -1}), &length)
	require.ErrorAs(t, tree.On(s).Window(structures.DeviceWindow{Count: 1, Ranges: in, Counts: in, Width: 1}), &length)
}

// A range with more leaves than one tile reads in a dispatch is refused if it can't be divided.
func TestRangeTooLongForADevice(t *testing.T) {
	d := openDevice(t)
	tree := buildTree(t, d, ramp(1000, 0, 1), ramp(1000, 0, 1), Options{Fill: 0.01})
	s := testdevice.Stream(t, d)
	total := testdevice.Room[uint64](t, d, 1)
	plan, err := tree.scratchForRanges(s, 1, 0)
	require.NoError(t, err)
	in, counts := testdevice.Upload(t, d, []uint32{0, 999}), testdevice.Upload(t, d, []uint32{9})
	q := rangeQueries{ranges: in.Address(), n: 1, counts: counts.Address(), total: total.Address(), leaves: 100}
	require.NoError(t, tree.newest().recordCounts(s, q, plan))
	require.NoError(t, s.Wait(t.Context()))
	require.EqualValues(t, uint64(1)<<63, testdevice.Download(t, total, 1)[0])
	require.Zero(t, testdevice.Download(t, counts, 1)[0])
}
