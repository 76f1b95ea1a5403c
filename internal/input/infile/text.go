package infile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrCarriageReturns reports text that would be one line.
var ErrCarriageReturns = errors.New("its lines end in carriage returns alone: make them line feeds (tr '\\r' '\\n')")

// Foreign is what a file is that is neither text nor keys: Parquet, Arrow, or a
// saved dictionary. By its first bytes, of which eight are enough; "" for
// anything else.
func Foreign(head []byte) string {
	for _, f := range []struct{ magic, name string }{
		{"PAR1\x15", "a Parquet file"}, // behind the magic, thrift's first field
		{"ARROW1\x00", "an Arrow file"},
		{"VKDS\r\n\x1a\n", "a saved dictionary"},
	} {
		if strings.HasPrefix(string(head), f.magic) {
			return f.name
		}
	}
	return ""
}

// Text prepares a reader of text: a byte order mark, which spreadsheets write,
// is dropped, and compressed data, whose file's name doesn't say so, and Foreign
// files are refused with a *LineError that says what they are. name is the
// file's in messages. Text whose lines end in carriage returns alone is an
// *Error at the latest where it ends. Other errors are those of r.
func Text(name string, r io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(&lineEnds{name: name, r: r}, 64<<10)
	head, err := buffered.Peek(8)
	if err != nil && err != io.EOF && len(head) == 0 { // else it comes behind what was read
		return nil, err
	}
	for _, c := range compressions {
		if bytes.HasPrefix(head, c.magic) {
			return nil, &LineError{File: name, Line: 1, Err: fmt.Errorf("looks like %s data, though the file's name doesn't say so", c.name)}
		}
	}
	if what := Foreign(head); what != "" {
		return nil, &LineError{File: name, Line: 1, Err: fmt.Errorf("looks like %s, not like text", what)}
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(head, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return buffered, nil
}

// lineEnds passes text on and looks for its first line feed.
type lineEnds struct {
	name  string
	r     io.Reader
	found bool
	alone bool // before it, a carriage return with something behind it
	last  byte
	read  int
}

func (l *lineEnds) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.found {
		return n, err
	}
	for _, b := range p[:n] {
		if b == '\n' {
			l.found = true
			return n, err
		}
		l.alone = l.alone || l.last == '\r'
		l.last = b
	}
	const enough = 64 << 10 // of one line to tell
	if l.read += n; l.alone && (err == io.EOF || l.read > enough) {
		return n, &Error{l.name, ErrCarriageReturns}
	}
	return n, err
}
