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
	begun                 bool
	chunkRows, chunkBytes int
	chunks                []rowChunk // that are formatted at a time
}

// rowChunk is a part of an answer, formatted by one goroutine.
type rowChunk struct {
	row
	at, end int           // the rows that are still to be formatted
	done    chan struct{} // receives when they are, or the text is long
}

// row is what a row of an answer is written to, after the rows before it.
type row struct {
	text    []byte
	cells   int      // that the row has so far
	members []string // those of the answer; nil: it is CSV
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

// One goroutine formats so many rows at a time, or fewer where they have so many bytes.
const (
	chunkRows  = 8 << 10
	chunkBytes = 4 << 20
)

// outputBytes is how much is written at a time.
const outputBytes = 256 << 10

// errEnough ends the work on an answer that has all the rows that are wanted.
var errEnough = errors.New("no more rows are wanted")

// newAnswer begins an answer of some columns, written to standard output or a file.
func newAnswer(to io.Writer, f rowFlags, columns ...string) *answer {
	a := &answer{out: bufio.NewWriterSize(to, outputBytes), header: strings.Join(columns, ",") + "\n", rowFlags: f,
		chunkRows: chunkRows, chunkBytes: chunkBytes, chunks: make([]rowChunk, runtime.GOMAXPROCS(0)+1)}
	for i, name := range columns {
		before := ","
		if i == 0 {
			before = "{"
		}
		a.members = append(a.members, fmt.Sprintf("%s%q:", before, name))
	}
	for i := range a.chunks {
		c := &a.chunks[i]
		if c.done = make(chan struct{}, 1); f.json {
			c.members = a.members
		}
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

// rows writes n rows; write gives row i its values, one a column. If there are many, several goroutines call it at the
// same time. With the last row that is wanted rows returns errEnough.
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

// inChunks has chunks of the rows formatted, some ahead, and writes them in order. When it returns, no goroutine is
// left that calls write.
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

// format formats what is left of a chunk, as far as its text has room.
func (a *answer) format(c *rowChunk, write func(r *row, i int)) {
	for c.text = c.text[:0]; c.at < c.end && len(c.text) < a.chunkBytes; c.at++ {
		write(&c.row, c.at)
		c.row.end()
	}
	c.done <- struct{}{}
}

// now writes what there is of the answer, unless there is an error: somebody may wait for it before asking more.
func (a *answer) now(err error) error {
	if err != nil {
		return err
	}
	return a.out.Flush()
}

// word gives the row its next value.
func (r *row) word(c shown, w uint64) { r.wordIf(c, w, true) }

// wordIf is word where there may be none: of CSV that is empty, of JSON null.
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

// numberIf is number where there may be none.
func (r *row) numberIf(n uint64, there bool) {
	if there {
		r.number(n)
		return
	}
	if r.between(); r.members != nil {
		r.text = append(r.text, "null"...)
	}
}

// fraction is number of one, which is finite, with as many digits as tell it from others.
func (r *row) fraction(x float64, bits int) {
	r.between()
	r.text = keytype.AppendFloat(r.text, x, bits)
}

// between writes what stands before a value.
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
	if r.members != nil {
		r.text = append(r.text, '}')
	}
	r.text, r.cells = append(r.text, '\n'), 0
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
