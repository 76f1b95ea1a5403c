package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// TestMain sets on how many sequences a property is tested.
func TestMain(m *testing.M) {
	pass.Tests{
		InAll: "4 8 validated",
		Why:   "lavapipe has 4 lanes, and compiles faster; 16 take twice as long and find as much",
	}.Begin()
	stress.Main(m, 6, 40, 10)
}

// without64 is a device's options that leave the 64-bit protocol off.
var without64 = vk.Options{Without: []vk.Feature{vk.Int64Atomics, vk.Int64}}

// eachProtocol runs a test with 64-bit atomics, where the device has them, and without, unless other runs have that.
func eachProtocol(t *testing.T, test func(t *testing.T, d *vk.Device)) {
	t.Run("a64", func(t *testing.T) {
		d := testdevice.Open(t)
		if !d.Has(vk.Int64Atomics) {
			t.Skipf("%s has no 64-bit atomics", d.Info().Name)
		}
		test(t, d)
	})
	t.Run("a32", func(t *testing.T) {
		if testdevice.OneProtocol(testdevice.Open(t)) {
			t.Skip("other runs have this protocol")
		}
		test(t, testdevice.Open(t, without64))
	})
}

// newGraph makes a graph until the test's end.
func newGraph(t testing.TB, d *vk.Device, o Options) *Graph {
	t.Helper()
	g, err := New(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}
