package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

func newGroupCommand(g *global) *cobra.Command {
	q := &grouping{tables: tables{global: g}}
	c := &cobra.Command{
		Use:   "group FILE... --by COLUMN[,COLUMN...]",
		Short: "Group the rows of a table, and sum, count or compare the values of each group",
		Long: `Group reads a table (CSV, Parquet, Arrow) and prints one row for each different value
of the --by columns, or each combination if there are several. Flags say what is
computed for each group; without them it is the number of rows. Rows are ordered by
the --by columns. With --top they are ordered by the first result, the greatest
first. Several files are read as one table. "-" is standard input.

Sums of integers are exact. A sum of more than 64 bits is an error. Floats are added
in 64 bits, in the order of the rows; a sum that is too large or not a number is an
error. A mean of integers is rounded once.

Rows without a value in a --by column are a group, which comes last: those with an
empty field, NULL or NA in a column of numbers, or a null of Parquet or Arrow. In a
column of text, an empty field is a value like others.

Results ignore rows without a value in their column; the result of a group without
values is empty. --count counts all rows.

The file is read in parts, so it may be larger than memory. If the groups need more
than --memory, rows of further groups wait in temporary files, in $TMPDIR or else the
system's folder for them. Grouping runs on all cores and not on the GPU, because most
of the time is reading.

To divide a job among processes or machines, give each one its part of the groups by
--partition, or its part of the files. "vkds merge" makes one answer of theirs.`,
		Example: `  vkds group orders.csv --by customer --sum price --mean price
  vkds group flights.parquet --by carrier,year --count --min delay --max delay
  vkds group access.csv --by path --distinct address --top 20
  vkds group orders.csv --by zip --type zip=text --sum price --json`,
		Args: takes("FILES", 1, math.MaxInt),
		RunE: func(c *cobra.Command, arguments []string) error {
			if len(q.asked) == 0 {
				q.asked = []aggregate{{function: functionCount, name: "count"}}
			}
			return q.run(c, arguments)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&q.names, "by", nil, "group by these `columns`, by name or by number from 1")
	for _, x := range []struct {
		of          function
		kind, usage string
	}{
		{functionCount, "bool", "count the rows of each group"}, // it has no value
		{functionSum, "columns", "print the sums of these columns"},
		{functionMean, "columns", "print the means of these columns"},
		{functionMin, "columns", "print the least values of these columns"},
		{functionMax, "columns", "print the greatest values of these columns"},
		{functionDistinct, "columns", "count the different values of these columns"},
	} {
		ask := func(columns string) error { return q.ask(x.of, columns) }
		flags.Var(&said{kind: x.kind, set: ask}, functionNames[x.of], x.usage)
	}
	flags.Lookup("count").NoOptDefVal = "true"
	flags.IntVar(&q.top, "top", 0, "print only the `N` groups with the greatest first result")
	q.addMemory(flags, "groups")
	q.addFlags(flags)
	q.rows.add(flags, "COLUMN", "sum(COLUMN)")
	_ = c.MarkFlagRequired("by") // it exists
	return c
}

func newDistinctCommand(g *global) *cobra.Command {
	q := &grouping{tables: tables{global: g}}
	c := &cobra.Command{
		Use:   "distinct FILE... --by COLUMN[,COLUMN...]",
		Short: "Print the different values of some columns of a table",
		Long: `Distinct reads a table (CSV, Parquet, Arrow) and prints each different value of the --by
columns once, or each combination if there are several, in their order. Several files
are read as one table. "-" is standard input.

It is "vkds group" without results, and its help tells about rows without a value, and
about memory. "vkds tally" also counts how often each value occurs.`,
		Example: `  vkds distinct orders.csv --by customer
  vkds distinct flights.parquet --by carrier,year --json`,
		Args: takes("FILES", 1, math.MaxInt),
		RunE: func(c *cobra.Command, arguments []string) error { return q.run(c, arguments) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&q.names, "by", nil, "print these `columns`, by name or by number from 1")
	q.addMemory(flags, "values")
	q.addFlags(flags)
	q.rows.add(flags, "COLUMN")
	_ = c.MarkFlagRequired("by") // it exists
	return c
}

var errManyDistinct = errors.New("the different values that --distinct counts need more than twice --memory: " +
	"give more, or do the job in parts (--partition)")

// grouping is a run of the command, or of distinct or merge.
type grouping struct {
	tables
	names   []string // of the --by columns
	asked   []aggregate
	top     int
	columns []input.Column
	rows    rowFlags
	merging bool
	titles  []string // of the answers that are merged; nil: not known yet
	done    int64    // rows
	groups  int64
	spilled bool // some rows were in temporary files
	runs    sortedRuns
	best    []topGroup
}

var functionNames = [...]string{functionCount: "count", functionSum: "sum", functionMin: "min", functionMax: "max",
	functionMean: "mean", functionDistinct: "distinct", functionOnly: "only"}

// ask asks for a function of some columns. Flags are set in the order in which they stand.
func (q *grouping) ask(of function, columns string) error {
	if of == functionCount {
		q.asked = append(q.asked, aggregate{function: functionCount, name: "count"})
		return nil
	}
	for _, name := range strings.Split(columns, ",") {
		if name == "" {
			return errors.New("a column has no name")
		}
		q.asked = append(q.asked, aggregate{of, q.column(name), functionNames[of] + "(" + name + ")"})
	}
	return nil
}

// column returns the place of a column among those that are read, and adds it if it is not there.
func (q *grouping) column(name string) int {
	for i, c := range q.columns {
		if c.Name == name {
			return i
		}
	}
	q.columns = append(q.columns, columnOf(name))
	return len(q.columns) - 1
}

func (q *grouping) run(c *cobra.Command, paths []string) error {
	if err := q.begin(c.Flags(), paths...); err != nil {
		return err
	}
	if err := q.choose(c.Flags().Changed("top")); err != nil {
		return err
	}
	return q.answer(c.Context(), paths)
}

// choose settles what is read and asked for.
func (q *grouping) choose(top bool) error {
	if top && q.top < 1 {
		return fmt.Errorf("--top %d is less than 1", q.top)
	}
	if err := checkBy(q.names); err != nil {
		return err
	}
	for _, name := range q.names {
		q.keys = append(q.keys, q.column(name))
	}
	q.runs.order = make(rowOrder, len(q.keys))
	return q.setTypes(q.columns)
}

// answer reads the table and prints the groups.
func (q *grouping) answer(ctx context.Context, paths []string) error {
	started := time.Now()
	q.ahead = newDivision()
	l := q.newLevel(q.ahead)
	defer func() {
		l.left.close()
		q.runs.close()
	}()
	err := q.readWhole(ctx, paths, "grouping", q.columns, func() bool {
		l.left.close()
		l, q.done = q.newLevel(q.ahead), 0
		return true
	}, func(r *rows) error {
		if q.merging && q.titles == nil {
			if err := q.askMerged(r); err != nil {
				return err
			}
			l.groupBy = newGroupBy(q.keys, q.asked, q.ahead)
		}
		if err := q.checkTitles(r); err != nil {
			return err
		}
		for _, v := range q.asked {
			if err := v.check(r.types[v.column], r.file); err != nil {
				return err
			}
		}
		q.done += int64(r.n)
		return l.add(r)
	})
	if err == nil && q.done == 0 {
		err = allSkipped(called(paths[0]), q.skipped, 0)
	}
	if err == nil {
		err = l.finish(ctx)
	}
	if err != nil {
		return err
	}
	a := newAnswer(q.out, q.rows, q.columnTitles()...)
	if err := a.end(q.print(ctx, a)); err != nil {
		return err
	}
	note := fmt.Sprintf("grouped %s on %d cores; %s", rate(q.done, "rows", time.Since(started)),
		runtime.GOMAXPROCS(0), plural(q.groups, "group"))
	if q.spilled {
		note += "; some rows were in temporary files"
	}
	note += andSkipped(q.skipped)
	q.note("%s", note)
	return nil
}

// columnTitles returns the titles of the answer's columns.
func (q *grouping) columnTitles() []string {
	titles := slices.Clone(q.names)
	for _, v := range q.asked {
		titles = append(titles, v.name)
	}
	return titles
}

// print prints the groups.
func (q *grouping) print(ctx context.Context, a *answer) error {
	if q.top == 0 {
		return q.runs.print(ctx, a)
	}
	return a.rows(len(q.best), func(out *row, i int) {
		out.text = append(out.text, q.best[i].lines.at(q.best[i].row)...)
	})
}

// check tells of columns that hold nothing of which there is such a function.
func (v aggregate) check(t keytype.Type, path string) error {
	switch {
	case (v.function == functionSum || v.function == functionMean) && !t.Sums():
		return fmt.Errorf("%s: %s needs numbers, and the column holds values of type %s", path, v.name, t)
	case t == keytype.Text && (v.function == functionMin || v.function == functionMax || v.function == functionOnly):
		return fmt.Errorf("%s: %s needs values that have an order, and those of the column are text", path, v.name)
	}
	return nil
}

// level has the groups of some rows, and the rows whose groups have no room.
type level struct {
	*grouping
	*groupBy
	left spill
}

func (q *grouping) newLevel(d division) *level {
	return &level{grouping: q, groupBy: newGroupBy(q.keys, q.asked, d)}
}

// add adds rows.
func (l *level) add(r *rows) error {
	all, seen := l.bytes()
	full := all >= l.memory && l.len() > 0 // each level has some groups, so there is a last one
	if full {
		if seen > 2*l.memory {
			return errManyDistinct
		}
		if r.left == nil {
			r.left = make([]bool, cap(r.hashes))
		}
		clear(r.left)
	}
	l.groupBy.add(r, full)
	if !full {
		return nil
	}
	return l.left.add(r)
}

// finish makes rows of the groups, those that are printed or go to temporary files, and then the same of the rows whose
// groups had no room.
func (l *level) finish(ctx context.Context) error {
	if l.types == nil { // there are no rows
		if l.runs.last == nil {
			l.runs.last = newSortRun(len(l.keys))
		}
		return nil
	}
	l.groups += int64(l.len())
	all := l.all()
	if l.top > 0 {
		var err error
		if all, err = l.greatest(all, l.top); err != nil {
			return err
		}
	}
	run, err := l.groupBy.run(all, l.rows.members(l.columnTitles()))
	if err != nil {
		return err
	}
	if l.top > 0 {
		l.best = l.keepBest(l.groupBy, all, run)
	} else {
		if l.runs.last != nil {
			if err := l.runs.spill(ctx); err != nil {
				return err
			}
		}
		l.runs.last = run
	}
	if l.left.empty() {
		return nil
	}
	l.spilled = true
	waiting := &rows{types: l.types}
	waiting.ready(len(l.types), l.batch(len(l.types)))
	l.groupBy = nil // for the garbage collector
	for part := range l.left.files {
		if err := l.finishPart(ctx, part, waiting); err != nil {
			return err
		}
	}
	return nil
}

// finishPart is finish for the rows in a file.
func (l *level) finishPart(ctx context.Context, part int, waiting *rows) error {
	next := l.newLevel(newDivision()) // by other hashes: in a file those of all rows are alike
	defer func() { next.left.close() }()
	if err := l.left.take(ctx, part, waiting, next.add); err != nil {
		return err
	}
	return next.finish(ctx)
}

// topGroup is one of the groups with the greatest first results.
type topGroup struct {
	result
	*sortRun
	row uint64
}

// keepBest adds groups, whose rows are in a run, to the best ones, and returns the best of all.
func (q *grouping) keepBest(g *groupBy, groups []oneGroup, run *sortRun) []topGroup {
	best := q.best
	for i, one := range groups {
		x, _ := g.parts[one.part].values[0].result(int(one.n), g.types) // run has found that there is one
		if x.sum != nil {
			sum := *x.sum // the other groups can be forgotten
			x.sum = &sum
		}
		best = append(best, topGroup{x, run, uint64(i)})
	}
	slices.SortStableFunc(best, func(a, b topGroup) int {
		if order := b.result.compare(a.result); order != 0 {
			return order
		}
		for c := range q.keys {
			if order := q.runs.order.compare(c, a.types[c], a.cell(c, a.row), b.cell(c, b.row)); order != 0 {
				return order
			}
		}
		return 0
	})
	return best[:min(q.top, len(best))]
}
