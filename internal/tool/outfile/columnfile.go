package outfile

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// Format is a columnar format that package input reads, too. Pairs become a table of two columns, key and value.
//
// Integers become integers of their width, signed or not; hexadecimal numbers and addresses unsigned ones; floats
// floats; times timestamps in UTC, those of 32 bits of seconds in Arrow and of milliseconds, for want of seconds, in
// Parquet, those of 64 bits of nanoseconds; texts strings, for which they have to be UTF-8.
type Format uint8

const (
	Parquet     Format = iota
	Arrow              // the file format of Arrow IPC
	ArrowStream        // its stream format
)

// Columns are the types of the two columns, and the texts whose numbers the words of text are.
type Columns struct {
	Key, Value           keytype.Type
	KeyTexts, ValueTexts *keytype.Arena
}

var names = [2]string{"key", "value"}

// column is what is known of one of them.
type column struct {
	keytype.Type
	texts *keytype.Arena
}

func (c Columns) each() [2]column { return [2]column{{c.Key, c.KeyTexts}, {c.Value, c.ValueTexts}} }

// ErrNotUTF8 says that a text has no place in a column of strings.
var ErrNotUTF8 = errors.New("isn't UTF-8, which strings are in Parquet and Arrow (CSV takes any text)")

// strings are the texts of words. Error: one that wraps ErrNotUTF8.
func (c column) strings(words []uint64) ([][]byte, error) {
	all := make([][]byte, len(words))
	for i, w := range words {
		if all[i] = c.texts.At(w); !utf8.Valid(all[i]) {
			return nil, fmt.Errorf("%.40q %w", all[i], ErrNotUTF8)
		}
	}
	return all, nil
}

// Writer writes one table. It is used from one goroutine at a time.
type Writer struct {
	sink  *sink
	table table
}

// table is what each format implements.
type table interface {
	write(keys, values []uint64) error
	close() error
}

// NewWriter begins a table, whose bytes go to w. Errors of a Writer are those of w, as they come, and
// such that wrap ErrNotUTF8.
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

// Write adds pairs, given as words, as a row group of Parquet or a record batch of Arrow of their own: small ones cost
// space.
func (o *Writer) Write(keys, values []uint64) error {
	if len(keys) == 0 {
		return nil
	}
	return o.sink.watch(func() error { return o.table.write(keys, values) })
}

// Close completes the table. It leaves w open.
func (o *Writer) Close() error { return o.sink.watch(o.table.close) }

// sink is where a library writes. It remembers what went wrong there, which the libraries wrap in words of their own,
// or panic with.
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

// watch calls a library, and returns what went wrong with the writing before what the library makes of it.
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
