package main

import (
	"context"
	"errors"
	"fmt"
	"math"
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
in 64 bits, in the order of the rows. A mean of integers is rounded once.

Rows without a value in a --by column (an empty field, NULL or NA in a column of
numbers, or a null of Parquet or Arrow) are a group, which comes last. In other
columns such fields are ignored; the result of a group without values is empty.
--count counts all rows.

The file is read in parts, so it may be larger than memory, but the groups must fit
in the host's memory. Grouping runs on all cores and not on the GPU, because most of
the time is reading.

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
	flags.SortFlags = false
	flags.StringSliceVar(&q.names, "by", nil, "group by these `columns`, by name or by number from 1")
	flags.Var(aggregateFlag{q, functionCount}, "count", "count the rows of each group")
	flags.Lookup("count").NoOptDefVal = "true"
	flags.Var(aggregateFlag{q, functionSum}, "sum", "print the sums of these columns")
	flags.Var(aggregateFlag{q, functionMean}, "mean", "print the means of these columns")
	flags.Var(aggregateFlag{q, functionMin}, "min", "print the least values of these columns")
	flags.Var(aggregateFlag{q, functionMax}, "max", "print the greatest values of these columns")
	flags.Var(aggregateFlag{q, functionDistinct}, "distinct", "count the different values of these columns")
	flags.IntVar(&q.top, "top", 0, "print only the `N` groups with the greatest first result")
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
	flags.SortFlags = false
	flags.StringSliceVar(&q.names, "by", nil, "print these `columns`, by name or by number from 1")
	q.addFlags(flags)
	q.rows.add(flags, "COLUMN")
	_ = c.MarkFlagRequired("by") // it exists
	return c
}

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
	*groupBy
	done int64 // rows
}

// aggregateFlag asks for a function of some columns. Flags are set in the order in which they stand.
type aggregateFlag struct {
	q  *grouping
	of function
}

func (f aggregateFlag) Type() string {
	if f.of == functionCount {
		return "bool" // it has no value
	}
	return "columns"
}

func (f aggregateFlag) String() string { return "" }

var functionNames = [...]string{functionCount: "count", functionSum: "sum", functionMin: "min", functionMax: "max",
	functionMean: "mean", functionDistinct: "distinct", functionOnly: "only"}

func (f aggregateFlag) Set(columns string) error {
	if f.of == functionCount {
		f.q.asked = append(f.q.asked, aggregate{function: functionCount, name: "count"})
		return nil
	}
	for _, name := range strings.Split(columns, ",") {
		if name == "" {
			return errors.New("a column has no name")
		}
		f.q.asked = append(f.q.asked, aggregate{f.of, f.q.column(name), functionNames[f.of] + "(" + name + ")"})
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
	var by []int
	for _, name := range q.names {
		column := q.column(name)
		switch {
		case name == "":
			return fmt.Errorf("--by %s: a column has no name", strings.Join(q.names, ","))
		case slices.Contains(by, column):
			return fmt.Errorf("--by %s: column %s is given twice", strings.Join(q.names, ","), name)
		}
		by = append(by, column)
	}
	q.groupBy, q.keys = newGroupBy(by, q.asked), by
	return q.setTypes(q.columns)
}

// answer reads the table and prints the groups.
func (q *grouping) answer(ctx context.Context, paths []string) error {
	started := time.Now()
	err := q.readWhole(ctx, paths, "grouping", q.columns, func() bool {
		q.groupBy, q.done = newGroupBy(q.groupBy.by, q.asked), 0
		return true
	}, func(r *rows) error {
		if q.merging {
			if err := q.askMerged(r); err != nil {
				return err
			}
		}
		for _, v := range q.asked {
			if err := v.check(r.types[v.column], r.file); err != nil {
				return err
			}
		}
		q.add(r)
		q.done += int64(r.n)
		return nil
	})
	if err == nil && q.done == 0 {
		err = allSkipped(called(paths[0]), q.skipped, 0)
	}
	if err != nil {
		return err
	}
	note := fmt.Sprintf("grouped %s on %d cores; %s", rate(q.done, "rows", time.Since(started)), len(q.parts),
		plural(int64(q.len()), "group"))
	if q.skipped > 0 {
		note += fmt.Sprintf("; %s skipped", grouped(q.skipped))
	}
	q.note("%s", note)
	return q.print(ctx)
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

// print prints the groups.
func (q *grouping) print(ctx context.Context) error {
	titles := slices.Clone(q.names)
	for _, v := range q.asked {
		titles = append(titles, v.name)
	}
	a := newAnswer(q.out, q.rows, titles...)
	all, results, err := q.results(ctx)
	if err != nil {
		return err
	}
	return a.end(a.rows(len(all), func(r *row, i int) {
		one := all[i]
		for c, column := range q.groupBy.by {
			r.wordIf(shown{q.types[column], one.texts[c]}, one.words[c][one.n], !one.nulls[c][one.n])
		}
		for v, of := range q.asked {
			switch x := results[i][v]; {
			case of.function == functionCount || of.function == functionDistinct:
				r.number(x.count)
			case of.function == functionMean && !x.null:
				r.fraction(x.mean, 64)
			default:
				r.wordIf(shown{Type: x.value.Type}, x.value.Word, !x.null)
			}
		}
	}))
}

// results returns the groups in the order in which they are printed, with what they have.
func (q *grouping) results(ctx context.Context) (all []oneGroup, results [][]result, err error) {
	all = q.inOrder()
	results = make([][]result, len(all))
	some := make([]result, len(all)*len(q.asked))
	for i, one := range all {
		results[i] = some[i*len(q.asked):][:len(q.asked)]
		for v := range q.asked {
			if results[i][v], err = one.values[v].result(one.n, q.types); err != nil {
				return nil, nil, err
			}
		}
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
	}
	if q.top == 0 {
		return all, results, nil
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return results[j][0].compare(results[i][0]) })
	best, bestResults := []oneGroup{}, [][]result{}
	for _, i := range order[:min(q.top, len(order))] {
		best, bestResults = append(best, all[i]), append(bestResults, results[i])
	}
	return best, bestResults, nil
}
