package goroutines

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Some goroutines prepare a structure that others use, and one gives up.
func TestPreparing(t *testing.T) {
	eachSubject(t, func(t *testing.T, _ *vk.Device, x structures.Dictionary) {
		over, cancel := context.WithCancel(t.Context())
		each(goroutines, func(g int) {
			switch g {
			case 0:
				cancel()
				if err := x.Prepare(over); !errors.Is(err, context.Canceled) {
					t.Errorf("prepare behind its context: %v", err)
				}
			case 1:
				keys := keysOf(g, 0)
				if _, err := x.Insert(t.Context(), keys, keys); err != nil {
					t.Errorf("insert: %v", err)
				}
				requireFound(t, x, keys)
			default:
				if err := x.Prepare(t.Context()); err != nil {
					t.Errorf("prepare: %v", err)
				}
			}
		})
		before := x.Metrics().Kernels
		keys := keysOf(0, 1)
		_, err := x.Insert(t.Context(), keys, keys)
		require.NoError(t, err)
		requireFound(t, x, keys)
		require.Equal(t, before, x.Metrics().Kernels)
		require.NoError(t, x.Close())
		require.ErrorIs(t, x.Prepare(t.Context()), vk.ErrClosed)
	})
}
