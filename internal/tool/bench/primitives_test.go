package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestPrimitivesAreMeasured(t *testing.T) {
	d := testdevice.Open(t)
	for _, primitive := range []string{"sort", "scan", "merge", "search"} {
		axes := []string{"n=1003,15", "width=32,64"}
		if primitive == "sort" || primitive == "scan" {
			axes = append(axes, "form=auto,single-pass,multi-pass")
		}
		r, err := Run(t.Context(), d, primitive, quick(allOps(primitive), axes...))
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
		if primitive == "sort" || primitive == "scan" {
			require.Equal(t, "multi-pass", r.Measurements[len(r.Measurements)-1].Form)
		}
	}
}

func TestKeyOrdersAreSorted(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "sort", quick("pairs", "n=5000", "order=random,ascending,descending"))
	require.NoError(t, err)
	var orders []string
	for _, m := range r.Measurements {
		orders = append(orders, m.Order)
	}
	require.Equal(t, []string{"", "ascending", "descending"}, orders)
}

func TestPrimitivesThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	var option *vk.OptionError
	for primitive, o := range map[string]Options{
		"sorts": {}, "sort": quick("pair"), "scan": quick("", "n=1"), "merge": {Repeat: -1},
	} {
		_, err := Run(t.Context(), d, primitive, o)
		require.ErrorAs(t, err, &option, primitive)
	}
}

// A sort that loses, doubles or moves something is found out.
func TestWrongOrderIsFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	s := sessionOf(t, d, "sort", n)
	key := func(i int) uint32 { return uint32(i / 2) } // each twice
	keys := s.elements("keys", key)
	values, _ := s.payload()
	ctx := t.Context()
	stable := func() { s.checkStable(keys, values, n, key) }
	right(t, stable)
	right(t, func() { s.checkAscending(keys, key) })

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
		wrong(t, stable, "%v", change)
		for i := range 2 {
			require.NoError(t, keys.Upload(ctx, change.at+i, []uint32{key(change.at + i)}))
			require.NoError(t, values.Upload(ctx, change.at+i, []uint32{uint32(change.at + i)}))
		}
	}
	for _, last := range []uint32{n, 0} {
		require.NoError(t, keys.Upload(ctx, n-1, []uint32{last}))
		wrong(t, func() { s.checkAscending(keys, key) })
	}

	s.width = structures.Bits64
	long := s.elements("long keys", key)
	right(t, func() { s.checkAscending(long, key) })
	require.NoError(t, long.Upload(ctx, 2*n-2, []uint32{scramble(key(0))})) // the low word of another
	wrong(t, func() { s.checkAscending(long, key) })
}
