package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/bench"
	"github.com/vkds/vkds/structures/btree"
	"github.com/vkds/vkds/vk"
)

// newBenchOrderedCommand measures an ordered structure.
func newBenchOrderedCommand(g *global, name, what string, measure func(context.Context, *vk.Device, bench.OrderedOptions) (bench.Report, error)) *cobra.Command {
	var o bench.OrderedOptions
	var sizes, batches []int
	var orders, levels, lookups, paths []string
	var out reportFiles
	example := fmt.Sprintf(`  vkds bench %[1]s --n 24 --batch 16,18,20 --csv figures.csv
  vkds bench %[1]s --op insert --n 26 --batch 18,20,22 --plot insertion.png
  vkds bench %[1]s --op count,range --n 24 --length 8,1024`, name)
	if name == "btree" {
		example = `  vkds bench btree --op build,insert,find-exist --n 16,18,20,22,24,26 --batch 22 --plot growth.png
  vkds bench btree --op insert-batch --n 40000000 --batch 16,18,20,22 --path concurrent,batched --fill 0.67
  vkds bench btree --op insert-batch --n 24 --batch 20 --order ascending,descending,almost-sorted,gaussian
  vkds bench btree --op alpha-0.2,alpha-0.6,alpha-1.0 --n 20,22,24`
	}
	c := &cobra.Command{
		Use:     name,
		Short:   "Measure the " + what,
		Long:    throughputHelp("the "+what, name),
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.Sizes, err = sizesOf("n", sizes); err != nil {
				return err
			}
			if o.Batches, err = sizesOf("batch", batches); err != nil {
				return err
			}
			if o.Orders, err = parseAll("order", orders, bench.Orders.Parse); err != nil {
				return err
			}
			if o.Levels, err = parseAll("levels", levels, bench.LevelArrangements.Parse); err != nil {
				return err
			}
			if o.Lookups, err = parseAll("lookup", lookups, bench.LookupOrders.Parse); err != nil {
				return err
			}
			if o.Paths, err = parseAll("path", paths, bench.Paths.Parse); err != nil {
				return err
			}
			if o.Statuses && !slices.Contains(o.Paths, btree.Batched) {
				return fmt.Errorf("--statuses changes nothing of --path %s: it is for batched", strings.Join(paths, ","))
			}
			for _, fill := range o.Fills {
				if !within(fill, 0, 1) {
					return fmt.Errorf("--fill %g: above 0 and up to 1, or 0", fill)
				}
			}
			return runBench(c, g, &out, func(ctx context.Context, d *vk.Device, progress func(done, total int, what string)) (bench.Report, error) {
				o.Progress = progress
				return measure(ctx, d, o)
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Ops, "op", nil, "operations to measure (default: those marked above)")
	f.IntSliceVar(&sizes, "n", []int{18}, "pairs; 6 to 30: that power of two")
	f.IntSliceVar(&batches, "batch", []int{14}, "operations of a batch of updates; 6 to 30: that power of two")
	f.StringSliceVar(&orders, "order", []string{"random"}, "in which keys are inserted:\n"+strings.Join(bench.Orders.Names(), ", "))
	if name == "lsm" {
		f.StringSliceVar(&levels, "levels", []string{"full"}, "of the LSM that is searched, those that are full: "+strings.Join(bench.LevelArrangements.Names(), ", "))
		f.Float64SliceVar(&o.Stale, "stale", []float64{0.1, 0.5}, "shares of the elements that a cleanup removes")
	}
	if name == "btree" {
		f.StringSliceVar(&paths, "path", bench.Paths.Names(), "that batches of updates take")
		f.Float64SliceVar(&o.Fills, "fill", []float64{0}, "share of its slots that a node gets of a bulk build; 0: 8 of 15")
		f.IntSliceVar(&o.Tiles, "tile", []int{0}, "lanes that work on a node; 0: what measured best for each kernel")
		f.BoolVar(&o.Statuses, "statuses", false, "ask for the status of each batched update, too")
	}
	f.StringSliceVar(&lookups, "lookup", []string{"auto"}, "how keys are looked up: "+strings.Join(bench.LookupOrders.Names(), ", "))
	f.IntSliceVar(&o.Lengths, "length", []int{8}, "pairs expected in a range that is counted or listed")
	commonFlags(f, &o.Common)
	out.flags(c)
	return c
}
