package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/bench"
	"github.com/vkds/vkds/vk"
)

func newBenchCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure a structure or a bulk operation on this device, results checked",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(
		newBenchSlabHashCommand(g),
		newBenchOrderedCommand(g, "btree", "B-link-tree", bench.BTree),
		newBenchOrderedCommand(g, "lsm", "GPU LSM", bench.LSM),
		newBenchOrderedCommand(g, "sortedarray", "sorted array", bench.SortedArray),
		newBenchLatchedCommand(g),
		newBenchAllocCommand(g),
	)
	for _, primitive := range []struct{ name, short string }{
		{"sort", "Measure the radix sort"},
		{"scan", "Measure prefix sums, reduction and compaction"},
		{"merge", "Measure the merge of two sorted runs"},
		{"search", "Measure the lower bounds of many queries"},
	} {
		c.AddCommand(newBenchPrimitiveCommand(g, primitive.name, primitive.short))
	}
	return c
}

// throughputHelp says what a benchmark measures.
func throughputHelp(of, benchmark string) string {
	return "Measure " + of + ": throughput by the device's own timestamps, and wall time beside it.\n\n" +
		"Operations (* unless --op says otherwise):\n" + describeOps(bench.Ops(benchmark))
}

// commonFlags are the flags of every benchmark.
func commonFlags(f *pflag.FlagSet, o *bench.Common) {
	f.IntVar(&o.Repeat, "repeat", 5, "measured runs, of which the median counts")
	f.Uint32Var(&o.Seed, "seed", 0, "seed of the keys; 0: a random one")
	f.DurationVar(&o.WarmUp, "warm-up", 0, "time of the same work before it is measured; 0: 0.5 s, on a CPU device one run")
	f.DurationVar(&o.Budget, "budget", 0, "begin no measurement after so long; 0: no limit")
}

func newBenchSlabHashCommand(g *global) *cobra.Command {
	var o bench.Options
	var sizes []int
	var utilizations []float64
	var out reportFiles
	c := &cobra.Command{
		Use:   "slabhash",
		Short: "Measure the slab hash",
		Long:  throughputHelp("the slab hash", "slabhash"),
		Example: `  vkds bench slabhash --n 20,22,24,26 --csv figures.csv --plot figures.png
  vkds bench slabhash --op build,find-all --n 22 --utilization 0.1,0.3,0.5,0.7,0.9
  vkds bench slabhash --op end-to-end,build,find-all --n 20 --json figures.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Sizes, err = sizesOf("n", sizes); err != nil {
				return err
			}
			for _, u := range utilizations {
				if !(u > 0 && u < bench.MaxUtilization) {
					return fmt.Errorf("--utilization %g: above 0, below %g", u, bench.MaxUtilization)
				}
			}
			if len(utilizations) != 0 {
				if c.Flags().Changed("load") {
					return fmt.Errorf("--load and --utilization: one of them")
				}
				o.Loads = nil
				for _, u := range utilizations {
					o.Loads = append(o.Loads, bench.LoadFor(u))
				}
			}
			return runBench(c, g, &out, func(ctx context.Context, d *vk.Device, progress func(done, total int, what string)) (bench.Report, error) {
				o.Progress = progress
				return bench.SlabHash(ctx, d, o)
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Ops, "op", nil, "operations to measure (default: those marked above)")
	f.IntSliceVar(&sizes, "n", []int{20}, "elements in the table; 6 to 30: that power of two")
	f.Float64SliceVar(&o.Loads, "load", []float64{0.7}, "slabs a bucket that the elements would fill (0.7: utilisation 0.61)")
	f.Float64SliceVar(&utilizations, "utilization", nil, "memory utilisation, below 0.9375, instead of --load")
	f.IntSliceVar(&o.Tiles, "tile", []int{0}, "lanes that work on a slab; 0: what measured best for each kernel")
	f.Float64Var(&o.Skew, "skew", 0.5, "share of the batch that one key takes in the skewed operations")
	commonFlags(f, &o.Common)
	out.flags(c)
	return c
}

func newBenchAllocCommand(g *global) *cobra.Command {
	var o bench.AllocOptions
	var sizes []int
	var out reportFiles
	c := &cobra.Command{
		Use:   "alloc",
		Short: "Measure the slab allocator: n slabs, one a thread, allocated and freed",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var err error
			if o.Sizes, err = sizesOf("n", sizes); err != nil {
				return err
			}
			return runBench(c, g, &out, func(ctx context.Context, d *vk.Device, progress func(done, total int, what string)) (bench.Report, error) {
				o.Progress = progress
				return bench.Alloc(ctx, d, o)
			})
		},
	}
	c.Flags().IntSliceVar(&sizes, "n", []int{20}, "slabs; 6 to 30: that power of two")
	c.Flags().IntVar(&o.Repeat, "repeat", 5, "measured runs, of which the median counts")
	out.flags(c)
	return c
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

// sizesOf reads a flag of sizes: numbers up to 30 are powers of two.
func sizesOf(flag string, numbers []int) ([]int, error) {
	var sizes []int
	for _, n := range numbers {
		if n >= 6 && n <= 30 {
			n = 1 << n
		}
		if n < 1<<6 || n > 1<<30 {
			return nil, fmt.Errorf("--%s %d: 6 to 30 for a power of two, or a number from 64 to 2^30", flag, n)
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// runBench opens the device, measures, prints and writes. What was measured before an error is printed and written all
// the same.
func runBench(c *cobra.Command, g *global, out *reportFiles, measure func(context.Context, *vk.Device, func(done, total int, what string)) (bench.Report, error)) error {
	if err := cmp.Or(checkRead(c.Name(), c.Flags()), out.check()); err != nil {
		return err
	}
	d, err := g.openTelling(out.kernels.listener())
	if err != nil {
		return err
	}
	defer d.Close()
	progress, end := g.steps()
	report, err := measure(c.Context(), d, progress)
	end()
	if len(report.Measurements) == 0 && err != nil {
		return err
	}
	var printed error
	if len(report.Measurements) != 0 {
		printed = report.WriteTable(g.out)
	}
	return cmp.Or(err, printed, out.write(report))
}
