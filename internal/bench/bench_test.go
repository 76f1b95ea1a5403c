package bench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func allOps(benchmark string) []string {
	var names []string
	for _, p := range Ops(benchmark) {
		names = append(names, p.Name)
	}
	return names
}

// quick is one run behind another.
var quick = Common{Repeat: 1, WarmUp: time.Nanosecond}

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestEveryOperationIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	var said []string
	r, err := SlabHash(t.Context(), d, Options{
		Ops: allOps("slabhash"), Sizes: []int{1003, 1 << 12}, Loads: []float64{0.7, 3},
		Common: Common{Repeat: 2, WarmUp: time.Nanosecond, Seed: 5, Progress: func(done, total int, what string) {
			require.Equal(t, 4*len(ops), total)
			require.Equal(t, len(said), done)
			said = append(said, what)
		}},
	})
	require.NoError(t, err)
	require.Len(t, said, 4*len(ops)+1)
	require.Zero(t, r.LeftOut)
	require.Equal(t, d.Info().Name, r.Environment.Device)
	require.Positive(t, r.Environment.CopyGBps)

	count := map[string]int{}
	for _, m := range r.Measurements {
		count[m.Op]++
		require.Positive(t, m.Throughput(), m.Op)
		require.Len(t, m.Wall, 2, m.Op)
		if m.Device != nil {
			require.Len(t, m.Device, 2, m.Op)
		}
		require.InDelta(t, Utilization(m.Load), m.Utilization, 0.15, "%s at load %g", m.Op, m.Load)
	}
	for _, name := range allOps("slabhash") {
		if name == "end-to-end" {
			continue // it is measured as these:
		}
		require.Equal(t, 4, count[name], name)
	}
	for _, name := range []string{"end-to-end-insert", "end-to-end-find", "copies-insert", "copies-find"} {
		require.Equal(t, 4, count[name], name)
	}
}

func TestTilesAreMeasuredOneByOne(t *testing.T) {
	d := testdevice.Open(t)
	r, err := SlabHash(t.Context(), d, Options{Ops: []string{"build", "find-all"}, Sizes: []int{1 << 10}, Tiles: []int{1, 4}, Common: quick})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4)
	require.Equal(t, 1, r.Measurements[0].Tile)
	require.Equal(t, 4, r.Measurements[3].Tile)
}

func TestBudgetLeavesOutTheRest(t *testing.T) {
	d := testdevice.Open(t)
	r, err := SlabHash(t.Context(), d, Options{Ops: []string{"build", "delete"}, Sizes: []int{64, 128}, Common: Common{Repeat: 1, WarmUp: time.Nanosecond, Budget: time.Nanosecond}})
	require.NoError(t, err)
	require.Empty(t, r.Measurements)
	require.Equal(t, 4, r.LeftOut)
}

func TestOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, o := range []Options{
		{Ops: []string{"biuld"}}, {Sizes: []int{10}}, {Sizes: []int{1 << 31}}, {Loads: []float64{0}}, {Loads: []float64{-1}},
		{Common: Common{Repeat: -1}}, {Skew: 2}, {Common: Common{WarmUp: -1}},
	} {
		_, err := SlabHash(t.Context(), d, o)
		var option *OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	_, err := SlabHash(t.Context(), d, Options{Tiles: []int{3}, Sizes: []int{64}})
	require.ErrorContains(t, err, "power of two")
}

func TestCancelledBenchmarkEnds(t *testing.T) {
	d := testdevice.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	r, err := SlabHash(ctx, d, Options{Ops: allOps("slabhash"), Sizes: []int{1 << 12}, Common: Common{Repeat: 1, WarmUp: time.Nanosecond, Progress: func(int, int, string) {
		if steps++; steps == 3 {
			cancel()
		}
	}}})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Measurements, 2)
}

func TestWrongResultsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	o := Options{Common: quick}
	require.NoError(t, o.complete(d))
	const n = 1 << 10
	w, err := newWorkload(d, o.Common, n)
	require.NoError(t, err)
	defer w.close()
	s := &session{workload: w, options: o, report: &Report{}, load: 0.7}
	defer s.close()
	require.NoError(t, s.full(t.Context()))
	queries, answers, err := s.queries(t.Context())
	require.NoError(t, err)

	var wrong *WrongError
	require.NoError(t, s.holdsAll(t.Context(), "op"))
	require.ErrorAs(t, s.holds(t.Context(), "op", n-1), &wrong)

	b := s.batch(queries, nil) // one key of the table goes
	b.Count = 1
	require.NoError(t, s.m.ApplyOn(s.stream, structures.Delete, b))
	require.NoError(t, s.m.Finish(t.Context(), s.stream, structures.Delete, b))
	require.ErrorAs(t, s.holdsAll(t.Context(), "op"), &wrong)
	require.ErrorContains(t, wrong, "query 0")

	require.NoError(t, answers.Upload(t.Context(), 5, []uint32{12345}))
	err = s.checkValues(t.Context(), "op", answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), i > 0 })
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, wrong, "operation 5")

	require.NoError(t, w.status.Upload(t.Context(), 0, make([]uint8, n)))
	err = s.checkStatus(t.Context(), "op", n, func(int) structures.Status { return structures.Inserted })
	require.ErrorAs(t, err, &wrong)

	// An operation given up makes a time that is not that of all.
	_, err = s.measure(t.Context(), task{
		Measurement: s.measurement("op", n), pending: true,
		record: func() error { s.stream.Fill(s.left, 0, 4, 3); return nil },
		check:  func(context.Context) error { return nil },
	})
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, wrong, "3 operations were left pending")
}

func TestAllocatorIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Alloc(t.Context(), d, AllocOptions{Sizes: []int{1 << 10, 1 << 12}, Repeat: 2})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4)
	for i, op := range []string{"allocate", "free", "allocate", "free"} {
		require.Equal(t, op, r.Measurements[i].Op)
		require.Len(t, r.Measurements[i].Device, 2)
		require.Positive(t, r.Measurements[i].Throughput())
	}

	// Four blocks are too few for 5000 slabs: those that were refused are found out.
	var wrong *WrongError
	_, _, err = measureSlabs(t.Context(), d, quick, 5000, 4*alloc.BlockSlabs)
	require.ErrorAs(t, err, &wrong)
	var option *OptionError
	_, err = Alloc(t.Context(), d, AllocOptions{Repeat: -1})
	require.ErrorAs(t, err, &option)
}

func TestDeviceWithoutTimestampsIsRefused(t *testing.T) {
	d := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Timestamps}})
	var missing *vk.MissingFeatureError
	_, err := SlabHash(t.Context(), d, Options{Sizes: []int{64}})
	require.ErrorAs(t, err, &missing)
	_, err = Alloc(t.Context(), d, AllocOptions{})
	require.ErrorAs(t, err, &missing)
}
