package input

import (
	"bytes"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// plain parses the most common rows without an allocation for each field: one line for each record, the same number of
// fields in all, quotes only around whole fields, decimal integers of up to 18 digits. It stops at any other line,
// which is parsed as a record. It must not accept what that would not, or with another result. Several goroutines may
// use one plain.
type plain struct {
	delimiter byte
	comment   []byte
	fields    int   // in each record
	chosen    []int // the column that each field goes to, or -1
	columns   []plainColumn
	whole     int // the column of whole records, or -1
}

// plainColumn is a column as it is when a block is parsed.
type plainColumn struct {
	Column
	integers bool // of any type; they are encoded when they are taken
	text     int  // the column of text that has the same field, or -1
}

// parsed has the rows of whole lines of a text.
type parsed struct {
	rows    int
	from    int // begin and end of the rows' lines in the text
	to      int
	columns []parsedColumn
	quoted  bool // some whole records have quotes or carriage returns, and may be written otherwise
	plain   *plain
}

// parsedColumn has one of three forms: integers, words of the column's type, or positions of texts.
type parsedColumn struct {
	integers []int64
	words    []uint64
	starts   []uint32 // two numbers for each text: its begin and end
	least    int64    // of the integers
	greatest int64
}

// newPlain returns nil if plain can't parse rows of such columns.
func newPlain(delimiter, comment rune, fields int, columns []*column, index []int) *plain {
	if delimiter >= utf8.RuneSelf || fields == 0 {
		return nil
	}
	p := &plain{delimiter: byte(delimiter), fields: fields, chosen: slices.Repeat([]int{-1}, fields), whole: -1}
	if comment != 0 {
		p.comment = []byte(string(comment))
	}
	for c, column := range columns {
		if column.End || index[c] >= fields {
			return nil
		}
		p.columns = append(p.columns, plainColumn{column.Column, column.Type.Integer(), -1})
		if column.whole != nil {
			p.whole = c
			continue
		}
		switch first := p.chosen[index[c]]; {
		case first < 0:
			p.chosen[index[c]] = c
		case p.columns[first].text < 0 && column.Type == keytype.Text:
			p.columns[first].text = c
		default:
			return nil
		}
	}
	return p
}

// knows reports whether the columns are those that blocks are parsed with.
func (p *plain) knows(columns []*column) bool {
	for c, column := range columns {
		if p.columns[c].Type != column.Type {
			return false
		}
	}
	return true
}

// fits reports whether columns, which may have become wider, can take what was parsed.
func (p *plain) fits(columns []*column) bool {
	for c, column := range columns {
		if was := p.columns[c]; was.Type != column.Type && !(was.integers && column.Type.Integer()) {
			return false
		}
	}
	return true
}

// parse parses the lines of a text from an index on. last: the end of the text also ends its last line.
func (p *plain) parse(into *parsed, text []byte, from int, last bool) {
	into.rows, into.from, into.to, into.quoted, into.plain = 0, from, from, false, p
	if len(into.columns) != len(p.columns) {
		into.columns = make([]parsedColumn, len(p.columns))
	}
	for c := range into.columns {
		x := &into.columns[c]
		x.integers, x.words, x.starts = x.integers[:0], x.words[:0], x.starts[:0]
		x.least, x.greatest = math.MaxInt64, math.MinInt64
	}
	for into.to < len(text) {
		line := text[into.to:]
		next := bytes.IndexByte(line, '\n')
		switch {
		case next >= 0:
			line = line[:next]
		case !last:
			return
		default:
			next = len(line) - 1
		}
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if !p.line(into, line, into.to) {
			p.cut(into)
			return
		}
		if p.whole >= 0 {
			x := &into.columns[p.whole]
			x.starts = append(x.starts, uint32(into.to), uint32(into.to+len(line)))
			into.quoted = into.quoted || bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, '\r') >= 0
		}
		into.rows++
		into.to += next + 1
	}
}

// cut removes the fields of an incomplete row.
func (p *plain) cut(into *parsed) {
	for c := range into.columns {
		x := &into.columns[c]
		x.integers = x.integers[:min(into.rows, len(x.integers))]
		x.words = x.words[:min(into.rows, len(x.words))]
		x.starts = x.starts[:min(2*into.rows, len(x.starts))]
	}
}

// line parses a line without its end, at an index of the text, and reports whether it is a plain row.
func (p *plain) line(into *parsed, line []byte, at int) bool {
	if len(p.comment) > 0 && bytes.HasPrefix(line, p.comment) ||
		p.fields == 1 && len(bytes.TrimSpace(line)) == 0 {
		return false
	}
	begin := 0
	for f, c := range p.chosen {
		if c >= 0 && p.columns[c].integers {
			quoted := 0
			if begin < len(line) && line[begin] == '"' {
				quoted = 1
			}
			n, end := number10(line, begin+quoted)
			if end == begin+quoted || quoted == 1 && (end == len(line) || line[end] != '"') {
				return false
			}
			if !p.copied(into, c, line[begin+quoted:end], at+begin+quoted) {
				return false
			}
			end += quoted
			x := &into.columns[c]
			x.integers = append(x.integers, n)
			x.least, x.greatest = min(x.least, n), max(x.greatest, n)
			if begin = p.behind(line, end, f); begin < 0 {
				return false
			}
			continue
		}
		start, end, next := begin, 0, 0
		if begin < len(line) && line[begin] == '"' {
			start++
			length := bytes.IndexByte(line[start:], '"')
			if length < 0 {
				return false
			}
			end = start + length
			next = end + 1
		} else {
			for end = begin; end < len(line) && line[end] != p.delimiter; end++ {
				if line[end] == '"' {
					return false
				}
			}
			next = end
		}
		if c >= 0 && !(p.field(into, c, line[start:end], at+start) && p.copied(into, c, line[start:end], at+start)) {
			return false
		}
		if begin = p.behind(line, next, f); begin < 0 {
			return false
		}
	}
	return true
}

// behind returns the begin of the field after field f, whose end is given, or a negative number if there is no
// delimiter, or after the last field, if there is more.
func (p *plain) behind(line []byte, end, f int) int {
	switch {
	case f == p.fields-1 && end == len(line):
		return end
	case f < p.fields-1 && end < len(line) && line[end] == p.delimiter:
		return end + 1
	}
	return -1
}

// copied is field for the column of text that has the same field as column c, if there is one.
func (p *plain) copied(into *parsed, c int, field []byte, at int) bool {
	text := p.columns[c].text
	return text < 0 || p.field(into, text, field, at)
}

// field parses a field that is not an integer, at an index of the text.
func (p *plain) field(into *parsed, c int, field []byte, at int) bool {
	x, column := &into.columns[c], &p.columns[c]
	if column.Type == keytype.Text {
		if len(field) > keytype.Longest {
			return false
		}
		x.starts = append(x.starts, uint32(at), uint32(at+len(field)))
		return true
	}
	w, err := column.Type.ParseBytes(field)
	if err != nil || column.Any && column.Type == keytype.Float64 && Coded(field) {
		return false
	}
	x.words = append(x.words, w)
	return true
}

// number10 parses a decimal integer of at most 18 digits, without leading zeros, and returns its end, which is begin if
// there is none.
func number10(line []byte, begin int) (n int64, end int) {
	at, most := begin, begin+18
	negative := at < len(line) && line[at] == '-'
	if negative {
		at++
		most++
	}
	first := at
	for at < len(line) {
		d := line[at] - '0'
		if d > 9 {
			break
		}
		n = n*10 + int64(d)
		if at++; at > most {
			return 0, begin
		}
	}
	if at == first || line[first] == '0' && (at > first+1 || negative) {
		return 0, begin
	}
	if negative {
		n = -n
	}
	return n, at
}

// span returns the least and the greatest integer of a type, within an int64.
func span(t keytype.Type) (least, greatest int64) {
	switch t {
	case keytype.Uint32:
		return 0, math.MaxUint32
	case keytype.Uint64:
		return 0, math.MaxInt64
	case keytype.Int32:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

// within returns how many integers of the rows from row to end the type has words for, before the first without one.
func (x *parsedColumn) within(t keytype.Type, row, end int) int {
	least, greatest := span(t)
	if x.least >= least && x.greatest <= greatest {
		return end - row
	}
	for i, n := range x.integers[row:end] {
		if n < least || n > greatest {
			return i
		}
	}
	return end - row
}

// encode converts integers to words of a type.
func encode(to []uint64, t keytype.Type, integers []int64) {
	flip, mask := uint64(0), uint64(math.MaxUint64)
	switch t {
	case keytype.Int32:
		flip, mask = 1<<31, math.MaxUint32
	case keytype.Int64:
		flip = 1 << 63
	}
	for i, n := range integers {
		to[i] = (uint64(n) ^ flip) & mask
	}
}
