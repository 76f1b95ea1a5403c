package input

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// packed reads rows of values of 4 bytes each.
type packed struct {
	name    string
	r       io.Reader
	order   binary.ByteOrder
	types   []keytype.Type
	plain   bool // the bits of all types are their words
	invalid *invalid
	bytes   []byte
	words   []uint32
	rows    int64 // also those passed over
}

func newPacked(name string, r io.Reader, order binary.ByteOrder, o Options, invalid *invalid) (*packed, error) {
	if err := o.unnamed(); err != nil {
		return nil, err
	}
	const size = 64 << 10 // of words
	p := &packed{name: name, r: r, order: order, invalid: invalid, bytes: make([]byte, 4*size),
		words: make([]uint32, size)}
	p.plain = true
	for _, c := range o.Columns {
		p.types = append(p.types, c.Type)
		p.plain = p.plain && c.Type != keytype.Int32 && c.Type != keytype.Float32
	}
	return p, nil
}

func (p *packed) read(columns [][]uint32) (int, error) {
	row := 4 * len(columns)
	got, err := io.ReadFull(p.r, p.bytes[:row*min(len(columns[0]), len(p.bytes)/row)])
	if p.rows == 0 {
		if what := foreign(p.bytes[:got]); what != "" {
			return 0, &infile.Error{File: p.name, Err: fmt.Errorf("looks like %s, not like values of 4 bytes", what)}
		}
	}
	if err == io.ErrUnexpectedEOF {
		if err = io.EOF; got%row != 0 && !p.invalid.pass() {
			err = &infile.Error{File: p.name, Err: fmt.Errorf("%w of %d bytes", ErrOddBytes, row)}
		}
	}
	n, bad := p.rowsOf(p.bytes[:got/row*row], columns)
	if bad != nil {
		err = bad
	}
	return n, err
}

// rowsOf makes rows of bytes, and returns how many: all, or without skip those before the first that is none.
func (p *packed) rowsOf(bytes []byte, columns [][]uint32) (int, error) {
	if p.plain && len(columns) == 1 {
		n := len(bytes) / 4
		p.decode(bytes, columns[0][:n])
		p.rows += int64(n)
		return n, nil
	}
	words := p.words[:len(bytes)/4]
	p.decode(bytes, words)
	return p.convert(words, columns)
}

// decode makes words of bytes. One loop for each order, since a call through the interface for each word would be slow.
func (p *packed) decode(bytes []byte, words []uint32) {
	if p.order == binary.BigEndian {
		for i := range words {
			words[i] = binary.BigEndian.Uint32(bytes[4*i:])
		}
		return
	}
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(bytes[4*i:])
	}
}

// convert makes rows of words.
func (p *packed) convert(words []uint32, columns [][]uint32) (n int, err error) {
	for ; len(words) > 0; words = words[len(columns):] {
		p.rows++
		bad := -1
		for c, t := range p.types {
			var e error
			if columns[c][n], e = t.FromBits(words[c]); e != nil && bad < 0 {
				bad, err = c, e
			}
		}
		switch {
		case bad < 0:
			n++
		case !p.invalid.pass():
			return n, &RowError{p.name, p.rows, Column{}.name(bad), err}
		}
	}
	return n, nil
}
