package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/test/testdevice"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestBTreeIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "btree", Options{
		Common: quick, Ops: allOps("btree"), Sizes: []int{5000}, Batches: []int{1000}, Lengths: []int{1, 100},
		Statuses: true,
	})
	require.NoError(t, err)
	const updates, mixes = 4, 7 + 6*2 // operations on two paths, and mixes
	require.Len(t, r.Measurements, 2*updates+1+3+4*2+1+8+1+3+mixes)
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
		require.Equal(t, 1, count[op+" batched with statuses"], op)
	}

	r, err = Run(t.Context(), d, "btree", Options{
		Common: quick, Ops: []string{"build", "insert", "insert-batch", "assign", "delete"}, Sizes: []int{3000},
		Batches: []int{1 << 20},
		Orders:  []Order{Ascending, Descending, AlmostSorted, Gaussian}, Paths: []btree.Path{btree.Batched},
		Fills: []float64{0.93}, Tiles: []int{4},
	})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4*5)
	last := r.Measurements[len(r.Measurements)-1]
	require.Equal(t, "gaussian", last.Order)
	require.Equal(t, 3000, last.Batch, "no more than there are")
	require.Equal(t, []any{0.93, 4}, []any{last.Load, last.Tile})
}

func TestSnapshotsAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	ops := Defaults(Ops("mvbtree"))
	require.Equal(t, []string{"insert-snapshots", "find-snapshot", "range-snapshot", "diff", "snapshots"}, ops)
	require.Len(t, Ops("mvbtree"), len(Ops("btree"))+len(ops)+len(momentMixes))
	r, err := Run(t.Context(), d, "mvbtree", Options{Common: quick,
		Ops:   append(ops, "insert-batch", "insert-range-50-moments"),
		Sizes: []int{3000}, Batches: []int{500}, Changed: []float64{0.1, 0.5}, Widths: []int{32, 64}})
	require.NoError(t, err)
	count := map[string]int{}
	for _, m := range r.Measurements {
		require.Positive(t, m.WallThroughput(), m.Op)
		count[m.Op]++
		compared := m.Changed != 0 && m.Op != "diff" || m.Op == "insert-snapshots"
		require.Equal(t, compared, len(m.Ratios) == 1, m.Op)
	}
	require.Equal(t, map[string]int{"insert-series": 4, "insert-snapshots": 4, "insert-batch": 4, "find-snapshot": 6,
		"range-snapshot": 6, "diff": 4, "snapshots": 2, "insert-range-50-moments": 2}, count)
}

func TestPathNames(t *testing.T) {
	for _, name := range Paths.Names() {
		p, err := Paths.Parse(name)
		require.NoError(t, err)
		require.Equal(t, name, p.String())
	}
	_, err := Paths.Parse("shortest")
	require.Error(t, err)
}
