package bench

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/alloc"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/test/testdevice"
	"github.com/vkds/vkds/vk"
)

func allOps(benchmark string) string {
	var names []string
	for _, p := range Ops(benchmark) {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// defaults are the operations that are measured unless others are asked for.
func defaults(benchmark string) (names []string) {
	for _, p := range Ops(benchmark) {
		if p.Default {
			names = append(names, p.Name)
		}
	}
	return names
}

// quick are the options of one run after another, of operations split by blanks, at axes like "n=1003,12".
func quick(ops string, axes ...string) Options {
	o := Options{Repeat: 1, WarmUp: time.Nanosecond, Ops: strings.Fields(ops), Axes: map[string][]string{}}
	for _, axis := range axes {
		name, values, _ := strings.Cut(axis, "=")
		o.Axes[name] = strings.Split(values, ",")
	}
	return o
}

// Results are checked inside the benchmark: that it ends without an error says that all were right.
func TestEveryOperationIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	var out strings.Builder
	o := quick(allOps("slabhash"), "n=1003,12", "load=0.7,3")
	o.Repeat, o.Seed = 2, 5
	o.Out = &out
	r, err := Run(t.Context(), d, "slabhash", o)
	require.NoError(t, err)
	var whole strings.Builder
	require.NoError(t, r.Write(&whole))
	require.Equal(t, whole.String(), out.String())
	require.Equal(t, d.Info().Name, r.Environment.Device)

	count := map[string]int{}
	for _, m := range r.Measurements {
		count[m.Op]++
		require.Positive(t, m.Throughput(), m.Op)
		require.Len(t, m.Wall, 2, m.Op)
		if m.Device != nil {
			require.Len(t, m.Device, 2, m.Op)
		}
	}
	for _, name := range strings.Fields(allOps("slabhash")) {
		if name == "end-to-end" || name == "shards" {
			continue // they are measured as these:
		}
		require.Equal(t, 4, count[name], name)
	}
	for _, name := range []string{"end-to-end-insert", "end-to-end-find", "copies-insert", "copies-find"} {
		require.Equal(t, 4, count[name+"-kept-slices"], name)
	}
	for _, name := range []string{"one-device", "shards", "dividing"} {
		require.Equal(t, 4, count[name+"-insert"], name)
		require.Equal(t, 4, count[name+"-find"], name)
	}
}

func TestTilesAreMeasuredOneByOne(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "slabhash", quick("build find-all", "n=10", "tile=1,4"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4)
	require.Equal(t, 1, r.Measurements[0].Tile)
	require.Equal(t, 4, r.Measurements[3].Tile)
}

func TestOptionsThatCanNotBe(t *testing.T) {
	d := testdevice.Open(t)
	for _, o := range []Options{
		quick("biuld"), quick("", "n=10000000000"), quick("", "n=3"), quick("", "load=0"), quick("", "load=-1"),
		{Repeat: -1}, quick("add-skewed", "skew=2"), quick("build", "skew=0.3"), quick("", "colour=blue"), {WarmUp: -1},
	} {
		_, err := Run(t.Context(), d, "slabhash", o)
		var option *vk.OptionError
		require.ErrorAs(t, err, &option, "%+v", o)
	}
	_, err := Run(t.Context(), d, "slabhash", quick("", "tile=3", "n=64"))
	require.ErrorContains(t, err, "power of two")
}

// writer calls a function at each write.
type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

func TestCancelledBenchmarkEnds(t *testing.T) {
	d := testdevice.Open(t)
	ctx, cancel := context.WithCancel(t.Context())
	writes := 0
	o := quick(allOps("slabhash"), "n=12")
	o.Out = writer(func() {
		if writes++; writes == 3 { // after what was measured on, and two measurements
			cancel()
		}
	})
	r, err := Run(ctx, d, "slabhash", o)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, r.Measurements, 2)
}

// sessionOf is a session of n elements, for tests of its checks.
func sessionOf(t *testing.T, d *vk.Device, name string, n int, axes ...string) *session {
	t.Helper()
	o := quick("", append(axes, fmt.Sprintf("n=%d", n))...)
	b, steps, err := plan(name, &o)
	require.NoError(t, err)
	o.Seed = 5
	s := &session{ctx: t.Context(), d: d, o: o, Benchmark: b, report: &Report{}}
	t.Cleanup(s.close)
	require.NoError(t, attempt(func() { s.enter(steps[0]) }))
	s.op.Name = "op"
	return s
}

// right requires that a check finds nothing, and wrong that it finds a wrong result.
func right(t *testing.T, check func(), message ...any) {
	t.Helper()
	require.NoError(t, attempt(check), message...)
}

func wrong(t *testing.T, check func(), message ...any) *WrongError {
	t.Helper()
	var wrong *WrongError
	require.ErrorAs(t, attempt(check), &wrong, message...)
	return wrong
}

func TestWrongResultsAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1 << 10
	s := sessionOf(t, d, "slabhash", n)
	right(t, func() { s.hold(n) })
	queries, answers := s.asked(s.query)

	right(t, func() { s.holdsAll(n) })
	wrong(t, func() { s.holdsAll(n - 1) })

	b := structures.DeviceBatch{Count: 1, Keys: queries, Status: s.status, Left: s.left} // one key of the table goes
	require.NoError(t, s.hash().On(s.stream).Apply(structures.Delete, b))
	require.NoError(t, s.hash().On(s.stream).Finish(t.Context(), structures.Delete, b))
	wrong(t, func() { s.sound(n) })
	require.ErrorContains(t, wrong(t, func() {
		s.found(n, queries, answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), true })
	}), "query 0")

	require.NoError(t, answers.Upload(t.Context(), 5, []uint32{12345}))
	require.ErrorContains(t, wrong(t, func() {
		s.checkValues(answers, func(i int) (uint32, bool) { return s.space.value(s.query(i)), i > 0 })
	}), "operation 5")

	require.NoError(t, s.status.Upload(t.Context(), 0, make([]uint8, n)))
	wrong(t, func() { s.allAre(n, structures.Inserted) })

	// An operation given up makes a time that is not that of all: it is tried again, for a while.
	again := 10
	right(t, func() {
		s.measure(s.measurement(n, n), task{pending: true, check: func() {}, record: func() error {
			if again > 0 {
				again--
				s.stream.Fill(s.left, 0, 1, 3)
			}
			return nil
		}})
	})
	s.patience = 0
	require.ErrorContains(t, wrong(t, func() {
		s.measure(s.measurement(n, n), task{pending: true, check: func() {}, record: func() error {
			s.stream.Fill(s.left, 0, 1, 3)
			return nil
		}})
	}), "3 operations were left pending")
}

// A batch of updates that had another status, left another value, or touched other keys is found out.
func TestWrongChangesAreFound(t *testing.T) {
	d := testdevice.Open(t)
	const n = 1 << 10
	s := sessionOf(t, d, "slabhash", n)
	c := change{structures.Insert, structures.Assigned, s.keys, n, s.query, s.otherValue, n, false}
	right(t, func() { s.change(c) })
	for _, spoil := range []func(*change){
		func(c *change) { c.status = structures.Inserted },
		func(c *change) { c.pairs-- },
		func(c *change) { c.kind = structures.InsertDuplicate },
	} {
		c := c
		spoil(&c)
		wrong(t, func() { s.change(c) })
	}
	value := func(i int) (uint32, bool) { return s.space.value(s.query(i)), true }
	answers := s.batchOf("answers", n, func(i int) uint32 { v, _ := value(i); return v })
	s.stream.Fill(s.status, 0, n, 0x01010101)
	require.NoError(t, s.stream.Wait(t.Context()))
	right(t, func() { s.checkFound(n, answers, value) })
	wrong(t, func() { s.checkFound(n, answers, func(i int) (uint32, bool) { v, _ := value(i); return v, i != 9 }) })
	wrong(t, func() {
		s.checkFound(n, answers, func(i int) (uint32, bool) { v, _ := value(i); return v + uint32(i/(n-1)), true })
	})
}

// An operation is measured once for all settings that differ by what it has no axis for.
func TestSettingsAreThoseOfAnOperation(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "sortedarray", quick("insert find-exist", "n=10", "batch=8,9",
		"order=random,descending"))
	require.NoError(t, err)
	var got []string
	for _, m := range r.Measurements {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s", m.Op, m.Batch, m.Order)))
	}
	require.Equal(t, []string{"insert 256", "find-exist 0", "insert 512", "insert 256 descending",
		"find-exist 0 descending", "insert 512 descending"}, got)
}

// Every axis of the table is one of Axes, and every operation stands once in its benchmark.
func TestTable(t *testing.T) {
	known, used := map[string]bool{}, map[string]bool{"n": true}
	for _, x := range Axes {
		known[x.Name] = true
	}
	for _, c := range Benchmarks {
		ops := Ops(c.Name)
		require.NotEmpty(t, defaults(c.Name), c.Name)
		names := map[string]bool{}
		for _, p := range ops {
			require.False(t, names[p.Name], "%s %s stands twice", c.Name, p.Name)
			names[p.Name] = true
			for _, axis := range strings.Fields(p.axes) {
				require.Contains(t, known, axis, "%s %s", c.Name, p.Name)
				used[axis] = true
			}
		}
		for _, x := range AxesOf(c.Name) {
			require.True(t, x.Default != "" || x.Name == "file", "%s --%s", c.Name, x.Name)
		}
	}
	require.Equal(t, known, used)
	for _, r := range table {
		for _, of := range strings.Fields(r.of) {
			name, on, _ := strings.Cut(strings.TrimSuffix(of, "*"), ":")
			require.NotEmpty(t, Ops(name), "no benchmark %s", name)
			require.True(t, on == "" || openers[on] != nil, on)
		}
	}
	require.Empty(t, Ops("no such benchmark"))
}

func TestAllocatorIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	o := quick("", "n=10,12")
	o.Repeat = 2
	r, err := Run(t.Context(), d, "alloc", o)
	require.NoError(t, err)
	require.Len(t, r.Measurements, 4)
	for i, op := range []string{"allocate", "free", "allocate", "free"} {
		require.Equal(t, op, r.Measurements[i].Op)
		require.Len(t, r.Measurements[i].Device, 2)
		require.Positive(t, r.Measurements[i].Throughput())
	}

	// Four blocks are too few for 5000 slabs: those that were refused are found out.
	s := sessionOf(t, d, "alloc", 5000)
	wrong(t, func() { s.allocations(4 * alloc.BlockSlabs) })
}

func TestFilterIsMeasured(t *testing.T) {
	d := testdevice.Open(t)
	r, err := Run(t.Context(), d, "filter", quick("", "n=3001", "width=32,64"))
	require.NoError(t, err)
	require.Len(t, r.Measurements, 7, "reads do not depend on the width")

	// Answers that a filter of so many keys does not give are found out.
	s := sessionOf(t, d, "filter", 5000)
	wrong(t, func() {
		onFilter(func(s *session, f bloom, _ structures.DeviceBatch) { s.checkAnswers(f, true, 4999) })(s)
	})
	wrong(t, func() {
		onFilter(func(s *session, f bloom, _ structures.DeviceBatch) { s.checkAnswers(f, false, 500) })(s)
	})
	onFilter(func(s *session, f bloom, _ structures.DeviceBatch) { s.checkAnswers(f, false, 50) })(s)
}

func TestDeviceWithoutTimestampsIsRefused(t *testing.T) {
	d := testdevice.Open(t, vk.Options{Without: []vk.Feature{vk.Timestamps}})
	var missing *vk.MissingFeatureError
	_, err := Run(t.Context(), d, "slabhash", quick("", "n=64"))
	require.ErrorAs(t, err, &missing)
	_, err = Run(t.Context(), d, "alloc", Options{})
	require.ErrorAs(t, err, &missing)
}

// Of 64 bits all is measured that is of 32.
func TestEveryOperationIsMeasuredAtBothWidths(t *testing.T) {
	d := testdevice.Open(t)
	for _, name := range []string{"slabhash", "btree", "lsm", "sortedarray"} {
		o := quick(allOps(name), "n=3000", "width=64")
		if name != "slabhash" {
			o.Axes["batch"] = []string{"9"}
		}
		r, err := Run(t.Context(), d, name, o)
		require.NoError(t, err, name)
		measured := map[string]bool{}
		for _, m := range r.Measurements {
			require.Equal(t, 64, m.Width, "%s %s", name, m.Op)
			measured[m.Op] = true
		}
		require.GreaterOrEqual(t, len(measured), len(Ops(name)), name)
	}
}
