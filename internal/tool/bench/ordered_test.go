package bench

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/structures/sortedarray"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestSortedArrayIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "sortedarray", quick(allOps("sortedarray"), "n=5000", "batch=1000,20",
		"length=1,100"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*1+2*1+2*2+3)
	m := r.Measurements[0]
	require.Equal(t, "insert", m.Op)
	require.Equal(t, 1000, m.Batch)
	require.Len(t, m.Steps, 5)
	require.Len(t, r.Measurements[len(r.Measurements)-1].Steps, 1, "all in one batch")
}

func TestLSMIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "lsm", quick(allOps("lsm"), "n=12", "batch=9", "order=random,descending",
		"levels=full,one", "length=20"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 2*(1+1+2*2+2*2+3*2+2))
	require.Len(t, r.Measurements[0].Steps, 8)
	resident := map[string]int{}
	for _, m := range r.Measurements {
		require.Positive(t, m.Throughput(), m.Op)
		require.Equal(t, 1<<9, m.Batch)
		if m.Levels != "" {
			resident[m.Levels] = m.N
		}
	}
	require.Equal(t, map[string]int{"full": 7 << 9, "one": 8 << 9}, resident)
	require.True(t, slices.ContainsFunc(r.Measurements, func(m Measurement) bool { return m.Stale == 0.5 }))
}

func TestLevels(t *testing.T) {
	for _, c := range []struct{ n, full, one int }{{1, 1, 1}, {2, 1, 2}, {16, 15, 16}, {64, 63, 64}, {100, 63, 64}} {
		require.Equal(t, c.full, batchesOf(fullLevels, c.n*8, 8))
		require.Equal(t, c.one, batchesOf(oneLevel, c.n*8, 8))
	}
	require.NoError(t, Check("lsm", quick("count", "levels=full,one")))
	require.ErrorContains(t, Check("lsm", quick("count", "levels=half")), "--levels half")
}

func TestOrderedOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, o := range []Options{
		quick("cleanups"), quick("", "n=3"), quick("", "batch=-1"), quick("", "length=0"), {Repeat: -1},
	} {
		var option *vk.OptionError
		_, err := Run(t.Context(), d, "sortedarray", o)
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	var option *vk.OptionError
	_, err := Run(t.Context(), d, "lsm", quick("", "stale=0.7"))
	require.ErrorAs(t, err, &option)
}

// A table with a pair too few, too many, or with another value is found out.
func TestWrongPairsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	s := sessionOf(t, d, "sortedarray", n, "batch=300")
	s.own.Length = 8
	right(t, func() { s.hold(n) })
	right(t, func() { s.holdsAll(n) })
	array := s.structure().(*sortedarray.Array[uint32, uint32])
	change := func(keys, values []uint32) {
		_, err := array.Insert(t.Context(), keys, values)
		require.NoError(t, err)
	}
	key := s.keys.key(7)
	change([]uint32{key}, []uint32{^s.space.value(key)})
	wrong(t, func() { s.holdsAll(n) })
	change([]uint32{key}, []uint32{s.space.value(key)})
	right(t, func() { s.holdsAll(n) })
	change([]uint32{s.keys.absent(0)}, []uint32{0})
	wrong(t, func() { s.holdsAll(n) })
	wrong(t, s.count, "one pair is in the middle of some range")
}

// An export without one of the pairs, with another value, or out of order where there is one, is found out.
func TestWrongExportsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1000
	for _, name := range []string{"sortedarray", "slabhash"} {
		s := sessionOf(t, d, name, n)
		right(t, func() { s.hold(n) })
		keys := append([]uint32(nil), s.inOrder(n)...)
		values := make([]uint32, n)
		fill(values, func(i int) uint32 { return s.space.value(keys[i]) })
		check := func() { s.checkAll(keys, values) }
		right(t, check)
		values[3]++
		wrong(t, check, name)
		values[3]--
		keys[5], values[5] = keys[6], values[6]
		wrong(t, check, "one twice, and one not at all")
		keys[6], values[6] = s.sorted[5], s.space.value(s.sorted[5])
		if name == "slabhash" {
			right(t, check)
		} else {
			wrong(t, check, "out of order")
		}
	}
}
