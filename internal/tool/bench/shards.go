package bench

import (
	"context"
	"fmt"
	"strconv"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/shard"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// idle is a shard that does nothing. Over such shards, a call takes the time of dividing the batch and of putting the
// results back.
type idle[W structures.Word] struct{ structures.Ordered[W, W] }

func (*idle[W]) UpdateInto(context.Context, structures.Kind, []W, []W, []structures.Status) error {
	return nil
}
func (*idle[W]) FindInto(context.Context, []W, []W, []bool) error { return nil }
func (*idle[W]) Len(context.Context) (uint64, error)              { return 0, nil }
func (*idle[W]) Clear(context.Context) error                      { return nil }
func (*idle[W]) Close() error                                     { return nil }

// shardedMap and shardedTree measure dictionaries over devices.
func shardedMap[W structures.Word](s *session) {
	capacity := s.n/s.own.Shards + s.n/8
	sharded(s, func(d *vk.Device) structures.Dictionary[W, W] {
		return must(slabhash.New[W, W](s.ctx, d, slabhash.Options{Capacity: capacity, Load: s.own.Load}))
	}, func(all []structures.Dictionary[W, W]) structures.Dictionary[W, W] {
		return must(shard.NewMap(s.ctx, all...))
	})
}

func shardedTree[W structures.Word](s *session) {
	sharded(s, func(d *vk.Device) structures.Ordered[W, W] {
		return must(btree.New[W, W](s.ctx, d, btree.Options{Fill: s.own.Fill}))
	}, func(all []structures.Ordered[W, W]) structures.Dictionary[W, W] {
		return must(shard.NewTree(s.ctx, all...))
	})
}

// sharded measures the insertion of n pairs and the search for them, from Go slices: on one device, over several, and
// over shards that do nothing.
func sharded[W structures.Word, D structures.Dictionary[W, W]](s *session, open func(d *vk.Device) D,
	over func(all []D) structures.Dictionary[W, W]) {
	devices, different, end := s.alike(s.own.Shards)
	defer end()
	keys, queries := slicesOf[W](s.n, s.keys.key), slicesOf[W](s.n, s.query)
	x := &shardedRun[W]{session: s, keys: keys, values: valuesOf(s, keys), queries: queries,
		want: valuesOf(s, queries), devices: different}
	one := x.run("one-device", open(s.d), nil)
	var all, none []D
	for i := range s.own.Shards {
		all = append(all, open(devices[i%len(devices)]))
		none = append(none, any(&idle[W]{}).(D))
	}
	x.shards = s.own.Shards
	x.run("shards", over(all), one)
	x.idle = true
	x.run("dividing", over(none), one)
}

// shardedRun measures one dictionary after the other with the same batches.
type shardedRun[W structures.Word] struct {
	*session
	keys, values, queries, want []W
	shards, devices             int  // how many; 0 shards: none
	idle                        bool // results are not checked
}

// run measures a dictionary and closes it. It returns the measurements of the insertion and the search, for others to
// be compared with.
func (x *shardedRun[W]) run(name string, d structures.Dictionary[W, W], with []Measurement) []Measurement {
	defer func() { ok(d.Close()) }()
	status, values, found := make([]structures.Status, x.n), make([]W, x.n), make([]bool, x.n)
	insertion := x.calls(x.named(name+"-insert"), func() { ok(d.Clear(x.ctx)) },
		func() { ok(d.UpdateInto(x.ctx, structures.Insert, x.keys, x.values, status)) }, nil, "")
	search := x.calls(x.named(name+"-find"), func() {},
		func() { ok(d.FindInto(x.ctx, x.queries, values, found)) }, nil, "")
	if !x.idle {
		x.check(status, values, found)
	}
	both := []Measurement{insertion, search}
	for i := range both {
		if with != nil {
			both[i].beside("time of "+with[i].Op, with[i].Time())
		}
		x.add(both[i])
	}
	return both
}

func (x *shardedRun[W]) named(op string) Measurement {
	m := x.measurement(x.n, x.n)
	m.Op = op
	if x.shards != 0 {
		m.Form = fmt.Sprintf("%d-shards", x.shards)
		m.Properties = []Property{{"devices", float64(x.devices)}}
	}
	return m
}

func (x *shardedRun[W]) check(status []structures.Status, values []W, found []bool) {
	each(x.n, func(i int) {
		if status[i] != structures.Inserted || !found[i] || values[i] != x.want[i] {
			x.fail("operation %d: %v, and %d, %t", i, status[i], values[i], found[i])
		}
	})
}

// alike returns, until end is called, the session's device and the others of its name, at most n, and how many differ.
// A device that is alone is opened once more.
func (s *session) alike(n int) (devices []*vk.Device, different int, end func()) {
	devices, different = []*vk.Device{s.d}, 1
	for _, i := range must(vk.List()) {
		if i.Name == s.d.Info().Name && i.UUID != s.d.Info().UUID && different < n {
			devices, different = append(devices, must(vk.Open(vk.Options{Device: strconv.Itoa(i.Index)}))), different+1
		}
	}
	if different == 1 && n > 1 {
		devices = append(devices, must(vk.Open(vk.Options{Device: strconv.Itoa(s.d.Info().Index)})))
	}
	return devices, different, func() {
		for _, d := range devices[1:] {
			ok(d.Close())
		}
	}
}
