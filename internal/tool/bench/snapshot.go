package bench

import (
	"context"
	"time"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// versioned is a tree with snapshots, of either width.
type versioned interface {
	tree
	snapshot(context.Context) (snapshot, error)
}

// snapshot has the methods of a snapshot of either width.
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
	// If the tree has to grow for a batch, the batch is submitted in parts, and has no time of its own. So the tree is
	// large.
	return open[tree](s, s.treeOptions(4*snapshotBatches*s.batch), newVersioned[uint32], newVersioned[uint64])
}

// snapshotTable is a tree whose queries read a snapshot.
type snapshotTable struct {
	at snapshot
	tree
}

const snapshotBatches = 8 // of a series; before each one a snapshot is opened

// newSnapshot opens a snapshot of the tree.
func (s *session) newSnapshot() snapshot { return must(s.tree().(versioned).snapshot(s.ctx)) }

// insertSnapshots measures a series of batches of new pairs into n pairs. Before each batch a snapshot is opened, and
// the last one is closed. The device's times are those of the batches. Wall times include the snapshots and the freeing
// of versions. The same batches without snapshots are measured for comparison.
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
	m.Beside(without.Op, without.Time())
	s.add(m)
}

// snapshotSeries does one run of the batches.
func (s *session) snapshotSeries(q sequence, taken bool) (device, wall []time.Duration) {
	s.untilDone(func() uint32 {
		s.holdOf(q, s.n)
		s.there = -1
		device, wall = s.snapshotRun(q, taken)
		return s.download(s.left, 1)[0]
	})
	return device, wall
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
		s.heat() // the host was busy for long, so the clock may have dropped
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

// atSnapshot measures queries of a snapshot, after a share of the keys has got other values.
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

// changeShare gives other values to a share of the keys: the first ones of present.
func (s *session) changeShare(share float64) {
	for _, p := range chunks(max(1, int(share*float64(s.n))), 1<<22) {
		b := s.assignment(p.count, func(i int) uint32 { return s.present(p.first + i) })
		ok(s.updateOn(structures.Insert, b))
		s.wait()
	}
}
