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
	in, err := s.filled(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	out, err := s.buffer("out")
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.bulk().ScanScratch(s.n))
	if err != nil {
		return err
	}
	a := primitives.ScanArgs{In: in.Address(), Out: out.Address(), Length: primitives.Length{N: s.n},
		Inclusive: inclusive, Scratch: scratch}
	return s.time(ctx, 8, func() error { return s.bulk().Scan(s.stream, a) }, func(ctx context.Context) error {
		if err := out.Download(ctx, 0, s.scratch); err != nil {
			return err
		}
		// Sums are right if the first one is, and each differs from the one before by the word between them.
		return each(s.n, func(i int) error {
			before, between := uint32(0), uint32(0)
			if i > 0 {
				before, between = s.scratch[i-1], s.space.key(i-1)
			}
			if inclusive {
				between = s.space.key(i)
			}
			if s.scratch[i]-before != between {
				return s.wrong("sum %d: %d", i, s.scratch[i])
			}
			return nil
		})
	})
}

func (s *session) reduce(ctx context.Context) error {
	in, err := s.filled(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	out, err := s.room("sum", 1)
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.bulk().ReduceScratch(s.n))
	if err != nil {
		return err
	}
	var want atomic.Uint32
	parallel(s.n, func(first, end int) error {
		sum := uint32(0)
		for i := first; i < end; i++ {
			sum += s.space.key(i)
		}
		want.Add(sum)
		return nil
	})
	a := primitives.ReduceArgs{In: in.Address(), Out: out.Address(), Length: primitives.Length{N: s.n},
		Scratch: scratch}
	return s.time(ctx, 4, func() error { return s.bulk().Reduce(s.stream, a) }, func(ctx context.Context) error {
		var got [1]uint32
		if err := out.Download(ctx, 0, got[:]); err != nil {
			return err
		}
		if got[0] != want.Load() {
			return s.wrong("%d instead of %d", got[0], want.Load())
		}
		return nil
	})
}
