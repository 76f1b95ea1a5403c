package graphfile

import (
	"bufio"
	"io"
	"math"
	"strconv"

	"github.com/vkds/vkds/internal/tool/input"
)

// longestLine is the greatest length of a line in bytes. A METIS line lists all neighbors of a vertex.
const longestLine = 1 << 30

// lines reads a text line by line.
type lines struct {
	file     string
	from     io.Reader
	mark     int64 // bytes of from before the text
	buffered *bufio.Reader
	text     lineReader // buffered, or the blocks of ahead
	ahead    ahead
	eager    bool   // reading ahead does not wait for a writer
	number   int64  // of the last line, from 1
	long     []byte // a line that is longer than the buffer
}

type lineReader interface {
	ReadSlice(delimiter byte) ([]byte, error)
}

func newLines(file string, from io.Reader, eager bool) (*lines, error) {
	text, err := input.OpenText(file, from)
	if err != nil && err != io.EOF {
		return nil, err
	}
	mark := int64(0)
	if file, ok := from.(stored); ok {
		mark, _ = file.Position()
		mark -= int64(text.Buffered())
	}
	return &lines{file: file, from: from, mark: mark, buffered: text, text: text, eager: eager}, nil
}

// next returns the next line without its end, valid until the next call. io.EOF comes without a line.
func (l *lines) next() (line []byte, err error) {
	l.settle()
	line, err = l.text.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = l.nextLong(line)
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		return nil, err
	}
	l.number++
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	return line, nil
}

func (l *lines) nextLong(line []byte) ([]byte, error) {
	l.long = append(l.long[:0], line...)
	for {
		line, err := l.text.ReadSlice('\n')
		if l.long = append(l.long, line...); err != bufio.ErrBufferFull {
			return l.long, err
		}
		if len(l.long) > longestLine {
			l.number++
			return nil, l.fail(input.ErrLongRecord)
		}
	}
}

// full returns the next line that is not empty and does not begin with the comment character.
func (l *lines) full(comment byte) (line []byte, err error) {
	for {
		line, err = l.next()
		if err != nil {
			return nil, err
		}
		if line = skipBlanks(line); len(line) > 0 && line[0] != comment {
			return line, nil
		}
	}
}

// fail returns an error in the last line.
func (l *lines) fail(err error) error {
	return &input.LineError{File: l.file, Line: l.number, Err: err}
}

// failWeight returns an error in a weight of the last line.
func (l *lines) failWeight(field []byte) error {
	return l.failField("weight "+strconv.Quote(shortened(field)), ErrWeight)
}

func (l *lines) failField(field string, err error) error {
	return &input.LineError{File: l.file, Line: l.number, Field: field, Err: err}
}

// shortened returns a field as it is shown in errors.
func shortened(field []byte) string {
	const most = 40
	if len(field) > most {
		return string(field[:most]) + "…"
	}
	return string(field)
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' }

func skipBlanks(line []byte) []byte {
	for len(line) > 0 && blank(line[0]) {
		line = line[1:]
	}
	return line
}

// cut returns the next field of a line and the rest, both without blanks around them. At the end the field is empty.
func cut(line []byte) (field, rest []byte) {
	line = skipBlanks(line)
	end := 0
	for end < len(line) && !blank(line[end]) {
		end++
	}
	return line[:end], skipBlanks(line[end:])
}

// fields returns the fields of a line.
func fields(line []byte) (all [][]byte) {
	for field, rest := cut(line); len(field) > 0; field, rest = cut(rest) {
		all = append(all, field)
	}
	return all
}

// unsigned parses a decimal number of up to 19 digits.
func unsigned(field []byte) (n uint64, ok bool) {
	if len(field) == 0 || len(field) > 19 { // this many fit 64 bits
		return 0, false
	}
	for _, c := range field {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	return n, true
}

// weight parses a weight.
func weight(field []byte) (float64, bool) {
	if n, ok := unsigned(field); ok && n <= math.MaxUint32 {
		return float64(n), true
	}
	x, err := strconv.ParseFloat(string(field), 64)
	return x, err == nil && validWeight(x)
}
