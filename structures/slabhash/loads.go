package slabhash

import (
	"context"
	"iter"

	"github.com/vkds/vkds/structures/internal/recording"
)

// BucketLoad is what one bucket holds.
type BucketLoad struct {
	Slabs      int // base slab included
	Pairs      int // of a set: keys
	Tombstones int // slots of erased pairs
}

const loadWords = 4 // of loads.comp's output, a bucket

// Loads returns what each bucket holds, bucket by bucket. The table is read part by part, so it must not change
// meanwhile. The sequence ends early if the device fails, the context ends or the table is rehashed
// (structures.ErrChanged); the function then returned says so.
func (m *Map) Loads(ctx context.Context) (iter.Seq[BucketLoad], func() error) { return m.t.loads(ctx) }

// Loads is Map.Loads.
func (s *Set) Loads(ctx context.Context) (iter.Seq[BucketLoad], func() error) { return s.t.loads(ctx) }

func (t *table) loads(ctx context.Context) (iter.Seq[BucketLoad], func() error) {
	var failure error
	return func(yield func(BucketLoad) bool) { failure = t.eachLoad(ctx, yield) }, func() error { return failure }
}

func (t *table) eachLoad(ctx context.Context, yield func(BucketLoad) bool) error {
	w := walk{t: t}
	defer w.free()
	for {
		words, err := w.loads(ctx)
		if err != nil || len(words) == 0 {
			return err
		}
		for ; len(words) != 0; words = words[loadWords:] {
			if !yield(BucketLoad{int(words[0]), int(words[1]), int(words[2])}) {
				return nil
			}
		}
	}
}

// loads reads the loads of the next buckets; none: that was all.
func (w *walk) loads(ctx context.Context) ([]uint32, error) {
	t := w.t
	if err := w.enter(ctx); err != nil {
		return nil, err
	}
	defer t.leave()
	part := min(1<<16, t.base.buckets)
	if w.room == nil {
		if err := w.make(loadWords * int(part)); err != nil {
			return nil, err
		}
	}
	count := min(part, t.base.buckets-w.next)
	if count == 0 {
		return nil, nil
	}
	err := recording.Run(t.stream, func() error {
		k, err := kernel[surveyPush](t, t.stream, t.variant("loads"), t.tiles.walk)
		if err != nil {
			return err
		}
		k.Dispatch(t.stream, t.tileGroups(count), surveyPush{t.device(t.base), w.room.Address(), w.next, count})
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.next += count
	words := w.host[:loadWords*count]
	return words, w.room.Download(ctx, 0, words)
}
