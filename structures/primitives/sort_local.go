package primitives

import (
	"math/bits"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// upperPasses returns the greatest number of passes by upper digits before a local sort, or 0 for no local sort. It is
// one or two more than needed to tell random keys apart, because a pass that the device leaves out takes some time,
// too.
func (p *Primitives) upperPasses(a SortArgs) int {
	if a.Widths.Key != structures.Bits64 || a.Bits <= 32 || a.Length.N < p.local {
		return 0
	}
	if p.uppers != 0 {
		return p.uppers
	}
	return min(bits.Len(uint(a.Length.N))/digitBits+2, mostUpper)
}

// shortRun returns the greatest number of keys in a run whose keys are all compared with each other. If a longer run is
// out of order, all passes are made, which costs more in a larger sort, so the limit grows with n. Each read of a key
// takes a tenth of a microsecond.
func shortRun(n int) uint32 { return uint32(min(max(n>>13, 32), 512)) }

type localPush struct {
	Keys, Values       uint64
	OutKeys, OutValues uint64
	Steps              uint64
	Counts, Published  uint64
	Compared           uint64
	Publishes          uint32
	Most               uint32
	Length             length
}

// localElements is the number of elements of a workgroup in a local sort.
const (
	localWorkgroup = 256
	localElements  = 2 * localWorkgroup
)

func (a SortArgs) localKernel() recording.Spec[localPush] {
	return recording.Of[localPush](a.module("primitives/sort_local"), localWorkgroup)
}

func (p *Primitives) sortLocal(s *vk.Stream, a SortArgs, plan sortPlan) error {
	k, err := a.localKernel().Kernel(p.kernels, s)
	if err != nil {
		return err
	}
	push := localPush{
		Keys: plan.keys, Values: plan.values, OutKeys: a.OutKeys, OutValues: a.OutValues,
		Steps: plan.steps, Counts: plan.counters, Published: plan.published[0],
		Most:     shortRun(a.Length.N),
		Compared: (1<<a.Bits - 1) << a.FirstBit, Length: a.Length.device(),
	}
	if p.form == SinglePass {
		push.Publishes = plan.publishes()
	}
	k.Dispatch(s, groups(a.Length.N, localElements), push)
	return nil
}
