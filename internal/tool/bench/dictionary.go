package bench

import (
	"context"
	"math"
	"slices"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/vk"
)

// dictionary has the methods of all structures that hold pairs.
type dictionary interface {
	Len(context.Context) (uint64, error)
	Clear(context.Context) error
	Close() error
}

// onStream has the methods that all structures have on a stream. Most have more.
type onStream interface {
	Find(structures.DeviceLookups) error
}

// on returns the methods of the structure that record work on the stream.
func (s *session) on() onStream {
	switch d := s.dictionary.(type) {
	case hashTable:
		if d.keys {
			return setOn{d.On(s.stream)}
		}
		return d.On(s.stream)
	case snapshotTable:
		return d.at.On(s.stream)
	case tree:
		return d.On(s.stream)
	}
	return s.dictionary.(runs).On(s.stream)
}

// apply records a batch of operations of any kinds, which run concurrently.
func (s *session) apply(kind structures.Kind, b structures.DeviceBatch) error {
	return s.on().(structures.ConcurrentOnStream).Apply(kind, b)
}

// updateOn records a batch of updates in which the host takes part.
func (s *session) updateOn(kind structures.Kind, b structures.DeviceBatch) error {
	return s.on().(structures.OnStream).Update(s.ctx, kind, b)
}

// openers make an empty structure. Their names are those of the cells' structures.
var openers = map[string]func(*session) dictionary{
	"slabhash": openMap, "set": openSet, "mvbtree": openVersioned,
	"btree": func(s *session) dictionary {
		return open[tree](s, s.treeOptions(s.batch), btree.New[uint32, uint32], btree.New[uint64, uint64])
	},
	"lsm": func(s *session) dictionary {
		return open[runs](s, lsm.Options{Batch: s.batch, Timed: true}, lsm.New[uint32, uint32], lsm.New[uint64, uint64])
	},
	"sortedarray": func(s *session) dictionary {
		return open[runs](s, sortedarray.Options{Capacity: s.n}, sortedarray.New[uint32, uint32],
			sortedarray.New[uint64, uint64])
	},
}

// opened returns the structure, and makes it if necessary.
func (s *session) opened() dictionary {
	if s.dictionary == nil {
		s.dictionary, s.there = openers[s.kind](s), 0
	}
	return s.dictionary
}

// empty makes the structure empty.
func (s *session) empty() {
	if s.dictionary != nil {
		ok(s.dictionary.Clear(s.ctx))
	}
	s.opened()
	s.there = 0
}

// hold makes the structure have exactly the first pairs of its sequence.
func (s *session) hold(pairs int) {
	if s.there != pairs {
		s.holdOf(s.keys, pairs)
	}
}

// holdOf is hold for the pairs of another sequence, or if the structure is about to be changed.
func (s *session) holdOf(q sequence, pairs int) {
	d, there := s.opened(), s.there
	s.there = -1
	keys, values := s.all(q)
	switch d := d.(type) {
	case hashTable:
		ok(d.Clear(s.ctx))
		s.applyAll(d.hashed, structures.Insert, q, pairs)
	case tree:
		ok(d.On(s.stream).Build(s.ctx, structures.DeviceBatch{Count: pairs, Keys: keys, Values: values}))
	case runs: // the pairs that are missing, batch by batch
		if there < 0 || there > pairs {
			there = 0
			ok(d.Clear(s.ctx))
		}
		s.eachBatch(q, there, pairs, func(b structures.DeviceBatch) {
			ok(s.updateOn(structures.Insert, b))
			must(s.stream.Submit())
		})
	}
	s.wait()
	if q == s.keys {
		s.there = pairs
	}
}

// changing is hold(n) for an operation that changes the structure.
func (s *session) changing() {
	s.hold(s.n)
	s.there = -1
}

// open makes a structure of the session's width.
func open[I, N, W, O any](s *session, o O, narrow func(context.Context, *vk.Device, O) (N, error),
	wide func(context.Context, *vk.Device, O) (W, error)) I {
	if s.width == structures.Bits64 {
		return any(must(wide(s.ctx, s.d, o))).(I)
	}
	return any(must(narrow(s.ctx, s.d, o))).(I)
}

// hashed has the methods that hash tables of pairs and of keys share.
type hashed interface {
	dictionary
	On(*vk.Stream) structures.ConcurrentOnStream
	Inspect() slabhash.Inspection
}

// hashMap has the methods of a map of either width.
type hashMap interface {
	hashed
	Flush(context.Context) error
	Rehash(ctx context.Context, buckets int) error
	InShaders() structures.InShaders[slabhash.Description]
}

func (s *session) newMap(o slabhash.Options) hashMap {
	return open[hashMap](s, o, slabhash.New[uint32, uint32], slabhash.New[uint64, uint64])
}

// hashTable is a hash table with its own pool.
type hashTable struct {
	hashed
	pool *alloc.SlabPool
	keys bool // it is a set
}

func openMap(s *session) dictionary {
	// Room for every operation: mixes insert half as many pairs again, and during a rehash there are two tables. No
	// dispatch may find a full pool.
	load, slots := s.at.Load, slabhash.SlotsAt(s.width, false)
	buckets := bucketsFor(s.n, load, slots)
	slabs := float64(buckets) * (expectedSlabs(1.5*load, slots) - 1)
	if slices.Contains(s.o.Ops, "rehash-half") {
		slabs += float64(buckets) / 2 * (expectedSlabs(2*load, slots) - 1)
	}
	if slices.Contains(s.o.Ops, "rehash-double") {
		slabs += float64(buckets) * 2 * (expectedSlabs(load/2, slots) - 1)
	}
	return s.openHash(buckets, slabs, false)
}

func openSet(s *session) dictionary {
	slots := slabhash.SlotsAt(s.width, true)
	buckets := bucketsFor(s.n, s.at.Load, slots)
	return s.openHash(buckets, float64(buckets)*(expectedSlabs(s.at.Load, slots)-1), true)
}

// openHash makes a table with a pool for about that many slabs in addition to the buckets.
func (s *session) openHash(buckets int, slabs float64, keys bool) dictionary {
	p := alloc.PoolOptions{Blocks: int(math.Ceil(1.25*slabs/alloc.BlockSlabs)) + 16}
	t := hashTable{keys: keys, pool: must(alloc.NewSlabPool(s.ctx, s.d, p))}
	o := s.hashOptions(buckets, t.pool)
	err := attempt(func() {
		if keys {
			t.hashed = open[hashed](s, o, slabhash.NewSet[uint32], slabhash.NewSet[uint64])
		} else {
			o.Timed = true
			t.hashed = s.newMap(o)
		}
	})
	if err != nil {
		t.pool.Close()
		ok(err)
	}
	return t
}

func (s *session) hashOptions(buckets int, pool *alloc.SlabPool) slabhash.Options {
	return slabhash.Options{Buckets: buckets, Load: s.at.Load, MaxLoad: -1, Pool: pool, Tile: s.at.Tile, Seed: s.o.Seed}
}

// bucketsFor returns the number of buckets that gives n elements a load.
func bucketsFor(n int, load float64, slots int) int {
	return max(4, int(math.Ceil(float64(n)/(float64(slots)*load))))
}

// hash returns the map of the hash table.
func (s *session) hash() hashMap { return s.dictionary.(hashTable).hashed.(hashMap) }

// keysOnly reports whether the structure is a set.
func (s *session) keysOnly() bool {
	t, is := s.dictionary.(hashTable)
	return is && t.keys
}

func (t hashTable) Close() error {
	t.hashed.Close()
	return t.pool.Close()
}

// setOn has the methods of a set on a stream. A set has no values.
type setOn struct{ structures.ConcurrentOnStream }

func (t setOn) Find(l structures.DeviceLookups) error {
	l.Values = nil
	return t.ConcurrentOnStream.Find(l)
}

func (t setOn) Apply(kind structures.Kind, b structures.DeviceBatch) error {
	b.Values = nil
	return t.ConcurrentOnStream.Apply(kind, b)
}

// applyAll does a batch of the first keys of a sequence with a hash table, and finishes it.
func (s *session) applyAll(t hashed, kind structures.Kind, q sequence, pairs int) {
	keys, values := s.all(q)
	b := structures.DeviceBatch{Count: pairs, Keys: keys, Values: values, Status: s.status, Left: s.left}
	if s.keysOnly() {
		b.Values = nil
	}
	ok(t.On(s.stream).Apply(kind, b))
	ok(t.On(s.stream).Finish(s.ctx, kind, b))
}

// tree has the methods of a B-link-tree of either width.
type tree interface {
	dictionary
	On(*vk.Stream) btree.OnStream
	Compact(ctx context.Context, fill float64) error
	Reserve(ctx context.Context, pairs int) error
	Inspect() btree.Inspection
}

// treeOptions returns the options of a tree with room for n pairs and that many more.
func (s *session) treeOptions(more int) btree.Options {
	// Room for every operation, at the fill that nodes have after splits: no dispatch may find a full pool.
	fill := s.at.Fill
	if fill == 0 {
		fill = btree.DefaultFill
	}
	capacity := float64(s.n+max(more, s.n/2)) * max(1.25, btree.Slots*fill/6)
	return btree.Options{Capacity: int(capacity), Fill: s.at.Fill, Tile: s.at.Tile}
}

// tree returns the tree, and makes it if necessary.
func (s *session) tree() tree { return s.opened().(tree) }

// runs is a dictionary of sorted runs, into which pairs are inserted batch by batch.
type runs interface {
	dictionary
	On(*vk.Stream) structures.OrderedOnStream
}

// structure returns the dictionary as its package defines it.
func (s *session) structure() any {
	if t, is := s.dictionary.(hashTable); is {
		return t.hashed
	}
	return s.dictionary
}

// expectedSlabs returns the average number of slabs of a bucket, at a load (elements / slots of one slab for each
// bucket). Keys fall into buckets at random, so the number of keys in a bucket has a Poisson distribution. Each bucket
// has at least one slab.
func expectedSlabs(load float64, slots int) float64 {
	mean := load * float64(slots)
	reach := 10*math.Sqrt(mean) + 30
	sum := 0.0
	for k := math.Floor(max(0, mean-reach)); k <= mean+reach; k++ {
		gamma, _ := math.Lgamma(k + 1)
		p := math.Exp(k*math.Log(mean) - mean - gamma)
		sum += p * max(1, math.Ceil(k/float64(slots)))
	}
	return sum
}
