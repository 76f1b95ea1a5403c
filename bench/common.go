package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/vkds/vkds/vk"
)

// Common are the options of every benchmark.
type Common struct {
	Repeat int           // measured runs; 0: 5
	WarmUp time.Duration // of the same work, right before the measured runs; 0: 0.5 s (an idle GPU runs at a low clock), on a CPU device one run
	Seed   uint32        // of keys and values; 0: a random one
	Budget time.Duration // no measurement is begun after so long; 0: no limit

	// Progress, if not nil, is told what is measured next, and how many of the measurements are done.
	Progress func(done, total int, what string)
}

// OptionError says which option can't be.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return fmt.Sprintf("bench: option %s: %s", e.Option, e.Reason) }

// WrongError says that an operation gave a wrong result, so that its time means nothing.
type WrongError struct{ Op, Reason string }

func (e *WrongError) Error() string {
	return fmt.Sprintf("bench: %s: wrong result: %s", e.Op, e.Reason)
}

const (
	defaultRepeat = 5
	defaultWarmUp = 500 * time.Millisecond
	defaultSize   = 1 << 20
	minSize       = 64
	maxSize       = 1 << 30 // the mixes take keys of indices up to three times as many
)

func (o *Common) complete(d *vk.Device) error {
	if o.Repeat < 0 || o.WarmUp < 0 || o.Budget < 0 {
		return &OptionError{"Repeat, WarmUp, Budget", "negative"}
	}
	if o.Repeat == 0 {
		o.Repeat = defaultRepeat
	}
	if o.WarmUp == 0 && d.Info().Type != vk.CPU {
		o.WarmUp = defaultWarmUp
	}
	for o.Seed == 0 {
		o.Seed = rand.Uint32()
	}
	if !d.Has(vk.Timestamps) {
		return &vk.MissingFeatureError{Device: d.Info().Name, Features: []string{string(vk.Timestamps)}}
	}
	return nil
}

// completeSizes checks the sizes of an option, of which nil means the default.
func completeSizes(option string, sizes []int, standard int) ([]int, error) {
	if len(sizes) == 0 {
		sizes = []int{standard}
	}
	for _, n := range sizes {
		if n < minSize || n > maxSize {
			return nil, &OptionError{option, fmt.Sprintf("%d: %d to %d", n, minSize, maxSize)}
		}
	}
	return sizes, nil
}

// Op is an operation that a benchmark measures.
type Op struct {
	Name    string
	About   string
	Default bool // measured unless others are asked for
}

// operations are those of one benchmark, measured in an S.
type operations[S any] []struct {
	Op
	run func(S, context.Context) error
}

func (all operations[S]) ops() (ops []Op) {
	for _, p := range all {
		ops = append(ops, p.Op)
	}
	return ops
}

// Defaults names the operations that are measured unless others are asked for.
func Defaults(ops []Op) (names []string) {
	for _, p := range ops {
		if p.Default {
			names = append(names, p.Name)
		}
	}
	return names
}

// Ops lists what a benchmark can measure, by its name in the command line.
func Ops(benchmark string) []Op {
	switch benchmark {
	case "slabhash":
		return ops.ops()
	case "lsm":
		return lsmOps.ops()
	case "sortedarray":
		return sortedArrayOps.ops()
	}
	return primitiveOps[benchmark].ops()
}

// complete checks names, of which nil means the default.
func (all operations[S]) complete(names []string) ([]string, error) {
	if len(names) == 0 {
		names = Defaults(all.ops())
	}
	for _, name := range names {
		if slices.ContainsFunc(all.ops(), func(p Op) bool { return p.Name == name }) {
			continue
		}
		var there []string
		for _, p := range all {
			there = append(there, p.Name)
		}
		return nil, &OptionError{"Ops", fmt.Sprintf("no operation %q; there are %s", name, strings.Join(there, ", "))}
	}
	return names, nil
}

// measure does the operations that are named, as far as there is time for them.
func (all operations[S]) measure(ctx context.Context, s S, names []string, n int, w *walk) error {
	for _, p := range all {
		if !slices.Contains(names, p.Name) || !w.next(fmt.Sprintf("%s, n = %d", p.Name, n)) {
			continue
		}
		if err := p.run(s, ctx); err != nil {
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
