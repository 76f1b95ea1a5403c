// Package keyfile reads files of 32-bit keys, such as request traces, and files
// of ranges of keys, in batches: text with one a line, binary, or columns of
// delimited text, each plain or compressed.
package keyfile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/vkds/vkds/internal/input/delimited"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// Format is how keys are written in a file. The zero value is Auto.
type Format uint8

const (
	Auto  Format = iota // CSV where the name ends in .csv or .tsv (before .gz and the like), else Text
	Text                // one key a line; lines end in \n or \r\n
	U32LE               // 4 bytes a key, as keytype.Type.FromBits has them, least significant first
	U32BE               // the same, most significant first
	CSV                 // a column of delimited text
)

var formatNames = [...]string{Auto: "auto", Text: "text", U32LE: "u32le", U32BE: "u32be", CSV: "csv"}

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
	return fmt.Sprintf("unknown format %q (known: %s)", e.Name, strings.Join(formatNames[:], ", "))
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

// Options say how to read a file. The zero value reads decimal or 0x keys, one
// a line, and takes nothing else.
type Options struct {
	Format Format
	Type   keytype.Type // of keys
	// SkipInvalid passes over what is no key and counts it: lines, records of
	// CSV, and of a binary file what is no number and odd bytes at the end.
	SkipInvalid bool
	// Comment, if not 0, begins lines of Text and CSV that are passed over and
	// not counted.
	Comment rune

	// For CSV alone:

	Column     string           // name, or number from 1; "" = 1
	HighColumn string           // of the upper ends of ranges, "" = 2
	Delimiter  rune             // 0 = a comma, or a tab where the name ends in .tsv
	Header     delimited.Header // whether the first record holds names

	// Progress, if not nil, is called by Read with the bytes of the stored
	// (compressed) file that were read so far and the file's size, -1 where
	// that is unknown.
	Progress func(read, size int64)
}

// ErrOddBytes reports a binary file that doesn't end with a whole key.
var ErrOddBytes = errors.New("ends in the middle of a 4-byte key")

// Reader reads the keys of one file. It is used from one goroutine at a time.
type Reader struct {
	file     *infile.File // nil for NewReader
	keys     source
	progress func(read, size int64)
}

// source is what each format implements; see Reader.Read.
type source interface {
	Read(keys []uint32) (int, error)
	Skipped() int64
}

// Open opens a file of keys, or standard input for "-". The context ends reads
// that wait for a pipe. Errors are *infile.Error, *infile.LineError,
// *delimited.ColumnError, *delimited.OptionError or the context's cause.
func Open(ctx context.Context, path string, o Options) (*Reader, error) {
	file, o, err := open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(file.Name(), file, o)
	if err != nil {
		file.Close()
		return nil, err
	}
	r.file = file
	return r, nil
}

// FormatOf is what Auto stands for where a file has that name; any other format
// is itself.
func FormatOf(path string, f Format) Format {
	switch ext := strings.ToLower(filepath.Ext(infile.TrimCompression(path))); {
	case f != Auto:
		return f
	case ext == ".csv" || ext == ".tsv":
		return CSV
	}
	return Text
}

// open opens a file, and completes the options by its name.
func open(ctx context.Context, path string, o Options) (*infile.File, Options, error) {
	file, err := infile.Open(ctx, path)
	if err != nil {
		return nil, o, err
	}
	o.Format = FormatOf(path, o.Format)
	if ext := filepath.Ext(infile.TrimCompression(path)); o.Delimiter == 0 && strings.EqualFold(ext, ".tsv") {
		o.Delimiter = '\t'
	}
	return file, o, nil
}

// NewReader reads keys from r, already decompressed. name is the file's in
// messages; Progress isn't called. Errors are those of Open.
func NewReader(name string, r io.Reader, o Options) (*Reader, error) {
	k := &Reader{progress: o.Progress}
	switch o.Format {
	case U32LE:
		k.keys = newPacked(name, r, binary.LittleEndian, o.Type, o.SkipInvalid)
	case U32BE:
		k.keys = newPacked(name, r, binary.BigEndian, o.Type, o.SkipInvalid)
	case CSV:
		if o.Column == "" {
			o.Column = "1"
		}
		records, err := delimited.NewReader(name, r, delimited.Options{
			Columns:     []delimited.Column{{Name: o.Column, Type: o.Type}},
			Delimiter:   o.Delimiter,
			Header:      o.Header,
			SkipInvalid: o.SkipInvalid,
			Comment:     o.Comment,
		})
		if err != nil {
			return nil, err
		}
		k.keys = column{records}
	default:
		lines, err := newText(name, r, o)
		if err != nil {
			return nil, err
		}
		k.keys = lines
	}
	return k, nil
}

// column is one column of delimited text.
type column struct{ *delimited.Reader }

func (c column) Read(keys []uint32) (int, error) { return c.Reader.Read(keys) }

// Read reads the next keys and returns how many. It fills the slice unless the
// input ends or is wrong. The last keys come with a nil error and io.EOF comes
// alone; any other error comes with the keys before it and again from every
// later call: *infile.LineError for a line that is no key, *infile.Error for a
// file that can't be read, is truncated or ends in the middle of a key, or the
// context's cause.
func (r *Reader) Read(keys []uint32) (int, error) {
	if len(keys) == 0 {
		return 0, nil
	}
	n, err := r.keys.Read(keys)
	if r.progress != nil && r.file != nil {
		r.progress(r.file.Position())
	}
	return n, err
}

// Skipped returns how many lines, records or keys SkipInvalid passed over.
func (r *Reader) Skipped() int64 { return r.keys.Skipped() }

// Close closes the file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
