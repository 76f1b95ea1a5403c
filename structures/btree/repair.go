package btree

import (
	"context"

	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/slabs"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

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
