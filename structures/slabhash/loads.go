package slabhash

import (
	"context"
	"iter"

	"github.com/vkds/vkds/vk"
)

// BucketLoad is what one bucket holds.
type BucketLoad struct {
	Slabs      int // base slab included
	Pairs      int // of a set: keys
	Tombstones int // slots of erased pairs
}

const loadWords = 4 // of loads.comp's output, a bucket

// Loads returns what each bucket holds, bucket by bucket. The table is read part by part, so it must not change
// meanwhile. The sequence ends early if the device fails; the function then returned says so.
func (m *Map) Loads(ctx context.Context) (iter.Seq[BucketLoad], func() error) { return m.t.loads(ctx) }

// Loads is Map.Loads.
func (s *Set) Loads(ctx context.Context) (iter.Seq[BucketLoad], func() error) { return s.t.loads(ctx) }

func (t *table) loads(ctx context.Context) (iter.Seq[BucketLoad], func() error) {
	var failure error
	return func(yield func(BucketLoad) bool) { failure = t.eachLoad(ctx, yield) }, func() error { return failure }
}

func (t *table) eachLoad(ctx context.Context, yield func(BucketLoad) bool) error {
	if err := t.usable(); err != nil {
		return err
	}
	k, err := kernel[surveyPush](t, t.stream, t.variant("loads"), t.tiles.walk)
	if err != nil {
		return err
	}
	part := min(1<<16, t.base.buckets)
	room, err := vk.NewBuffer[uint32](t.d, loadWords*int(part))
	if err != nil {
		return err
	}
	defer room.Free()
	words := make([]uint32, room.Len())
	for first := uint32(0); first < t.base.buckets; first += part {
		if err := ctx.Err(); err != nil {
			return err
		}
		count := min(part, t.base.buckets-first)
		k.Dispatch(t.stream, t.tileGroups(count), surveyPush{t.device(t.base), room.Address(), first, count})
		if err := t.stream.Wait(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		if err := room.Download(ctx, 0, words[:loadWords*count]); err != nil {
			return err
		}
		for i := range count {
			w := words[loadWords*i:]
			if !yield(BucketLoad{int(w[0]), int(w[1]), int(w[2])}) {
				return nil
			}
		}
	}
	return nil
}
