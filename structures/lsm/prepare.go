package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Prepare makes all kernels that calls on the LSM may need (structures.Dictionary).
func (l *LSM) Prepare(ctx context.Context) error {
	small := func(ctx context.Context) (structures.Ordered, error) {
		return New(ctx, l.core.Device, Options{Batch: minBatch})
	}
	try := func(ctx context.Context, x structures.Ordered) error { return x.(*LSM).try(ctx) }
	return l.core.Prepare(ctx, small, try)
}

// try does with a small LSM what can be done with one.
func (l *LSM) try(ctx context.Context) error {
	keys := make([]uint32, 10*minBatch+1)
	for i := range keys {
		keys[i] = uint32(i)
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
