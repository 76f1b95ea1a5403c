package doctor

import (
	"context"
	"fmt"
)

type bufferingPush struct {
	Tickets  uint64
	Reached  uint64
	Words    uint64
	Answers  uint64
	Count    uint32
	Rounds   uint32
	Patience uint32
	Seed     uint32
}

// bufferingSeen is the outcome of pairs of subgroups that each write a word and then read the other's.
type bufferingSeen struct {
	Rounds  int `json:"rounds"`
	Neither int `json:"neither"` // rounds in which neither saw the other's write
}

// observeBuffering is the store-buffering test (SB) with relaxed atomics.
func observeBuffering(ctx context.Context, l *lab) (observation, error) {
	const rounds = 256
	subgroup := l.d.SubgroupSize()
	groups := min(l.crowd(), 64)
	n := groups * subgroup
	k, err := load[bufferingPush](l, "buffering", subgroup, 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(1, n, rounds*n, rounds*n)
	if err != nil {
		return nil, err
	}
	push := func() bufferingPush {
		return bufferingPush{
			b[0].Address(), b[1].Address(), b[2].Address(), b[3].Address(),
			uint32(n), rounds, l.patience(l.meetingTime()), l.rnd.Uint32(),
		}
	}
	var seen bufferingSeen
	return &seen, repeat(ctx, l, k, groups, b, push, func(contents [][]uint32) bool {
		answers := contents[3]
		for i := range answers {
			other := i/n*n + i%n ^ subgroup // workgroups pair up, and subgroup is a power of two
			if other > i {
				seen.Rounds++
				if answers[i] == 2 && answers[other] == 2 {
					seen.Neither++
				}
			}
		}
		return true
	})
}

func (s bufferingSeen) judge() Finding {
	found := fmt.Sprintf("%d of %d rounds", s.Neither, s.Rounds)
	if s.Neither == 0 {
		return Finding{Information, found, "No write waited while a later read went ahead; vkds would allow it."}
	}
	return Finding{Information, found, "A write may wait while a later read goes ahead, as relaxed atomics allow; " +
		"vkds expects it."}
}
