package doctor

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/vk"
)

type tearingPush struct {
	Meeting   meeting
	Quads     uint64
	Answers   uint64
	QuadCount uint32
	Rounds    uint32
	Seed      uint32
}

// tearingSeen is the outcome of reading pairs that others write with 64-bit atomics.
type tearingSeen struct {
	Written     int `json:"written"`
	Read        int `json:"read"`
	Torn        int `json:"torn"`         // vector loads that returned halves of two pairs
	TornAtomics int `json:"torn_atomics"` // 64-bit atomic loads that returned halves of two pairs
}

func observeTearing(ctx context.Context, l *lab) (observation, error) {
	if !l.d.Has(vk.Int64Atomics) {
		return nil, &cannotError{"there are no 64-bit atomics to write pairs by",
			"vkds takes its 32-bit protocol here, where keys and values are read one after the other."}
	}
	const quads = 4
	workgroup, groups := l.workgroup(1), l.crowd()
	n := workgroup * groups
	k, err := load[tearingPush](l, "tearing.a64", workgroup, 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(1, 4*quads, 4*n) // (0, 0) is a whole pair: 0 is a fixed point of hash_mix
	if err != nil {
		return nil, err
	}
	push := func() tearingPush {
		return tearingPush{l.meeting(b[0], groups), b[1].Address(), b[2].Address(), quads, 4000, l.rnd.Uint32()}
	}
	var seen tearingSeen
	return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
		for i := range n {
			a := contents[2][4*i:]
			seen.Written += int(a[0])
			seen.Read += int(a[1])
			seen.Torn += int(a[2])
			seen.TornAtomics += int(a[3])
		}
		return seen.Torn > 0
	})
}

func (s tearingSeen) judge() Finding {
	found := fmt.Sprintf("vector loads tear: no, in %d", s.Read)
	if s.Torn > 0 {
		found = fmt.Sprintf("vector loads tear: yes, %d of %d", s.Torn, s.Read)
	}
	switch {
	case s.TornAtomics > 0:
		return Finding{Fail, fmt.Sprintf("atomic loads tear: %d of %d", s.TornAtomics, s.Read),
			"64-bit atomics don't read whole what 64-bit atomics wrote: keys get other keys' values."}
	case s.Torn > 0:
		return Finding{Pass, found, "A vector load may mix two pairs here, as it may; where that matters vkds reads " +
			"a pair by one 64-bit atomic, which never tore."}
	}
	return Finding{Pass, found, "No pair was read in halves; vkds reads by one 64-bit atomic where it would matter."}
}
