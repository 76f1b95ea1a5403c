package bench

import (
	"context"

	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// kept says whether a compaction keeps pair i: those whose place in a random order is below the half, so that the
// number is known.
func (s *session) kept(i int) bool { return s.order.at(i) < s.n/2 }

func (s *session) compactPairs(ctx context.Context) error {
	keys, err := s.elements(ctx, "words", s.space.key)
	if err != nil {
		return err
	}
	values, moved, err := s.payload(ctx)
	if err != nil {
		return err
	}
	flags, err := s.keptFlags(ctx)
	if err != nil {
		return err
	}
	out, err := s.roomFor("out", s.n)
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
	a := primitives.CompactArgs{
		Keys: keys.Address(), Values: values.Address(), Flags: flags.Address(), Length: primitives.Length{N: s.n},
		OutKeys: out.Address(), OutValues: moved.Address(), OutCount: count.Address(), Scratch: scratch,
		Widths: primitives.Widths{Key: s.width, Value: s.width},
	}
	return s.time(ctx, 12<<s.width, func() error { return s.bulk().Compact(s.stream, a) },
		func(ctx context.Context) error { return s.checkKept(ctx, count, out, moved) })
}

// keptFlags are a bit for each pair, whether it is kept.
func (s *session) keptFlags(ctx context.Context) (*vk.Buffer[uint32], error) {
	bits := make([]uint32, (s.n+31)/32)
	fill(bits, func(w int) (word uint32) {
		for b := range min(32, s.n-32*w) {
			if s.kept(32*w + b) {
				word |= 1 << b
			}
		}
		return word
	})
	flags, err := s.room("flags", len(bits))
	if err != nil {
		return nil, err
	}
	return flags, flags.Upload(ctx, 0, bits)
}

// checkKept looks whether the pairs are those that were to be kept, in their order.
func (s *session) checkKept(ctx context.Context, count, keys, values *vk.Buffer[uint32]) error {
	n, err := downloaded(ctx, count, 1)
	if err != nil {
		return err
	}
	if int(n[0]) != s.n/2 {
		return s.wrong("%d pairs kept instead of %d", n[0], s.n/2)
	}
	k, v := make([]uint32, s.n/2), make([]uint32, s.n/2)
	if err := s.downloadElements(ctx, keys, k); err != nil {
		return err
	}
	if err := s.downloadElements(ctx, values, v); err != nil {
		return err
	}
	return each(len(v), func(i int) error {
		if at := int(v[i]); at >= s.n || !s.kept(at) || k[i] != s.space.key(at) || i > 0 && v[i-1] >= v[i] {
			return s.wrong("place %d: %d, %d", i, k[i], v[i])
		}
		return nil
	})
}
