package bench

import (
	"context"
	"sync/atomic"

	"github.com/vkds/vkds/structures/primitives"
)

// scanOf measures prefix sums, which have each word in its own sum or not.
func scanOf(inclusive bool) func(*session, context.Context) error {
	return func(s *session, ctx context.Context) error { return s.scan(ctx, inclusive) }
}

func (s *session) scan(ctx context.Context, inclusive bool) error {
	in, err := s.elements(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	out, err := s.roomFor("out", s.n)
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.bulk().ScanScratch(s.n, s.width))
	if err != nil {
		return err
	}
	a := primitives.ScanArgs{In: in.Address(), Out: out.Address(), Length: primitives.Length{N: s.n},
		Width: s.width, Inclusive: inclusive, Scratch: scratch}
	record := func() error { return s.bulk().Scan(s.stream, a) }
	return s.time(ctx, 8<<s.width, record, func(ctx context.Context) error {
		sums, err := s.downloadNumbers(ctx, out, s.n)
		if err != nil {
			return err
		}
		// Sums are right if the first one is, and each differs from the one before by the element between them.
		return each(s.n, func(i int) error {
			before, between := uint64(0), uint64(0)
			if i > 0 {
				before, between = sums.at(i-1), s.element(s.space.key(i-1))
			}
			if inclusive {
				between = s.element(s.space.key(i))
			}
			if sums.modulo(sums.at(i)-before) != between {
				return s.wrong("sum %d: %d", i, sums.at(i))
			}
			return nil
		})
	})
}

func (s *session) reduce(ctx context.Context) error {
	in, err := s.elements(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	out, err := s.room("sum", 2)
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.bulk().ReduceScratch(s.n, s.width))
	if err != nil {
		return err
	}
	var want atomic.Uint64
	parallel(s.n, func(first, end int) error {
		sum := uint64(0)
		for i := first; i < end; i++ {
			sum += s.element(s.space.key(i))
		}
		want.Add(sum)
		return nil
	})
	a := primitives.ReduceArgs{In: in.Address(), Out: out.Address(), Length: primitives.Length{N: s.n},
		Width: s.width, Scratch: scratch}
	record := func() error { return s.bulk().Reduce(s.stream, a) }
	return s.time(ctx, 4<<s.width, record, func(ctx context.Context) error {
		got, err := s.downloadNumbers(ctx, out, 1)
		if err != nil {
			return err
		}
		if got.at(0) != got.modulo(want.Load()) {
			return s.wrong("%d instead of %d", got.at(0), got.modulo(want.Load()))
		}
		return nil
	})
}
