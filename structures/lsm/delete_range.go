package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/pipeline"
	"github.com/vkds/vkds/structures/internal/sorted"
)

// DeleteRange removes the keys of each range, one range after the other, and returns how many each has removed: of
// ranges that overlap, the first takes what they share. The keys that are there are listed in device memory, part by
// part, and their tombstones inserted. Where half of what the LSM holds would go, or where there is no room for
// tombstones, a cleanup leaves them out, which takes the memory of a Cleanup.
//
// Errors: *structures.PendingError, of as many ranges as may still have keys, around those of Count and Delete. The
// counts then are of the keys that are gone; the same call goes on with the others.
func (l *lsm[W]) DeleteRange(ctx context.Context, ranges []structures.Range[W]) ([]uint32, error) {
	d := ordered.NewDeletion(ranges)
	if err := l.prepare(ctx); err != nil {
		return d.NotBegun(err)
	}
	defer l.core.Leave()
	live := l.live
	err := l.deleteRanges(ctx, d)
	l.settle()
	if live != unknown {
		l.live = live - int(d.Deleted())
	}
	return d.Result(err)
}

func (l *lsm[W]) deleteRanges(ctx context.Context, d *ordered.Deletion[W]) error {
	total, err := l.core.Measure(ctx, d)
	if err != nil {
		return err
	}
	switch {
	case total == 0:
	case l.live != unknown && total == uint64(l.live):
		l.empty()
	default:
		return l.deleteSome(ctx, d, total)
	}
	d.Finish()
	return nil
}

// deleteSome deletes ranges that have so many keys, by tombstones or by a cleanup.
func (l *lsm[W]) deleteSome(ctx context.Context, d *ordered.Deletion[W], total uint64) error {
	bury := func() error {
		s := l.core.Stream
		return l.core.DeleteEach(ctx, s, d, func(keys uint64, n int) error {
			return l.core.Record(ctx, s, sorted.Batch{Kind: structures.Delete, Keys: keys, N: n})
		})
	}
	sweep := func() error {
		err := l.cleanup(ctx, d.Left())
		if err == nil {
			d.Finish()
		}
		return err
	}
	first, then := bury, sweep
	if 2*total >= l.pairs(l.o.Batch) {
		first, then = sweep, bury
	}
	err := first()
	if pipeline.Short(err) {
		l.settle()
		err = then()
	}
	return err
}
