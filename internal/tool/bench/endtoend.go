package bench

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
)

// mapEndToEnd measures updates and lookups of a map from Go slices to Go slices.
func mapEndToEnd[W structures.Word](s *session, ctx context.Context) error {
	if err := s.empty(ctx); err != nil {
		return err
	}
	return s.allBesideCopies(ctx, insertSlices[W](s), findSlices[W](s))
}

// treeEndToEnd measures insertion and search from Go slices to Go slices.
func treeEndToEnd[W structures.Word](s *session, ctx context.Context) error {
	t, err := s.tree(ctx)
	if err != nil {
		return err
	}
	q := newSequence(s.space, s.keys.order, s.n+s.batch)
	return s.allBesideCopies(ctx, treeInsertSlices[W](s, t, q), treeFindSlices[W](s, q))
}

// sliced is what a structure does with Go's slices.
type sliced[W structures.Word] interface {
	Insert(ctx context.Context, keys, values []W) ([]structures.Status, error)
	UpdateInto(ctx context.Context, kind structures.Kind, keys, values []W, status []structures.Status) error
	Find(ctx context.Context, keys []W) (values []W, found []bool, err error)
	FindInto(ctx context.Context, keys, values []W, found []bool) error
}

func slicedOf[W structures.Word](s *session) sliced[W] { return s.structure().(sliced[W]) }

// slicesOf are elements by their indices.
func slicesOf[W structures.Word](n int, of func(i int) uint32) []W {
	all := make([]W, n)
	fill(all, func(i int) W { return elementOf[W](of(i)) })
	return all
}

// valuesOf are the values that belong to keys.
func valuesOf[W structures.Word](s *session, keys []W) []W {
	return slicesOf[W](len(keys), func(i int) uint32 { return s.space.value(upperOf(keys[i])) })
}

// slicesCall is a call with slices, and what its bytes are.
type slicesCall struct {
	name        string
	batch       int // operations of it; 0: n
	prepare     func(context.Context) error
	fresh, kept func(context.Context) error // with results that the call makes, and into slices that are there
	check       func(context.Context) error // what the last call has given
	path        func(ctx context.Context) (string, error)
	in          [][]byte
	out         func() [][]byte // slices as those that the call makes
}

// allBesideCopies measures calls with slices, and beside them what the same bytes cost that go to a device that does
// nothing, and back (copies): into result slices made by the call, as Insert and Find make theirs (the operating system
// then hands out the pages one by one), and into slices that are there.
func (s *session) allBesideCopies(ctx context.Context, calls ...slicesCall) error {
	copies, err := newCopies(s.d)
	if err != nil {
		return err
	}
	defer copies.close()
	for _, x := range calls {
		if err := s.besideCopies(ctx, copies, x); err != nil {
			return err
		}
	}
	return nil
}

// besideCopies measures a call, and the copies of its bytes.
func (s *session) besideCopies(ctx context.Context, c *copies, x slicesCall) error {
	kept := x.out()
	base := s.measurement(s.n, s.n)
	if x.batch != 0 {
		base.Operations, base.Batch = x.batch, x.batch
	}
	for _, b := range slices.Concat(kept, x.in) {
		base.Bytes += uint64(len(b))
	}
	of := func(op string, prepare, call func(context.Context) error) (Measurement, error) {
		m := base
		m.Op = op
		return s.measureWall(ctx, m, prepare, call, nil, "")
	}
	copied := func(op string, out func() [][]byte) (Measurement, error) {
		return of(op, func(context.Context) error { return nil },
			func(ctx context.Context) error { return c.run(ctx, base.Operations, x.in, out()) })
	}
	called := func(op string, call func(context.Context) error, beside ...Measurement) (Measurement, error) {
		m, err := of(op, x.prepare, call)
		if err == nil {
			err = x.check(ctx)
		}
		if err == nil && x.path != nil {
			m.Form, err = x.path(ctx)
		}
		for _, copies := range beside {
			m.Ratios = append(m.Ratios, Ratio{"time of " + copies.Op, over(m.time(), copies.time())})
		}
		return m, err
	}
	copiesFresh, err := copied("copies-"+x.name, x.out)
	if err != nil {
		return err
	}
	fresh, err := called("end-to-end-"+x.name, x.fresh, copiesFresh)
	if err != nil {
		return err
	}
	copiesKept, err := copied("copies-"+x.name+"-kept-slices", func() [][]byte { return kept })
	if err != nil {
		return err
	}
	there, err := called("end-to-end-"+x.name+"-kept-slices", x.kept, copiesKept)
	if err != nil {
		return err
	}
	s.report.Measurements = append(s.report.Measurements, fresh, there, copiesFresh, copiesKept)
	return nil
}

// insertedAll answers whether all operations have inserted.
func (s *session) insertedAll(status []structures.Status) error {
	return each(len(status), func(i int) error {
		if status[i] != structures.Inserted {
			return s.wrong("operation %d: %v", i, status[i])
		}
		return nil
	})
}

func insertSlices[W structures.Word](s *session) slicesCall {
	keys := slicesOf[W](s.n, s.keys.key)
	values := valuesOf(s, keys)
	status := new([]structures.Status) // of the last call
	kept := make([]structures.Status, s.n)
	return slicesCall{
		name: "insert", prepare: s.empty, in: [][]byte{bytesOf(keys), bytesOf(values)},
		out: func() [][]byte { return [][]byte{make([]byte, s.n)} },
		fresh: func(ctx context.Context) (err error) {
			s.there = -1
			*status, err = slicedOf[W](s).Insert(ctx, keys, values)
			return err
		},
		kept: func(ctx context.Context) error {
			s.there, *status = -1, kept
			return slicedOf[W](s).UpdateInto(ctx, structures.Insert, keys, values, kept)
		},
		check: func(ctx context.Context) error {
			if err := s.insertedAll(*status); err != nil {
				return err
			}
			return s.holdsAll(ctx, s.n)
		},
	}
}

func findSlices[W structures.Word](s *session) slicesCall {
	return findsOf[W](s, s.query, func(ctx context.Context) error { return s.hold(ctx, s.n) })
}

// findsOf are the lookups of n queries.
func findsOf[W structures.Word](s *session, query func(i int) uint32, prepare func(context.Context) error) slicesCall {
	queries := slicesOf[W](s.n, query)
	want := valuesOf(s, queries)
	last := &struct {
		values []W
		found  []bool
	}{}
	keptValues, keptFound := make([]W, s.n), make([]bool, s.n)
	return slicesCall{
		name: "find", prepare: prepare, in: [][]byte{bytesOf(queries)},
		out: func() [][]byte { return [][]byte{bytesOf(make([]W, s.n)), make([]byte, s.n)} },
		fresh: func(ctx context.Context) (err error) {
			last.values, last.found, err = slicedOf[W](s).Find(ctx, queries)
			return err
		},
		kept: func(ctx context.Context) error {
			last.values, last.found = keptValues, keptFound
			return slicedOf[W](s).FindInto(ctx, queries, keptValues, keptFound)
		},
		check: func(context.Context) error {
			return each(s.n, func(i int) error {
				if !last.found[i] || last.values[i] != want[i] {
					return s.wrong("query %d: %d, %t", i, last.values[i], last.found[i])
				}
				return nil
			})
		},
	}
}

// treeInsertSlices tells of the insertions the path that the tree chose.
func treeInsertSlices[W structures.Word](s *session, t tree, q sequence) slicesCall {
	keys := slicesOf[W](s.batch, func(i int) uint32 { return q.key(s.n + i) })
	values := valuesOf(s, keys)
	status := new([]structures.Status) // of the last call
	kept := make([]structures.Status, s.batch)
	batched := new(uint64) // so many batches, when it was asked last
	path := func(ctx context.Context) (string, error) {
		stats, err := t.Stats(ctx)
		before := *batched
		*batched = stats.Batches.Batched
		if *batched > before {
			return btree.Batched.String(), err
		}
		return btree.Concurrent.String(), err
	}
	return slicesCall{
		name: "insert", batch: s.batch, in: [][]byte{bytesOf(keys), bytesOf(values)},
		prepare: func(ctx context.Context) error {
			err := s.holdOf(ctx, q, s.n)
			if err == nil {
				_, err = path(ctx)
			}
			return err
		},
		out: func() [][]byte { return [][]byte{make([]byte, s.batch)} },
		fresh: func(ctx context.Context) (err error) {
			*status, err = slicedOf[W](s).Insert(ctx, keys, values)
			return err
		},
		kept: func(ctx context.Context) error {
			*status = kept
			return slicedOf[W](s).UpdateInto(ctx, structures.Insert, keys, values, kept)
		},
		check: func(ctx context.Context) error {
			if err := s.insertedAll(*status); err != nil {
				return err
			}
			return s.sound(ctx, s.n+s.batch)
		},
		path: path,
	}
}

func treeFindSlices[W structures.Word](s *session, q sequence) slicesCall {
	return findsOf[W](s, func(i int) uint32 { return q.key(s.order.at(i)) }, func(context.Context) error {
		s.there = -1 // the pairs of another sequence
		return nil
	})
}

// insertBatches measures insertions of a batch from Go slices into a map, whose keys are new, or all there, or of which
// a tenth comes twice in the batch.
func insertBatches[W structures.Word](s *session, ctx context.Context) error {
	fresh := func(i int) uint32 { return s.keys.key(s.n - s.batch + i) }
	never, always := func(int) bool { return false }, func(int) bool { return true }
	tenth := func(i int) bool { return i%10 == 9 }
	for _, x := range []struct {
		name     string
		pairs    int // that are there before
		key      func(i int) uint32
		assigned func(i int) bool // what operation i does; else it inserts
		lacks    func(i int) bool // whether the key of the last batch's pair i is not there afterwards
	}{
		{"new", s.n - s.batch, fresh, never, never},
		{"there", s.n, s.keys.key, always, never},
		{"tenth-twice", s.n - s.batch, func(i int) uint32 { return fresh(i - i%10/9) }, tenth, tenth},
	} {
		keys, status := slicesOf[W](s.batch, x.key), make([]structures.Status, s.batch)
		values := valuesOf(s, keys)
		m := s.measurement(s.n, s.batch)
		m.Op, m.Batch = s.op.Name+"-"+x.name, s.batch
		m, err := s.measureWall(ctx, m, func(ctx context.Context) error {
			err := s.hold(ctx, x.pairs)
			if x.pairs != s.n {
				s.there = -1
			}
			return err
		}, func(ctx context.Context) error {
			return slicedOf[W](s).UpdateInto(ctx, structures.Insert, keys, values, status)
		}, nil, "")
		if err == nil {
			err = s.checkInserted(ctx, status, x.assigned, x.lacks)
		}
		if err := s.add(m, err); err != nil {
			return err
		}
	}
	return nil
}

// checkInserted looks at what became of a batch, which has made the map one of the n pairs but for those that it lacks.
func (s *session) checkInserted(ctx context.Context, status []structures.Status, assigned,
	lacks func(i int) bool) error {
	for i, got := range status {
		if want := assigned(i); got != structures.Assigned && want || got != structures.Inserted && !want {
			return s.wrong("operation %d: %v", i, got)
		}
	}
	there := s.n
	for i := range status {
		if lacks(i) {
			there--
		}
	}
	if err := s.sound(ctx, there); err != nil {
		return err
	}
	return s.finds(ctx, func(i int) (uint32, bool) {
		at := s.order.at(i) - (s.n - s.batch)
		return s.space.value(s.query(i)), at < 0 || !lacks(at)
	})
}
