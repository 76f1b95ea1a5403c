package saved

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// Reader reads one saved dictionary. Only one goroutine at a time may use it. If the data is not valid, its methods
// return a *structures.SavedError; errors of the io.Reader are returned unchanged.
type Reader struct {
	r        io.Reader
	header   Header
	columns  [2]conversion
	keysOnly bool   // values are not read
	start    int64  // number of bytes before the first block
	first    uint32 // the sum at the first block
	sum      uint32 // checksum of all bytes read, except checksums
	block    int64
	left     int64  // pairs in blocks that were not read yet
	buffer   []byte // memory for a block
	keys     []byte // the rest of the block's keys
	values   []byte
	err      error
}

// NewReader returns a Reader and reads the header. The header's number of pairs may be wrong: don't allocate memory by
// it before the pairs are read.
func NewReader(r io.Reader) (*Reader, error) {
	if r == nil {
		return nil, &vk.OptionError{Option: "io.Reader", Reason: "nil"}
	}
	d := &Reader{r: r}
	head := make([]byte, fixedHeaderBytes)
	if n, err := io.ReadFull(r, head); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF &&
			string(head[:min(n, len(Magic))]) != Magic[:min(n, len(Magic))] {
			return nil, damaged(structures.ErrNotSaved, "")
		}
		return nil, short(err)
	}
	if string(head[:len(Magic)]) != Magic {
		return nil, damaged(structures.ErrNotSaved, "")
	}
	version := binary.LittleEndian.Uint32(head[len(Magic):])
	if version < firstVersion || version > typedVersion {
		return nil, damaged(structures.ErrSavedVersion, "the format is %d, and this one reads %d to %d", version,
			firstVersion, typedVersion)
	}
	length := binary.LittleEndian.Uint32(head[len(Magic)+4:])
	if length > longestHeader {
		return nil, damaged(structures.ErrCorrupt, "a description of %d bytes", length)
	}
	rest := make([]byte, int(length)+checksumBytes)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, short(err)
	}
	description := rest[:length]
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, description)
	if sum != binary.LittleEndian.Uint32(rest[length:]) {
		return nil, wrongSum()
	}
	if err := json.Unmarshal(description, &d.header); err != nil {
		return nil, damaged(structures.ErrCorrupt, "its description: %v", err)
	}
	if d.header.Pairs < 0 {
		return nil, damaged(structures.ErrCorrupt, "%d pairs", d.header.Pairs)
	}
	if err := d.setTypes(version); err != nil {
		return nil, err
	}
	d.start = int64(len(head) + len(rest))
	d.first = sum
	d.Restart()
	return d, nil
}

// Header returns the dictionary's description.
func (d *Reader) Header() Header { return d.header }

// Start returns the number of bytes before the first block.
func (d *Reader) Start() int64 { return d.start }

// Restart makes the Reader read all pairs again. The io.Reader must be at Start.
func (d *Reader) Restart() {
	d.sum, d.block, d.left, d.err = d.first, 0, d.header.Pairs, nil
	d.keys, d.values = nil, nil
}

// CheckSize returns an error if the size of the whole dictionary, in bytes, does not fit its header.
func (d *Reader) CheckSize(size int64) error {
	const most = 1 << 56 // pairs, so that their size in bytes fits 63 bits
	pairs := d.header.Pairs
	blocks := pairs/blockPairs + 1
	if pairs%blockPairs != 0 {
		blocks++
	}
	if d.header.HasText() { // whose length is not in the header
		return nil
	}
	switch want := d.start + int64(d.pairBytes())*pairs + (blockHead+checksumBytes)*blocks; {
	case pairs > most || want > size:
		return damaged(structures.ErrTruncated, "")
	case want < size:
		return damaged(structures.ErrCorrupt, "%d bytes are too many for %d pairs", size, pairs)
	}
	return nil
}

// Repeated returns the error of a structure that has each key once, if so many pairs had a key that came before them.
// Error: *structures.SavedError around structures.ErrSeveralValues.
func (d *Reader) Repeated(pairs int) error {
	if pairs == 0 {
		return nil
	}
	return &structures.SavedError{Err: fmt.Errorf("%w: %d of %d pairs", structures.ErrSeveralValues, pairs,
		d.header.Pairs)}
}

// ReadWords fills keys and values with the next pairs and returns how many. If the dictionary has no values, they are
// 0. A call that returns the last pairs returns a nil error; each later call returns 0 and io.EOF, also for empty
// slices. A block's pairs are returned only after its checksum was checked, and the last pairs only after the end was
// checked. W must be as wide as the wider of the columns of As.
//
// Errors: *structures.LengthError if the slices differ in length, and *structures.SavedError if the dictionary has
// text; then nothing is read. After any other error, each later call returns the same error.
func ReadWords[W structures.Word](d *Reader, keys, values []W) (int, error) {
	if len(keys) != len(values) {
		return 0, &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	if d.header.HasText() {
		return 0, damaged(structures.ErrText, "")
	}
	n := 0
	for {
		if len(d.keys) == 0 && d.err == nil && (n < len(keys) || n == 0) {
			d.err = d.next()
		}
		switch {
		case len(d.keys) > 0 && n < len(keys):
			took, err := take(d, keys[n:], values[n:])
			if n += took; err != nil {
				d.keys, d.err = nil, err
				return n, err
			}
		case len(d.keys) > 0 || n == len(keys) && n > 0 || d.err == io.EOF && n > 0:
			return n, nil
		default:
			return n, d.err
		}
	}
}

// take returns pairs of the current block.
func take[W structures.Word](d *Reader, keys, values []W) (n int, err error) {
	n = min(len(keys), len(d.keys)/d.columns[0].width.Bytes())
	if d.keys, err = Words(d, 0, keys[:n], d.keys); err != nil {
		return 0, err
	}
	if d.keysOnly {
		none := W(d.columns[1].to.word(0))
		for i := range n {
			values[i] = none
		}
		return n, nil
	}
	if d.values, err = Words(d, 1, values[:n], d.values); err != nil {
		return 0, err
	}
	return n, nil
}

// next reads and checks the next block. After the last block it also checks the end.
func (d *Reader) next() error {
	if d.left == 0 && d.block > 0 {
		return io.EOF
	}
	pairs := int(min(d.left, blockPairs))
	if d.buffer == nil {
		d.buffer = make([]byte, blockHead+d.pairBytes()*pairs+checksumBytes) // the first block is the largest
	}
	block, err := d.readBlock(pairs, d.buffer)
	if err != nil {
		return err
	}
	d.left -= int64(pairs)
	if d.left == 0 {
		if err := d.end(pairs); err != nil {
			return err
		}
	}
	keys := d.columns[0].width.Bytes() * pairs
	d.keys, d.values = block[:keys], block[keys:]
	if pairs == 0 {
		return io.EOF
	}
	return nil
}

// readBlock reads a block of the given number of pairs and returns their bytes.
func (d *Reader) readBlock(pairs int, buffer []byte) ([]byte, error) {
	if _, err := io.ReadFull(d.r, buffer[:blockHead]); err != nil {
		return nil, short(err)
	}
	if have := binary.LittleEndian.Uint32(buffer); int64(have) != int64(pairs) {
		return nil, damaged(structures.ErrCorrupt, "block %d has %d pairs, not %d", d.block, have, pairs)
	}
	end := blockHead + d.pairBytes()*pairs
	if _, err := io.ReadFull(d.r, buffer[blockHead:end+checksumBytes]); err != nil {
		return nil, short(err)
	}
	d.sum = crc32.Update(d.sum, castagnoli, buffer[:end])
	if d.sum != binary.LittleEndian.Uint32(buffer[end:]) {
		return nil, wrongSum()
	}
	d.block++
	return buffer[blockHead:end], nil
}

// end checks that the last block, which had the given number of pairs, is followed by the block of none and by nothing
// else. If pairs is 0, that block was already read.
func (d *Reader) end(pairs int) error {
	if pairs > 0 {
		if _, err := d.readBlock(0, make([]byte, blockHead+checksumBytes)); err != nil {
			return err
		}
	}
	var one [1]byte
	switch _, err := io.ReadFull(d.r, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return damaged(structures.ErrCorrupt, "something follows its end")
	default:
		return short(err)
	}
}

func wrongSum() error { return damaged(structures.ErrCorrupt, "a checksum doesn't match") }

// short returns structures.ErrTruncated if the data ended early, and other errors unchanged.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged(structures.ErrTruncated, "")
	}
	return err
}
