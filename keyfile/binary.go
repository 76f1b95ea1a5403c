package keyfile

import (
	"encoding/binary"
	"io"

	"github.com/vkds/vkds/infile"
)

// packed reads keys of 4 bytes each.
type packed struct {
	name    string
	r       io.Reader
	order   binary.ByteOrder
	skip    bool
	buffer  []byte
	skipped int64
	err     error
}

func newPacked(name string, r io.Reader, order binary.ByteOrder, skip bool) *packed {
	return &packed{name: name, r: r, order: order, skip: skip, buffer: make([]byte, 256<<10)}
}

func (p *packed) Skipped() int64 { return p.skipped }

func (p *packed) Read(keys []uint32) (int, error) {
	n := 0
	for n < len(keys) && p.err == nil {
		want := p.buffer[:min(len(p.buffer), 4*(len(keys)-n))]
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
		chunk := keys[n : n+got/4]
		if p.order == binary.BigEndian { // a call through the interface for each key would be slow
			for i := range chunk {
				chunk[i] = binary.BigEndian.Uint32(want[4*i:])
			}
		} else {
			for i := range chunk {
				chunk[i] = binary.LittleEndian.Uint32(want[4*i:])
			}
		}
		n += len(chunk)
	}
	if n == len(keys) || p.err == io.EOF && n > 0 {
		return n, nil
	}
	return n, p.err
}
