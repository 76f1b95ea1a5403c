package input

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/gzip"
)

// gunzip decompresses gzip: several blocks of BGZF at the same time (the SAM specification, section 4.1: members of at
// most 64 KiB that tell their length), and other members one after the other.
func gunzip(s *stage, from *bufio.Reader) {
	for {
		var some []byte
		var failed error
		blocks := 0
		length := blockLength(from)
		for ; length > 0 && len(some)+length <= partBytes/4; length = blockLength(from) {
			begin := len(some)
			blocks++
			some = append(some, make([]byte, length)...)
			n, err := io.ReadFull(from, some[begin:])
			if some = some[:begin+n]; err != nil {
				if failed = err; err == io.EOF {
					failed = io.ErrUnexpectedEOF
				}
				break
			}
		}
		if len(some) == 0 {
			break
		}
		if !s.add(func() ([]byte, error) {
			data, err := gunzipAll(s.from(some), blocks)
			return data, cmp.Or(failed, err)
		}) || failed != nil {
			return
		}
	}
	if _, err := from.Peek(1); err != nil {
		s.end(err)
		return
	}
	z, err := gzip.NewReader(from)
	if err != nil {
		s.end(err)
		return
	}
	s.all(z)
}

// blockLength returns the length of the next member if it is a block of BGZF, or else 0.
func blockLength(from *bufio.Reader) int {
	head, _ := from.Peek(18)
	if len(head) < 18 || head[0] != 0x1f || head[1] != 0x8b || head[3] != 4 || string(head[12:16]) != "BC\x02\x00" {
		return 0
	}
	return int(binary.LittleEndian.Uint16(head[16:])) + 1
}

// gunzipAll returns the data of some blocks, and the error after them, which is nil if they are whole.
func gunzipAll(blocks io.Reader, n int) ([]byte, error) {
	const most = 64 << 10 // bytes of a block
	z, err := gzip.NewReader(blocks)
	if err != nil {
		return nil, err
	}
	data, err := limited(z, n*most)
	if err == io.ErrUnexpectedEOF {
		err = errLength
	}
	return data, err
}
