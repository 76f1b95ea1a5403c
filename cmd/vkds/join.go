package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

func newJoinCommand(g *global) *cobra.Command {
	j := &joining{tables: tables{global: g}, runs: sortedRuns{order: make(rowOrder, 1)}}
	c := &cobra.Command{
		Use:   "join LEFT RIGHT --on COLUMN[=COLUMN]",
		Short: "Join the rows of two tables that have the same values in some columns",
		Long: `Join reads two tables (CSV, Parquet, Arrow) and prints a row for each pair of a row of
LEFT and a row of RIGHT with equal values in the --on columns: these values, then the
--left-columns of the one and the --right-columns of the other. --on a=b compares
column a of LEFT with column b of RIGHT. Rows come in the order of LEFT, and those of
one row of LEFT in the order of RIGHT. Either file may be "-", standard input.

  --left    also prints rows of LEFT without a match, with empty right columns
  --semi    prints each row of LEFT that has a match once
  --anti    prints the rows of LEFT that have none

Rows without a value in an --on column match nothing. Integers are equal if they are
the same number, whatever their types.

LEFT is read in parts, and may be larger than memory. RIGHT may be, too: if its rows
need more than --memory, some of them wait in temporary files, in $TMPDIR or else the
system's folder for them, and so do the rows of LEFT that may match them. Rows of
RIGHT that are equal in the --on columns are kept in memory together. Joining runs on
all cores and not on the GPU, because most of the time is reading and writing.`,
		Example: `  vkds join orders.csv customers.csv --on customer=id --right-columns name
  vkds join orders.csv customers.csv --on customer=id --anti --left-columns total
  vkds join a.parquet b.parquet --on year,month --left-columns x --right-columns y`,
		Args: takes("LEFT and RIGHT", 2, 2),
		RunE: func(c *cobra.Command, arguments []string) error {
			if err := j.begin(c.Flags(), arguments...); err != nil {
				return err
			}
			if err := j.choose(); err != nil {
				return err
			}
			return j.answer(c.Context(), arguments[0], arguments[1])
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&j.on, "on", nil, "compare these `columns`, by name or by number from 1;\n"+
		"LEFT=RIGHT if they have two names")
	flags.StringSliceVar(&j.names[0], "left-columns", nil, "print these `columns` of LEFT")
	flags.StringSliceVar(&j.names[1], "right-columns", nil, "print these `columns` of RIGHT")
	flags.BoolVar(&j.left, "left", false, "also print rows of LEFT without a match")
	flags.BoolVar(&j.semi, "semi", false, "print rows of LEFT that have a match, once")
	flags.BoolVar(&j.anti, "anti", false, "print rows of LEFT that have no match")
	j.addMemory(flags, "rows of RIGHT")
	j.addFlags(flags)
	j.rows.add(flags, "COLUMN", "COLUMN")
	c.MarkFlagsMutuallyExclusive("left", "semi", "anti")
	_ = c.MarkFlagRequired("on") // it exists
	return c
}

// joining is a run of the command. Of two columns or tables the left ones come first.
type joining struct {
	tables
	on               []string
	names            [2][]string
	left, semi, anti bool
	rows             rowFlags
	columns          [2][]input.Column // those of on, and then those of names
	extents          []keytype.Extent  // of the --on columns of RIGHT that are no text
	done             [2]int64          // rows that were read
	printed          int64
	runs             sortedRuns // what is printed if rows of RIGHT wait, by the numbers of LEFT's rows
}

// choose settles what is read.
func (j *joining) choose() error {
	for c, on := range j.on {
		j.keys = append(j.keys, c)
		left, right, two := strings.Cut(on, "=")
		if !two {
			right = left
		}
		for side, name := range []string{left, right} {
			j.columns[side] = append(j.columns[side], columnOf(name))
		}
	}
	if len(j.names[1]) > 0 && (j.semi || j.anti) {
		return errors.New("--right-columns: --semi and --anti print rows of LEFT alone")
	}
	for side, names := range j.names {
		for _, name := range names {
			j.columns[side] = append(j.columns[side], columnOf(name))
		}
		for _, c := range j.columns[side] {
			if c.Name == "" {
				return errors.New("a column has no name")
			}
		}
	}
	return j.setTypes(j.columns[:]...)
}

// answer reads both tables and prints the rows.
func (j *joining) answer(ctx context.Context, left, right string) error {
	started := time.Now()
	l, err := j.load(ctx, right)
	defer l.close()
	defer j.runs.close()
	if err != nil {
		return err
	}
	spilled := !l.right.empty()
	a := newAnswer(j.out, j.rows, j.titles()...)
	if err = a.end(j.match(ctx, left, l, a)); err != nil {
		return err
	}
	note := fmt.Sprintf("joined %s and %s in %.3g s; %s", plural(j.done[0], "row"), plural(j.done[1], "row"),
		time.Since(started).Seconds(), plural(j.printed, "row"))
	if spilled {
		note += "; some rows were in temporary files"
	}
	note += andSkipped(j.skipped)
	j.note("%s", note)
	return nil
}

// titles returns the columns of the answer. A column of RIGHT is right.NAME if another one has its name.
func (j *joining) titles() (all []string) {
	for _, c := range j.columns[0] {
		all = append(all, c.Name)
	}
	for _, name := range j.names[1] {
		if slices.Contains(all, name) {
			name = "right." + name
		}
		all = append(all, name)
	}
	return all
}

// load reads RIGHT.
func (j *joining) load(ctx context.Context, path string) (l *joinLevel, err error) {
	l, j.ahead = &joinLevel{}, newDivision()
	return l, j.readWhole(ctx, []string{path}, "loading", j.columns[1], func() bool {
		l.close()
		*l, j.done[1], j.extents = *j.newLevel(j.ahead), 0, make([]keytype.Extent, len(j.on))
		return true
	}, func(r *rows) error {
		j.done[1] += int64(r.n)
		j.extend(r, l.table)
		return l.add(r)
	})
}

// extend adds to extents what rows of RIGHT have, before they are added to the table.
func (j *joining) extend(r *rows, t *joinTable) {
	nulls := slices.ContainsFunc(t.on, func(c int) bool { return r.nulls[c] != nil })
	for c := range j.extents {
		if r.types[c] == keytype.Text {
			continue
		}
		if t.types != nil {
			j.extents[c].Widen(r.types[c], t.types[c])
		}
		if !nulls {
			j.extents[c].Add(r.words[c][:r.n])
			continue
		}
		for i := range r.n {
			if !r.lacks(t.on, i) {
				j.extents[c].Add(r.words[c][i : i+1])
			}
		}
	}
}

// match reads LEFT and prints what matches.
func (j *joining) match(ctx context.Context, path string, l *joinLevel, a *answer) error {
	for c := range j.on { // both sides have the same type
		if types := l.table.types; types != nil {
			column := &j.columns[0][c]
			column.Type, column.Any, column.Before = types[c], false, j.extents[c]
			column.Wider = types[c].Wider()
		}
	}
	direct := l.right.empty()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := printing{answer: a, failed: cancel}
	err := j.readWhole(ctx, []string{path}, "joining", j.columns[0], func() bool {
		l.left.close()
		j.runs.close()
		j.runs.last, j.done[0] = newSortRun(1), 0
		if !direct {
			j.printed = 0 // what was kept is dropped
		}
		return j.printed == 0
	}, func(r *rows) error {
		first := j.done[0]
		if j.done[0] += int64(r.n); !direct {
			return l.match(r.numbered(first), func(m *matches) error { return j.keep(ctx, m) })
		}
		if r.n == 0 { // all rows are another process's; those before must not wait for more
			return p.wait()
		}
		return l.match(r, func(m *matches) error {
			j.printed += int64(len(m.lefts))
			return p.print(m)
		})
	})
	if failed := p.wait(); failed != nil {
		err = failed
	}
	if err != nil || direct {
		return err
	}
	if err := l.finish(ctx); err != nil {
		return err
	}
	return j.runs.print(ctx, a)
}

// printing prints matches while the next ones are being found.
type printing struct {
	*answer
	done   chan error // of those that are being printed; nil: none are
	failed func(error)
}

// print prints matches when those before are printed, and returns the error of these. It returns before it has printed.
func (p *printing) print(m *matches) error {
	if err := p.wait(); err != nil {
		return err
	}
	own, done := *m, make(chan error, 1)
	p.done = done
	go func() {
		err := p.rows(len(own.lefts), own.line)
		if err != nil {
			p.failed(err) // also errEnough: nobody should wait for more rows of a pipe
		}
		done <- err
	}()
	return nil
}

// wait waits until all matches are printed.
func (p *printing) wait() error {
	if p.done == nil {
		return nil
	}
	done := p.done
	p.done = nil
	return <-done
}

// joinLevel joins rows of LEFT and those rows of RIGHT that have room in memory. The other rows of RIGHT wait in files,
// and so do the rows of LEFT that may match them: these match no row of RIGHT that is here.
type joinLevel struct {
	*joining
	table       *joinTable
	right, left spill
	types       []keytype.Type // of the columns of LEFT, and of the numbers of its rows
}

func (j *joining) newLevel(d division) *joinLevel {
	return &joinLevel{joining: j, table: newJoinTable(len(j.on), len(j.names[1]), d)}
}

func (l *joinLevel) close() {
	l.right.close()
	l.left.close()
}

// add adds rows of RIGHT. If they are too many for half of the memory, those that are equal to none before them wait.
func (l *joinLevel) add(r *rows) error {
	t := l.table
	keys, bytes := t.size()
	if keys == 0 || bytes < l.memory/2 { // each level has some rows, so there is a last one
		return t.add(r)
	}
	t.widen(r.types)
	equal := t.find(r)
	r.left = make([]bool, r.n)
	for i := range r.left {
		r.left[i] = equal[i].first == 0 && !r.lacks(t.on, i) // a row that lacks a value matches nothing
	}
	if err := l.right.add(r); err != nil {
		return err
	}
	r.filter(func(i int) bool { return equal[i].first != 0 })
	return t.add(r)
}

// match calls use with the matches of rows of LEFT. If rows of RIGHT wait, rows of LEFT without a match wait as well.
func (l *joinLevel) match(r *rows, use func(*matches) error) error {
	l.table.widen(r.types[:len(l.on)])
	l.types = r.types
	m := matches{joining: l.joining, table: l.table, left: r, waits: !l.right.empty()}
	if err := m.all(func() error { return use(&m) }); err != nil || !m.waits {
		return err
	}
	return l.left.add(r)
}

// keep keeps matches until they are printed in the order of LEFT. The last column of their rows has the numbers of
// these.
func (j *joining) keep(ctx context.Context, m *matches) error {
	j.printed += int64(len(m.lefts))
	u := j.runs.last
	u.types = []keytype.Type{keytype.Uint64}
	numbers := m.left.words[len(m.left.words)-1]
	for _, i := range m.lefts {
		u.words[0] = append(u.words[0], numbers[i])
	}
	u.format(len(m.lefts), j.rows.members(j.titles()), m.line)
	if u.bytes() < j.memory/2 {
		return nil
	}
	return j.runs.spill(ctx)
}

// finish joins the rows that wait.
func (l *joinLevel) finish(ctx context.Context) error {
	if l.left.empty() {
		return nil
	}
	right, left := &rows{types: l.table.types}, &rows{types: l.types}
	right.ready(len(right.types), l.batch(len(right.types)))
	left.ready(len(left.types), l.batch(len(left.types)))
	l.table = nil // for the garbage collector
	for part := range spilledParts {
		if err := l.finishPart(ctx, part, right, left); err != nil {
			return err
		}
	}
	return nil
}

// finishPart is finish for the rows in a file of each side.
func (l *joinLevel) finishPart(ctx context.Context, part int, right, left *rows) error {
	next := l.newLevel(newDivision()) // by other hashes: in a file those of all rows are alike
	defer next.close()
	if err := l.right.take(ctx, part, right, next.add); err != nil {
		return err
	}
	if err := l.left.take(ctx, part, left, func(r *rows) error {
		return next.match(r, func(m *matches) error { return l.keep(ctx, m) })
	}); err != nil {
		return err
	}
	return next.finish(ctx)
}
