package input

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// arrow-go allocates what lengths in a file ask for, and what the runtime can't
// allocate ends the program. So messages are read here, into memory that grows
// with what is there, and are handed on when the lengths in them are those of
// something that they hold.

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

// Retain and Release are for arrow-go's counts of references. There is one.
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

// inside makes an unexpected end of one that came amid a message.
func inside(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// grow reads n bytes, into memory that is never much more than what came.
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

// boundedMemory is what compressed buffers are decompressed into: their lengths
// are in the file, too. None is believed that is more than a thousand times as
// long as all that came, unless that is little.
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

// A message's metadata is a FlatBuffer: tables, whose fields are found by a
// table of their offsets, and vectors with their lengths before them. Of what
// arrow-go reads, the following are counts of things to allocate.

// flatTable is a table at a place of a FlatBuffer.
type flatTable struct {
	data []byte
	at   uint32
}

var errFlat = errors.New("metadata that point out of themselves")

// checkMessage checks the counts in a message and returns its body's length.
func checkMessage(data []byte) (body int64, err error) {
	defer func() { // of an index that is out of range
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
		left := len(data) / 4 // fields that may be: each takes more than 4 bytes, unless several are one
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

// checkFields checks a vector of a schema's fields, a table's field number
// fields, and its custom metadata.
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
	return t.vector(4, 8, func(at uint32) error { // how many buffers an array of strings has
		if n := binary.LittleEndian.Uint64(t.data[at:]); n > uint64(buffers) {
			return fmt.Errorf("a column of %d buffers", n)
		}
		return nil
	})
}

func u32(data []byte, at uint32) uint32 { return binary.LittleEndian.Uint32(data[at:]) }

// schemaMessage is the message of a schema, by the footer of a file that it is in and its place there. In front of the
// footer stands the table of a message, of which the schema is the header: places are told by distances.
func schemaMessage(footer []byte, schema uint32) []byte {
	const table, header, before = 16, 20, 32 // places of the table, of its offset of the header, and of the footer
	version := uint16(0)
	if at := (flatTable{footer, u32(footer, 0)}).field(0); at != 0 {
		version = binary.LittleEndian.Uint16(footer[at:])
	}
	le := binary.LittleEndian
	message := le.AppendUint32(le.AppendUint32(nil, continuation), uint32(before+len(footer)))
	message = le.AppendUint32(message, table)
	// Bytes of these offsets and of the table; offsets of the version, of the header's kind and of the header's offset.
	for _, offset := range []uint16{10, 12, 8, 10, header - table, 0} {
		message = le.AppendUint16(message, offset)
	}
	message = le.AppendUint32(message, table-4) // back to the offsets
	message = le.AppendUint32(message, before+schema-header)
	message = append(le.AppendUint16(message, version), 1, 0, 0, 0, 0, 0) // a schema
	return append(message, footer...)
}

// field returns the place of a field of the table, 0 where it isn't there.
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

// follow returns the table that an offset at a place points to.
func (t flatTable) follow(at uint32) flatTable { return flatTable{t.data, at + u32(t.data, at)} }

// vector checks that a vector's elements of so many bytes are there, and hands
// their places to each, if that isn't nil.
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
