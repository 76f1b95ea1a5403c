package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
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

// clear uses a map with its own pool, as most maps have.
func (s *session) clear() {
	own := s.newMap(s.hashOptions(bucketsFor(s.n, s.at.Load, slabhash.SlotsAt(s.width, false)), nil))
	defer own.Close()
	defer s.ending()
	fill := func() { s.applyAll(own, structures.Insert, s.keys, s.n) }
	fill()
	m := s.measurement(s.n, s.n)
	m.Bytes = must(own.Inspect().Stats(s.ctx)).Bytes
	m = s.calls(m, fill, func() { ok(own.Clear(s.ctx)) }, nil, "")
	if must(own.Len(s.ctx)) != 0 {
		s.fail("pairs are left")
	}
	s.add(m)
}

// staleLevels are full levels of an LSM. A share of their elements is stale, because their keys were inserted again
// with other values (section V-D).
type staleLevels struct {
	*session
	elements, different int
	prepare             func()
	value               func(at int) uint32 // by the index of a key
}

func (s *session) stale() staleLevels {
	elements := batchesOf(fullLevels, s.n, s.batch) * s.batch
	again := int(s.at.Stale * float64(elements))
	different := elements - again
	pick := newOrder(different, uint64(s.o.Seed)<<11|1) // of the keys that are inserted again
	key := func(i int) uint32 { return s.keys.key(pick.at(i)) }
	prepare := func() {
		s.empty()
		s.hold(different)
		s.there = -1
		for _, p := range chunks(again, s.batch) {
			key := func(i int) uint32 { return key(p.first + i) }
			ok(s.updateOn(structures.Insert, s.assignment(p.count, key)))
			s.wait()
		}
	}
	later := make([]bool, s.n)
	for i := range again {
		later[pick.at(i)] = true
	}
	return staleLevels{s, elements, different, prepare, func(at int) uint32 {
		value := s.space.value(s.keys.key(at))
		if later[at] {
			return ^value
		}
		return value
	}}
}

// cleanup measures LSM.Cleanup.
func (s *session) cleanup() { s.add(s.stale().cleaned()) }

// cleaned measures the cleanup. It leaves the LSM clean.
func (l staleLevels) cleaned() Measurement {
	l.empty()
	table := l.structure().(interface {
		Cleanup(context.Context) error
		Inspect() lsm.Inspection
	})
	m := l.calls(l.measurement(l.elements, l.elements), l.prepare, func() { ok(table.Cleanup(l.ctx)) },
		table.Inspect().Timings, "")
	l.holds(l.different, l.value)
	return m
}

// findCleanup measures n queries before and after a cleanup, beside the time of the cleanup.
func (s *session) findCleanup() {
	l, op := s.stale(), s.op.Name
	at := func(i int) int { return s.order.at(i) % l.different }
	queries, answers := s.asked(func(i int) uint32 { return s.keys.key(at(i)) })
	find := func(name string, elements int) Measurement {
		s.op.Name = name
		q := structures.DeviceLookups{Count: s.n, Keys: queries, Values: answers, Found: s.status}
		return s.measure(s.measurement(elements, s.n), task{
			record: func() error { return s.on().Find(q) },
			check:  func() { s.checkFound(s.n, answers, func(i int) (uint32, bool) { return l.value(at(i)), true }) },
		})
	}
	l.prepare()
	before := find("find-stale", l.elements)
	s.op.Name = op
	m := l.cleaned()
	queries, answers = s.asked(func(i int) uint32 { return s.keys.key(at(i)) }) // checks have other ones
	after := find("find-cleaned", l.different)
	if before.Time() > 0 {
		m.Ratios = append(m.Ratios, Ratio{"time of find-stale, find-cleaned included",
			float64(m.Time()+after.Time()) / float64(before.Time())})
	}
	s.add(m)
}

// assignment returns a batch that assigns other values to keys.
func (s *session) assignment(count int, key func(i int) uint32) structures.DeviceBatch {
	return structures.DeviceBatch{Count: count, Keys: s.batchOf("batch keys", count, key),
		Values: s.batchOf("batch values", count, func(i int) uint32 { return ^s.space.value(key(i)) })}
}

// compact measures a compaction that fills the nodes of a tree completely.
func (s *session) compact() {
	t := s.tree()
	m := s.calls(s.measurement(s.n, s.n), func() { s.holdOf(s.keys, s.n) }, func() { ok(t.Compact(s.ctx, 1)) }, nil, "")
	s.holdsAll(s.n)
	s.there = -1
	s.add(m)
}
