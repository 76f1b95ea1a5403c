package main

import (
	"bytes"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/filter"
	"github.com/vkds/vkds/vk"
)

func init() {
	parts = append(parts,
		part{"filter, 32 bits", bloom[uint32]},
		part{"filter, 64 bits", bloom[time.Duration]},
		part{"filter, a named type", bloom[Celsius]},
	)
}

func bloom[K structures.Number]() {
	what := name[K, K]("filter")
	o := filter.Options{Capacity: 2 * pairs, FalsePositives: 1e-6}
	f := must(filter.New[K](ctx, device, o))
	check(f.Prepare(ctx))
	there, absent := some[K](0, pairs), some[K](pairs, pairs)
	check(f.Insert(ctx, there))
	answers := func(what string, f *filter.Filter[K], inserted bool) {
		equal(what+": Contains", repeat(true), must(f.Contains(ctx, there)))
		into := make([]bool, pairs)
		check(f.ContainsInto(ctx, absent, into))
		equal(what+": ContainsInto", repeat(inserted), into)
	}
	answers(what, f, false)
	equal(what+": ExpectedFalsePositives", true, f.ExpectedFalsePositives(2*pairs) <= o.FalsePositives)
	stats := must(f.Inspect().Stats(ctx))
	equal(what+": keys of Stats", true, stats.Keys > pairs*9/10 && stats.Keys < pairs*11/10)
	equal(what+": bytes of Metrics", stats.Bytes, f.Inspect().Metrics().Bytes)
	inShaders(what, f.InShaders())

	var file bytes.Buffer
	must(f.Save(ctx, &file))
	loaded := must(filter.Load[K](ctx, device, &file, filter.Options{}))
	answers(what+", loaded", loaded, false)
	check(loaded.Close())

	other := must(filter.New[K](ctx, device, o))
	column := keyColumn[K]()
	b := must(structures.NewDeviceBatch(device, structures.WidthOf[K](), structures.Delete, pairs))
	column.upload(b.Keys, absent)
	l := must(structures.NewDeviceLookups(device, structures.WidthOf[K](), pairs))
	column.upload(l.Keys, absent)
	onStream(func(s *vk.Stream) {
		check(other.On(s).Insert(b))
		check(other.On(s).Contains(l))
	})
	equal(what+": Contains on a stream", bytes.Repeat([]byte{1}, pairs), download(l.Found, pairs))
	b.Free()
	l.Free()
	check(f.Union(ctx, other))
	answers(what+", united", f, true)
	check(f.Clear(ctx))
	equal(what+": Contains after Clear", make([]bool, pairs), must(f.Contains(ctx, there)))
	check(other.Close())
	check(f.Close())
}

// repeat are answers that are all the same.
func repeat(answer bool) []bool {
	all := make([]bool, pairs)
	for i := range all {
		all[i] = answer
	}
	return all
}
