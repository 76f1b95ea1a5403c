package saved

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/structures"
)

// BlockPairs is the most pairs in a block.
const BlockPairs = blockPairs

// WriteBlock writes a block of 1 to BlockPairs pairs to a dictionary with text. keys and values are their bytes:
// numbers as AppendWords writes them, and packed texts of at most 17 MiB.
func (w *Writer) WriteBlock(pairs int, keys, values []byte) error {
	b := binary.LittleEndian.AppendUint32(w.buffer[:0], uint32(pairs))
	b = w.header.appendColumn(b, w.header.KeyType, keys)
	b = w.header.appendColumn(b, w.header.ValueType, values)
	w.written += int64(pairs)
	w.emit(b)
	w.buffer = b[:0]
	return w.err
}

func (h Header) appendColumn(b []byte, kind string, column []byte) []byte {
	if kind == Text {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(column)))
	}
	return append(b, column...)
}

// ReadBlock reads the next block of a dictionary with text and returns what was given to WriteBlock. The slices are
// valid until the next call. The last block is returned only after the end was checked; each later call returns io.EOF.
// After any other error, each later call returns the same error.
func (d *Reader) ReadBlock() (pairs int, keys, values []byte, err error) {
	if d.err == nil {
		pairs, keys, values, d.err = d.textBlock()
	}
	return pairs, keys, values, d.err
}

func (d *Reader) textBlock() (pairs int, keys, values []byte, err error) {
	if d.left == 0 && d.block > 0 {
		return 0, nil, nil, io.EOF
	}
	b, err := d.more(d.buffer[:0], blockHead)
	if err != nil {
		return 0, nil, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > min(d.left, blockPairs) || n == 0 && d.left > 0 {
		return 0, nil, nil, damaged(structures.ErrCorrupt, "block %d has %d pairs, where %d are left", d.block, n,
			d.left)
	}
	pairs = int(n)
	var ends [2][2]int // where the columns begin and end in b
	for i, kind := range []string{d.header.KeyType, d.header.ValueType} {
		if b, ends[i], err = d.column(b, kind, d.columns[i].width, pairs); err != nil {
			return 0, nil, nil, err
		}
	}
	end := len(b)
	if b, err = d.more(b, checksumBytes); err != nil {
		return 0, nil, nil, err
	}
	d.buffer = b
	d.sum = crc32.Update(d.sum, castagnoli, b[:end])
	if d.sum != binary.LittleEndian.Uint32(b[end:]) {
		return 0, nil, nil, wrongSum()
	}
	d.block++
	if d.left -= n; d.left == 0 {
		if err := d.end(pairs); err != nil {
			return 0, nil, nil, err
		}
	}
	if pairs == 0 {
		return 0, nil, nil, io.EOF
	}
	return pairs, b[ends[0][0]:ends[0][1]], b[ends[1][0]:ends[1][1]], nil
}

// column reads a block's keys or values, appends them to b, and returns where they are in b.
func (d *Reader) column(b []byte, kind string, width structures.Width, pairs int) (_ []byte, at [2]int, err error) {
	length := width.Bytes() * pairs
	if kind == Text && pairs > 0 {
		const head = 4
		if b, err = d.more(b, head); err != nil {
			return b, at, err
		}
		if length = int(binary.LittleEndian.Uint32(b[len(b)-head:])); length > longestTexts {
			return b, at, damaged(structures.ErrCorrupt, "texts of %d bytes in block %d", length, d.block)
		}
	}
	at[0] = len(b)
	b, err = d.more(b, length)
	return b, [2]int{at[0], len(b)}, err
}

// more reads the given number of bytes and appends them to b.
func (d *Reader) more(b []byte, bytes int) ([]byte, error) {
	const most = 512 << 10 // allocated at once
	for bytes > 0 {
		n := min(bytes, most)
		b = append(b, make([]byte, n)...)
		if _, err := io.ReadFull(d.r, b[len(b)-n:]); err != nil {
			return b, short(err)
		}
		bytes -= n
	}
	return b, nil
}
