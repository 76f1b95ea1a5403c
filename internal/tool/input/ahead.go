package input

import (
	"bytes"
	"io"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// ahead has the rows of delimited text that plain has parsed: those of the current block that are still to be used.
type ahead struct {
	blocks             *Blocks[parsed]
	delimiter, comment rune
	none               bool   // rows are only parsed as records
	plain              *plain // nil: not known yet
	own                parsed // of a part that no other goroutine has parsed, or parsed for other types of columns
	rows               *parsed
	row                int // the index of the next row
	settled            int // the row at which the blocks' position is
}

// place is the position of the next record.
type place struct{ used, at int }

func (a *ahead) place() place { return place{a.blocks.Used(), a.blocks.At} }

// moved updates the rows after records were read from a position on. Rows after these are still valid.
func (a *ahead) moved(before place) {
	if a.rows == nil {
		return
	}
	if a.blocks.Used() != before.used || a.blocks.At > a.rows.to {
		a.rows = nil
		return
	}
	if a.blocks.At == a.rows.to {
		a.row = a.rows.rows // the last line may have no end
	} else {
		a.row += bytes.Count(a.blocks.Now().Text[before.at:a.blocks.At], []byte("\n"))
	}
	a.settled = a.row
}

// settle moves the blocks' position to the next row, and returns the number of lines in between.
func (a *ahead) settle() (lines int) {
	if a.rows == nil {
		return 0
	}
	lines = a.row - a.settled
	if a.settled = a.row; a.row == a.rows.rows {
		a.blocks.At = a.rows.to
		return lines
	}
	text := a.blocks.Now().Text
	for range lines {
		a.blocks.At += bytes.IndexByte(text[a.blocks.At:], '\n') + 1
	}
	return lines
}

// more parses from the blocks' position on, and reports whether there are rows.
func (a *ahead) more(fields int, columns []*column, index []int) bool {
	if a.plain == nil || !a.plain.knows(columns) {
		if a.plain = newPlain(a.delimiter, a.comment, fields, columns, index); a.plain == nil {
			a.none = true
			return false
		}
		a.blocks.ParseBy(a.plain.parse)
	}
	now := a.blocks.Now()
	if a.rows, a.row, a.settled = nil, 0, 0; a.blocks.At == len(now.Text) {
		return false
	}
	if a.blocks.At == 0 {
		a.rows = now.Parsed()
	}
	if a.rows == nil || !a.rows.plain.fits(columns) {
		a.plain.parse(&a.own, now.Text, a.blocks.At, now.Err == io.EOF)
		a.rows = &a.own
	}
	return a.rows.rows > 0
}

// takePlain copies parsed rows to the columns, from row n on, and returns their number. If it returns 0, the next
// record must be read as a record.
func (d *delimited) takePlain(columns [][]uint64, n int) int {
	a := &d.ahead
	if a.none || d.pending != nil || d.fields == 0 {
		return 0
	}
	if a.rows == nil || a.row == a.rows.rows {
		d.records.number += a.settle()
		if !a.more(d.fields, d.columns, d.index) {
			return 0
		}
	}
	rows := min(a.rows.rows-a.row, len(columns[0])-n)
	for c, column := range d.columns {
		if x := &a.rows.columns[c]; a.rows.plain.columns[c].integers {
			rows = x.within(column.Type, a.row, a.row+rows)
		}
	}
	for c, column := range d.columns {
		x, to := &a.rows.columns[c], columns[c][n:n+rows]
		switch {
		case a.rows.plain.columns[c].integers:
			encode(to, column.Type, x.integers[a.row:a.row+rows])
		case column.Type == keytype.Text:
			first := column.texts.AddList(&x.texts, a.row, a.row+rows)
			for i := range to {
				to[i] = first + uint64(i)
			}
		default:
			copy(to, x.words[a.row:a.row+rows])
		}
	}
	if a.row += rows; rows == 0 {
		d.records.number += a.settle()
	}
	return rows
}
