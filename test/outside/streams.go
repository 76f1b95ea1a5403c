package main

import (
	"maps"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// column is keys or values in device buffers: as words, two each at 64 bits.
type column[T structures.Number] struct {
	code  structures.Code[T]
	width structures.Width
}

func (c column[T]) upload(b *vk.Buffer[uint32], all []T) {
	var words []uint32
	for _, x := range all {
		word := c.code.Word(x)
		words = append(words, uint32(word))
		if c.width == structures.Bits64 {
			words = append(words, uint32(word>>32))
		}
	}
	check(b.Upload(ctx, 0, words))
}

func (c column[T]) download(b *vk.Buffer[uint32], n int) []T {
	each := c.width.Bytes() / 4
	words := download(b, n*each)
	all := make([]T, n)
	for i := range all {
		word := uint64(words[i*each])
		if each == 2 {
			word |= uint64(words[i*each+1]) << 32
		}
		all[i] = c.code.Of(word)
	}
	return all
}

func download[T vk.Element](b *vk.Buffer[T], n int) []T {
	all := make([]T, n)
	check(b.Download(ctx, 0, all))
	return all
}

func keyColumn[K structures.Number]() column[K] {
	return column[K]{structures.KeyCode[K](), structures.WidthOf[K]()}
}

// columns are those of pairs whose keys and values have one width.
func columns[K, V structures.Number]() (column[K], column[V]) {
	return keyColumn[K](), column[V]{structures.ValueCode[K, V](), structures.WidthOf[K]()}
}

// onStream has a stream wait for what is recorded on it.
func onStream(record func(s *vk.Stream)) {
	s := must(device.NewStream())
	record(s)
	check(s.Wait(ctx))
	check(s.Close())
}

// updatesOn compares a batch on a stream with what it does to a map, and what it finds there.
func updatesOn[K, V structures.Number, S structures.OnStream](what string, on func(*vk.Stream) S, want map[K]V) {
	keys, values := columns[K, V]()
	ks, vs := some[K](pairs, pairs), some[V](3, pairs)
	b := must(structures.NewDeviceBatch(device, structures.PairWidth[K, V](), structures.Insert, pairs))
	keys.upload(b.Keys, ks)
	values.upload(b.Values, vs)
	wanted := make([]uint8, pairs)
	for i, key := range ks {
		wanted[i] = uint8(structures.Inserted)
		if _, there := want[key]; there {
			wanted[i] = uint8(structures.Assigned)
		}
		want[key] = vs[i]
	}
	onStream(func(s *vk.Stream) {
		b.Clear(s)
		check(on(s).Update(ctx, structures.Insert, b))
		check(on(s).Finish(ctx, structures.Insert, b))
	})
	equal(what+": UpdateOn", wanted, download(b.Status, pairs))
	b.Free()

	l := must(structures.NewDeviceLookups(device, structures.PairWidth[K, V](), pairs))
	keys.upload(l.Keys, ks)
	onStream(func(s *vk.Stream) { check(on(s).Find(l)) })
	equal(what+": FindOn", vs, values.download(l.Values, pairs))
	equal(what+": found by FindOn", slices.Repeat([]uint8{1}, pairs), download(l.Found, pairs))
	l.Free()

	e := must(structures.NewDeviceExport(device, structures.PairWidth[K, V](), len(want)))
	onStream(func(s *vk.Stream) { check(on(s).Export(e)) })
	equal(what+": the number of ExportOn", uint32(len(want)), download(e.Total, 1)[0])
	got := map[K]V{}
	exported := values.download(e.Values, len(want))
	for i, key := range keys.download(e.Keys, len(want)) {
		got[key] = exported[i]
	}
	equal(what+": ExportOn", want, got)
	e.Free()
}

// appliedOn compares a mixed batch on a stream.
func appliedOn[K, V structures.Number, S structures.ConcurrentOnStream](what string, on func(*vk.Stream) S,
	want map[K]V) {
	keys, values := columns[K, V]()
	first := slices.Sorted(maps.Keys(want))[0]
	b := must(structures.NewDeviceBatch(device, structures.PairWidth[K, V](), structures.Mixed, 2))
	keys.upload(b.Keys, []K{first, 5 * pairs})
	values.upload(b.Values, []V{0, 8})
	check(b.Kinds.Upload(ctx, 0, []uint8{uint8(structures.Find), uint8(structures.Insert)}))
	onStream(func(s *vk.Stream) {
		b.Clear(s)
		check(on(s).Apply(structures.Mixed, b))
		check(on(s).Finish(ctx, structures.Mixed, b))
	})
	equal(what+": ApplyOn", []uint8{uint8(structures.Found), uint8(structures.Inserted)}, download(b.Status, 2))
	equal(what+": a value of ApplyOn", want[first], values.download(b.Values, 1)[0])
	want[5*pairs] = 8
	b.Free()
}

// queriesOn compares what is asked of a structure in key order on a stream.
func queriesOn[K, V structures.Number, S structures.QueriesOnStream](what string, on func(*vk.Stream) S, want map[K]V) {
	keys, values := columns[K, V]()
	known := slices.Sorted(maps.Keys(want))
	l := must(structures.NewDeviceLookups(device, structures.PairWidth[K, V](), len(known)))
	keys.upload(l.Keys, known)
	onStream(func(s *vk.Stream) { check(on(s).Find(l)) })
	all := make([]V, len(known))
	for i, key := range known {
		all[i] = want[key]
	}
	equal(what+": FindOn", all, values.download(l.Values, len(known)))
	l.Free()

	asked, have, counts := someRanges(want, known)
	c := must(structures.NewDeviceCounts(device, structures.PairWidth[K, V](), len(asked)))
	r := must(structures.NewDeviceRanges(device, structures.PairWidth[K, V](), len(asked), len(have.Keys)))
	r.MaxCandidates = 100 * pairs // of an LSM, with those that were overwritten
	var ends []K
	for _, of := range asked {
		ends = append(ends, of.Lo, of.Hi)
	}
	keys.upload(c.Ranges, ends)
	keys.upload(r.Ranges, ends)
	onStream(func(s *vk.Stream) {
		check(on(s).Count(c))
		check(on(s).Range(r))
	})
	equal(what+": CountOn", counts, download(c.Counts, len(asked)))
	equal(what+": keys of RangeOn", have.Keys, keys.download(r.Keys, len(have.Keys)))
	equal(what+": values of RangeOn", have.Values, values.download(r.Values, len(have.Keys)))
	c.Free()
	r.Free()

	e := must(structures.NewDeviceExport(device, structures.PairWidth[K, V](), len(known)))
	onStream(func(s *vk.Stream) { check(on(s).Export(e)) })
	equal(what+": keys of ExportOn", known, keys.download(e.Keys, len(known)))
	equal(what+": values of ExportOn", all, values.download(e.Values, len(known)))
	e.Free()
	neighborsOn(what, on, want, known)
}

// neighborsOn compares floors, ranks, and the pairs of ranks.
func neighborsOn[K, V structures.Number, S structures.QueriesOnStream](what string, on func(*vk.Stream) S,
	want map[K]V, known []K) {
	keys, values := columns[K, V]()
	places := make([]int, len(known))
	ranks := make([]uint32, len(known))
	for i := range known {
		places[i], ranks[i] = i, uint32(i)
	}
	wanted := at(want, known, places)

	r := must(structures.NewDeviceRanks(device, structures.PairWidth[K, V](), len(known)))
	keys.upload(r.Keys, known)
	n := must(structures.NewDeviceNeighbors(device, structures.PairWidth[K, V](), len(known)))
	keys.upload(n.Keys, known)
	onStream(func(s *vk.Stream) {
		check(on(s).Rank(r))
		n.Clear(s)
		check(on(s).Neighbor(structures.Floor, n))
		check(on(s).FinishNeighbors(ctx, structures.Floor, n))
	})
	equal(what+": RankOn", ranks, download(r.Ranks, len(known)))
	equal(what+": keys of NeighborOn", wanted.Keys, keys.download(n.OutKeys, len(known)))
	equal(what+": values of NeighborOn", wanted.Values, values.download(n.OutValues, len(known)))
	check(n.Keys.Upload(ctx, 0, ranks))
	onStream(func(s *vk.Stream) {
		n.Clear(s)
		check(on(s).Select(n))
	})
	equal(what+": keys of SelectOn", wanted.Keys, keys.download(n.OutKeys, len(known)))
	equal(what+": values of SelectOn", wanted.Values, values.download(n.OutValues, len(known)))
	r.Free()
	n.Free()
}

// inShaders calls what kernels of the user's need of a structure.
func inShaders[D comparable](what string, x structures.InShaders[D]) {
	var none D
	equal(what+": Description", true, x.Description() != none)
	equal(what+": Constants", true, x.Constants() != nil)
	onStream(func(s *vk.Stream) { x.UsedOn(s) })
}
