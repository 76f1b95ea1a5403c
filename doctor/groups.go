package doctor

import (
	"context"
	"fmt"
)

type groupsPush struct {
	Runs  uint64
	Count uint32
}

// groupsSeen is the outcome of a dispatch with several rows.
type groupsSeen struct {
	Groups  int `json:"groups"`
	Missing int `json:"missing"` // workgroups that did not run
	Twice   int `json:"twice"`   // workgroups that ran more than once
}

func observeGroups(ctx context.Context, l *lab) (observation, error) {
	const groups = 2*65535 + 7
	k, err := load[groupsPush](l, "groups", l.workgroup(1), 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(groups)
	if err != nil {
		return nil, err
	}
	if err := run(ctx, l, k, groups, groupsPush{b[0].Address(), groups}); err != nil {
		return nil, err
	}
	runs, err := read(ctx, b[0])
	if err != nil {
		return nil, err
	}
	seen := groupsSeen{Groups: groups}
	for _, n := range runs {
		switch {
		case n == 0:
			seen.Missing++
		case n > 1:
			seen.Twice++
		}
	}
	return seen, nil
}

func (s groupsSeen) judge() Finding {
	if s.Missing > 0 || s.Twice > 0 {
		return Finding{Fail, fmt.Sprintf("of %d workgroups %d did not run and %d ran more than once", s.Groups,
			s.Missing, s.Twice),
			"Large batches come out incomplete."}
	}
	return Finding{Pass, fmt.Sprintf("%d workgroups, each once", s.Groups),
		"Large batches in several rows of workgroups are done in full."}
}
