package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/bench"
	"github.com/vkds/vkds/vk"
)

func newBenchPrimitiveCommand(g *global, name, short string) *cobra.Command {
	var o bench.PrimitiveOptions
	var sizes []int
	var orders, forms []string
	var out reportFiles
	c := &cobra.Command{
		Use:     name,
		Short:   short,
		Long:    throughputHelp("bulk operations ("+name+")", name),
		Example: "  vkds bench " + name + " --n 20,22,24,26 --csv figures.csv --plot figures.png",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if o.Sizes, err = sizesOf("n", sizes); err != nil {
				return err
			}
			if o.Orders, err = parseAll("order", orders, bench.Orders.Parse); err != nil {
				return err
			}
			if o.Forms, err = parseAll("form", forms, bench.Forms.Parse); err != nil {
				return err
			}
			return runBench(c, g, &out, func(ctx context.Context, d *vk.Device, progress func(done, total int, what string)) (bench.Report, error) {
				o.Progress = progress
				return bench.Primitive(ctx, d, name, o)
			})
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.Ops, "op", nil, "operations to measure (default: those marked above)")
	f.IntSliceVar(&sizes, "n", []int{20}, "elements; 6 to 30: that power of two")
	if name == "sort" {
		f.StringSliceVar(&orders, "order", []string{"random"}, "of the keys:\n"+strings.Join(bench.Orders.Names(), ", "))
	}
	if name != "merge" { // which has one
		f.StringSliceVar(&forms, "form", []string{"auto"}, "of operations that have two: "+strings.Join(bench.Forms.Names(), ", "))
	}
	commonFlags(f, &o.Common)
	out.flags(c)
	return c
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
