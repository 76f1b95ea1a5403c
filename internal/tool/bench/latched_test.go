package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestLatchedTreesAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "latched", quick("", "n=5001", "batch=10", "tile=4", "node=128,256",
		"wait=restart,spin", "kind=b+tree,b-link-tree"))
	require.NoError(t, err)
	count := map[string]int{}
	for _, m := range r.Measurements {
		count[m.Op]++
		require.Positive(t, m.Throughput(), m.Op)
		require.Equal(t, 4, m.Tile)
	}
	require.Equal(t, map[string]int{"insert": 8, "insert-ascending": 8, "insert-at-once": 8, "insert-batch": 8,
		"find": 4}, count)
	require.Equal(t, "128-byte nodes, b+tree, restart", r.Measurements[0].Form)
	require.Equal(t, 1<<10, r.Measurements[4].Operations, "of a batch")
}

func TestLatchedOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	var option *structures.OptionError
	_, err := Run(t.Context(), d, "latched", quick("delete"))
	require.ErrorAs(t, err, &option)
	var shape *structures.OptionError
	r, err := Run(t.Context(), d, "latched", quick("", "n=64", "tile=4,3"))
	require.ErrorAs(t, err, &shape)
	require.Len(t, r.Measurements, len(Ops("latched")), "what was measured before")
}

func TestBatchesDoubleWithTheTree(t *testing.T) {
	require.Equal(t, []part{{0, 1 << 10}, {1 << 10, 1 << 10}, {1 << 11, 1 << 11}, {1 << 12, 904}},
		doubling(5000, 1<<20))
	require.Equal(t, []part{{0, 100}}, doubling(100, 1<<20))
	require.Equal(t, []part{{0, 1 << 10}, {1 << 10, 1 << 10}, {1 << 11, 952}}, doubling(3000, 1<<10))
}
