package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
)

// flush measures a flush after the deletion of half of the pairs.
func (s *session) flush() {
	s.hold(s.n)
	b := structures.DeviceBatch{Count: s.n / 2, Keys: s.batchOf("batch keys", s.n/2, s.query), Status: s.status,
		Left: s.left}
	table := s.hash()
	defer s.ending()
	halve := func() {
		s.changing()
		ok(table.On(s.stream).Apply(structures.Delete, b))
		ok(table.On(s.stream).Finish(s.ctx, structures.Delete, b))
	}
	halve()
	m := s.ofSlabs(s.measurement(s.n, s.n/2), halve, func() { ok(table.Flush(s.ctx)) }, "flush")
	s.finds(func(i int) (uint32, bool) { return s.space.value(s.query(i)), i >= s.n/2 })
	s.add(m)
}

// rehash measures a rehash to factor times as many buckets.
func (s *session) rehash(factor float64) {
	s.hold(s.n)
	table := s.hash()
	buckets := int(table.InShaders().Description().Buckets)
	back := func() { ok(table.Rehash(s.ctx, buckets)) }
	m := s.ofSlabs(s.measurement(s.n, s.n), back,
		func() { ok(table.Rehash(s.ctx, max(4, int(float64(buckets)*factor)))) }, "rehash")
	s.holdsAll(s.n)
	back()
	s.add(m)
}

const slabBytes = 128

// ofSlabs measures a call that reads all slabs of the table and writes those of the new one. The call waits itself: the
// wall time is that of the call, and the device's time that of its kernel.
func (s *session) ofSlabs(m Measurement, prepare, call func(), kernel string) Measurement {
	before := must(s.hash().Inspect().Stats(s.ctx)).Slabs
	m = s.calls(m, prepare, call, s.hash().Inspect().Timings, kernel)
	m.Bytes = (before + must(s.hash().Inspect().Stats(s.ctx)).Slabs) * slabBytes
	return m
}

// cleanup measures LSM.Cleanup of full levels. A share of their elements is stale, because their keys were inserted
// again with other values (section V-D).
func (s *session) cleanup() {
	elements := batchesOf(fullLevels, s.n, s.batch) * s.batch
	again := int(s.at.Stale * float64(elements))
	different := elements - again
	pick := newOrder(different, uint64(s.o.Seed)<<11|1) // of the keys that are inserted again
	prepare := func() {
		s.empty()
		s.hold(different)
		s.there = -1
		for _, p := range chunks(again, s.batch) {
			ok(s.updateOn(structures.Insert,
				s.assignment(p.count, func(i int) uint32 { return s.keys.key(pick.at(p.first + i)) })))
			s.wait()
		}
	}
	s.empty()
	table := s.structure().(interface {
		Cleanup(context.Context) error
		Inspect() lsm.Inspection
	})
	m := s.calls(s.measurement(elements, elements), prepare, func() { ok(table.Cleanup(s.ctx)) },
		table.Inspect().Timings, "")
	later := make([]bool, s.n)
	for i := range again {
		later[pick.at(i)] = true
	}
	s.sound(different)
	s.finds(func(i int) (uint32, bool) {
		at := s.order.at(i)
		value := s.space.value(s.keys.key(at))
		if later[at] {
			value = ^value
		}
		return value, at < different
	})
	s.add(m)
}

// assignment returns a batch that assigns other values to keys.
func (s *session) assignment(count int, key func(i int) uint32) structures.DeviceBatch {
	return structures.DeviceBatch{Count: count, Keys: s.batchOf("batch keys", count, key),
		Values: s.batchOf("batch values", count, func(i int) uint32 { return ^s.space.value(key(i)) })}
}
