package sortedarray_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/ordercheck"
	"github.com/vkds/vkds/test/testdevice"
)

// Keys and values of 64 bits.
func TestWide(t *testing.T) {
	d := testdevice.Open(t)
	a, err := New[uint64, uint64](t.Context(), d, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	ordercheck.RequireWide(t, d, a, 9, nil)
}
