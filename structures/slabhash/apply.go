package slabhash

import (
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/sequential"
	"github.com/vkds/vkds/vk"
)

// initialRounds bounds the slabs that a tile visits in one dispatch. It is far above what a table of
// reasonable load needs; where lists are so long that nothing gets done, it is raised, up to maxRounds or
// to twice the slabs that there are, which no list is longer than.
const (
	initialRounds = 1 << 14
	maxRounds     = 1 << 18
)

type applyPush struct {
	Hash     Device
	Keys     uint64
	Values   uint64
	Kinds    uint64
	Statuses uint64
	Pending  uint64
	Count    uint32
	Rounds   uint32
	Retry    uint32
}

type findPush struct {
	Hash   Device
	Keys   uint64
	Values uint64
	Found  uint64
	Count  uint32
}

// operands are the addresses of a batch on the device.
type operands struct {
	keys, values, kinds, statuses, pending uint64
	count                                  int
	retry                                  bool
	groups                                 sequential.Indirect
}

// recordApply records a batch of operations of one kind, or Mixed.
func (t *table) recordApply(s *vk.Stream, kind structures.Kind, b operands) error {
	module := "apply.map32"
	if t.keys {
		module = "apply.set"
	} else if t.d.Has(vk.Int64Atomics) {
		module = "apply.map64"
	}
	k, err := kernel[applyPush](t, s, module, t.tiles.update, recording.Constant("KIND", uint32(kind)))
	if err != nil {
		return err
	}
	p := applyPush{
		Hash: t.device(t.base), Keys: b.keys, Values: b.values, Kinds: b.kinds, Statuses: b.statuses,
		Pending: b.pending, Count: uint32(b.count), Rounds: t.rounds,
	}
	if b.retry {
		p.Retry = 1
	}
	sequential.Dispatch(s, k, groups(b.count), b.groups, p)
	return nil
}

// recordInOrder records a batch of insertions of which equal keys count in the batch's order.
func (t *table) recordInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	c := sequential.Chunk{
		Kind: kind, Keys: b.keys, Statuses: b.statuses, Pending: b.pending, Count: b.count, Retry: b.retry, KeysOnly: t.keys,
	}
	return t.order.Record(s, c, func(p sequential.Pass) error {
		b.statuses, b.retry, b.groups = p.Statuses, p.Retry, p.Groups
		return t.recordApply(s, p.Kind, b)
	})
}

func (t *table) recordFind(s *vk.Stream, keys, values, found uint64, count int) error {
	k, err := kernel[findPush](t, s, t.variant("find"), t.tiles.find)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(count), findPush{t.device(t.base), keys, values, found, uint32(count)})
	return nil
}

// apply does a batch of one kind from Go slices.
func (t *table) apply(ctx context.Context, kind structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if err := t.enter(ctx); err != nil {
		return pipeline.NotBegun(len(keys), err)
	}
	defer t.leave()
	return t.run(ctx, kind, nil, keys, values)
}

// run does a batch from Go slices. values is what insertions bring and what lookups and counts give;
// nil if the kind has neither.
func (t *table) run(ctx context.Context, kind structures.Kind, kinds []structures.Kind, keys, values []uint32) ([]structures.Status, error) {
	if values != nil && len(values) != len(keys) {
		return nil, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	statuses := make([]structures.Status, len(keys))
	out := kind == structures.Mixed || kind > structures.Delete
	ordered := sequential.Matters(kind, keys)
	for done := 0; done < len(keys); {
		n := len(keys) - done
		if kind == structures.Mixed || kind.Inserts() {
			room, err := t.roomFor(ctx, n)
			if err != nil {
				return statuses, pipeline.Stopped(statuses, err)
			}
			n = min(n, room)
			t.used += uint64(n)
		}
		part := func(s []uint32) []uint32 {
			if s == nil {
				return nil
			}
			return s[done : done+n]
		}
		columns := []pipeline.Column{
			pipeline.In(part(keys)), pipeline.In(part(values)), {}, pipeline.Out(statuses[done : done+n]),
		}
		columns[1].In, columns[1].Out = kind == structures.Mixed || kind.Inserts(), out
		if kinds != nil {
			columns[2] = pipeline.In(kinds[done : done+n])
		}
		err := t.pipeline.Run(ctx, n, columns, t.order.Begin(pipeline.Task{
			Record: func(s *vk.Stream, c pipeline.Chunk) error {
				b := operands{
					keys: c.Columns[0], values: c.Columns[1], kinds: c.Columns[2], statuses: c.Columns[3],
					pending: c.Pending, count: c.Count, retry: c.Retry,
				}
				if ordered {
					return t.recordInOrder(s, kind, b)
				}
				return t.recordApply(s, kind, b)
			},
			Recover:  t.makeRoom,
			Progress: pipeline.After(t.o.Progress, done, len(keys)),
		}))
		if err != nil {
			return statuses, pipeline.Stopped(statuses, err)
		}
		done += n
	}
	return statuses, nil
}

// roomFor returns how many insertions may be dispatched before the load is to be looked at again, after
// a rehash if it is time for one. A table that has no room for the batch takes it in growing parts, so
// that its lists stay short while it is small.
func (t *table) roomFor(ctx context.Context, n int) (int, error) {
	if t.o.MaxLoad < 0 {
		return n, nil
	}
	limit := func() uint64 { return uint64(t.o.MaxLoad * float64(t.slots) * float64(t.base.buckets)) }
	if t.used+uint64(n) <= limit() {
		return n, nil
	}
	s, err := t.survey(ctx, false)
	if err != nil {
		return 0, err
	}
	t.used = s.live + s.tombstones
	if t.used+uint64(n) <= limit() {
		return n, nil
	}
	// There may be room for a part. If it is a small one, the table grows, to have room for as many pairs
	// again and the batch, unless that is far larger than what is there.
	if room := limit() - min(limit(), t.used); room > limit()/4 {
		return int(room), nil
	}
	expect := s.live + min(uint64(n), max(3*s.live, 1<<18))
	if buckets := t.bucketsFor(expect); buckets > t.base.buckets || s.tombstones > s.live {
		err := t.rehash(ctx, max(buckets, t.base.buckets), nil)
		switch {
		case err == nil:
			t.used = s.live
		case pipeline.Short(err):
			// No memory for more buckets: longer lists then. If that fails too, it says so.
			return n, nil
		default:
			return 0, fmt.Errorf("rehash before the insertion: %w", err)
		}
	}
	return min(n, max(int(limit()-min(limit(), t.used)), 1<<16)), nil
}

// makeRoom serves operations that were left pending: the pool was full, or lists are very long. stuck:
// since the last call none was finished.
func (t *table) makeRoom(ctx context.Context, pending int, stuck bool) error {
	pool := t.pool.Inside()
	stats, err := pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		// Each may need a slab, though most meet in one; the pool doubles in any case, if it can.
		return pool.Relieve(ctx, stats, max(1, pending/t.slots/alloc.BlockSlabs), stuck)
	}
	if !stuck {
		return nil
	}
	most := min(max(maxRounds, 2*(uint64(stats.Slabs)+uint64(t.base.buckets))), math.MaxUint32)
	if uint64(t.rounds) >= most {
		return &structures.StuckError{Operations: pending}
	}
	t.rounds = uint32(min(4*uint64(t.rounds), most))
	return nil
}

// find looks keys up, from Go slices; values is nil for a set.
func (t *table) find(ctx context.Context, keys, values []uint32) ([]bool, error) {
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	defer t.leave()
	found := make([]bool, len(keys))
	columns := []pipeline.Column{pipeline.In(keys), pipeline.Out(values), pipeline.Out(found)}
	err := t.pipeline.Run(ctx, len(keys), columns, pipeline.Task{
		Record: func(s *vk.Stream, c pipeline.Chunk) error {
			return t.recordFind(s, c.Columns[0], c.Columns[1], c.Columns[2], c.Count)
		},
		Progress: t.o.Progress,
	})
	return found, err
}

// count counts the pairs of each key.
func (t *table) count(ctx context.Context, keys []uint32) ([]uint32, error) {
	if err := t.enter(ctx); err != nil {
		return nil, err
	}
	defer t.leave()
	counts := make([]uint32, len(keys))
	_, err := t.run(ctx, structures.Count, nil, keys, counts)
	return counts, pipeline.Cause(err)
}

// deleteAll removes all pairs of each key, and counts them.
func (t *table) deleteAll(ctx context.Context, keys []uint32) ([]uint32, error) {
	counts := make([]uint32, len(keys))
	_, err := t.apply(ctx, structures.DeleteAll, keys, counts)
	return counts, err
}

// mixed does a batch of operations of any kinds.
func (t *table) mixed(ctx context.Context, b structures.Batch) (structures.Results, error) {
	if err := pipeline.Lengths(b); err != nil {
		return structures.Results{}, err
	}
	values := make([]uint32, len(b.Keys))
	copy(values, b.Values)
	for i, k := range b.Kinds {
		if k == structures.Mixed || k > structures.Count || b.Values == nil && k.Inserts() && !t.keys {
			return structures.Results{}, &structures.KindError{Index: i, Kind: k}
		}
	}
	if err := t.enter(ctx); err != nil {
		statuses, err := pipeline.NotBegun(len(b.Keys), err)
		return structures.Results{Status: statuses, Values: values}, err
	}
	defer t.leave()
	statuses, err := t.run(ctx, structures.Mixed, b.Kinds, b.Keys, values)
	return structures.Results{Status: statuses, Values: values}, err
}
