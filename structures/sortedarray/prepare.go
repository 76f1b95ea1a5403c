package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
)

// Prepare makes all kernels that calls on the array may need (structures.Dictionary).
func (a *Array) Prepare(ctx context.Context) error {
	small := func(ctx context.Context) (structures.Ordered, error) { return New(ctx, a.core.Device, Options{}) }
	try := func(ctx context.Context, x structures.Ordered) error { return x.(*Array).try(ctx) }
	return a.core.Prepare(ctx, small, try)
}

// try does with a small array what can be done with one.
func (a *Array) try(ctx context.Context) error {
	keys := []uint32{1, 2, 3}
	if _, err := a.Insert(ctx, keys, keys); err != nil {
		return err
	}
	return a.Reserve(ctx, 1<<12)
}
