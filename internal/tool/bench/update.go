package bench

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// insertion measures one batch of all n pairs into an empty hash table.
func insertion(kind structures.Kind) func(*session) {
	return func(s *session) {
		keys, values := s.all(s.keys)
		b := structures.DeviceBatch{Count: s.n, Keys: keys, Values: values, Status: s.status, Left: s.left}
		s.there = -1
		s.measure(s.measurement(s.n, s.n), task{
			pending: true,
			prepare: s.empty,
			record:  func() error { return s.apply(kind, b) },
			check: func() {
				s.allAre(s.n, structures.Inserted)
				s.holdsAll(s.n)
			},
		})
		s.there = -1
	}
}

// bulkBuild measures the bulk build of a tree of all pairs.
func (s *session) bulkBuild() {
	t := s.tree()
	keys, values := s.all(s.keys)
	s.there = -1
	b := structures.DeviceBatch{Count: s.n, Keys: keys, Values: values}
	s.measure(s.measurement(s.n, s.n), task{
		record: func() error { return t.On(s.stream).Build(s.ctx, b) },
		check:  func() { s.holdsAll(s.n) },
	})
}

// bulkInsert measures one batch of all pairs into an empty LSM, which is one sort.
func (s *session) bulkInsert() {
	keys, values := s.all(s.keys)
	b := structures.DeviceBatch{Count: s.n, Keys: keys, Values: values}
	s.measure(s.measurement(s.n, s.n), task{
		prepare: s.empty,
		record:  func() error { return s.updateOn(structures.Insert, b) },
		check:   func() { s.holdsAll(s.n) },
	})
	s.there = -1
}

// part is a range of pairs.
type part struct{ first, count int }

// doubling divides n pairs into batches. The first ones are small, and each is as large as all before, up to largest.
func doubling(n, largest int) (parts []part) {
	const smallest = 1 << 10
	for first := 0; first < n; {
		p := part{first, min(n-first, largest, max(smallest, first))}
		parts = append(parts, p)
		first += p.count
	}
	return parts
}

// chunks divides n pairs into batches of one size.
func chunks(n, size int) (parts []part) {
	for first := 0; first < n; first += size {
		parts = append(parts, part{first, min(n-first, size)})
	}
	return parts
}

// insertFromEmpty inserts all pairs into an empty tree. A concurrent batch larger than the tree would have too many
// operations for each leaf. So batches begin small and double with the tree, as those from Go slices do.
func (s *session) insertFromEmpty() {
	m := s.measurement(s.n, s.n)
	m.Batch = s.at.Batch // the setting's, so that all sizes are on one curve
	parts := s.treeBatches()
	s.measure(m, task{
		pending: s.at.Path != btree.Batched,
		prepare: s.empty,
		record: func() error {
			for _, b := range parts {
				if err := s.update(structures.Insert, b); err != nil {
					return err
				}
			}
			return nil
		},
		check: func() { s.holdsAll(s.n) },
	})
	s.there = -1
}

// treeBatches returns the batches of insertFromEmpty. A concurrent one has buffers of its own.
func (s *session) treeBatches() (all []structures.DeviceBatch) {
	keys, values := s.all(s.keys)
	if s.at.Path == btree.Batched {
		for _, p := range chunks(s.n, s.batch) {
			all = append(all, structures.DeviceBatch{Count: p.count, First: p.first, Keys: keys, Values: values})
		}
		return all
	}
	for i, p := range doubling(s.n, s.batch) {
		b := structures.DeviceBatch{Count: p.count, Keys: s.roomFor(fmt.Sprintf("part %d keys", i), p.count),
			Values: s.roomFor(fmt.Sprintf("part %d values", i), p.count)}
		s.stream.Copy(b.Keys, 0, keys, p.first<<s.width, p.count<<s.width)
		s.stream.Copy(b.Values, 0, values, p.first<<s.width, p.count<<s.width)
		all = append(all, b)
	}
	s.wait()
	return all
}

// update records a batch of updates of one kind, on the setting's path.
func (s *session) update(kind structures.Kind, b structures.DeviceBatch) error {
	if s.at.Path == btree.Batched {
		return s.updateOn(kind, b)
	}
	return s.apply(kind,
		structures.DeviceBatch{Count: b.Count, Keys: b.Keys, Values: b.Values, Status: s.status, Left: s.left,
			Alone: true})
}

// eachBatch divides a range of a sequence into batches, and calls do with each, in buffers of the batch's size.
func (s *session) eachBatch(q sequence, from, upTo int, do func(structures.DeviceBatch)) {
	keys, values := s.all(q)
	b := structures.DeviceBatch{Keys: s.roomFor("batch keys", s.batch), Values: s.roomFor("batch values", s.batch)}
	for _, p := range chunks(upTo-from, s.batch) {
		b.Count = p.count
		s.stream.Copy(b.Keys, 0, keys, (from+p.first)<<s.width, p.count<<s.width)
		s.stream.Copy(b.Values, 0, values, (from+p.first)<<s.width, p.count<<s.width)
		do(b)
	}
}

// insertRuns measures the insertion of all n pairs into an empty structure, batch by batch: section V-B of the GPU
// LSM's paper. An insertion into a sorted array waits for the device, so only the host can time it.
func (s *session) insertRuns() {
	first := true
	run := func() (device, wall []time.Duration) {
		s.empty()
		s.eachBatch(s.keys, 0, s.n, func(b structures.DeviceBatch) {
			s.wait() // for the copies, which are not measured
			w, d := s.timed(func() error {
				return s.updateOn(structures.Insert, b)
			})
			wall = append(wall, w)
			if d != nil && s.Name == "lsm" {
				device = append(device, *d)
			}
		})
		s.there = s.n
		if first {
			s.holdsAll(s.n)
			first = false
		}
		return device, wall
	}
	m := s.measurement(s.n, s.n)
	m.Batch = s.batch
	m = s.series(m, run)
	s.holdsAll(s.n)
	s.add(m)
}

// change is a batch of updates of one kind, on a structure of the first n pairs of a sequence.
type change struct {
	kind   structures.Kind
	status structures.Status // the status of each operation
	on     sequence
	count  int
	key    func(i int) uint32                  // the key of operation i
	after  func(key uint32) (v uint32, _ bool) // after the batch: the value of one of its keys, if that is there
	pairs  int                                 // the number of pairs after the batch
	again  bool                                // the next run needs no preparation
}

// assignAll assigns new values to all keys of a hash table.
func (s *session) assignAll() {
	s.change(change{structures.Insert, structures.Assigned, s.keys, s.n, s.query, s.otherValue, s.n, true})
}

func (s *session) deleteAll() {
	s.change(change{structures.Delete, structures.Deleted, s.keys, s.n, s.query, gone, 0, false})
}

// insertBatch inserts the next pairs of the sequence. In an ascending one, they are greater than all keys that are
// there.
func (s *session) insertBatch() {
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	s.change(change{structures.Insert, structures.Inserted, q, s.batch, func(i int) uint32 { return q.key(s.n + i) },
		func(key uint32) (uint32, bool) { return s.space.value(key), true }, s.n + s.batch, false})
}

func (s *session) assignBatch() {
	s.change(change{structures.Insert, structures.Assigned, s.keys, s.batch, s.present, s.otherValue, s.n, false})
}

func (s *session) deleteBatch() {
	s.change(change{structures.Delete, structures.Deleted, s.keys, s.batch, s.present, gone, s.n - s.batch, false})
}

// present returns a key that is there. If keys are random, it is any of them; otherwise it is key i.
func (s *session) present(i int) uint32 {
	if s.keys.order == random {
		i = s.order.at(i)
	}
	return s.keys.key(i)
}

func (s *session) otherValue(key uint32) (uint32, bool) { return ^s.space.value(key), true }

func gone(uint32) (uint32, bool) { return 0, false }

// change measures a batch of updates.
func (s *session) change(c change) {
	b := structures.DeviceBatch{Count: c.count, Keys: s.batchOf("batch keys", c.count, c.key)}
	if c.kind != structures.Delete {
		b.Values = s.batchOf("batch values", c.count, func(i int) uint32 { v, _ := c.after(c.key(i)); return v })
	}
	prepare := func() { s.holdOf(c.on, s.n) }
	if c.again {
		prepare()
		prepare = nil
	}
	m := s.measurement(s.n, c.count)
	if s.op.Has("batch") {
		m.Batch = c.count
	}
	s.there = -1
	s.measure(m, task{
		pending: s.at.Path != btree.Batched,
		prepare: prepare,
		record:  func() error { return s.update(c.kind, b) },
		check: func() {
			if s.at.Path != btree.Batched {
				s.allAre(c.count, c.status)
			}
			s.sound(c.pairs)
			s.found(c.count, b.Keys, s.roomFor("answers", s.n), func(i int) (uint32, bool) { return c.after(c.key(i)) })
		},
	})
	s.there = -1
}

// skew gives each of n places the number of a key: 0 for a share of the places, and each other number once.
type skew struct {
	places order
	hot    int // places with number 0
}

func newSkew(s *session) skew {
	return skew{newOrder(s.n, 0x736b6577), max(1, int(s.at.Share*float64(s.n)+0.5))}
}

func (k skew) number(i int) int { return max(0, k.places.at(i)-k.hot+1) }

// addSkewed measures additions to an empty hash table with n pairs, of which one key has a share. The value at place i
// is i+1; at 64 bits, both words are i+1, so that sums carry from one to the other.
func (s *session) addSkewed() {
	r := newSkew(s)
	b := structures.DeviceBatch{Count: s.n, Status: s.status, Left: s.left,
		Keys:   s.batchOf("batch keys", s.n, func(i int) uint32 { return s.space.key(r.number(i)) }),
		Values: s.words("batch values", s.n<<s.width, func(i int) uint32 { return uint32(i>>s.width + 1) })}
	s.empty()
	s.measure(s.measurement(s.n, s.n), task{
		pending: true,
		prepare: s.empty,
		record:  func() error { return s.apply(structures.InsertAdd, b) },
		check:   func() { s.checkSkewed(r, b.Keys) },
	})
	s.there = -1
}

// checkSkewed checks that each key was inserted once, and has the sum of all operations on it.
func (s *session) checkSkewed(r skew, queries *vk.Buffer[uint32]) {
	ok(s.status.Download(s.ctx, 0, s.bytes)) // before the lookups overwrite it
	keys := make([]struct{ sum, inserted atomic.Uint64 }, s.n)
	each(s.n, func(i int) {
		k := &keys[r.number(i)]
		k.sum.Add(uint64(i + 1))
		switch status := structures.Status(s.bytes[i]); status {
		case structures.Inserted:
			k.inserted.Add(1)
		case structures.Assigned:
		default:
			s.fail("operation %d: %v", i, status)
		}
	})
	answers := s.roomFor("answers", s.n)
	ok(s.on().Find(structures.DeviceLookups{Count: s.n, Keys: queries, Values: answers, Found: s.status}))
	s.wait()
	got, doubled := s.downloadNumbers(answers, s.n), uint64(1)
	if s.width == structures.Bits64 {
		doubled |= 1 << 32 // both words have the number
	}
	each(s.n, func(i int) {
		k := &keys[r.number(i)]
		if n := k.inserted.Load(); n != 1 {
			s.fail("operation %d: the key was inserted %d times", i, n)
		}
		if want := got.modulo(k.sum.Load() * doubled); got.at(i) != want {
			s.fail("operation %d: value %d instead of %d", i, got.at(i), want)
		}
	})
}
