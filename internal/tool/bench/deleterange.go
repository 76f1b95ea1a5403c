package bench

import (
	"context"
	"slices"

	"github.com/vkds/vkds/structures"
)

// deleteRanges measures the deletion of every fourth stretch of so many neighbouring keys as a range is long, the
// stretches in no order. The call waits by itself, so the time is the wall's.
func deleteRanges[W structures.Word](s *session, ctx context.Context) error {
	for _, length := range s.options.Lengths {
		stretches := everyFourth[W](s, min(length, s.n))
		m := s.measurement(s.n, stretches.pairs())
		m.Length = length
		counts := new([]uint32)
		m, err := s.measureWall(ctx, m, s.changing, func(ctx context.Context) (err error) {
			*counts, err = s.structure().(rangeDeleter[W]).DeleteRange(ctx, stretches.ranges)
			return err
		}, nil, "")
		if err != nil {
			return err
		}
		if err := s.add(m, checkDeleted(s, ctx, stretches, *counts)); err != nil {
			return err
		}
	}
	return nil
}

// rangeDeleter is what can delete ranges of Go's keys.
type rangeDeleter[W structures.Word] interface {
	DeleteRange(context.Context, []structures.Range[W]) ([]uint32, error)
}

// stretches are ranges of so many keys each.
type stretches[W structures.Word] struct {
	ranges []structures.Range[W]
	length int
	sorted []uint32 // all keys, of which every fourth stretch is deleted
}

func everyFourth[W structures.Word](s *session, length int) stretches[W] {
	x := stretches[W]{length: length, sorted: s.inOrder(s.n)}
	x.ranges = make([]structures.Range[W], (s.n/length+3)/4)
	order := newOrder(len(x.ranges), uint64(s.o.Seed)<<11|1)
	for i := range x.ranges {
		first := 4 * length * order.at(i)
		x.ranges[i].Lo, x.ranges[i].Hi = elementOf[W](x.sorted[first]), elementOf[W](x.sorted[first+length-1])
	}
	return x
}

func (x stretches[W]) pairs() int { return len(x.ranges) * x.length }

// has says whether one of the stretches has a key that was there.
func (x stretches[W]) has(key uint32) bool {
	at, _ := slices.BinarySearch(x.sorted, key)
	stretch := at / x.length
	return stretch%4 == 0 && stretch/4 < len(x.ranges)
}

// checkDeleted looks whether the pairs of stretches are gone and all others there, and whether they were counted.
func checkDeleted[W structures.Word](s *session, ctx context.Context, x stretches[W], counts []uint32) error {
	for i, got := range counts {
		if int(got) != x.length {
			return s.wrong("range %d: %d pairs removed instead of %d", i, got, x.length)
		}
	}
	if len(counts) != len(x.ranges) {
		return s.wrong("%d counts of %d ranges", len(counts), len(x.ranges))
	}
	if err := s.sound(ctx, s.n-x.pairs()); err != nil {
		return err
	}
	return s.finds(ctx, func(i int) (uint32, bool) {
		key := s.query(i)
		return s.space.value(key), !x.has(key)
	})
}
