package keyfile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// packed reads keys of 4 bytes each.
type packed struct {
	name    string
	r       io.Reader
	order   binary.ByteOrder
	typ     keytype.Type
	skip    bool
	buffer  []byte
	read    int64 // keys, also those passed over
	skipped int64
	err     error
}

func newPacked(name string, r io.Reader, order binary.ByteOrder, typ keytype.Type, skip bool) *packed {
	return &packed{name: name, r: r, order: order, typ: typ, skip: skip, buffer: make([]byte, 256<<10)}
}

func (p *packed) Skipped() int64 { return p.skipped }

func (p *packed) Read(keys []uint32) (int, error) {
	n := 0
	for n < len(keys) && p.err == nil {
		got := p.fill(4 * (len(keys) - n))
		if p.read == 0 {
			if what := infile.Foreign(got); what != "" {
				p.err = &infile.Error{File: p.name, Err: fmt.Errorf("looks like %s, not like keys of 4 bytes", what)}
				return 0, p.err
			}
		}
		chunk := keys[n : n+len(got)/4]
		if p.order == binary.BigEndian { // a call through the interface for each key would be slow
			for i := range chunk {
				chunk[i] = binary.BigEndian.Uint32(got[4*i:])
			}
		} else {
			for i := range chunk {
				chunk[i] = binary.LittleEndian.Uint32(got[4*i:])
			}
		}
		n += p.convert(chunk)
	}
	if n == len(keys) || p.err == io.EOF && n > 0 {
		return n, nil
	}
	return n, p.err
}

// fill reads so many bytes, or as many as the buffer holds; fewer come with p.err.
func (p *packed) fill(most int) []byte {
	want := p.buffer[:min(len(p.buffer), most)]
	got := 0
	for got < len(want) && p.err == nil {
		var m int
		m, p.err = p.r.Read(want[got:])
		got += m
	}
	if p.err == io.EOF && got%4 != 0 {
		if p.skip {
			p.skipped++
		} else {
			p.err = &infile.Error{File: p.name, Err: ErrOddBytes}
		}
	}
	return want[:got]
}

// convert makes words of what the file holds, and returns how many it made: all,
// or without skip those before the first that is none.
func (p *packed) convert(keys []uint32) int {
	before := p.read
	p.read += int64(len(keys))
	if p.typ != keytype.Int32 && p.typ != keytype.Float32 { // the others are their words
		return len(keys)
	}
	n := 0
	for i, bits := range keys {
		w, err := p.typ.FromBits(bits)
		switch {
		case err == nil:
			keys[n] = w
			n++
		case p.skip:
			p.skipped++
		default:
			p.err = &infile.Error{File: p.name, Err: fmt.Errorf("key %d: %w", before+int64(i)+1, err)}
			return n
		}
	}
	return n
}
