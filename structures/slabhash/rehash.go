package slabhash

import (
	"context"
	"log/slog"
	"time"

	"github.com/vkds/vkds/internal/engine/gate"
	"github.com/vkds/vkds/internal/engine/joint"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/structures"
)

type bucketsPush struct {
	Hash  Description
	First uint32
	Count uint32
}

type rehashPush struct {
	Hash            Description
	FromBase        uint64
	FromBuckets     uint32
	FromMask        uint32
	FromSpecialOnes uint32
	FromSpecialZero uint32
	RatioDown       uint64 // old buckets / new buckets, 32.32 fixed point
	RatioUp         uint64
	Failed          uint64
	First           uint32
	Count           uint32
}

// upkeep records a kernel over whole buckets, and times it if Options.Timed is set.
func (t *table) upkeep(label string, record func()) {
	if t.o.Timed {
		t.Stream.Timed(label, record)
	} else {
		record()
	}
}

// overLists runs flush or release over all buckets, or groups of them.
func (t *table) overLists(ctx context.Context, b base, label string,
	of recording.Spec[bucketsPush], progress structures.Progress) error {
	return t.lists(ctx, b.buckets, progress, func(first, count uint32) error {
		return recording.Run(t.Stream, func() error {
			k, err := of.Kernel(t.Kernels, t.Stream)
			if err != nil {
				return err
			}
			push := bucketsPush{t.description(b), first, count}
			t.upkeep(label, func() { k.Dispatch(t.Stream, t.tileGroups(count), push) })
			return nil
		})
	})
}

// Flush compacts buckets in place. If the context ends, each bucket is either flushed or as it was.
func (t *table) Flush(ctx context.Context) error {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	return t.flush(ctx, gate.Told(ctx))
}

// flush is Flush for a caller that has entered the table.
func (t *table) flush(ctx context.Context, progress structures.Progress) error {
	begin := time.Now()
	err := t.overLists(ctx, t.base, "flush", t.flushKernel(), progress)
	t.Device.Log().LogAttrs(ctx, slog.LevelDebug, "flushed", slog.Uint64("buckets", uint64(t.base.buckets)),
		slog.Duration("duration", time.Since(begin)), slog.Bool("whole", err == nil))
	return err
}

// releaseChains returns all slabs that base slabs link to to the pool. It must not stop half-way, so it has no context.
func (t *table) releaseChains(b base) error {
	return t.overLists(context.Background(), b, "release", t.releaseKernel(), nil)
}

// canRelease returns an error if the kernel of releaseChains can't be made. Rehash asks before it needs that kernel.
func (t *table) canRelease() error {
	return recording.Run(t.Stream, func() error {
		_, err := t.releaseKernel().Kernel(t.Kernels, t.Stream)
		return err
	})
}

// rehash moves all pairs to that many new buckets. After an error the table is unchanged.
func (t *table) rehash(ctx context.Context, buckets uint32, progress structures.Progress) error {
	if err := t.Uses.Rest(ctx); err != nil {
		return err
	}
	begin := time.Now()
	to, err := t.newBase(ctx, buckets)
	if err != nil {
		return err
	}
	if err = t.gather(ctx, to, progress); err == nil {
		err = t.canRelease()
	}
	if err != nil {
		return joint.Error(err, t.releaseChains(to), t.abandon(to))
	}
	from := t.base
	t.base = to
	t.Changes.Made() // an iterator walks the buckets, which are others now
	t.Meter.Hold(to.slabs.Bytes())
	t.Meter.Rebuild()
	if to.buckets > from.buckets {
		t.Meter.Grow()
	}
	t.Device.Log().LogAttrs(ctx, slog.LevelInfo, "rehashed", slog.Uint64("buckets", uint64(to.buckets)),
		slog.Uint64("buckets_before", uint64(from.buckets)), slog.Duration("duration", time.Since(begin)))
	return joint.Error(t.releaseChains(from), t.abandon(from))
}

// gather fills new base slabs with the table's pairs. Error also: *structures.StuckError, with the number of buckets,
// or groups, whose pairs are in an endless list.
func (t *table) gather(ctx context.Context, to base, progress structures.Progress) error {
	for {
		old := uint64(t.base.buckets) << 32
		down := old / uint64(to.buckets)
		up := (old + uint64(to.buckets) - 1) / uint64(to.buckets)
		failed := t.counter.Slice()[:2] // buckets or groups without a slab from the pool, and in endless lists
		clear(failed)
		err := t.lists(ctx, to.buckets, progress, func(first, count uint32) error {
			push := rehashPush{
				Hash: t.description(to), FromBase: t.base.slabs.Address(), FromBuckets: t.base.buckets,
				FromMask: t.base.mask, FromSpecialOnes: t.base.ones, FromSpecialZero: t.base.zero,
				RatioDown: down, RatioUp: up, Failed: t.counter.Address(), First: first, Count: count,
			}
			return recording.Run(t.Stream, func() error {
				k, err := t.rehashKernel().Kernel(t.Kernels, t.Stream)
				if err != nil {
					return err
				}
				t.upkeep("rehash", func() { k.Dispatch(t.Stream, t.tileGroups(count), push) })
				return nil
			})
		})
		if err == nil && failed[1] != 0 { // more slabs would not help
			err = &structures.StuckError{Operations: int(failed[1])}
		}
		if err != nil || failed[0] == 0 {
			return err
		}
		if err := t.makeRoom(ctx, int(failed[0]), true); err != nil {
			return err
		}
	}
}

// Rehash does a caller's rehash. 0 buckets: the number for Options.Load.
func (t *table) Rehash(ctx context.Context, buckets int) error {
	ctx, end := t.Progress.Begin(ctx)
	defer end()
	if err := t.Enter(ctx); err != nil {
		return err
	}
	defer t.Leave()
	if buckets != 0 {
		if err := checkBuckets(buckets); err != nil {
			return err
		}
	}
	if buckets == 0 {
		v, err := t.survey(ctx, t.Stream, false)
		if err != nil {
			return err
		}
		buckets = int(t.bucketsFor(v.live))
	}
	return t.rehash(ctx, t.o.whole(uint32(buckets)), gate.Told(ctx))
}

// Clear removes all pairs. The number of buckets stays.
func (t *table) Clear(ctx context.Context) error {
	err := t.EnterAfterAll(ctx)
	if err != nil {
		return err
	}
	defer t.Leave()
	t.Changes.Made()
	if t.Shares {
		err = t.releaseChains(t.base)
	} else {
		err = t.Pool.Reset(context.WithoutCancel(ctx))
		t.failures = 0
	}
	if err != nil {
		return err
	}
	t.Stream.Fill(t.base.slabs, 0, t.base.slabs.Len(), fresh)
	if err := t.Stream.Wait(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	t.used = 0
	return nil
}
