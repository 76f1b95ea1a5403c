// Package input reads columns of files as words, in blocks: a table is two of them, keys and values, a file of
// ranges two, their ends, and a file of keys one. Files are delimited text (CSV), text with a value a line, binary,
// Parquet or Arrow IPC, plain or compressed, or come through a pipe. What is wrong is told with its line or row.
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

// Column chooses a column of a file and says what it holds.
type Column struct {
	// Name is its name in the header or the schema, or its number from 1; digits alone are a number. "" is its place
	// among those chosen. Text and binary files have the columns that are chosen, in this order, and no names.
	Name string
	// Type is what it holds, and Wider are the types that it may turn out to hold instead, which Type.Wider names; nil:
	// none of them will do. Reader.Types tells which one it is.
	Type  keytype.Type
	Wider []keytype.Type
	// Any says that nobody has said what it holds: a file of Parquet or Arrow says it itself, and text shows it by its
	// first rows, as guessType has it; else it is of Type.
	Any bool
	// Flag is what says what it holds, "--key-type", for errors about values that another type would read; "": nothing.
	Flag string
	// Ordered says that values need an order, which text has not: no error tells that text would do.
	Ordered bool
	// Before is what there is already where the rows go to, of Type. It has to have words of the type that the column
	// turns out to hold, too.
	Before keytype.Extent
	// End says that the column before it holds the lower ends of ranges, and this one the upper ends: a date without a
	// time is the last second of its day. In Text both are written together, as keytype.Type.ParseRange reads them.
	End bool
}

// name is how the column at a place, from 0, is asked for.
func (c Column) name(place int) string {
	if c.Name == "" {
		return strconv.Itoa(place + 1)
	}
	return c.Name
}

// Options say what to read. Columns must not be empty.
type Options struct {
	Columns []Column
	Format  Format
	// Otherwise is what Auto takes a file for that neither its first bytes nor its name tell: CSV, or Text where it is.
	Otherwise Format
	// SkipInvalid passes over rows with something else than a value in a chosen column (malformed, out of range, null),
	// and over malformed records and lines, and counts them. How many fields a record of CSV has then says the first
	// valid one, or the header where a column is asked by name; else the first record of all.
	SkipInvalid bool
	// SkipNull passes over rows without a value in a chosen column, and counts them, too: a null or NaN of Parquet or
	// Arrow, or in text, where the column holds none, an empty field, NULL, \N, NA, N/A or NaN. Null, if not nil, is
	// what such fields are read as instead.
	SkipNull bool
	Null     *string
	// OneKind says that the columns that are Any hold values of one kind, as the two ends of edges do.
	OneKind bool

	// For CSV and Text:

	Header  Header // whether the first line holds names
	Comment rune   // begins lines that are passed over and not counted; 0: there are none

	// For CSV alone:

	// Delimiter stands between fields. 0 is a tab where the name ends in .tsv (before .gz and the like), else what a
	// first line "sep=;" says, else a comma, a tab or a semicolon, as sniff finds.
	Delimiter rune

	columns []*column // what is known of Columns while they are read
	eager   bool      // what isn't needed yet may be read: nobody has to wait for it
	block   int       // bytes of a block; 0: blockBytes
	records bool      // rows are parsed as records alone, as tests compare

	// Prompt has Read return the rows of a pipe of Text that there are, if no more come at once.
	Prompt bool

	// Note, if not nil, is called with what had to be guessed, in one line each.
	Note func(text string)
	// Progress, if not nil, is called by Read with the bytes of the stored (compressed) file that were read so far and
	// the file's size, -1 where that is unknown.
	Progress func(read, size int64)
}

func (o Options) note(format string, arguments ...any) {
	if o.Note != nil {
		o.Note(fmt.Sprintf(format, arguments...))
	}
}

// Reader reads the columns of one file. It is used from one goroutine at a time.
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

// source is what each format implements.
type source interface {
	// read reads rows into slices of one length, from row n on, and returns where they end: fewer than there is room
	// for is no end. An error, also io.EOF, comes with the rows before it, and is the end, but errLater: more rows may
	// come, and those that there are are wanted now.
	read(columns [][]uint64, n int) (int, error)
}

var errLater = errors.New("no more rows are there now")

// invalid counts what can't be read, where that is passed over.
type invalid struct {
	skip, skipNull bool
	count, nulls   int64
}

// pass tells whether to pass over something with this error, and counts it.
func (i *invalid) pass(err error) bool {
	var code *CodeError
	switch {
	case errors.As(err, &code): // another reading of the column is right, not of the row
		return false
	case i.skipNull && errors.Is(err, ErrNull):
		i.nulls++
		return true
	case i.skip:
		i.count++
	}
	return i.skip
}

// Open opens a file, or standard input for "-". The context ends reads that wait for a pipe. Errors are *OptionError,
// *ColumnError, *LineError, *DamagedError, *Error or the context's cause. An empty file of text is no error; the
// first Read returns io.EOF.
//
// A truncated or broken file is an error. Lengths that it tells are not believed: memory is taken as its data come, up
// to a page of Parquet (256 MiB) or a buffer of Arrow (1 GiB).
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

// NewReader is Open for a file that is open already and that nothing was read from. Close closes it, too.
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

// chosen are columns that are about to be read, and null is the value of fields without one, or nil.
func chosen(columns []Column, null *string) (all []*column) {
	for i, c := range columns {
		c.Name = c.name(i)
		all = append(all, &column{Column: c, there: c.Before, texts: &keytype.Arena{}, value: null})
	}
	return all
}

// newReader reads from in, which is decompressed, and a file where the format needs one.
func newReader(name string, in io.Reader, o Options) (r *Reader, err error) {
	o.columns = chosen(o.Columns, o.Null)
	r = &Reader{format: o.Format, rows: -1, columns: o.columns,
		invalid: invalid{skip: o.SkipInvalid, skipNull: o.SkipNull}, progress: o.Progress}
	switch o.Format {
	case Parquet:
		r.source, r.rows, err = openParquet(in.(*File), o, &r.invalid)
	case Arrow:
		r.source, err = openArrow(in.(*File), o, &r.invalid)
	case U32LE, U32BE, U64LE, U64BE:
		r.source, err = newPacked(name, in, o, &r.invalid)
	case Text, Lines:
		l, failed := newLines(name, in, o, &r.invalid)
		if r.source, err = l, failed; err == nil && o.Prompt {
			l.file = in.(*File)
		}
	default:
		r.source, err = newDelimited(name, in, o, &r.invalid)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Read fills one slice a column, all of one length, with the next rows and returns how many. The last rows come with a
// nil error and io.EOF comes alone; any other error comes with the rows before it or behind them, and again from every
// later call: *LineError, *RowError, *Error, *DamagedError or the context's cause.
//
// The words of a column of text are numbers in its arena (Texts), which holds the texts of this call alone. Fewer rows
// than there is room for come where the texts are long together.
//
// The words are of the types that Types then returns, which may be others after the next call: the caller has to Widen
// what came before.
func (r *Reader) Read(columns ...[]uint64) (n int, err error) {
	if len(columns) != len(r.columns) {
		panic(fmt.Sprintf("input: Read into %d columns of %d", len(columns), len(r.columns)))
	}
	for _, c := range r.columns {
		c.texts.Reset()
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

// Types returns what the columns hold, as far as they were read.
func (r *Reader) Types() (types []keytype.Type) {
	for _, c := range r.columns {
		types = append(types, c.Type)
	}
	return types
}

// Texts are the arenas of the columns, in which the words of those of text are numbers.
func (r *Reader) Texts() (arenas []*keytype.Arena) {
	for _, c := range r.columns {
		arenas = append(arenas, c.texts)
	}
	return arenas
}

// SetTexts has the next calls of Read use these arenas, one a column, so that those before are left as they are.
func (r *Reader) SetTexts(arenas ...*keytype.Arena) {
	for i, c := range r.columns {
		c.texts = arenas[i]
	}
}

// Format returns how the file is stored: Options.Format, or what Auto found.
func (r *Reader) Format() Format { return r.format }

// Rows returns how many rows the file says it has, -1 where that shows only at the end.
func (r *Reader) Rows() int64 { return r.rows }

// Skipped returns how much SkipInvalid passed over so far: rows, records, lines, or odd bytes at the end.
func (r *Reader) Skipped() int64 { return r.invalid.count }

// Nulls returns how many rows without a value were passed over so far.
func (r *Reader) Nulls() int64 { return r.invalid.nulls }

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil { // there is none
		return nil
	}
	if c, ok := r.source.(io.Closer); ok {
		_ = c.Close() // of what was read nothing is left to be told
	}
	return r.file.Close()
}
