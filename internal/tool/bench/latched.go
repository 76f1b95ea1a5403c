package bench

import (
	"github.com/vkds/vkds/internal/tool/bench/latched"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// latchedInsert measures the insertion of some parts of the pairs after others, which are not measured, into a B-tree
// of two papers whose nodes are changed under latches (section 3 of Awad et al. 2019, chapter 4 of Duong 2021). What an
// insertion leaves pending is done again, and its time counts.
func (s *session) latchedInsert(q sequence, before, parts []part) {
	s.opened()
	last := parts[len(parts)-1]
	total := last.first + last.count
	m := s.measurement(s.n, total)
	if before != nil {
		m.Operations = s.batch
	}
	for _, p := range parts {
		m.Batch = max(m.Batch, p.count)
	}
	value := func(i int) uint32 { return s.space.value(q.key(i)) }
	b := latched.Batch{Left: s.left, Keys: s.words("latched keys", total, q.key),
		Values: s.words("latched values", total, value), Status: must(vk.NewBuffer[uint8](s.d, (total+3)&^3))}
	defer b.Status.Free()
	defer s.ending()
	m = s.calls(m, func() {
		s.empty()
		s.there = -1
		s.insertLatched(b, before)
		s.heat()
	}, func() { s.insertLatched(b, parts) }, s.stream.Timings, s.op.Name)
	s.sound(total)
	status := make([]uint8, total)
	ok(b.Status.Download(s.ctx, 0, status))
	for i, got := range status {
		if structures.Status(got) != structures.Inserted {
			ok(s.wrong("operation %d: %v", i, structures.Status(got)))
		}
	}
	answers := s.room("latched answers", total)
	ok(s.on().Find(structures.DeviceLookups{Count: total, Keys: b.Keys, Values: answers,
		Found: b.Status}))
	s.wait()
	s.checkWords("value of pair", answers, total, value)
	s.add(m)
}

// insertLatched inserts parts of the pairs, one after the other, and then what that left pending, again and again.
func (s *session) insertLatched(b latched.Batch, parts []part) {
	const passes = 1000
	for pass := range passes {
		s.stream.Fill(s.left, 0, 4, 0)
		s.stream.Timed(s.op.Name, func() {
			for _, p := range parts {
				b.First, b.Count = p.first, p.count
				s.dictionary.(latchedTable).InsertOn(s.stream, b, pass > 0)
			}
		})
		s.wait()
		if s.download(s.left, 1)[0] == 0 {
			return
		}
	}
	ok(s.wrong("operations are pending after %d dispatches", passes))
}
