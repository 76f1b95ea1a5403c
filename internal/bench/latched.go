package bench

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/internal/bench/latched"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// LatchedOptions say what Latched measures: each combination of what they list. The zero value measures Awad's tree with
// 2^16 pairs.
type LatchedOptions struct {
	Common
	Ops     []string       // names of Ops("latched"); nil: all
	Sizes   []int          // pairs, up to 2^30; nil: 2^16
	Batches []int          // pairs of a batch; nil: 2^14
	Tiles   []int          // lanes that work on a node, 4 to 32; nil: 16, or the subgroup's where it has fewer
	Nodes   []int          // bytes of a node, 128 or 256; nil: 128
	Waits   []latched.Wait // nil: Restart
	Kinds   []latched.Kind // nil: BLink
}

var latchedOps = operations[*latchedSession]{
	{Op{"insert", "n pairs into an empty tree, in batches that are no larger than it", true}, (*latchedSession).insertRandom},
	{Op{"insert-ascending", "the same of n keys that ascend", true}, (*latchedSession).insertAscending},
	{Op{"insert-at-once", "n pairs into an empty tree, all in one batch", true}, (*latchedSession).insertAtOnce},
	{Op{"insert-batch", "a batch of new pairs into a tree of n", true}, (*latchedSession).insertBatch},
	{Op{"find", "search of n keys, all present, in a tree that nobody changes", true}, (*latchedSession).find},
}

func (o *LatchedOptions) complete(d *vk.Device) (err error) {
	if err = o.Common.complete(d); err != nil {
		return err
	}
	if o.Ops, err = latchedOps.complete(o.Ops); err != nil {
		return err
	}
	if o.Sizes, err = completeSizes("Sizes", o.Sizes, 1<<16); err != nil {
		return err
	}
	if o.Batches, err = completeSizes("Batches", o.Batches, defaultBatch); err != nil {
		return err
	}
	if len(o.Tiles) == 0 {
		o.Tiles = []int{min(16, d.SubgroupSize())}
	}
	if len(o.Nodes) == 0 {
		o.Nodes = []int{128}
	}
	if len(o.Waits) == 0 {
		o.Waits = []latched.Wait{latched.Restart}
	}
	if len(o.Kinds) == 0 {
		o.Kinds = []latched.Kind{latched.BLink}
	}
	return nil
}

// latchedSession is a latched tree of one sort, and the operations measured on it.
type latchedSession struct {
	*workload
	report *Report
	shape  latched.Options
	batch  int
	tree   *latched.Tree
}

// Latched measures the B-trees of two papers, whose nodes are changed under latches, in their variants (section 3 of Awad
// et al. 2019, chapter 4 of Duong 2021). Nothing of vkds is built on them: they show what BTree gains. With an error, the
// report holds what was measured before it. Errors as of SlabHash, and *latched.OptionError.
func Latched(ctx context.Context, d *vk.Device, o LatchedOptions) (Report, error) {
	if err := o.complete(d); err != nil {
		return Report{}, err
	}
	var shapes []latched.Options
	for _, kind := range o.Kinds {
		for _, wait := range o.Waits {
			for _, bytes := range o.Nodes {
				for _, tile := range o.Tiles {
					shapes = append(shapes, latched.Options{Kind: kind, Wait: wait, Tile: tile, NodeBytes: bytes})
				}
			}
		}
	}
	r := Report{Environment: environment(d, o.Seed)}
	steps := newWalk(&r, o.Common, len(o.Sizes)*len(o.Batches)*len(shapes)*len(o.Ops))
	for _, n := range o.Sizes {
		w, err := newWorkload(d, o.Common, n)
		if err != nil {
			return r, err
		}
		err = func() error {
			defer w.close()
			for _, batch := range o.Batches {
				for _, shape := range shapes {
					s := &latchedSession{workload: w, report: &r, shape: shape, batch: min(batch, n) &^ 3}
					if err := s.measureAll(ctx, o.Ops, steps); err != nil {
						return fmt.Errorf("n = %d, %v, %v: %w", n, shape.Kind, shape.Wait, err)
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

func (s *latchedSession) measureAll(ctx context.Context, ops []string, steps *walk) (err error) {
	s.shape.Pairs = s.n + s.batch
	if s.tree, err = latched.New(s.d, s.shape); err != nil {
		return err
	}
	defer func() {
		s.stream.Wait(context.Background())
		s.tree.Close()
	}()
	return latchedOps.measure(ctx, s, ops, s.n, steps)
}

func (s *latchedSession) measurement(op string, batch, operations int) Measurement {
	return Measurement{
		Structure: "latched", Op: op, N: s.n, Tile: s.shape.Tile, Batch: batch, Operations: operations,
		Form: fmt.Sprintf("%d-byte nodes, %v, %v", s.shape.NodeBytes, s.shape.Kind, s.shape.Wait),
	}
}

// key is that of pair i of n and a batch: no pair may have the key ~0.
func (s *latchedSession) key(i int) uint32 {
	if k := s.space.key(i); k != ^uint32(0) {
		return k
	}
	return s.space.key(s.n + s.batch)
}

func (s *latchedSession) insertRandom(ctx context.Context) error {
	return s.insertion(ctx, "insert", s.key, doubling(s.n, s.batch))
}

func (s *latchedSession) insertAscending(ctx context.Context) error {
	return s.insertion(ctx, "insert-ascending", newSequence(s.space, Ascending, s.n).key, doubling(s.n, s.batch))
}

func (s *latchedSession) insertAtOnce(ctx context.Context) error {
	return s.insertion(ctx, "insert-at-once", s.key, []part{{0, s.n}})
}

// part is so many pairs from one on.
type part struct{ first, count int }

// doubling cuts n pairs into batches that begin small and double with the tree, up to a largest one.
func doubling(n, largest int) (parts []part) {
	const smallest = 1 << 10
	for first := 0; first < n; {
		p := part{first, min(n-first, largest, max(smallest, first))}
		parts = append(parts, p)
		first += p.count
	}
	return parts
}

// insertion measures the insertion of n pairs into an empty tree, part by part.
func (s *latchedSession) insertion(ctx context.Context, op string, key func(i int) uint32, parts []part) error {
	largest := 0
	for _, p := range parts {
		largest = max(largest, p.count)
	}
	return s.insertParts(ctx, s.measurement(op, largest, s.n), key, nil, parts)
}

func (s *latchedSession) insertBatch(ctx context.Context) error {
	there := s.n &^ 3 // a part's statuses begin with a word
	return s.insertParts(ctx, s.measurement("insert-batch", s.batch, s.batch), s.key, doubling(there, there), []part{{there, s.batch}})
}

// insertParts measures the insertion of some parts of the pairs with these keys behind others, which are not measured.
func (s *latchedSession) insertParts(ctx context.Context, m Measurement, key func(i int) uint32, before, parts []part) error {
	last := parts[len(parts)-1]
	total := last.first + last.count
	b := latched.Batch{Left: s.left}
	words := make([]uint32, total)
	for _, column := range []struct {
		to   **vk.Buffer[uint32]
		name string
		of   func(i int) uint32
	}{{&b.Keys, "latched keys", key}, {&b.Values, "latched values", func(i int) uint32 { return s.space.value(key(i)) }}} {
		var err error
		if *column.to, err = s.room(column.name, total); err != nil {
			return err
		}
		fill(words, column.of)
		if err := (*column.to).Upload(ctx, 0, words); err != nil {
			return err
		}
	}
	var err error
	if b.Status, err = vk.NewBuffer[uint8](s.d, (total+3)&^3); err != nil {
		return err
	}
	defer b.Status.Free()
	m, err = s.measureWall(ctx, m, func(ctx context.Context) error {
		s.tree.Clear(s.stream)
		if err := s.insert(ctx, m.Op, b, before); err != nil {
			return err
		}
		return s.heat(ctx)
	}, func(ctx context.Context) error { return s.insert(ctx, m.Op, b, parts) }, s.stream.Timings, m.Op)
	if err != nil {
		return err
	}
	return s.add(m, s.holds(ctx, m.Op, b, words))
}

// insert inserts parts of the pairs, one after the other, and then what that left pending, again and again.
func (s *latchedSession) insert(ctx context.Context, op string, b latched.Batch, parts []part) error {
	const passes = 1000
	for pass := range passes {
		s.stream.Fill(s.left, 0, 4, 0)
		s.stream.Timed(op, func() {
			for _, p := range parts {
				b.First, b.Count = p.first, p.count
				s.tree.InsertOn(s.stream, b, pass > 0)
			}
		})
		if err := s.stream.Wait(ctx); err != nil {
			return err
		}
		var left [1]uint32
		if err := s.left.Download(ctx, 0, left[:]); err != nil || left[0] == 0 {
			return err
		}
	}
	return &WrongError{op, fmt.Sprintf("operations are pending after %d dispatches", passes)}
}

// holds checks the tree node by node, and that it has the pairs of a batch's buffers, all of them inserted.
func (s *latchedSession) holds(ctx context.Context, op string, b latched.Batch, words []uint32) error {
	pairs, err := s.tree.Check(ctx)
	if err != nil {
		return err
	}
	if pairs != len(words) {
		return &WrongError{op, fmt.Sprintf("%d pairs in the tree instead of %d", pairs, len(words))}
	}
	answers, err := s.room("latched answers", len(words))
	if err != nil {
		return err
	}
	status := make([]uint8, len(words))
	if err := b.Status.Download(ctx, 0, status); err != nil {
		return err
	}
	for i, got := range status {
		if structures.Status(got) != structures.Inserted {
			return &WrongError{op, fmt.Sprintf("operation %d: %v", i, structures.Status(got))}
		}
	}
	s.tree.FindOn(s.stream, len(words), b.Keys, answers, b.Status)
	if err := s.stream.Wait(ctx); err != nil {
		return err
	}
	found := make([]uint32, len(words))
	if err := answers.Download(ctx, 0, found); err != nil {
		return err
	}
	if err := b.Values.Download(ctx, 0, words); err != nil {
		return err
	}
	for i, value := range found {
		if value != words[i] {
			return &WrongError{op, fmt.Sprintf("pair %d: value %d instead of %d", i, value, words[i])}
		}
	}
	return nil
}

func (s *latchedSession) add(m Measurement, err error) error {
	if err == nil {
		s.report.Measurements = append(s.report.Measurements, m)
	}
	return err
}

func (s *latchedSession) find(ctx context.Context) error {
	keys, err := s.filled(ctx, "latched random keys", s.key)
	if err != nil {
		return err
	}
	values, err := s.filled(ctx, "latched random values", func(i int) uint32 { return s.space.value(s.key(i)) })
	if err != nil {
		return err
	}
	query := func(i int) uint32 { return s.key(s.order.at(i)) }
	queries, err := s.filled(ctx, "latched queries", query)
	if err != nil {
		return err
	}
	answers, err := s.buffer("answers")
	if err != nil {
		return err
	}
	s.tree.Clear(s.stream)
	b := latched.Batch{Keys: keys, Values: values, Status: s.status, Left: s.left}
	if err := s.insert(ctx, "find", b, doubling(s.n, s.n)); err != nil {
		return err
	}
	return s.add(s.measure(ctx, task{
		Measurement: s.measurement("find", 0, s.n),
		record: func() error {
			s.tree.FindOn(s.stream, s.n, queries, answers, s.status)
			return nil
		},
		check: func(ctx context.Context) error {
			if err := s.checkFound(ctx, "find", func(int) bool { return true }); err != nil {
				return err
			}
			return s.checkValues(ctx, "find", answers, func(i int) (uint32, bool) { return s.space.value(query(i)), true })
		},
	}))
}
