package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

func newMergeCommand(g *global) *cobra.Command {
	q := &grouping{tables: tables{global: g}, merging: true}
	c := &cobra.Command{
		Use:   "merge FILE... --by COLUMN[,COLUMN...]",
		Short: "Merge the answers of several runs of group or distinct",
		Long: `Merge reads answers of "vkds group" or "vkds distinct" (CSV) and prints the answer for all
of their rows together. The answers have the same columns, and were made of different
files (each process has its part of the files), or by different parts of --partition.

Counts and sums are added; of the least values it prints the least, and of the greatest
the greatest. Means and numbers of different values can't be merged if a group is in
several answers. Then use --partition, by which each group is in one, or ask for --sum
and --count instead of --mean.

Types are guessed as for other tables. Give --type for each column for which the runs
had it, or which they took for text: "1.0" and "1.00" are one number, but two texts.

Answers of "vkds sort" are merged by "vkds sort" with the same --by. Those of "vkds join"
have no order in common; print them one after the other.`,
		Example: `  for i in 1 2 3 4; do
    vkds group orders.csv --by customer --sum price --partition $i/4 >part$i.csv &
  done; wait
  vkds merge part*.csv --by customer`,
		Args: takes("FILES", 1, math.MaxInt),
		RunE: func(c *cobra.Command, arguments []string) error {
			q.options.All, q.options.As = true, q.as
			q.text.header = true
			return q.run(c, arguments)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&q.names, "by", nil, "the --by `columns` of the answers")
	flags.IntVar(&q.top, "top", 0, "print only the `N` groups with the greatest first result")
	q.addMemory(flags, "groups")
	flags.StringArrayVar(&q.said, "type", nil, "`COLUMN=TYPE`: "+typeHelp+
		"\n(may be given for several columns)")
	q.rows.add(flags, "COLUMN", "sum(COLUMN)")
	_ = c.MarkFlagRequired("by") // it exists
	return c
}

// mergedFunctions are what becomes of the results of several answers.
var mergedFunctions = map[function]function{functionCount: functionSum, functionSum: functionSum,
	functionMin: functionMin, functionMax: functionMax, functionMean: functionOnly, functionDistinct: functionOnly}

// as is the type of a result in an answer.
func (q *grouping) as(title string, _ int) input.Column {
	c := columnOf(title)
	if f, is := resultOf(title); is && f == functionMean || slices.Contains(q.fractions, title) {
		c.Type, c.Wider, c.Any = keytype.Float64, nil, false
	}
	for _, said := range q.said {
		name, of, _ := strings.Cut(said, "=")
		if typ, err := keytype.Types.Parse(of); err == nil && name == title {
			c.Type, c.Wider, c.Any = typ, typ.Wider(), false
		}
	}
	return c
}

// checkTitles returns an error if an answer has other columns than those before it.
func (q *grouping) checkTitles(r *rows) error {
	titles := r.names[len(q.columns):]
	if !q.merging {
		return nil
	}
	return sameColumns(r.file, titles, "answer", q.titles)
}

// askMerged asks for the results that an answer has. The rows have the --by columns and then all columns of the answer.
func (q *grouping) askMerged(r *rows) error {
	titles := r.names[len(q.names):]
	q.titles, q.asked = titles, nil
	for i, title := range titles {
		f, is := resultOf(title)
		switch {
		case q.isBy(title, i):
		case !is:
			return fmt.Errorf("%s: column %s is neither a --by column nor a result of vkds group", r.file, title)
		default:
			q.asked = append(q.asked, aggregate{mergedFunctions[f], len(q.names) + i, title})
		}
	}
	for _, said := range q.said {
		if name, _, _ := strings.Cut(said, "="); !slices.Contains(titles, name) && !slices.Contains(q.names, name) {
			return fmt.Errorf("--type %s: column %s is not read", said, name)
		}
	}
	if q.top > 0 && len(q.asked) == 0 {
		return fmt.Errorf("--top: %s has no results", r.file)
	}
	return nil
}

// resultOf returns the function whose results a column of an answer has.
func resultOf(title string) (f function, is bool) {
	name, _, _ := strings.Cut(title, "(")
	at := slices.Index(functionNames[:], name)
	return function(at), at >= 0 && (name == title) == (function(at) == functionCount)
}

// isBy reports whether a column of an answer, at an index from 0, is a --by column.
func (q *grouping) isBy(title string, place int) bool {
	return slices.ContainsFunc(q.names, func(name string) bool {
		return strings.EqualFold(name, title) || name == strconv.Itoa(place+1)
	})
}
