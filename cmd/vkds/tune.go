package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/vk"
)

func newTuneCommand(g *global) *cobra.Command {
	var t tuner
	var asJSON, dry, reset bool
	c := &cobra.Command{
		Use:   "tune",
		Short: "Measure how kernels divide their work best on a device, and keep that",
		Long: `Tune measures the choices that vkds makes by device: how many lanes work on a
slab of a hash table or on a node of a tree, how large a workgroup of a sort is,
whether scans read their input once or twice, and how large subgroups are. Each
is measured by the benchmark that depends on it most, with checked results.

What is at least 3% faster than what vkds does by itself is kept in a file of
the user's cache folder. All programs with vkds then use it for this device and
this version of its driver. Results don't depend on it. Measure on a quiet
machine; on a GPU it takes one to a few minutes.`,
		Example: `  vkds tune
  vkds tune --dry-run --json
  vkds tune --reset`,
		Args: takes("no arguments", 0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if reset {
				return resetTuning(g)
			}
			return tune(c.Context(), g, &t, dry, asJSON)
		},
	}
	c.Flags().IntVar(&t.size, "n", 0, "elements to measure with, as a power of two, 10 to 28\n"+
		"(default: 22, on a CPU device 16)")
	c.Flags().StringSliceVar(&t.only, "only", nil, "`choices` to measure, others stay as they are (default: all)")
	c.Flags().BoolVar(&dry, "dry-run", false, "measure, and keep nothing")
	c.Flags().BoolVar(&reset, "reset", false, "forget what was kept for the device and its driver")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return c
}

// tunedChoice is a choice as tune prints it.
type tunedChoice struct {
	Name     string  `json:"name"`
	Best     string  `json:"best"` // "": what vkds does by itself
	Faster   float64 `json:"faster"`
	Measured string  `json:"measured"`
}

// candidates are the possible values of choices that are made together.
type candidates struct {
	names  []string // of a vk.Tuning
	values [][]int  // of all names
	by     [][2]string
}

// name is that of the first: the others go with it.
func (c candidates) name() string { return c.names[0] }

// candidatesFor returns the choices of a device, those that others depend on first.
func candidatesFor(i vk.Info) (all []candidates) {
	sizes := [][]int{}
	for s := max(4, i.MinSubgroup); i.Has(vk.SubgroupSizes) && s <= i.MaxSubgroup; s *= 2 {
		sizes = append(sizes, []int{s})
	}
	if len(sizes) > 1 {
		all = append(all, candidates{[]string{"subgroup"}, sizes,
			[][2]string{{"slabhash", "find-all"}, {"slabhash", "build"}, {"btree", "find-exist"}, {"sort", "keys"}}})
	}
	tiles := [][]int{{1}, {2}, {4}, {8}}
	for _, x := range [][3]string{{"hash.find", "slabhash", "find-all"}, {"hash.insert", "slabhash", "build"},
		{"hash.update", "slabhash", "gamma1"}, {"tree.find", "btree", "find-exist"},
		{"tree.seek", "btree", "range"}, {"tree.update", "btree", "insert"}} {
		all = append(all, candidates{[]string{x[0]}, tiles, [][2]string{{x[1], x[2]}}})
	}
	if i.Type != vk.CPU { // there, each core is better off alone
		shapes := [][]int{{256, 8}, {256, 16}, {256, 24}, {384, 18}, {384, 26}, {512, 8}, {512, 12}, {512, 18},
			{1024, 8}, {1024, 12}}
		all = append(all,
			candidates{[]string{"passes"}, [][]int{{1}, {2}}, [][2]string{{"scan", "exclusive"}, {"sort", "keys"}}},
			candidates{[]string{"sort.workgroup", "sort.items"}, shapes,
				[][2]string{{"sort", "keys"}, {"sort", "pairs"}}})
	}
	return all
}

// enough is how many times as fast a choice must be to be kept: less is noise.
const enough = 1.03

// tuner measures.
type tuner struct {
	size int
	only []string
	// show tells how far it is, and tell of faults. time returns the least times of benchmarks with some choices.
	show func(format string, args ...any)
	tell func(text string)
	time func(ctx context.Context, choices vk.Tuning, by [][2]string) ([]float64, error)
}

// measurer returns a function that measures on the device that the flags choose.
func measurer(g *global, size int) func(context.Context, vk.Tuning, [][2]string) ([]float64, error) {
	return func(ctx context.Context, choices vk.Tuning, by [][2]string) (times []float64, err error) {
		d, err := g.openWith(vk.Options{Device: g.device, Tuning: choices})
		if err != nil {
			return nil, err
		}
		defer d.Close()
		for _, b := range by {
			r, err := bench.Run(ctx, d, b[0], bench.Options{Ops: []string{b[1]}, Seed: 1,
				WarmUp: 100 * time.Millisecond, Axes: map[string][]string{"n": {strconv.Itoa(size)}}})
			if err != nil {
				return nil, err
			}
			times = append(times, slices.Min(r.Measurements[0].Times()).Seconds()) // what disturbs only adds
		}
		return times, nil
	}
}

// ratio returns how many times as fast one is as the other: the geometric mean over benchmarks.
func ratio(before, after []float64) float64 {
	sum := 0.0
	for i := range before {
		sum += math.Log(before[i] / after[i])
	}
	return math.Exp(sum / float64(len(before)))
}

func tune(ctx context.Context, g *global, t *tuner, dry, asJSON bool) error {
	if t.size != 0 && (t.size < 10 || t.size > 28) {
		return fmt.Errorf("--n %d: not from 10 to 28", t.size)
	}
	d, err := g.open()
	if err != nil {
		return err
	}
	defer d.Close()
	i := d.Info()
	if t.size == 0 {
		t.size = 22
		if i.Type == vk.CPU {
			t.size = 16
		}
	}
	all, err := wanted(candidatesFor(i), t.only)
	if err != nil {
		return err
	}
	t.time, t.show = measurer(g, t.size), func(string, ...any) {}
	t.tell = func(text string) { fmt.Fprintln(g.err, "vkds:", text) }
	if g.watched() {
		t.show = func(format string, args ...any) { fmt.Fprintf(g.err, "\r\x1b[K"+format, args...) }
	}
	best, list := vk.Tuning{}, []tunedChoice{}
	if t.only != nil {
		maps.Copy(best, d.Tuning())
	}
	for _, c := range all {
		for _, name := range c.names {
			delete(best, name)
		}
	}
	for _, c := range all {
		x, err := t.choose(ctx, best, c)
		if err != nil {
			return err
		}
		list = append(list, x)
	}
	if asJSON {
		err = g.answerJSON(list)
	} else {
		err = g.answerTuned(list)
	}
	if err != nil || dry {
		return err
	}
	file, err := d.SaveTuning(best)
	switch {
	case err != nil:
		return err
	case len(best) > 0:
		g.note("kept in %s", file)
	default:
		g.note("nothing is faster by enough: there is nothing to keep")
	}
	return nil
}

func (g *global) answerTuned(list []tunedChoice) error {
	var rows [][]string
	for _, x := range list {
		rows = append(rows, []string{x.Name, cmp.Or(x.Best, "as it is"), fmt.Sprintf("%.2f", x.Faster), x.Measured})
	}
	return g.answerTable([]string{"choice", "best", "times as fast", "measured by"}, rows)
}

// wanted returns the candidates of choices that are named.
func wanted(all []candidates, names []string) (some []candidates, err error) {
	if names == nil {
		return all, nil
	}
	var known []string
	for _, c := range all {
		known = append(known, c.name())
		if slices.Contains(names, c.name()) {
			some = append(some, c)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--only %s: the device has no such choice (there are %s)", name,
				strings.Join(known, ", "))
		}
	}
	return some, nil
}

// choose measures candidates beside the best choices so far, and adds the fastest one to these.
func (t *tuner) choose(ctx context.Context, best vk.Tuning, c candidates) (x tunedChoice, err error) {
	x.Name, x.Faster = c.name(), 1
	var ops []string
	for _, b := range c.by {
		ops = append(ops, b[0]+" "+b[1])
	}
	x.Measured = strings.Join(ops, ", ")
	before, err := t.time(ctx, best, c.by)
	if err != nil {
		return x, err
	}
	var chosen vk.Tuning
	for n, values := range c.values {
		t.show("vkds: measuring %s, %d of %d", x.Name, n+1, len(c.values))
		next := maps.Clone(best)
		for i, name := range c.names {
			next[name] = values[i]
		}
		after, err := t.time(ctx, next, c.by)
		if err != nil && !errors.Is(err, context.Canceled) { // a fault of the driver: others must hear of it
			t.show("")
			t.tell(fmt.Sprintf("%s %s is not used: %v", x.Name, text(values), err))
			continue
		}
		if err != nil {
			return x, err
		}
		if r := ratio(before, after); r >= enough && r > x.Faster {
			x.Faster, x.Best, chosen = r, text(values), next
		}
	}
	t.show("")
	if chosen != nil {
		if x.Faster, err = t.confirm(ctx, best, chosen, c.by); err != nil {
			return x, err
		}
		if x.Faster < enough {
			x.Faster, x.Best, chosen = 1, "", nil
		}
	}
	maps.Copy(best, chosen)
	return x, nil
}

// confirm measures two Tunings in turns, and returns how many times as fast the second one is at the least. The best of
// many candidates may have been lucky.
func (t *tuner) confirm(ctx context.Context, before, after vk.Tuning, by [][2]string) (least float64, err error) {
	least = math.Inf(1)
	for range 3 {
		a, err := t.time(ctx, before, by)
		if err != nil {
			return 0, err
		}
		b, err := t.time(ctx, after, by)
		if err != nil {
			return 0, err
		}
		least = min(least, ratio(a, b))
	}
	return least, nil
}

// text returns the values of choices.
func text(values []int) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = strconv.Itoa(v)
	}
	return strings.Join(parts, ",")
}

func resetTuning(g *global) error {
	d, err := g.open()
	if err != nil {
		return err
	}
	_, err = d.SaveTuning(nil)
	return cmp.Or(err, d.Close())
}
