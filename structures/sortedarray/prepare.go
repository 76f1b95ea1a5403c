package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Prepare makes all kernels that calls on the array may need (structures.Dictionary).
func (a *array[W]) Prepare(ctx context.Context) error {
	small := func(ctx context.Context) (structures.Ordered[W, W], error) {
		x, err := newArray[W](ctx, a.core.Device, Options{})
		if err != nil {
			return nil, err
		}
		x.core.Columns = a.core.Columns
		return x, nil
	}
	try := func(ctx context.Context, x structures.Ordered[W, W]) error { return x.(*array[W]).try(ctx) }
	return a.core.Prepare(ctx, small, try)
}

// try does with a small array what can be done with one.
func (a *array[W]) try(ctx context.Context) error {
	keys := []W{1, 2, 3}
	if _, err := a.Insert(ctx, keys, keys); err != nil {
		return err
	}
	return a.Reserve(ctx, 1<<12)
}
