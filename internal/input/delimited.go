package input

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/keytype"
)

// delimited reads the records of comma-separated (or otherwise delimited) text.
//
// It is built on encoding/csv and not on arrow-go's csv, whose errors tell neither line nor column and which wraps the
// same reader.
type delimited struct {
	file    string
	csv     *csv.Reader
	budget  *budget // of the record that is being read
	columns []*column
	row     []keytype.Value // of the columns
	index   []int           // field of each column, from 0
	least   int             // fields that a record needs for those
	fields  int             // in each record; 0 while nothing has said so
	line    int             // of the last record
	invalid *invalid
	pending []string // a first record that turned out to hold data
	sample  [][]string
}

// newDelimited reads the header, if any, and finds the columns.
func newDelimited(name string, r io.Reader, o Options, invalid *invalid) (*delimited, error) {
	if c := o.Comment; c != 0 && (special(c) || c == cmp.Or(o.Delimiter, ',')) {
		return nil, &OptionError{fmt.Sprintf("%q can't begin comments", c)}
	}
	text, err := OpenText(name, r)
	if err != nil {
		return nil, err
	}
	if head, _ := text.Peek(2); string(head) == `{"` { // an error comes again when it is read
		return nil, &LineError{File: name, Line: 1, Err: ErrJSON}
	}
	if o.Delimiter == 0 {
		o.Delimiter = o.guessDelimiter(name, text)
	}
	if special(o.Delimiter) {
		return nil, &OptionError{fmt.Sprintf("%q can't be a delimiter", o.Delimiter)}
	}
	var first [][]string
	if o.guessesText() {
		head, err := text.Peek(sniffBytes) // an error comes again when it is read
		first = sampled(head, err != nil, o)
	}
	limited := &budget{r: text}
	d := &delimited{
		file:    name,
		csv:     csv.NewReader(bufio.NewReaderSize(limited, 64<<10)),
		budget:  limited,
		columns: o.columns,
		row:     make([]keytype.Value, len(o.columns)),
		index:   make([]int, len(o.columns)),
		invalid: invalid,
		sample:  first,
	}
	d.csv.Comma, d.csv.Comment = o.Delimiter, o.Comment
	d.csv.ReuseRecord = true
	d.csv.FieldsPerRecord = -1 // counted here, to say how many there are
	if err := d.readHeader(o); err != nil {
		return nil, err
	}
	return d, nil
}

// guessDelimiter looks at the beginning of a text, and leaves it to be read.
func (o Options) guessDelimiter(name string, text *bufio.Reader) rune {
	head, err := text.Peek(sniffBytes) // an error comes again when it is read
	delimiter, called := sniff(head, err != nil, o.Comment)
	if delimiter != ',' {
		o.note("%s: fields are taken to stand between %s", name, called)
	}
	return delimiter
}

// special tells of characters that mean something already.
func special(c rune) bool {
	return c == '"' || c == '\r' || c == '\n' || c == utf8.RuneError || !utf8.ValidRune(c)
}

func (d *delimited) read(columns [][]uint64, n int) (int, error) {
	for ; n < len(columns[0]) && !full(d.columns); n++ {
		if err := d.next(columns, n); err != nil {
			return n, err
		}
	}
	return n, nil
}

// next parses the next valid record into row n.
func (d *delimited) next(columns [][]uint64, n int) error {
	for {
		record, err := d.record()
		if err == nil {
			err = d.parse(record, columns, n)
		}
		if err == nil || !d.pass(err) {
			return err
		}
	}
}

// pass tells whether to pass over a record with this error, and counts it.
func (d *delimited) pass(err error) bool {
	var line *LineError
	return errors.As(err, &line) && !errors.Is(err, ErrOpenQuote) && !errors.Is(err, ErrLongRecord) && d.invalid.pass()
}

func (d *delimited) record() ([]string, error) {
	if record := d.pending; record != nil {
		d.pending = nil
		return record, nil
	}
	record, err := d.readRecord()
	var pe *csv.ParseError
	switch {
	case errors.Is(err, ErrLongRecord):
		return nil, &LineError{File: d.file, Line: int64(d.line + 1), Err: ErrLongRecord}
	case errors.As(err, &pe):
		d.line = pe.Line
		reason := ErrQuote
		if errors.Is(pe.Err, csv.ErrQuote) && pe.Line > pe.StartLine {
			reason = ErrOpenQuote
		}
		return nil, &LineError{File: d.file, Line: int64(pe.StartLine), Column: d.startColumn(pe), Err: reason}
	case err != nil:
		return nil, err
	}
	d.line, _ = d.csv.FieldPos(len(record) - 1)
	return record, nil
}

// readRecord passes over lines of blanks, as package csv does over empty ones.
func (d *delimited) readRecord() ([]string, error) {
	for {
		d.budget.left = longestRecord
		record, err := d.csv.Read()
		if err != nil || len(record) > 1 || record[0] == "" || strings.TrimSpace(record[0]) != "" {
			return record, err
		}
	}
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
func (d *delimited) startColumn(pe *csv.ParseError) int {
	if pe.Line != pe.StartLine {
		return 0
	}
	return pe.Column
}

func (d *delimited) parse(record []string, columns [][]uint64, n int) error {
	if want := max(d.fields, d.least); len(record) != d.fields && (d.fields != 0 || len(record) < want) {
		line, _ := d.csv.FieldPos(0)
		return &LineError{File: d.file, Line: int64(line),
			Err: fmt.Errorf("%s where the first record has %d", plural(len(record), "field"), want)}
	}
	bad, err := -1, error(nil)
	for c, column := range d.columns {
		if d.row[c], err = column.parse(record[d.index[c]]); err != nil {
			bad = c
			break
		}
	}
	if bad < 0 {
		bad, err = put(d.columns, columns, n, d.row)
	}
	if err != nil {
		truncate(d.columns, n)
		line, _ := d.csv.FieldPos(d.index[bad])
		return &LineError{File: d.file, Line: int64(line), Field: "column " + quote(d.columns[bad].Name), Err: err}
	}
	d.fields = len(record)
	return nil
}

func (d *delimited) readHeader(o Options) error {
	named := ""
	for _, c := range d.columns {
		if _, isNumber := number(c.Name); !isNumber {
			named = c.Name
		}
	}
	if named != "" && o.Header == Absent {
		return &OptionError{fmt.Sprintf("column %q is asked by name, but the table is said to have no header", named)}
	}
	first, err := d.first(named != "")
	if err == io.EOF { // as the first Read says
		return nil
	}
	if err != nil {
		return err
	}
	names := trimmed(first)
	isHeader := o.Header == Present || named != ""
	d.guessText(o, isHeader)
	if o.Header == Detect && named == "" {
		if isHeader = d.areNames(names); isHeader {
			o.note("%s: the first line is taken for names", d.file)
		}
	}
	if !d.invalid.skip || named != "" {
		d.fields = len(first)
	}
	if !isHeader {
		d.pending = first // ReuseRecord: valid until the next csv.Read, which comes after its use
	}
	return nil
}

// areNames tells whether a first record looks like names: in a column of text, that only shows where it can't be one.
func (d *delimited) areNames(record []string) bool {
	told := false
	for c, column := range d.columns {
		switch field := record[d.index[c]]; {
		case column.Type == keytype.Text && beginsNumber(field):
			return false
		case column.Type == keytype.Text:
		case isName(field, column):
			told = true
		default:
			return false
		}
	}
	return told
}

// first reads the first record that has the columns, and finds them.
func (d *delimited) first(named bool) ([]string, error) {
	var missing error // from the first record without
	for {
		record, err := d.record()
		switch {
		case err == io.EOF:
			return nil, cmp.Or(missing, err)
		case err == nil:
			err = d.find(trimmed(record))
			if named || err == nil || !d.invalid.pass() {
				return record, err
			}
			missing = cmp.Or(missing, err)
		case !d.pass(err):
			return nil, err
		}
	}
}

func (d *delimited) find(names []string) (err error) {
	for c, column := range d.columns {
		if d.index[c], err = find(d.file, names, column.Name); err != nil {
			var missing *ColumnError
			switch {
			case !errors.As(err, &missing):
			case strings.HasPrefix(names[0], "#"):
				missing.Reason += " (its first line looks like a comment)"
			case len(names) == 1 && d.csv.Comma != ' ' && strings.ContainsAny(names[0], " |"):
				missing.Reason += fmt.Sprintf(", if %q stands between fields", d.csv.Comma)
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
