package slabhash

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/sequential"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// initialVisits bounds the slabs that a tile visits in one dispatch. It is far above what a table of reasonable load
// needs. If lists are so long that no operation gets done, the bound is raised, up to maxVisits, or to one visit for
// each pair of a list of all slabs: a DeleteAll in a mixed batch may need that many.
const (
	initialVisits = 1 << 14
	maxVisits     = 1 << 18
)

// The host does not know the kinds of a mixed batch on a stream. The batch gets the faster kernel, which walks to the
// end of a list to append a value. For many values of one key, that kernel visits the key's slabs once for each value.
// Therefore the tiles of such a batch share a budget of visits, with at least leastVisits for each operation.
// Operations that are left pending get the kernel that skips to the end, in Finish.
const (
	sharedVisits = 1 << 20
	leastVisits  = 32
)

// visitsOnStream returns the number of slabs that a tile may visit in a mixed batch on a stream.
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
	tails                                  bool   // the kernel of a mixed batch may skip to a list's end
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
	if t.width == structures.Bits64 && t.Device.Has(vk.Int64Atomics) {
		constants = append(constants, recording.Torn(t.Device, "SLAB_TORN"))
	}
	if kind == structures.Mixed { // without tails it is 6 to 9% faster (H100)
		constants = append(constants, recording.Constant("SLAB_TAILS", uint32(when(tails, 1))))
	}
	tile := t.tiles.update
	if kind == structures.Insert || kind == structures.InsertUnique || kind == structures.InsertDuplicate {
		tile = t.tiles.insert
	}
	return overPool[applyPush](t, module, tile, constants...)
}

// recordApply records a batch of operations of one kind, or Mixed.
func (t *table) recordApply(s *vk.Stream, kind structures.Kind, b operands) error {
	k, err := t.applyKernel(kind, b.plain, b.tails).Kernel(t.Kernels, s)
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

// recordInOrder records a batch of insertions in which equal keys take effect in the batch's order.
func (t *table) recordInOrder(s *vk.Stream, kind structures.Kind, b operands) error {
	t.ahead.Begin(t.Kernels, int(kind), func() recording.Table {
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
	k, err := t.findKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(int(count.N)), findPush{t.description(t.base), keys, values, found, count})
	return nil
}

// roomFor returns how many insertions may be dispatched before the load is checked again. It rehashes the table first
// if the load is too high. A table without room for the batch takes it in parts that grow with the table, so its lists
// stay short.
func (t *table) roomFor(ctx context.Context, n int) (int, error) {
	if t.o.MaxLoad < 0 {
		return n, nil
	}
	limit := func() uint64 { return uint64(t.o.MaxLoad * float64(t.slots) * float64(t.baseSlabs(t.base.buckets))) }
	if t.used+uint64(n) <= limit() {
		return n, nil
	}
	s, err := t.survey(ctx, t.Stream, false)
	if err != nil {
		return 0, err
	}
	t.used = s.live + s.tombstones
	if t.used+uint64(n) <= limit() {
		return n, nil
	}
	// There may be room for a part of the batch. If that room is small, the table grows, to room for its pairs and the
	// batch, but at most to four times its pairs, or by 2^18 pairs if that is more.
	if room := limit() - min(limit(), t.used); room > limit()/4 {
		return int(room), nil
	}
	expect := s.live + min(uint64(n), max(3*s.live, 1<<18))
	buckets, full := t.bucketsFor(expect), false
	if buckets > t.base.buckets {
		switch err := t.rehash(ctx, buckets, nil); {
		case err == nil:
			s.tombstones = 0
		case pipeline.Short(err):
			full = true // for want of memory lists get longer; see makeRoom
		default:
			return 0, fmt.Errorf("rehash before the insertion: %w", err)
		}
	}
	if t.stale(s) {
		if err := t.flush(ctx, nil); err != nil {
			return 0, fmt.Errorf("flush before the insertion: %w", err)
		}
		s.tombstones = 0
	}
	if t.used = s.live + s.tombstones; full {
		return n, nil
	}
	return min(n, max(int(limit()-min(limit(), t.used)), 1<<16)), nil
}

// stale reports whether a flush before an insertion pays. In a group many buckets share a chain, so there it must not
// become long.
func (t *table) stale(s survey) bool {
	if t.o.shared() {
		return s.tombstones > s.live/16
	}
	return s.tombstones > s.live
}

// makeRoom makes progress possible for operations that are left pending because the pool was full or lists are very
// long. stuck: no operation was done since the last call.
func (t *table) makeRoom(ctx context.Context, pending int, stuck bool) error {
	t.Meter.Retry()
	stats, err := t.Pool.Stats(ctx)
	if err != nil {
		return err
	}
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		// Each may need a slab, though most share one. The pool doubles in any case, if it can.
		err := t.Pool.Relieve(ctx, stats.Free, max(1, pending/t.slots/slabs.BlockSlabs), stuck)
		if pipeline.Short(err) {
			return t.reclaim(ctx, err)
		}
		return err
	}
	if !stuck {
		return nil
	}
	return t.raise(&t.visits, pending)
}

// reclaim flushes a table for which there is no more memory, because of an error. If no slot is erased, it returns that
// error.
func (t *table) reclaim(ctx context.Context, because error) error {
	s, err := t.survey(ctx, t.Stream, false)
	if err != nil || s.tombstones == 0 {
		return joint.Error(because, err)
	}
	if err := t.flush(ctx, nil); err != nil {
		return err
	}
	t.used = s.live
	return nil
}

// calm ends what a call has raised visits to. visits is the bound before the call.
func (t *table) calm(visits uint32) { t.visits = visits }

// raise raises a bound of visits with which no operation made progress.
func (t *table) raise(visits *uint32, pending int) error {
	all := uint64(t.Pool.Description().Blocks)*slabs.BlockSlabs + t.baseSlabs(t.base.buckets)
	most := min(max(maxVisits, uint64(t.slots+1)*all), math.MaxUint32)
	if uint64(*visits) >= most {
		return &structures.StuckError{Operations: pending}
	}
	*visits = uint32(min(4*uint64(*visits), most))
	return nil
}
