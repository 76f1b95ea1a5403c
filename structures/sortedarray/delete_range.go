package sortedarray

import (
	"cmp"
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/internal/ordered"
	"github.com/vkds/vkds/structures/internal/recording"
	"github.com/vkds/vkds/structures/internal/runs"
	"github.com/vkds/vkds/vk"
)

// DeleteRange removes the keys of each range, one range after the other, and returns how many each has removed: of
// ranges that overlap, the first takes what they share. However many there are, it costs the copying of the array once.
//
// Errors: *structures.PendingError around those of Count, *vk.OutOfMemoryError or the context's; then nothing is
// removed.
func (a *array[W]) DeleteRange(ctx context.Context, ranges []structures.Range[W]) ([]uint32, error) {
	d := ordered.NewDeletion(ranges)
	if err := a.core.EnterAlone(ctx); err != nil {
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

// without makes the array one without the keys of ranges, which leave so many; they ascend, and don't overlap.
func (a *array[W]) without(ctx context.Context, ranges []structures.Range[W], left int) error {
	if left == 0 {
		a.core.Changed()
		a.n = 0
		return nil
	}
	s, u := a.core.Stream, (*updater[W])(a)
	if err := u.reserveSpare(left); err != nil {
		return err
	}
	gone, err := vk.NewBuffer[uint32](a.core.Device, 2*len(ranges)*structures.WidthOf[W]().Bytes()/4)
	if err != nil {
		return err
	}
	defer gone.Free()
	if err := gone.Upload(ctx, 0, recording.Words(ranges)); err != nil {
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
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	a.core.Changed()
	return recording.Run(s, func() error { return a.replace(s, a.spare, a.core.Counted()) })
}
