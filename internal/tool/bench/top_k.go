package bench

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/structures/primitives"
)

// topK measures the search for a few of the greatest keys.
func (s *session) topK(ctx context.Context) error {
	k, widths := min(1000, s.n), primitives.Widths{Key: s.width}
	keys, err := s.elements(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	out, err := s.roomFor("out", s.n)
	if err != nil {
		return err
	}
	numbers, err := s.buffer("out values")
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.bulk().TopKScratch(s.n, k, widths))
	if err != nil {
		return err
	}
	a := primitives.TopKArgs{
		Keys: keys.Address(), OutKeys: out.Address(), OutValues: numbers.Address(), K: k,
		Length: primitives.Length{N: s.n}, Widths: widths, Scratch: scratch,
	}
	return s.time(ctx, 4<<s.width, func() error { return s.bulk().TopK(s.stream, a) }, func(ctx context.Context) error {
		best := make([]uint32, k)
		if err := s.downloadElements(ctx, out, best); err != nil {
			return err
		}
		places, err := downloaded(ctx, numbers, k)
		if err != nil {
			return err
		}
		return s.checkTopK(best, places)
	})
}

// checkTopK looks whether keys are the greatest, the greatest one first, and stand where they are said to. All keys
// differ: so none is greater than the last one but those before it.
func (s *session) checkTopK(best, places []uint32) error {
	for i, key := range best {
		if s.space.key(int(places[i])) != key || i > 0 && key >= best[i-1] {
			return s.wrong("place %d: %d, number %d", i, key, places[i])
		}
	}
	var greater atomic.Int64
	parallel(s.n, func(first, end int) error {
		n := int64(0)
		for i := first; i < end; i++ {
			if s.space.key(i) > best[len(best)-1] {
				n++
			}
		}
		greater.Add(n)
		return nil
	})
	if n := int(greater.Load()); n != len(best)-1 {
		return s.wrong("%d keys are greater than the last of %d", n, len(best))
	}
	return nil
}
