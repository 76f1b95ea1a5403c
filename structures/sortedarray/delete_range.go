package sortedarray

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/internal/engine/ordered"
	"github.com/vkds/vkds/internal/engine/pipeline"
	"github.com/vkds/vkds/internal/engine/recording"
	"github.com/vkds/vkds/internal/engine/runs"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

func (a *array) deleteRange(ctx context.Context, ranges []structures.Range[uint64]) ([]uint32, error) {
	d := ordered.NewDeletion(ranges, a.core.Width())
	if err := a.core.EnterAfterAll(ctx); err != nil {
		return d.NotBegun(err)
	}
	defer a.core.Leave()
	total, err := a.core.Measure(ctx, d)
	if err == nil && total != 0 {
		err = a.without(ctx, d.Left(), a.n-int(total))
	}
	if err == nil {
		d.Finish()
	}
	return d.Result(err)
}

// without removes the keys of ranges, which must ascend and not overlap. left is the number of pairs that stay.
func (a *array) without(ctx context.Context, ranges []structures.Range[uint64], left int) error {
	if left == 0 {
		a.core.Changes.Made()
		a.n = 0
		return nil
	}
	s, u := a.core.Stream, (*updater)(a)
	if err := u.reserveSpare(left); err != nil {
		return err
	}
	gone, err := vk.NewBuffer[uint32](a.core.Device, 2*len(ranges)*a.core.Width().Bytes()/4)
	if err != nil {
		return err
	}
	defer gone.Free()
	if err := pipeline.Ranges(ranges, a.core.Width()).Upload(ctx, gone, 0); err != nil {
		return err
	}
	err = recording.Run(s, func() error {
		scratch, err := a.core.UpdateScratch(s, a.core.ValidScratch(a.n))
		if err != nil {
			return err
		}
		run := runs.Of(a.run.Row(false), a.n)
		return a.core.Valid(s, run, runs.Ranges{At: gone.Address(), N: len(ranges)}, a.spare.Row(false), scratch)
	})
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return err
	}
	a.core.Changes.Made()
	return recording.Run(s, func() error { return a.replace(s, a.spare, a.core.Counted()) })
}
