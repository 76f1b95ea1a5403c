package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Op is an operation that a benchmark measures.
type Op struct {
	Name    string
	About   string
	Default bool // measured unless others are asked for
}

// operations are those of one benchmark, measured in an S.
type operations[S any] []measured[S]

type measured[S any] struct {
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
	case "btree":
		return btreeOps.ops()
	case "latched":
		return latchedOps.ops()
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
