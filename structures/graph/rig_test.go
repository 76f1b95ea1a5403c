package graph_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	. "github.com/vkds/vkds/structures/graph"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// TestMain sets how many sequences a property is tried on: a few, many under VKDS_STRESS, and fewer in short runs: of
// what is said here rapid tries a fifth then.
func TestMain(m *testing.M) {
	flag.Parse()
	checks := "6"
	switch {
	case stress.Level > 0:
		checks = strconv.Itoa(40 * stress.Level)
	case testing.Short():
		checks = "10"
	}
	if err := flag.Set("rapid.checks", checks); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
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

// eachSort runs a test on every sort of graph: directed and not, with weights and without.
func eachSort(t *testing.T, test func(t *testing.T, o Options)) {
	for _, directed := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			o := Options{Directed: directed, Weighted: weighted, SelfLoops: weighted}
			t.Run(fmt.Sprintf("directed=%v,weighted=%v", directed, weighted), func(t *testing.T) { test(t, o) })
		}
	}
}

// newGraph makes a graph until the test's end.
func newGraph(t testing.TB, d *vk.Device, o Options) *Graph {
	t.Helper()
	g, err := New(t.Context(), d, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, g.Close()) })
	return g
}
