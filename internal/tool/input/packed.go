package input

import (
	"encoding/binary"
	"fmt"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"io"
	"slices"
)

// packed reads rows of values of 4 or 8 bytes each.
type packed struct {
	name    string
	r       io.Reader
	format  Format
	size    int // bytes of a value
	columns []*column
	plain   bool // the bits of all columns' values are their words
	invalid *invalid
	bytes   []byte
	words   []uint64
	rows    int64 // including skipped ones
}

func newPacked(name string, r io.Reader, o Options, invalid *invalid) (*packed, error) {
	if err := o.unnamed(); err != nil {
		return nil, err
	}
	const most = 64 << 10 // words at a time
	p := &packed{name: name, r: r, format: o.Format, size: o.Format.width().Bytes(), columns: o.columns,
		invalid: invalid, words: make([]uint64, most), plain: true}
	p.bytes = make([]byte, p.size*most)
	for _, c := range o.columns {
		if err := c.packedIn(o.Format); err != nil {
			return nil, err
		}
		p.plain = p.plain && c.Type.Plain() && (c.Type.Width() == structures.Bits64 || p.size == 4)
	}
	return p, nil
}

// packedIn sets a column's type to that of a binary file's values, or returns an error if it can't have them.
func (c *column) packedIn(f Format) error {
	wide := f.width() == structures.Bits64
	switch like := c.Type | 1; {
	case c.Type == keytype.Text:
		return &OptionError{fmt.Sprintf("files of format %s hold no text, which column %s is said to be", f,
			quote(c.Name))}
	case wide == (c.Type.Width() == structures.Bits64), c.Type-1 == keytype.Uint32, c.Type-1 == keytype.Hex:
	case !wide || !slices.Contains(c.Wider, like):
		return &OptionError{fmt.Sprintf("files of format %s hold values of %s, but column %s is of type %s", f,
			f.width(), quote(c.Name), c.Type)}
	case c.Type.Above() != like: // otherwise the column gets as wide as the values need
		c.Type, c.Wider = like, nil
	}
	return nil
}

func (p *packed) read(columns [][]uint64, n int) (int, error) {
	row := p.size * len(columns)
	got, err := io.ReadFull(p.r, p.bytes[:row*min(len(columns[0])-n, len(p.bytes)/row)])
	if p.rows == 0 {
		if what := foreign(p.bytes[:got]); what != "" {
			return n, &Error{File: p.name, Err: fmt.Errorf("looks like %s, not like values of %d bytes", what,
				p.size)}
		}
	}
	if err == io.ErrUnexpectedEOF {
		if err = io.EOF; got%row != 0 && !p.invalid.pass(ErrOddBytes) {
			err = &Error{File: p.name, Err: fmt.Errorf("%w of %d bytes", ErrOddBytes, row)}
		}
	}
	n, bad := p.rowsOf(p.bytes[:got/row*row], columns, n)
	if bad != nil {
		err = bad
	}
	return n, err
}

// rowsOf converts bytes to rows, and returns the index after the last. Unless invalid rows are skipped, it stops at
// one.
func (p *packed) rowsOf(bytes []byte, columns [][]uint64, n int) (int, error) {
	count, rows := len(bytes)/p.size, len(bytes)/p.size/len(columns)
	if p.plain && len(columns) == 1 {
		p.decode(bytes, columns[0][n:n+count])
		p.rows += int64(count)
		return n + count, nil
	}
	words := p.words[:count]
	p.decode(bytes, words)
	if !p.plain {
		return p.convert(words, columns, n)
	}
	for c, column := range columns {
		column = column[n : n+rows]
		for i := range column {
			column[i] = words[i*len(columns)+c]
		}
	}
	p.rows += int64(rows)
	return n + rows, nil
}

// decode converts bytes to words. There is a loop for each format, because an interface call for each word would be
// slow.
func (p *packed) decode(bytes []byte, words []uint64) {
	switch p.format {
	case U32LE:
		for i := range words {
			words[i] = uint64(binary.LittleEndian.Uint32(bytes[4*i:]))
		}
	case U32BE:
		for i := range words {
			words[i] = uint64(binary.BigEndian.Uint32(bytes[4*i:]))
		}
	case U64LE:
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(bytes[8*i:])
		}
	default:
		for i := range words {
			words[i] = binary.BigEndian.Uint64(bytes[8*i:])
		}
	}
}

// convert converts words to rows.
func (p *packed) convert(words []uint64, columns [][]uint64, n int) (_ int, err error) {
	row := make([]keytype.Value, len(columns))
	for ; len(words) > 0; words = words[len(columns):] {
		p.rows++
		bad := -1
		for i, c := range p.columns {
			if row[i], err = c.bits(words[i]); err != nil {
				bad = i
				break
			}
		}
		if bad < 0 {
			bad, err = put(p.columns, columns, n, row)
		}
		switch {
		case err == nil:
			n++
		case !p.invalid.pass(err):
			return n, &RowError{p.name, p.rows, Column{}.name(bad), err}
		}
	}
	return n, nil
}
