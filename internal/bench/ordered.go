package bench

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"time"

	"github.com/vkds/vkds/internal/enum"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// OrderedOptions say what SortedArray, LSM and BTree measure. The zero value measures the main operations on 2^18 pairs in
// batches of 2^14.
type OrderedOptions struct {
	Common
	Ops     []string                 // names of Ops("sortedarray"), Ops("lsm") or Ops("btree"); nil: the main ones
	Sizes   []int                    // pairs, up to 2^30; nil: 2^18
	Batches []int                    // operations of a batch of updates; of an LSM the pairs of its smallest level; nil: 2^14
	Orders  []Order                  // in which keys are inserted; nil: Random
	Levels  []Levels                 // of the LSM that is searched; nil: FullLevels. A sorted array has one
	Lookups []structures.LookupOrder // nil: AutoOrder
	Lengths []int                    // pairs expected in the ranges that are counted and listed; nil: 8
	Stale   []float64                // shares of elements that a cleanup removes; nil: 0.1, 0.5

	// Of a tree:
	Paths    []btree.Path // that batches of updates take; nil: Concurrent, Batched
	Fills    []float64    // shares of slots that nodes get where they are made in bulk; nil, and 0: btree.DefaultFill
	Tiles    []int        // lanes a node; nil, and 0: what measured best
	Statuses bool         // ask for the statuses of batched updates, too; concurrent ones have them in any case
}

const (
	defaultOrderedSize = 1 << 18
	defaultBatch       = 1 << 14
)

func (o *OrderedOptions) complete(d *vk.Device) (err error) {
	if err = o.Common.complete(d); err != nil {
		return err
	}
	if o.Sizes, err = completeSizes("Sizes", o.Sizes, defaultOrderedSize); err != nil {
		return err
	}
	if o.Batches, err = completeSizes("Batches", o.Batches, defaultBatch); err != nil {
		return err
	}
	if o.Orders, err = completeOrders(o.Orders, o.Sizes); err != nil {
		return err
	}
	if len(o.Levels) == 0 {
		o.Levels = []Levels{FullLevels}
	}
	if len(o.Lookups) == 0 {
		o.Lookups = []structures.LookupOrder{structures.AutoOrder}
	}
	if len(o.Lengths) == 0 {
		o.Lengths = []int{8}
	}
	if len(o.Stale) == 0 {
		o.Stale = []float64{0.1, 0.5}
	}
	if len(o.Paths) == 0 {
		o.Paths = []btree.Path{btree.Concurrent, btree.Batched}
	}
	if len(o.Fills) == 0 {
		o.Fills = []float64{0}
	}
	if len(o.Tiles) == 0 {
		o.Tiles = []int{0}
	}
	for _, l := range o.Lengths {
		if l < 1 || l > rangePairs {
			return &OptionError{"Lengths", fmt.Sprintf("%d: 1 to %d", l, rangePairs)}
		}
	}
	for _, s := range o.Stale {
		if !(s > 0 && s <= 0.5) {
			return &OptionError{"Stale", fmt.Sprintf("%g: above 0, up to 0.5", s)}
		}
	}
	return nil
}

// Levels says which levels of an LSM are full.
type Levels uint8

const (
	FullLevels      Levels = iota // all but one batch of n: every level is full
	OneLevel                      // n pairs, where that is a power of two of batches
	AlternateLevels               // every other level, the largest one included
)

var levelNames = enum.Names[Levels]{"full", "one", "alternate"}

func (l Levels) String() string { return levelNames.String(l) }

// LevelArrangements are the arrangements of levels, by their names.
var LevelArrangements = enum.Of("levels", FullLevels, OneLevel, AlternateLevels)

// batches is how many batches of n pairs are there; one at least.
func (l Levels) batches(n, batch int) int {
	all := 1 << (bits.Len(uint(max(n/batch, 1))) - 1) // a power of two
	switch {
	case l == OneLevel || all == 1:
		return all
	case l == FullLevels:
		return all - 1
	}
	some := 0
	for bit := all / 2; bit > 0; bit /= 4 {
		some |= bit
	}
	return some
}

// LookupOrders are the ways of looking up, by their names.
var LookupOrders = enum.Of("way to look up", structures.AutoOrder, structures.OneByOne, structures.SortedFirst)

// orderedTable is an ordered dictionary with its twins on device buffers.
type orderedTable interface {
	structures.Ordered
	InsertOn(ctx context.Context, s *vk.Stream, u structures.DeviceUpdates) error
	FindOn(s *vk.Stream, l structures.DeviceLookups) error
	CountOn(s *vk.Stream, c structures.DeviceCounts) error
	RangeOn(s *vk.Stream, r structures.DeviceRanges) error
}

// orderedKind is an ordered structure to be measured.
type orderedKind struct {
	name   string
	levels bool // it is made of levels, and its batch is the smallest
	waits  bool // an insertion waits for the device in the middle, so that only the host can time it
	tree   bool // it is a btreeTable
	open   func(ctx context.Context, d *vk.Device, s *orderedSession) (orderedTable, error)
	ops    operations[*orderedSession]
}

// orderedSession is an ordered dictionary at one setting, and the operations measured on it.
type orderedSession struct {
	*workload
	orderedKind
	report  *Report
	options OrderedOptions
	batch   int
	limit   int     // the batch asked for, which may be more than there are pairs
	fill    float64 // of a tree, and
	tile    int     // this, as in the options
	keys    sequence

	table  orderedTable
	there  int      // pairs in the table, the first of the sequence; -1 where it holds something else
	sorted []uint32 // so many keys in order as were asked for last
}

// run is what the benchmarks of all ordered structures do.
func (k orderedKind) run(ctx context.Context, d *vk.Device, o OrderedOptions) (Report, error) {
	err := o.complete(d)
	if err == nil {
		o.Ops, err = k.ops.complete(o.Ops)
	}
	if err != nil {
		return Report{}, err
	}
	r := Report{Environment: environment(d, o.Seed)}
	if !k.tree {
		o.Fills, o.Tiles = []float64{0}, []int{0}
	}
	steps := newWalk(&r, o.Common, len(o.Sizes)*len(o.Orders)*len(o.Batches)*len(o.Fills)*len(o.Tiles)*len(o.Ops))
	for _, n := range o.Sizes {
		w, err := newWorkload(d, o.Common, n)
		if err != nil {
			return r, err
		}
		err = func() error {
			defer w.close()
			for _, order := range o.Orders {
				for _, batch := range o.Batches {
					for _, fill := range o.Fills {
						for _, tile := range o.Tiles {
							s := &orderedSession{workload: w, orderedKind: k, report: &r, options: o, batch: min(batch, n), limit: batch,
								fill: fill, tile: tile, keys: newSequence(w.space, order, n), there: -1}
							if err := s.measureAll(ctx, steps); err != nil {
								return fmt.Errorf("n = %d, batch %d: %w", n, s.batch, err)
							}
						}
					}
				}
			}
			return nil
		}()
		if err != nil {
			return r, err
		}
	}
	steps.end()
	return r, nil
}

func (s *orderedSession) measureAll(ctx context.Context, steps *walk) error {
	defer func() {
		s.stream.Wait(context.Background())
		if s.table != nil {
			s.table.Close()
		}
	}()
	return s.ops.measure(ctx, s, s.options.Ops, s.n, steps)
}

func (s *orderedSession) measurement(op string, n, operations int) Measurement {
	m := Measurement{Structure: s.name, Op: op, N: n, Operations: operations, Load: s.fill, Tile: s.tile}
	if s.levels || op == "insert" {
		m.Batch = s.batch
	}
	if s.keys.order != Random {
		m.Order = s.keys.order.String()
	}
	return m
}

func (s *orderedSession) add(m Measurement, err error) error {
	if err == nil {
		s.report.Measurements = append(s.report.Measurements, m)
	}
	return err
}

// all are the buffers of the n keys in their order, and of their values.
func (s *orderedSession) all(ctx context.Context) (keys, values *vk.Buffer[uint32], err error) {
	name := s.keys.order.String()
	if keys, err = s.filled(ctx, "keys "+name, s.keys.key); err == nil {
		values, err = s.filled(ctx, "values "+name, func(i int) uint32 { return s.space.value(s.keys.key(i)) })
	}
	return keys, values, err
}

// empty makes the table an empty one.
func (s *orderedSession) empty(ctx context.Context) (err error) {
	s.there = 0
	if s.table != nil {
		return s.table.Clear(ctx)
	}
	if s.table, err = s.open(ctx, s.d, s); err != nil {
		s.table = nil // and no interface that holds a nil pointer
	}
	return err
}

// insert inserts the pairs of the sequence from the first on that isn't there, in batches. each, if not nil, is told of
// each batch's times: from the call to the end of waiting, and by the device's clock.
func (s *orderedSession) insert(ctx context.Context, upTo int, each func(wall, device time.Duration)) error {
	keys, values, err := s.all(ctx)
	if err != nil {
		return err
	}
	batchKeys, batchValues, err := s.batchBuffers()
	if err != nil {
		return err
	}
	for s.there < upTo {
		n := min(s.batch, upTo-s.there)
		s.stream.Copy(batchKeys, 0, keys, 4*s.there, 4*n)
		s.stream.Copy(batchValues, 0, values, 4*s.there, 4*n)
		if each != nil { // the copies are no part of it
			err = s.stream.Wait(ctx)
		}
		if err != nil {
			return err
		}
		s.stream.Timings()
		start := time.Now()
		record := func() {
			err = s.table.InsertOn(ctx, s.stream, structures.DeviceUpdates{Count: n, Keys: batchKeys, Values: batchValues})
		}
		if each == nil {
			if record(); err == nil {
				_, err = s.stream.Submit()
			}
		} else {
			if s.waits {
				record()
			} else {
				s.stream.Timed("batch", record)
			}
			if err == nil {
				err = s.stream.Wait(ctx)
			}
		}
		if err != nil {
			return err
		}
		if each != nil {
			wall, device := time.Since(start), time.Duration(0)
			for _, t := range s.stream.Timings() {
				if t.Label == "batch" {
					device = t.Duration
				}
			}
			each(wall, device)
		}
		s.there += n
	}
	return s.stream.Wait(ctx)
}

func (s *orderedSession) batchBuffers() (keys, values *vk.Buffer[uint32], err error) {
	if keys, err = s.room("batch keys", s.batch); err == nil {
		values, err = s.room("batch values", s.batch)
	}
	return keys, values, err
}

// hold makes the table one of the first so many pairs, which came in batches.
func (s *orderedSession) hold(ctx context.Context, pairs int) error {
	if s.there == pairs {
		return nil
	}
	if s.tree {
		err := s.holdInTree(ctx, s.keys, pairs)
		if err == nil {
			s.there = pairs
		}
		return err
	}
	if s.table == nil || s.there < 0 || s.there > pairs {
		if err := s.empty(ctx); err != nil {
			return err
		}
	}
	return s.insert(ctx, pairs, nil)
}

// series measures the insertion of all n pairs, batch by batch, into an empty table: section V-B of the GPU LSM's
// paper.
func (s *orderedSession) series(ctx context.Context) error {
	m := s.measurement("insert", s.n, s.n)
	var steps [][]time.Duration
	once := func(timed bool) error {
		if err := s.empty(ctx); err != nil {
			return err
		}
		var onDevice, byWall []time.Duration
		var device, wall time.Duration
		err := s.insert(ctx, s.n, func(w, d time.Duration) {
			onDevice, byWall = append(onDevice, d), append(byWall, w)
			device, wall = device+d, wall+w
		})
		if err != nil || !timed {
			return err
		}
		m.Wall = append(m.Wall, wall)
		if s.waits {
			steps = append(steps, byWall)
			return nil
		}
		m.Device, steps = append(m.Device, device), append(steps, onDevice)
		return nil
	}
	for start, first := time.Now(), true; first || time.Since(start) < s.o.WarmUp; first = false {
		if err := once(false); err != nil {
			return err
		}
		if first {
			if err := s.holdsAll(ctx, "insert", s.n); err != nil {
				return err
			}
		}
	}
	for range s.o.Repeat {
		if err := once(true); err != nil {
			return err
		}
	}
	for i := range steps[0] {
		var runs []time.Duration
		for _, run := range steps {
			runs = append(runs, run[i])
		}
		m.Steps = append(m.Steps, Median(runs))
	}
	return s.add(m, s.holdsAll(ctx, "insert", s.n))
}

// holdsAll checks that the table has the first so many pairs and no others.
func (s *orderedSession) holdsAll(ctx context.Context, op string, pairs int) error {
	return s.holds(ctx, op, pairs, func(at int) uint32 { return s.space.value(s.keys.key(at)) })
}

// holds is holdsAll with other values, each that of a place in the sequence of keys.
func (s *orderedSession) holds(ctx context.Context, op string, pairs int, value func(at int) uint32) error {
	n, err := s.table.Len(ctx)
	if err == nil && n != uint64(pairs) {
		err = &WrongError{op, fmt.Sprintf("%d pairs there instead of %d", n, pairs)}
	}
	if err != nil {
		return err
	}
	queries, answers, err := s.asked(ctx, func(i int) uint32 { return s.keys.key(s.order.at(i)) })
	if err != nil {
		return err
	}
	if err := s.find(queries, answers, structures.AutoOrder); err != nil {
		return err
	}
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	return s.found(ctx, op, answers, func(i int) (uint32, bool) {
		at := s.order.at(i)
		if at >= pairs {
			return 0, false
		}
		return value(at), true
	})
}

func (s *orderedSession) find(queries, answers *vk.Buffer[uint32], order structures.LookupOrder) error {
	return s.table.FindOn(s.stream, structures.DeviceLookups{Count: s.n, Keys: queries, Values: answers, Found: s.status, Order: order})
}

// asked are the buffers of n queries and of room for their answers.
func (s *orderedSession) asked(ctx context.Context, of func(i int) uint32) (queries, answers *vk.Buffer[uint32], err error) {
	if queries, err = s.buffer("queries"); err == nil {
		answers, err = s.buffer("answers")
	}
	if err != nil {
		return nil, nil, err
	}
	return queries, answers, s.refill(ctx, queries, of)
}

// found checks the answers to n lookups: want gives the value of each, and whether its key is there.
func (s *orderedSession) found(ctx context.Context, op string, answers *vk.Buffer[uint32], want func(i int) (value uint32, there bool)) error {
	if err := s.checkFound(ctx, op, func(i int) bool { _, there := want(i); return there }); err != nil {
		return err
	}
	return s.checkValues(ctx, op, answers, func(i int) (uint32, bool) {
		value, there := want(i)
		if !there {
			return 0, true
		}
		return value, true
	})
}

// eachLevels brings the table into each arrangement of levels asked for.
func (s *orderedSession) eachLevels(ctx context.Context, do func(pairs int, label string) error) error {
	for _, l := range s.options.Levels {
		pairs, label := l.batches(s.n, s.batch)*s.batch, l.String()
		if !s.levels {
			pairs, label = s.n, ""
		}
		if err := s.hold(ctx, pairs); err != nil {
			return err
		}
		if err := do(pairs, label); err != nil || label == "" {
			return err
		}
	}
	return nil
}

// lookups measures n lookups: of gives the key of each query, and whether it is there, among so many pairs.
func (s *orderedSession) lookups(ctx context.Context, op string, of func(i, pairs int) (key uint32, there bool)) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		queries, answers, err := s.asked(ctx, func(i int) uint32 { key, _ := of(i, pairs); return key })
		if err != nil {
			return err
		}
		for _, l := range s.options.Lookups {
			m := s.measurement(op, pairs, s.n)
			if m.Levels = label; l != structures.AutoOrder {
				m.Form = l.String()
			}
			if err := s.add(s.measure(ctx, task{
				Measurement: m,
				record:      func() error { return s.find(queries, answers, l) },
				check: func(ctx context.Context) error {
					return s.found(ctx, op, answers, func(i int) (uint32, bool) {
						key, there := of(i, pairs)
						return s.space.value(key), there
					})
				},
			})); err != nil {
				return err
			}
		}
		return nil
	})
}

// findExist looks up keys that are there, all alike.
func (s *orderedSession) findExist(ctx context.Context) error {
	return s.lookups(ctx, "find-exist", func(i, pairs int) (uint32, bool) { return s.keys.key(s.order.at(i) % pairs), true })
}

// findOldest looks up keys of the first half, which are in the largest level.
func (s *orderedSession) findOldest(ctx context.Context) error {
	return s.lookups(ctx, "find-oldest", func(i, pairs int) (uint32, bool) {
		return s.keys.key(s.order.at(i) % ((pairs + s.batch) / 2)), true
	})
}

func (s *orderedSession) findNone(ctx context.Context) error {
	return s.lookups(ctx, "find-none", func(i, pairs int) (uint32, bool) { return s.keys.absent(s.order.at(i)), false })
}

// rangePairs is about how many pairs a measured batch of ranges has.
const rangePairs = 1 << 26

// ranges makes as many ranges as there are pairs, but no more than come to rangePairs: lo is a key, and hi so far
// above it that a range has so many pairs on the average.
func (s *orderedSession) ranges(ctx context.Context, pairs, length int) (ends []uint32, b *vk.Buffer[uint32], err error) {
	n := min(pairs, rangePairs/length)
	reach := uint64(float64(length) / float64(pairs) * (1 << 32))
	ends = make([]uint32, 2*n)
	parallel(n, func(first, end int) error {
		for i := first; i < end; i++ {
			lo := s.keys.key(s.order.at(i) % pairs)
			ends[2*i], ends[2*i+1] = lo, uint32(min(uint64(lo)+reach-1, 1<<32-1))
		}
		return nil
	})
	if b, err = s.room("ranges", len(ends)); err == nil {
		err = b.Upload(ctx, 0, ends)
	}
	return ends, b, err
}

// inOrder returns the keys that are there, in order.
func (s *orderedSession) inOrder(pairs int) []uint32 {
	if len(s.sorted) != pairs {
		s.sorted = make([]uint32, pairs)
		fill(s.sorted, s.keys.key)
		s.sorted = ascending(s.sorted)
	}
	return s.sorted
}

// within are the places of the keys of range i in their order.
func within(sorted, ends []uint32, i int) (from, to int) {
	from, _ = slices.BinarySearch(sorted, ends[2*i])
	return from, from + sort.Search(len(sorted)-from, func(j int) bool { return sorted[from+j] > ends[2*i+1] })
}

func (s *orderedSession) count(ctx context.Context) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		for _, length := range s.options.Lengths {
			ends, ranges, err := s.ranges(ctx, pairs, length)
			if err != nil {
				return err
			}
			n := len(ends) / 2
			counts, err := s.room("counts", n)
			if err != nil {
				return err
			}
			m := s.measurement("count", pairs, n)
			m.Levels, m.Length = label, length
			sorted := s.inOrder(pairs)
			if err := s.add(s.measure(ctx, task{
				Measurement: m,
				record: func() error {
					return s.table.CountOn(s.stream, structures.DeviceCounts{Count: n, Ranges: ranges, Counts: counts})
				},
				check: func(ctx context.Context) error {
					got := make([]uint32, n)
					if err := counts.Download(ctx, 0, got); err != nil {
						return err
					}
					return parallel(n, func(first, end int) error {
						for i := first; i < end; i++ {
							if from, to := within(sorted, ends, i); int(got[i]) != to-from {
								return &WrongError{"count", fmt.Sprintf("range %d: %d instead of %d", i, got[i], to-from)}
							}
						}
						return nil
					})
				},
			})); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *orderedSession) list(ctx context.Context) error {
	return s.eachLevels(ctx, func(pairs int, label string) error {
		for _, length := range s.options.Lengths {
			ends, ranges, err := s.ranges(ctx, pairs, length)
			if err != nil {
				return err
			}
			n := len(ends) / 2
			sorted := s.inOrder(pairs)
			want := make([]int, n+1) // where the pairs of each range begin
			parallel(n, func(first, end int) error {
				for i := first; i < end; i++ {
					from, to := within(sorted, ends, i)
					want[i+1] = to - from
				}
				return nil
			})
			for i := range n {
				want[i+1] += want[i]
			}
			total := want[n]
			offsets, err := s.room("offsets", n+1)
			if err != nil {
				return err
			}
			keys, err := s.room("listed keys", total)
			if err != nil {
				return err
			}
			values, err := s.room("listed values", total)
			if err != nil {
				return err
			}
			candidates, err := vk.NewBuffer[uint64](s.d, 1)
			if err != nil {
				return err
			}
			defer candidates.Free()
			m := s.measurement("range", pairs, n)
			m.Levels, m.Length = label, length
			if err := s.add(s.measure(ctx, task{
				Measurement: m,
				record: func() error {
					return s.table.RangeOn(s.stream, structures.DeviceRanges{Count: n, Ranges: ranges, Offsets: offsets, Keys: keys, Values: values, Candidates: candidates})
				},
				check: func(ctx context.Context) error {
					at, k, v := make([]uint32, n+1), make([]uint32, total), make([]uint32, total)
					if err := offsets.Download(ctx, 0, at); err != nil {
						return err
					}
					if err := keys.Download(ctx, 0, k); err != nil {
						return err
					}
					if err := values.Download(ctx, 0, v); err != nil {
						return err
					}
					return parallel(n, func(first, end int) error {
						for i := first; i < end; i++ {
							from, _ := within(sorted, ends, i)
							if int(at[i]) != want[i] || int(at[i+1]) != want[i+1] {
								return &WrongError{"range", fmt.Sprintf("range %d: pairs %d to %d instead of %d to %d", i, at[i], at[i+1], want[i], want[i+1])}
							}
							for j := want[i]; j < want[i+1]; j++ {
								if key := sorted[from+j-want[i]]; k[j] != key || v[j] != s.space.value(key) {
									return &WrongError{"range", fmt.Sprintf("range %d, pair %d: %d, %d", i, j-want[i], k[j], v[j])}
								}
							}
						}
						return nil
					})
				},
			})); err != nil {
				return err
			}
		}
		return nil
	})
}
