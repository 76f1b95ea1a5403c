package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/keytype"
)

// ErrNull reports a row without a key or a value.
var ErrNull = errors.New("is null")

// kind is what a column of Parquet or Arrow holds, as far as it matters here.
type kind uint8

const (
	other kind = iota
	integer
	float
	text
	moment
)

// holds tells whether values of type t can come from a column of kind k.
func (k kind) holds(t keytype.Type) bool {
	switch t {
	case keytype.Float32:
		return k == integer || k == float
	case keytype.Hex:
		return k == integer || k == text
	case keytype.Time:
		return k == integer || k == text || k == moment
	}
	return k == integer
}

// cells are the words of a few rows of one column.
type cells struct {
	words []uint32
	bad   []badCell // in the order of rows
}

type badCell struct {
	row int // among words, from 0
	err error
}

func (c *cells) reset() { c.words, c.bad = c.words[:0], c.bad[:0] }

func (c *cells) add(w uint32, err error) {
	if err != nil {
		c.bad = append(c.bad, badCell{len(c.words), err})
	}
	c.words = append(c.words, w)
}

// columnar hands out the rows that a columnar format reads in batches.
type columnar struct {
	file    string
	names   [2]string // of the columns, as asked for
	skip    bool
	format  Format
	rows    int64 // of the table, or -1
	load    func(columns *[2]cells) error
	close   func()
	columns [2]cells
	at      int   // next row of columns
	start   int64 // number of rows before columns
	skipped int64
	err     error
}

func (c *columnar) Rows() int64    { return c.rows }
func (c *columnar) Skipped() int64 { return c.skipped }
func (c *columnar) Close()         { c.close() }

func (c *columnar) Read(keys, values []uint32) (int, error) {
	n := 0
	for n < len(keys) {
		if c.at == len(c.columns[0].words) {
			c.fill()
			switch {
			case c.err == io.EOF && n > 0:
				return n, nil
			case c.err != nil:
				return n, c.err
			}
			continue
		}
		n += c.take(keys[n:], values[n:])
		if c.err != nil {
			return n, c.err
		}
	}
	return n, nil
}

// fill reads the next batch.
func (c *columnar) fill() {
	if c.err != nil {
		return
	}
	c.start += int64(c.at)
	c.at = 0
	for i := range c.columns {
		c.columns[i].reset()
	}
	c.err = damaged(c.file, c.format, func() error { return c.load(&c.columns) })
	if a, b := len(c.columns[0].words), len(c.columns[1].words); c.err == nil && a != b {
		c.err = &DamagedError{c.file, c.format, fmt.Errorf("columns of %d and %d rows", a, b)}
	}
}

// take copies rows of the batch, up to and over the next bad one.
func (c *columnar) take(keys, values []uint32) int {
	end, bad, column := min(len(c.columns[0].words), c.at+len(keys)), -1, 0
	for i := range c.columns {
		for len(c.columns[i].bad) > 0 && c.columns[i].bad[0].row < c.at {
			c.columns[i].bad = c.columns[i].bad[1:] // the other column's was bad too
		}
		if b := c.columns[i].bad; len(b) > 0 && b[0].row < end {
			end, bad, column = b[0].row, b[0].row, i
		}
	}
	n := copy(keys, c.columns[0].words[c.at:end])
	copy(values, c.columns[1].words[c.at:end])
	c.at = end
	if bad >= 0 {
		if c.skip {
			c.at++
			c.skipped++
		} else {
			c.err = &RowError{c.file, c.start + int64(bad) + 1, c.names[column], c.columns[column].bad[0].err}
			c.at = len(c.columns[0].words)
		}
	}
	return n
}
