package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/vk"
)

// benchmarks are those of package bench, and what is said of them.
var benchmarks = []struct{ name, short, of, example string }{
	{"slabhash", "Measure the slab hash", "the slab hash",
		`  vkds bench slabhash --n 20,22,24,26 --csv figures.csv --plot figures.png
  vkds bench slabhash --op build,find-all --n 22 --utilization 0.1,0.3,0.5,0.7,0.9
  vkds bench slabhash --op end-to-end,build,find-all --n 20 --json figures.json`},
	{"btree", "Measure the B-link-tree", "the B-link-tree",
		`  vkds bench btree --op build,insert,find-exist --n 16,18,20,22,24,26 --batch 22 --plot growth.png
  vkds bench btree --op insert-batch --n 40000000 --batch 16,18,20,22 --path concurrent,batched --fill 0.67
  vkds bench btree --op insert-batch --n 24 --batch 20 --order ascending,descending,almost-sorted,gaussian
  vkds bench btree --op alpha-0.2,alpha-0.6,alpha-1.0 --n 20,22,24`},
	{"mvbtree", "Measure the B-link-tree with snapshots", "the multiversion B-link-tree",
		`  vkds bench mvbtree --n 40000000 --batch 20,22 --csv figures.csv
  vkds bench mvbtree --op find-snapshot,range-snapshot --n 24 --changed 0.01,0.1,0.5 --plot snapshots.png
  vkds bench mvbtree --op diff --n 24 --changed 0.001,0.01,0.1
  vkds bench mvbtree --op insert-batch,insert-snapshots --n 24 --batch 20`},
	{"lsm", "Measure the GPU LSM", "the GPU LSM",
		`  vkds bench lsm --n 24 --batch 16,18,20 --csv figures.csv
  vkds bench lsm --op insert --n 26 --batch 18,20,22 --plot insertion.png
  vkds bench lsm --op count,range --n 24 --batch 20 --length 8,1024`},
	{"sortedarray", "Measure the sorted array", "the sorted array",
		`  vkds bench sortedarray --n 24 --batch 16,18,20 --csv figures.csv
  vkds bench sortedarray --op insert --n 26 --batch 18,20,22 --plot insertion.png
  vkds bench sortedarray --op count,range --n 24 --length 8,1024`},
	{"latched", "Measure B-trees whose nodes are changed under latches, as two papers have them",
		"B-trees with latches (Awad et al. 2019; Duong 2021; here to compare with)",
		`  vkds bench latched --op insert --n 22 --batch 22 --wait restart,backoff,spin --kind b+tree,b-link-tree
  vkds bench latched --op insert,insert-batch,find --n 22 --batch 20 --tile 4,8,16,32 --node 128,256
  vkds bench latched --op insert-at-once --n 16 --wait restart,backoff,spin`},
	{"alloc", "Measure the slab allocator: n slabs, one a thread, allocated and freed", "the slab allocator",
		`  vkds bench alloc --n 16,20`},
	{"graph", "Measure the dynamic graph: n edges, 16 a vertex; and analytics: n vertices",
		"the dynamic graph, of n edges, and the analytics of graphs, of n vertices",
		`  vkds bench graph --n 24 --batch 16,18,20,22 --graph uniform,rmat --csv figures.csv
  vkds bench graph --op build --n 20,22,24 --graph uniform,rmat,grid
  vkds bench graph --op insert --n 24 --batch 20 --graph hub
  vkds bench graph --op bfs,sssp --n 20,22 --graph grid`},
	{"sort", "Measure the radix sort", "bulk operations (sort)", bulkExample("sort")},
	{"scan", "Measure prefix sums, reduction and compaction", "bulk operations (scan)", bulkExample("scan")},
	{"merge", "Measure the merge of two sorted runs", "bulk operations (merge)", bulkExample("merge")},
	{"search", "Measure the lower bounds of many queries", "bulk operations (search)", bulkExample("search")},
}

func bulkExample(name string) string {
	return "  vkds bench " + name + " --n 20,22,24,26 --csv figures.csv --plot figures.png"
}

func newBenchCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure a structure or a bulk operation on this device, results checked",
		Args:  cobra.NoArgs,
	}
	for _, b := range benchmarks {
		c.AddCommand(newBenchmarkCommand(g, b.name, b.short, b.of, b.example))
	}
	return c
}

func newBenchmarkCommand(g *global, name, short, of, example string) *cobra.Command {
	var o bench.Options
	axes := axisFlags{o: &o}
	var out reportFiles
	c := &cobra.Command{
		Use:   name,
		Short: short,
		Long: "Measure " + of + ":\nthroughput by the device's own timestamps, and wall time beside it.\n\n" +
			"Operations (* unless --op says otherwise):\n" + describeOps(bench.Ops(name)) +
			"\n\nEach is measured at each combination of the flags' values.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cmp.Or(axes.read(c.Flags()), checkRead(name, c.Flags()), out.check()); err != nil {
				return err
			}
			return runBench(c, g, name, o, &out)
		},
	}
	f := c.Flags()
	axes.define(f, name)
	f.StringSliceVar(&o.Ops, "op", nil, "operations to measure (default: those marked above)")
	_ = f.SetAnnotation("op", valuesOf, opNames(name)) // which there is
	f.IntVar(&o.Repeat, "repeat", 5, "measured runs, of which the median counts")
	f.Uint32Var(&o.Seed, "seed", 0, "seed of the keys; 0: a random one")
	f.DurationVar(
		&o.WarmUp, "warm-up", 0, "time of the same work before it is measured; 0: 0.5 s, on a CPU device one run")
	f.DurationVar(&o.Budget, "budget", 0, "begin no measurement after so long; 0: no limit")
	out.flags(c)
	return c
}

func opNames(benchmark string) (names []string) {
	for _, op := range bench.Ops(benchmark) {
		names = append(names, op.Name)
	}
	return names
}

func describeOps(ops []bench.Op) string {
	var b strings.Builder
	for _, op := range ops {
		mark := ' '
		if op.Default {
			mark = '*'
		}
		fmt.Fprintf(&b, "%c %-17s %s\n", mark, op.Name, op.About)
	}
	return strings.TrimRight(b.String(), "\n")
}

// runBench opens the device, measures, prints and writes. What was measured before an error is printed and written all
// the same.
func runBench(c *cobra.Command, g *global, name string, o bench.Options, out *reportFiles) error {
	d, err := g.openTelling(out.kernels.listener())
	if err != nil {
		return err
	}
	defer d.Close()
	report, err := measureShowing(c.Context(), g, d, name, o)
	if len(report.Measurements) == 0 && err != nil {
		return err
	}
	var printed error
	if len(report.Measurements) != 0 {
		printed = report.WriteTable(g.out)
	}
	return cmp.Or(err, printed, out.write(report))
}

func measureShowing(ctx context.Context, g *global, d *vk.Device, name string, o bench.Options) (bench.Report, error) {
	progress, end := g.steps()
	defer end()
	o.Progress = progress
	return bench.Run(ctx, d, name, o)
}
