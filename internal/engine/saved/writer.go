package saved

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/vkds/vkds/structures"
)

// Writer writes one dictionary. Only one goroutine at a time may use it. After an error of the io.Writer, each later
// call returns the same error.
type Writer struct {
	out     io.Writer
	header  Header
	columns Columns
	written int64  // pairs
	bytes   int64  // written to out
	sum     uint32 // checksum of all bytes written, except checksums
	buffer  []byte // memory for a block
	pairs   int    // pairs of the current block so far
	keys    []byte // their keys
	values  []byte
	closed  bool
	err     error
}

// NewWriter writes the header of a dictionary. columns describe the words that WriteWords will get. h.Pairs must be the
// number of pairs that will be written. h names the types of the columns if they are types of the tool; otherwise the
// names are set. Errors: that of out, and an error if the description is too long.
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

// WriteWords writes pairs. For a set, values is nil. If the slices differ in length, it returns *structures.LengthError
// and writes nothing.
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

// emit writes a header or a block, followed by the checksum.
func (w *Writer) emit(b []byte) {
	if w.err != nil {
		return
	}
	w.sum = crc32.Update(w.sum, castagnoli, b)
	n, err := w.out.Write(binary.LittleEndian.AppendUint32(b, w.sum))
	w.bytes += int64(n)
	w.err = err
}

// Bytes returns the number of bytes written to the io.Writer.
func (w *Writer) Bytes() int64 { return w.bytes }

// Close writes the remaining pairs and the end of the dictionary. It does not close the io.Writer. It returns
// *CountError if the number of pairs differs from the header's.
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
