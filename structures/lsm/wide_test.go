package lsm_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/lsm"
	"github.com/vkds/vkds/test/ordercheck"
)

// Keys and values of 64 bits, in the front and in full and empty levels, after cleanups and with tombstones of all of
// them.
func TestWide(t *testing.T) {
	d := open(t)
	l, err := New[uint64, uint64](t.Context(), d, Options{Batch: 32})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	ordercheck.RequireWide(t, d, l, 19, func(batch int) {
		if batch == 10 {
			require.NoError(t, l.Cleanup(t.Context()))
		}
	})
}
