package dictfile

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"

	"github.com/vkds/vkds/internal/outfile"
)

// Writer writes one dictionary. Until Close succeeds nothing is at the path: the
// pairs go to a temporary file beside it, which Close moves there and Abort
// removes. It is used from one goroutine at a time.
type Writer struct {
	path    string
	file    *outfile.File
	out     *bufio.Writer
	header  Header
	written int64
	sum     uint32 // of all that was written, but for checksums
	buffer  []byte // of a block
	keys    []uint32
	values  []uint32
	err     error
	done    bool
}

// Check tells what would keep Create from writing to a path, as far as that
// shows without writing. An error is an *outfile.Error.
func Check(path string) error { return outfile.Check(path) }

// Create begins to write a dictionary to path, as outfile.Create does: its
// folder must exist, and a regular file that is there is replaced by Close.
// h.Pairs must be the number of pairs that will be written. An error is an
// *outfile.Error, or an *Error where the header is too large.
func Create(path string, h Header) (*Writer, error) {
	description, err := json.Marshal(h)
	if err != nil {
		return nil, &Error{path, err}
	}
	if len(description) > longestHeader {
		return nil, &Error{path, fmt.Errorf("a description of %d bytes is too long", len(description))}
	}
	w := &Writer{path: path, header: h, buffer: make([]byte, 0, blockHead+8*blockPairs+checksumBytes)}
	if w.file, err = outfile.Create(path); err != nil {
		return nil, err
	}
	w.out = bufio.NewWriterSize(w.file, 256<<10)
	w.keys = make([]uint32, 0, blockPairs)
	w.values = make([]uint32, 0, blockPairs)
	head := []byte(Magic)
	head = binary.LittleEndian.AppendUint32(head, Version)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(description)))
	w.emit(append(head, description...))
	if w.err != nil {
		w.Abort()
		return nil, w.err
	}
	return w, nil
}

// Write adds pairs. Slices of two lengths are an *Error that wraps a
// *LengthError, and nothing is written of them; after any other error, an
// *outfile.Error, every later call returns it again.
func (w *Writer) Write(keys, values []uint32) error {
	if len(keys) != len(values) {
		return &Error{w.path, &LengthError{len(keys), len(values)}}
	}
	for len(keys) > 0 && w.err == nil {
		n := min(len(keys), blockPairs-len(w.keys))
		w.keys = append(w.keys, keys[:n]...)
		w.values = append(w.values, values[:n]...)
		keys, values = keys[n:], values[n:]
		if len(w.keys) == blockPairs {
			w.flush()
		}
	}
	return w.err
}

// flush writes the pairs collected so far as one block.
func (w *Writer) flush() {
	b := binary.LittleEndian.AppendUint32(w.buffer[:0], uint32(len(w.keys)))
	for _, words := range [][]uint32{w.keys, w.values} {
		for _, x := range words {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	w.written += int64(len(w.keys))
	w.keys, w.values = w.keys[:0], w.values[:0]
	w.emit(b)
}

// emit writes a header or a block, and the checksum behind it.
func (w *Writer) emit(b []byte) {
	if w.err != nil {
		return
	}
	w.sum = crc32.Update(w.sum, castagnoli, b)
	_, w.err = w.out.Write(binary.LittleEndian.AppendUint32(b, w.sum))
}

// Close writes what is left, makes sure that it is on disk and moves the file to
// its path. After an error, an *outfile.Error, or an *Error that wraps a
// *CountError where pairs are missing, nothing is left behind and what was at
// the path is still there.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	if len(w.keys) > 0 {
		w.flush()
	}
	if w.written != w.header.Pairs && w.err == nil {
		w.err = &Error{w.path, &CountError{w.written, w.header.Pairs}}
	}
	w.flush() // the block of no pairs
	for _, step := range []func() error{w.out.Flush, w.file.Commit} {
		if w.err == nil {
			w.err = step()
		}
	}
	if w.err != nil {
		w.Abort()
		return w.err
	}
	w.done = true
	return nil
}

// Abort gives up: it removes the temporary file. After Close it does nothing.
func (w *Writer) Abort() {
	if w.done {
		return
	}
	w.done = true
	if w.err == nil {
		w.err = &Error{w.path, os.ErrClosed}
	}
	w.file.Abort()
}
