package sortedarray

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

var _ structures.OrderedOnStream = (*array[uint32])(nil)

func (a *array[W]) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.core.UpdateOn(ctx, s, kind, b)
}

func (a *array[W]) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return a.core.Finish(ctx, s, kind, b)
}
