package bench

import (
	"context"
	"fmt"
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
	a := primitives.ScanArgs{In: in.Address(), Out: out.Address(), Length: primitives.Length{N: s.n}, Inclusive: inclusive, Scratch: scratch}
	return s.time(ctx, 8, func() error { return s.bulk().Scan(s.stream, a) }, func(ctx context.Context) error {
		if err := out.Download(ctx, 0, s.scratch); err != nil {
			return err
		}
		// Sums are right if the first one is, and each differs from the one before by the word between them.
		return parallel(s.n, func(first, end int) error {
			for i := first; i < end; i++ {
				before, between := uint32(0), uint32(0)
				if i > 0 {
					before, between = s.scratch[i-1], s.space.key(i-1)
				}
				if inclusive {
					between = s.space.key(i)
				}
				if s.scratch[i]-before != between {
					return &WrongError{s.op.Name, fmt.Sprintf("sum %d: %d", i, s.scratch[i])}
				}
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
	a := primitives.ReduceArgs{In: in.Address(), Out: out.Address(), Length: primitives.Length{N: s.n}, Scratch: scratch}
	return s.time(ctx, 4, func() error { return s.bulk().Reduce(s.stream, a) }, func(ctx context.Context) error {
		var got [1]uint32
		if err := out.Download(ctx, 0, got[:]); err != nil {
			return err
		}
		if got[0] != want.Load() {
			return &WrongError{s.op.Name, fmt.Sprintf("%d instead of %d", got[0], want.Load())}
		}
		return nil
	})
}

// compactPairs keeps the pairs whose place in a random order is below the half, so that the number is known.
func (s *session) compactPairs(ctx context.Context) error {
	kept := func(i int) bool { return s.order.at(i) < s.n/2 }
	keys, err := s.filled(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	values, err := s.indices(ctx)
	if err != nil {
		return err
	}
	bits := make([]uint32, (s.n+31)/32)
	fill(bits, func(w int) (word uint32) {
		for b := range min(32, s.n-32*w) {
			if kept(32*w + b) {
				word |= 1 << b
			}
		}
		return word
	})
	flags, err := s.room("flags", len(bits))
	if err != nil {
		return err
	}
	if err := flags.Upload(ctx, 0, bits); err != nil {
		return err
	}
	outKeys, err := s.buffer("out")
	if err != nil {
		return err
	}
	outValues, err := s.buffer("out values")
	if err != nil {
		return err
	}
	count, err := s.room("count", 1)
	if err != nil {
		return err
	}
	scratch, err := s.scratchFor(s.bulk().CompactScratch(s.n))
	if err != nil {
		return err
	}
	a := primitives.CompactArgs{Keys: keys.Address(), Values: values.Address(), Flags: flags.Address(), OutKeys: outKeys.Address(),
		OutValues: outValues.Address(), OutCount: count.Address(), Length: primitives.Length{N: s.n}, Scratch: scratch}
	return s.time(ctx, 12, func() error { return s.bulk().Compact(s.stream, a) }, func(ctx context.Context) error {
		var n [1]uint32
		if err := count.Download(ctx, 0, n[:]); err != nil {
			return err
		}
		if int(n[0]) != s.n/2 {
			return &WrongError{s.op.Name, fmt.Sprintf("%d pairs kept instead of %d", n[0], s.n/2)}
		}
		k, v := make([]uint32, n[0]), make([]uint32, n[0])
		if err := outKeys.Download(ctx, 0, k); err != nil {
			return err
		}
		if err := outValues.Download(ctx, 0, v); err != nil {
			return err
		}
		return parallel(len(v), func(first, end int) error {
			for i := first; i < end; i++ {
				if at := int(v[i]); at >= s.n || !kept(at) || k[i] != s.space.key(at) || i > 0 && v[i-1] >= v[i] {
					return &WrongError{s.op.Name, fmt.Sprintf("place %d: %d, %d", i, k[i], v[i])}
				}
			}
			return nil
		})
	})
}
