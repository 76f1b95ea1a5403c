package btree

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// building is the last BuildOn, whose batch may still be dropped. t.known assumes that it is not. The goroutine that
// submits or drops the batch notes the result here.
type building struct {
	stream           *vk.Stream
	certain, dropped atomic.Bool
}

// builds notes that a stream is recording a BuildOn.
func (t *tree) builds(s *vk.Stream) {
	b := &building{stream: s}
	s.OnSubmit(func(_ vk.Point, submitted bool) {
		b.dropped.Store(!submitted)
		b.certain.Store(true)
	})
	t.building = b
}

// mostNodes returns an upper bound of the number of nodes, whatever happens to recorded work.
func (t *tree) mostNodes() int {
	if b := t.building; t.known.unsure || b != nil && (!b.certain.Load() || b.dropped.Load()) {
		return t.poolSlabs()
	}
	return min(int(t.known.most(0)), t.poolSlabs())
}

// settle marks t.known as unsure if a BuildOn was dropped, or if another stream may still drop it. The nodes are then
// counted before a stream gets room for more.
func (t *tree) settle(s *vk.Stream) {
	b := t.building
	if b == nil {
		return
	}
	certain := b.certain.Load()
	if certain {
		t.building = nil
	}
	if certain && b.dropped.Load() || !certain && s != b.stream {
		t.known.unsure = true
	}
}

// recount counts the nodes. No work may use the tree. Errors: vk.ErrUnsubmitted, and those of survey.
func (t *tree) recount(ctx context.Context) error {
	if err := t.Uses.Rest(ctx); err != nil {
		return err
	}
	v, err := t.survey(ctx)
	v.listed.free()
	return err
}

// lacks returns how many slabs the pool lacks for n more insertions: at most, or, on the concurrent path, usually.
func (t *tree) lacks(ctx context.Context, n int, path Path) (slabs int, err error) {
	need := t.known.most(n)
	if path == Concurrent {
		need = t.known.likely(n)
	}
	if !t.Shares {
		return max(int(need)-t.poolSlabs(), 0), nil
	}
	stats, err := t.Pool.Stats(ctx)
	return max(int(need-t.known.nodes)-stats.Free+t.Pool.Aside(), 0), err
}

// reserve makes room in the pool for n more insertions, but doesn't add them to t.known. Before the pool grows, reserve
// counts the nodes, because there may be fewer than t.known says. If they are counted, no work may use the tree.
// Errors: vk.ErrUnsubmitted, those of alloc.SlabPool.Grow.
func (t *tree) reserve(ctx context.Context, n int, path Path) error {
	if n == 0 {
		return nil // deletions make no nodes
	}
	slabs, err := t.lacks(ctx, n, path)
	if err == nil && (slabs != 0 || t.known.unsure) {
		if err = t.recount(ctx); err == nil {
			slabs, err = t.lacks(ctx, n, path)
		}
	}
	if err != nil {
		return err
	}
	return t.grow(ctx, blocksFor(slabs))
}

// grow adds memory blocks to the pool, and stamps for them if versions are kept.
func (t *tree) grow(ctx context.Context, blocks int) error {
	err := t.Pool.Room(ctx, blocks)
	if err == nil {
		err = t.stampAll(ctx)
	}
	return err
}

// roomBeside makes so many slabs of the pool free.
func (t *tree) roomBeside(ctx context.Context, slabs int) error {
	stats, err := t.Pool.Stats(ctx)
	free := stats.Free - t.Pool.Aside()
	if err != nil || free >= slabs {
		return err
	}
	return t.grow(ctx, blocksFor(slabs-free))
}

// makeRoom helps operations that a concurrent batch left pending, because the pool was full, a parent didn't get its
// separator, or a node was latched for too long. stuck says that no operation was completed since the last call. Only
// then is a full pool an error, and only after a last try with more visits: deletions and assignments need no node, and
// may have failed only because of latches.
func (t *tree) makeRoom(ctx context.Context, pending int, stuck bool) error {
	t.Meter.Retry()
	if err := t.Uses.Rest(ctx); err != nil {
		return err
	}
	full := t.mend(ctx)
	if full != nil && !pipeline.Short(full) {
		return full
	}
	stats, err := t.Pool.Stats(ctx) // after mending, which allocates, too
	if err != nil {
		return err
	}
	if stats.Failures != t.failures {
		t.failures = stats.Failures
		if full == nil {
			full = t.relieve(ctx, stats, pending, stuck)
		}
		if full == nil || !pipeline.Short(full) {
			return full
		}
	}
	switch {
	case !stuck:
		return nil
	case t.visits < t.mostVisits:
		t.visits *= 4
		return nil
	case full != nil:
		return full
	}
	return &structures.StuckError{Operations: pending}
}

// calm resets the number of visits to what it was before a call.
func (t *tree) calm(visits uint32) { t.visits = visits }

// relieve makes the pool grow for pending operations that found it full, if it lacks slabs for them. It may lack none,
// because other operations may have held slabs for a moment that they did not need in the end.
func (t *tree) relieve(ctx context.Context, stats slabs.Stats, pending int, stuck bool) error {
	if err := t.recount(ctx); err != nil && !pipeline.Short(err) {
		return err
	}
	blocks := blocksFor(max(int(t.known.likely(pending)-t.known.nodes)-stats.Free, 0))
	t.known.inserted += uint64(pending)
	if stuck {
		blocks = max(blocks, 1)
	}
	if blocks == 0 {
		return nil
	}
	return cmp.Or(t.Pool.Relieve(ctx, stats.Free, blocks, stuck), t.stampAll(ctx))
}

// blocks returns the number of memory blocks of the pool.
func (t *tree) blocks() int { return int(t.Pool.Description().Blocks) }

// mend inserts into the inner nodes the separators for which a batch had no room.
func (t *tree) mend(ctx context.Context) error {
	var orphans [1]uint32
	if err := t.state.Download(ctx, orphansWord, orphans[:]); err != nil || orphans[0] == 0 {
		return err
	}
	err := t.repair(ctx)
	if err == nil {
		t.Device.Log().Info("mended", "orphans", orphans[0], "nodes", t.known.nodes)
	}
	return err
}

func (t *tree) Reserve(ctx context.Context, n int) error {
	if err := t.Err(); err != nil {
		return err
	}
	if n < 0 || n > maxPairs {
		return &vk.OptionError{Option: "Capacity", Reason: fmt.Sprintf("%d is not between 0 and 2^32", n)}
	}
	if err := t.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer t.Leave()
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	defer v.listed.free()
	more := n - int(v.levels[0].Slots)
	if more <= 0 {
		return nil
	}
	most := t.known.most(more)
	// The rest is for slabs that concurrent operations hold for a moment, and for the repair of inner nodes.
	err = t.roomBeside(ctx, int(most+most/uint64(t.geometry().leastShare()-1)-t.known.nodes))
	if err != nil && pipeline.Short(err) {
		return &structures.CapacityError{Option: "Capacity", Asked: n, Err: err}
	}
	return err
}

func (t *tree) Grow(ctx context.Context, nodes int) error {
	if err := t.EnterAfterAll(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if err := t.mend(ctx); err != nil {
		return err
	}
	return t.roomBeside(ctx, nodes)
}

// counted bounds the number of nodes, by the number at the last count and the pairs inserted since.
type counted struct {
	nodes    uint64
	beyond   [depths]uint64 // by level: used or erased slots above leastShare of each node
	inserted uint64         // insertions since the count, at most
	width    structures.Width
	unsure   bool // kernels of the caller or dropped work may have changed the numbers
	height   int  // the level of the root at the last count; 0: not counted
}

// countedOf returns the numbers after a bulk build with a share fill of the slots.
func countedOf(width structures.Width, pairs int, fill float64) counted {
	g := geometries[width]
	leaf, inner := g.shares(fill)
	c := counted{nodes: 1, width: width}
	each, level := leaf, pairs/leaf+2
	for l := 0; l < depths; l++ {
		c.beyond[l] = uint64(level * max(each-g.leastShare(), 0))
		if level == 1 {
			break
		}
		c.nodes += uint64(level)
		c.height = l + 1
		each, level = inner, (level+inner-1)/inner
	}
	return c
}

// most returns an upper bound of the nodes after n more insertions.
//
// A node splits when it has no free slot, and each of the new nodes has at least leastShare slots in use. So each new
// node of a level takes leastShare insertions into that level, or slots that were in use above leastShare before, and
// each insertion makes at most one node. Both paths keep to that; deletions don't free slots for it. The new nodes of a
// level are the insertions into the level above.
func (c *counted) most(n int) uint64 {
	nodes, inserted := c.nodes, c.inserted+uint64(n)
	if inserted == 0 {
		return nodes
	}
	least := uint64(geometries[c.width].leastShare())
	for _, beyond := range c.beyond {
		inserted = min(inserted, (beyond+inserted)/least)
		nodes += inserted
	}
	return nodes + depths // a root that splits makes one more node
}

// about returns the usual number of nodes.
func (c *counted) about() uint64 { return c.nodes + c.inserted/4 + c.inserted/64 }

// before returns about without the last n insertions.
func (c *counted) before(n int) uint64 {
	then := *c
	then.inserted -= min(then.inserted, uint64(n))
	return then.about()
}

// likely returns the usual number of slabs after n more concurrent insertions. It is somewhat above the number of
// nodes, so that kernels find a free slab soon.
func (c *counted) likely(n int) uint64 {
	then := *c
	then.inserted += uint64(n)
	return min(then.about()+slabs.BlockSlabs/2, c.most(n))
}

type takePush struct {
	Pool                 slabs.PoolDescription
	Slabs, Refused, Used uint64
	Beside, Count        uint32
}

type repairPlanPush struct {
	Tree             Description
	Leaves, NodeMost uint32
}

type repairNodesPush struct {
	Tree                Description
	Lows, Leaves, Inner uint64
}

// taking is an operation on slabs.
type taking uint8

const (
	allocates taking = iota
	frees
	clears // fills with ones, and frees
)

// old returns how used nodes are freed.
func (t *tree) old() taking {
	if t.Shares {
		return clears
	}
	return frees
}

// take records the allocation or freeing of slabs.
func (t *tree) take(s *vk.Stream, k *vk.Kernel[takePush], p takePush) {
	p.Pool = t.Pool.Description()
	k.Dispatch(s, groups(int(p.Count)), p)
}

// repairIn divides scratch memory for the repair of a tree of so many leaves and inner nodes.
func (t *tree) repairIn(p *recording.Parts, leaves, inner int) (order leafOrder, slabs, refused uint64) {
	return t.leafOrderIn(p, leaves), p.Take(4 * inner), p.Take(4)
}

// repair rebuilds the inner nodes from the leaves, so that each leaf has a parent. No work may use the tree. A tree
// needs this if a batch ended between the split of a node and the insertion of its separator. Errors:
// *vk.OutOfMemoryError, *vk.LimitError; the tree is then unchanged.
func (t *tree) repair(ctx context.Context) error {
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	defer v.listed.free()
	leaves, old := v.listed.leafCount(), v.listed.inner()-1 // without the root, which is the first
	each := max(t.share(), minChildren)
	inner := -1
	for level := leaves; level > 1; inner += level {
		level = (level + each - 1) / each
	}
	var size recording.Parts
	t.repairIn(&size, leaves, inner)
	scratch, err := vk.NewBuffer[uint32](t.Device, int(size.Used/4))
	if err != nil {
		return err
	}
	defer scratch.Free()
	order, slabs, refused := t.repairIn(&recording.Parts{Base: scratch.Address()}, leaves, inner)
	refusedAt := int(refused-scratch.Address()) / 4
	taken := takePush{Slabs: slabs, Refused: refused, Count: uint32(inner)}

	err = t.recordLeafOrder(t.Stream, v.listed.listing, primitives.Length{N: leaves}, order)
	for err == nil {
		// All kernels are made before slabs are taken, so that giving them back and the next steps can't fail for lack
		// of a kernel.
		var k repairKernels
		if k, err = t.repairKernels(t.Stream); err != nil {
			break
		}
		if err = t.clear(t.Stream, refused, 1); err != nil {
			break
		}
		t.take(t.Stream, k.take, taken)
		var count [1]uint32
		if err = t.Stream.Wait(context.WithoutCancel(ctx)); err != nil {
			break // nothing was taken
		}
		err = scratch.Download(context.WithoutCancel(ctx), refusedAt, count[:])
		if err == nil && count[0] == 0 {
			err = t.writeInner(ctx, k, repairNodesPush{
				Tree: t.description(), Lows: order.lows, Leaves: order.leaves, Inner: slabs}, leaves, inner,
				takePush{Slabs: v.listed.Inner + 4, Refused: refused, Count: uint32(old)})
			if err == nil {
				return nil
			}
		}
		t.take(t.Stream, k.free, taken)
		if err = joint.Error(err, t.Stream.Wait(context.WithoutCancel(ctx))); err == nil {
			err = t.Pool.Room(ctx, blocksFor(inner))
		}
	}
	t.Stream.Discard()
	return err
}

// repairKernels are the kernels that a repair needs after it has taken slabs.
type repairKernels struct {
	take, free, old *vk.Kernel[takePush]
	plan            *vk.Kernel[repairPlanPush]
	nodes           *vk.Kernel[repairNodesPush]
}

// repairKernels makes them. Make them again after the pool has grown, because its constants may have changed.
func (t *tree) repairKernels(s *vk.Stream) (k repairKernels, err error) {
	if k.take, err = t.takeKernel(allocates).Kernel(t.Kernels, s); err != nil {
		return k, err
	}
	if k.free, err = t.takeKernel(frees).Kernel(t.Kernels, s); err != nil {
		return k, err
	}
	if k.old, err = t.takeKernel(t.old()).Kernel(t.Kernels, s); err != nil {
		return k, err
	}
	if k.plan, err = t.repairPlanKernel().Kernel(t.Kernels, s); err != nil {
		return k, err
	}
	k.nodes, err = t.repairNodesKernel().Kernel(t.Kernels, s)
	return k, err
}

// writeInner writes the inner nodes above so many leaves, and frees the old ones. After an error nothing was done.
func (t *tree) writeInner(ctx context.Context, k repairKernels, p repairNodesPush, leaves, inner int,
	old takePush) error {
	k.plan.Dispatch(t.Stream, 1, repairPlanPush{p.Tree, uint32(leaves), uint32(max(t.share(), minChildren))})
	k.nodes.Dispatch(t.Stream, groups(8*(inner+1)), p)
	t.take(t.Stream, k.old, old)
	if err := t.Stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	t.known = counted{width: t.width, nodes: uint64(leaves + inner + 1), unsure: true}
	return nil
}
