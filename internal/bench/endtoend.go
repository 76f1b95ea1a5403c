package bench

import (
	"context"
	"slices"

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
	copies, err := newCopies(s.d)
	if err != nil {
		return err
	}
	defer copies.close()
	for _, x := range []slicesCall{s.insertSlices(), s.findSlices()} {
		if err := s.besideCopies(ctx, copies, x); err != nil {
			return err
		}
	}
	return nil
}

// slicesCall is a call with slices, and what its bytes are.
type slicesCall struct {
	name          string
	prepare, call func(context.Context) error
	check         func() error
	in            [][]byte
	out           func() [][]byte // slices as those that the call makes
}

func (s *session) insertSlices() slicesCall {
	keys, values := make([]uint32, s.n), make([]uint32, s.n)
	fill(keys, s.keys.key)
	fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
	var status []structures.Status
	return slicesCall{
		name: "insert", prepare: s.empty, in: [][]byte{bytesOf(keys), bytesOf(values)},
		out: func() [][]byte { return [][]byte{make([]byte, s.n)} },
		call: func(ctx context.Context) (err error) {
			s.there = -1
			status, err = s.hash().Insert(ctx, keys, values)
			return err
		},
		check: func() error {
			return each(s.n, func(i int) error {
				if status[i] != structures.Inserted {
					return s.wrong("operation %d: %v", i, status[i])
				}
				return nil
			})
		},
	}
}

func (s *session) findSlices() slicesCall {
	queries := make([]uint32, s.n)
	fill(queries, s.query)
	var values []uint32
	var found []bool
	return slicesCall{
		name: "find", prepare: func(ctx context.Context) error { return s.hold(ctx, s.n) }, in: [][]byte{bytesOf(queries)},
		out: func() [][]byte { return [][]byte{bytesOf(make([]uint32, s.n)), make([]byte, s.n)} },
		call: func(ctx context.Context) (err error) {
			values, found, err = s.hash().Find(ctx, queries)
			return err
		},
		check: func() error {
			return each(s.n, func(i int) error {
				if !found[i] || values[i] != s.space.value(queries[i]) {
					return s.wrong("query %d: %d, %t", i, values[i], found[i])
				}
				return nil
			})
		},
	}
}

// besideCopies measures a call, and the copies of its bytes.
func (s *session) besideCopies(ctx context.Context, c *copies, x slicesCall) error {
	bytes := 0
	kept := x.out()
	for _, b := range slices.Concat(kept, x.in) {
		bytes += len(b)
	}
	of := func(op string, prepare, call func(context.Context) error) (Measurement, error) {
		m := s.measurement(s.n, s.n)
		m.Op, m.Bytes = op, uint64(bytes)
		return s.measureWall(ctx, m, prepare, call, nil, "")
	}
	nothing := func(context.Context) error { return nil }
	fresh, err := of("copies-"+x.name, nothing, func(ctx context.Context) error { return c.run(ctx, s.n, x.in, x.out()) })
	if err != nil {
		return err
	}
	there, err := of("copies-"+x.name+"-kept-slices", nothing, func(ctx context.Context) error { return c.run(ctx, s.n, x.in, kept) })
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
	for _, copies := range []Measurement{fresh, there} {
		whole.Ratios = append(whole.Ratios, Ratio{"time of " + copies.Op, float64(whole.time()) / float64(copies.time())})
	}
	s.report.Measurements = append(s.report.Measurements, whole, fresh, there)
	return nil
}

// treeEndToEnd measures insertion and search from Go slices to Go slices.
func (s *session) treeEndToEnd(ctx context.Context) error {
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	if err := s.treeInsertSlices(ctx, q); err != nil {
		return err
	}
	return s.treeFindSlices(ctx, q)
}

// treeInsertSlices tells of the insertions the path that the tree chose.
func (s *session) treeInsertSlices(ctx context.Context, q sequence) error {
	t, err := s.tree(ctx)
	if err != nil {
		return err
	}
	keys, values := make([]uint32, s.batch), make([]uint32, s.batch)
	fill(keys, func(i int) uint32 { return q.key(s.n + i) })
	fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
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
			return s.wrong("operation %d: %v", i, x)
		}
	}
	return s.add(m, s.sound(ctx, s.n+s.batch))
}

func (s *session) treeFindSlices(ctx context.Context, q sequence) error {
	queries := make([]uint32, s.n)
	fill(queries, func(i int) uint32 { return q.key(s.order.at(i)) })
	s.there = -1
	m := s.measurement(s.n, s.n)
	m.Op = "end-to-end-find"
	var found []uint32
	m, err := s.measureWall(ctx, m, func(context.Context) error { return nil },
		func(ctx context.Context) (err error) {
			found, _, err = s.dictionary.(treeTable).Find(ctx, queries)
			return err
		}, nil, "")
	if err != nil {
		return err
	}
	return s.add(m, each(s.n, func(i int) error {
		if want := s.space.value(queries[i]); found[i] != want {
			return s.wrong("query %d: value %d instead of %d", i, found[i], want)
		}
		return nil
	}))
}
