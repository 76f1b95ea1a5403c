package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/structures/slabhash"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// What describes a structure to shaders has no address of memory that was freed: it is the zero value where the
// structure is closed, or its pool, and where both are, in either order.
func TestDeviceOfWhatIsClosed(t *testing.T) {
	ctx, d := t.Context(), testdevice.Open(t)
	for name, open := range map[string]func(*alloc.SlabPool) (device func() any, close func() error, err error){
		"map": func(pool *alloc.SlabPool) (func() any, func() error, error) {
			m, err := slabhash.New[uint32, uint32](ctx, d, slabhash.Options{Pool: pool})
			return func() any { return m.Device() }, m.Close, err
		},
		"set": func(pool *alloc.SlabPool) (func() any, func() error, error) {
			s, err := slabhash.NewSet[uint32](ctx, d, slabhash.Options{Pool: pool})
			return func() any { return s.Device() }, s.Close, err
		},
		"tree": func(pool *alloc.SlabPool) (func() any, func() error, error) {
			tree, err := btree.New[uint32, uint32](ctx, d, btree.Options{Pool: pool})
			return func() any { return tree.Device() }, tree.Close, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			device, close, err := open(nil)
			require.NoError(t, err)
			require.NotZero(t, device())
			require.NoError(t, close())
			require.Zero(t, device())

			pool := newPool(t, d)
			device, close, err = open(pool)
			require.NoError(t, err)
			require.NoError(t, close())
			require.Zero(t, device(), "in a pool that is open")
			require.NotZero(t, pool.Device())
			require.NoError(t, pool.Close())
			require.Zero(t, pool.Device())
			require.Zero(t, device())

			pool = newPool(t, d)
			device, close, err = open(pool)
			require.NoError(t, err)
			require.NotZero(t, device())
			require.NoError(t, pool.Close())
			require.Zero(t, device(), "in a pool that is closed")
			require.NoError(t, close())
			require.Zero(t, device())
		})
	}
}

func newPool(t *testing.T, d *vk.Device) *alloc.SlabPool {
	t.Helper()
	pool, err := alloc.NewSlabPool(t.Context(), d, alloc.PoolOptions{})
	require.NoError(t, err)
	return pool
}
