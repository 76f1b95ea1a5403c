package saved

import (
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/structures"
)

// Reader reads one saved dictionary. It is used from one goroutine at a time. What is wrong with what is read is a
// *structures.SavedError; an error of the io.Reader's is returned as it is.
type Reader struct {
	r        io.Reader
	header   Header
	columns  [2]conversion
	keysOnly bool   // values are not read
	start    int64  // bytes before the first block
	first    uint32 // sum there
	sum      uint32 // of all that was read, but for checksums
	block    int64
	left     int64  // pairs that the header promises and no block has brought yet
	buffer   []byte // the block's bytes
	keys     []byte // what is left of its keys
	values   []byte
	err      error
}

// NewReader reads the header. Its number of pairs is what it says: nothing should be allocated by it before they are
// read.
func NewReader(r io.Reader) (*Reader, error) {
	if r == nil {
		return nil, &structures.OptionError{Option: "io.Reader", Reason: "nil"}
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

// Start is how many bytes stand before the first block.
func (d *Reader) Start() int64 { return d.start }

// Restart has a Reader, whose io.Reader stands at Start again, read all pairs once more.
func (d *Reader) Restart() {
	d.sum, d.block, d.left, d.err = d.first, 0, d.header.Pairs, nil
	d.keys, d.values = nil, nil
}

// CheckSize compares how many bytes there are in all with what the header promises.
func (d *Reader) CheckSize(size int64) error {
	const most = 1 << 56 // pairs: their bytes fit 63 bits
	pairs := d.header.Pairs
	blocks := pairs/blockPairs + 1
	if pairs%blockPairs != 0 {
		blocks++
	}
	if d.header.HasText() { // of which there is no telling how long it is
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

// ReadWords fills keys and values with the next pairs and returns how many; the values are 0 where there are none. The
// last pairs come with a nil error; io.EOF comes alone, from every call after them, whatever slices it is given. All
// was checked to its very end before the last of the pairs is returned, and no pair of a block that doesn't match its
// checksum is. Slices of two lengths are a *structures.LengthError, and a dictionary with text is a
// *structures.SavedError; then nothing is read. Any other error every later call returns again. W is as wide as the
// wider of the columns of As.
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

// take hands out pairs of the block.
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

// next reads and checks the next block, and behind the last one the end.
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

// readBlock reads a block of so many pairs and returns their bytes.
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

// end checks what stands behind the last block, which had so many pairs: the block of none, unless that was it, and
// nothing else.
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

// short tells what is truncated from what can't be read.
func short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged(structures.ErrTruncated, "")
	}
	return err
}
