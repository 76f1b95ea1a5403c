package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// versioned is a tree with snapshots at either width.
type versioned interface {
	tree
	snapshot(context.Context) (snapshot, error)
}

// snapshot is what a tree held at a time.
type snapshot interface {
	On(*vk.Stream) structures.QueriesOnStream
	Len(context.Context) (uint64, error)
	Close() error
}

type versionedTree[W structures.Word] struct{ *btree.Tree[W, W] }

func (t versionedTree[W]) snapshot(ctx context.Context) (snapshot, error) { return t.Snapshot(ctx) }

func newVersioned[W structures.Word](ctx context.Context, d *vk.Device, o btree.Options) (tree, error) {
	t, err := btree.New[W, W](ctx, d, o)
	return versionedTree[W]{t}, err
}

func openVersioned(s *session) dictionary {
	// A batch whose tree has to grow first is submitted in between, and has no time of its own.
	return open[tree](s, s.treeOptions(4*snapshotBatches*s.batch), newVersioned[uint32], newVersioned[uint64])
}

// snapshotTable is a tree as queries see it at a snapshot.
type snapshotTable struct {
	at snapshot
	tree
}

const snapshotBatches = 8 // of a series, after a snapshot each

// newSnapshot opens one of the tree at hand.
func (s *session) newSnapshot() snapshot { return must(s.tree().(versioned).snapshot(s.ctx)) }

// insertSnapshots measures a series of batches of new pairs into n, each after a snapshot of its own. The one before
// is closed then. The device's times are those of the batches; by wall time, snapshots and the freeing of versions are
// in it, too. Beside it stand the same batches without snapshots.
func (s *session) insertSnapshots() {
	pairs := s.n + snapshotBatches*s.batch
	q := newSequence(s.space, s.keys.order, pairs)
	m := s.measurement(s.n, snapshotBatches*s.batch)
	m.Batch = s.batch
	without := m
	without.Op = "insert-series"
	without = s.add(s.series(without, func() (_, _ []time.Duration) { return s.snapshotSeries(q, false) }))
	m = s.series(m, func() (_, _ []time.Duration) { return s.snapshotSeries(q, true) })
	s.sound(pairs)
	s.there = -1
	m.beside("time of "+without.Op, without.Time())
	s.add(m)
}

// snapshotSeries is one run of the batches, again where operations were given up (run).
func (s *session) snapshotSeries(q sequence, taken bool) (device, wall []time.Duration) {
	for start := time.Now(); ; {
		s.holdOf(q, s.n)
		s.there = -1
		s.stream.Fill(s.left, 0, 4, 0)
		device, wall = s.snapshotRun(q, taken)
		left := s.download(s.left, 1)[0]
		if left == 0 {
			return device, wall
		}
		if time.Since(start) >= s.patience {
			s.failPending(left)
		}
	}
}

func (s *session) snapshotRun(q sequence, taken bool) (device, wall []time.Duration) {
	var at snapshot
	closing := func() {
		if at != nil {
			at.Close()
		}
	}
	defer func() { closing() }()
	for first := s.n; first < s.n+snapshotBatches*s.batch; first += s.batch {
		key := func(i int) uint32 { return q.key(first + i) }
		b := structures.DeviceBatch{Count: s.batch, Keys: s.batchOf("batch keys", s.batch, key),
			Values: s.batchOf("batch values", s.batch, func(i int) uint32 { return s.space.value(key(i)) })}
		s.heat() // the host was at work for long
		start := time.Now()
		if taken {
			next := s.newSnapshot()
			closing()
			at = next
		}
		_, d := s.timed(func() error { return s.update(structures.Insert, b) })
		if d == nil {
			s.fail("the tree had to grow, so that the device's time is not that of all")
		}
		device, wall = append(device, *d), append(wall, time.Since(start))
	}
	if at != nil {
		want := uint64(s.n + (snapshotBatches-1)*s.batch)
		if n := must(at.Len(s.ctx)); n != want && s.download(s.left, 1)[0] == 0 {
			s.fail("%d pairs at the snapshot instead of %d", n, want)
		}
	}
	return device, wall
}

// atSnapshot measures queries of a snapshot after which a share of the keys has got other values.
func atSnapshot(measure func(*session)) func(*session) {
	return func(s *session) {
		s.changing()
		at, live := s.newSnapshot(), s.tree()
		defer at.Close()
		defer s.ending()
		s.changeShare(s.own.Changed)
		defer func() { s.dictionary, s.there = live, -1 }()
		s.dictionary, s.there = snapshotTable{at, live}, s.n
		measure(s)
	}
}

// changeShare gives a share of the keys other values: the first ones of present.
func (s *session) changeShare(share float64) {
	for _, p := range chunks(max(1, int(share*float64(s.n))), 1<<22) {
		b := s.assignment(p.count, func(i int) uint32 { return s.present(p.first + i) })
		ok(s.updateOn(structures.Insert, b))
		s.wait()
	}
}
