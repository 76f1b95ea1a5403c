package dictfile

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/infile"
)

// Reader reads one saved dictionary. It is used from one goroutine at a time.
type Reader struct {
	name   string
	r      io.Reader
	file   *infile.File // nil for NewReader
	header Header
	block  uint64
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
	r, err := NewReader(file.Name(), file)
	if err != nil {
		file.Close()
		return nil, err
	}
	r.file = file
	return r, nil
}

// NewReader reads a saved dictionary from r; name is the file's in messages.
func NewReader(name string, r io.Reader) (*Reader, error) {
	d := &Reader{name: name, r: r}
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
		return nil, d.fail(fmt.Errorf("%w: its format has version %d, and this one reads %d", ErrVersion, v, Version))
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
	d.left = d.header.Pairs
	return d, nil
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

// Read fills keys and values, two slices of one length, with the next pairs and
// returns how many. The last pairs come with a nil error; io.EOF comes alone,
// and only after the whole file was checked. No pair of a block that doesn't
// match its checksum is returned. Any other error is an *Error, an
// *infile.Error or the context's cause, and every later call returns it again.
func (d *Reader) Read(keys, values []uint32) (int, error) {
	n := 0
	for n < len(keys) {
		if len(d.keys) == 0 {
			if d.err == nil {
				d.err = d.next()
			}
			switch {
			case d.err == io.EOF && n > 0:
				return n, nil
			case d.err != nil:
				return n, d.err
			}
		}
		m := min(len(keys)-n, len(d.keys)/4)
		for i := range m {
			keys[n+i] = binary.LittleEndian.Uint32(d.keys[4*i:])
			values[n+i] = binary.LittleEndian.Uint32(d.values[4*i:])
		}
		d.keys, d.values = d.keys[4*m:], d.values[4*m:]
		n += m
	}
	return n, nil
}

// next reads and checks the next block, or the file's end.
func (d *Reader) next() error {
	if d.buffer == nil {
		d.buffer = make([]byte, blockHead+8*blockPairs+checksumBytes)
	}
	if _, err := io.ReadFull(d.r, d.buffer[:blockHead]); err != nil {
		return d.short(err)
	}
	pairs := int64(binary.LittleEndian.Uint32(d.buffer))
	if pairs > min(d.left, blockPairs) {
		return d.fail(fmt.Errorf("%w: block %d has %d pairs", ErrCorrupt, d.block, pairs))
	}
	end := blockHead + 8*int(pairs)
	if _, err := io.ReadFull(d.r, d.buffer[blockHead:end+checksumBytes]); err != nil {
		return d.short(err)
	}
	if blockChecksum(d.block, d.buffer[:end]) != binary.LittleEndian.Uint32(d.buffer[end:]) {
		return d.fail(ErrChecksum)
	}
	d.block++
	d.left -= pairs
	if pairs == 0 {
		return d.end()
	}
	half := blockHead + 4*int(pairs)
	d.keys, d.values = d.buffer[blockHead:half], d.buffer[half:end]
	return nil
}

func (d *Reader) end() error {
	if d.left != 0 {
		return d.fail(fmt.Errorf("%w: %d pairs are missing", ErrCorrupt, d.left))
	}
	var one [1]byte
	switch _, err := io.ReadFull(d.r, one[:]); err {
	case io.EOF:
		return io.EOF
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
