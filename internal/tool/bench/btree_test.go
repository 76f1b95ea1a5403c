package bench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/testdevice"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestBTreeIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "btree", quick(allOps("btree"), "n=5000",
		"batch=1000", "length=1,100"))
	require.NoError(t, err)
	const updates, mixes = 4, 8 + 6*2 // operations on two paths, and mixes
	const shards = 6                  // one device, shards and the dividing alone: an insertion and a search each
	require.Len(t, r.Measurements, 2*updates+1+3+3*2+4+1+3+mixes+shards)
	count := map[string]int{}
	for _, m := range r.Measurements {
		require.Positive(t, m.Throughput(), m.Op)
		count[m.Op+" "+m.Form]++
		if m.Op == "insert-batch" {
			require.Equal(t, []int{1000, 1000}, []int{m.Batch, m.Operations})
		}
	}
	for _, op := range []string{"insert", "insert-batch", "assign", "delete"} {
		require.Equal(t, 1, count[op+" concurrent"], op)
		require.Equal(t, 1, count[op+" batched"], op)
	}

	r, err = Run(t.Context(), d, "btree", quick("build insert insert-batch assign delete", "n=3000", "batch=20",
		"order=ascending,descending", "path=batched", "fill=0.93", "tile=4"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*5)
	last := r.Measurements[len(r.Measurements)-1]
	require.Equal(t, "descending", last.Order)
	require.Equal(t, 3000, last.Batch, "no more than there are")
	require.Equal(t, []any{0.93, 4}, []any{last.Load, last.Tile})
}

// Insertions beside ranges may be more than there are pairs.
func TestMixesWithMoreOperationsThanPairs(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "btree", quick("insert-range-90 delete-find-50", "n=500", "batch=3000,200",
		"length=8"))
	require.NoError(t, err)
	var operations []int
	for _, m := range r.Measurements {
		operations = append(operations, m.Operations)
	}
	require.Equal(t, []int{500, 3000, 200, 200}, operations)
}

func TestSnapshotsAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	ops := defaults("mvbtree")
	require.Equal(t, []string{"insert-snapshots", "find-snapshot", "range-snapshot"}, ops)
	r, err := Run(t.Context(), d, "mvbtree", quick(strings.Join(ops, " "),
		"n=3000", "batch=500", "changed=0.1,0.5", "width=32,64"))
	require.NoError(t, err)
	count := map[string]int{}
	for _, m := range r.Measurements {
		require.Positive(t, rate(m.Operations, Median(m.Wall)), m.Op)
		count[m.Op]++
		require.Equal(t, m.Op == "insert-snapshots", len(m.Properties) == 1, m.Op)
	}
	require.Equal(t, map[string]int{"insert-series": 4, "insert-snapshots": 4, "find-snapshot": 4,
		"range-snapshot": 4}, count)
}

func TestBatchesDoubleWithTheTree(t *testing.T) {
	require.Equal(t, []part{{0, 1 << 10}, {1 << 10, 1 << 10}, {1 << 11, 1 << 11}, {1 << 12, 904}},
		doubling(5000, 1<<20))
	require.Equal(t, []part{{0, 100}}, doubling(100, 1<<20))
	require.Equal(t, []part{{0, 1 << 10}, {1 << 10, 1 << 10}, {1 << 11, 952}}, doubling(3000, 1<<10))
}
