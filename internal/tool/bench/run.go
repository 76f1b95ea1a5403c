// Package bench measures vkds's data structures: throughput by the device's own timestamps and wall time beside it,
// medians of several runs behind a warm-up, fresh random keys, and every result checked. It is what `vkds bench`
// runs. What there is to be measured is one table of operations by structures (table.go).
package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vkds/vkds/vk"
)

// Run measures a benchmark, by its name in the command line. With an error, the report holds what was measured before
// it. Errors: *structures.OptionError, *WrongError, *vk.MissingFeatureError, *vk.OutOfMemoryError,
// those of the structure, the context's.
func Run(ctx context.Context, d *vk.Device, name string, o Options) (Report, error) {
	b, err := benchmarkOf(name)
	if err == nil {
		err = o.complete(d, b)
	}
	if err != nil {
		return Report{}, err
	}
	r := Report{Environment: environment(d, o.Seed)}
	settings := o.settings()
	steps := newWalk(&r, o.Common, len(o.Sizes)*b.steps(&o, settings))
	for _, n := range o.Sizes {
		if err := measureSize(ctx, d, b, &o, n, settings, steps); err != nil {
			return r, fmt.Errorf("n = %d: %w", n, err)
		}
	}
	steps.end()
	return r, nil
}

// measureSize measures a benchmark with n elements at all settings.
func measureSize(ctx context.Context, d *vk.Device, b *benchmark, o *Options, n int, settings []setting,
	steps *walk) error {
	w, err := newWorkload(d, o.Common, n)
	if err != nil {
		return err
	}
	defer w.close()
	for i, at := range settings {
		s := newSession(w, b, o, at, steps.report)
		if err := s.measureAll(ctx, b.measuredAt(o, settings, i), steps); err != nil {
			return err
		}
	}
	return nil
}

// measuredAt are the operations asked for that are measured at setting i.
func (b *benchmark) measuredAt(o *Options, settings []setting, i int) (cells []cell) {
	for _, c := range b.ops {
		if slices.Contains(o.Ops, c.Name) && newTo(c.Op, settings, i) {
			cells = append(cells, c)
		}
	}
	return cells
}

// steps is how many measurements there are of one size.
func (b *benchmark) steps(o *Options, settings []setting) (n int) {
	for i := range settings {
		n += len(b.measuredAt(o, settings, i))
	}
	return n
}

// measureAll measures operations at one setting, as far as there is time for them.
func (s *session) measureAll(ctx context.Context, cells []cell, steps *walk) error {
	defer s.close()
	for _, c := range cells {
		if !steps.next(fmt.Sprintf("%s, n = %d", c.Name, s.n)) {
			continue
		}
		s.op, s.width = c.Op, s.at.of(c.Op).width
		if err := c.measure(s, ctx); err != nil {
			return err
		}
	}
	return nil
}

// walk is the way through a benchmark's measurements.
type walk struct {
	report      *Report
	o           Common
	start       time.Time
	done, total int
}

func newWalk(r *Report, o Common, total int) *walk {
	return &walk{report: r, o: o, start: time.Now(), total: total}
}

// next says what comes, and answers whether there is time for it.
func (w *walk) next(what string) bool {
	if w.o.Budget > 0 && time.Since(w.start) > w.o.Budget {
		w.report.LeftOut++
		return false
	}
	if w.o.Progress != nil {
		w.o.Progress(w.done, w.total, what)
	}
	w.done++
	return true
}

func (w *walk) end() {
	if w.o.Progress != nil {
		w.o.Progress(w.total, w.total, "")
	}
}
