package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// answer is an answer of rows: lines of CSV under a header or, with --json, one object a line, whose
// members have the names of the columns. Nothing is written before there is something to write or the answer ends, so
// that what fails early leaves no half of it.
type answer struct {
	out     *bufio.Writer
	header  string   // of CSV
	members []string // of JSON: what stands before the value of each column
	rowFlags
	begun bool
	line  []byte // the row so far,
	cells int    // and how many values it has
}

// rowFlags are the flags of a command whose answer is rows.
type rowFlags struct {
	json bool
	left uint64 // rows that are still wanted; 0, before the flags are added: all
}

func (f *rowFlags) add(flags *pflag.FlagSet, columns ...string) {
	f.addJSON(flags, columns...)
	flags.Var(limitFlag{&f.left}, "limit", "print so many rows at most")
}

// addJSON is add for a command that has another flag for how many.
func (f *rowFlags) addJSON(flags *pflag.FlagSet, columns ...string) {
	if f.left == 0 {
		f.left = math.MaxUint64
	}
	flags.BoolVar(&f.json, "json", false, fmt.Sprintf(`print JSON, a row a line: {"%s": …}`,
		strings.Join(columns, `": …, "`)))
}

// outputBytes is how much is written at a time.
const outputBytes = 256 << 10

// errEnough ends the work on an answer that has all the rows that are wanted.
var errEnough = errors.New("no more rows are wanted")

// newAnswer begins an answer of some columns, written to standard output or a file.
func newAnswer(to io.Writer, f rowFlags, columns ...string) *answer {
	a := &answer{out: bufio.NewWriterSize(to, outputBytes), header: strings.Join(columns, ",") + "\n", rowFlags: f,
		line: make([]byte, 0, 64)}
	for i, name := range columns {
		before := ","
		if i == 0 {
			before = "{"
		}
		a.members = append(a.members, fmt.Sprintf("%s%q:", before, name))
	}
	return a
}

// begin writes what stands before the first row.
func (a *answer) begin() error {
	if a.begun || a.json {
		a.begun = true
		return nil
	}
	a.begun = true
	return a.write([]byte(a.header))
}

// write writes a part of the answer.
func (a *answer) write(text []byte) error {
	_, err := a.out.Write(text)
	return err
}

// rows writes n rows; row gives row i its values, one a column. With the last row that is wanted it returns errEnough.
func (a *answer) rows(n int, row func(i int)) error {
	for i := 0; i < n && a.left > 0; i++ {
		if err := a.begin(); err != nil {
			return err
		}
		a.left--
		a.line, a.cells = a.line[:0], 0
		row(i)
		if a.json {
			a.line = append(a.line, '}')
		}
		if err := a.write(append(a.line, '\n')); err != nil {
			return err
		}
	}
	if a.left == 0 {
		return errEnough
	}
	return nil
}

// now writes what there is of the answer, unless there is an error: somebody may wait for it before asking more.
func (a *answer) now(err error) error {
	if err != nil {
		return err
	}
	return a.out.Flush()
}

// word gives the row its next value.
func (a *answer) word(c shown, w uint64) { a.wordIf(c, w, true) }

// wordIf is word where there may be none: of CSV that is empty, of JSON null.
func (a *answer) wordIf(c shown, w uint64, there bool) {
	a.between()
	switch {
	case there && a.json:
		a.line = c.appendJSON(a.line, w)
	case there:
		a.line = c.appendCSV(a.line, w)
	case a.json:
		a.line = append(a.line, "null"...)
	}
}

// number is word for what is no key and no value.
func (a *answer) number(n uint64) {
	a.between()
	a.line = strconv.AppendUint(a.line, n, 10)
}

// numberIf is number where there may be none.
func (a *answer) numberIf(n uint64, there bool) {
	if there {
		a.number(n)
		return
	}
	if a.between(); a.json {
		a.line = append(a.line, "null"...)
	}
}

// fraction is number of one, which is finite, with as many digits as tell it from others.
func (a *answer) fraction(x float64, bits int) {
	a.between()
	a.line = keytype.AppendFloat(a.line, x, bits)
}

// between writes what stands before a value.
func (a *answer) between() {
	switch {
	case a.json:
		a.line = append(a.line, a.members[a.cells]...)
	case a.cells > 0:
		a.line = append(a.line, ',')
	}
	a.cells++
}

// end completes the answer, also one that errEnough ended; any other error writes what there is, and is returned.
func (a *answer) end(err error) error {
	if err != nil && err != errEnough {
		if a.begun {
			_ = a.out.Flush() // of the two errors the first one is told
		}
		return err
	}
	if err := a.begin(); err != nil {
		return err
	}
	return a.out.Flush()
}

// answerText writes an answer that is one text.
func (g *global) answerText(text []byte) error {
	_, err := g.out.Write(text)
	return err
}

// answerJSON writes one JSON value.
func (g *global) answerJSON(value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return g.answerText(append(text, '\n'))
}

// answerTable writes rows under their titles: as CSV, or drawn on a terminal.
func (g *global) answerTable(titles []string, rows [][]string) error {
	if !g.terminal(g.out) {
		return csv.NewWriter(g.out).WriteAll(append([][]string{titles}, rows...))
	}
	return drawTable(g.out, titles, rows)
}

func drawTable(w io.Writer, titles []string, rows [][]string) error {
	t := tablewriter.NewTable(w,
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
	)
	t.Header(titles)
	if err := t.Bulk(rows); err != nil {
		return err
	}
	return t.Render()
}
