package main

import (
	"bytes"

	"github.com/vkds/vkds/shaders/traced"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/trace"
	"github.com/vkds/vkds/vk"
)

func init() { parts = append(parts, part{"trace", steps}) }

// steps compares the events of a table's updates with what it answers, with keys of a type of the user's.
func steps() {
	d := must(vk.Open(vk.Options{Trace: traced.Kernels(1 << 16)}))
	m := must(slabhash.New[UserID, Celsius](ctx, d, slabhash.Options{MaxBytes: oneSuper}))
	keys, values := some[UserID](0, pairs), some[Celsius](0, pairs)
	inserted := must(m.InsertUnique(ctx, keys, values))
	deleted := must(m.Delete(ctx, keys[:pairs/2]))
	all := must(trace.Take(ctx, d))
	equal("trace: dropped", uint64(0), all.Dropped)

	want, told := map[structures.Status]int{}, map[structures.Status]int{}
	for _, status := range append(inserted, deleted...) {
		want[status]++
	}
	held := map[uint64]bool{}
	for _, o := range all.Operations() {
		told[o.Status]++
	}
	for _, e := range all.Events {
		switch e.What {
		case trace.Write:
			held[e.Key] = true
		case trace.Erase:
			delete(held, e.Key)
		}
	}
	equal("trace: how operations end", want, told)
	equal("trace: keys that are written and not erased", int(must(m.Len(ctx))), len(held))

	var file bytes.Buffer
	must(all.WriteTo(&file))
	equal("trace: saved", all, must(trace.Read(&file)))
	equal("trace: events after Take", 0, len(must(trace.Take(ctx, d)).Events))
	check(m.Close())
	check(d.Close())
}
