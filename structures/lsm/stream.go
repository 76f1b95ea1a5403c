package lsm

import (
	"context"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

var _ structures.OrderedOnStream = (*lsm[uint32])(nil)

func (l *lsm[W]) UpdateOn(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.core.UpdateOn(ctx, s, kind, b)
}

func (l *lsm[W]) Finish(ctx context.Context, s *vk.Stream, kind structures.Kind, b structures.DeviceBatch) error {
	return l.core.Finish(ctx, s, kind, b)
}
