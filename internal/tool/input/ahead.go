package input

import (
	"bytes"
	"io"

	"github.com/vkds/vkds/internal/tool/blocks"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// ahead are the rows of delimited text that plain has parsed: those of the block that is being used, from where it is
// used on.
type ahead struct {
	blocks             *blocks.Reader[parsed]
	delimiter, comment rune
	none               bool   // rows are parsed as records alone
	plain              *plain // nil: not known yet
	own                parsed // of what no other goroutine has parsed, or with other columns
	rows               *parsed
	row                int // of these rows, the next one
	settled            int // of these rows, the one before which the blocks stand
}

// place is where records go on.
type place struct{ used, at int }

func (a *ahead) place() place { return place{a.blocks.Used(), a.blocks.At} }

// moved tells where records went on before they were read: rows that are behind them are still good.
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

// settle has the blocks stand before the next row, and returns how many lines they were behind.
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

// more parses on where the blocks stand, and tells whether there are rows now.
func (a *ahead) more(fields int, columns []*column, index []int) bool {
	if a.plain == nil || !a.plain.knows(columns) {
		if a.plain = newPlain(a.delimiter, a.comment, fields, columns, index); a.plain == nil {
			a.none = true
			return false
		}
		a.blocks.Parse = a.plain.parse
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

// takePlain puts rows that plain has parsed in place n and behind it, and returns how many. If it returns 0, a record
// comes that has to be read as such.
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
	rows = d.takeTexts(columns, n, rows)
	for c, column := range d.columns {
		x, to := &a.rows.columns[c], columns[c][n:n+rows]
		switch {
		case a.rows.plain.columns[c].integers:
			encode(to, column.Type, x.integers[a.row:a.row+rows])
		case column.Type != keytype.Text:
			copy(to, x.words[a.row:a.row+rows])
		}
	}
	if a.row += rows; rows == 0 {
		d.records.number += a.settle()
	}
	return rows
}

// takeTexts adds the texts of so many rows to their arenas, or of fewer if these are full then.
func (d *delimited) takeTexts(columns [][]uint64, n, rows int) int {
	a, text := &d.ahead, d.ahead.blocks.Now().Text
	for i := range rows {
		some := false
		for c, column := range d.columns {
			if column.Type == keytype.Text {
				at := a.rows.columns[c].starts[2*(a.row+i):]
				columns[c][n+i] = column.texts.Add(text[at[0]:at[1]])
				some = true
			}
		}
		if !some {
			return rows
		}
		if full(d.columns) {
			return i + 1
		}
	}
	return rows
}
