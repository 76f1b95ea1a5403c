package bench

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/vk"
)

// session is a table at one setting, and the operations measured on it.
type session struct {
	*workload
	options Options
	report  *Report
	load    float64
	tile    int

	pool    *alloc.SlabPool
	m       *slabhash.Map
	built   bool    // m holds the n pairs and nothing else was done to it since Clear
	utility float64 // memory utilisation with the n pairs in; 0: not measured yet
}

// run does the operations asked for.
func (s *session) run(ctx context.Context, steps *walk) error {
	defer s.close()
	return ops.measure(ctx, s, s.options.Ops, s.n, steps)
}

func (s *session) close() {
	s.stream.Wait(context.Background())
	if s.m != nil {
		s.m.Close()
	}
	if s.pool != nil {
		s.pool.Close()
	}
}

func (s *session) table(ctx context.Context) (*slabhash.Map, error) {
	if s.m != nil {
		return s.m, nil
	}
	// Room for all that any operation here comes to: the mixes insert half as many pairs again, and a rehash has
	// two tables at a time. No dispatch may meet a full pool.
	buckets := bucketsFor(s.n, s.load, pairSlots)
	slabs := float64(buckets) * (expectedSlabs(1.5*s.load, pairSlots) - 1)
	if slices.Contains(s.options.Ops, "rehash-half") {
		slabs += float64(buckets) / 2 * (expectedSlabs(2*s.load, pairSlots) - 1)
	}
	if slices.Contains(s.options.Ops, "rehash-double") {
		slabs += float64(buckets) * 2 * (expectedSlabs(s.load/2, pairSlots) - 1)
	}
	var err error
	blocks := int(math.Ceil(1.25*slabs/alloc.BlockSlabs)) + 16
	if s.pool, err = alloc.NewSlabPool(ctx, s.d, alloc.PoolOptions{Blocks: blocks}); err != nil {
		return nil, err
	}
	s.m, err = slabhash.New(ctx, s.d, slabhash.Options{Buckets: buckets, Load: s.load, MaxLoad: -1, Pool: s.pool, Tile: s.tile, Seed: s.o.Seed, Timed: true})
	return s.m, err
}

func (s *session) measurement(op string, operations int) Measurement {
	return Measurement{Structure: "slabhash", Op: op, N: s.n, Load: s.load, Utilization: s.utility, Tile: s.tile, Operations: operations}
}

func (s *session) add(m Measurement, err error) error {
	if err == nil {
		s.report.Measurements = append(s.report.Measurements, m)
	}
	return err
}

// batch is n operations on given buffers.
func (s *session) batch(keys, values *vk.Buffer[uint32]) slabhash.DeviceBatch {
	return slabhash.DeviceBatch{Count: s.n, Keys: keys, Values: values, Status: s.status, Left: s.left}
}

// empty makes the map an empty one.
func (s *session) empty(ctx context.Context) error {
	m, err := s.table(ctx)
	if err != nil {
		return err
	}
	s.built = false
	return m.Clear(ctx)
}

// full makes the map one of the n pairs, and nothing else.
func (s *session) full(ctx context.Context) error {
	if s.built {
		return nil
	}
	if err := s.empty(ctx); err != nil {
		return err
	}
	keys, values, err := s.pairs(ctx)
	if err != nil {
		return err
	}
	b := s.batch(keys, values)
	if err := s.m.ApplyOn(s.stream, structures.Insert, b); err != nil {
		return err
	}
	if err := s.m.Finish(ctx, s.stream, structures.Insert, b); err != nil {
		return err
	}
	s.built = true
	if s.utility == 0 {
		stats, err := s.m.Stats(ctx)
		if err != nil {
			return err
		}
		if stats.Pairs != uint64(s.n) {
			return &WrongError{"build", fmt.Sprintf("%d pairs in the map instead of %d", stats.Pairs, s.n)}
		}
		s.utility = stats.Utilization
	}
	return nil
}

// anew is full, but for operations that change the map.
func (s *session) anew(ctx context.Context) error {
	err := s.full(ctx)
	s.built = false
	return err
}

func (s *session) build(ctx context.Context) error {
	return s.insertion(ctx, "build", structures.Insert)
}

func (s *session) buildDuplicates(ctx context.Context) error {
	return s.insertion(ctx, "build-duplicates", structures.InsertDuplicate)
}

func (s *session) insertion(ctx context.Context, op string, kind structures.Kind) error {
	if err := s.full(ctx); err != nil { // for the utilisation
		return err
	}
	keys, values, err := s.pairs(ctx)
	if err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(op, s.n), pending: true,
		prepare: s.empty,
		record:  func() error { return s.m.ApplyOn(s.stream, kind, s.batch(keys, values)) },
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, op, s.n, func(int) structures.Status { return structures.Inserted }); err != nil {
				return err
			}
			return s.holdsAll(ctx, op)
		},
	}))
}

// holdsAll checks that the map holds the n pairs, by searching for them.
func (s *session) holdsAll(ctx context.Context, op string) error {
	queries, answers, err := s.queries(ctx)
	if err != nil {
		return err
	}
	if err := s.find(queries, answers); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	return s.allFound(ctx, op, answers)
}

func (s *session) find(queries, answers *vk.Buffer[uint32]) error {
	return s.m.FindOn(s.stream, slabhash.DeviceQueries{Count: s.n, Keys: queries, Values: answers, Found: s.status})
}

func (s *session) allFound(ctx context.Context, op string, answers *vk.Buffer[uint32]) error {
	if err := s.checkFound(ctx, op, func(int) bool { return true }); err != nil {
		return err
	}
	return s.checkValues(ctx, op, answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), true })
}

// queries are the buffers of the n keys in another order, and of room for answers.
func (s *session) queries(ctx context.Context) (queries, answers *vk.Buffer[uint32], err error) {
	if queries, err = s.filled(ctx, "queries", s.query); err == nil {
		answers, err = s.buffer("answers")
	}
	return queries, answers, err
}

func (s *session) findAll(ctx context.Context) error {
	queries, answers, err := s.queries(ctx)
	if err == nil {
		err = s.full(ctx)
	}
	if err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("find-all", s.n),
		record:      func() error { return s.find(queries, answers) },
		check:       func(ctx context.Context) error { return s.allFound(ctx, "find-all", answers) },
	}))
}

func (s *session) findNone(ctx context.Context) error {
	_, answers, err := s.queries(ctx)
	if err == nil {
		err = s.full(ctx)
	}
	if err != nil {
		return err
	}
	absent, err := s.filled(ctx, "absent", s.absent)
	if err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("find-none", s.n),
		record:      func() error { return s.find(absent, answers) },
		check: func(ctx context.Context) error {
			if err := s.checkFound(ctx, "find-none", func(int) bool { return false }); err != nil {
				return err
			}
			return s.checkValues(ctx, "find-none", answers, func(int) (uint32, bool) { return 0, true })
		},
	}))
}

func (s *session) findBeside(ctx context.Context) error {
	queries, answers, err := s.queries(ctx)
	if err == nil {
		err = s.full(ctx)
	}
	if err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("find-beside", s.n), pending: true,
		record: func() error { return s.m.ApplyOn(s.stream, structures.Find, s.batch(queries, answers)) },
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, "find-beside", s.n, func(int) structures.Status { return structures.Found }); err != nil {
				return err
			}
			return s.checkValues(ctx, "find-beside", answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), true })
		},
	}))
}

// replace assigns other values than those that are there.
func (s *session) replace(ctx context.Context) error {
	queries, answers, err := s.queries(ctx)
	if err == nil {
		err = s.anew(ctx)
	}
	if err != nil {
		return err
	}
	values, err := s.buffer("batch values")
	if err != nil {
		return err
	}
	if err := s.refill(ctx, values, func(i int) uint32 { return ^s.space.value(s.query(i)) }); err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("replace", s.n), pending: true,
		record: func() error { return s.m.ApplyOn(s.stream, structures.Insert, s.batch(queries, values)) },
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, "replace", s.n, func(int) structures.Status { return structures.Assigned }); err != nil {
				return err
			}
			if err := s.find(queries, answers); err != nil {
				return err
			}
			if err := s.stream.Wait(ctx); err != nil {
				return err
			}
			return s.checkValues(ctx, "replace", answers, func(i int) (uint32, bool) { return ^s.space.value(s.query(i)), true })
		},
	}))
}

func (s *session) delete(ctx context.Context) error {
	queries, _, err := s.queries(ctx)
	if err != nil {
		return err
	}
	if err := s.full(ctx); err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("delete", s.n), pending: true,
		prepare: s.anew,
		record:  func() error { return s.m.ApplyOn(s.stream, structures.Delete, s.batch(queries, nil)) },
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, "delete", s.n, func(int) structures.Status { return structures.Deleted }); err != nil {
				return err
			}
			return s.holds(ctx, "delete", 0)
		},
	}))
}

// holds checks how many pairs the map has.
func (s *session) holds(ctx context.Context, op string, want int) error {
	got, err := s.m.Len(ctx)
	if err == nil && got != uint64(want) {
		err = &WrongError{op, fmt.Sprintf("%d pairs in the map instead of %d", got, want)}
	}
	return err
}

func (s *session) mix(ctx context.Context, op string, mix Mix) error {
	if err := s.full(ctx); err != nil {
		return err
	}
	x := newMixer(s.space, s.n, s.n, mix)
	keys, err := s.buffer("batch keys")
	if err != nil {
		return err
	}
	values, err := s.buffer("batch values")
	if err != nil {
		return err
	}
	if s.kinds == nil {
		if s.kinds, err = vk.NewBuffer[uint8](s.d, (s.n+3)&^3); err != nil {
			return err
		}
	}
	if err := s.refill(ctx, keys, func(i int) uint32 { return x.at(i).key }); err != nil {
		return err
	}
	if err := s.refill(ctx, values, func(i int) uint32 { return s.space.value(x.at(i).key) }); err != nil {
		return err
	}
	fill(s.bytes, func(i int) uint8 { return uint8(x.at(i).kind) })
	if err := s.kinds.Upload(ctx, 0, s.bytes); err != nil {
		return err
	}
	b := s.batch(keys, values)
	b.Kinds = s.kinds
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement(op, s.n), pending: true,
		prepare: s.anew,
		record:  func() error { return s.m.ApplyOn(s.stream, structures.Mixed, b) },
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, op, s.n, func(i int) structures.Status { return x.at(i).status }); err != nil {
				return err
			}
			err := s.checkValues(ctx, op, values, func(i int) (uint32, bool) {
				o := x.at(i)
				if o.status == structures.Absent {
					return 0, true
				}
				return s.space.value(o.key), o.status == structures.Found
			})
			if err != nil {
				return err
			}
			return s.holds(ctx, op, s.n+x.inserts-x.deletes)
		},
	}))
}

func (s *session) setBuild(ctx context.Context) error { return s.set(ctx, "set-build") }
func (s *session) setFind(ctx context.Context) error  { return s.set(ctx, "set-find") }

func (s *session) set(ctx context.Context, op string) error {
	keys, err := s.filled(ctx, "keys", s.space.key)
	if err != nil {
		return err
	}
	queries, _, err := s.queries(ctx)
	if err != nil {
		return err
	}
	buckets := bucketsFor(s.n, s.load, keySlots)
	blocks := int(math.Ceil(1.25*float64(buckets)*(expectedSlabs(s.load, keySlots)-1)/alloc.BlockSlabs)) + 16
	pool, err := alloc.NewSlabPool(ctx, s.d, alloc.PoolOptions{Blocks: blocks})
	if err != nil {
		return err
	}
	defer pool.Close()
	set, err := slabhash.NewSet(ctx, s.d, slabhash.Options{Buckets: buckets, Load: s.load, MaxLoad: -1, Pool: pool, Tile: s.tile, Seed: s.o.Seed})
	if err != nil {
		return err
	}
	defer set.Close()
	defer s.stream.Wait(context.Background())
	insert := func() error { return set.ApplyOn(s.stream, structures.Insert, s.batch(keys, nil)) }
	find := func() error {
		return set.FindOn(s.stream, slabhash.DeviceQueries{Count: s.n, Keys: queries, Found: s.status})
	}
	if err := insert(); err != nil {
		return err
	}
	if err := set.Finish(ctx, s.stream, structures.Insert, s.batch(keys, nil)); err != nil {
		return err
	}
	stats, err := set.Stats(ctx)
	if err != nil {
		return err
	}
	m := s.measurement(op, s.n)
	m.Utilization = stats.Utilization
	allFound := func(ctx context.Context) error {
		return s.checkFound(ctx, op, func(int) bool { return true })
	}
	if op == "set-find" {
		return s.add(s.measure(ctx, task{Measurement: m, record: find, check: allFound}))
	}
	return s.add(s.measure(ctx, task{
		Measurement: m, pending: true, prepare: set.Clear, record: insert,
		check: func(ctx context.Context) error {
			if err := s.checkStatus(ctx, op, s.n, func(int) structures.Status { return structures.Inserted }); err != nil {
				return err
			}
			if err := find(); err != nil {
				return err
			}
			if err := s.stream.Wait(ctx); err != nil {
				return err
			}
			return allFound(ctx)
		},
	}))
}
