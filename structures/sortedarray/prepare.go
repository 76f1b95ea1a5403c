package sortedarray

import (
	"context"

	"github.com/vkds/vkds/internal/engine/sorted"
	"github.com/vkds/vkds/structures"
)

func (a *array) prepare(ctx context.Context) error {
	if a.core.Width() == structures.Bits64 {
		return prepare[uint64](ctx, a)
	}
	return prepare[uint32](ctx, a)
}

// prepare runs all calls once on a small array.
func prepare[W structures.Word](ctx context.Context, a *array) error {
	small := func(ctx context.Context) (*Array[W, W], error) {
		return of[W, W](newArray(ctx, a.core.Device, a.core.Columns, Options{}))
	}
	return sorted.Prepare[W](ctx, &a.core, small, try)
}

// try runs the calls that the interfaces do not have.
func try[W structures.Word](ctx context.Context, a *Array[W, W]) error {
	keys := []W{1, 2, 3}
	if _, err := a.Insert(ctx, keys, keys); err != nil {
		return err
	}
	return a.Reserve(ctx, 1<<12)
}
