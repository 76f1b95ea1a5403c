package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
		Long: `Dump prints all pairs of a saved dictionary or a table, in the order of their keys (of
text, in which they came), or with -o writes them to a file. The file's ending says what it becomes, unless
--output-format does:
  csv      a line of names, then a pair a line (.csv, .txt, .dat, no ending, and
           standard output)
  jsonl    one JSON object a line (.jsonl, .ndjson)
  parquet  Parquet (.parquet, .pq)
  arrow    Arrow IPC, its file format (.arrow, .feather, .ipc)
  arrows   Arrow IPC, its stream format, for pipes (.arrows)
The columns are called key and value, and have the types of what they hold: u32, u64,
hex and ip are unsigned integers in Parquet and Arrow, times are timestamps, text is
strings.

` + orderedHelp + sourceHelp,
		Example: `  vkds dump airports.vkds | head
  vkds dump airports.vkds -o airports.parquet
  vkds dump events.csv --key-type time --output-format arrows | python3 report.py`,
		Args: takes("one DICT or TABLE", 1, 1),
		RunE: func(c *cobra.Command, arguments []string) error {
			return x.run(c.Context(), g, &s, arguments[0])
		},
	}
	flags := c.Flags()
	flags.SortFlags = false
	flags.StringVarP(&x.output, "output", "o", input.Stdin, "`file` to write; \"-\" is standard output")
	flags.Var(choice[dumpFormat]{&x.format, parseDumpFormat, dumpFormats[:], strings.Join(dumpFormats[:], "|")},
		"output-format", "what is written; auto: by the file's ending")
	x.rows.add(flags, pairColumns...)
	s.add(c, "dump")
	return c
}

// dump is what the command's flags say.
type dump struct {
	output string
	format dumpFormat
	rows   rowFlags
}

// check completes the format, and refuses outputs that will not do.
func (x *dump) check(g *global, file string) (err error) {
	if x.output != input.Stdin {
		err = outfile.Check(x.output)
	}
	if err := cmp.Or(err, checkInputs(x.output, file)); err != nil {
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
		err = fmt.Errorf("standard output is a terminal, and %s is no text: -o names a file", x.format)
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
		if x.output == input.Stdin {
			return x.write(ctx, g, dict, g.out)
		}
		f, err := outfile.Create(ctx, x.output)
		if err != nil {
			return err
		}
		defer f.Abort() // unless it is committed
		if err := x.write(ctx, g, dict, f); err != nil {
			return err
		}
		return f.Commit()
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
