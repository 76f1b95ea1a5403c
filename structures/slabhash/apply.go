package slabhash

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// initialVisits bounds the slabs that a tile visits in one dispatch. It is far above what a table of
// reasonable load needs; where lists are so long that nothing gets done, it is raised, up to maxVisits or
// to what a DeleteAll of all pairs takes in a mixed batch, if one list had all slabs: a visit for each pair.
const (
	initialVisits = 1 << 14
	maxVisits     = 1 << 18
)

// A mixed batch on a stream has kinds that the host doesn't know. Its kernel is the faster one, which walks to the end
// of a list to append a value, and would visit the slabs of a key once for each value that the batch appends to it. So
// the tiles of such a batch share a budget, which is at least so many visits an operation. What is left pending gets
// the kernel that skips to the end, in Finish.
const (
	sharedVisits = 1 << 20
	leastVisits  = 32
)

// visitsOnStream returns how many slabs a tile visits in a mixed batch on a stream.
func (t *table) visitsOnStream(operations int) uint32 {
	tile := t.tiles.update
	return min(t.visits, uint32(max(sharedVisits*tile/operations, leastVisits*tile)))
}

type applyPush struct {
	Hash     Description
	Keys     uint64
	Values   uint64
	Kinds    uint64
	Statuses uint64
	Pending  uint64
	Count    uint32
	Visits   uint32
	Retry    uint32
}

type findPush struct {
	Hash   Description
	Keys   uint64
	Values uint64
	Found  uint64
	Count  recording.Length
}

// operands are the addresses of a batch on the device.
type operands struct {
	keys, values, kinds, statuses, pending uint64
	count                                  int
	retry                                  bool
	tails                                  bool   // of a mixed batch: some operations may skip to a list's end
	visits                                 uint32 // 0: the table's
	plain                                  bool   // no operation updates a value in place
	groups                                 sequential.Indirect
}

// applyKernel describes the kernel for operations of one kind, or Mixed. plain and tails are as in operands.
func (t *table) applyKernel(kind structures.Kind, plain, tails bool) recording.Spec[applyPush] {
	values := t.columns.Values.Type
	if plain {
		values = saved.Type{}
	}
	module, constants := recording.OfValues(t.protocol("apply"), kind, values)
	constants = append(constants, recording.Constant("KIND", uint32(kind)))
	if kind == structures.DeleteAll {
		module, constants = t.protocol("delete_all"), nil
	}
	if t.width == structures.Bits64 && t.d.Has(vk.Int64Atomics) {
		constants = append(constants, recording.Torn(t.d, "SLAB_TORN"))
	}
	if kind == structures.Mixed { // without tails 6 to 9% faster (H100)
		constants = append(constants, recording.Constant("SLAB_TAILS", uint32(when(tails, 1))))
	}
	tile := t.tiles.update
	if kind == structures.Insert || kind == structures.InsertUnique || kind == structures.InsertDuplicate {
		tile = t.tiles.insert
	}
	return overPool[applyPush](module, tile, constants...)
}

// recordApply records a batch of operations of one kind, or Mixed.
func (t *table) recordApply(s *vk.Stream, kind structures.Kind, b operands) error {
	k, err := t.applyKernel(kind, b.plain, b.tails).Kernel(t.kernels, s)
	if err != nil {
		return err
	}
	p := applyPush{
		Hash: t.description(t.base), Keys: b.keys, Values: b.values, Kinds: b.kinds, Statuses: b.statuses,
		Pending: b.pending, Count: uint32(b.count), Visits: cmp.Or(b.visits, t.visits),
	}
	if b.retry {
		p.Retry = 1
	}
	sequential.Dispatch(s, k, groups(b.count), b.groups, p)
	return nil
}

// recordInOrder records a batch of insertions of which equal keys count in the batch's order.
func (t *table) recordInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	t.ahead.Begin(t.kernels, int(kind), func() recording.Table {
		return append(sequential.Kernels(t.width), t.applyKernel(kind, b.plain, b.tails))
	})
	c := sequential.Chunk{
		Kind: kind, Width: t.width, Keys: b.keys, Statuses: b.statuses, Pending: b.pending, Count: b.count,
		Retry: b.retry, KeysOnly: t.keys,
	}
	return t.order.Record(s, c, func(p sequential.Pass) error {
		o := b
		o.statuses, o.retry, o.groups = p.Statuses, p.Retry, p.Groups
		return t.recordApply(s, p.Kind, o)
	})
}

func (t *table) recordFind(s *vk.Stream, keys, values, found uint64, count recording.Length) error {
	k, err := t.findKernel().Kernel(t.kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(int(count.N)), findPush{t.description(t.base), keys, values, found, count})
	return nil
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
	s, err := t.survey(ctx, t.stream, false)
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
	t.meter.Retry()
	stats, err := t.pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		// Each may need a slab, though most meet in one; the pool doubles in any case, if it can.
		return t.pool.Relieve(ctx, stats.Free, max(1, pending/t.slots/slabs.BlockSlabs), stuck)
	}
	if !stuck {
		return nil
	}
	return t.raise(&t.visits, pending)
}

// calm ends the raised visits of a call, which began with so many.
func (t *table) calm(visits uint32) { t.visits = visits }

// raise raises a visit budget with which so many operations came no further.
func (t *table) raise(visits *uint32, pending int) error {
	all := uint64(t.pool.Description().Blocks)*slabs.BlockSlabs + uint64(t.base.buckets)
	most := min(max(maxVisits, uint64(t.slots+1)*all), math.MaxUint32)
	if uint64(*visits) >= most {
		return &structures.StuckError{Operations: pending}
	}
	*visits = uint32(min(4*uint64(*visits), most))
	return nil
}
