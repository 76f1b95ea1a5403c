package bench

import (
	"context"
	"math"
	"slices"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/internal/tool/bench/latched"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

// handle is what there is of every structure, whatever its pairs.
type handle interface {
	Len(context.Context) (uint64, error)
	Clear(context.Context) error
	Close() error
}

// dictionary is what the operations want of every structure that holds pairs.
type dictionary interface {
	handle
	FindOn(*vk.Stream, structures.DeviceLookups) error

	// hold makes it one of the first so many pairs of a sequence, however it does that best. there are those of the
	// session's own sequence that it has; -1: it has something else.
	hold(ctx context.Context, s *session, q sequence, there, pairs int) error
}

// concurrent is a dictionary whose operations of a batch may be of all kinds, done concurrently.
type concurrent interface {
	dictionary
	ApplyOn(*vk.Stream, structures.Kind, structures.DeviceBatch) error
}

// ordered is a dictionary with order.
type ordered interface {
	dictionary
	queries(*vk.Stream) structures.QueriesOnStream
}

// leveled is one made of sorted runs, which are inserted batch by batch.
type leveled interface {
	ordered
	UpdateOn(context.Context, *vk.Stream, structures.Kind, structures.DeviceBatch) error
}

// hashOn has the calls of a map or a set on a stream.
type hashOn interface {
	On(*vk.Stream) structures.ConcurrentOnStream
}

// hashTable is what a map has at either width.
type hashTable interface {
	handle
	hashOn
	Stats(context.Context) (slabhash.Stats, error)
	Flush(context.Context) error
	Rehash(ctx context.Context, buckets int) error
	InShaders() structures.InShaders[slabhash.Device]
	Timings() []vk.Timing
}

func newMap[W structures.Word](ctx context.Context, d *vk.Device, o slabhash.Options) (hashTable, error) {
	return slabhash.New[W, W](ctx, d, o)
}

// newMap makes one of the width at hand.
func (s *session) newMap(ctx context.Context, o slabhash.Options) (hashTable, error) {
	return atWidth(s, newMap[uint32], newMap[uint64])(ctx, s.d, o)
}

// mapTable is a hash table of pairs, with a pool of its own.
type mapTable struct {
	hashTable
	pool *alloc.SlabPool
}

func openMap(ctx context.Context, s *session) (dictionary, error) {
	// Room for all that any operation here comes to: the mixes insert half as many pairs again, and a rehash has
	// two tables at a time. No dispatch may meet a full pool.
	load, slots := s.at.load, slabhash.SlotsAt(s.width, false)
	buckets := bucketsFor(s.n, load, slots)
	slabs := float64(buckets) * (expectedSlabs(1.5*load, slots) - 1)
	if slices.Contains(s.options.Ops, "rehash-half") {
		slabs += float64(buckets) / 2 * (expectedSlabs(2*load, slots) - 1)
	}
	if slices.Contains(s.options.Ops, "rehash-double") {
		slabs += float64(buckets) * 2 * (expectedSlabs(load/2, slots) - 1)
	}
	pool, err := s.poolOf(ctx, slabs)
	if err != nil {
		return nil, err
	}
	o := s.hashOptions(buckets, pool)
	o.Timed = true
	m, err := s.newMap(ctx, o)
	if err != nil {
		pool.Close()
		return nil, err
	}
	return mapTable{m, pool}, nil
}

// poolOf is a pool for about so many slabs.
func (s *session) poolOf(ctx context.Context, slabs float64) (*alloc.SlabPool, error) {
	return alloc.NewSlabPool(ctx, s.d, alloc.PoolOptions{Blocks: int(math.Ceil(1.25*slabs/alloc.BlockSlabs)) + 16})
}

func (s *session) hashOptions(buckets int, pool *alloc.SlabPool) slabhash.Options {
	return slabhash.Options{Buckets: buckets, Load: s.at.load, MaxLoad: -1, Pool: pool, Tile: s.at.tile, Seed: s.o.Seed}
}

// bucketsFor is how many buckets have a load.
func bucketsFor(n int, load float64, slots int) int {
	return max(4, int(math.Ceil(float64(n)/(float64(slots)*load))))
}

func (t mapTable) Close() error {
	t.hashTable.Close()
	return t.pool.Close()
}

func (t mapTable) hold(ctx context.Context, s *session, q sequence, _, pairs int) error {
	return s.holdHash(ctx, q, pairs, t.hashTable)
}

// setTable is a hash table of keys alone.
type setTable struct {
	hashSet
	pool *alloc.SlabPool
}

// hashSet is what a set has at either width.
type hashSet interface {
	handle
	hashOn
	Stats(context.Context) (slabhash.Stats, error)
}

func newSet[W structures.Word](ctx context.Context, d *vk.Device, o slabhash.Options) (hashSet, error) {
	return slabhash.NewSet[W](ctx, d, o)
}

func openSet(ctx context.Context, s *session) (dictionary, error) {
	slots := slabhash.SlotsAt(s.width, true)
	buckets := bucketsFor(s.n, s.at.load, slots)
	pool, err := s.poolOf(ctx, float64(buckets)*(expectedSlabs(s.at.load, slots)-1))
	if err != nil {
		return nil, err
	}
	set, err := atWidth(s, newSet[uint32], newSet[uint64])(ctx, s.d, s.hashOptions(buckets, pool))
	if err != nil {
		pool.Close()
		return nil, err
	}
	return setTable{set, pool}, nil
}

// ofSet measures an operation on a set instead of the map.
func ofSet(measure func(*session, context.Context) error) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error {
		column := *s.benchmark
		column.open = openSet
		set := newSession(s.workload, &column, s.options, s.at, s.report)
		set.op, set.width = s.op, s.width
		defer set.close()
		return measure(set, ctx)
	}
}

func (s *session) keysOnly() bool { _, is := s.dictionary.(setTable); return is }

func (t setTable) Close() error {
	t.hashSet.Close()
	return t.pool.Close()
}

func (t setTable) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	return t.On(s).Find(structures.DeviceLookups{Count: l.Count, Keys: l.Keys, Found: l.Found})
}

func (t setTable) ApplyOn(s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	b.Values = nil
	return t.On(s).Apply(kind, b)
}

func (t setTable) hold(ctx context.Context, s *session, q sequence, _, pairs int) error {
	return s.holdHash(ctx, q, pairs, t.hashSet)
}

// holdHash makes a hash table one of pairs by one batch, and notes its utilisation.
func (s *session) holdHash(ctx context.Context, q sequence, pairs int, table interface {
	Clear(context.Context) error
	hashOn
	Stats(context.Context) (slabhash.Stats, error)
}) error {
	if err := table.Clear(ctx); err != nil {
		return err
	}
	keys, values, err := s.all(ctx, q)
	if err != nil {
		return err
	}
	b := structures.DeviceBatch{Count: pairs, Keys: keys, Values: values, Status: s.status, Left: s.left}
	if err := s.dictionary.(concurrent).ApplyOn(s.stream, structures.Insert, b); err != nil {
		return err
	}
	if s.keysOnly() {
		b.Values = nil
	}
	if err := table.On(s.stream).Finish(ctx, structures.Insert, b); err != nil || s.utility != 0 {
		return err
	}
	stats, err := table.Stats(ctx)
	if err == nil && stats.Pairs != uint64(pairs) {
		err = s.wrong("%d pairs in the table instead of %d", stats.Pairs, pairs)
	}
	s.utility = stats.Utilization
	return err
}

// tree is what a B-link-tree has at either width.
type tree interface {
	handle
	On(*vk.Stream) btree.OnStream
	Check(context.Context) error
	Compact(ctx context.Context, fill float64) error
	Stats(context.Context) (btree.Stats, error)
}

// treeTable is a B-link-tree.
type treeTable struct{ tree }

func openTree(ctx context.Context, s *session) (dictionary, error) {
	return s.openTreeFor(ctx, s.batch, atWidth(s, newTree[uint32], newTree[uint64]))
}

// openTreeFor makes a tree with room for so many more than n pairs.
func (s *session) openTreeFor(ctx context.Context, more int,
	make func(context.Context, *vk.Device, btree.Options) (tree, error)) (dictionary, error) {
	// Room for all that any operation comes to, at the fill that nodes have after they were split: no dispatch
	// may meet a full pool.
	fill := s.at.fill
	if fill == 0 {
		fill = btree.DefaultFill
	}
	capacity := float64(s.n+max(more, s.n/2)) * max(1.25, btree.Slots*fill/6)
	o := btree.Options{Capacity: int(capacity), Fill: s.at.fill, Tile: s.at.tile}
	t, err := make(ctx, s.d, o)
	if err != nil {
		return nil, err
	}
	return treeTable{t}, nil
}

func newTree[W structures.Word](ctx context.Context, d *vk.Device, o btree.Options) (tree, error) {
	return btree.New[W, W](ctx, d, o)
}

func (t treeTable) hold(ctx context.Context, s *session, q sequence, _, pairs int) error {
	keys, values, err := s.all(ctx, q)
	if err != nil {
		return err
	}
	if err := t.On(s.stream).Build(ctx, structures.DeviceBatch{Count: pairs, Keys: keys, Values: values}); err != nil {
		return err
	}
	return s.stream.Wait(ctx)
}

// runs is what a sorted array has at either width.
type runs interface {
	handle
	On(*vk.Stream) structures.OrderedOnStream
}

// levelsOfRuns is what an LSM has.
type levelsOfRuns interface {
	runs
	Cleanup(context.Context) error
	Timings() []vk.Timing
}

// lsmTable is an LSM.
type lsmTable struct{ levelsOfRuns }

func openLSM(ctx context.Context, s *session) (dictionary, error) {
	l, err := atWidth(s, newLSM[uint32], newLSM[uint64])(ctx, s.d, lsm.Options{Batch: s.batch, Timed: true})
	if err != nil {
		return nil, err
	}
	return lsmTable{l}, nil
}

func newLSM[W structures.Word](ctx context.Context, d *vk.Device, o lsm.Options) (levelsOfRuns, error) {
	return lsm.New[W, W](ctx, d, o)
}

func (l lsmTable) hold(ctx context.Context, s *session, q sequence, there, pairs int) error {
	return s.holdBatches(ctx, q, there, pairs)
}

// arrayTable is a sorted array.
type arrayTable struct{ runs }

func openSortedArray(ctx context.Context, s *session) (dictionary, error) {
	a, err := atWidth(s, newArray[uint32], newArray[uint64])(ctx, s.d, sortedarray.Options{Capacity: s.n})
	if err != nil {
		return nil, err
	}
	return arrayTable{a}, nil
}

func newArray[W structures.Word](ctx context.Context, d *vk.Device, o sortedarray.Options) (runs, error) {
	return sortedarray.New[W, W](ctx, d, o)
}

func (a arrayTable) hold(ctx context.Context, s *session, q sequence, there, pairs int) error {
	return s.holdBatches(ctx, q, there, pairs)
}

// holdBatches inserts the pairs that are missing batch by batch.
func (s *session) holdBatches(ctx context.Context, q sequence, there, pairs int) error {
	if there < 0 || there > pairs {
		there = 0
		if err := s.dictionary.Clear(ctx); err != nil {
			return err
		}
	}
	return s.insert(ctx, q, there, pairs, nil)
}

// structure is the dictionary as its package has it.
func (s *session) structure() any {
	switch d := s.dictionary.(type) {
	case mapTable:
		return d.hashTable
	case treeTable:
		return d.tree
	case lsmTable:
		return d.levelsOfRuns
	case arrayTable:
		return d.runs
	}
	return s.dictionary
}

// inLevels says whether the structure is made of levels, of which the smallest has a batch.
func (s *session) inLevels() bool { return s.name == "lsm" }

// latchedTable is a tree of the papers.
type latchedTable struct {
	*latched.Tree
	s *session
}

func openLatched(_ context.Context, s *session) (dictionary, error) {
	o := s.at.latched
	o.Pairs = s.n + s.batch
	t, err := latched.New(s.d, o)
	if err != nil {
		return nil, err
	}
	t.Clear(s.stream)
	return latchedTable{t, s}, nil
}

func (t latchedTable) Close() error {
	t.Tree.Close()
	return nil
}

func (t latchedTable) Clear(context.Context) error {
	t.Tree.Clear(t.s.stream)
	return nil
}

func (t latchedTable) Len(ctx context.Context) (uint64, error) {
	pairs, err := t.Tree.Check(ctx)
	return uint64(pairs), err
}

func (t latchedTable) FindOn(s *vk.Stream, l structures.DeviceLookups) error {
	t.Tree.FindOn(s, l.Count, l.Keys, l.Values, l.Found)
	return nil
}

func (t latchedTable) hold(ctx context.Context, s *session, q sequence, _, pairs int) error {
	keys, values, err := s.all(ctx, q)
	if err != nil {
		return err
	}
	t.Tree.Clear(s.stream)
	b := latched.Batch{Keys: keys, Values: values, Status: s.status, Left: s.left}
	return s.insertLatched(ctx, b, doubling(pairs, pairs))
}
