package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	r, err := Run(t.Context(), d, "slabhash", Options{
		Ops: allOps("slabhash"), Sizes: []int{1003, 1 << 12}, Loads: []float64{0.7, 3},
		Common: Common{Repeat: 2, WarmUp: time.Nanosecond, Seed: 5, Progress: func(done, total int, what string) {
			require.Equal(t, 4*len(Ops("slabhash")), total)
			require.Equal(t, len(said), done)
			said = append(said, what)
		}},
	})
	require.NoError(t, err)
	require.Len(t, said, 4*len(Ops("slabhash"))+1)
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
		if name == "end-to-end" || name == "insert-slices" {
			continue // they are measured as these:
		}
		require.Equal(t, 4, count[name], name)
	}
	for _, name := range []string{"end-to-end-insert", "end-to-end-find", "copies-insert", "copies-find",
		"insert-slices-new", "insert-slices-there", "insert-slices-tenth-twice"} {
		require.Equal(t, 4, count[name], name)
	}
}

func TestTilesAreMeasuredOneByOne(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "slabhash", Options{Ops: []string{"build", "find-all"}, Sizes: []int{1 << 10},
		Tiles: []int{1, 4}, Common: quick})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4)
	require.Equal(t, 1, r.Measurements[0].Tile)
	require.Equal(t, 4, r.Measurements[3].Tile)
}

func TestBudgetLeavesOutTheRest(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "slabhash", Options{Ops: []string{"build", "delete"}, Sizes: []int{64, 128},
		Common: Common{Repeat: 1, WarmUp: time.Nanosecond, Budget: time.Nanosecond}})
	require.NoError(t, err)
	require.Empty(t, r.Measurements)
	require.Equal(t, 4, r.LeftOut)
}

func TestOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, o := range []Options{
		{Ops: []string{"biuld"}}, {Sizes: []int{10}}, {Sizes: []int{1 << 31}}, {Loads: []float64{0}},
		{Loads: []float64{-1}},
		{Common: Common{Repeat: -1}}, {Skew: 2}, {Common: Common{WarmUp: -1}},
	} {
		_, err := Run(t.Context(), d, "slabhash", o)
		var option *structures.OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	_, err := Run(t.Context(), d, "slabhash", Options{Tiles: []int{3}, Sizes: []int{64}})
	require.ErrorContains(t, err, "power of two")
}

func TestCancelledBenchmarkEnds(t *testing.T) {
	d := testdevice.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	r, err := Run(ctx, d, "slabhash", Options{Ops: allOps("slabhash"), Sizes: []int{1 << 12},
		Common: Common{Repeat: 1, WarmUp: time.Nanosecond, Progress: func(int, int, string) {
			if steps++; steps == 3 {
				cancel()
			}
		}}})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Measurements, 2)
}

// sessionOf is a session of n elements, for tests of its checks.
func sessionOf(t *testing.T, d *vk.Device, name string, n int, o Options) *session {
	t.Helper()
	b, err := benchmarkOf(name)
	require.NoError(t, err)
	o.Common = quick
	require.NoError(t, o.complete(d, b))
	w, err := newWorkload(d, o.Common, n)
	require.NoError(t, err)
	t.Cleanup(w.close)
	s := newSession(w, b, &o, o.settings()[0], &Report{})
	t.Cleanup(s.close)
	s.op.Name = "op"
	return s
}

func TestWrongResultsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1 << 10
	s := sessionOf(t, d, "slabhash", n, Options{})
	require.NoError(t, s.hold(t.Context(), n))
	queries, answers, err := s.asked(t.Context(), s.query)
	require.NoError(t, err)

	var wrong *WrongError
	require.NoError(t, s.holdsAll(t.Context(), n))
	require.ErrorAs(t, s.holdsAll(t.Context(), n-1), &wrong)

	b := structures.DeviceBatch{Count: 1, Keys: queries, Status: s.status, Left: s.left} // one key of the table goes
	require.NoError(t, s.hash().On(s.stream).Apply(structures.Delete, b))
	require.NoError(t, s.hash().On(s.stream).Finish(t.Context(), structures.Delete, b))
	require.ErrorAs(t, s.sound(t.Context(), n), &wrong)
	require.NoError(t, s.find(queries, answers, structures.AutoOrder))
	require.NoError(t, s.stream.Wait(t.Context()))
	err = s.found(t.Context(), n, answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), true })
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, wrong, "query 0")

	require.NoError(t, answers.Upload(t.Context(), 5, []uint32{12345}))
	err = s.checkValues(t.Context(), answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), i > 0 })
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, wrong, "operation 5")

	require.NoError(t, s.status.Upload(t.Context(), 0, make([]uint8, n)))
	err = s.checkStatus(t.Context(), n, func(int) structures.Status { return structures.Inserted })
	require.ErrorAs(t, err, &wrong)

	// An operation given up makes a time that is not that of all: it is tried again, for a while.
	again := 10
	_, err = s.measure(t.Context(), task{
		Measurement: s.measurement(n, n), pending: true,
		record: func() error {
			if again > 0 {
				again--
				s.stream.Fill(s.left, 0, 4, 3)
			}
			return nil
		},
		check: func(context.Context) error { return nil },
	})
	require.NoError(t, err)
	s.patience = 0
	_, err = s.measure(t.Context(), task{
		Measurement: s.measurement(n, n), pending: true,
		record: func() error { s.stream.Fill(s.left, 0, 4, 3); return nil },
		check:  func(context.Context) error { return nil },
	})
	require.ErrorAs(t, err, &wrong)
	require.ErrorContains(t, wrong, "3 operations were left pending")
}

// A batch of updates that had another status, left another value, or touched other keys is found out.
func TestWrongChangesAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1 << 10
	s := sessionOf(t, d, "slabhash", n, Options{})
	right := change{kind: structures.Insert, status: structures.Assigned, on: s.keys, count: n, key: s.query,
		after: s.otherValue, pairs: n}
	require.NoError(t, s.change(t.Context(), right))
	for _, spoil := range []func(*change){
		func(c *change) { c.status = structures.Inserted },
		func(c *change) { c.pairs-- },
		func(c *change) { c.kind = structures.InsertDuplicate },
	} {
		c := right
		spoil(&c)
		var wrong *WrongError
		require.ErrorAs(t, s.change(t.Context(), c), &wrong)
	}
	answers, err := s.batchOf(t.Context(), "answers", n, func(i int) uint32 { return s.space.value(s.query(i)) })
	require.NoError(t, err)
	s.stream.Fill(s.status, 0, n, 0x01010101)
	require.NoError(t, s.stream.Wait(t.Context()))
	value := func(i int) (uint32, bool) { return s.space.value(s.query(i)), true }
	require.NoError(t, s.found(t.Context(), n, answers, value))
	var wrong *WrongError
	require.ErrorAs(t, s.found(t.Context(), n, answers,
		func(i int) (uint32, bool) { v, _ := value(i); return v, i != 9 }), &wrong)
	require.ErrorAs(t, s.found(t.Context(), n, answers,
		func(i int) (uint32, bool) { v, _ := value(i); return v + uint32(i/(n-1)), true }), &wrong)
}

// An operation is measured once for all settings that differ by what it has no axis for.
func TestSettingsAreThoseOfAnOperation(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "sortedarray", Options{Common: quick, Ops: []string{"insert", "find-exist"},
		Sizes:   []int{1 << 10},
		Batches: []int{1 << 8, 1 << 9}, Orders: []Order{Random, Descending}})
	require.NoError(t, err)
	var got []string
	for _, m := range r.Measurements {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", m.Op, m.Batch, m.Order)))
	}
	require.Equal(t, []string{"insert 256", "find-exist 0", "insert 512", "insert 256 descending",
		"find-exist 0 descending", "insert 512 descending"}, got)
}

// Every axis of the table is one that options know, and every operation stands once in its benchmark.
func TestTable(t *testing.T) {
	known := strings.Fields(
		"load tile skew batch order levels lookup length stale changed path fill statuses form width node wait kind " +
			"graph on")
	used := map[string]bool{}
	for _, c := range columns {
		ops := Ops(c.name)
		require.NotEmpty(t, ops, c.name)
		require.NotEmpty(t, Defaults(ops), c.name)
		names := map[string]bool{}
		for _, p := range ops {
			require.False(t, names[p.Name], "%s %s stands twice", c.name, p.Name)
			names[p.Name] = true
			for _, axis := range strings.Fields(p.Axes) {
				require.Contains(t, known, axis, "%s %s", c.name, p.Name)
				used[axis] = true
			}
		}
	}
	require.Len(t, used, len(known))
	terms := map[string]bool{}
	for _, r := range table {
		for name := range r.cells {
			require.True(t, slices.ContainsFunc(columns, func(b benchmark) bool {
				return b.name == name
			}), "no column %s", name)
			require.False(t, terms[name+r.term], "%s stands twice", r.term)
			terms[name+r.term] = true
		}
	}
	require.Empty(t, Ops("no such benchmark"))
}

func TestAllocatorIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "alloc", Options{Sizes: []int{1 << 10, 1 << 12}, Common: Common{Repeat: 2}})
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4)
	for i, op := range []string{"allocate", "free", "allocate", "free"} {
		require.Equal(t, op, r.Measurements[i].Op)
		require.Len(t, r.Measurements[i].Device, 2)
		require.Positive(t, r.Measurements[i].Throughput())
	}

	// Four blocks are too few for 5000 slabs: those that were refused are found out.
	var wrong *WrongError
	_, _, err = sessionOf(t, d, "alloc", 5000, Options{}).measureAllocator(t.Context(), 4*alloc.BlockSlabs)
	require.ErrorAs(t, err, &wrong)
}

// What is replaced and read is checked by the benchmark itself, which has a row for each form.
func TestReclaimerIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "alloc", Options{Ops: []string{"replace", "read"}, Sizes: []int{3000},
		Common: Common{Repeat: 2}})
	require.NoError(t, err)
	var forms []string
	for _, m := range r.Measurements {
		require.Len(t, m.Device, 2, m.Form)
		require.Equal(t, len(m.Ratios) == 0, strings.HasPrefix(m.Form, freedAtOnce) ||
			strings.HasPrefix(m.Form, plainReads), m.Form)
		forms = append(forms, m.Op+" "+m.Form)
	}
	require.Equal(t, []string{
		"replace freed at once, 1 a thread", "replace retired, 1 a thread",
		"replace retired, with the pass behind, 1 a thread",
		"replace freed at once, 16 a thread", "replace retired, 16 a thread",
		"replace retired, with the pass behind, 16 a thread",
		"read without epochs, 1 a thread", "read in epochs, 1 a thread",
		"read without epochs, 16 a thread", "read in epochs, 16 a thread",
	}, forms)
}

func TestDeviceWithoutTimestampsIsRefused(t *testing.T) {
	d := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Timestamps}})
	var missing *vk.MissingFeatureError
	_, err := Run(t.Context(), d, "slabhash", Options{Sizes: []int{64}})
	require.ErrorAs(t, err, &missing)
	_, err = Run(t.Context(), d, "alloc", Options{})
	require.ErrorAs(t, err, &missing)
}

// Of 64 bits all is measured that is of 32.
func TestEveryOperationIsMeasuredAtBothWidths(t *testing.T) {
	d := testdevice.Open(t)
	for name, ops := range map[string][]string{
		"slabhash": allOps("slabhash"), "btree": allOps("btree"), "lsm": allOps("lsm"),
		"sortedarray": allOps("sortedarray"),
	} {
		r, err := Run(t.Context(), d, name, Options{Common: quick, Ops: ops, Sizes: []int{3000},
			Batches: []int{1 << 9}, Widths: []int{64}})
		require.NoError(t, err, name)
		measured := map[string]bool{}
		for _, m := range r.Measurements {
			require.Equal(t, 64, m.Width, "%s %s", name, m.Op)
			measured[m.Op] = true
		}
		require.GreaterOrEqual(t, len(measured), len(ops), name)
	}
}
