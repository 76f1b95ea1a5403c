package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestSortedArrayIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "sortedarray", Options{
		Common: quick, Ops: allOps("sortedarray"), Sizes: []int{5000}, Batches: []int{1000, 1 << 20},
		Lengths: []int{1, 100}, Lookups: []structures.LookupOrder{structures.OneByOne, structures.SortedFirst},
	})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*1+2*2+3*2+3)
	m := r.Measurements[0]
	require.Equal(t, "insert", m.Op)
	require.Equal(t, 1000, m.Batch)
	require.Len(t, m.Steps, 5)
	require.Equal(t, "one-by-one", r.Measurements[1].Form)
	require.Equal(t, "sorted-first", r.Measurements[2].Form)
	require.Len(t, r.Measurements[14].Steps, 1, "all in one batch")
}

func TestLSMIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "lsm", Options{
		Common: quick, Ops: allOps("lsm"), Sizes: []int{1 << 12}, Batches: []int{1 << 9},
		Orders: []Order{Random, Descending},
		Levels: []Levels{FullLevels, OneLevel, AlternateLevels}, Lengths: []int{20},
	})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*(1+3*3+1+2*3+3*3+2))
	require.Len(t, r.Measurements[0].Steps, 8)
	resident := map[string]int{}
	for _, m := range r.Measurements {
		require.Positive(t, m.Throughput(), m.Op)
		require.Equal(t, 1<<9, m.Batch)
		if m.Levels != "" {
			resident[m.Levels] = m.N
		}
	}
	require.Equal(t, map[string]int{"full": 7 << 9, "one": 8 << 9, "alternate": 5 << 9}, resident)
	last := r.Measurements[len(r.Measurements)-1]
	require.Equal(t, "cleanup", last.Op)
	require.Equal(t, 0.5, last.Stale)
}

func TestLevels(t *testing.T) {
	for _, c := range []struct{ n, full, one, alternate int }{{1, 1, 1, 1}, {2, 1, 2, 1}, {16, 15, 16, 10},
		{64, 63, 64, 42}, {100, 63, 64, 42}} {
		require.Equal(t, c.full, FullLevels.batches(c.n*8, 8))
		require.Equal(t, c.one, OneLevel.batches(c.n*8, 8))
		require.Equal(t, c.alternate, AlternateLevels.batches(c.n*8, 8))
	}
	for _, name := range LevelArrangements.Names() {
		l, err := LevelArrangements.Parse(name)
		require.NoError(t, err)
		require.Equal(t, name, l.String())
	}
	for _, name := range LookupOrders.Names() {
		_, err := LookupOrders.Parse(name)
		require.NoError(t, err)
	}
	_, err := LevelArrangements.Parse("half")
	require.Error(t, err)
	_, err = LookupOrders.Parse("by chance")
	require.Error(t, err)
}

func TestOrderedOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, o := range []Options{
		{Ops: []string{"cleanups"}}, {Sizes: []int{3}}, {Batches: []int{-1}}, {Lengths: []int{0}},
		{Common: Common{Repeat: -1}},
		{Sizes: []int{1 << 29}, Orders: []Order{Gaussian}},
	} {
		var option *structures.OptionError
		_, err := Run(t.Context(), d, "sortedarray", o)
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	var option *structures.OptionError
	_, err := Run(t.Context(), d, "lsm", Options{Stale: []float64{0.7}})
	require.ErrorAs(t, err, &option)
}

// A table with a pair too few, too many, or with another value is found out.
func TestWrongPairsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	s := sessionOf(t, d, "sortedarray", n, Options{Batches: []int{300}})
	ctx := t.Context()
	require.NoError(t, s.hold(ctx, n))
	require.NoError(t, s.holdsAll(ctx, n))
	var wrong *WrongError
	array := s.structure().(*sortedarray.Array[uint32, uint32])
	change := func(keys, values []uint32) {
		_, err := array.Insert(ctx, keys, values)
		require.NoError(t, err)
		require.ErrorAs(t, s.holdsAll(ctx, n), &wrong)
	}
	change([]uint32{s.keys.key(7)}, []uint32{^s.space.value(s.keys.key(7))})
	_, err := array.Insert(ctx, []uint32{s.keys.key(7)}, []uint32{s.space.value(s.keys.key(7))})
	require.NoError(t, err)
	require.NoError(t, s.holdsAll(ctx, n))
	change([]uint32{s.keys.absent(0)}, []uint32{0})
	require.ErrorAs(t, s.count(ctx), &wrong, "one pair is in the middle of some range")
}

// A deletion of ranges that took others, too few or a key too many is found out.
func TestWrongDeletionsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	s := sessionOf(t, d, "sortedarray", n, Options{Batches: []int{300}})
	ctx := t.Context()
	require.NoError(t, s.hold(ctx, n))
	array := s.structure().(*sortedarray.Array[uint32, uint32])
	x := everyFourth[uint32](s, 7)
	require.Equal(t, 36*7, x.pairs(), "142 whole stretches")
	counts, err := array.DeleteRange(ctx, x.ranges)
	require.NoError(t, err)
	require.NoError(t, checkDeleted(s, ctx, x, counts))
	var wrong *WrongError
	require.ErrorAs(t, checkDeleted(s, ctx, x, counts[1:]), &wrong)
	require.ErrorAs(t, checkDeleted(s, ctx, everyFourth[uint32](s, 8), counts), &wrong)
	counts[5]++
	require.ErrorAs(t, checkDeleted(s, ctx, x, counts), &wrong)
	counts[5]--
	back, other := x.ranges[3].Lo, x.sorted[7] // of the second stretch, which stays
	_, err = array.Insert(ctx, []uint32{back}, []uint32{s.space.value(back)})
	require.NoError(t, err)
	require.ErrorAs(t, checkDeleted(s, ctx, x, counts), &wrong)
	_, err = array.Delete(ctx, []uint32{other})
	require.NoError(t, err)
	require.ErrorAs(t, checkDeleted(s, ctx, x, counts), &wrong, "as many, but others")
}

// An export without one of the pairs, with another value, or out of order where there is one, is found out.
func TestWrongExportsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	for _, name := range []string{"sortedarray", "slabhash"} {
		s := sessionOf(t, d, name, n, Options{})
		require.NoError(t, s.hold(t.Context(), n))
		keys := append([]uint32(nil), s.inOrder(n)...)
		values := make([]uint32, n)
		fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
		require.NoError(t, s.checkAll(keys, values))
		var wrong *WrongError
		values[3]++
		require.ErrorAs(t, s.checkAll(keys, values), &wrong, name)
		values[3]--
		keys[5], values[5] = keys[6], values[6]
		require.ErrorAs(t, s.checkAll(keys, values), &wrong, "one twice, and one not at all")
		keys[6], values[6] = s.sorted[5], s.space.value(s.sorted[5])
		if name == "slabhash" {
			require.NoError(t, s.checkAll(keys, values))
		} else {
			require.ErrorAs(t, s.checkAll(keys, values), &wrong, "out of order")
		}
	}
}
