package bench

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

// change is a batch of updates of one kind on a structure of the first n pairs of a sequence.
type change struct {
	kind   structures.Kind
	status structures.Status // that each operation has
	on     sequence
	count  int
	key    func(i int) uint32                  // of operation i
	after  func(key uint32) (v uint32, _ bool) // the value that a key of the batch then has, and whether it is there
	pairs  int                                 // there afterwards
	again  bool                                // it leaves the structure fit for the next run
}

// assignAll assigns other values than those that are there, to all keys of a hash table.
func (s *session) assignAll(ctx context.Context) error {
	return s.change(ctx, change{
		kind: structures.Insert, status: structures.Assigned, on: s.keys, count: s.n,
		key: s.query, after: s.otherValue, pairs: s.n, again: true,
	})
}

func (s *session) deleteAll(ctx context.Context) error {
	return s.change(ctx, change{
		kind: structures.Delete, status: structures.Deleted, on: s.keys, count: s.n, key: s.query, after: gone,
	})
}

// insertBatch inserts the pairs that come next in the sequence: of an ascending one keys above all that are there.
func (s *session) insertBatch(ctx context.Context) error {
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	return s.change(ctx, change{
		kind: structures.Insert, status: structures.Inserted, on: q, count: s.batch,
		key:   func(i int) uint32 { return q.key(s.n + i) },
		after: func(key uint32) (uint32, bool) { return s.space.value(key), true },
		pairs: s.n + s.batch,
	})
}

func (s *session) assignBatch(ctx context.Context) error {
	return s.change(ctx, change{
		kind: structures.Insert, status: structures.Assigned, on: s.keys, count: s.batch,
		key: s.present, after: s.otherValue, pairs: s.n,
	})
}

func (s *session) deleteBatch(ctx context.Context) error {
	return s.change(ctx, change{
		kind: structures.Delete, status: structures.Deleted, on: s.keys, count: s.batch,
		key: s.present, after: gone, pairs: s.n - s.batch,
	})
}

// present is a key that is there: any of them in turn if they are random, else one after the other.
func (s *session) present(i int) uint32 {
	if s.keys.order == Random {
		i = s.order.at(i)
	}
	return s.keys.key(i)
}

func (s *session) otherValue(key uint32) (uint32, bool) { return ^s.space.value(key), true }

func gone(uint32) (uint32, bool) { return 0, false }

// change measures a batch of updates, on each path that a tree's may take.
func (s *session) change(ctx context.Context, c change) error {
	b := structures.DeviceBatch{Count: c.count}
	var err error
	if b.Keys, err = s.batchOf(ctx, "batch keys", c.count, c.key); err != nil {
		return err
	}
	if c.kind != structures.Delete {
		value := func(i int) uint32 { v, _ := c.after(c.key(i)); return v }
		if b.Values, err = s.batchOf(ctx, "batch values", c.count, value); err != nil {
			return err
		}
	}
	prepare := func(ctx context.Context) error { return s.holdOf(ctx, c.on, s.n) }
	if err := prepare(ctx); err != nil { // for the utilisation
		return err
	}
	if c.again {
		prepare = nil
	}
	return s.eachPath(c.count, func(path btree.Path, m Measurement) error {
		if s.has("batch") {
			m.Batch = c.count
		}
		defer func() { s.there = -1 }()
		return s.add(s.measure(ctx, task{
			Measurement: m, pending: path != btree.Batched,
			prepare: prepare,
			record:  func() error { return s.update(ctx, path, c.kind, b) },
			check: func(ctx context.Context) error {
				return s.checkChange(ctx, c, b, path != btree.Batched || s.options.Statuses)
			},
		}))
	})
}

// eachPath does something once for each way that updates may take. Hash tables have but one.
func (s *session) eachPath(operations int, do func(path btree.Path, m Measurement) error) error {
	for _, path := range s.options.Paths {
		m := s.measurement(s.n, operations)
		if path != btree.AutoPath {
			m.Form = path.String()
		}
		if path == btree.Batched && s.options.Statuses {
			m.Form += " with statuses"
		}
		if err := do(path, m); err != nil {
			return err
		}
	}
	return nil
}

// update records a batch of updates of one kind on one of the ways there are.
func (s *session) update(ctx context.Context, path btree.Path, kind structures.Kind, b structures.DeviceBatch) error {
	if path == btree.Batched {
		if s.options.Statuses {
			b.Status = s.status
		}
		return s.dictionary.(treeTable).On(s.stream).Update(ctx, kind, b)
	}
	return s.dictionary.(concurrent).ApplyOn(s.stream, kind,
		structures.DeviceBatch{Count: b.Count, Keys: b.Keys, Values: b.Values, Status: s.status, Left: s.left,
			Alone: true})
}

// checkChange looks at what came of a batch of updates.
func (s *session) checkChange(ctx context.Context, c change, b structures.DeviceBatch, statuses bool) error {
	if statuses {
		if err := s.allAre(ctx, c.count, c.status); err != nil {
			return err
		}
	}
	if err := s.sound(ctx, c.pairs); err != nil {
		return err
	}
	answers, err := s.roomFor("answers", s.n)
	if err != nil {
		return err
	}
	l := structures.DeviceLookups{Count: c.count, Keys: b.Keys, Values: answers, Found: s.status}
	if err := s.dictionary.FindOn(s.stream, l); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	return s.found(ctx, c.count, answers, func(i int) (uint32, bool) { return c.after(c.key(i)) })
}
