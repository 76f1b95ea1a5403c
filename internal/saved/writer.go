package saved

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/structures"
)

// Writer writes one dictionary. It is used from one goroutine at a time. After an error, the io.Writer's own, every
// later call returns it again.
type Writer struct {
	out     io.Writer
	header  Header
	written int64  // pairs
	bytes   int64  // that out has taken
	sum     uint32 // of all that was written, but for checksums
	buffer  []byte // of a block
	pairs   int    // of this one, so far
	keys    []byte // theirs
	values  []byte
	closed  bool
	err     error
}

// NewWriter writes the header. h.Pairs must be the number of pairs that will be written. Error also: a description that
// is too long.
func NewWriter(out io.Writer, h Header) (*Writer, error) {
	description, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(description) > longestHeader {
		return nil, fmt.Errorf("a description of %d bytes is too long", len(description))
	}
	room, each := int(min(blockPairs, max(h.Pairs, 1))), h.Width.Bytes()
	w := &Writer{out: out, header: h, buffer: make([]byte, 0, blockHead+h.bytes()*room+checksumBytes),
		keys: make([]byte, 0, each*room)}
	if !h.KeysOnly {
		w.values = make([]byte, 0, each*room)
	}
	head := binary.LittleEndian.AppendUint32([]byte(Magic), h.version())
	head = binary.LittleEndian.AppendUint32(head, uint32(len(description)))
	w.emit(append(head, description...))
	return w, w.err
}

// Write is WriteWords of 32 bits.
func (w *Writer) Write(keys, values []uint32) error { return WriteWords(w, keys, values) }

// WriteWords adds pairs, no wider than the header says; of keys without values, values are nil. Slices of two lengths
// are a *structures.LengthError, and nothing is written of them.
func WriteWords[W structures.Word](w *Writer, keys, values []W) error {
	if len(keys) != len(values) && !w.header.KeysOnly {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	for len(keys) > 0 && w.err == nil {
		n := min(len(keys), blockPairs-w.pairs)
		w.keys, keys = AppendWords(w.keys, keys[:n], w.header.Width), keys[n:]
		if !w.header.KeysOnly {
			w.values, values = AppendWords(w.values, values[:n], w.header.Width), values[n:]
		}
		if w.pairs += n; w.pairs == blockPairs {
			w.flush()
		}
	}
	return w.err
}

// AppendWords adds numbers to bytes, in a width.
func AppendWords[W structures.Word](b []byte, words []W, width structures.Width) []byte {
	for _, x := range words {
		if width == structures.Bits64 {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		} else {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
	}
	return b
}

// flush writes the pairs collected so far as one block.
func (w *Writer) flush() {
	b := binary.LittleEndian.AppendUint32(w.buffer[:0], uint32(w.pairs))
	b = append(append(b, w.keys...), w.values...)
	w.written += int64(w.pairs)
	w.pairs, w.keys, w.values = 0, w.keys[:0], w.values[:0]
	w.emit(b)
}

// emit writes a header or a block, and the checksum behind it.
func (w *Writer) emit(b []byte) {
	if w.err != nil {
		return
	}
	w.sum = crc32.Update(w.sum, castagnoli, b)
	n, err := w.out.Write(binary.LittleEndian.AppendUint32(b, w.sum))
	w.bytes += int64(n)
	w.err = err
}

// Bytes is how many bytes the io.Writer has taken.
func (w *Writer) Bytes() int64 { return w.bytes }

// Close writes what is left. It closes nothing else. Error also: *CountError where pairs are missing.
func (w *Writer) Close() error {
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.pairs > 0 {
		w.flush()
	}
	if w.written != w.header.Pairs && w.err == nil {
		w.err = &CountError{w.written, w.header.Pairs}
	}
	w.flush() // the block of no pairs
	return w.err
}
