package doctor

import (
	"context"
	"fmt"
	"time"
)

// The parties of a pair: BETWEEN in progress.comp.
const (
	betweenWorkgroups = iota
	betweenSubgroups
	betweenLanes
)

var partyNames = []string{"Workgroups", "Subgroups of a workgroup", "Lanes of a subgroup"}

type progressPush struct {
	Turns    uint64
	Tickets  uint64
	Moves    uint32
	Patience uint32
	Seed     uint32
}

// progressSeen is the outcome of pairs that pass a turn back and forth.
type progressSeen struct {
	Between   uint32 `json:"-"`
	Pairs     int    `json:"pairs"`
	Completed int    `json:"completed"` // pairs that passed the turn as often as requested
}

// observeProgress is the spin-wait test of occupancy-bound execution (Sorensen et al., "Portable Inter-workgroup
// Barrier Synchronisation for GPUs", 2016). Workgroups form pairs in the order in which they begin, so that none waits
// for a workgroup that has not begun. Subgroups and lanes form pairs with their neighbors.
func observeProgress(between uint32) func(context.Context, *lab) (observation, error) {
	return func(ctx context.Context, l *lab) (observation, error) {
		seen, err := l.handOver(ctx, between, true)
		return seen, err
	}
}

// handOver runs pairs that pass a turn back and forth, with or without a fence between two reads.
func (l *lab) handOver(ctx context.Context, between uint32, fences bool) (progressSeen, error) {
	const moves = 16
	seen := progressSeen{Between: between}
	workgroup, groups, patience := l.workgroup(1), l.crowd(), 2*l.meetingTime()
	pairs := groups / 2
	if between != betweenWorkgroups {
		groups, patience = 4, 5*time.Millisecond
	}
	switch between {
	case betweenSubgroups:
		workgroup = l.workgroup(4)
		pairs = groups * (workgroup / l.d.SubgroupSize()) / 2
	case betweenLanes:
		pairs = groups * workgroup / 2
	}
	if between != betweenWorkgroups && pairs < groups {
		return seen, &cannotError{"there is one of them alone", "Nothing waits for anything."}
	}
	constants := map[string]uint32{"BETWEEN": between, "FENCES": 0}
	if fences {
		constants["FENCES"] = 1
	}
	k, err := load[progressPush](l, "progress", workgroup, 0, constants)
	if err != nil {
		return seen, err
	}
	b, err := l.words(pairs, 1)
	if err != nil {
		return seen, err
	}
	push := func() progressPush {
		return progressPush{b[0].Address(), b[1].Address(), moves, l.patience(patience), l.rnd.Uint32()}
	}
	return seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
		seen.Pairs += pairs
		for _, turn := range contents[0] {
			if turn == moves {
				seen.Completed++
			}
		}
		return true
	})
}

func (s progressSeen) judge() Finding {
	found := fmt.Sprintf("yes: all %d pairs", s.Pairs)
	means := fmt.Sprintf("%s may wait for one another here; vkds never lets them.", partyNames[s.Between])
	switch {
	case s.Completed == s.Pairs:
	case s.Completed > 0:
		found = fmt.Sprintf("mostly: %d of %d pairs in time", s.Completed, s.Pairs)
	default:
		found = fmt.Sprintf("no: none of %d pairs", s.Pairs)
		means = fmt.Sprintf("%s that wait for one another wait for ever here; vkds never lets them.",
			partyNames[s.Between])
	}
	return Finding{Information, found, means}
}

// pollSeen is the outcome of workgroups that pass a turn back and forth, with and without a fence between two reads.
type pollSeen struct {
	Fences   progressSeen `json:"fences"`
	NoFences progressSeen `json:"no_fences"`
}

// observePolling tests whether a compiler keeps a relaxed load in a loop that only loads.
func observePolling(ctx context.Context, l *lab) (observation, error) {
	var seen pollSeen
	var err error
	if seen.Fences, err = l.handOver(ctx, betweenWorkgroups, true); err == nil {
		seen.NoFences, err = l.handOver(ctx, betweenWorkgroups, false)
	}
	return seen, err
}

func (s pollSeen) judge() Finding {
	switch {
	case s.Fences.Completed == 0:
		return Finding{Untested, "needs progress between workgroups",
			"Nothing can be waited for, so it does not matter."}
	case s.NoFences.Completed == 0:
		return Finding{Information, "no: loads are moved out of loops",
			"A loop that only reads may never see a write here; loops of vkds write, or have a fence, and so must " +
				"loops of your own."}
	}
	return Finding{Information, fmt.Sprintf("yes: %d of %d pairs", s.NoFences.Completed, s.NoFences.Pairs),
		"A loop that only reads sees what others write."}
}
