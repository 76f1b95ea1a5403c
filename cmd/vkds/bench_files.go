package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/bench"
	"github.com/vkds/vkds/internal/tool/outfile"
)

// reportFiles are the files that a report goes to, beside standard output.
type reportFiles struct {
	csv, json, plot, benchstat string
	kernels                    kernelFile
}

func (r *reportFiles) flags(c *cobra.Command) {
	c.Flags().StringVar(&r.csv, "csv", "", "write the figures to a CSV `file`")
	c.Flags().StringVar(&r.json, "json", "", "write everything, each run's time, to a JSON `file`")
	c.Flags().StringVar(&r.plot, "plot", "", "draw throughput over n, or what the benchmark has beside, to a "+
		"`file`\n(.png, .svg, .pdf)")
	c.Flags().StringVar(&r.benchstat, "benchstat", "",
		"write each run's time in the format of Go's benchmarks to a `file`")
	c.Flags().StringVar(&r.kernels.path, "kernels", "",
		"write what the driver tells of each kernel, its registers and memory, to a CSV `file`")
}

// check finds out what can't be written before time is spent on measuring.
func (r *reportFiles) check() error {
	if r.plot != "" {
		if err := checkPicture(r.plot); err != nil {
			return err
		}
	}
	var seen []string
	for _, path := range []string{r.csv, r.json, r.plot, r.benchstat, r.kernels.path} {
		if path == "" {
			continue
		}
		if err := outfile.Check(path); err != nil {
			return err
		}
		full, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if slices.Contains(seen, full) {
			return fmt.Errorf("%s is the name of two of the files to write", path)
		}
		seen = append(seen, full)
		if err := distinct(path, seen[:len(seen)-1]...); err != nil {
			return err
		}
	}
	return nil
}

func (r *reportFiles) write(report bench.Report) error {
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{r.csv, report.WriteCSV},
		{r.json, report.WriteJSON},
		{r.benchstat, report.WriteBenchstat},
		{r.kernels.path, r.kernels.write},
		{r.plot, func(w io.Writer) error { return report.WritePlot(w, strings.TrimPrefix(filepath.Ext(r.plot), ".")) }},
	} {
		if f.path == "" {
			continue
		}
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return fmt.Errorf("%s: %w", f.path, err)
		}
		// An interrupted measurement is written, too.
		if err := outfile.Replace(context.Background(), f.path, b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
