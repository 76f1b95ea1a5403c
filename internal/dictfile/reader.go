package dictfile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/internal/input/infile"
)

// Reader reads one saved dictionary. It is used from one goroutine at a time.
type Reader struct {
	name   string
	r      io.Reader
	file   *infile.File // nil for NewReader
	header Header
	start  int64  // bytes before the first block
	first  uint32 // sum there
	sum    uint32 // of all that was read, but for checksums
	block  int64
	left   int64  // pairs that the header promises and no block has brought yet
	buffer []byte // the block's bytes
	keys   []byte // what is left of its keys
	values []byte
	err    error
}

// Open opens a saved dictionary and reads its header. Errors are *Error,
// *infile.Error or the context's cause.
func Open(ctx context.Context, path string) (*Reader, error) {
	file, err := infile.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	r, err := NewFileReader(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// NewFileReader is Open for a file that is open already and that nothing was
// read from; Close closes it, too. A header that promises more or fewer pairs
// than there are bytes for, where that is known, is an *Error.
func NewFileReader(file *infile.File) (*Reader, error) {
	r, err := newReader(file.Name(), file, file)
	if err != nil {
		return nil, err
	}
	if _, size := file.Position(); size >= 0 && !file.Compressed() {
		if err := r.checkSize(size); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkSize compares the file's size with what the header promises.
func (d *Reader) checkSize(size int64) error {
	const most = 1 << 56 // pairs: their bytes fit 63 bits
	pairs := d.header.Pairs
	blocks := pairs/blockPairs + 1
	if pairs%blockPairs != 0 {
		blocks++
	}
	switch want := d.start + 8*pairs + (blockHead+checksumBytes)*blocks; {
	case pairs > most || want > size:
		return d.fail(ErrTruncated)
	case want < size:
		return d.fail(fmt.Errorf("%w: %d bytes are too many for %d pairs", ErrCorrupt, size, pairs))
	}
	return nil
}

// NewReader reads a saved dictionary from r; name is the file's in messages.
// The header's number of pairs is what the file says: nothing should be
// allocated by it before they are read.
func NewReader(name string, r io.Reader) (*Reader, error) { return newReader(name, r, nil) }

func newReader(name string, r io.Reader, file *infile.File) (*Reader, error) {
	d := &Reader{name: name, r: r, file: file}
	head := make([]byte, fixedHeaderBytes)
	if n, err := io.ReadFull(r, head); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF && string(head[:min(n, len(Magic))]) != Magic[:min(n, len(Magic))] {
			return nil, d.fail(ErrMagic)
		}
		return nil, d.short(err)
	}
	if string(head[:len(Magic)]) != Magic {
		return nil, d.fail(ErrMagic)
	}
	if v := binary.LittleEndian.Uint32(head[len(Magic):]); v != Version {
		return nil, d.fail(fmt.Errorf("%w: the file has format %d, and this one reads %d", ErrVersion, v, Version))
	}
	length := binary.LittleEndian.Uint32(head[len(Magic)+4:])
	if length > longestHeader {
		return nil, d.fail(fmt.Errorf("%w: a description of %d bytes", ErrCorrupt, length))
	}
	rest := make([]byte, int(length)+checksumBytes)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, d.short(err)
	}
	description := rest[:length]
	sum := crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, description)
	if sum != binary.LittleEndian.Uint32(rest[length:]) {
		return nil, d.fail(ErrChecksum)
	}
	if err := json.Unmarshal(description, &d.header); err != nil {
		return nil, d.fail(fmt.Errorf("%w: its description: %v", ErrCorrupt, err))
	}
	if _, _, err := d.header.Types(); err != nil {
		return nil, d.fail(fmt.Errorf("%w: %v", ErrCorrupt, err))
	}
	if d.header.Pairs < 0 {
		return nil, d.fail(fmt.Errorf("%w: %d pairs", ErrCorrupt, d.header.Pairs))
	}
	d.start = int64(len(head) + len(rest))
	d.first = sum
	d.restart()
	return d, nil
}

func (d *Reader) restart() {
	d.sum, d.block, d.left, d.err = d.first, 0, d.header.Pairs, nil
	d.keys, d.values = nil, nil
}

// Rewind has a Reader of a file read it once more, from its first pair, until
// ctx is done. The file must be a regular one that isn't compressed. An error is
// an *infile.Error.
func (d *Reader) Rewind(ctx context.Context) error {
	if d.file == nil {
		return d.fail(infile.ErrSeek)
	}
	if err := d.file.Rewind(ctx, d.start); err != nil {
		return err
	}
	d.restart()
	return nil
}

func (d *Reader) fail(err error) error { return &Error{File: d.name, Err: err} }

// short tells a truncated file from one that can't be read.
func (d *Reader) short(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return d.fail(ErrTruncated)
	}
	var ours *infile.Error
	if d.file != nil || errors.As(err, &ours) {
		return err // names the file already, or is the context's
	}
	return d.fail(err)
}

// Header returns the dictionary's description.
func (d *Reader) Header() Header { return d.header }

// Position returns how many bytes of the file were read and how many there are,
// -1 where that is unknown.
func (d *Reader) Position() (read, size int64) {
	if d.file == nil {
		return 0, -1
	}
	return d.file.Position()
}

// Read fills keys and values with the next pairs and returns how many. The last
// pairs come with a nil error; io.EOF comes alone, from every call after them,
// whatever slices it is given. The file was checked to its very end before the
// last of its pairs is returned, and no pair of a block that doesn't match its
// checksum is. Slices of two lengths are an *Error that wraps a *LengthError,
// and nothing is read. Any other error is an *Error, an *infile.Error or the
// context's cause, and every later call returns it again.
func (d *Reader) Read(keys, values []uint32) (int, error) {
	if len(keys) != len(values) {
		return 0, d.fail(&LengthError{len(keys), len(values)})
	}
	n := 0
	for {
		if len(d.keys) == 0 && d.err == nil && (n < len(keys) || n == 0) {
			d.err = d.next()
		}
		switch {
		case len(d.keys) > 0 && n < len(keys):
			n += d.take(keys[n:], values[n:])
		case len(d.keys) > 0 || n == len(keys) && n > 0 || d.err == io.EOF && n > 0:
			return n, nil
		default:
			return n, d.err
		}
	}
}

// take hands out pairs of the block.
func (d *Reader) take(keys, values []uint32) int {
	n := min(len(keys), len(d.keys)/4)
	for i := range n {
		keys[i] = binary.LittleEndian.Uint32(d.keys[4*i:])
		values[i] = binary.LittleEndian.Uint32(d.values[4*i:])
	}
	d.keys, d.values = d.keys[4*n:], d.values[4*n:]
	return n
}

// next reads and checks the next block, and behind the last one the file's end.
func (d *Reader) next() error {
	if d.left == 0 && d.block > 0 {
		return io.EOF
	}
	pairs := int(min(d.left, blockPairs))
	if d.buffer == nil {
		d.buffer = make([]byte, blockHead+8*pairs+checksumBytes) // the first block is the largest
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
	half := 4 * pairs
	d.keys, d.values = block[:half], block[half:]
	if pairs == 0 {
		return io.EOF
	}
	return nil
}

// readBlock reads a block of so many pairs and returns their bytes.
func (d *Reader) readBlock(pairs int, buffer []byte) ([]byte, error) {
	if _, err := io.ReadFull(d.r, buffer[:blockHead]); err != nil {
		return nil, d.short(err)
	}
	if have := binary.LittleEndian.Uint32(buffer); int64(have) != int64(pairs) {
		return nil, d.fail(fmt.Errorf("%w: block %d has %d pairs, not %d", ErrCorrupt, d.block, have, pairs))
	}
	end := blockHead + 8*pairs
	if _, err := io.ReadFull(d.r, buffer[blockHead:end+checksumBytes]); err != nil {
		return nil, d.short(err)
	}
	d.sum = crc32.Update(d.sum, castagnoli, buffer[:end])
	if d.sum != binary.LittleEndian.Uint32(buffer[end:]) {
		return nil, d.fail(ErrChecksum)
	}
	d.block++
	return buffer[blockHead:end], nil
}

// end checks what stands behind the last block, which had so many pairs: the
// block of none, unless that was it, and nothing else.
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
		return d.fail(fmt.Errorf("%w: something follows its end", ErrCorrupt))
	default:
		return d.short(err)
	}
}

// Close closes the file.
func (d *Reader) Close() error {
	if d.file == nil {
		return nil
	}
	return d.file.Close()
}
