package bench

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// versioned is a tree with snapshots at either width.
type versioned interface {
	tree
	snapshot(context.Context) (snapshot, error)
	diffOn(s *vk.Stream, older, newer snapshot, to btree.DeviceDiff) error
}

// snapshot is what a tree held at a time.
type snapshot interface {
	On(*vk.Stream) structures.QueriesOnStream
	Len(context.Context) (uint64, error)
	Close() error
}

type versionedTree[W structures.Word] struct{ *btree.Tree[W, W] }

func (t versionedTree[W]) snapshot(ctx context.Context) (snapshot, error) {
	at, err := t.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return at, nil
}

func (t versionedTree[W]) diffOn(s *vk.Stream, older, newer snapshot, to btree.DeviceDiff) error {
	return btree.DiffOn(s, older.(*btree.Snapshot[W, W]), newer.(*btree.Snapshot[W, W]), to)
}

func newVersionedTree[W structures.Word](ctx context.Context, d *vk.Device, o btree.Options) (tree, error) {
	t, err := btree.New[W, W](ctx, d, o)
	if err != nil {
		return nil, err
	}
	return versionedTree[W]{t}, nil
}

func openVersioned(ctx context.Context, s *session) (dictionary, error) {
	make := atWidth(s, newVersionedTree[uint32], newVersionedTree[uint64])
	// A batch whose tree has to grow first is submitted in between, and has no time of its own.
	return s.openTreeFor(ctx, 4*snapshotBatches*s.batch, make)
}

// snapshotTable is a tree as queries see it at a snapshot.
type snapshotTable struct {
	at snapshot
	treeTable
}

const (
	snapshotBatches = 8 // of a series, behind a snapshot each

	// Of the snapshots that are taken and closed, and between two times.
	snapshotsTaken = 100_000
	snapshotsATime = 1000
)

// newSnapshot opens one of the tree at hand.
func (s *session) newSnapshot(ctx context.Context) (snapshot, error) {
	return s.dictionary.(treeTable).tree.(versioned).snapshot(ctx)
}

// insertSnapshots measures a series of batches of new pairs into n, each behind a snapshot of its own. The one before
// is closed then. The device's times are those of the batches; by wall time, snapshots and the freeing of versions are
// in it, too. Beside it stand the same batches without snapshots.
func (s *session) insertSnapshots(ctx context.Context) error {
	pairs := s.n + snapshotBatches*s.batch
	q := newSequence(s.space, s.keys.order, pairs)
	defer func() { s.there = -1 }()
	return s.eachPath(snapshotBatches*s.batch, func(path btree.Path, m Measurement) error {
		m.Batch = s.batch
		without := m
		without.Op = "insert-series"
		without, err := s.insertSeries(ctx, q, path, without, false)
		if err != nil {
			return err
		}
		m, err = s.insertSeries(ctx, q, path, m, true)
		m.Ratios = append(m.Ratios, Ratio{"time of " + without.Op, over(m.time(), without.time())})
		s.report.Measurements = append(s.report.Measurements, without)
		return s.add(m, cmp.Or(err, s.sound(ctx, pairs)))
	})
}

func sum(of []time.Duration) (total time.Duration) {
	for _, d := range of {
		total += d
	}
	return total
}

// insertSeries measures the batches of insertSnapshots, with snapshots or without.
func (s *session) insertSeries(ctx context.Context, q sequence, path btree.Path, m Measurement,
	taken bool) (Measurement, error) {
	var steps [][]time.Duration
	for begin, warm := time.Now(), false; len(steps) < s.o.Repeat; {
		x := snapshotSeries{s: s, path: path, keys: q, taken: taken}
		if err := x.run(ctx); err != nil {
			return m, err
		}
		if warm = warm || time.Since(begin) >= s.o.WarmUp; !warm {
			continue
		}
		steps = append(steps, x.device)
		m.Device = append(m.Device, sum(x.device))
		m.Wall = append(m.Wall, sum(x.wall))
	}
	for i := range snapshotBatches {
		var runs []time.Duration
		for _, run := range steps {
			runs = append(runs, run[i])
		}
		m.Steps = append(m.Steps, Median(runs))
	}
	return m, nil
}

// snapshotSeries is one run of insertSeries.
type snapshotSeries struct {
	s            *session
	taken        bool // a snapshot in front of each batch
	path         btree.Path
	keys         sequence
	open         snapshot
	device, wall []time.Duration // of each batch
}

// run is all, again where operations were given up (workload.run).
func (x *snapshotSeries) run(ctx context.Context) error {
	s := x.s
	for start := time.Now(); ; {
		if err := s.holdOf(ctx, x.keys, s.n); err != nil {
			return err
		}
		s.stream.Fill(s.left, 0, 4, 0)
		x.device, x.wall = nil, nil
		var left [1]uint32
		err := cmp.Or(x.all(ctx), s.left.Download(ctx, 0, left[:]))
		if err == nil && left[0] == 0 {
			err = x.check(ctx)
		}
		x.close()
		if err != nil || left[0] == 0 {
			return err
		}
		if time.Since(start) >= s.patience {
			return s.wrong("%d operations were left pending, so that the time is not that of all", left[0])
		}
	}
}

func (x *snapshotSeries) all(ctx context.Context) error {
	s := x.s
	for i := range snapshotBatches {
		p := part{s.n + i*s.batch, s.batch}
		b, err := x.next(ctx, p)
		if err != nil {
			return err
		}
		if err := s.heat(ctx); err != nil { // the host was at work for long
			return err
		}
		s.stream.Timings()
		start := time.Now()
		if x.taken {
			at, err := s.newSnapshot(ctx)
			if err != nil {
				return err
			}
			x.close()
			x.open = at
		}
		s.stream.Timed(s.op.Name, func() { err = s.update(ctx, x.path, structures.Insert, b) })
		if err == nil {
			err = s.stream.Wait(ctx)
		}
		if err != nil {
			return err
		}
		x.wall = append(x.wall, time.Since(start))
		var device time.Duration
		for _, t := range s.stream.Timings() {
			if t.Label == s.op.Name {
				device += t.Duration
			}
		}
		if device == 0 {
			return s.wrong("the tree had to grow, so that the device's time is not that of all")
		}
		x.device = append(x.device, device)
	}
	return nil
}

// next are the pairs of a batch.
func (x *snapshotSeries) next(ctx context.Context, p part) (b structures.DeviceBatch, err error) {
	b.Count = p.count
	key := func(i int) uint32 { return x.keys.key(p.first + i) }
	if b.Keys, err = x.s.batchOf(ctx, "batch keys", p.count, key); err == nil {
		b.Values, err = x.s.batchOf(ctx, "batch values", p.count, func(i int) uint32 { return x.s.space.value(key(i)) })
	}
	return b, err
}

// check looks at what the last snapshot has.
func (x *snapshotSeries) check(ctx context.Context) error {
	if !x.taken {
		return nil
	}
	want := uint64(x.s.n + (snapshotBatches-1)*x.s.batch)
	n, err := x.open.Len(ctx)
	if err == nil && n != want {
		err = x.s.wrong("%d pairs at the snapshot instead of %d", n, want)
	}
	return err
}

func (x *snapshotSeries) close() {
	if x.open != nil {
		x.open.Close()
		x.open = nil
	}
}

// atSnapshot measures queries of the newest version, and then of a snapshot behind which shares of the keys have got
// other values.
func atSnapshot(measure func(*session, context.Context) error) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		if err := s.changing(ctx); err != nil {
			return err
		}
		s.there = s.n
		from := len(s.report.Measurements)
		if err := measure(s, ctx); err != nil {
			return err
		}
		newest := slices.Clone(s.report.Measurements[from:])
		for _, share := range s.options.Changed {
			from := len(s.report.Measurements)
			if err := s.behindChanges(ctx, share, measure); err != nil {
				return err
			}
			for i := range s.report.Measurements[from:] {
				m := &s.report.Measurements[from+i]
				m.Changed = share
				m.Ratios = append(m.Ratios, Ratio{"time at the newest", over(m.time(), newest[i].time())})
			}
		}
		return nil
	}
}

// behindChanges measures at a snapshot, a share of whose keys has other values by now.
func (s *session) behindChanges(ctx context.Context, share float64,
	measure func(*session, context.Context) error) error {
	if err := s.changing(ctx); err != nil {
		return err
	}
	at, err := s.newSnapshot(ctx)
	if err != nil {
		return err
	}
	defer at.Close()
	if _, err := s.changeShare(ctx, share); err != nil {
		return err
	}
	then := *s
	then.dictionary, then.there = snapshotTable{at, s.dictionary.(treeTable)}, s.n
	return measure(&then, ctx)
}

// changeShare gives a share of the keys other values, and returns how many these are: the first ones of present.
func (s *session) changeShare(ctx context.Context, share float64) (count int, err error) {
	count = max(1, int(share*float64(s.n)))
	for _, p := range chunks(count, 1<<22) {
		b := structures.DeviceBatch{Count: p.count}
		key := func(i int) uint32 { return s.present(p.first + i) }
		if b.Keys, err = s.batchOf(ctx, "batch keys", p.count, key); err != nil {
			return 0, err
		}
		if b.Values, err = s.batchOf(ctx, "batch values", p.count, func(i int) uint32 {
			other, _ := s.otherValue(key(i))
			return other
		}); err != nil {
			return 0, err
		}
		if err := s.dictionary.(treeTable).On(s.stream).Update(ctx, structures.Insert, b); err != nil {
			return 0, err
		}
		if err := s.stream.Wait(ctx); err != nil {
			return 0, err
		}
	}
	return count, nil
}

// diff measures what differs between two snapshots, between which shares of the keys have got other values.
func (s *session) diff(ctx context.Context) error {
	for _, share := range s.options.Changed {
		if err := s.diffBehind(ctx, share); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) diffBehind(ctx context.Context, share float64) error {
	if err := s.changing(ctx); err != nil {
		return err
	}
	older, err := s.newSnapshot(ctx)
	if err != nil {
		return err
	}
	defer older.Close()
	count, err := s.changeShare(ctx, share)
	if err != nil {
		return err
	}
	newer, err := s.newSnapshot(ctx)
	if err != nil {
		return err
	}
	defer newer.Close()
	var to btree.DeviceDiff
	for _, room := range []struct {
		name string
		to   **vk.Buffer[uint32]
	}{{"listed keys", &to.Keys}, {"listed values", &to.Old}, {"listed new values", &to.New}} {
		if *room.to, err = s.roomFor(room.name, count); err != nil {
			return err
		}
	}
	if to.Total, err = s.room("total", 1); err != nil {
		return err
	}
	m := s.measurement(s.n, count)
	m.Changed = share
	return s.add(s.measure(ctx, task{
		Measurement: m,
		record: func() error {
			return s.dictionary.(treeTable).tree.(versioned).diffOn(s.stream, older, newer, to)
		},
		check: func(ctx context.Context) error { return s.checkDiff(ctx, to, count) },
	}))
}

// checkDiff looks whether so many keys that have got other values are all that differ, in their order.
func (s *session) checkDiff(ctx context.Context, to btree.DeviceDiff, count int) error {
	n, err := downloaded(ctx, to.Total, 1)
	if err == nil && int(n[0]) != count {
		err = s.wrong("%d keys differ instead of %d", n[0], count)
	}
	if err != nil {
		return err
	}
	want := make([]uint32, count)
	fill(want, s.present)
	want = ascending(want)
	keys, values, err := s.pairsOf(ctx, to.Keys, to.Old, count)
	if err == nil {
		err = s.checkPairs(keys, values, func(i int) uint32 { return want[i] })
	}
	if err != nil {
		return err
	}
	if keys, values, err = s.pairsOf(ctx, to.Keys, to.New, count); err != nil {
		return err
	}
	return each(count, func(i int) error {
		if other, _ := s.otherValue(want[i]); keys[i] != want[i] || values[i] != other {
			return s.wrong("difference %d: %d became %d, instead of %d becoming %d", i, keys[i], values[i], want[i],
				other)
		}
		return nil
	})
}

// snapshots measures the taking and closing of many, by wall time: a thousand of each time, with an update in between
// that is not counted.
func (s *session) snapshots(ctx context.Context) error {
	if err := s.changing(ctx); err != nil {
		return err
	}
	b := structures.DeviceBatch{Count: 1}
	var err error
	if b.Keys, err = s.batchOf(ctx, "batch keys", 1, s.present); err != nil {
		return err
	}
	if b.Values, err = s.batchOf(ctx, "batch values", 1, func(i int) uint32 {
		return s.space.value(s.present(i))
	}); err != nil {
		return err
	}
	m := s.measurement(s.n, snapshotsTaken)
	for range s.o.Repeat {
		wall, err := s.takeAll(ctx, b)
		if err != nil {
			return err
		}
		m.Wall = append(m.Wall, wall)
	}
	return s.add(m, s.holdsAll(ctx, s.n))
}

// takeAll takes snapshots and closes them, the oldest first, and returns how long that took.
func (s *session) takeAll(ctx context.Context, b structures.DeviceBatch) (wall time.Duration, err error) {
	var open []snapshot
	closing := func() {
		for _, at := range open {
			at.Close()
		}
		open = nil
	}
	defer closing()
	for len(open) < snapshotsTaken {
		start := time.Now()
		for range snapshotsATime {
			at, err := s.newSnapshot(ctx)
			if err != nil {
				return 0, err
			}
			open = append(open, at)
		}
		wall += time.Since(start)
		if err := s.dictionary.(treeTable).On(s.stream).Update(ctx, structures.Insert, b); err != nil {
			return 0, err
		}
		if err := s.stream.Wait(ctx); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	closing()
	return wall + time.Since(start), nil
}
