package doctor

import (
	"context"
	"fmt"
)

type relaxedPush struct {
	Meeting meeting
	Words   uint64
	Shared  uint64
	Answers uint64
	Count   uint32
	Rounds  uint32
	Seed    uint32
}

// relaxedSeen is the outcome of loops that end by relaxed atomics.
type relaxedSeen struct {
	Invocations int    `json:"invocations"`
	Wrong       int    `json:"wrong"`  // invocations that ended with a wrong value
	Fell        int    `json:"fell"`   // times that a word that only grows was seen to decrease
	Raised      uint64 `json:"raised"` // times that the shared word was raised
	Shared      uint64 `json:"shared"` // the shared word's value at the end
}

func observeRelaxed(ctx context.Context, l *lab) (observation, error) {
	workgroup, groups := l.workgroup(2), 64
	n := workgroup * groups
	k, err := load[relaxedPush](l, "relaxed", workgroup, 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(1, n, 1, 4*n)
	if err != nil {
		return nil, err
	}
	push := func() relaxedPush {
		return relaxedPush{l.meeting(b[0], groups), b[1].Address(), b[2].Address(), b[3].Address(), uint32(n), 256,
			l.rnd.Uint32()}
	}
	var seen relaxedSeen
	return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
		words, shared, answers := contents[1], contents[2], contents[3]
		seen.Invocations += n
		seen.Shared += uint64(shared[0])
		for i := range n {
			target, taken, last, fell := answers[4*i], answers[4*i+1], answers[4*i+2], answers[4*i+3]
			if target == 0 || taken != target || last != target || words[i] != target {
				seen.Wrong++
			}
			seen.Fell += int(fell)
			seen.Raised += uint64(taken)
		}
		return true
	})
}

func (s relaxedSeen) judge() Finding {
	switch {
	case s.Wrong > 0:
		return Finding{Fail, fmt.Sprintf("%d of %d lanes left their loop at a wrong value", s.Wrong, s.Invocations),
			"The driver miscompiles atomic loads in loops that lanes leave at different times; every kernel of vkds " +
				"has them."}
	case s.Shared != s.Raised:
		return Finding{Fail, fmt.Sprintf("%d of %d additions were lost", s.Raised-s.Shared, s.Raised),
			"Atomic additions in divergent loops get lost; every count in vkds stands on them."}
	case s.Fell > 0:
		return Finding{Fail, fmt.Sprintf("a growing word was seen to fall %d times", s.Fell),
			"Atomic loads of one word come out of order, which the memory model forbids."}
	}
	return Finding{Pass, fmt.Sprintf("%d lanes, %d additions", s.Invocations, s.Raised),
		"Loops that atomics end are compiled right."}
}
