package input

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// linesBytes is the size of the buffer, one more than the longest line. textBytes is that for text.
const (
	linesBytes = 256 << 10
	textBytes  = keytype.Longest + len("\r\n") + 1
)

// lines reads text with a value in each line, or a range LO:HI, or lines as they are. It fills the buffer, and parses
// its lines in place, up to the last line end.
type lines struct {
	name string
	r    *bufio.Reader
	written
	exact   bool   // a line is a text as it is
	comment string // the beginning of comment lines; "": there are none
	options Options
	begun   bool // a line that is not empty was seen
	invalid *invalid
	own     []byte
	buffer  []byte // own, or a block's text
	at, end int    // unread bytes
	whole   int    // end of the last whole line among them
	last    bool   // there is no more to read from r
	long    bool   // inside a long line that is being skipped
	line    int64
	ahead   *linesAhead // nil: the text is not read in blocks

	file  *File     // for Options.Prompt: the file of r's text; otherwise nil
	since time.Time // when the first of the rows arrived that Read has so far
}

func newLines(name string, r io.Reader, o Options, invalid *invalid) (*lines, error) {
	if err := o.unnamed(); err != nil {
		return nil, err
	}
	first, last := o.columns[0], o.columns[len(o.columns)-1]
	if len(o.Columns) > 2 || len(o.Columns) == 2 && !(last.End && last.Type == first.Type) {
		return nil, &OptionError{"text holds a value a line, or a range, and no table"}
	}
	plain, err := OpenText(name, r)
	if err != nil {
		return nil, err
	}
	switch {
	case o.Format == Lines && (first.Any || first.Type == keytype.Text):
		first.Type, first.Wider = keytype.Text, nil
	case o.Format == Lines:
		return nil, &OptionError{fmt.Sprintf("files of format lines hold text, not values of type %s", first.Type)}
	case first.Any && len(o.columns) == 1:
		head, whole, text := sampleOf(plain)
		plain = text
		o.guessLines(name, head, whole)
	}
	size := linesBytes
	if first.Type == keytype.Text {
		size = textBytes
	}
	l := &lines{name: name, r: plain, written: o.written(), options: o, invalid: invalid,
		exact: o.Format == Lines, own: make([]byte, size)}
	l.buffer = l.own
	if o.Comment != 0 {
		l.comment = string(o.Comment)
	}
	if o.eager && !o.Prompt && len(o.columns) == 1 {
		l.readAhead(r, cmp.Or(o.block, BlockBytes))
	}
	return l, nil
}

// unnamed returns an error if columns are chosen in a format without columns.
func (o Options) unnamed() error {
	for i, c := range o.Columns {
		if c.Name != "" && c.Name != strconv.Itoa(i+1) {
			return &OptionError{fmt.Sprintf("column %s is asked for, but files of format %s have no columns to "+
				"choose from", quote(c.Name), o.Format)}
		}
	}
	return nil
}

func (l *lines) read(columns [][]uint64, n int) (int, error) {
	if l.at == l.whole {
		if err := l.fill(n > 0); err != nil {
			return n, err
		}
	}
	if n == 0 && l.file != nil {
		l.since = time.Now()
	}
	return l.parse(columns, n)
}

// later reports whether Read should return the rows that it has before the next ones arrive: after a pause, or after
// some time if they arrive slowly.
func (l *lines) later() bool {
	const pause, longest = time.Millisecond, 20 * time.Millisecond
	if l.file == nil || l.r.Buffered() > 0 {
		return false
	}
	return !l.file.Comes(min(pause, longest-time.Since(l.since)))
}

// parse parses whole lines of the buffer.
func (l *lines) parse(columns [][]uint64, n int) (int, error) {
	first := columns[0]
	if l.ahead != nil && l.ahead.parsed != nil {
		if n = l.takeAhead(first, n); l.ahead.parsed != nil {
			return n, nil
		}
	}
	b, i := l.buffer[l.at:l.whole], 0
	for n < len(first) && i < len(b) && !l.columns[0].full() {
		if t := l.columns[0].Type; l.begun && t&^1 == keytype.Uint32 && !l.ranges {
			lines, read := decimals(b[i:], first[n:], math.MaxUint64>>(64-t.Width().Bits()))
			n, i, l.line = n+lines, i+read, l.line+int64(lines)
			if n == len(first) || i == len(b) {
				break
			}
		}
		l.line++
		text := b[i : i+bytes.IndexByte(b[i:], '\n')]
		i += len(text) + 1
		if l.ahead != nil && len(text) >= len(l.own) { // without blocks, it would not fit
			if !l.invalid.pass(l.tooLong()) {
				return n, &LineError{File: l.name, Line: l.line, Err: l.tooLong()}
			}
			continue
		}
		switch {
		case l.exact:
			if n := len(text); n > 0 && text[n-1] == '\r' {
				text = text[:n-1]
			}
		case l.empty(text):
			continue
		case l.columns[0].Type == keytype.Text:
			text = bytes.TrimSpace(text)
		}
		if err := l.value(text, columns, n); err == nil {
			n++
		} else if !l.invalid.pass(err) {
			return n, &LineError{File: l.name, Line: l.line, Err: err}
		}
	}
	l.at += i
	return n, nil
}

// decimals parses the most common lines, decimal digits and a line feed, without searching for the line's end first. It
// stops at other lines, at numbers above most, and at leading zeros. It returns the number of lines and of bytes. The
// text ends with a line feed.
func decimals(text []byte, words []uint64, most uint64) (lines, read int) {
	for lines < len(words) && read < len(text) {
		v, at := uint64(0), read
		for at-read < 19 && text[at]-'0' < 10 { // this many fit 64 bits
			v = v*10 + uint64(text[at]-'0')
			at++
		}
		if text[at] != '\n' || at == read || v > most || text[read] == '0' && at > read+1 {
			break
		}
		words[lines] = v
		lines, read = lines+1, at+1
	}
	return lines, read
}

// empty reports whether a line has no value: it is blank, a comment, or names.
func (l *lines) empty(text []byte) bool {
	if len(bytes.TrimSpace(text)) == 0 || l.comment != "" && bytes.HasPrefix(text, []byte(l.comment)) {
		return true
	}
	if l.begun {
		return false
	}
	l.begun = true
	named := l.options.Header == Detect && l.columns[0].Type != keytype.Text && l.names(text)
	if named {
		l.options.note("%s: the first line is taken for a name", l.name)
	}
	return named || l.options.Header == Present
}

// guessLines guesses the type of a text from its first lines that are not empty, and whether the first one is a name.
func (o *Options) guessLines(file string, text []byte, whole bool) {
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1] // the last line may continue
	}
	var records [][]string
	for line := range bytes.Lines(text) {
		line := string(bytes.TrimSpace(line))
		if line != "" && (o.Comment == 0 || !strings.HasPrefix(line, string(o.Comment))) {
			records = append(records, []string{line})
		}
	}
	if len(records) == 0 {
		return
	}
	if o.Header == Detect {
		o.Header = Absent
		if detectNames(records, func(int) (*column, bool) { return nil, false }) == names {
			o.Header = Present
			o.note("%s: the first line is taken for a name", file)
		}
	}
	if o.Header == Present {
		records = records[1:]
	}
	var fields []string
	for _, record := range records {
		fields = append(fields, record[0])
	}
	o.columns[0].guess(*o, file, fields)
}

// names reports whether a first line looks like the names of its columns.
func (l *lines) names(text []byte) bool {
	fields := []string{string(text)}
	if l.ranges {
		fields = strings.Split(fields[0], ":")
	}
	for _, field := range fields {
		if !isName(field, l.columns[0]) {
			return false
		}
	}
	return true
}

// fill reads until the buffer has a whole line. If Read has some rows, it may return errLater.
func (l *lines) fill(some bool) error {
	if l.ahead != nil && l.nextBlock() {
		return nil
	}
	l.end = copy(l.buffer, l.buffer[l.at:l.end])
	l.at, l.whole = 0, 0
	for {
		if l.last {
			return l.finish()
		}
		if l.end == len(l.buffer) {
			if err := l.passLong(); err != nil {
				return err
			}
		}
		if some && l.later() {
			return errLater
		}
		n, err := l.r.Read(l.buffer[l.end:])
		fresh := l.end
		l.end += n
		if err == io.EOF {
			l.last = true
		} else if err != nil {
			return err
		}
		newline := bytes.LastIndexByte(l.buffer[fresh:l.end], '\n')
		if newline < 0 {
			continue
		}
		l.whole = fresh + newline + 1
		if l.long {
			// The rest of a long line, which was counted already.
			l.at = bytes.IndexByte(l.buffer[:l.whole], '\n') + 1
			l.long = false
			if l.at == l.whole {
				l.end = copy(l.buffer, l.buffer[l.at:l.end])
				l.at, l.whole = 0, 0
				continue
			}
		}
		return nil
	}
}

// finish ends the last line if it has no line feed.
func (l *lines) finish() error {
	if l.end == 0 || l.long {
		return io.EOF
	}
	if l.end == len(l.buffer) {
		if err := l.passLong(); err != nil {
			return err
		}
		return io.EOF
	}
	l.buffer[l.end] = '\n'
	l.end++
	l.whole = l.end
	return nil
}

// passLong skips a line that fills the buffer and has no end yet.
func (l *lines) passLong() error {
	if !l.long {
		if l.line++; !l.invalid.pass(l.tooLong()) {
			return &LineError{File: l.name, Line: l.line, Err: l.tooLong()}
		}
		l.long = true
	}
	l.end = 0
	return nil
}

// tooLong returns the error for a line that fills the buffer.
func (l *lines) tooLong() error {
	if l.columns[0].Type == keytype.Text {
		return ErrLongText
	}
	return ErrLongLine
}
