// Package table reads two columns of a table, keys and values, as 32-bit words
// in batches. It reads delimited text (CSV), Parquet and Arrow IPC.
package table

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/vkds/vkds/internal/input/delimited"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// Format is how a table is stored. The zero value is Auto.
type Format uint8

const (
	// Auto tells Parquet and Arrow by their first bytes, then by the name's
	// ending (.parquet, .pq, .arrow, .arrows, .feather, .ipc), and takes
	// anything else, and any file named .csv, .tsv, .txt or .dat, for CSV.
	Auto    Format = iota
	CSV            // delimited text, plain or compressed
	Parquet        // an uncompressed regular file, whatever is compressed inside
	Arrow          // Arrow IPC, as a file or a stream
)

var formatNames = [...]string{Auto: "auto", CSV: "csv", Parquet: "parquet", Arrow: "arrow"}

// FormatNames lists the names that ParseFormat knows, for help texts.
func FormatNames() []string { return formatNames[:] }

func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return fmt.Sprintf("Format(%d)", uint8(f))
}

// FormatError reports a name that is no format's.
type FormatError struct{ Name string }

func (e *FormatError) Error() string {
	return fmt.Sprintf("unknown table format %q (known: %s)", e.Name, strings.Join(formatNames[:], ", "))
}

// ParseFormat returns the format of that name; an unknown one is a *FormatError.
func ParseFormat(name string) (Format, error) {
	for i, n := range formatNames {
		if n == name {
			return Format(i), nil
		}
	}
	return 0, &FormatError{Name: name}
}

// Options say what to read. The zero value reads integers from columns 1 and 2.
type Options struct {
	Format Format
	// Key and Value are a column's name, or its number from 1 where they are
	// digits; "" is 1 for Key and 2 for Value.
	Key, Value         string
	KeyType, ValueType keytype.Type
	// SkipInvalid passes over rows whose key or value is malformed, out of
	// range or null, and malformed records of CSV, and counts them.
	SkipInvalid bool

	// For CSV alone:

	Delimiter rune // 0 = a comma, or a tab where the name ends in .tsv (before .gz and the like)
	Header    delimited.Header
	Comment   rune // begins lines that are passed over and not counted; 0 = there are none

	// Progress, if not nil, is called by Read with the bytes of the stored
	// file that were read so far and the file's size, -1 where that is unknown.
	Progress func(read, size int64)
}

func (o Options) column(i int) (name string, t keytype.Type) {
	if i == 0 {
		return or(o.Key, "1"), o.KeyType
	}
	return or(o.Value, "2"), o.ValueType
}

func or(name, standard string) string {
	if name == "" {
		return standard
	}
	return name
}

// TypeError reports a column whose type holds no values of the type asked for.
type TypeError struct {
	File   string
	Column string // as asked for
	Have   string // the column's type, in its format's words
	Want   keytype.Type
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("%s: column %s is of type %s, which doesn't hold %s values", e.File, quote(e.Column), e.Have, e.Want)
}

// RowError reports a value of a Parquet or Arrow table that has no place in its
// column's type. (Of CSV, that is an *infile.LineError.)
type RowError struct {
	File   string
	Row    int64  // from 1
	Column string // as asked for
	Err    error  // *keytype.ValueError or ErrNull
}

func (e *RowError) Unwrap() error { return e.Err }

func (e *RowError) Error() string {
	return fmt.Sprintf("%s: row %d: column %s: %v", e.File, e.Row, quote(e.Column), e.Err)
}

// DamagedError reports a file that is no Parquet or Arrow file, or a broken one.
type DamagedError struct {
	File   string
	Format Format
	Err    error
}

func (e *DamagedError) Unwrap() error { return e.Err }

func (e *DamagedError) Error() string {
	kind := map[Format]string{Parquet: "Parquet", Arrow: "Arrow"}[e.Format]
	return fmt.Sprintf("%s: no %s file, or a damaged one: %s", e.File, kind, strings.Join(strings.Fields(e.Err.Error()), " "))
}

// quote writes a column's number as it is and a name in quotes.
func quote(column string) string {
	if _, isNumber := delimited.Number(column); isNumber {
		return column
	}
	return fmt.Sprintf("%q", column)
}

// Reader reads the keys and values of one table. It is used from one goroutine
// at a time.
type Reader struct {
	file     *infile.File
	format   Format
	rows     source
	progress func(read, size int64)
}

// source is what each format implements; see Reader.
type source interface {
	Read(keys, values []uint32) (int, error)
	Skipped() int64
	Rows() int64
	Close()
}

// Open opens a table, or standard input for "-". The context ends reads that
// wait for a pipe. Errors are *infile.Error, *infile.LineError,
// *delimited.ColumnError, *delimited.OptionError, *TypeError, *DamagedError or
// the context's cause.
//
// A truncated or broken file is an error. Lengths that it tells are not believed:
// memory is taken as its data come, up to a page of Parquet (256 MiB) or a buffer
// of Arrow (1 GiB).
func Open(ctx context.Context, path string, o Options) (*Reader, error) {
	file, err := infile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := NewFileReader(file, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// NewFileReader is Open for a file that is open already and that nothing was
// read from. Close closes it, too.
func NewFileReader(file *infile.File, o Options) (*Reader, error) {
	r := &Reader{file: file, format: o.Format, progress: o.Progress}
	ext := strings.ToLower(filepath.Ext(infile.TrimCompression(file.Name())))
	var err error
	if r.format == Auto {
		if r.format, err = detect(file, ext); err != nil {
			return nil, err
		}
	}
	switch r.format {
	case Parquet:
		r.rows, err = openParquet(file, o)
	case Arrow:
		r.rows, err = openArrow(file, o)
	default:
		if o.Delimiter == 0 && ext == ".tsv" {
			o.Delimiter = '\t'
		}
		r.rows, err = openCSV(file, o)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func detect(file *infile.File, ext string) (Format, error) {
	switch ext {
	case ".csv", ".tsv", ".txt", ".dat":
		return CSV, nil
	}
	head, err := file.Peek(8)
	if err != nil {
		return Auto, err
	}
	switch text := string(head); {
	case strings.HasPrefix(text, "PAR1"):
		return Parquet, nil
	case strings.HasPrefix(text, arrowMagic), strings.HasPrefix(text, "\xff\xff\xff\xff"):
		return Arrow, nil
	}
	switch ext {
	case ".parquet", ".pq":
		return Parquet, nil
	case ".arrow", ".arrows", ".feather", ".ipc":
		return Arrow, nil
	}
	return CSV, nil
}

// Read fills keys and values, two slices of one length, with the next rows and
// returns how many. The last rows come with a nil error and io.EOF comes alone;
// any other error comes with the rows before it and again from every later
// call: *infile.LineError, *RowError, *infile.Error, *DamagedError or the
// context's cause.
func (r *Reader) Read(keys, values []uint32) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	n, err := r.rows.Read(keys, values[:len(keys)])
	if r.progress != nil {
		r.progress(r.file.Position())
	}
	return n, err
}

// Format returns how the table is stored: Options.Format, or what Auto found.
func (r *Reader) Format() Format { return r.format }

// Rows returns how many rows the table says it has, -1 where that shows only at
// the end.
func (r *Reader) Rows() int64 { return r.rows.Rows() }

// Skipped returns how many rows SkipInvalid passed over so far.
func (r *Reader) Skipped() int64 { return r.rows.Skipped() }

// Close closes the file.
func (r *Reader) Close() error {
	r.rows.Close()
	return r.file.Close()
}

// Load reads a whole table: the keys and the values, row by row, and how many
// rows SkipInvalid passed over. Errors are those of Open and Read.
func Load(ctx context.Context, path string, o Options) (keys, values []uint32, skipped int64, err error) {
	r, err := Open(ctx, path, o)
	if err != nil {
		return nil, nil, 0, err
	}
	defer r.Close()
	for {
		if len(keys) == cap(keys) {
			more := max(1<<16, len(keys))
			if rows := r.Rows(); rows > 0 && keys == nil {
				const believed = 1 << 24            // rows, before they are there
				more = int(min(rows, believed)) + 1 // and one to see the end without growing
			}
			keys = append(make([]uint32, 0, len(keys)+more), keys...)
			values = append(make([]uint32, 0, len(values)+more), values...)
		}
		at, end := len(keys), cap(keys)
		n, err := r.Read(keys[at:end], values[at:end])
		keys, values = keys[:at+n], values[:at+n]
		if err == io.EOF {
			return keys, values, r.Skipped(), nil
		}
		if err != nil {
			return nil, nil, 0, err
		}
	}
}

// csvRows are the rows of delimited text.
type csvRows struct{ *delimited.Reader }

func openCSV(file *infile.File, o Options) (source, error) {
	var columns []delimited.Column
	for i := range 2 {
		name, t := o.column(i)
		columns = append(columns, delimited.Column{Name: name, Type: t})
	}
	r, err := delimited.NewReader(file.Name(), file, delimited.Options{
		Columns:     columns,
		Delimiter:   o.Delimiter,
		Header:      o.Header,
		SkipInvalid: o.SkipInvalid,
		Comment:     o.Comment,
	})
	if err != nil {
		return nil, err
	}
	return csvRows{r}, nil
}

func (c csvRows) Read(keys, values []uint32) (int, error) { return c.Reader.Read(keys, values) }
func (c csvRows) Rows() int64                             { return -1 }
func (c csvRows) Close()                                  {}
