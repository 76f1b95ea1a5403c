package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/pflag"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// answer writes an answer of rows: CSV with a header or, with --json, an object a line, whose members have the names of
// the columns. Nothing, not even the header, is written before the first row or the end. So a command that fails early
// prints no part of an answer.
type answer struct {
	to     io.Writer
	out    *bufio.Writer // before to
	header string        // of CSV
	rowFlags
	begun                 bool
	chunkRows, chunkBytes int
	chunks                []rowChunk // that are being formatted, a ring
}

// rowChunk is a part of an answer, formatted by one goroutine.
type rowChunk struct {
	row
	at, end int           // the rows that are still to be formatted
	done    chan struct{} // receives when they are formatted, or text has chunkBytes
}

// row builds a row of an answer. text may already hold other rows.
type row struct {
	text    []byte
	cells   int      // that the row has so far
	members []string // those of the answer; nil: it is CSV
}

// rowFlags are the flags of a command whose answer is rows.
type rowFlags struct {
	json bool
	left uint64 // rows that may still be printed; add turns 0 into all
}

func (f *rowFlags) add(flags *pflag.FlagSet, columns ...string) {
	f.addJSON(flags, columns...)
	flags.Var(limitFlag(&f.left), "limit", "print at most N rows")
}

// addJSON is add without --limit.
func (f *rowFlags) addJSON(flags *pflag.FlagSet, columns ...string) {
	if f.left == 0 {
		f.left = math.MaxUint64
	}
	flags.BoolVar(&f.json, "json", false, fmt.Sprintf(`print JSON, a row a line: {"%s": …}`,
		strings.Join(columns, `": …, "`)))
}

// One goroutine formats up to chunkRows rows at a time, and stops earlier when their text has chunkBytes.
const (
	chunkRows  = 8 << 10
	chunkBytes = 4 << 20
)

// outputBytes is the size of the buffers before outputs.
const outputBytes = 256 << 10

// errEnough ends the work on an answer that has reached --limit.
var errEnough = errors.New("no more rows are wanted")

// newAnswer begins an answer of some columns, written to standard output or a file.
func newAnswer(to io.Writer, f rowFlags, columns ...string) *answer {
	a := &answer{to: to, out: bufio.NewWriterSize(to, outputBytes), rowFlags: f, chunkRows: chunkRows,
		chunkBytes: chunkBytes, chunks: make([]rowChunk, runtime.GOMAXPROCS(0)+1)}
	var header []byte
	for i, name := range columns {
		if i > 0 {
			header = append(header, ',')
		}
		header = input.AppendCSV(header, []byte(name))
	}
	a.header = string(append(header, '\n'))
	members := f.members(columns)
	for i := range a.chunks {
		a.chunks[i].done, a.chunks[i].members = make(chan struct{}, 1), members
	}
	return a
}

// members returns what stands before the value of each column in JSON, or nil if rows are not printed as JSON.
func (f rowFlags) members(columns []string) (members []string) {
	if !f.json {
		return nil
	}
	for i, name := range columns {
		before := ","
		if i == 0 {
			before = "{"
		}
		members = append(members, string(appendJSONText([]byte(before), []byte(name)))+":")
	}
	return members
}

// begin writes the header, unless there is none or it is written already.
func (a *answer) begin() error {
	if a.begun || a.json {
		a.begun = true
		return nil
	}
	a.begun = true
	return a.write([]byte(a.header))
}

func (a *answer) write(text []byte) error {
	to := io.Writer(a.out)
	if len(text) > outputBytes/4 { // it need not be copied
		if err := a.out.Flush(); err != nil {
			return err
		}
		to = a.to
	}
	_, err := to.Write(text)
	return err
}

// rows writes n rows; write gives row i its values, one a column. If there are many, several goroutines call it at the
// same time. When --limit is reached, rows returns errEnough.
func (a *answer) rows(n int, write func(r *row, i int)) error {
	n = int(min(uint64(n), a.left))
	if n > 0 {
		if err := a.begin(); err != nil {
			return err
		}
		if err := a.inChunks(n, write); err != nil {
			return err
		}
		a.left -= uint64(n)
	}
	if a.left == 0 {
		return errEnough
	}
	return nil
}

// inChunks formats the rows in chunks, several at the same time, and writes them in order. When it returns, no
// goroutine calls write any more.
func (a *answer) inChunks(n int, write func(r *row, i int)) (err error) {
	all, begun := (n+a.chunkRows-1)/a.chunkRows, 0
	for k := range all {
		for ; err == nil && begun < min(all, k+len(a.chunks)); begun++ {
			c := &a.chunks[begun%len(a.chunks)]
			c.at, c.end = begun*a.chunkRows, min(n, (begun+1)*a.chunkRows)
			if all == 1 {
				a.format(c, write)
			} else {
				go a.format(c, write)
			}
		}
		if k == begun { // after an error
			break
		}
		c := &a.chunks[k%len(a.chunks)]
		for <-c.done; err == nil; <-c.done {
			if err = a.write(c.text); c.at == c.end {
				break
			}
			a.format(c, write)
		}
	}
	return err
}

// format formats the rest of a chunk, until its text has chunkBytes.
func (a *answer) format(c *rowChunk, write func(r *row, i int)) {
	for c.text = c.text[:0]; c.at < c.end && len(c.text) < a.chunkBytes; c.at++ {
		write(&c.row, c.at)
		c.row.end()
	}
	c.done <- struct{}{}
}

// now flushes the answer, unless err is an error: somebody may wait for it before asking more.
func (a *answer) now(err error) error {
	if err != nil {
		return err
	}
	return a.out.Flush()
}

// word appends the row's next value.
func (r *row) word(c shown, w uint64) { r.wordIf(c, w, true) }

// wordIf is word for a value that may be missing. A missing one is empty in CSV and null in JSON.
func (r *row) wordIf(c shown, w uint64, there bool) {
	r.between()
	switch {
	case there && r.members != nil:
		r.text = c.appendJSON(r.text, w)
	case there:
		r.text = c.appendCSV(r.text, w)
	case r.members != nil:
		r.text = append(r.text, "null"...)
	}
}

// number is word for a number that is neither a key nor a value.
func (r *row) number(n uint64) {
	r.between()
	r.text = strconv.AppendUint(r.text, n, 10)
}

// numberIf is number for one that may be missing.
func (r *row) numberIf(n uint64, there bool) {
	if there {
		r.number(n)
		return
	}
	if r.between(); r.members != nil {
		r.text = append(r.text, "null"...)
	}
}

// fraction is number for a float, with as few digits as tell it from others. JSON has no numbers for those that are not
// finite, which are strings there.
func (r *row) fraction(x float64, bits int) {
	r.between()
	if quoted := r.members != nil && (math.IsInf(x, 0) || math.IsNaN(x)); quoted {
		r.text = append(keytype.AppendFloat(append(r.text, '"'), x, bits), '"')
		return
	}
	r.text = keytype.AppendFloat(r.text, x, bits)
}

// between appends what is written before a value: a comma, or the name of a JSON member.
func (r *row) between() {
	switch {
	case r.members != nil:
		r.text = append(r.text, r.members[r.cells]...)
	case r.cells > 0:
		r.text = append(r.text, ',')
	}
	r.cells++
}

// end completes the row.
func (r *row) end() {
	switch last := len(r.text) - 1; {
	case r.members != nil:
		r.text = append(r.text, '}')
	case last < 0 || r.text[last] == '\n': // readers of CSV skip blank lines
		r.text = append(r.text, `""`...)
	}
	r.text, r.cells = append(r.text, '\n'), 0
}

// end completes the answer, also after errEnough. After any other error it writes the rows so far, and returns that.
func (a *answer) end(err error) error {
	if err != nil && err != errEnough {
		if a.begun {
			_ = a.out.Flush() // the first error is the one to report
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
