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

// take records that slabs are allocated, or freed.
func (t *Tree) take(s *vk.Stream, p takePush, free bool) error {
	freeing := uint32(0)
	if free {
		freeing = 1
	}
	k, err := recording.Kernel[takePush](t.kernels, "btree/repair_take", workgroup,
		recording.OverPool(t.pool.Constants(), recording.Constant("FREE", freeing))...)
	if err != nil {
		return err
	}
	p.Pool = t.pool.Device()
	k.Dispatch(s, groups(int(p.Count)), p)
	return nil
}

// repair makes the inner nodes anew from the leaves, so that each leaf has a parent, when nothing runs that uses the tree.
// It is for a tree some of whose nodes are in no parent, because what stopped a batch came between the split of a node and
// the insertion of its separator. Errors: *vk.OutOfMemoryError, *alloc.PoolFullError; then the tree is as it was.
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
	err = errors.Join(t.list(t.stream, leafLevel, l), t.list(t.stream, innerLevels, before))
	for err == nil {
		if err = errors.Join(t.clear(t.stream, refused, 1), t.take(t.stream, taken, false)); err != nil {
			break
		}
		if err = t.stream.Wait(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		var count [1]uint32
		if err = scratch.Download(context.WithoutCancel(ctx), refusedAt, count[:]); err != nil || count[0] == 0 {
			break
		}
		if err = t.take(t.stream, taken, true); err == nil {
			err = t.stream.Wait(context.WithoutCancel(ctx))
		}
		if err == nil {
			err = t.pool.Grow(ctx, blocksFor(inner))
		}
	}
	if err != nil {
		t.stream.Discard()
		return err
	}
	err = t.writeInner(ctx, repairNodesPush{Tree: t.device(), Lows: l.lows, Leaves: l.slabs, Inner: slabs}, leaves, inner,
		takePush{Slabs: before.slabs, Refused: refused, Count: uint32(old)})
	if err != nil {
		return errors.Join(err, t.take(t.stream, taken, true), t.stream.Wait(context.WithoutCancel(ctx)))
	}
	return nil
}

// writeInner writes the inner nodes above so many leaves, and frees the old ones. After an error nothing was done.
func (t *Tree) writeInner(ctx context.Context, p repairNodesPush, leaves, inner int, old takePush) error {
	plan, err := recording.Kernel[repairPlanPush](t.kernels, "btree/repair_plan", workgroup)
	if err != nil {
		return err
	}
	nodes, err := kernel[repairNodesPush](t, "repair_nodes", 1)
	if err != nil {
		return err
	}
	_, each := shares(t.o.Fill)
	plan.Dispatch(t.stream, 1, repairPlanPush{p.Tree, uint32(leaves), uint32(each)})
	nodes.Dispatch(t.stream, groups(8*(inner+1)), p)
	if err := t.take(t.stream, old, true); err != nil {
		t.stream.Discard()
		return err
	}
	t.nodes, t.headroom = uint64(leaves+inner+1), false
	return t.stream.Wait(context.WithoutCancel(ctx))
}
