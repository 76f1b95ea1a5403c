package doctor

import (
	"context"
	"fmt"
)

type messagePush struct {
	Meeting  meeting
	Messages uint64
	Flags    uint64
	Answers  uint64
	Count    uint32
	Rounds   uint32
	Seed     uint32
}

// How a message and its flag are ordered: ORDER of message.comp.
const (
	byNothing = iota
	byFencesBetween
	byDependency
)

// messageSeen is the outcome of reading messages after their flags.
type messageSeen struct {
	Fences     bool `json:"fences"`
	Dependency bool `json:"dependency"` // instead of fences: results of atomics, and an address computed from the flag

	Read  int `json:"read"`  // messages read after their flag was seen
	Live  int `json:"live"`  // of these, messages from writers that were still running
	Stale int `json:"stale"` // of Read, messages older than their flag
}

// observeMessages is the message-passing test (MP). All invocations are writers and readers.
func observeMessages(order uint32) func(context.Context, *lab) (observation, error) {
	return func(ctx context.Context, l *lab) (observation, error) {
		workgroup, groups := l.workgroup(1), l.crowd()
		n := workgroup * groups
		k, err := load[messagePush](l, "message", workgroup, 0, map[string]uint32{"ORDER": order})
		if err != nil {
			return nil, err
		}
		b, err := l.words(1, 4*n, n, 4*n)
		if err != nil {
			return nil, err
		}
		push := func() messagePush {
			return messagePush{l.meeting(b[0], groups), b[1].Address(), b[2].Address(), b[3].Address(), uint32(n), 1000,
				l.rnd.Uint32()}
		}
		seen := messageSeen{Fences: order == byFencesBetween, Dependency: order == byDependency}
		return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
			for i := range n {
				a := contents[3][4*i:]
				seen.Read += int(a[0])
				seen.Live += int(a[1])
				seen.Stale += int(a[2])
			}
			return seen.Live > 0
		})
	}
}

func (s messageSeen) judge() Finding {
	counts := fmt.Sprintf("%d messages, %d stale", s.Read, s.Stale)
	switch {
	case s.Dependency && s.Stale > 0:
		return Finding{Fail, counts, "A read by an address is made before the read that the address came of: " +
			"values of 64 bits in hash tables may be seen before they are there."}
	case s.Dependency && s.Live > 0:
		return Finding{Pass, counts, "A read by an address waits for the read that the address came of."}
	case !s.Fences && !s.Dependency && s.Stale > 0:
		return Finding{
			Information, counts, "This device reorders writes or reads, so the fences in vkds earn their cost."}
	case !s.Fences && !s.Dependency:
		return Finding{Information, counts, "No reordering was seen; vkds has its fences all the same."}
	case s.Stale > 0:
		return Finding{Fail, counts, "Fences don't order what stands before them: new nodes may be seen unfinished."}
	case s.Live == 0:
		return Finding{Pass, counts, "Nothing stale, but writers and readers never ran at the same time."}
	}
	return Finding{Pass, counts, "What was written before a release fence is seen after the acquire fence."}
}
