package bench

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

// mapEndToEnd measures Map.Insert and Map.Find from Go slices to Go slices, and beside them what the same bytes cost
// that go to a device that does nothing, and back (copies): into result slices made by the call, as Insert
// and Find make theirs (the operating system then hands out the pages one by one), and into slices that are there.
func (s *session) mapEndToEnd(ctx context.Context) error {
	if err := s.empty(ctx); err != nil {
		return err
	}
	keys, queries, values := make([]uint32, s.n), make([]uint32, s.n), make([]uint32, s.n)
	fill(keys, s.keys.key)
	fill(queries, s.query)
	fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
	m := s.hash()
	copies, err := newCopies(s.d)
	if err != nil {
		return err
	}
	defer copies.close()
	nothing := func(context.Context) error { return nil }

	statuses, found, answers := make([]uint8, s.n), make([]uint8, s.n), make([]uint32, s.n)
	copyInsert := func(ctx context.Context, statuses []uint8) error {
		return copies.run(ctx, s.n, [][]byte{bytesOf(keys), bytesOf(values)}, [][]byte{statuses})
	}
	copyFind := func(ctx context.Context, answers []uint32, found []uint8) error {
		return copies.run(ctx, s.n, [][]byte{bytesOf(queries)}, [][]byte{bytesOf(answers), found})
	}

	var inserted []structures.Status
	insert := func(ctx context.Context) (err error) {
		inserted, err = m.Insert(ctx, keys, values)
		return err
	}
	checkInserted := func() error {
		for i, status := range inserted {
			if status != structures.Inserted {
				return &WrongError{"end-to-end-insert", fmt.Sprintf("operation %d: %v", i, status)}
			}
		}
		return nil
	}
	var got []uint32
	var there []bool
	find := func(ctx context.Context) (err error) {
		got, there, err = m.Find(ctx, queries)
		return err
	}

	for _, x := range []struct {
		name              string
		prepare           func(context.Context) error
		call, fresh, kept func(context.Context) error
		check             func() error
		bytes             int
	}{
		{"insert", s.empty, insert,
			func(ctx context.Context) error { return copyInsert(ctx, make([]uint8, s.n)) },
			func(ctx context.Context) error { return copyInsert(ctx, statuses) },
			checkInserted, 9},
		{"find", func(ctx context.Context) error { return s.hold(ctx, s.n) }, find,
			func(ctx context.Context) error { return copyFind(ctx, make([]uint32, s.n), make([]uint8, s.n)) },
			func(ctx context.Context) error { return copyFind(ctx, answers, found) },
			func() error {
				for i, key := range queries {
					if !there[i] || got[i] != s.space.value(key) {
						return &WrongError{"end-to-end-find", fmt.Sprintf("query %d: %d, %t", i, got[i], there[i])}
					}
				}
				return nil
			}, 9},
	} {
		of := func(op string, prepare, call func(context.Context) error) (Measurement, error) {
			m := s.measurement(s.n, s.n)
			m.Op, m.Bytes = op, uint64(x.bytes*s.n)
			return s.measureWall(ctx, m, prepare, call, nil, "")
		}
		fresh, err := of("copies-"+x.name, nothing, x.fresh)
		if err != nil {
			return err
		}
		kept, err := of("copies-"+x.name+"-kept-slices", nothing, x.kept)
		if err != nil {
			return err
		}
		whole, err := of("end-to-end-"+x.name, x.prepare, x.call)
		if err == nil {
			err = x.check()
		}
		if err != nil {
			return err
		}
		for _, copies := range []Measurement{fresh, kept} {
			whole.Ratios = append(whole.Ratios, Ratio{"time of " + copies.Op, float64(whole.time()) / float64(copies.time())})
		}
		s.report.Measurements = append(s.report.Measurements, whole, fresh, kept)
	}
	return nil
}

// treeEndToEnd measures insertion and search from Go slices to Go slices. Of the insertions it tells the path that the tree
// chose.
func (s *session) treeEndToEnd(ctx context.Context) error {
	t, err := s.tree(ctx)
	if err != nil {
		return err
	}
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	keys, values, queries := make([]uint32, s.batch), make([]uint32, s.batch), make([]uint32, s.n)
	fill(keys, func(i int) uint32 { return q.key(s.n + i) })
	fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
	fill(queries, func(i int) uint32 { return q.key(s.order.at(i)) })
	before, err := t.Stats(ctx)
	if err != nil {
		return err
	}
	m := s.measurement(s.n, s.batch)
	m.Op, m.Batch = "end-to-end-insert", s.batch
	var status []structures.Status
	m, err = s.measureWall(ctx, m, func(ctx context.Context) error { return s.holdOf(ctx, q, s.n) },
		func(ctx context.Context) (err error) { status, err = t.Insert(ctx, keys, values); return err }, nil, "")
	if err != nil {
		return err
	}
	after, err := t.Stats(ctx)
	if err != nil {
		return err
	}
	m.Form = btree.Concurrent.String()
	if after.Batches.Batched > before.Batches.Batched {
		m.Form = btree.Batched.String()
	}
	for i, x := range status {
		if x != structures.Inserted {
			return &WrongError{m.Op, fmt.Sprintf("operation %d: %v", i, x)}
		}
	}
	if err := s.add(m, s.sound(ctx, s.n+s.batch)); err != nil {
		return err
	}
	var found []uint32
	s.there = -1
	m = s.measurement(s.n, s.n)
	m.Op = "end-to-end-find"
	m, err = s.measureWall(ctx, m, func(context.Context) error { return nil },
		func(ctx context.Context) (err error) { found, _, err = t.Find(ctx, queries); return err }, nil, "")
	if err != nil {
		return err
	}
	for i, value := range found {
		if want := s.space.value(queries[i]); value != want {
			return &WrongError{m.Op, fmt.Sprintf("query %d: value %d instead of %d", i, value, want)}
		}
	}
	return s.add(m, nil)
}
