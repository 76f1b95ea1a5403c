package btree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// build makes a tree of pairs in any order.
func build(ctx context.Context, d *vk.Device, columns saved.Columns, n int, keys, values pipeline.Column,
	o Options) (*tree, error) {
	first := o
	first.Capacity = max(o.Capacity, n)
	t, err := open(ctx, d, columns, first)
	if err == nil {
		t.o.Capacity = o.Capacity
		err = t.inside(ctx, func() error { return t.build(ctx, n, keys, values) })
	}
	if err != nil {
		var capacity *structures.CapacityError
		if errors.As(err, &capacity) && capacity.Asked != o.Capacity {
			err = capacity.Err // the caller did not ask for this capacity: it is the number of pairs
		}
		return nil, joint.Error(err, t.Close())
	}
	return t, nil
}

// build replaces the content of the tree by pairs from Go slices.
func (t *tree) build(ctx context.Context, n int, keys, values pipeline.Column) error {
	pairs, err := vk.NewBuffer[uint32](t.Device, 2*n*t.words())
	if err != nil {
		return err
	}
	defer pairs.Free()
	scratch, err := vk.NewBuffer[byte](t.Device, int(t.bulkPlan(n, 0).bytes))
	if err != nil {
		return err
	}
	defer scratch.Free()
	if err := keys.Upload(ctx, pairs, 0); err != nil {
		return err
	}
	if err := values.Upload(ctx, pairs, n*t.words()); err != nil {
		return err
	}
	if err := t.roomFor(ctx, t.geometry().nodesFor(n, t.o.Fill)); err != nil {
		return err
	}
	b := bulk{Keys: pairs.Address(), Values: pairs.AddressOf(n * t.words()), N: n, Fill: t.o.Fill}
	return t.remake(ctx, b, func(b bulk) error { return t.bulk(t.Stream, b, scratch.Address()) })
}

// remake runs, on the tree's own stream, what record records of a bulk build.
func (t *tree) remake(ctx context.Context, b bulk, record func(bulk) error) error {
	replaces, err := t.replacing(ctx, t.nodesOf(b))
	if err != nil {
		return err
	}
	b.replaces = replaces
	if err := recording.Run(t.Stream, func() error { return record(b) }); err != nil {
		return t.replacedNot(replaces, err)
	}
	replaces.free()
	t.rebuilt(b)
	return nil
}

// rebuilt notes the number of nodes after a bulk build.
func (t *tree) rebuilt(b bulk) { t.known, t.planted = countedOf(t.width, b.N, b.Fill), true }

func (t *tree) BuildOn(ctx context.Context, s *vk.Stream, u structures.DeviceBatch) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := t.remakes(); err != nil {
		return err
	}
	if u.Count > primitives.MaxLength {
		return &structures.CountError{What: "pairs", N: u.Count, Most: primitives.MaxLength}
	}
	u.Status = nil
	err := cmp.Or(t.Device.Accept("stream", s), recording.NeedUpdates(t.Device, structures.Insert, u, t.width))
	if err != nil {
		return err
	}
	if nodes := t.geometry().nodesFor(u.Count, t.o.Fill); t.Shares || blocksFor(nodes) > t.blocks() {
		if err := s.Wait(ctx); err != nil {
			return err
		}
		if t.Shares { // the old nodes are listed now
			if err := t.Uses.Rest(ctx); err != nil {
				return err
			}
		}
		if err := t.roomFor(ctx, nodes); err != nil {
			return err
		}
	}
	b := bulk{N: u.Count, CountAt: u.DeviceCount.Address(), Fill: t.o.Fill}
	if u.Count != 0 {
		b.Keys, b.Values = t.at(u.Keys, u.First), t.at(u.Values, u.First)
	}
	t.settle(s)
	if b.replaces, err = t.replacing(ctx, t.nodesOf(b)); err != nil {
		return err
	}
	err = t.writing(s, func() error {
		scratch, err := t.scratch.Take(s, int(t.bulkPlan(b.N, 0).bytes))
		if err != nil {
			return err
		}
		return t.bulk(s, b, scratch)
	})
	if err != nil {
		return t.replacedNot(b.replaces, err)
	}
	t.replaced(s, b.replaces)
	t.rebuilt(b)
	t.builds(s)
	return nil
}

// roomFor makes the pool grow to at least so many slabs. No work may use the pool.
func (t *tree) roomFor(ctx context.Context, nodes int) error {
	if t.Shares {
		return nil // claims make room
	}
	return t.Pool.Grow(ctx, blocksFor(nodes)-t.blocks())
}

// bulk has the operands of a bulk build: N pairs on the device, or fewer if CountAt is not 0: it is then the address of
// their number.
type bulk struct {
	Keys, Values uint64
	N            int
	CountAt      uint64
	Fill         float64
	replaces     replacement
}

func (b bulk) length() recording.Length { return recording.Length{At: b.CountAt, N: uint32(b.N)} }

// nodesOf returns an upper bound of the nodes after the build.
func (t *tree) nodesOf(b bulk) int { return t.geometry().nodesFor(b.N, b.Fill) }

// bulkPlan is the division of the scratch memory of bulk.
type bulkPlan struct {
	sortedKeys, sortedValues     uint64
	distinctKeys, distinctValues uint64 // the last pair of each key, sorted
	flags                        uint64 // which pairs these are
	lengths                      uint64 // 3 words, build_plan.comp
	sort                         uint64
	bytes                        uint64
}

func (t *tree) bulkPlan(n int, scratch uint64) bulkPlan {
	p := recording.Parts{Base: scratch}
	each := t.width.Bytes()
	b := bulkPlan{sortedKeys: p.Take(each * n), sortedValues: p.Take(each * n)}
	b.distinctKeys, b.distinctValues = p.Take(each*n), p.Take(each*n)
	b.flags, b.lengths = p.Take((n+31)/32*4), p.Take(12)
	sort := primitives.SortArgs{Length: primitives.Length{N: n}, Values: recording.Align, Widths: t.widths()}
	b.sort = p.Take(max(t.primitives.Scratch(sort), t.primitives.Scratch(primitives.CompactArgs{})))
	b.bytes = p.Used
	return b
}

type buildOrderPush struct {
	Keys, Flags, Disorder uint64
	Length                recording.Length
}

// bulk records that the content of the tree becomes the given pairs, of equal keys the last. The pool must have room
// for the nodes. The device finds out whether the pairs are sorted, and then does not sort them.
func (t *tree) bulk(s *vk.Stream, b bulk, scratch uint64) error {
	p := t.bulkPlan(b.N, scratch)
	const each = 8 // keys of an invocation
	order, err := t.buildOrderKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	group := order.Workgroup()
	descends, repeats, distinct := p.lengths, p.lengths+4, p.lengths+8
	if err := t.clear(s, p.lengths, 3); err != nil {
		return err
	}
	order.Dispatch(s, (b.N+group*each-1)/(group*each), buildOrderPush{Keys: b.Keys, Disorder: descends,
		Length: b.length()})
	err = t.primitives.Sort(s, primitives.SortArgs{
		Keys: b.Keys, Values: b.Values, OutKeys: p.sortedKeys, OutValues: p.sortedValues, Widths: t.widths(),
		Length: primitives.Length{N: b.N, At: descends}, Scratch: p.sort,
	})
	if err != nil {
		return err
	}
	order.Dispatch(s, (b.N+group*each-1)/(group*each), buildOrderPush{p.sortedKeys, p.flags, repeats,
		recording.Length{At: descends, N: uint32(b.N)}})
	err = t.primitives.Compact(s, primitives.CompactArgs{
		Keys: p.sortedKeys, Values: p.sortedValues, Flags: p.flags, OutKeys: p.distinctKeys,
		OutValues: p.distinctValues, OutCount: distinct,
		Length: primitives.Length{N: b.N, At: repeats}, Widths: t.widths(), Scratch: p.sort,
	})
	if err != nil {
		return err
	}
	return t.bulkNodes(s, buildPlanPush{
		GivenKeys: b.Keys, GivenValues: b.Values, SortedKeys: p.sortedKeys, SortedValues: p.sortedValues,
		DistinctKeys: p.distinctKeys, DistinctValues: p.distinctValues, Lengths: p.lengths,
	}, b)
}

// bulkSorted is bulk for pairs that are known to be sorted, without equal keys.
func (t *tree) bulkSorted(s *vk.Stream, b bulk) error {
	return t.bulkNodes(s, buildPlanPush{GivenKeys: b.Keys, GivenValues: b.Values}, b)
}

type buildPlanPush struct {
	Tree                         Description
	GivenKeys, GivenValues       uint64
	SortedKeys, SortedValues     uint64
	DistinctKeys, DistinctValues uint64
	Lengths                      uint64
	Count                        recording.Length
	LeafMost, NodeMost           uint32
}

func (t *tree) bulkNodes(s *vk.Stream, p buildPlanPush, b bulk) error {
	plan, err := t.buildPlanKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	nodes, err := t.buildNodesKernel().Kernel(t.Kernels, s)
	if err != nil {
		return err
	}
	leaf, inner := t.geometry().shares(b.Fill)
	p.Tree, p.Count, p.LeafMost, p.NodeMost = t.description(), b.length(), uint32(leaf), uint32(inner)
	plan.Dispatch(s, 1, p)
	if !t.Shares {
		if err := t.Pool.Occupy(s, t.state.AddressOf(planAt)); err != nil {
			return err
		}
	}
	nodes.Dispatch(s, groups(t.nodesOf(b)*min(t.tiles.walk, 8)), buildNodesPush{t.description(),
		b.replaces.claim.address()})
	return t.recordReplaced(s, b.replaces)
}

type buildNodesPush struct {
	Tree  Description
	Slabs uint64
}

func (t *tree) Compact(ctx context.Context, fill float64) error {
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if fill == 0 {
		fill = t.o.Fill
	}
	if !(fill > 0 && fill <= 1) {
		return &vk.OptionError{Option: "Fill", Reason: fmt.Sprintf("%g is not above 0 and at most 1", fill)}
	}
	if err := cmp.Or(t.remakes(), t.Uses.Rest(ctx)); err != nil {
		return err
	}
	begin := time.Now()
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	defer v.listed.free()
	need := t.geometry().nodesFor(int(v.levels[0].Slots), fill)
	if err := t.roomFor(ctx, need); err != nil {
		return err
	}
	e, err := t.exportAll(v)
	if err != nil {
		return err
	}
	defer e.memory.Free()
	old := t.Pool
	if smaller := t.smallerPool(ctx, need); smaller != nil {
		t.Pool = smaller
	}
	b := bulk{Keys: e.memory.AddressOf(e.keysAt), Values: e.memory.AddressOf(e.valuesAt), N: e.pairs, Fill: fill}
	err = t.remake(ctx, b, func(b bulk) error { return t.bulkSorted(t.Stream, b) })
	if err == nil {
		t.Meter.Rebuild()
		t.Device.Log().Info("compacted", "pairs", e.pairs, "nodes", t.known.nodes, "nodes_before", v.nodes(),
			"duration", time.Since(begin))
	}
	if t.Pool == old {
		return err
	}
	if err != nil {
		old, t.Pool = t.Pool, old
	} else {
		t.failures = 0
		t.Replaced()
	}
	return joint.Error(err, old.Close())
}

// spacious is how many times larger than necessary a pool may be before it is replaced.
const spacious = 4

// smallerPool makes a pool for so many nodes, and for Options.Capacity pairs, if that saves much memory. Otherwise, or
// if it can't be made, it returns nil.
func (t *tree) smallerPool(ctx context.Context, nodes int) *slabs.Pool {
	blocks := max(blocksFor(nodes), blocksFor(t.geometry().nodesFor(t.o.Capacity, t.o.Fill)))
	if t.Shares || spacious*blocks >= t.blocks() {
		return nil
	}
	pool, err := slabs.New(ctx, t.Device, t.poolOptions(blocks))
	if err != nil {
		return nil // the pool that there is will do
	}
	return pool
}
