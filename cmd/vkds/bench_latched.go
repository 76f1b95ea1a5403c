package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/bench"
	"github.com/vkds/vkds/internal/bench/latched"
	"github.com/vkds/vkds/vk"
)

// newBenchLatchedCommand measures the papers' trees.
func newBenchLatchedCommand(g *global) *cobra.Command {
	var o bench.LatchedOptions
	var sizes, batches []int
	var waits, kinds []string
	var out reportFiles
	c := &cobra.Command{
		Use:   "latched",
		Short: "Measure B-trees whose nodes are changed under latches, as two papers have them, beside the B-link-tree of vkds",
		Long: throughputHelp("B-trees whose nodes are changed under latches (Awad et al. 2019; Duong 2021), which vkds has for this alone", "latched") +
			"\n\nEach combination of the flags' values is measured.",
		Example: `  vkds bench latched --op insert --n 22 --batch 22 --wait restart,backoff,spin --kind b+tree,b-link-tree
  vkds bench latched --op insert,insert-batch,find --n 22 --batch 20 --tile 4,8,16,32 --node 128,256
  vkds bench latched --op insert-at-once --n 16 --wait restart,backoff,spin`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.Sizes, err = sizesOf("n", sizes); err != nil {
				return err
			}
			if o.Batches, err = sizesOf("batch", batches); err != nil {
				return err
			}
			if o.Waits, err = parseAll("wait", waits, latched.Waits.Parse); err != nil {
				return err
			}
			if o.Kinds, err = parseAll("kind", kinds, latched.Kinds.Parse); err != nil {
				return err
			}
			return runBench(c, g, &out, func(ctx context.Context, d *vk.Device, progress func(done, total int, what string)) (bench.Report, error) {
				o.Progress = progress
				return bench.Latched(ctx, d, o)
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Ops, "op", nil, "operations to measure (default: those marked above)")
	f.IntSliceVar(&sizes, "n", []int{16}, "pairs; 6 to 30: that power of two")
	f.IntSliceVar(&batches, "batch", []int{14}, "pairs of a batch; 6 to 30: that power of two")
	f.IntSliceVar(&o.Tiles, "tile", nil, "lanes that work on a node, 4 to 32 (default: 16, or the subgroup's where it has fewer)")
	f.IntSliceVar(&o.Nodes, "node", []int{128}, "bytes of a node: 128, 256")
	f.StringSliceVar(&waits, "wait", []string{"restart"}, "what an insertion does that finds a latch taken: "+strings.Join(latched.Waits.Names(), ", "))
	f.StringSliceVar(&kinds, "kind", []string{"b-link-tree"}, "with side links or without: "+strings.Join(latched.Kinds.Names(), ", "))
	commonFlags(f, &o.Common)
	out.flags(c)
	return c
}
