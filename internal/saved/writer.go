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
	columns Columns
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

// NewWriter writes the header of a dictionary whose words are those of columns. h.Pairs must be the number of pairs
// that will be written; h may name the types, if they are of the tool's own. Error also: a description that is too
// long.
func NewWriter(out io.Writer, h Header, columns Columns) (*Writer, error) {
	h.KeysOnly = columns.KeysOnly
	if h.KeyType == "" {
		h.KeyType = columns.Keys.Type.Name()
	}
	if h.ValueType == "" && !h.KeysOnly {
		h.ValueType = columns.Values.Type.Name()
	}
	description, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(description) > longestHeader {
		return nil, fmt.Errorf("a description of %d bytes is too long", len(description))
	}
	w := &Writer{out: out, header: h, columns: columns}
	head := binary.LittleEndian.AppendUint32([]byte(Magic), typedVersion)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(description)))
	w.emit(append(head, description...))
	return w, w.err
}

// WriteWords adds pairs; of keys without values, values are nil. Slices of two lengths are a *structures.LengthError,
// and nothing is written of them.
func WriteWords[W structures.Word](w *Writer, keys, values []W) error {
	if len(keys) != len(values) && !w.header.KeysOnly {
		return &structures.LengthError{Keys: len(keys), Other: "values", Got: len(values)}
	}
	for len(keys) > 0 && w.err == nil {
		n := min(len(keys), blockPairs-w.pairs)
		w.keys, keys = AppendWords(w.keys, w.columns.Keys, keys[:n]), keys[n:]
		if !w.header.KeysOnly {
			w.values, values = AppendWords(w.values, w.columns.Values, values[:n]), values[n:]
		}
		if w.pairs += n; w.pairs == blockPairs {
			w.flush()
		}
	}
	return w.err
}

// flush writes the pairs collected so far as one block.
func (w *Writer) flush() {
	b := binary.LittleEndian.AppendUint32(w.buffer[:0], uint32(w.pairs))
	b = append(append(b, w.keys...), w.values...)
	w.written += int64(w.pairs)
	w.pairs, w.keys, w.values, w.buffer = 0, w.keys[:0], w.values[:0], b
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
