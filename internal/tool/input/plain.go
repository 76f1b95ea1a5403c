package input

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// plain parses the most common rows without an allocation for each field: one line for each record, the same number of
// fields in all, quotes only around whole fields, decimal integers of up to 18 digits. It stops at any other line,
// which is parsed as a record. It must not accept what that would not, or with another result. Several goroutines may
// use one plain.
//
// A processor can't begin with a field before it knows where the previous one ends. To have it wait less, plain looks
// for delimiters, quotes and line feeds (marks) in 64 bytes at a time, and parses many lines column by column.
type plain struct {
	delimiter byte
	comment   []byte
	fields    int // in each record
	columns   []plainColumn
}

// plainColumn is a column as it is when a block is parsed.
type plainColumn struct {
	Column
	integers bool // of any type; they are encoded when they are taken
	index    int  // of its field
	whole    bool // it has whole records
}

// parsed has the rows of whole lines of a text.
type parsed struct {
	rows    int
	from    int // begin and end of the rows' lines in the text
	to      int
	columns []parsedColumn
	plain   *plain
	fields  []field // of the lines that are being parsed
	record  []byte  // one as it is printed
}

// field is the begin and the end of a field in a text, without quotes.
type field struct{ begin, end uint32 }

// parsedColumn has one of three forms: integers, words of the column's type, or texts.
type parsedColumn struct {
	integers []int64
	words    []uint64
	texts    keytype.TextList
	least    int64 // of the integers
	greatest int64
}

// newPlain returns nil if plain can't parse rows of such columns.
func newPlain(delimiter, comment rune, fields int, columns []*column, index []int) *plain {
	if delimiter >= utf8.RuneSelf || fields == 0 {
		return nil
	}
	p := &plain{delimiter: byte(delimiter), fields: fields}
	if comment != 0 {
		p.comment = []byte(string(comment))
	}
	for c, column := range columns {
		if column.End || index[c] >= fields {
			return nil
		}
		p.columns = append(p.columns, plainColumn{column.Column, column.Type.Integer(), index[c],
			column.whole != nil})
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
	into.rows, into.from, into.to, into.plain = 0, from, from, p
	if len(into.columns) != len(p.columns) {
		into.columns = make([]parsedColumn, len(p.columns))
	}
	for c := range into.columns {
		x := &into.columns[c]
		x.integers, x.words = x.integers[:0], x.words[:0]
		x.texts.Truncate(0)
		x.least, x.greatest = math.MaxInt64, math.MinInt64
	}
	// Lines that are split together with one that is not plain are split again after it. If many are not plain, that
	// must not take much longer than the rest, so the first ones are split one at a time.
	for lines, more := 1, true; more; lines = min(2*lines, max(1, fieldsAtOnce/p.fields)) {
		more = p.lines(into, text, lines, last)
	}
}

// fieldsAtOnce is how many fields are split before they are parsed. Each takes eight bytes of a core's fastest cache.
const fieldsAtOnce = 1024

// lines parses that many more lines, and reports whether all of them are there and are plain rows.
func (p *plain) lines(into *parsed, text []byte, lines int, last bool) bool {
	into.fields = slices.Grow(into.fields[:0], lines*p.fields)[:lines*p.fields]
	rows := p.skipped(into.fields, text, p.split(into.fields, text, into.to, last))
	for c := range p.columns {
		rows = p.convert(into, c, text, rows)
	}
	into.rows += rows
	for c := range into.columns {
		x := &into.columns[c]
		x.integers = x.integers[:min(into.rows, len(x.integers))]
		x.words = x.words[:min(into.rows, len(x.words))]
		x.texts.Truncate(into.rows)
	}
	if rows > 0 {
		into.to = int(into.fields[rows*p.fields-1].end)
		if feed := bytes.IndexByte(text[into.to:], '\n'); feed >= 0 {
			into.to += feed + 1
		} else {
			into.to = len(text)
		}
	}
	return rows == lines
}

// split finds the fields of lines, and returns the number of lines before the first that has another number of fields,
// or quotes other than around a whole field.
func (p *plain) split(fields []field, text []byte, begin int, last bool) (lines int) {
	from, found := begin-64, uint64(0) // the marks that are left of the 64 bytes from there on
	for ; len(fields) > 0 && begin < len(text); lines++ {
		line := fields[:p.fields]
		fields = fields[p.fields:]
		for f := range line {
			for found == 0 {
				if from += 64; from > len(text) {
					return lines
				}
				found = p.marks(text[from:], last)
			}
			mark, final := from+bits.TrailingZeros64(found), f == len(line)-1
			found &= found - 1
			if !final && mark < len(text) && text[mark] == p.delimiter {
				line[f] = field{uint32(begin), uint32(mark)}
				begin = mark + 1
				continue
			}
			var after int
			line[f], after = p.unusual(text, begin, mark, from+bits.TrailingZeros64(found), final)
			if after < 0 || after == len(text) && !last {
				return lines
			}
			if begin = after + 1; begin-from < 64 {
				found = found >> (begin - from) << (begin - from)
			} else {
				from, found = begin-64, 0
			}
		}
	}
	return lines
}

// unusual returns a field that is in quotes or the last of its line, and the index of the delimiter, line feed or text
// end after it, which is negative if there is none. mark is the first mark from begin on, and no other is before next.
func (p *plain) unusual(text []byte, begin, mark, next int, final bool) (is field, after int) {
	end := mark
	if after = mark; mark < len(text) && text[mark] == '"' {
		for end = next; end < len(text) && text[end] != '"' && text[end] != '\n'; {
			end++
		}
		if mark > begin || end >= len(text) || text[end] == '\n' {
			return is, -1
		}
		begin++
		if after = end + 1; final && after < len(text) && text[after] == '\r' {
			after++
		}
	} else if final && end > begin && text[end-1] == '\r' {
		end--
	}
	ended := after == len(text) || text[after] == '\n'
	if ended != final || !ended && text[after] != p.delimiter {
		return is, -1
	}
	return field{uint32(begin), uint32(end)}, after
}

const (
	ones  = 0x0101010101010101 // times a byte: eight of it
	highs = 0x80 * ones
)

// marks returns a bit for each of the first 64 bytes of a text, which is set for delimiters, quotes and line feeds. If
// last, the end of the text counts as a line feed.
func (p *plain) marks(text []byte, last bool) (found uint64) {
	if len(text) < 64 {
		for i, c := range text {
			if c == p.delimiter || c == '"' || c == '\n' {
				found |= 1 << i
			}
		}
		if last {
			found |= 1 << len(text)
		}
		return found
	}
	delimiters := uint64(p.delimiter) * ones
	for i, bytes := 0, (*[64]byte)(text); i < 8; i++ {
		w := binary.LittleEndian.Uint64(bytes[8*i:])
		low := w &^ highs
		// The highest bit of each byte is set if the byte's lower bits are those of a mark.
		is := (highs - (low ^ delimiters)) | (highs - (low ^ '"'*ones)) | (highs - (low ^ '\n'*ones))
		// The product has these eight bits in its highest byte.
		found |= (is &^ w & highs) * 0x2040810204081 >> 56 << (8 * i)
	}
	return found
}

// skipped returns the number of lines before the first one that is blank or a comment.
func (p *plain) skipped(fields []field, text []byte, lines int) int {
	if len(p.comment) == 0 && p.fields > 1 {
		return lines
	}
	for line := range lines {
		f := fields[line*p.fields]
		quoted := f.begin > 0 && text[f.begin-1] == '"'
		if !quoted && (len(p.comment) > 0 && bytes.HasPrefix(text[f.begin:], p.comment) ||
			p.fields == 1 && len(bytes.TrimSpace(text[f.begin:f.end])) == 0) {
			return line
		}
	}
	return lines
}

// convert parses the fields of a column, and returns the number of rows before the first one that is not plain.
func (p *plain) convert(into *parsed, c int, text []byte, rows int) int {
	x, column, fields := &into.columns[c], &p.columns[c], into.fields[p.columns[c].index:]
	switch {
	case column.integers:
		return x.addIntegers(text, fields, p.fields, rows)
	case column.whole:
		p.addRecords(into, x, text, rows)
		return rows
	case column.Type == keytype.Text:
		return x.addTexts(text, fields, p.fields, rows)
	}
	for row := range rows {
		f := fields[row*p.fields]
		text := text[f.begin:f.end]
		w, err := column.Type.ParseBytes(text)
		if err != nil || column.Any && column.Type == keytype.Float64 && Coded(text) {
			return row
		}
		x.words = append(x.words, w)
	}
	return rows
}

// addIntegers is convert for integers. The column's field is the first one, and each after that many.
func (x *parsedColumn) addIntegers(text []byte, fields []field, each, rows int) int {
	for row := range rows {
		f := fields[row*each]
		n, ok := int64(0), false
		if digits := f.end - f.begin; digits-1 < 8 && int(f.begin) < len(text)-7 {
			n, ok = short(text[f.begin:], uint(digits))
		}
		if !ok {
			n, ok = number10(text[f.begin:f.end])
		}
		if !ok {
			return row
		}
		x.integers = append(x.integers, n)
		x.least, x.greatest = min(x.least, n), max(x.greatest, n)
	}
	return rows
}

// addTexts is convert for texts.
func (x *parsedColumn) addTexts(text []byte, fields []field, each, rows int) int {
	for row := range rows {
		f := fields[row*each]
		if f.end-f.begin > keytype.Longest {
			return row
		}
		x.texts.Add(text[f.begin:f.end])
	}
	return rows
}

// addRecords is convert for whole records.
func (p *plain) addRecords(into *parsed, x *parsedColumn, text []byte, rows int) {
	for row := range rows {
		fields := into.fields[row*p.fields:][:p.fields]
		begin, end := fields[0].begin, fields[p.fields-1].end
		if begin > 0 && text[begin-1] == '"' {
			begin--
		}
		if int(end) < len(text) && text[end] == '"' {
			end++
		}
		line := text[begin:end]
		if bytes.IndexByte(line, '"') >= 0 || bytes.IndexByte(line, '\r') >= 0 {
			into.record = wholeRecord(into.record[:0], plainFields(line))
			line = into.record
		}
		x.texts.Add(line)
	}
}

// short is number10 for the most common integers: up to eight digits, of eight bytes that begin with them.
func short(text []byte, digits uint) (n int64, ok bool) {
	w := digitValues(text)
	first := w & 0xff
	w <<= (64 - 8*digits) & 63 // that many zeros are before them, then
	return eight(w), first != 0 && areDigits(w)
}

// number10 parses a decimal integer of at most 18 digits, without leading zeros.
func number10(field []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(field, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(field) > 1 {
		return 0, false
	}
	for ; len(digits) >= 8; digits = digits[8:] {
		w := digitValues(digits)
		if !areDigits(w) {
			return 0, false
		}
		n = n*1e8 + eight(w)
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if field[0] == '-' {
		n = -n
	}
	return n, true
}

// digitValues returns the values of eight digits, the first one in the lowest byte.
func digitValues(digits []byte) uint64 { return binary.LittleEndian.Uint64(digits) ^ '0'*ones }

// areDigits reports whether eight values are from 0 to 9.
func areDigits(w uint64) bool { return (w+(0x80-10)*ones|w)&highs == 0 }

// eight returns the number that eight values are the digits of.
func eight(w uint64) int64 {
	w = w*10 + w>>8 // in every second byte, two digits
	return int64((w&0xff000000ff*(100+1e6<<32) + w>>16&0xff000000ff*(1+1e4<<32)) >> 32)
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
