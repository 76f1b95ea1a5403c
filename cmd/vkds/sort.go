package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
)

func newSortCommand(g *global) *cobra.Command {
	s := &sorting{tables: tables{global: g}}
	c := &cobra.Command{
		Use:   "sort FILE... --by COLUMN[,COLUMN...]",
		Short: "Sort the rows of a table",
		Long: `Sort reads a table (CSV, Parquet, Arrow) and prints its rows in the order of the --by
columns: by the first of them, rows that are equal there by the second, and so on.
Rows that are equal in all of them stay in the order of the files. Several files are
read as one table, and must have the same columns. "-" is standard input.

Numbers are ordered by value, and text by its bytes. --type says that a column is
text or of another type. Rows without a value in a --by column come last, also if the
order is descending: those with an empty field, NULL or NA in a column of numbers, or
a null of Parquet or Arrow. In a column of text, an empty field is a value like others.

Fields of CSV are printed as they are in the file, and with --json they are strings.

The file may be larger than memory. If its rows need more than --memory, sorted parts
of it go to temporary files, in $TMPDIR or else the system's folder for them, and are
merged. Reading takes more memory: some hundred bytes for each of the rows that are
read at a time, up to 1,048,576. Sorting runs on all cores and not on the GPU, because
most of the time is reading and writing.`,
		Example: `  vkds sort orders.csv --by price --descending price
  vkds sort flights.parquet --by carrier,delay --columns carrier,flight,delay
  vkds sort access.csv --by address --type address=ip --memory 8GiB`,
		Args: takes("FILES", 1, math.MaxInt),
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := s.begin(c.Flags(), arguments...); err != nil {
				return err
			}
			if err := s.choose(); err != nil {
				return err
			}
			defer s.runs.close()
			return s.answer(c.Context(), arguments)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&s.by, "by", nil, "sort by these `columns`, by name or by number from 1")
	flags.StringSliceVar(&s.descending, "descending", nil, "the greatest values of these --by `columns` come first")
	flags.StringSliceVar(&s.options.Verbatim, "columns", nil, "print these `columns` (default: all)")
	s.addMemory(flags, "rows")
	s.addFlags(flags)
	s.rows.add(flags, "COLUMN", "COLUMN")
	_ = c.MarkFlagRequired("by") // it exists
	return c
}

// sorting is a run of the command.
type sorting struct {
	tables
	by, descending []string
	rows           rowFlags
	columns        []input.Column
	runs           sortedRuns
	titles         []string
	spilled        int   // runs
	done           int64 // rows
}

// choose settles what is read.
func (s *sorting) choose() error {
	if err := checkBy(s.by); err != nil {
		return err
	}
	for i, name := range s.by {
		s.keys = append(s.keys, i)
		s.columns = append(s.columns, columnOf(name))
		s.runs.order = append(s.runs.order, slices.Contains(s.descending, name))
	}
	for _, name := range s.descending {
		if !slices.Contains(s.by, name) {
			return fmt.Errorf("--descending %s: it is not one of the --by columns", name)
		}
	}
	if slices.Contains(s.options.Verbatim, "") {
		return fmt.Errorf("--columns %s: a column has no name", strings.Join(s.options.Verbatim, ","))
	}
	s.options.All = len(s.options.Verbatim) == 0
	s.options.Records = s.options.All && !s.rows.json
	return s.setTypes(s.columns)
}

// answer reads the table and prints its rows.
func (s *sorting) answer(ctx context.Context, paths []string) error {
	started := time.Now()
	err := s.readWhole(ctx, paths, "sorting", s.columns, func() bool {
		s.runs.close()
		s.runs.last, s.titles, s.spilled, s.done = newSortRun(len(s.by)), nil, 0, 0
		return true
	}, func(r *rows) error { return s.add(ctx, r) })
	if err == nil && s.done == 0 {
		err = allSkipped(called(paths[0]), s.skipped, 0)
	}
	if err != nil {
		return err
	}
	if s.titles == nil { // there are no rows
		if s.titles = s.names[min(len(s.by), len(s.names)):]; len(s.titles) == 0 {
			s.titles = s.by
		}
	}
	a := newAnswer(s.out, s.rows, s.titles...)
	if err := a.end(s.runs.print(ctx, a)); err != nil {
		return err
	}
	note := "sorted " + rate(s.done, "rows", time.Since(started))
	if s.spilled > 0 {
		note += "; " + plural(int64(s.spilled), "temporary file")
	}
	note += andSkipped(s.skipped)
	s.note("%s", note)
	return nil
}

// add adds rows. If they are too many for the memory, they go to a file.
func (s *sorting) add(ctx context.Context, r *rows) error {
	titles := s.by
	if len(r.names) > len(s.by) {
		titles = r.names[len(s.by):]
	}
	if s.titles != nil {
		if err := sameColumns(r.file, titles, "file", s.titles); err != nil {
			return err
		}
	}
	s.titles = titles
	s.runs.last.add(r, s.rows.members(titles))
	if s.done += int64(r.n); s.runs.last.bytes() < s.memory {
		return nil
	}
	s.spilled++
	return s.runs.spill(ctx)
}
