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
	keys := slicesOf[W](s.n, s.keys.key)
	run := func(name string, d structures.Dictionary[W, W], with []Measurement) (both []Measurement) {
		defer func() { ok(d.Close()) }()
		insertion := insertCall(s, d, keys)
		insertion.prepare = func() { ok(d.Clear(s.ctx)) }
		for i, x := range []slicesCall{insertion, findCall(s, d, s.query)} {
			m := s.measurement(s.n, s.n)
			m.Op = name + "-" + x.name
			if with != nil {
				m.Form = fmt.Sprintf("%d-shards", s.own.Shards)
				m.Properties = []Property{{"devices", float64(different)}}
			}
			m = s.calls(m, x.prepare, x.call, nil, "")
			if name != "dividing" {
				x.check()
			}
			if with != nil {
				m.Beside(with[i].Op, with[i].Time())
			}
			both = append(both, s.add(m))
		}
		return both
	}
	one := run("one-device", open(s.d), nil)
	var all, none []D
	for i := range s.own.Shards {
		all = append(all, open(devices[i%len(devices)]))
		none = append(none, any(&idle[W]{}).(D))
	}
	run("shards", over(all), one)
	run("dividing", over(none), one)
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
