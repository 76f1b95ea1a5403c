package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/vk"
)

func newDumpCommand(g *global) *cobra.Command {
	var s source
	var x dump
	c := &cobra.Command{
		Use:   "dump DICT-or-TABLE [-o FILE]",
		Short: "Print all pairs in the order of their keys, or write them to a file",
		Long: `Dump prints all pairs of a saved dictionary or a table, or with -o writes them
to a file. Pairs come in the order of their keys; if keys are text, in the order
in which they first came. --output-format names the format, else the file's
ending:
  csv      a line of names, then a pair a line (.csv, .txt, .dat, no ending, and
           standard output)
  jsonl    one JSON object a line (.jsonl, .ndjson)
  parquet  Parquet (.parquet, .pq)
  arrow    Arrow IPC, the file format (.arrow, .feather, .ipc)
  arrows   Arrow IPC, the stream format, for pipes (.arrows)

The columns are named key and value. In Parquet and Arrow, u32, u64, hex and ip
become unsigned integers, times timestamps, and texts strings.

` + orderedHelp + sourceHelp,
		Example: `  vkds dump airports.vkds | head
  vkds dump airports.vkds -o airports.parquet
  vkds dump events.csv --key-type time --output-format arrows | ./report.py`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return x.run(c.Context(), g, &s, arguments[0])
		},
	}
	flags := c.Flags()
	flags.StringVarP(&x.output, "output", "o", input.Stdin, "`file` to write; \"-\" is standard output")
	flags.Var(choice[dumpFormat]{&x.format, parseDumpFormat, dumpFormats[:], strings.Join(dumpFormats[:], "|")},
		"output-format", "output format; auto: by the file's ending")
	x.rows.add(flags, pairColumns...)
	s.add(c, "dump")
	return c
}

// dump holds the command's flags.
type dump struct {
	output string
	format dumpFormat
	rows   rowFlags
}

// check sets the format if the user left it open, and returns an error if the output can't be written in it.
func (x *dump) check(g *global, file string) (err error) {
	if err := checkOutput(x.output, file); err != nil {
		return err
	}
	switch {
	case x.rows.json:
		x.format = dumpLines
	case x.format == byEnding && x.output == input.Stdin:
		x.format = dumpCSV
	case x.format == byEnding:
		x.format, err = formatOf(x.output)
	case x.format.columnar() && x.output == input.Stdin && g.terminal(g.out):
		err = fmt.Errorf("standard output is a terminal, and %s is not text: -o names a file", x.format)
	}
	if err == nil && x.format.columnar() && x.output != input.Stdin {
		err = outfile.CheckBinary(x.output)
	}
	return err
}

func (x *dump) run(ctx context.Context, g *global, s *source, path string) error {
	if err := x.check(g, path); err != nil { // now rather than after the work
		return err
	}
	return s.use(ctx, g, path, func(_ *vk.Device, dict *dictionary) error {
		return g.writeTo(ctx, x.output, func(to io.Writer) error { return x.write(ctx, g, dict, to) })
	})
}

// write writes the pairs part by part, as they come from the device.
func (x *dump) write(ctx context.Context, g *global, dict *dictionary, to io.Writer) error {
	started := time.Now()
	table, err := newPairTable(to, x.format, dict)
	if err != nil {
		return err
	}
	wanted := min(x.rows.left, dict.pairs)
	show, end := func(int64, int64) {}, func() {}
	progress := g.progress
	if x.output == input.Stdin {
		progress = g.progressBeside
	}
	if at, ended := progress("writing"); at != nil {
		show, end = at, ended
	}
	written := uint64(0)
	for pairs, failed := range dict.Chunks(ctx) {
		n := min(uint64(len(pairs.Keys)), wanted-written)
		if err = cmp.Or(failed, table.write(pairs.Keys[:n], pairs.Values[:n]), ctx.Err()); err != nil {
			break
		}
		written += n
		show(int64(written), int64(wanted))
		if written == wanted {
			break
		}
	}
	end()
	if err != nil {
		return err
	}
	if err := table.end(); err != nil {
		return err
	}
	g.note("wrote %s", rate(written, "pairs", time.Since(started)))
	return nil
}

// dumpFormat is a format of the output.
type dumpFormat uint8

const (
	byEnding dumpFormat = iota
	dumpCSV
	dumpLines
	dumpParquet
	dumpArrow
	dumpStream
)

var dumpFormats = [...]string{byEnding: "auto", dumpCSV: "csv", dumpLines: "jsonl", dumpParquet: "parquet",
	dumpArrow: "arrow", dumpStream: "arrows"}

func (f dumpFormat) String() string { return dumpFormats[f] }

func parseDumpFormat(name string) (dumpFormat, error) {
	if i := slices.Index(dumpFormats[:], name); i >= 0 {
		return dumpFormat(i), nil
	}
	return 0, fmt.Errorf("unknown format %q (known: %s)", name, strings.Join(dumpFormats[:], ", "))
}

// formatOf returns the format that the ending of a file's name stands for.
func formatOf(path string) (dumpFormat, error) {
	ending := strings.ToLower(filepath.Ext(path))
	switch ending {
	case "", ".csv", ".txt", ".dat":
		return dumpCSV, nil
	case ".jsonl", ".ndjson":
		return dumpLines, nil
	case ".parquet", ".pq":
		return dumpParquet, nil
	case ".arrow", ".feather", ".ipc":
		return dumpArrow, nil
	case ".arrows":
		return dumpStream, nil
	}
	return byEnding, fmt.Errorf("%s: no format has the ending %s: --output-format says which it is to be (%s)", path,
		ending, strings.Join(dumpFormats[1:], ", "))
}

// columnar reports whether a format is Parquet or Arrow, and so not text.
func (f dumpFormat) columnar() bool { return f >= dumpParquet }

// pairTable is a table of pairs that is being written.
type pairTable struct {
	write func(keys, values []uint64) error
	end   func() error
}

func newPairTable(to io.Writer, f dumpFormat, dict *dictionary) (pairTable, error) {
	if !f.columnar() {
		a := newAnswer(to, rowFlags{json: f == dumpLines, left: math.MaxUint64}, pairColumns...)
		return pairTable{
			write: func(keys, values []uint64) error { return a.pairs(dict, keys, values) },
			end:   func() error { return a.end(nil) },
		}, nil
	}
	format := map[dumpFormat]outfile.Format{dumpParquet: outfile.Parquet, dumpArrow: outfile.Arrow,
		dumpStream: outfile.ArrowStream}[f]
	out := bufio.NewWriterSize(to, outputBytes)
	w, err := outfile.NewWriter(out, format, outfile.Columns{Key: dict.key, Value: dict.value,
		KeyTexts: dict.keys().texts, ValueTexts: dict.values().texts})
	if err != nil {
		return pairTable{}, err
	}
	return pairTable{write: w.Write, end: func() error { return cmp.Or(w.Close(), out.Flush()) }}, nil
}
