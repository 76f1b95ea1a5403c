package input

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrow-go allocates memory by the lengths in a file, and a failed allocation ends the program. So this package reads
// the messages, into memory that grows with the data. It passes a message on if the lengths in it are those of
// something that it has.

// arrowMessages reads the messages of an Arrow stream.
type arrowMessages struct {
	r    io.Reader
	msg  *ipc.Message
	body int // bytes of the message's body
}

const (
	longestMetadata = 64 << 20 // bytes
	longestBody     = 1 << 40
	continuation    = 0xffffffff // before a length, since Arrow 0.15
)

// Retain and Release are for arrow-go's reference counts. There is one reference.
func (m *arrowMessages) Retain()  {}
func (m *arrowMessages) Release() {}

// Message returns the next message, valid until the next call, or io.EOF.
func (m *arrowMessages) Message() (*ipc.Message, error) {
	length, err := m.word()
	if err == nil && length == continuation {
		length, err = m.word()
		err = inside(err)
	}
	if err != nil {
		return nil, err
	}
	if length == 0 {
		return nil, io.EOF
	}
	if length > longestMetadata {
		return nil, fmt.Errorf("a message's metadata of %d bytes", length)
	}
	meta, err := grow(m.r, int64(length))
	if err != nil {
		return nil, err
	}
	bodyBytes, err := checkMessage(meta)
	if err != nil {
		return nil, err
	}
	body, err := grow(m.r, bodyBytes)
	if err != nil {
		return nil, err
	}
	m.body = len(body)
	m.msg = ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body))
	return m.msg, nil
}

func (m *arrowMessages) word() (uint32, error) {
	var b [4]byte
	if _, err := io.ReadFull(m.r, b[:]); err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// inside returns io.ErrUnexpectedEOF for an end inside a message.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// grow reads n bytes. Its memory is never much larger than the data read so far.
func grow(r io.Reader, n int64) ([]byte, error) {
	const first = 1 << 20
	data := make([]byte, min(n, first))
	for have := int64(0); ; {
		got, err := io.ReadFull(r, data[have:])
		if err != nil {
			return nil, inside(err)
		}
		if have += int64(got); have == n {
			return data, nil
		}
		more := make([]byte, min(n, 2*have))
		copy(more, data)
		data = more
	}
}

// boundedMemory allocates the memory into which buffers are decompressed. Their lengths are in the file, too. A length
// must not be more than a thousand times that of the message's body, unless it is small.
type boundedMemory struct {
	memory.Allocator
	from *arrowMessages
}

const (
	believedBuffer = 16 << 20 // bytes
	longestBuffer  = 1 << 30
	believedRatio  = 1000
)

func (b boundedMemory) Allocate(size int) []byte {
	b.check(size)
	return b.Allocator.Allocate(size)
}

func (b boundedMemory) Reallocate(size int, old []byte) []byte {
	b.check(size)
	return b.Allocator.Reallocate(size, old)
}

func (b boundedMemory) check(size int) {
	if most := min(longestBuffer, max(believedBuffer, believedRatio*b.from.body)); size < 0 || size > most {
		// the file's fault: see damaged
		panic(fmt.Sprintf("a buffer of %d bytes in a message of %d", size, b.from.body))
	}
}

// A message's metadata is a FlatBuffer: tables, whose fields are found by a table of their offsets, and vectors after
// their lengths. Of these, the code below checks the counts by which arrow-go allocates.

// flatTable is a table at an offset in a FlatBuffer.
type flatTable struct {
	data []byte
	at   uint32
}

var errFlat = errors.New("metadata that point out of themselves")

// checkMessage checks the counts in a message, and returns the length of its body.
func checkMessage(data []byte) (body int64, err error) {
	defer func() { // an index may be out of range
		if recover() != nil {
			err = errFlat
		}
	}()
	const schema, dictionary, batch = 1, 2, 3 // kinds of headers
	m := flatTable{data, u32(data, 0)}
	if err := m.vector(4, 4, nil); err != nil { // custom metadata
		return 0, err
	}
	if at := m.field(3); at != 0 {
		body = int64(binary.LittleEndian.Uint64(data[at:]))
	}
	if body < 0 || body > longestBody {
		return 0, fmt.Errorf("a message's body of %d bytes", body)
	}
	kind, header := m.field(1), m.field(2)
	if kind == 0 || header == 0 {
		return body, nil
	}
	table := m.follow(header)
	switch data[kind] {
	case schema:
		left := len(data) / 4 // greatest number of fields: each takes more than 4 bytes, unless fields overlap
		return body, table.checkFields(1, 2, 0, &left)
	case dictionary:
		if at := table.field(1); at != 0 {
			return body, table.follow(at).checkBatch()
		}
	case batch:
		return body, table.checkBatch()
	}
	return body, nil
}

// checkFields checks a vector of fields and its custom metadata. fields and metadata are their numbers in the table.
func (t flatTable) checkFields(fields, metadata, depth int, left *int) error {
	const deepest = 64
	if depth > deepest {
		return errors.New("columns in columns, too many")
	}
	if err := t.vector(metadata, 4, nil); err != nil {
		return err
	}
	return t.vector(fields, 4, func(at uint32) error {
		if *left--; *left < 0 {
			return errors.New("more columns than there can be")
		}
		return t.follow(at).checkFields(5, 6, depth+1, left)
	})
}

func (t flatTable) checkBatch() error {
	buffers := 0
	if err := t.vector(1, 16, nil); err != nil { // nodes
		return err
	}
	if err := t.vector(2, 16, func(uint32) error { buffers++; return nil }); err != nil {
		return err
	}
	return t.vector(4, 8, func(at uint32) error { // the number of buffers of each array of strings
		if n := binary.LittleEndian.Uint64(t.data[at:]); n > uint64(buffers) {
			return fmt.Errorf("a column of %d buffers", n)
		}
		return nil
	})
}

func u32(data []byte, at uint32) uint32 { return binary.LittleEndian.Uint32(data[at:]) }

// schemaMessage returns a message for a schema in the footer of a file. It puts a message's table before the footer,
// whose header is the schema: FlatBuffers refer to each other by distance.
func schemaMessage(footer []byte, schema uint32) []byte {
	const table, header, before = 16, 20, 32 // offsets of the table, of the header's offset in it, and of the footer
	version := uint16(0)
	if at := (flatTable{footer, u32(footer, 0)}).field(0); at != 0 {
		version = binary.LittleEndian.Uint16(footer[at:])
	}
	le := binary.LittleEndian
	message := le.AppendUint32(le.AppendUint32(nil, continuation), uint32(before+len(footer)))
	message = le.AppendUint32(message, table)
	// Sizes of the offsets and of the table; then the offsets of the version, of the header's kind, and of the header.
	for _, offset := range []uint16{10, 12, 8, 10, header - table, 0} {
		message = le.AppendUint16(message, offset)
	}
	message = le.AppendUint32(message, table-4) // distance back to the offsets
	message = le.AppendUint32(message, before+schema-header)
	message = append(le.AppendUint16(message, version), 1, 0, 0, 0, 0, 0) // kind 1: a schema
	return append(message, footer...)
}

// field returns the offset of a field of the table, or 0 if it is absent.
func (t flatTable) field(number int) uint32 {
	offsets := t.at - u32(t.data, t.at)
	slot := 4 + 2*uint32(number)
	if slot >= uint32(binary.LittleEndian.Uint16(t.data[offsets:])) {
		return 0
	}
	offset := uint32(binary.LittleEndian.Uint16(t.data[offsets+slot:]))
	if offset == 0 {
		return 0
	}
	return t.at + offset
}

// follow returns the table that the offset at an index points to.
func (t flatTable) follow(at uint32) flatTable { return flatTable{t.data, at + u32(t.data, at)} }

// vector checks that the elements of a vector are inside the data, and calls each, if not nil, with their offsets. size
// is that of an element in bytes.
func (t flatTable) vector(number int, size uint64, each func(at uint32) error) error {
	at := t.field(number)
	if at == 0 {
		return nil
	}
	at += u32(t.data, at)
	n := u32(t.data, at)
	if uint64(at)+4+uint64(n)*size > uint64(len(t.data)) {
		return fmt.Errorf("a vector of %d elements in %d bytes", n, len(t.data))
	}
	for i := range n {
		if each == nil {
			break
		}
		if err := each(at + 4 + i*uint32(size)); err != nil {
			return err
		}
	}
	return nil
}
