package joint

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

func TestError(t *testing.T) {
	other := errors.New("other")
	require.NoError(t, Error(nil, nil))
	require.Same(t, context.Canceled, Error(nil, context.Canceled, nil, context.Canceled))
	require.Same(t, vk.ErrDeviceLost, Error(context.Canceled, other, vk.ErrDeviceLost))
	both := Error(context.Canceled, other)
	require.ErrorIs(t, both, context.Canceled)
	require.ErrorIs(t, both, other)
}
