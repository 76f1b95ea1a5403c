package doctor

import (
	"context"
	"fmt"

	"github.com/vkds/vkds/vk"
)

type extremaPush struct {
	Meeting meeting
	Words   uint64
	Count   uint32
	Rounds  uint32
	Seed    uint32
}

// extremaSeen is the outcome of atomic additions to words, concurrent with atomic minima and maxima.
type extremaSeen struct {
	Additions int `json:"additions"`   // to each word
	LostToMin int `json:"lost_to_min"` // additions lost because of an atomic minimum
	LostToMax int `json:"lost_to_max"`

	relied bool // vkds uses these atomics for minima and maxima on this device
}

// observeExtrema counts the additions that are lost because of concurrent atomic minima and maxima. SwiftShader
// implements those as a load and a store.
func observeExtrema(ctx context.Context, l *lab) (observation, error) {
	const rounds, high = 1024, 16 // the index of the second word
	workgroup, groups := l.workgroup(1), 2*l.crowd()
	n := workgroup * groups
	k, err := load[extremaPush](l, "extrema", workgroup, 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(1, 2*high)
	if err != nil {
		return nil, err
	}
	push := func() extremaPush {
		l.s.Fill(b[1], high, 1, 1<<31)
		return extremaPush{l.meeting(b[0], groups), b[1].Address(), uint32(n), rounds, l.rnd.Uint32()}
	}
	seen := extremaSeen{relied: l.d.Has(vk.Int64Atomics)}
	return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
		all := n * rounds
		seen.Additions += all
		seen.LostToMin += all - int(contents[1][0])
		seen.LostToMax += all - int(contents[1][high]-1<<31)
		return seen.LostToMin+seen.LostToMax != 0
	})
}

func (s extremaSeen) judge() Finding {
	lost := s.LostToMin + s.LostToMax
	found := fmt.Sprintf("%d of %d additions were lost", lost, 2*s.Additions)
	switch {
	case lost != 0 && s.relied:
		return Finding{Fail, found, "An atomic minimum or maximum undoes what others do to its word, and values get " +
			"lost. Set VKDS_WITHOUT=" +
			string(vk.Int64Atomics) + ", and vkds takes its 32-bit protocol, which does without them."}
	case lost != 0:
		return Finding{Information, found, "An atomic minimum or maximum undoes what others do to its word: vkds " +
			"takes compare-and-swaps here, as kernels of your own should."}
	case s.relied:
		return Finding{Pass, found, "No atomic minimum or maximum undid what others did to its word."}
	}
	return Finding{Information, found, "No atomic minimum or maximum undid what others did to its word; vkds takes " +
		"compare-and-swaps here in any case."}
}
