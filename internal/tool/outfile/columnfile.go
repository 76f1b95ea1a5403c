package outfile

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// Format is a columnar format that package input reads, too. Pairs are a table of two columns, key and value.
//
// Integers are integers of their width, signed or unsigned; hexadecimal numbers and addresses are unsigned integers;
// floats are floats. Times are timestamps in UTC: of nanoseconds if they have 64 bits, otherwise of seconds in Arrow
// and of milliseconds in Parquet, which has no seconds. Texts are strings, and must be UTF-8.
type Format uint8

const (
	Parquet     Format = iota
	Arrow              // the file format of Arrow IPC
	ArrowStream        // its stream format
)

// Columns has the types of the two columns, and for columns of text the arenas of their words.
type Columns struct {
	Key, Value           keytype.Type
	KeyTexts, ValueTexts *keytype.Arena
}

var names = [2]string{"key", "value"}

// column is one of the columns.
type column struct {
	keytype.Type
	texts *keytype.Arena
}

func (c Columns) each() [2]column { return [2]column{{c.Key, c.KeyTexts}, {c.Value, c.ValueTexts}} }

// ErrNotUTF8 reports a text that can't be in a column of strings.
var ErrNotUTF8 = errors.New("isn't UTF-8, which strings are in Parquet and Arrow (CSV takes any text)")

// strings returns the texts of words. The error wraps ErrNotUTF8.
func (c column) strings(words []uint64) ([][]byte, error) {
	all := make([][]byte, len(words))
	for i, w := range words {
		if all[i] = c.texts.At(w); !utf8.Valid(all[i]) {
			return nil, fmt.Errorf("%.40q %w", all[i], ErrNotUTF8)
		}
	}
	return all, nil
}

// Writer writes one table. Only one goroutine at a time may use it.
type Writer struct {
	sink  *sink
	table table
}

// table is implemented for each format.
type table interface {
	write(keys, values []uint64) error
	close() error
}

// NewWriter begins a table and writes its bytes to w. Errors of a Writer are those of w, unchanged, and errors that
// wrap ErrNotUTF8.
func NewWriter(w io.Writer, f Format, c Columns) (*Writer, error) {
	o := &Writer{sink: &sink{w: w}}
	err := o.sink.watch(func() (err error) {
		if f == Parquet {
			o.table, err = newParquet(o.sink, c)
		} else {
			o.table, err = newArrow(o.sink, f, c)
		}
		return err
	})
	return o, err
}

// Write adds pairs of words as a row group of Parquet or a record batch of Arrow. Small ones waste space.
func (o *Writer) Write(keys, values []uint64) error {
	if len(keys) == 0 {
		return nil
	}
	return o.sink.watch(func() error { return o.table.write(keys, values) })
}

// Close completes the table. It leaves w open.
func (o *Writer) Close() error { return o.sink.watch(o.table.close) }

// sink is the writer of a library. It keeps the first error, because the libraries wrap it, or panic with it.
type sink struct {
	w   io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// watch calls a library. It returns the error of the writer, if any, otherwise that of the library.
func (s *sink) watch(call func() error) (err error) {
	defer func() {
		p := recover()
		switch {
		case s.err != nil:
			err = s.err
		case p != nil:
			panic(fmt.Sprint("outfile: ", p))
		}
	}()
	if s.err != nil {
		return s.err
	}
	return call()
}
