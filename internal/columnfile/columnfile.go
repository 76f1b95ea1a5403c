// Package columnfile writes pairs as tables of two columns, key and value, in the columnar formats that package table
// reads: Parquet and Arrow IPC.
//
// Integers become integers of their width, signed or not; hexadecimal numbers and addresses unsigned ones; floats
// floats; times timestamps in UTC, those of 32 bits of seconds in Arrow and of milliseconds, for want of seconds, in
// Parquet, those of 64 bits of nanoseconds.
package columnfile

import (
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/keytype"
)

// Format is a columnar format.
type Format uint8

const (
	Parquet     Format = iota
	Arrow              // the file format of Arrow IPC
	ArrowStream        // its stream format
)

// Columns are the types of the two columns.
type Columns struct{ Key, Value keytype.Type }

var names = [2]string{"key", "value"}

func (c Columns) types() [2]keytype.Type { return [2]keytype.Type{c.Key, c.Value} }

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

// NewWriter begins a table, whose bytes go to w. Errors of a Writer are those of w, as they come.
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
			panic(fmt.Sprint("columnfile: ", p))
		}
	}()
	if s.err != nil {
		return s.err
	}
	return call()
}
