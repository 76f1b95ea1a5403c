// Package bench measures vkds's data structures: throughput by the device's own timestamps, with wall time beside it,
// medians of several runs after a warm-up, and new random keys. It checks every result. `vkds bench` runs it. A cell of
// the table (table.go) is a function that measures one operation at one setting of a session, and checks the result. A
// setting has a value of each axis (axes.go).
package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vkds/vkds/internal/tool/graphfile"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/primitives"
	"github.com/vkds/vkds/vk"
)

// Options select what Run measures: each operation at each combination of the values of its axes.
type Options struct {
	Ops  []string            // names of Ops(benchmark); nil: the default ones
	Axes map[string][]string // the values of axes by name, as in the command line; other axes have their defaults

	Repeat int // measured runs; 0: 5
	// WarmUp is the time for which the same work runs before a measurement. 0 is 0.5 s, because an idle GPU's clock is
	// low, and on a CPU device one run.
	WarmUp time.Duration
	Seed   uint32    // of keys and values; 0: a random one
	Out    io.Writer // gets each measurement after it was made (Report.Write); nil: it is only in the report
}

// WrongError reports that an operation gave a wrong result, so its time is meaningless.
type WrongError struct{ Op, Reason string }

func (e *WrongError) Error() string {
	return fmt.Sprintf("bench: %s: wrong result: %s", e.Op, e.Reason)
}

// failure carries an error from anywhere in a cell to attempt, so that cells need no error handling. It does not leave
// the package.
type failure struct{ error }

func ok(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](x T, err error) T {
	ok(err)
	return x
}

// attempt returns the error of a failure in do, or nil.
func attempt(do func()) (err error) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case failure:
			err = f.error
		default:
			panic(f)
		}
	}()
	do()
	return nil
}

// Run measures a benchmark, by its name in the command line. If it returns an error, the report has the measurements
// made before. Errors: *vk.OptionError, *WrongError, *vk.MissingFeatureError, *vk.OutOfMemoryError, those of the
// structure, the context's.
func Run(ctx context.Context, d *vk.Device, name string, o Options) (Report, error) {
	b, steps, err := plan(name, &o)
	if err != nil {
		return Report{}, err
	}
	if !d.Has(vk.Timestamps) {
		return Report{}, &vk.MissingFeatureError{Device: d.Info().Name, Features: []string{string(vk.Timestamps)}}
	}
	if o.WarmUp == 0 && d.Info().Type != vk.CPU {
		o.WarmUp = 500 * time.Millisecond
	}
	for o.Seed == 0 {
		o.Seed = rand.Uint32()
	}
	if o.Out == nil {
		o.Out = io.Discard
	}
	r := Report{Environment: environment(d, o.Seed)}
	s := &session{ctx: ctx, d: d, o: o, Benchmark: b, report: &r}
	defer s.close()
	for _, at := range steps {
		made := len(r.Measurements)
		if err := attempt(func() { s.enter(at); at.cell.measure(s) }); err != nil {
			return r, fmt.Errorf("%s: %w", cmp.Or(at.File, fmt.Sprintf("n = %d", at.N)), err)
		}
		if err := (Report{r.Environment, r.Measurements[made:]}).write(o.Out, made == 0); err != nil {
			return r, err
		}
	}
	return r, nil
}

// step is an operation at a setting.
type step struct {
	cell *cell
	setting
	own setting // the part of the setting that the operation depends on
}

// plan checks the options and lists the steps. A structure is kept from one step to the next if their settings differ
// in queries only.
func plan(name string, o *Options) (*Benchmark, []step, error) {
	b, err := benchmarkOf(name)
	if err == nil {
		err = o.check(b)
	}
	if err != nil {
		return nil, nil, err
	}
	settings, err := b.settings(o)
	if err != nil {
		return nil, nil, err
	}
	type seen struct {
		op  string
		own setting
	}
	var steps []step
	done := map[seen]bool{}
	for _, at := range settings {
		for i := range b.cells {
			c := &b.cells[i]
			own := at.of(c.Op)
			if slices.Contains(o.Ops, c.Name) && !done[seen{c.Name, own}] {
				done[seen{c.Name, own}] = true
				steps = append(steps, step{c, at, own})
			}
		}
	}
	return b, steps, nil
}

// session is a structure at one setting, with what its measurements share.
type session struct {
	ctx context.Context
	d   *vk.Device
	o   Options
	*Benchmark
	report *Report

	at, own setting          // the setting, and the part that the operation depends on
	op      Op               // the operation that is being measured
	width   structures.Width // of its elements
	n       int              // elements in the structure
	batch   int              // operations of a batch, for most benchmarks at most n
	keys    sequence         // of the pairs, in the order of their insertion
	*workload

	dictionary dictionary // nil until it is first needed
	kind       string     // of the dictionary: a name of openers
	there      int        // the number of pairs in it, the first ones of the sequence; -1 if it has others
	sorted     []uint32   // the sorted keys of the last call of inOrder
	primitives *primitives.Primitives
	analyzed   *analyzed        // the graph of the setting; nil until it is first needed
	file       *graphfile.Graph // of the setting
}

// enter prepares the session for a step's setting. It keeps the structure if the step uses the same one, and the
// buffers if n is the same.
func (s *session) enter(at step) {
	if at.File != "" {
		s.load(at.File)
		at.N = s.file.Len()
	}
	kind := at.cell.on
	if s.workload == nil || at.outer() != s.at.outer() || kind != s.kind {
		s.leave()
	}
	if s.workload != nil && (s.n != at.N || len(s.bytes) < at.Batch) {
		s.workload.close()
		s.workload = nil
	}
	if s.workload == nil {
		s.n = at.N
		s.workload = newWorkload(s.d, s.o.Seed, s.n, max(s.n, at.Batch))
	}
	s.at, s.own, s.op, s.kind = at.setting, at.own, at.cell.Op, kind
	s.width, s.batch = structures.Width(at.own.Width/64), min(at.Batch, s.n)
	s.keys = newSequence(s.space, at.Order, s.n)
}

// leave closes the structure.
func (s *session) leave() {
	if s.workload != nil {
		s.ending()
	}
	if s.dictionary != nil {
		s.dictionary.Close()
	}
	s.primitives.Close()
	s.analyzed.close()
	s.dictionary, s.primitives, s.analyzed, s.there, s.sorted = nil, nil, nil, -1, nil
}

func (s *session) close() {
	s.leave()
	if s.workload != nil {
		s.workload.close()
	}
}

// fail ends the measurement because the operation returned a wrong result.
func (s *session) fail(format string, args ...any) {
	ok(&WrongError{s.op.Name, fmt.Sprintf(format, args...)})
}

// measurement returns an empty measurement of the operation, with n elements in the structure.
func (s *session) measurement(n, operations int) Measurement {
	m := Measurement{Structure: s.Name, Op: s.op.Name, N: n, Operations: operations, Load: max(s.own.Load, s.own.Fill),
		Tile: s.own.Tile, Length: s.own.Length, Stale: s.own.Stale, Changed: s.own.Changed}
	if s.own.Order != random {
		m.Order = s.own.Order
	}
	switch {
	case s.own.Form != primitives.Auto:
		m.Form = s.own.Form.String()
	case s.own.Path != 0:
		m.Form = s.own.Path.String()
	}
	if s.width == structures.Bits64 {
		m.Width = 64
	}
	if s.Name == "lsm" {
		m.Batch = s.batch // the number of pairs of its lowest level
	}
	return m
}

// add adds a measurement to the report.
func (s *session) add(m Measurement) Measurement {
	s.report.Measurements = append(s.report.Measurements, m)
	return m
}
