// Package input reads columns of files as words, in blocks. A table has two columns, keys and values; a file of ranges
// has two, their ends; and a file of keys has one. Files are delimited text (CSV), text with a value in each line,
// binary, Parquet or Arrow IPC, plain or compressed, and may be pipes. Errors have the line or the row.
package input

import (
	"context"
	"errors"
	"fmt"
	"github.com/vkds/vkds/internal/tool/keytype"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Column selects a column of a file and its type.
type Column struct {
	// Name is the column's name in the header or the schema, or its number from 1; a name of digits is a number. "" is
	// its index among the selected columns. Text and binary files have exactly the selected columns, in this order,
	// without names.
	Name string
	// Type is the column's type. Wider are those of Type.Wider that it may get instead if values need them; nil: none.
	// Reader.Types returns the type that it has.
	Type  keytype.Type
	Wider []keytype.Type
	// Any lets the type be guessed: Parquet and Arrow files have it, and for text guessType finds it from the first
	// rows. Otherwise it is Type.
	Any bool
	// Adapts lets a guessed type follow the values further. The column is text if most of its first values are words,
	// also with SkipInvalid, and a fraction after integers is a *FractionError.
	Adapts bool
	// Guessed says that Type was guessed for a file before this one, and stays.
	Guessed bool
	// Flag is the flag for the type, "--key-type", for errors about values that another type would have; "": none.
	Flag string
	// Ordered says that values need an order. Text has none, so errors do not suggest it.
	Ordered bool
	// Before are the values, of Type, to which the rows are added. The type that the column gets must have them, too.
	Before keytype.Extent
	// End says that this column has the upper ends of ranges, and the one before it the lower ends. A date without a
	// time is then the last second of its day. In Text, both are written together, as keytype.Type.ParseRange reads
	// them.
	End bool
}

// name returns the name by which the column at an index is requested.
func (c Column) name(place int) string {
	if c.Name == "" {
		return strconv.Itoa(place + 1)
	}
	return c.Name
}

// Options are the options of Open. Columns must not be empty, unless All is set.
type Options struct {
	Columns []Column
	// Verbatim are columns that follow Columns. In CSV they are text, exactly as the fields are; in Parquet and Arrow
	// they have the file's types. Other formats have none. All takes all columns of the file instead. As, if not nil,
	// returns their types, by the file's name and the index in the file.
	Verbatim []string
	All      bool
	As       func(name string, index int) Column
	// Records makes one column of text of All columns of CSV: whole records, whose fields are written by AppendCSV if
	// they are not empty. Reader.Records tells whether that was possible.
	Records bool
	Format  Format
	// Otherwise is the format for files that Auto does not detect by their first bytes or their name: CSV, or Text.
	Otherwise Format
	// SkipInvalid skips rows with an invalid value in a chosen column (malformed, out of range, null), and malformed
	// records and lines, and counts them. The number of fields in a CSV record is then that of the first valid one, or
	// of the header if a column is requested by name. Without SkipInvalid it is that of the first record.
	SkipInvalid bool
	// SkipNull skips rows without a value in a chosen column, and counts them: a null or NaN of Parquet or Arrow, or in
	// text, unless the column has text, an empty field, NULL, \N, NA, N/A or NaN. Null, if not nil, is the value of
	// such fields instead. KeepNull keeps them as nulls, see Reader.Nulls.
	SkipNull, KeepNull bool
	Null               *string
	// OneKind says that all columns with Any have the same type, like the two ends of edges.
	OneKind bool

	// For CSV and Text:

	Header  Header // whether the first line has names
	Comment rune   // begins lines that are skipped and not counted; 0: there are none

	// For CSV only:

	// Delimiter separates fields. 0 is a tab if the name ends in .tsv (before .gz and the like), otherwise that of a
	// first line "sep=;", otherwise a comma, a tab or a semicolon, as sniff finds.
	Delimiter rune

	columns []*column // the state of Columns while they are read
	eager   bool      // reading ahead does not wait for a writer
	block   int       // bytes of a block; 0: BlockBytes; for columnar formats, rows of a batch; 0: batchRows
	parts   int       // of a columnar file that are decoded at a time; 0: by the number of cores
	slow    bool      // rows are only parsed as records, which tests compare with

	// Prompt makes Read return the rows of a pipe of Text that have arrived, if no more arrive at once.
	Prompt bool

	// Note, if not nil, is called with each guess, in one line.
	Note func(text string)
	// Progress, if not nil, is called by Read with the number of bytes of the stored (compressed) file read so far, and
	// its size, -1 if that is not known.
	Progress func(read, size int64)
}

func (o Options) note(format string, arguments ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, arguments...))
	}
}

// Reader reads the columns of one file. Only one goroutine at a time may use it.
type Reader struct {
	file     *File
	format   Format
	rows     int64
	columns  []*column
	source   source
	invalid  invalid
	progress func(read, size int64)
	err      error
}

// source is implemented for each format.
type source interface {
	// read reads rows into slices of one length, from row n on, and returns the index after them. Fewer rows than there
	// is room for do not mean the end. The rows before an error, also io.EOF, are in the slices. An error is the end,
	// except errLater: more rows may come, and Read is to return those that there are.
	read(columns [][]uint64, n int) (int, error)
}

var errLater = errors.New("no more rows are there now")

// invalid counts invalid rows, if they are skipped.
type invalid struct {
	skip, skipNull bool
	count, nulls   int64
}

// pass reports whether to skip something with this error, and counts it.
func (i *invalid) pass(err error) bool {
	var code *CodeError
	switch {
	case errors.As(err, &code): // it means another type of the column; the row is not wrong
		return false
	case i.skipNull && errors.Is(err, ErrNull):
		i.nulls++
		return true
	case i.skip:
		i.count++
	}
	return i.skip
}

// Open opens a file, or standard input for "-". The context ends reads that wait for a pipe. Errors: *OptionError,
// *ColumnError, *LineError, *DamagedError, *Error or the context's cause. An empty text file is not an error; the first
// Read returns io.EOF.
//
// A truncated or damaged file is an error. Open does not trust lengths in the file: memory grows with the data, up to a
// page (256 MiB) for each column and row group of Parquet that is decoded, or a buffer (1 GiB) for each record batch of
// Arrow.
func Open(ctx context.Context, path string, o Options) (*Reader, error) {
	file, err := OpenFile(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(file, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// NewReader is Open for a file that is already open and from which nothing was read. Close closes the file.
func NewReader(file *File, o Options) (r *Reader, err error) {
	if o.Format, err = o.detect(file); err != nil {
		return nil, err
	}
	ext := strings.ToLower(filepath.Ext(TrimCompression(file.Name())))
	if o.Delimiter == 0 && ext == ".tsv" {
		o.Delimiter = '\t'
	}
	o.eager = file.Comes(0)
	r, err = newReader(file.Name(), file, o)
	if err != nil {
		return nil, err
	}
	r.file = file
	return r, nil
}

// chosen returns the columns to be read. null is the value of fields without one, or nil.
func chosen(columns []Column, null *string) (all []*column) {
	for i, c := range columns {
		c.Name = c.name(i)
		all = append(all, &column{Column: c, there: c.Before, texts: &keytype.Arena{}, value: null})
	}
	return all
}

// addVerbatim adds the verbatim columns, whose names the file has. As is like if it is not set.
func (o *Options) addVerbatim(file string, names []string, like Column) error {
	places := make([]int, len(o.Verbatim))
	for i, name := range o.Verbatim {
		var err error
		if places[i], err = find(file, names, name); err != nil {
			return err
		}
	}
	for i := range names {
		if o.All {
			places = append(places, i)
		}
	}
	for _, place := range places {
		c := column{Column: like}
		if o.As != nil {
			c.Column = o.As(names[place], place)
		}
		c.Name, c.place, c.there, c.texts, c.keepNull = names[place], place+1, c.Before, &keytype.Arena{}, true
		o.columns = append(o.columns, &c)
	}
	return nil
}

// newReader reads from in, which is decompressed, and is a *File if the format needs one.
func newReader(name string, in io.Reader, o Options) (r *Reader, err error) {
	o.columns = chosen(o.Columns, o.Null)
	for _, c := range o.columns {
		c.keepNull = o.KeepNull
	}
	r = &Reader{format: o.Format, rows: -1, invalid: invalid{skip: o.SkipInvalid, skipNull: o.SkipNull},
		progress: o.Progress}
	switch o.Format {
	case Parquet:
		r.source, r.rows, err = openParquet(in.(*File), &o, &r.invalid)
	case Arrow:
		r.source, err = openArrow(in.(*File), &o, &r.invalid)
	case U32LE, U32BE, U64LE, U64BE:
		r.source, err = newPacked(name, in, o, &r.invalid)
	case Text, Lines:
		l, failed := newLines(name, in, o, &r.invalid)
		if r.source, err = l, failed; err == nil && o.Prompt {
			l.file = in.(*File)
		}
	default:
		r.source, err = newDelimited(name, in, &o, &r.invalid)
	}
	if err != nil {
		return nil, err
	}
	r.columns = o.columns
	return r, nil
}

// Read fills one slice for each column, all of one length, with the next rows, and returns their number. After the last
// rows it returns io.EOF alone. With another error it also returns the rows before it, and later calls return the error
// again: *LineError, *RowError, *Error, *DamagedError or the context's cause.
//
// The words of a column of text are numbers in its arena (Texts), which has only the texts of this call. If there is
// much text, Read returns fewer rows than there is room for.
//
// The words are of the types that Types returns after the call. The next call may change the types; the caller must
// Widen the words of earlier calls.
func (r *Reader) Read(columns ...[]uint64) (n int, err error) {
	if len(columns) != len(r.columns) {
		panic(fmt.Sprintf("input: Read into %d columns of %d", len(columns), len(r.columns)))
	}
	for _, c := range r.columns {
		c.texts.Reset()
		clear(c.copied)
		c.nulls = c.nulls[:0]
	}
	for n < len(columns[0]) && r.err == nil && !full(r.columns) {
		if n, r.err = r.source.read(columns, n); r.err == errLater {
			r.err = nil
			break
		}
	}
	for i, c := range r.columns {
		c.end(columns[i][:n])
	}
	if r.progress != nil {
		r.progress(r.file.Position())
	}
	if n > 0 && (n == len(columns[0]) || r.err == nil || r.err == io.EOF) || len(columns[0]) == 0 {
		return n, nil
	}
	return n, r.err
}

// Types returns the types of the columns, as far as they were read.
func (r *Reader) Types() (types []keytype.Type) {
	for _, c := range r.columns {
		types = append(types, c.Type)
	}
	return types
}

// Names returns the names of the columns. A verbatim column has the name that the file has for it, or its number if the
// file has none. A column of whole records has those of all columns.
func (r *Reader) Names() (names []string) {
	for _, c := range r.columns {
		if names = append(names, c.Name); c.whole != nil {
			names = append(names[:len(names)-1], c.whole...)
		}
	}
	return names
}

// Width returns the number of columns.
func (r *Reader) Width() int { return len(r.columns) }

// Records reports whether the last column has whole records: Options.Records is set without As, and the file is CSV
// with commas.
func (r *Reader) Records() bool {
	return len(r.columns) > 0 && r.columns[len(r.columns)-1].whole != nil
}

// Columns returns the columns for reading another file of the same table.
func (r *Reader) Columns() (all []Column) {
	for _, c := range r.columns {
		next := c.Column
		next.Before, next.Guessed = c.there, c.Any
		all = append(all, next)
	}
	return all
}

// Texts returns the arenas of the columns. The words of columns of text are numbers in them.
func (r *Reader) Texts() (arenas []*keytype.Arena) {
	for _, c := range r.columns {
		arenas = append(arenas, c.texts)
	}
	return arenas
}

// SetTexts makes the next calls of Read use these arenas, one for each column. The arenas before stay unchanged.
func (r *Reader) SetTexts(arenas ...*keytype.Arena) {
	for i, c := range r.columns {
		c.texts = arenas[i]
	}
}

// Format returns Options.Format, or the format that Auto has detected.
func (r *Reader) Format() Format { return r.format }

// Rows returns the number of rows according to the file, or -1 if only the end shows it.
func (r *Reader) Rows() int64 { return r.rows }

// Skipped returns how much SkipInvalid has skipped so far: rows, records, lines, or odd bytes at the end.
func (r *Reader) Skipped() int64 { return r.invalid.count }

// SkippedNulls returns the number of rows without a value that were skipped so far.
func (r *Reader) SkippedNulls() int64 { return r.invalid.nulls }

// Nulls returns, for each column, which rows of the last Read are null, ascending. The slices are valid until the next
// Read.
func (r *Reader) Nulls() (rows [][]int) {
	for _, c := range r.columns {
		rows = append(rows, c.nulls)
	}
	return rows
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil { // for Given
		return nil
	}
	if c, ok := r.source.(io.Closer); ok {
		_ = c.Close() // all that is needed was read
	}
	return r.file.Close()
}
