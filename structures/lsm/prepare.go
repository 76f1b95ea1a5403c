package lsm

import (
	"context"

	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
)

func (l *lsm) prepare(ctx context.Context) error {
	if l.core.Width() == structures.Bits64 {
		return prepare[uint64](ctx, l)
	}
	return prepare[uint32](ctx, l)
}

// prepare runs all calls once on a small LSM.
func prepare[W structures.Word](ctx context.Context, l *lsm) error {
	small := func(ctx context.Context) (*LSM[W, W], error) {
		return of[W, W](newLSM(ctx, l.core.Device, l.core.Columns, Options{Batch: minBatch}))
	}
	return sorted.Prepare[W](ctx, &l.core, small, try)
}

// try runs the calls that the interfaces do not have.
func try[W structures.Word](ctx context.Context, l *LSM[W, W]) error {
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
