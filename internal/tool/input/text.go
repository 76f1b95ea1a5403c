package input

import (
	"bufio"
	"bytes"
	"fmt"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
	"io"
)

// OpenText prepares a reader of text in UTF-8, or in UTF-16 with a byte order mark, which it converts to UTF-8. It
// drops the mark. name is the file's name in errors.
//
// Compressed data without such a file name, and other formats, are a *LineError that names the format. Text whose only
// line ends are carriage returns is an *Error, at the latest at its end. Other errors are those of r. They are returned
// again by each call.
func OpenText(name string, r io.Reader) (*bufio.Reader, error) {
	buffered := bufio.NewReaderSize(&lineEnds{name: name, r: utf8Of(r)}, 64<<10)
	head, err := beginning(buffered.Peek)
	if err != nil && err != io.EOF && len(head) == 0 { // otherwise the error comes after what was read
		return nil, err
	}
	if what := Compression(head); what != "" {
		return nil, &LineError{File: name, Line: 1,
			Err: fmt.Errorf("looks like %s data, though the file's name doesn't say so", what)}
	}
	if what := foreign(head); what != "" {
		return nil, &LineError{File: name, Line: 1, Err: fmt.Errorf("looks like %s, not like text", what)}
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(head, mark) {
		_, _ = buffered.Discard(len(mark))
	}
	return buffered, nil
}

// utf8Of returns text as it is, and converts UTF-16 with a byte order mark to UTF-8.
func utf8Of(r io.Reader) io.Reader {
	var head [2]byte
	n, _ := io.ReadFull(r, head[:1]) // reading returns an error again
	if head[0] >= 0xfe {             // otherwise do not wait for a second byte
		more, _ := io.ReadFull(r, head[1:])
		n += more
	}
	r = io.MultiReader(bytes.NewReader(head[:n]), r)
	if string(head[:]) == "\xff\xfe" || string(head[:]) == "\xfe\xff" {
		return transform.NewReader(r, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder())
	}
	return r
}

// lineEnds returns text as it is, and examines it up to the first line feed.
type lineEnds struct {
	name  string
	r     io.Reader
	found bool
	alone bool   // a carriage return before the line feed, not directly
	zeros [2]int // zero bytes before it, at even and at odd positions
	last  byte
	read  int
	err   error
}

func (l *lineEnds) Read(p []byte) (n int, err error) {
	if l.err != nil {
		return 0, l.err
	}
	n, l.err = l.r.Read(p)
	if l.found {
		return n, l.err
	}
	for i, b := range p[:n] {
		switch b {
		case '\n':
			if l.found = true; l.wide(l.read+i, p[i+1:n]) {
				n, l.err = 0, &Error{File: l.name, Err: ErrUTF16}
			}
			return n, l.err
		case 0:
			l.zeros[(l.read+i)&1]++
		}
		l.alone = l.alone || l.last == '\r'
		l.last = b
	}
	const enough = 64 << 10 // bytes of one line to decide by
	if l.read += n; l.alone && (l.err == io.EOF || l.read > enough) {
		l.err = &Error{File: l.name, Err: ErrCarriageReturns}
	}
	return n, l.err
}

// wide reports whether a first line of that many bytes is UTF-16 without a byte order mark: most of its characters, and
// the line feed, have a zero byte, all on the same side. behind is what was read after the line feed.
func (l *lineEnds) wide(bytes int, behind []byte) bool {
	big := bytes&1 == 1
	if big && l.last != 0 || !big && (len(behind) == 0 || behind[0] != 0) {
		return false
	}
	even, odd := l.zeros[0], l.zeros[1]
	return big && odd == 0 && even*4 > bytes || !big && even == 0 && odd*4 > bytes
}
