package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A file is a line that says its version, and then, in gzip, the device, the kernels, and the events field by field,
// because the numbers of a field are like one another. All are variable-length integers; of operations and places they
// are the differences to the event before.
const fileLine = "vkds trace 1\n"

const fields = 7 // of an event

// differs says which fields are differences.
var differs = [fields]bool{2: true, 3: true}

func (e Event) fields() [fields]uint64 {
	return [fields]uint64{uint64(e.What), uint64(e.Kernel), uint64(e.Operation), uint64(e.Place), uint64(e.Other),
		e.Key, e.Value}
}

// FormatError says why a file is not a trace, or not a complete one.
type FormatError struct{ Reason string }

func (e *FormatError) Error() string { return "trace: " + e.Reason }

// WriteTo writes the trace as a file, in a few bytes an event. Errors: the writer's.
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	var file bytes.Buffer // to which writing never fails
	file.WriteString(fileLine)
	packed := gzip.NewWriter(&file)
	out := bufio.NewWriter(packed)
	number := func(x uint64) { _, _ = out.Write(binary.AppendUvarint(out.AvailableBuffer(), x)) }
	text := func(s string) {
		number(uint64(len(s)))
		_, _ = out.WriteString(s)
	}
	text(t.Device)
	number(uint64(len(t.Kernels)))
	for _, k := range t.Kernels {
		text(k)
	}
	number(t.Dropped)
	number(uint64(len(t.Events)))
	for f := range fields {
		before := uint64(0)
		for _, e := range t.Events {
			x := e.fields()[f]
			if differs[f] {
				d := int64(x - before)
				before, x = x, uint64(d<<1^d>>63)
			}
			number(x)
		}
	}
	_ = out.Flush()
	_ = packed.Close()
	return file.WriteTo(w)
}

// Read reads a file that WriteTo wrote. Errors: *FormatError if it is another file, or damaged; the reader's.
func Read(r io.Reader) (*Trace, error) {
	from := &source{from: r}
	t, err := read(from)
	var format *FormatError
	switch {
	case from.err != nil:
		return nil, from.err
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		return nil, &FormatError{"the file ends early"}
	case err != nil && !errors.As(err, &format):
		return nil, &FormatError{"the file is damaged: " + err.Error()}
	}
	return t, err
}

func read(r io.Reader) (t *Trace, err error) {
	line := make([]byte, len(fileLine))
	if n, err := io.ReadFull(r, line); string(line[:n]) != fileLine {
		if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
			err = &FormatError{"this is no trace, or one of another version"}
		}
		return nil, err
	}
	packed, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	in := &numbers{Reader: bufio.NewReader(packed)}
	t = &Trace{Device: in.text()}
	for range in.number(math.MaxUint16 + 1) {
		t.Kernels = append(t.Kernels, in.text())
		if in.err != nil {
			return nil, in.err
		}
	}
	t.Dropped = in.number(math.MaxUint64)
	events := in.number(math.MaxUint32)
	var rows [][fields]uint64 // made as the first field is read, so that a lie about their number takes no memory
	for f := range fields {
		before := uint64(0)
		for i := uint64(0); i < events && in.err == nil; i++ {
			x := in.number(math.MaxUint64)
			if differs[f] {
				before += x>>1 ^ -(x & 1)
				x = before
			}
			if f == 0 {
				rows = append(rows, [fields]uint64{})
			}
			rows[i][f] = x
		}
	}
	if in.err != nil {
		return nil, in.err
	}
	for _, x := range rows {
		e := Event{What(x[0]), uint16(x[1]), uint32(x[2]), uint32(x[3]), uint32(x[4]), x[5], x[6]}
		if e.fields() != x || x[1] >= uint64(len(t.Kernels)) {
			return nil, &FormatError{fmt.Sprintf("the file is damaged: an event of %d", x)}
		}
		t.Events = append(t.Events, e)
	}
	if _, err := in.ReadByte(); err != io.EOF { // gzip compares its checksum here
		return nil, &FormatError{"the file is damaged behind its events"}
	}
	return t, nil
}

// numbers reads what a file is made of. After an error it reads zeros.
type numbers struct {
	*bufio.Reader
	err error
}

func (n *numbers) number(most uint64) uint64 {
	if n.err != nil {
		return 0
	}
	var x uint64
	if x, n.err = binary.ReadUvarint(n); n.err == nil && x > most {
		n.err = &FormatError{fmt.Sprintf("the file is damaged: %d of what can be %d", x, most)}
	}
	if n.err != nil {
		return 0
	}
	return x
}

func (n *numbers) text() string {
	s := make([]byte, n.number(math.MaxUint16))
	if n.err == nil {
		_, n.err = io.ReadFull(n, s)
	}
	return string(s)
}

// source keeps what its reader failed with.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
