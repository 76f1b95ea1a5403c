package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
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
	j := &joining{tables: tables{global: g}}
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

LEFT is read in parts, and may be larger than memory. RIGHT must fit in the host's
memory. Joining runs on all cores and not on the GPU, because most of the time is
reading and writing.`,
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
	flags.SortFlags = false
	flags.StringSliceVar(&j.on, "on", nil, "compare these `columns`, by name or by number from 1;\n"+
		"LEFT=RIGHT if they have two names")
	flags.StringSliceVar(&j.names[0], "left-columns", nil, "print these `columns` of LEFT")
	flags.StringSliceVar(&j.names[1], "right-columns", nil, "print these `columns` of RIGHT")
	flags.BoolVar(&j.left, "left", false, "also print rows of LEFT without a match")
	flags.BoolVar(&j.semi, "semi", false, "print rows of LEFT that have a match, once")
	flags.BoolVar(&j.anti, "anti", false, "print rows of LEFT that have no match")
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
	table, err := j.load(ctx, right)
	if err != nil {
		return err
	}
	a := newAnswer(j.out, j.rows, j.titles()...)
	read, printed, err := j.match(ctx, left, table, a)
	if err = a.end(err); err != nil {
		return err
	}
	note := fmt.Sprintf("joined %s and %s in %.3g s; %s", plural(read, "row"), plural(int64(table.n), "row"),
		time.Since(started).Seconds(), plural(printed, "row"))
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
func (j *joining) load(ctx context.Context, path string) (t *joinTable, err error) {
	err = j.readWhole(ctx, []string{path}, "loading", j.columns[1], func() bool {
		t = newJoinTable(len(j.on), len(j.names[1]))
		return true
	}, func(r *rows) error { return t.add(r) })
	return t, err
}

// match reads LEFT and prints what matches. It returns how many rows were read and printed.
func (j *joining) match(ctx context.Context, path string, t *joinTable, a *answer) (read, printed int64, err error) {
	for c := range j.on { // both sides have the same type
		if t.types != nil {
			column := &j.columns[0][c]
			column.Type, column.Any, column.Before = t.types[c], false, t.extent(c)
			column.Wider = t.types[c].Wider()
		}
	}
	err = j.readWhole(ctx, []string{path}, "joining", j.columns[0], func() bool {
		read = 0
		return printed == 0
	}, func(r *rows) error {
		t.widen(r.types[:len(t.on)])
		read += int64(r.n)
		m := matches{joining: j, table: t, left: r}
		return m.all(func() error {
			printed += int64(len(m.lefts))
			return m.print(a)
		})
	})
	return read, printed, err
}

// joinTable is RIGHT: its rows by what they have in the --on columns.
type joinTable struct {
	on    []int // 0, 1, …
	n     int
	types []keytype.Type // of all columns read so far; nil: there is no row
	seed  uint64
	parts []*joinPart
	next  []uint32 // for each row, the next one that is equal, from 1; 0: none

	kept // the columns that are printed
}

// joinPart has the rows of its hashes.
type joinPart struct {
	*keyTable
	first, last []uint32 // rows, from 1
}

func newJoinTable(on, columns int) *joinTable {
	t := &joinTable{seed: rand.Uint64(), kept: newKept(columns)}
	for c := range on {
		t.on = append(t.on, c)
	}
	for range runtime.GOMAXPROCS(0) {
		t.parts = append(t.parts, &joinPart{keyTable: newKeyTable(t.on)})
	}
	return t
}

// add adds rows.
func (t *joinTable) add(r *rows) error {
	if uint64(t.n)+uint64(r.n) > math.MaxUint32-1 {
		return fmt.Errorf("RIGHT has more than %s rows", grouped(uint64(math.MaxUint32-1)))
	}
	t.widen(r.types)
	t.next = append(t.next, make([]uint32, r.n)...)
	r.hash(t.on, t.seed)
	r.eachPart(len(t.parts), func(k, i int, hash uint64) {
		if r.lacks(t.on, i) {
			return
		}
		p, row := t.parts[k], uint32(t.n+i+1)
		n, fresh := p.number(r, i, hash)
		if fresh {
			p.first, p.last = append(p.first, row), append(p.last, row)
			return
		}
		t.next[p.last[n]-1] = row
		p.last[n] = row
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

// extent returns what the rows have in an --on column.
func (t *joinTable) extent(c int) (e keytype.Extent) {
	for _, p := range t.parts {
		if t.types[c] != keytype.Text {
			e.Add(p.words[c])
		}
	}
	return e
}

// matches are rows of LEFT and the rows of RIGHT beside them.
type matches struct {
	*joining
	table  *joinTable
	left   *rows
	lefts  []int    // rows of left
	rights []uint32 // rows of table, from 1; 0: none
}

// mostMatches is how many pairs of rows are printed at a time, or those of one row of LEFT.
const mostMatches = 1 << 20

// all calls use with all matches, in order, some at a time.
func (m *matches) all(use func() error) error {
	r, t := m.left, m.table
	first := make([]uint32, r.n)
	r.hash(t.on, t.seed)
	threads.Each(r.n, 8*r.n, func(begin, end int) {
		for i := begin; i < end; i++ {
			if r.lacks(t.on, i) {
				continue
			}
			p := t.parts[partOf(r.hashes[i], len(t.parts))]
			if n, _ := p.find(r, i, r.hashes[i]); n >= 0 {
				first[i] = p.first[n]
			}
		}
	})
	for i := range r.n {
		switch row := first[i]; {
		case m.anti || m.semi || row == 0:
			if m.anti && row == 0 || m.semi && row != 0 || m.joining.left && row == 0 {
				m.lefts, m.rights = append(m.lefts, i), append(m.rights, 0)
			}
		default:
			for ; row != 0; row = t.next[row-1] {
				m.lefts, m.rights = append(m.lefts, i), append(m.rights, row)
			}
		}
		if len(m.lefts) >= mostMatches || i == r.n-1 {
			if err := use(); err != nil {
				return err
			}
			m.lefts, m.rights = m.lefts[:0], m.rights[:0]
		}
	}
	return nil
}

// print prints the matches.
func (m *matches) print(a *answer) error {
	r, t := m.left, m.table
	return a.rows(len(m.lefts), func(out *row, k int) {
		i := m.lefts[k]
		for c := range r.words {
			out.wordIf(shown{r.types[c], r.texts[c]}, r.words[c][i], !r.null(c, i))
		}
		for c := range t.words {
			if row := int(m.rights[k]) - 1; row < 0 {
				out.wordIf(shown{}, 0, false)
			} else {
				out.wordIf(shown{t.types[len(t.on)+c], t.texts[c]}, t.words[c][row], !t.null(c, row))
			}
		}
	})
}
