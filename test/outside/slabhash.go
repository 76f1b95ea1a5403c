package main

import (
	"bytes"
	"context"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

func init() {
	parts = append(parts,
		part{"slabhash, 32 bits", slabHash[uint32, uint32]},
		part{"slabhash, 64 bits", slabHash[time.Duration, Points]},
		part{"slabhash, named types", slabHash[int32, Celsius]},
	)
}

func slabHash[K, V structures.Number]() {
	what := name[K, V]("slabhash")
	o := slabhash.Options{Timed: true, MaxBytes: oneSuper}
	m := must(slabhash.New[K, V](ctx, device, o))
	want := updates(what, m)
	batches(what, m, want)
	updatesOn(what, m.On, want)
	appliedOn(what, m.On, want)
	inShaders(what, m.InShaders())
	holds(what, m, want)
	loaded := must(slabhash.Load[K, V](ctx, device, save(what, m), o))
	holds(what+", loaded", loaded, want)
	check(loaded.Close())
	built := must(slabhash.Build(ctx, device, some[K](0, pairs), some[V](0, pairs), o))
	holds(what+", built", built, pairsFrom[K, V](0, pairs))
	check(built.Close())
	upkeep(what, m, uint64(len(want)))
	duplicates(what, m)
	clear(what, m, m.Inspect().Metrics())
	set[K](what)
}

// table is what maps and sets have alike.
type table interface {
	Clear(ctx context.Context) error
	Flush(ctx context.Context) error
	Len(ctx context.Context) (uint64, error)
	Prepare(ctx context.Context) error
	Rehash(ctx context.Context, buckets int) error
	Reserve(ctx context.Context, n int) error
	Save(ctx context.Context, w io.Writer) (int64, error)
	Inspect() slabhash.Inspection
}

// upkeep compares what maps and sets have alike.
func upkeep(what string, t table, pairs uint64) {
	equal(what+": Len", pairs, must(t.Len(ctx)))
	equal(what+": updates in Metrics", true, t.Inspect().Metrics().Updates.Operations > 0)
	check(t.Reserve(ctx, 1000))
	check(t.Flush(ctx))
	check(t.Rehash(ctx, 64))
	equal(what+": kernels of Timings", true, len(t.Inspect().Timings()) > 0)
	equal(what+": pairs of Stats", pairs, must(t.Inspect().Stats(ctx)).Pairs)
	sum := uint64(0)
	for load, err := range t.Inspect().Loads(ctx) {
		check(err)
		sum += uint64(load.Pairs)
	}
	equal(what+": pairs of Loads", pairs, sum)
}

// duplicates compares keys that have several values.
func duplicates[K, V structures.Number](what string, m *slabhash.Map[K, V]) {
	check(m.Clear(ctx))
	keys, values := some[K](1, pairs), some[V](1, pairs)
	for i := range keys {
		keys[i] = K(i % 10)
	}
	equal(what+": InsertDuplicate", repeated(structures.Inserted, pairs), must(m.InsertDuplicate(ctx, keys, values)))
	asked := []K{3, 9, 11}
	equal(what+": CountAll", []uint32{pairs / 10, pairs / 10, 0}, must(m.CountAll(ctx, asked)))
	offsets, found := must2(m.FindAll(ctx, asked))
	equal(what+": offsets of FindAll", []int{0, pairs / 10, pairs / 5, pairs / 5}, offsets)
	for i, key := range asked[:2] {
		var want []V
		for j := range keys {
			if keys[j] == key {
				want = append(want, values[j])
			}
		}
		got := slices.Clone(found[offsets[i]:offsets[i+1]])
		slices.Sort(got)
		slices.Sort(want)
		equal(what+": FindAll", want, got)
	}
	equal(what+": DeleteAll", []uint32{pairs / 10, pairs / 10, 0}, must(m.DeleteAll(ctx, asked)))
	equal(what+": CountAll behind DeleteAll", []uint32{0, 0, 0}, must(m.CountAll(ctx, asked)))
}

// set compares a set with a map.
func set[K structures.Number](what string) {
	what += ", its keys alone"
	s := must(slabhash.NewSet[K](ctx, device, slabhash.Options{Timed: true, MaxBytes: oneSuper}))
	equal(what+": Insert", repeated(structures.Inserted, pairs), must(s.Insert(ctx, some[K](0, pairs))))
	equal(what+": Insert again", repeated(structures.Found, pairs), must(s.Insert(ctx, some[K](0, pairs))))
	equal(what+": Delete", repeated(structures.Deleted, 10), must(s.Delete(ctx, some[K](0, 10))))
	status := make([]structures.Status, 20)
	check(s.UpdateInto(ctx, structures.InsertUnique, some[K](pairs, 20), status))
	equal(what+": UpdateInto", repeated(structures.Inserted, 20), status)
	batch := structures.Batch[K, uint32]{
		Kinds: []structures.Kind{structures.Delete, structures.Find}, Keys: []K{pairs, 10},
	}
	r := must(s.Apply(ctx, batch))
	equal(what+": Apply", []structures.Status{structures.Deleted, structures.Found}, r.Status)
	batch.Kinds[0], batch.Keys[1] = structures.InsertUnique, 9
	r = must(s.Apply(ctx, batch))
	equal(what+": Apply again", []structures.Status{structures.Inserted, structures.Absent}, r.Status)

	want := map[K]bool{}
	for key := range pairsFrom[K, K](10, pairs+10) {
		want[key] = true
	}
	members(what, s, want)
	check(s.Put(ctx, 10))
	equal(what+": Get", true, must(s.Get(ctx, 10)))
	built := must(slabhash.BuildSet(ctx, device, slices.Collect(maps.Keys(want)), slabhash.Options{MaxBytes: oneSuper}))
	members(what+", built", built, want)
	var saved bytes.Buffer
	must(built.Save(ctx, &saved))
	check(built.Close())
	loaded := must(slabhash.LoadSet[K](ctx, device, &saved, slabhash.Options{MaxBytes: oneSuper}))
	members(what+", loaded", loaded, want)
	check(loaded.Clear(ctx))
	members(what+", behind Clear", loaded, map[K]bool{})
	check(loaded.Close())
	setOn(what, s, want)
	inShaders(what, s.InShaders())
	upkeep(what, s, uint64(len(want)))

	equal(what+": InsertDuplicate", repeated(structures.Inserted, 2), must(s.InsertDuplicate(ctx, []K{10, 10})))
	equal(what+": CountAll", []uint32{3, 1}, must(s.CountAll(ctx, []K{10, 11})))
	equal(what+": DeleteAll", []uint32{3, 0}, must(s.DeleteAll(ctx, []K{10, 1})))
	if structures.WidthOf[K]() == structures.Bits32 {
		check(s.Prepare(ctx))
	}
	check(s.Close())
}

// setOn compares batches of a set on a stream.
func setOn[K structures.Number](what string, s *slabhash.Set[K], want map[K]bool) {
	keys := keyColumn[K]()
	known := slices.Sorted(maps.Keys(want))
	b := must(structures.NewDeviceBatch(device, structures.WidthOf[K](), structures.Delete, 1))
	keys.upload(b.Keys, known[:1])
	l := must(structures.NewDeviceLookups(device, structures.WidthOf[K](), len(known)))
	l.Values = nil
	keys.upload(l.Keys, known)
	e := must(structures.NewDeviceExport(device, structures.WidthOf[K](), len(known)))
	onStream(func(stream *vk.Stream) {
		for _, record := range []func() error{
			func() error { return s.On(stream).Update(ctx, structures.Delete, b) },
			func() error { return s.On(stream).Apply(structures.InsertUnique, b) },
		} {
			b.Clear(stream)
			check(record())
			check(s.On(stream).Finish(ctx, structures.Delete, b))
		}
		check(s.On(stream).Find(l))
		check(s.On(stream).Export(e))
	})
	equal(what+": ApplyOn", uint8(structures.Inserted), download(b.Status, 1)[0])
	equal(what+": FindOn", slices.Repeat([]uint8{1}, len(known)), download(l.Found, len(known)))
	exported := keys.download(e.Keys, len(known))
	slices.Sort(exported)
	equal(what+": ExportOn", known, exported)
	b.Free()
	l.Free()
	e.Free()
}

// members compares a set, by all that reads it.
func members[K structures.Number](what string, s *slabhash.Set[K], want map[K]bool) {
	keys := some[K](0, 3*pairs)
	found := must(s.Contains(ctx, keys))
	into := make([]bool, len(keys))
	check(s.ContainsInto(ctx, keys, into))
	equal(what+": ContainsInto", found, into)
	for i, key := range keys {
		equal(what+": Contains", want[key], found[i])
	}
	sorted := slices.Sorted(maps.Keys(want))
	var all, chunks []K
	for key, err := range s.All(ctx) {
		check(err)
		all = append(all, key)
	}
	for part, err := range s.Chunks(ctx) {
		check(err)
		chunks = append(chunks, part.Keys...)
	}
	equal(what+": All", sorted, slices.Sorted(slices.Values(all)))
	equal(what+": Chunks", sorted, slices.Sorted(slices.Values(chunks)))
}
