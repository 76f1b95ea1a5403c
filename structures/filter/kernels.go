package filter

import (
	"context"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/vk"
)

type insertPush struct {
	Bloom Description
	Keys  uint64
	Count recording.Length
}

type containsPush struct {
	Bloom Description
	Keys  uint64
	Found uint64
	Count recording.Length
}

type mergePush struct {
	Blocks uint64
	Others uint64
	Count  uint32
}

type countPush struct {
	Blocks uint64
	Sums   uint64
	Count  uint32
}

// tile returns the number of lanes that insert a key together. On a CPU a lane is an iteration of a loop, and shuffles
// are expensive.
func (c *core) tile() uint32 {
	if c.Device.Info().Type == vk.CPU {
		return 1
	}
	return uint32(min(maxTile, c.Device.SubgroupSize()))
}

func (c *core) insertKernel() recording.Spec[insertPush] {
	return recording.Of[insertPush](recording.OfKeys("filter/insert", c.width), workgroup,
		recording.Constant("TILE", c.tile()))
}

func (c *core) containsKernel() recording.Spec[containsPush] {
	return recording.Of[containsPush](recording.OfKeys("filter/contains", c.width), workgroup)
}

func mergeKernel() recording.Spec[mergePush] {
	return recording.Of[mergePush]("filter/merge", workgroup)
}

func countKernel() recording.Spec[countPush] {
	return recording.Of[countPush]("filter/count", workgroup)
}

func (c *core) prepare(ctx context.Context) error {
	return c.Prepare(ctx, func() recording.Table {
		own := recording.Table{c.insertKernel(), c.containsKernel(), mergeKernel(), countKernel()}
		return append(own, c.Own.FindKernels()...)
	})
}

func (c *core) recordInsert(s *vk.Stream, keys uint64, count recording.Length) error {
	k, err := c.insertKernel().Kernel(c.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(count.N), insertPush{c.description(), keys, count})
	return nil
}

func (c *core) recordContains(s *vk.Stream, keys, found uint64, count recording.Length) error {
	k, err := c.containsKernel().Kernel(c.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(count.N), containsPush{c.description(), keys, found, count})
	return nil
}

func (c *core) recordMerge(s *vk.Stream, others uint64) error {
	k, err := mergeKernel().Kernel(c.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(c.count), mergePush{c.blocks.Address(), others, c.count})
	return nil
}

// recordCount records that the numbers of bits that are set are added to sums.
func (c *core) recordCount(s *vk.Stream, sums uint64) error {
	k, err := countKernel().Kernel(c.Kernels, s)
	if err != nil {
		return err
	}
	k.Dispatch(s, groups(c.count), countPush{c.blocks.Address(), sums, c.count})
	return nil
}

// groups returns the number of workgroups with that many invocations.
func groups(invocations uint32) int { return (int(invocations) + workgroup - 1) / workgroup }
