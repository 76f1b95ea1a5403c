package lsm

import (
	"context"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
)

func (l *lsm) deleteRange(ctx context.Context, ranges []structures.Range[uint64]) ([]uint32, error) {
	d := ordered.NewDeletion(ranges, l.core.Width())
	ctx, end := l.core.Progress.Begin(ctx)
	defer end()
	if err := l.ready(ctx); err != nil {
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

func (l *lsm) deleteRanges(ctx context.Context, d *ordered.Deletion) error {
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

// deleteSome deletes ranges that have total keys, by tombstones or by a cleanup. If one has too little memory, it tries
// the other.
func (l *lsm) deleteSome(ctx context.Context, d *ordered.Deletion, total uint64) error {
	bury := func() error {
		s := l.core.Stream
		return l.core.DeleteEach(ctx, s, d, func(keys uint64, n int) error {
			return l.core.Record(ctx, s, sorted.Batch{Kind: structures.Delete, Keys: keys, N: n})
		})
	}
	sweep := func() error {
		err := l.cleanUp(ctx, d.Left())
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
