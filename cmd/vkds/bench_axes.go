package main

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/structures/btree"
)

// axisFlags are the flags of what settings differ in: those that a benchmark has, as its operations say.
type axisFlags struct {
	o                                                               *bench.Options
	sizes, batches                                                  []int
	utilizations                                                    []float64
	orders, levels, lookups, paths, forms, waits, kinds, graphs, on []string
}

func (a *axisFlags) define(f *pflag.FlagSet, benchmark string) {
	o := a.o
	has := func(axis string) bool {
		return slices.ContainsFunc(bench.Ops(benchmark), func(p bench.Op) bool { return p.Has(axis) })
	}
	names := func(list *[]string, axis, standard, usage string, known []string) {
		if has(axis) {
			f.StringSliceVar(list, axis, strings.Split(standard, ","), usage+strings.Join(known, ", "))
			_ = f.SetAnnotation(axis, valuesOf, known) // which there is
		}
	}
	f.IntSliceVar(&a.sizes, "n", []int{bits.Len(uint(bench.Size(benchmark))) - 1},
		"elements; 6 to 30: that power of two")
	if has("batch") {
		f.IntSliceVar(&a.batches, "batch", []int{14}, "operations of a batch of updates; 1 to 30: that power of two")
	}
	if has("load") {
		f.Float64SliceVar(&o.Loads, "load", []float64{0.7}, "slabs a bucket that the elements would fill")
		f.Float64SliceVar(&a.utilizations, "utilization", nil, "memory utilisation, below 0.9375, instead of --load")
	}
	if has("tile") {
		f.IntSliceVar(&o.Tiles, "tile", nil, tileUsage(benchmark))
	}
	if has("skew") {
		f.Float64Var(&o.Skew, "skew", 0.5, "share of the batch that one key takes in the skewed operations")
	}
	if has("length") {
		f.IntSliceVar(&o.Lengths, "length", []int{8}, "pairs expected in a range that is counted or listed")
	}
	if has("stale") {
		f.Float64SliceVar(&o.Stale, "stale", []float64{0.1, 0.5}, "shares of the elements that a cleanup removes")
	}
	if has("changed") {
		f.Float64SliceVar(&o.Changed, "changed", []float64{0.01, 0.1, 0.5},
			"shares of the keys that are changed then")
	}
	if has("fill") {
		f.Float64SliceVar(&o.Fills, "fill", []float64{0},
			"share of a node's slots in use in a bulk build;\n0: 8 of 15, wide 4 of 6")
	}
	if has("statuses") {
		f.BoolVar(&o.Statuses, "statuses", false, "ask for the status of each batched update, too")
	}
	if has("node") {
		f.IntSliceVar(&o.Nodes, "node", []int{128}, "bytes of a node: 128, 256")
	}
	if has("width") {
		f.IntSliceVar(&o.Widths, "width", []int{32}, "bits of an element: 32, 64")
	}
	names(&a.orders, "order", "random", "in which keys come:\n", bench.Orders.Names())
	names(&a.levels, "levels", "full", "of the LSM that is searched, those that are full: ",
		bench.LevelArrangements.Names())
	names(&a.lookups, "lookup", "auto", "how keys are looked up: ", bench.LookupOrders.Names())
	names(&a.paths, "path", "concurrent,batched", "that batches of updates take: ", bench.Paths.Names())
	names(&a.forms, "form", "auto", "of operations that have two: ", bench.Forms.Names())
	names(&a.waits, "wait", "restart", "what an insertion does that finds a latch taken: ", bench.Waits.Names())
	names(&a.graphs, "graph", "uniform", "how its edges are made, 16 a vertex: ", bench.Graphs.Names())
	names(&a.on, "on", "csr", "what analytics read, compressed sparse rows or the dynamic graph itself,\n"+
		"built in bulk or behind many changes: ", bench.Analyzeds.Names())
	names(&a.kinds, "kind", "b-link-tree", "with side links or without: ", bench.Kinds.Names())
}

func tileUsage(benchmark string) string {
	if benchmark == "latched" {
		return "lanes that work on a node, 4 to 32 (default: 16, or the subgroup's where it has fewer)"
	}
	return "lanes that work on a slab or a node (default, and 0: what measured\nbest for each kernel)"
}

// read brings the flags into the options.
func (a *axisFlags) read(f *pflag.FlagSet) error {
	o := a.o
	var errs [11]error
	o.Sizes, errs[0] = sizesOf("n", a.sizes, 6)
	o.Batches, errs[1] = sizesOf("batch", a.batches, 1)
	o.Orders, errs[2] = parseAll("order", a.orders, bench.Orders.Parse)
	o.Levels, errs[3] = parseAll("levels", a.levels, bench.LevelArrangements.Parse)
	o.Lookups, errs[4] = parseAll("lookup", a.lookups, bench.LookupOrders.Parse)
	o.Paths, errs[5] = parseAll("path", a.paths, bench.Paths.Parse)
	o.Forms, errs[6] = parseAll("form", a.forms, bench.Forms.Parse)
	o.Waits, errs[7] = parseAll("wait", a.waits, bench.Waits.Parse)
	o.Kinds, errs[8] = parseAll("kind", a.kinds, bench.Kinds.Parse)
	o.Graphs, errs[9] = parseAll("graph", a.graphs, bench.Graphs.Parse)
	o.On, errs[10] = parseAll("on", a.on, bench.Analyzeds.Parse)
	return cmp.Or(cmp.Or(errs[:]...), a.readLoads(f), a.readPaths())
}

func (a *axisFlags) readLoads(f *pflag.FlagSet) error {
	for _, fill := range a.o.Fills {
		if !within(fill, 0, 1) {
			return fmt.Errorf("--fill %g: above 0 and up to 1, or 0", fill)
		}
	}
	if len(a.utilizations) == 0 {
		return nil
	}
	if f.Changed("load") {
		return fmt.Errorf("--load and --utilization: one of them")
	}
	a.o.Loads = nil
	for _, u := range a.utilizations {
		if !(u > 0 && u < bench.MaxUtilization) {
			return fmt.Errorf("--utilization %g: above 0, below %g", u, bench.MaxUtilization)
		}
		a.o.Loads = append(a.o.Loads, bench.LoadFor(u))
	}
	return nil
}

func (a *axisFlags) readPaths() error {
	if a.o.Statuses && !slices.Contains(a.o.Paths, btree.Batched) {
		return fmt.Errorf("--statuses changes nothing of --path %s: it is for batched", strings.Join(a.paths, ","))
	}
	return nil
}

// sizesOf reads a flag of sizes: numbers up to 30 are powers of two, from the least one on.
func sizesOf(flag string, numbers []int, least int) ([]int, error) {
	var sizes []int
	for _, n := range numbers {
		if n >= least && n <= 30 {
			n = 1 << n
		}
		if n < 1<<least || n > 1<<30 {
			return nil, fmt.Errorf("--%s %d: %d to 30 for a power of two, or a number from %d to 2^30", flag, n, least,
				max(31, 1<<least))
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// parseAll reads the names of a flag.
func parseAll[T any](flag string, names []string, parse func(string) (T, error)) (values []T, err error) {
	for _, name := range names {
		v, err := parse(name)
		if err != nil {
			return nil, fmt.Errorf("--%s: %w", flag, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// checkRead tells of an operation that there isn't, and of a flag that is given, but by which none of the operations
// that are measured differ.
func checkRead(benchmark string, flags *pflag.FlagSet) (err error) {
	all := bench.Ops(benchmark)
	asked, _ := flags.GetStringSlice("op")
	ops, err := bench.Named(all, asked)
	if err != nil {
		return fmt.Errorf("--op: %w", err)
	}
	flags.Visit(func(f *pflag.Flag) {
		axis := f.Name
		if axis == "utilization" {
			axis = "load"
		}
		readers, readBy := []string{}, false
		for _, p := range all {
			if p.Has(axis) {
				readers = append(readers, p.Name)
				readBy = readBy || slices.Contains(ops, p.Name)
			}
		}
		if len(readers) != 0 && !readBy { // what no operation has is no axis
			err = fmt.Errorf("--%s changes nothing of %s: it is for %s", f.Name, strings.Join(ops, ", "),
				strings.Join(readers, ", "))
		}
	})
	return err
}
