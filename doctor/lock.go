package doctor

import (
	"context"
	"fmt"
)

// How critical sections are ordered: ORDER in lock.comp.
const (
	byFences = iota
	bySemantics
)

type lockPush struct {
	Meeting   meeting
	Locks     uint64
	Answers   uint64
	Count     uint32
	LockCount uint32
	Entries   uint32
	Rounds    uint32
	Seed      uint32
}

// lockSeen is the outcome of counters that try-locks protect.
type lockSeen struct {
	Wanted  int `json:"wanted"`  // requested entries into critical sections
	Entered int `json:"entered"` // entries that were made before the rounds ended
	First   int `json:"first"`   // sum of the counters
	Second  int `json:"second"`  // sum of the counters' copies
	Unequal int `json:"unequal"` // entries that found a counter unequal to its copy
}

func observeLocks(order uint32) func(context.Context, *lab) (observation, error) {
	return func(ctx context.Context, l *lab) (observation, error) {
		const locks, entries, rounds = 16, 64, 20000
		workgroup, groups := l.workgroup(2), 32
		n := workgroup * groups
		k, err := load[lockPush](l, "lock", workgroup, 0, map[string]uint32{"ORDER": order})
		if err != nil {
			return nil, err
		}
		b, err := l.words(1, 4*locks, 2*n)
		if err != nil {
			return nil, err
		}
		push := func() lockPush {
			return lockPush{l.meeting(b[0], groups), b[1].Address(), b[2].Address(), uint32(n), locks, entries, rounds,
				l.rnd.Uint32()}
		}
		var seen lockSeen
		return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
			counters, answers := contents[1], contents[2]
			for i := range locks {
				seen.First += int(counters[4*i+1])
				seen.Second += int(counters[4*i+2])
			}
			seen.Wanted += n * entries
			for i := range n {
				seen.Entered += int(answers[2*i])
				seen.Unequal += int(answers[2*i+1])
			}
			return true
		})
	}
}

func (s lockSeen) judge() Finding {
	lost := max(s.Entered-s.First, s.First-s.Entered, s.Entered-s.Second, s.Second-s.Entered)
	switch {
	case lost > 0:
		return Finding{Fail, fmt.Sprintf("%d of %d updates behind a lock were lost", lost, s.Entered),
			"Locks don't protect what is behind them: atomics in divergent loops lose work."}
	case s.Unequal > 0:
		return Finding{Fail, fmt.Sprintf("%d times one half of an update was seen without the other", s.Unequal),
			"Who takes a lock doesn't see all that its last holder wrote."}
	case s.Entered == 0:
		return Finding{Fail, fmt.Sprintf("none of %d tries got a lock", s.Wanted),
			"A free lock can't be taken: compare-and-swap in divergent loops doesn't work."}
	case s.Entered < s.Wanted:
		return Finding{Pass, fmt.Sprintf("%d updates, none lost; %d gave up", s.Entered, s.Wanted-s.Entered),
			"What is behind a lock is safe. Some waited long for one, and vkds does such operations again."}
	}
	return Finding{Pass, fmt.Sprintf("%d updates, none lost", s.Entered), "What is behind a lock is safe."}
}
