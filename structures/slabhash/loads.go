package slabhash

import (
	"context"
	"iter"
	"slices"

	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/transfer"
	"github.com/vkds/vkds/vk"
)

// BucketLoad is the load of one bucket, or of a group of 16 buckets that share slabs.
type BucketLoad struct {
	Slabs      int // base slabs included
	Pairs      int // of a set: keys
	Tombstones int // slots of erased pairs
}

const wordsPerLoad = 4 // words of loads.comp's output for each bucket

func (t *table) Loads(ctx context.Context) iter.Seq2[BucketLoad, error] {
	return transfer.Sequence(func(yield func(BucketLoad) bool) error { return t.eachLoad(ctx, yield) })
}

func (t *table) eachLoad(ctx context.Context, yield func(BucketLoad) bool) error {
	w := walk{t: t}
	defer w.free()
	for {
		words, err := w.loads(ctx)
		if err != nil || len(words) == 0 {
			return err
		}
		for group := range slices.Chunk(words, wordsPerLoad*t.o.together()) {
			var l BucketLoad
			for bucket := range slices.Chunk(group, wordsPerLoad) {
				l.Slabs += int(bucket[0])
				l.Pairs += int(bucket[1])
				l.Tombstones += int(bucket[2])
			}
			if !yield(l) {
				return nil
			}
		}
	}
}

// loads reads the loads of the next buckets, and returns none at the end.
func (w *walk) loads(ctx context.Context) (words []uint32, err error) {
	part := new([]uint32)
	err = w.do(ctx, func(s *vk.Stream) (err error) {
		*part, err = w.nextLoads(ctx, s)
		return err
	})
	return *part, err
}

// nextLoads is loads for a caller that has entered the table.
func (w *walk) nextLoads(ctx context.Context, s *vk.Stream) (words []uint32, err error) {
	t := w.t
	part := min(1<<16, t.base.buckets) // whole groups
	if w.room == nil {
		if err := w.make(wordsPerLoad * int(part)); err != nil {
			return nil, err
		}
	}
	count := min(part, t.base.buckets-w.next)
	if count == 0 {
		return nil, nil
	}
	err = recording.Run(s, func() error {
		k, err := t.loadsKernel().Kernel(t.Kernels, s)
		if err != nil {
			return err
		}
		k.Dispatch(s, t.tileGroups(count), surveyPush{t.description(t.base), w.room.Address(), w.next, count})
		return nil
	})
	if err != nil {
		return nil, err
	}
	w.next += count
	words = make([]uint32, wordsPerLoad*count)
	return words, w.room.Download(ctx, 0, words)
}
