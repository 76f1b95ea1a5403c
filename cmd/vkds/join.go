package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/vkds/vkds/internal/engine/threads"
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
	if j.skipped > 0 {
		note += fmt.Sprintf("; %s skipped", grouped(j.skipped))
	}
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

// joinTable has rows of RIGHT by what they have in the --on columns.
type joinTable struct {
	on    []int // 0, 1, …
	n     int
	types []keytype.Type // of all columns read so far; nil: there is no row
	parts []*joinPart
	division
	next []uint32 // for each row, the next one that is equal, from 1; 0: none

	kept // the columns that are printed
}

// joinPart has the rows of its hashes.
type joinPart struct {
	*keyTable
	rows []equalRows // with each key
	last []uint32    // of these, from 1
}

// equalRows are the first of some rows that are equal, from 1, and how many they are.
type equalRows struct{ first, count uint32 }

func newJoinTable(on, columns int, d division) *joinTable {
	t := &joinTable{division: d, kept: newKept(columns)}
	for c := range on {
		t.on = append(t.on, c)
	}
	for range d.among {
		t.parts = append(t.parts, &joinPart{keyTable: newKeyTable(t.on)})
	}
	return t
}

// size returns how many different keys there are, and about how much memory the rows need.
func (t *joinTable) size() (keys int, bytes uint64) {
	bytes = uint64(4*cap(t.next) + t.kept.bytes())
	for _, p := range t.parts {
		keys += len(p.rows)
		bytes += p.bytes() + uint64(8*cap(p.rows)+4*cap(p.last))
	}
	return keys, bytes
}

// find returns the rows that are equal to each of some rows.
func (t *joinTable) find(r *rows) []equalRows {
	all := make([]equalRows, r.n)
	by, begins := r.divided(t.on, t.division)
	eachPart(begins, func(k, first, end int) {
		p := t.parts[k]
		for i := first; i < end; i++ {
			if (i-first)%rowsAhead == 0 {
				p.ahead(by.hashes[i:min(i+rowsAhead, end)])
			}
			if by.lacks(t.on, i) {
				continue
			}
			if n, _ := p.find(by, i, by.hashes[i]); n >= 0 {
				all[by.from[i]] = p.rows[n]
			}
		}
	})
	return all
}

// add adds rows.
func (t *joinTable) add(r *rows) error {
	if uint64(t.n)+uint64(r.n) > math.MaxUint32-1 {
		return fmt.Errorf("RIGHT has more than %s rows", grouped(uint64(math.MaxUint32-1)))
	}
	t.widen(r.types)
	t.next = extended(t.next, t.n+r.n)
	by, begins := r.divided(t.on, t.division)
	eachPart(begins, func(k, first, end int) {
		p := t.parts[k]
		for i := first; i < end; i++ {
			if by.lacks(t.on, i) {
				continue
			}
			row := uint32(t.n) + by.from[i] + 1
			n, fresh := p.number(by, i, by.hashes[i])
			if fresh {
				p.rows, p.last = append(p.rows, equalRows{row, 1}), append(p.last, row)
				continue
			}
			t.next[p.last[n]-1] = row
			p.last[n] = row
			p.rows[n].count++
		}
	})
	var wait sync.WaitGroup
	for c := range t.words {
		wait.Go(func() { t.keep(c, r, len(t.on)+c) })
	}
	wait.Wait()
	t.n += r.n
	return nil
}

// widen gives the rows the words of the types of other rows: all columns of RIGHT, or the --on columns of LEFT.
func (t *joinTable) widen(types []keytype.Type) {
	if t.types == nil {
		t.types = slices.Clone(types)
		return
	}
	for _, p := range t.parts {
		p.widen(t.types, types)
	}
	for c := range t.words {
		if from := len(t.on) + c; len(types) > from && types[from] != t.types[from] {
			types[from].Widen(t.types[from], t.words[c])
		}
	}
	copy(t.types, types)
}

// matches are rows of LEFT and the rows of RIGHT beside them.
type matches struct {
	*joining
	table  *joinTable
	left   *rows
	lefts  []uint32   // rows of left
	rights []uint32   // rows of table, from 1; 0: none
	words  [][]uint64 // what rights have in the columns that are printed
	waits  bool       // rows of LEFT without a match may match rows of RIGHT that wait
}

// mostMatches is how many pairs of rows are printed at a time, or those of one row of LEFT.
const mostMatches = 1 << 20

// all calls use with all matches, in order, some at a time. It sets left for the rows that wait.
func (m *matches) all(use func() error) error {
	r, t := m.left, m.table
	equal := t.find(r)
	r.left = make([]bool, r.n)
	threads.InShares(threads.Shares(), r.n, func(_, begin, end int) {
		for i := begin; i < end; i++ {
			found := equal[i].first != 0
			r.left[i] = m.waits && !found && !r.lacks(t.on, i)
			if m.semi || m.anti || !found { // one line without a row of RIGHT, or none
				some := m.semi && found || (m.anti || m.joining.left) && !found
				equal[i] = equalRows{0, uint32(asBit(some && !r.left[i]))}
			}
		}
	})
	for begin := 0; begin < r.n; {
		starts := make([]int, 0, r.n-begin) // of the pairs of each row
		n := 0
		for _, rows := range equal[begin:] {
			if n >= mostMatches {
				break
			}
			starts = append(starts, n)
			n += int(rows.count)
		}
		m.lefts, m.rights = make([]uint32, n), make([]uint32, n) // those before may still be in use
		threads.InShares(threads.Shares(), len(starts), func(_, from, to int) {
			for k, start := range starts[from:to] {
				i := begin + from + k
				row := equal[i].first
				for k := range int(equal[i].count) {
					if k > 0 {
						row = t.next[row-1]
					}
					m.lefts[start+k], m.rights[start+k] = uint32(i), row
				}
			}
		})
		m.gather()
		begin += len(starts)
		if err := use(); err != nil {
			return err
		}
	}
	return nil
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

// gather fills words. The rows of RIGHT are all over the memory, and so the processor waits for many at once.
func (m *matches) gather() {
	m.words = make([][]uint64, len(m.table.words))
	for c, words := range m.table.words {
		m.words[c] = make([]uint64, len(m.rights))
		threads.InShares(threads.Shares(), len(m.rights), func(_, begin, end int) {
			for k, row := range m.rights[begin:end] {
				if row != 0 {
					m.words[c][begin+k] = words[row-1]
				}
			}
		})
	}
}

// line writes a match as a line of the answer.
func (m *matches) line(out *row, k int) {
	r, t, i := m.left, m.table, int(m.lefts[k])
	for c := range m.columns[0] {
		out.wordIf(shown{r.types[c], r.texts[c]}, r.words[c][i], !r.null(c, i))
	}
	for c := range t.words {
		if row := int(m.rights[k]) - 1; row < 0 {
			out.wordIf(shown{}, 0, false)
		} else {
			out.wordIf(shown{t.types[len(t.on)+c], t.texts[c]}, m.words[c][k], !t.null(c, row))
		}
	}
}
