package btree

import (
	"context"
	"errors"

	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/vk"
)

type takePush struct {
	Pool           alloc.DevicePool
	Slabs, Refused uint64
	Count          uint32
}

type repairPlanPush struct {
	Tree             Device
	Leaves, NodeMost uint32
}

type repairNodesPush struct {
	Tree                Device
	Lows, Leaves, Inner uint64
}

// taker returns the kernel that allocates slabs, or frees them.
func (t *Tree) taker(free bool) (*vk.Kernel[takePush], error) {
	return recording.Kernel[takePush](t.kernels, t.stream, "btree/repair_take", workgroup,
		recording.OverPool(t.pool.Constants(), recording.Constant("FREE", word(free)))...)
}

// take records that slabs are allocated, or freed.
func (t *Tree) take(k *vk.Kernel[takePush], p takePush) {
	p.Pool = t.pool.Device()
	k.Dispatch(t.stream, groups(int(p.Count)), p)
}

// repair makes the inner nodes anew from the leaves, so that each leaf has a parent, when nothing runs that uses the tree.
// It is for a tree some of whose nodes are in no parent, because what stopped a batch came between the split of a node and
// the insertion of its separator. Errors: *vk.OutOfMemoryError, *structures.LimitError; then the tree is as it was.
func (t *Tree) repair(ctx context.Context) error {
	v, err := t.survey(ctx)
	if err != nil {
		return err
	}
	leaves, old := int(v.levels[0].Nodes), int(v.nodes()-v.levels[0].Nodes)-1 // but the root
	_, each := shares(t.o.Fill)
	inner := -1
	for level := leaves; level > 1; inner += level {
		level = (level + each - 1) / each
	}
	var p recording.Parts
	var l, before listing
	var slabs, refused uint64
	plan := func() {
		l, before = t.listingIn(&p, leaves), t.listingIn(&p, old)
		slabs, refused = p.Take(4*inner), p.Take(4)
	}
	plan()
	scratch, err := vk.NewBuffer[uint32](t.d, int(p.Used/4))
	if err != nil {
		return err
	}
	defer scratch.Free()
	p = recording.Parts{Base: scratch.Address()}
	plan()
	refusedAt := int(refused-scratch.Address()) / 4
	taken := takePush{Slabs: slabs, Refused: refused, Count: uint32(inner)}

	// The old nodes are listed before new ones are allocated, which may hold anything.
	if err = t.list(t.stream, leafLevel, l); err == nil {
		err = t.list(t.stream, innerLevels, before)
	}
	for err == nil {
		// All kernels before anything is taken, so that it can be given back and what follows doesn't fail.
		var k repairKernels
		if k, err = t.repairKernels(); err != nil {
			break
		}
		if err = t.clear(t.stream, refused, 1); err != nil {
			break
		}
		t.take(k.take, taken)
		var count [1]uint32
		if err = t.stream.Wait(context.WithoutCancel(ctx)); err != nil {
			break // nothing was taken
		}
		err = scratch.Download(context.WithoutCancel(ctx), refusedAt, count[:])
		if err == nil && count[0] == 0 {
			err = t.writeInner(ctx, k, repairNodesPush{Tree: t.device(), Lows: l.lows, Leaves: l.slabs, Inner: slabs}, leaves, inner,
				takePush{Slabs: before.slabs, Refused: refused, Count: uint32(old)})
			if err == nil {
				return nil
			}
		}
		t.take(k.free, taken)
		if err = errors.Join(err, t.stream.Wait(context.WithoutCancel(ctx))); err == nil {
			err = t.pool.Grow(ctx, blocksFor(inner))
		}
	}
	t.stream.Discard()
	return err
}

// repairKernels are what a repair needs from when on it has taken slabs.
type repairKernels struct {
	take, free *vk.Kernel[takePush]
	plan       *vk.Kernel[repairPlanPush]
	nodes      *vk.Kernel[repairNodesPush]
}

// repairKernels are made anew after the pool has grown, which may change them.
func (t *Tree) repairKernels() (k repairKernels, err error) {
	if k.take, err = t.taker(false); err != nil {
		return k, err
	}
	if k.free, err = t.taker(true); err != nil {
		return k, err
	}
	if k.plan, err = recording.Kernel[repairPlanPush](t.kernels, t.stream, "btree/repair_plan", workgroup); err != nil {
		return k, err
	}
	k.nodes, err = kernel[repairNodesPush](t, t.stream, "repair_nodes", 1)
	return k, err
}

// writeInner writes the inner nodes above so many leaves, and frees the old ones. After an error nothing was done.
func (t *Tree) writeInner(ctx context.Context, k repairKernels, p repairNodesPush, leaves, inner int, old takePush) error {
	_, each := shares(t.o.Fill)
	k.plan.Dispatch(t.stream, 1, repairPlanPush{p.Tree, uint32(leaves), uint32(each)})
	k.nodes.Dispatch(t.stream, groups(8*(inner+1)), p)
	t.take(k.free, old)
	if err := t.stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	t.nodes, t.headroom, t.beside = uint64(leaves+inner+1), false, 0
	return nil
}
