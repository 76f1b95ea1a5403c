package infile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// Text prepares a reader of text: a byte order mark, which spreadsheets write,
// is dropped, and compressed data, whose file's name doesn't say so, are
// refused with a *LineError that says what they are. name is the file's in
// messages. Other errors are those of r.
func Text(name string, r io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, err := buffered.Peek(6)
	if err != nil && err != io.EOF {
		return nil, err
	}
	for _, c := range compressions {
		if bytes.HasPrefix(head, c.magic) {
			return nil, &LineError{File: name, Line: 1, Err: fmt.Errorf("looks like %s data, though the file's name doesn't say so", c.name)}
		}
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(head, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return buffered, nil
}
