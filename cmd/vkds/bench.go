package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/vk"
)

func newBenchCommand(g *global) *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure a structure or a bulk operation, and check the results",
		Args:  cobra.NoArgs,
	}
	for _, b := range bench.Benchmarks {
		c.AddCommand(newBenchmarkCommand(g, b.Name, b.About, b.Example))
	}
	return c
}

func newBenchmarkCommand(g *global, name, of, example string) *cobra.Command {
	var o bench.Options
	var jsonFile, kernelsFile string
	var ops, names []string
	for _, op := range bench.Ops(name) {
		mark := ' '
		if op.Default {
			mark = '*'
		}
		ops, names = append(ops, fmt.Sprintf("%c %-17s %s", mark, op.Name, op.About)), append(names, op.Name)
	}
	c := &cobra.Command{
		Use:   name,
		Short: "Measure " + of,
		Long: "Measure " + of + ".\n\nThroughput is measured by the device's own timestamps, and by wall time.\n" +
			"The output has the format of Go's benchmarks, a line per run, which benchstat\n" +
			"summarizes and compares.\n\n" +
			"Operations (those with * are measured unless --op names others):\n" + strings.Join(ops, "\n") +
			"\n\nEach operation is measured with each combination of the flags' values.",
		Example: example,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Axes = axesOf(name, c.Flags())
			err := cmp.Or(bench.Check(name, o), checkInputs(cmp.Or(jsonFile, "-"), o.Axes["file"]...),
				checkReports(jsonFile, kernelsFile))
			if err != nil {
				return err
			}
			return runBench(c.Context(), g, name, o, jsonFile, kernelsFile)
		},
	}
	f := c.Flags()
	for _, x := range bench.AxesOf(name) {
		f.StringSlice(x.Name, strings.FieldsFunc(x.Default, func(r rune) bool { return r == ',' }), x.Usage)
		if x.Values != nil {
			_ = f.SetAnnotation(x.Name, valuesOf, x.Values) // the flag exists
		}
	}
	f.StringSliceVar(&o.Ops, "op", nil, "operations to measure (default: those with *)")
	_ = f.SetAnnotation("op", valuesOf, names) // the flag exists
	f.IntVar(&o.Repeat, "repeat", 5, "how many runs to measure")
	f.Uint32Var(&o.Seed, "seed", 0, "seed of the random keys; 0: a new one")
	f.DurationVar(
		&o.WarmUp, "warm-up", 0, "time to do the same work before measuring it\n(0: 0.5 s, on a CPU device one run)")
	f.StringVar(&jsonFile, "json", "", "write all figures, with each run's time, to a JSON `file`")
	f.StringVar(&kernelsFile, "kernels", "",
		"write what the driver reports of each kernel, such as its\nregisters and memory, to a JSON `file`")
	return c
}

// axesOf returns the values of those flags of axes that were given.
func axesOf(name string, f *pflag.FlagSet) map[string][]string {
	axes := map[string][]string{}
	for _, x := range bench.AxesOf(name) {
		if f.Changed(x.Name) {
			axes[x.Name], _ = f.GetStringSlice(x.Name)
		}
	}
	return axes
}

// runBench opens the device and measures. It prints each measurement as soon as it is made. If there is an error, the
// reports have the measurements before it.
func runBench(ctx context.Context, g *global, name string, o bench.Options, jsonFile, kernelsFile string) error {
	var lock sync.Mutex
	reported := []vk.KernelReport{}
	var onKernel func(vk.KernelReport)
	if kernelsFile != "" {
		onKernel = func(r vk.KernelReport) {
			lock.Lock()
			defer lock.Unlock()
			reported = append(reported, r)
		}
	}
	d, err := g.openTelling(onKernel)
	if err != nil {
		return err
	}
	defer d.Close()
	o.Out = g.out
	report, err := bench.Run(ctx, d, name, o)
	if len(report.Measurements) == 0 && err != nil {
		return err
	}
	return cmp.Or(err, writeJSON(jsonFile, report), writeJSON(kernelsFile, reported))
}

// checkReports returns the error of report files that can't be written, before time is spent on measuring.
func checkReports(json, kernels string) error {
	for _, path := range []string{json, kernels} {
		if path == "" {
			continue
		}
		if err := outfile.Check(path); err != nil {
			return err
		}
	}
	if json == "" || kernels == "" {
		return nil
	}
	a, err := filepath.Abs(json)
	b, errB := filepath.Abs(kernels)
	if err == nil && errB == nil && a == b {
		return fmt.Errorf("--json and --kernels are the same file, %s", json)
	}
	return cmp.Or(err, errB, distinct(json, kernels))
}

// writeJSON writes a report to a file, even if the measurement was interrupted. If path is "", it writes none.
func writeJSON(path string, report any) error {
	if path == "" {
		return nil
	}
	text, err := json.MarshalIndent(report, "", " ")
	if err != nil {
		return err
	}
	return outfile.Replace(context.Background(), path, append(text, '\n'))
}
