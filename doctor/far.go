package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/vkds/vkds/vk"
)

type farPush struct {
	Base    uint64
	Answers uint64
	Count   uint32
	Writes  uint32
}

// farSeen is the outcome of words written 1 GiB apart in one buffer.
type farSeen struct {
	Words int `json:"words"`
	Wrong int `json:"wrong"`
}

func observeFar(ctx context.Context, l *lab) (observation, error) {
	const words = 6 // at 0 to 5 GiB
	const bytes = (words-1)<<30 + 256
	// The test is not worth displacing other programs from memory.
	if used, budget := l.d.Memory(); budget < used || budget-used < 2*bytes {
		return nil, &cannotError{"there is not memory enough", "Tables here stay below 4 GiB."}
	}
	far, err := vk.NewBuffer[uint32](l.d, bytes/4)
	if errors.Is(err, vk.ErrNoRoom) {
		return nil, &cannotError{"the driver gives no buffer that large", "Tables here stay below 4 GiB."}
	}
	if err != nil {
		return nil, err
	}
	l.made = append(l.made, far)
	k, err := load[farPush](l, "far", l.workgroup(1), 0, nil)
	if err != nil {
		return nil, err
	}
	b, err := l.words(words)
	if err != nil {
		return nil, err
	}
	groups := (words + k.Workgroup() - 1) / k.Workgroup()
	for writes := range uint32(2) {
		if err := run(ctx, l, k, groups, farPush{far.Address(), b[0].Address(), words, 1 - writes}); err != nil {
			return nil, err
		}
	}
	answers, err := read(ctx, b[0])
	if err != nil {
		return nil, err
	}
	seen := farSeen{Words: words}
	for i, got := range answers {
		if got != mix(uint32(i)) {
			seen.Wrong++
		}
	}
	return seen, nil
}

func (s farSeen) judge() Finding {
	if s.Wrong > 0 {
		return Finding{Fail, fmt.Sprintf("%d of %d words came back wrong", s.Wrong, s.Words),
			"Large tables overwrite themselves."}
	}
	return Finding{Pass, "words at 0 to 5 GiB", "Tables may be larger than 4 GiB."}
}
