package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// delimited reads the rows of comma-separated (or otherwise delimited) text.
type delimited struct {
	file    string
	records *records
	divided string // the name of the delimiter, if it was guessed
	columns []*column
	row     []keytype.Value // of the columns
	index   []int           // field of each column, from 0
	least   int             // fields that a record needs for the columns
	fields  int             // fields of each record; 0: not yet known
	invalid *invalid
	pending []string // a first record that turned out to be data
	ahead   ahead
}

// newDelimited reads the header, if any, and finds the columns.
func newDelimited(name string, r io.Reader, o *Options, invalid *invalid) (*delimited, error) {
	if c := o.Comment; c != 0 && (special(c) || c == cmp.Or(o.Delimiter, ',')) {
		return nil, &OptionError{fmt.Sprintf("%q can't begin comments", c)}
	}
	text, err := OpenText(name, r)
	if err != nil {
		return nil, err
	}
	head, whole, text := sampleOf(text)
	if strings.HasPrefix(string(head), `{"`) {
		return nil, &LineError{File: name, Line: 1, Err: ErrJSON}
	}
	d := &delimited{file: name, columns: o.columns, row: make([]keytype.Value, len(o.columns)),
		index: make([]int, len(o.columns)), invalid: invalid}
	said, separated := separator(head)
	var sample [][]string
	if o.Delimiter = cmp.Or(o.Delimiter, said); o.Delimiter == 0 {
		found := sniff(head, whole, o.Comment)
		o.Delimiter, sample, d.divided = found.delimiter, found.records, found.name
		if bytes.ContainsAny(head, "\t;") {
			o.note("%s: fields are taken to stand between %s", name, found.name)
		}
	} else if special(o.Delimiter) {
		return nil, &OptionError{fmt.Sprintf("%q can't be a delimiter", o.Delimiter)}
	} else {
		sample, _ = recordsOf(head, whole, o.Delimiter, o.Comment)
	}
	d.ahead = ahead{blocks: NewBlocks[parsed](text, cmp.Or(o.block, BlockBytes), o.eager),
		delimiter: o.Delimiter, comment: o.Comment, none: o.slow}
	if file, ok := r.(restOf); ok {
		d.ahead.blocks.Rest = file.Rest
	}
	d.records = newRecords(d.ahead.blocks, o.Delimiter, o.Comment)
	if separated {
		if _, err := d.records.read(); err != nil {
			return nil, err
		}
		sample = sample[min(1, len(sample)):]
	}
	if err := d.readHeader(o, sample); err != nil {
		return nil, err
	}
	return d, nil
}

// special reports whether a character has another meaning.
func special(c rune) bool {
	return c == '"' || c == '\r' || c == '\n' || c == utf8.RuneError || !utf8.ValidRune(c)
}

func (d *delimited) read(columns [][]uint64, n int) (int, error) {
	for n < len(columns[0]) && !full(d.columns) {
		if taken := d.takePlain(columns, n); taken > 0 {
			n += taken
			continue
		}
		before := d.ahead.place()
		if err := d.next(columns, n); err != nil {
			return n, err
		}
		d.ahead.moved(before)
		n++
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

// pass reports whether to skip a record with this error, and counts it.
func (d *delimited) pass(err error) bool {
	var line *LineError
	return errors.As(err, &line) && !errors.Is(err, ErrOpenQuote) && !errors.Is(err, ErrLongRecord) &&
		d.invalid.pass(err)
}

func (d *delimited) record() ([]string, error) {
	if record := d.pending; record != nil {
		d.pending = nil
		return record, nil
	}
	record, err := d.records.read()
	line := &LineError{File: d.file, Line: int64(d.records.start), Err: err}
	var quote *quoteError
	switch {
	case errors.Is(err, ErrLongRecord):
		return nil, line
	case errors.As(err, &quote):
		if line.Err = ErrQuote; quote.open {
			line.Err = ErrOpenQuote
		}
		line.Column = quote.column
		return nil, line
	}
	return record, err
}

func (d *delimited) parse(record []string, columns [][]uint64, n int) error {
	if want := max(d.fields, d.least); len(record) != d.fields && (d.fields != 0 || len(record) < want) {
		return &LineError{File: d.file, Line: int64(d.records.start),
			Err: fmt.Errorf("%s where the first record has %d", plural(len(record), "field"), want)}
	}
	bad, err := -1, error(nil)
	for c, column := range d.columns {
		if column.whole != nil {
			line := wholeRecord(nil, fieldsOf(record))
			d.row[c] = keytype.Value{Type: keytype.Text, Word: column.texts.Add(line)}
		} else if d.row[c], err = column.parse(record[d.index[c]]); err != nil {
			bad = c
			break
		}
	}
	if bad < 0 {
		bad, err = put(d.columns, columns, n, d.row)
	}
	if err != nil {
		truncate(d.columns, n)
		return &LineError{File: d.file, Line: int64(d.records.numbers[d.index[bad]]),
			Field: "column " + quote(d.columns[bad].Name), Err: err}
	}
	d.fields = len(record)
	return nil
}

func (d *delimited) readHeader(o *Options, sample [][]string) error {
	named, asked := "", slices.Clone(o.Verbatim)
	for _, c := range d.columns {
		asked = append(asked, c.Name)
	}
	for _, name := range asked {
		if _, isNumber := number(name); !isNumber {
			named = name
		}
	}
	if named != "" && o.Header == Absent {
		return &OptionError{fmt.Sprintf("column %q is asked by name, but the table is said to have no header", named)}
	}
	first, err := d.first(named != "")
	if err == io.EOF { // the first Read returns it again
		return nil
	}
	if err != nil {
		return err
	}
	for len(sample) > 0 && !slices.Equal(sample[0], first) { // those before were skipped
		sample = sample[1:]
	}
	if len(sample) == 0 {
		sample = [][]string{slices.Clone(first)}
	}
	isHeader := o.Header == Present || named != ""
	if o.Header == Detect && named == "" {
		switch verdict := detectNames(sample, d.said); {
		case verdict == names:
			isHeader = true
			o.note("%s: the first line is taken for names", d.file)
		case verdict == untold && mayBeNames(sample):
			o.note("%s: the first line is taken for data, though it may hold names (--header says that it does)",
				d.file)
		}
	}
	if isHeader {
		sample = sample[1:]
	}
	if err := d.addVerbatim(o, first, isHeader); err != nil {
		return err
	}
	d.guess(o, sample)
	if !d.invalid.skip || named != "" {
		d.fields = len(first)
	}
	if !isHeader {
		d.pending = first // valid until the next record is read, which is after its use
	}
	return nil
}

// addVerbatim adds the verbatim columns of a table with this first record.
func (d *delimited) addVerbatim(o *Options, first []string, isHeader bool) error {
	names := trimmed(first)
	for i := range names {
		if !isHeader {
			names[i] = strconv.Itoa(i + 1)
		}
	}
	if o.Records && o.All && o.As == nil && o.Delimiter == ',' {
		o.columns = append(o.columns, &column{Column: Column{Type: keytype.Text}, place: 1, texts: &keytype.Arena{},
			keepNull: true, whole: names})
	} else if err := o.addVerbatim(d.file, names, Column{Type: keytype.Text}); err != nil {
		return err
	}
	for _, c := range o.columns[len(d.columns):] {
		d.index, d.least = append(d.index, c.place-1), max(d.least, c.place)
	}
	d.columns, d.row = o.columns, make([]keytype.Value, len(o.columns))
	return nil
}

// said returns the chosen column at an index of the table, and whether its type was not guessed.
func (d *delimited) said(place int) (*column, bool) {
	for c, index := range d.index {
		if index == place && !d.columns[c].Any {
			return d.columns[c], true
		}
	}
	return nil, false
}

// guess guesses the types of columns from some records.
func (d *delimited) guess(o *Options, records [][]string) {
	fields := make([][]string, len(d.columns))
	var together []string
	for c := range d.columns {
		for _, record := range records {
			if i := d.index[c]; i < len(record) {
				fields[c] = append(fields[c], record[i])
			}
		}
		if d.columns[c].Any {
			together = append(together, fields[c]...)
		}
	}
	for c, column := range d.columns {
		if o.OneKind {
			fields[c] = together
		}
		column.guess(*o, d.file, fields[c])
	}
}

// first reads the first record that has the columns, and finds them.
func (d *delimited) first(named bool) ([]string, error) {
	var missing error // the error of the first record that does not have them
	for {
		record, err := d.record()
		switch {
		case err == io.EOF:
			return nil, cmp.Or(missing, err)
		case err == nil:
			err = d.find(trimmed(record))
			if named || err == nil || !d.invalid.pass(err) {
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
			case d.divided != "" && strings.HasPrefix(missing.Reason, "no column"):
				missing.Reason += fmt.Sprintf(", if %s stand between fields", d.divided)
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
