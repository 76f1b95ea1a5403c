package goroutines

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/onstream"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/test/u32"
	"github.com/vkds/vkds/vk"
)

// Some goroutines prepare a structure that others use, and one gives up. Pools stay small, so that there is one form of
// kernels.
func TestPreparing(t *testing.T) {
	const most = 1 << 28
	d := testdevice.Open(t)
	for name, open := range map[string]func(context.Context) (u32.Dictionary, error){
		"map": func(ctx context.Context) (u32.Dictionary, error) {
			return slabhash.New[uint32, uint32](ctx, d, slabhash.Options{MaxBytes: most})
		},
		"tree": func(ctx context.Context) (u32.Dictionary, error) {
			return btree.New[uint32, uint32](ctx, d, btree.Options{MaxBytes: most})
		},
		"lsm": func(ctx context.Context) (u32.Dictionary, error) {
			return lsm.New[uint32, uint32](ctx, d, lsm.Options{Batch: 1 << 10})
		},
		"array": func(ctx context.Context) (u32.Dictionary, error) {
			return sortedarray.New[uint32, uint32](ctx, d, sortedarray.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, err := open(t.Context())
			require.NoError(t, err)
			testPreparing(t, x)
		})
	}
}

func testPreparing(t *testing.T, x u32.Dictionary) {
	over, cancel := context.WithCancel(t.Context())
	each(goroutines, func(g int) {
		switch g {
		case 0:
			cancel()
			if err := x.Prepare(over); !errors.Is(err, context.Canceled) {
				t.Errorf("prepare behind its context: %v", err)
			}
		case 1:
			keys := keysOf[uint32](g, 0)
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
	before := onstream.Of(x).Metrics().Kernels
	keys := keysOf[uint32](0, 1)
	_, err := x.Insert(t.Context(), keys, keys)
	require.NoError(t, err)
	requireFound(t, x, keys)
	require.Equal(t, before, onstream.Of(x).Metrics().Kernels)
	require.NoError(t, x.Close())
	require.ErrorIs(t, x.Prepare(t.Context()), vk.ErrClosed)
}
