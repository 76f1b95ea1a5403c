// Package delimited reads chosen columns of comma-separated (or otherwise
// delimited) text as 32-bit words, in batches, and names file, line and column
// of whatever is wrong.
package delimited

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// Header says whether the first record holds the columns' names.
type Header uint8

const (
	// Detect takes the first record for names where a column is asked by name,
	// or where no chosen field is a value of its type or begins like a number.
	Detect Header = iota
	Present
	Absent
)

// Column chooses one column.
type Column struct {
	Name string // its name in the header, or its number from 1; digits alone are a number
	Type keytype.Type
}

// Options say what to read. Columns must not be empty.
type Options struct {
	Columns   []Column
	Delimiter rune // between fields; 0 = comma
	Header    Header
	// SkipInvalid passes over records that are malformed or hold something
	// else than a value in a chosen column, and counts them. How many fields a
	// record has then says the first valid one, or the header where a column is
	// asked by name; else the first record of all.
	SkipInvalid bool
	// Comment, if not 0, begins lines that are passed over and not counted.
	Comment rune
}

// OptionError reports a delimiter or a beginning of comments that can't be one,
// or a name asked for where there is no header.
type OptionError struct{ Reason string }

func (e *OptionError) Error() string { return e.Reason }

// ColumnError reports a chosen column that the file doesn't have, or has twice.
type ColumnError struct {
	File   string
	Column string
	Reason string
}

func (e *ColumnError) Error() string { return e.File + ": " + e.Reason }

// FieldsError reports a record that is longer or shorter than the first.
type FieldsError struct{ Have, Want int }

func (e *FieldsError) Error() string {
	return fmt.Sprintf("%s where the first record has %d", plural(e.Have, "field"), e.Want)
}

var (
	// ErrQuote reports a quote inside an unquoted field, after a quoted one,
	// or not closed in the file's last line.
	ErrQuote = errors.New(`a stray quote (")`)
	// ErrOpenQuote reports a quoted field that goes over several lines and
	// doesn't end as a field must. It is never skipped, because it may have
	// swallowed any number of records.
	ErrOpenQuote = errors.New(`a quoted field goes over several lines and doesn't end as it should`)
	// ErrLongRecord reports a record of more than 4 MiB, so that what has no line
	// ends, or a quote too many, takes no more memory. It is never skipped.
	ErrLongRecord = errors.New("a record of more than 4 MiB")
)

// Reader reads the records of one file.
//
// It is built on encoding/csv and not on arrow-go's csv, whose errors tell
// neither line nor column and which wraps the same reader.
type Reader struct {
	file    string
	csv     *csv.Reader
	budget  *budget // of the record that is being read
	columns []Column
	index   []int // field of each column, from 0
	least   int   // fields that a record needs for those
	fields  int   // in each record; 0 while nothing has said so
	line    int   // of the last record
	skip    bool
	skipped int64
	pending []string // a first record that turned out to hold data
	words   []uint32
	err     error
}

// NewReader reads the header, if any, and finds the columns. name is the file's
// in messages. Errors: *OptionError, *ColumnError, *infile.LineError, or what r
// returns. An empty file is no error; the first Read returns io.EOF.
func NewReader(name string, r io.Reader, o Options) (*Reader, error) {
	if o.Delimiter == 0 {
		o.Delimiter = ','
	}
	if special(o.Delimiter) {
		return nil, &OptionError{fmt.Sprintf("%q can't be a delimiter", o.Delimiter)}
	}
	if c := o.Comment; c != 0 && (special(c) || c == o.Delimiter) {
		return nil, &OptionError{fmt.Sprintf("%q can't begin comments", c)}
	}
	text, err := infile.Text(name, r)
	if err != nil {
		return nil, err
	}
	limited := &budget{r: text}
	d := &Reader{
		file:    name,
		csv:     csv.NewReader(bufio.NewReaderSize(limited, 64<<10)),
		budget:  limited,
		columns: o.Columns,
		index:   make([]int, len(o.Columns)),
		words:   make([]uint32, len(o.Columns)),
		skip:    o.SkipInvalid,
	}
	d.csv.Comma, d.csv.Comment = o.Delimiter, o.Comment
	d.csv.ReuseRecord = true
	d.csv.FieldsPerRecord = -1 // counted here, to say how many there are
	if err := d.readHeader(o.Header); err != nil {
		return nil, err
	}
	return d, nil
}

// special tells of characters that mean something already.
func special(c rune) bool {
	return c == '"' || c == '\r' || c == '\n' || c == utf8.RuneError || !utf8.ValidRune(c)
}

// Skipped returns how many records SkipInvalid passed over so far.
func (d *Reader) Skipped() int64 { return d.skipped }

// Read fills one slice per column, all of one length, with the words of the
// next records and returns how many it read; the last are returned with a nil
// error, and io.EOF comes alone. Any other error, a *infile.LineError or what
// the underlying reader returns, comes with the records before it, and every
// later call returns it again.
func (d *Reader) Read(columns ...[]uint32) (int, error) {
	if len(columns) != len(d.columns) {
		panic(fmt.Sprintf("delimited: Read into %d columns of %d", len(columns), len(d.columns)))
	}
	for n := range len(columns[0]) {
		if d.err == nil {
			d.err = d.next()
		}
		switch {
		case d.err == io.EOF && n > 0:
			return n, nil
		case d.err != nil:
			return n, d.err
		}
		for c, w := range d.words {
			columns[c][n] = w
		}
	}
	return len(columns[0]), nil
}

// next parses the next valid record into d.words.
func (d *Reader) next() error {
	for {
		record, err := d.record()
		if err == nil {
			err = d.parse(record)
		}
		if err == nil || !d.mayskip(err) {
			return err
		}
		d.skipped++
	}
}

func (d *Reader) mayskip(err error) bool {
	var line *infile.LineError
	return d.skip && errors.As(err, &line) && !errors.Is(err, ErrOpenQuote) && !errors.Is(err, ErrLongRecord)
}

func (d *Reader) record() ([]string, error) {
	if record := d.pending; record != nil {
		d.pending = nil
		return record, nil
	}
	d.budget.left = longestRecord
	record, err := d.csv.Read()
	var pe *csv.ParseError
	switch {
	case errors.Is(err, ErrLongRecord):
		return nil, &infile.LineError{File: d.file, Line: int64(d.line + 1), Err: ErrLongRecord}
	case errors.As(err, &pe):
		d.line = pe.Line
		reason := ErrQuote
		if errors.Is(pe.Err, csv.ErrQuote) && pe.Line > pe.StartLine {
			reason = ErrOpenQuote
		}
		return nil, &infile.LineError{File: d.file, Line: int64(pe.StartLine), Column: d.startColumn(pe), Err: reason}
	case err != nil:
		return nil, err
	}
	d.line, _ = d.csv.FieldPos(len(record) - 1)
	return record, nil
}

// longestRecord is how many bytes a record may have, give or take a buffer.
const longestRecord = 4 << 20

// budget reads until so many bytes are spent.
type budget struct {
	r    io.Reader
	left int
}

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrLongRecord
	}
	n, err := b.r.Read(p)
	b.left -= n
	return n, err
}

// startColumn is where a syntax error is in its record's first line, or 0 where
// it shows in a later one.
func (d *Reader) startColumn(pe *csv.ParseError) int {
	if pe.Line != pe.StartLine {
		return 0
	}
	return pe.Column
}

func (d *Reader) parse(record []string) error {
	if want := max(d.fields, d.least); len(record) != d.fields && (d.fields != 0 || len(record) < want) {
		line, _ := d.csv.FieldPos(0)
		return &infile.LineError{File: d.file, Line: int64(line), Err: &FieldsError{len(record), want}}
	}
	for c, column := range d.columns {
		w, err := column.Type.Parse(record[d.index[c]])
		if err != nil {
			line, _ := d.csv.FieldPos(d.index[c])
			return &infile.LineError{File: d.file, Line: int64(line), Field: "column " + describe(column.Name), Err: err}
		}
		d.words[c] = w
	}
	d.fields = len(record)
	return nil
}

// describe writes a number as it is and a name in quotes.
func describe(column string) string {
	if _, isNumber := Number(column); isNumber {
		return column
	}
	return strconv.Quote(column)
}

// Number tells whether a column is asked by number, and returns it.
func Number(column string) (int, bool) {
	if column == "" || strings.Trim(column, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(column)
	return n, err == nil
}

func (d *Reader) readHeader(header Header) error {
	named := ""
	for _, c := range d.columns {
		if _, isNumber := Number(c.Name); !isNumber {
			named = c.Name
		}
	}
	if named != "" && header == Absent {
		return &OptionError{fmt.Sprintf("column %q is asked by name, but the table is said to have no header", named)}
	}
	first, err := d.first(named != "")
	if err == io.EOF {
		d.err = io.EOF
		return nil
	}
	if err != nil {
		return err
	}
	names := trimmed(first)
	isHeader := header == Present || named != ""
	if header == Detect && named == "" {
		isHeader = true
		for c, column := range d.columns {
			field := names[d.index[c]]
			_, err := column.Type.Parse(field)
			isHeader = isHeader && errors.Is(err, keytype.ErrSyntax) && !strings.ContainsAny(field[:1], "0123456789+-.")
		}
	}
	if !d.skip || named != "" {
		d.fields = len(first)
	}
	if !isHeader {
		d.pending = first // ReuseRecord: valid until the next csv.Read, which comes after its use
	}
	return nil
}

// first reads the first record that has the columns, and finds them.
func (d *Reader) first(named bool) ([]string, error) {
	var missing error // from the first record without
	for {
		record, err := d.record()
		switch {
		case err == io.EOF:
			return nil, cmp.Or(missing, err)
		case err == nil:
			err = d.find(trimmed(record))
			if !d.skip || named || err == nil {
				return record, err
			}
			missing = cmp.Or(missing, err)
		case !d.mayskip(err):
			return nil, err
		}
		d.skipped++
	}
}

func (d *Reader) find(names []string) (err error) {
	for c, column := range d.columns {
		if d.index[c], err = Find(d.file, names, column.Name); err != nil {
			var missing *ColumnError
			if errors.As(err, &missing) && strings.HasPrefix(names[0], "#") {
				missing.Reason += " (its first line looks like a comment)"
			}
			return err
		}
		d.least = max(d.least, d.index[c]+1)
	}
	return nil
}

func trimmed(record []string) []string {
	names := make([]string, len(record))
	for i, f := range record {
		names[i] = strings.TrimSpace(f)
	}
	return names
}

// Find returns the place, from 0, of the column asked for by name or by number
// from 1 among names. An error is a *ColumnError.
func Find(file string, names []string, column string) (int, error) {
	if n, isNumber := Number(column); isNumber {
		if n < 1 || n > len(names) {
			return 0, &ColumnError{file, column, fmt.Sprintf("no column %s: the table has %s", column, plural(len(names), "column"))}
		}
		return n - 1, nil
	}
	found := -1
	for i, name := range names {
		if name != column {
			continue
		}
		if found >= 0 {
			return 0, &ColumnError{file, column, fmt.Sprintf("columns %d and %d are both called %q: ask by number", found+1, i+1, column)}
		}
		found = i
	}
	if found < 0 {
		return 0, &ColumnError{file, column, fmt.Sprintf("no column %q: the table has %s", column, list(names))}
	}
	return found, nil
}

// list shows the names that there are, as many as fit a line.
func list(names []string) string {
	const most, longest = 12, 40
	var quoted []string
	for i, name := range names {
		if i == most {
			quoted = append(quoted, "…")
			break
		}
		if len(name) > longest {
			name = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		quoted = append(quoted, strconv.Quote(name))
	}
	return strings.Join(quoted, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
