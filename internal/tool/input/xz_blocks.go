package input

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// An .xz file has streams, each a header, blocks that are independent of one another, an index with the blocks'
// lengths, and a footer (The .xz File Format, version 1.2.1, sections 2 and 4). xz -T0 writes blocks of some 24 MiB.

// xzBlock is a block of an .xz file.
type xzBlock struct {
	header       [xzHeaderBytes]byte // of the stream
	at           int64
	stored       uint64 // bytes, without the padding to a multiple of four
	decompressed uint64 // bytes
}

const (
	xzHeaderBytes = 12
	xzFooterBytes = 12
	mostXZBlock   = 64 << 20 // bytes; files with larger blocks are decompressed in their order
	mostXZIndex   = 1 << 20  // bytes
)

// xzBlocks returns the blocks of a file, or nil if they can't be decompressed at the same time: there is only one, some
// are too large, they are so small that each costs more than it brings, or the file is damaged.
func xzBlocks(file *io.SectionReader) (blocks []xzBlock) {
	for end := file.Size(); end > 0; {
		stream, begin := xzStream(file, end)
		if stream == nil {
			return nil
		}
		slices.Reverse(stream)
		blocks, end = append(blocks, stream...), begin
		if len(blocks) > 1 && file.Size()-end < int64(len(blocks))*leastXZBlock {
			return nil
		}
	}
	if len(blocks) < 2 {
		return nil
	}
	slices.Reverse(blocks)
	return blocks
}

// xzStream returns the blocks of the stream that ends at an offset, and where it begins, or nil.
func xzStream(file *io.SectionReader, end int64) (blocks []xzBlock, begin int64) {
	var footer [xzFooterBytes]byte
	if end -= xzFooterBytes; end < xzHeaderBytes || !readAt(file, footer[:], end) || string(footer[10:]) != "YZ" ||
		crc32.ChecksumIEEE(footer[4:10]) != binary.LittleEndian.Uint32(footer[:]) {
		return nil, 0
	}
	length := 4 * (int64(binary.LittleEndian.Uint32(footer[4:])) + 1)
	if end -= length; end < xzHeaderBytes || length > mostXZIndex {
		return nil, 0
	}
	index := make([]byte, length)
	if !readAt(file, index, end) || index[0] != 0 ||
		crc32.ChecksumIEEE(index[:length-4]) != binary.LittleEndian.Uint32(index[length-4:]) {
		return nil, 0
	}
	rest := index[1 : length-4]
	next := func() uint64 {
		n, bytes := binary.Uvarint(rest)
		if bytes <= 0 {
			rest = nil
			return 0
		}
		rest = rest[bytes:]
		return n
	}
	stored := int64(0)
	for range min(next(), uint64(length)) {
		b := xzBlock{at: stored, stored: next(), decompressed: next()}
		if b.stored == 0 || max(b.stored, b.decompressed) > mostXZBlock {
			return nil, 0
		}
		stored += int64(b.stored+3) &^ 3
		blocks = append(blocks, b)
	}
	begin = end - stored - xzHeaderBytes
	var header [xzHeaderBytes]byte
	if begin < 0 || !readAt(file, header[:], begin) || string(header[:6]) != "\xfd7zXZ\x00" ||
		string(header[6:8]) != string(footer[8:10]) {
		return nil, 0
	}
	for i := range blocks {
		blocks[i].header, blocks[i].at = header, blocks[i].at+begin+xzHeaderBytes
	}
	return blocks, begin
}

// leastXZBlock is how many stored bytes blocks must have on average. Tests change it.
var leastXZBlock int64 = 64 << 10

func readAt(file io.ReaderAt, p []byte, at int64) bool {
	n, _ := file.ReadAt(p, at)
	return n == len(p)
}

// unxz decompresses blocks at the same time.
func unxz(s *stage, file io.ReaderAt, blocks []xzBlock) {
	for _, b := range blocks {
		if !s.add(func() ([]byte, error) { return b.data(s, file) }) {
			return
		}
	}
	s.end(io.EOF)
}

// data decompresses a block: in a stream of its own, which the library reads.
func (b *xzBlock) data(s *stage, file io.ReaderAt) ([]byte, error) {
	padded := int(b.stored+3) &^ 3
	stream := append(make([]byte, 0, xzHeaderBytes+padded+64), b.header[:]...)
	stream = stream[:xzHeaderBytes+padded]
	if n, err := file.ReadAt(stream[xzHeaderBytes:], b.at); n < padded {
		if err == io.EOF { // the file has become shorter
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	index := binary.AppendUvarint(binary.AppendUvarint([]byte{0, 1}, b.stored), b.decompressed)
	for len(index)%4 > 0 {
		index = append(index, 0)
	}
	index = binary.LittleEndian.AppendUint32(index, crc32.ChecksumIEEE(index))
	footer := binary.LittleEndian.AppendUint32(nil, uint32(len(index)/4-1))
	footer = append(footer, b.header[6:8]...)
	stream = binary.LittleEndian.AppendUint32(append(stream, index...), crc32.ChecksumIEEE(footer))
	stream = append(append(stream, footer...), "YZ"...)
	z, err := newXZReader(s.from(stream))
	if err != nil {
		return nil, err
	}
	return limited(z, int(b.decompressed))
}
