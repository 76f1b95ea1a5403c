package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/test/testdevice"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestPrimitivesAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	for _, primitive := range []string{"sort", "scan", "merge", "search"} {
		r, err := Run(t.Context(), d, primitive, Options{
			Common: quick, Ops: allOps(primitive), Sizes: []int{1003, 1 << 15},
			Forms:  []primitives.Form{primitives.Auto, primitives.SinglePass, primitives.MultiPass},
			Widths: []int{32, 64},
		})
		require.NoError(t, err)
		settings := 0 // of all operations
		for _, p := range Ops(primitive) {
			own := 1
			if p.Has("form") {
				own *= 3
			}
			if p.Has("width") {
				own *= 2
			}
			settings += own
		}
		require.Len(t, r.Measurements, 2*settings, primitive)
		for _, m := range r.Measurements {
			require.Equal(t, primitive, m.Structure)
			require.Positive(t, m.Throughput(), m.Op)
			require.Len(t, m.Device, 1, m.Op)
		}
		require.Empty(t, r.Measurements[0].Form)
		if primitive != "merge" {
			require.Equal(t, "multi-pass", r.Measurements[len(r.Measurements)-1].Form)
		}
	}
}

func TestKeyOrdersAreSorted(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "sort", Options{Common: quick, Ops: []string{"pairs"}, Sizes: []int{5000},
		Orders: []Order{Random, Ascending, Descending, AlmostSorted, Gaussian}})
	require.NoError(t, err)
	var orders []string
	for _, m := range r.Measurements {
		orders = append(orders, m.Order)
	}
	require.Equal(t, []string{"", "ascending", "descending", "almost-sorted", "gaussian"}, orders)
}

func TestPrimitivesThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	var option *structures.OptionError
	for primitive, o := range map[string]Options{
		"sorts": {}, "sort": {Ops: []string{"pair"}}, "scan": {Sizes: []int{1}}, "merge": {Common: Common{Repeat: -1}},
	} {
		_, err := Run(t.Context(), d, primitive, o)
		require.ErrorAs(t, err, &option, primitive)
	}
}

// A sort that loses, doubles or moves something is found out.
func TestWrongOrderIsFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	s := sessionOf(t, d, "sort", n, Options{})
	key := func(i int) uint32 { return uint32(i / 2) } // each twice
	keys, err := s.filled(t.Context(), "keys", s.n, key)
	require.NoError(t, err)
	values, err := s.indices(t.Context())
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, s.checkStable(ctx, keys, values, key))
	require.NoError(t, s.checkAscending(ctx, keys, key))

	var wrong *WrongError
	for _, change := range []struct {
		at   int
		pair [4]uint32 // keys and values of two neighbours
	}{
		{10, [4]uint32{5, 5, 11, 10}}, // equal keys, the other way round
		{10, [4]uint32{5, 5, 10, 10}}, // doubled
		{11, [4]uint32{6, 5, 12, 11}}, // out of order
		{10, [4]uint32{5, 7, 10, 11}}, // another key
		{10, [4]uint32{5, 5, 10, n}},  // from nowhere
	} {
		require.NoError(t, keys.Upload(ctx, change.at, change.pair[:2]))
		require.NoError(t, values.Upload(ctx, change.at, change.pair[2:]))
		require.ErrorAs(t, s.checkStable(ctx, keys, values, key), &wrong, "%v", change)
		for i := range 2 {
			require.NoError(t, keys.Upload(ctx, change.at+i, []uint32{key(change.at + i)}))
			require.NoError(t, values.Upload(ctx, change.at+i, []uint32{uint32(change.at + i)}))
		}
	}
	require.NoError(t, keys.Upload(ctx, n-1, []uint32{n}))
	require.ErrorAs(t, s.checkAscending(ctx, keys, key), &wrong)
	require.NoError(t, keys.Upload(ctx, n-1, []uint32{0}))
	require.ErrorAs(t, s.checkAscending(ctx, keys, key), &wrong)

	s.width = structures.Bits64
	long, err := s.elements(ctx, "long keys", key)
	require.NoError(t, err)
	require.NoError(t, s.checkAscending(ctx, long, key))
	require.NoError(t, long.Upload(ctx, 2*n-2, []uint32{scramble(key(0))})) // the low word of another
	require.ErrorAs(t, s.checkAscending(ctx, long, key), &wrong)
}
