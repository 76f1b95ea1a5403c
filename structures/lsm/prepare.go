package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Prepare makes all kernels that calls on the LSM may need (structures.Dictionary).
func (l *lsm[W]) Prepare(ctx context.Context) error {
	small := func(ctx context.Context) (structures.Ordered[W, W], error) {
		x, err := newLSM[W](ctx, l.core.Device, Options{Batch: minBatch})
		if err != nil {
			return nil, err
		}
		x.core.Columns = l.core.Columns
		return x, nil
	}
	try := func(ctx context.Context, x structures.Ordered[W, W]) error { return x.(*lsm[W]).try(ctx) }
	return l.core.Prepare(ctx, small, try)
}

// try does with a small LSM what can be done with one.
func (l *lsm[W]) try(ctx context.Context) error {
	keys := make([]W, 10*minBatch+1)
	for i := range keys {
		keys[i] = W(i)
	}
	for range 2 {
		if _, err := l.Insert(ctx, keys, keys); err != nil {
			return err
		}
		if _, err := l.Stats(ctx); err != nil {
			return err
		}
		if _, err := l.Delete(ctx, keys[:minBatch+1]); err != nil {
			return err
		}
		if err := l.Cleanup(ctx); err != nil {
			return err
		}
	}
	return nil
}
