package input

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

// records reads the records of delimited text by the grammar of encoding/csv: fields that hold delimiters, quotes or
// line ends stand in quotes, in which a quote is doubled. That package makes a line feed of each CRLF in quotes, and so
// one key of two.
type records struct {
	text      lineReader
	delimiter []byte
	comment   []byte // begins lines that are passed over; empty: none
	number    int    // of the line that was read last, from 1
	start     int    // number of the line on which the record begins
	left      int    // bytes that the record may still have
	line      []byte
	at        int    // in it
	long      []byte // a line that is longer than the buffer
	fields    []byte // of the record, one after the other
	ends      []int  // of the fields
	numbers   []int  // of the lines on which fields begin
	record    []string
}

// longestRecord is how many bytes a record may have, give or take a buffer.
const longestRecord = 4 << 20

// lineReader is what records ask of their text: a *bufio.Reader, or blocks.
type lineReader interface {
	ReadSlice(delimiter byte) ([]byte, error)
}

func newRecords(text lineReader, delimiter, comment rune) *records {
	r := &records{text: text, delimiter: []byte(string(delimiter))}
	if comment != 0 {
		r.comment = []byte(string(comment))
	}
	return r
}

// quoteError reports a quote in the wrong place.
type quoteError struct {
	column int  // in the record's first line, from 1; 0: it is on a later one
	open   bool // it stands behind lines that may be other records
}

func (*quoteError) Error() string { return ErrQuote.Error() }

// read returns the next record, valid until the next call. Lines that hold nothing but blanks are none. Errors are
// *quoteError, after which the next line begins a record, ErrLongRecord, and those of the text.
func (r *records) read() ([]string, error) {
	r.fields, r.ends, r.numbers = r.fields[:0], r.ends[:0], r.numbers[:0]
	for begun := false; !begun; begun = r.begins() {
		r.left, r.start = longestRecord, r.number+1
		if err := r.next(); err != nil {
			return nil, err
		}
	}
	for more := true; more; r.ends = append(r.ends, len(r.fields)) {
		r.numbers = append(r.numbers, r.number)
		var err error
		if r.at < len(r.line) && r.line[r.at] == '"' {
			more, err = r.quoted()
		} else {
			more, err = r.plain()
		}
		if err != nil {
			return nil, err
		}
	}
	all, at := string(r.fields), 0
	r.record = r.record[:0]
	for _, end := range r.ends {
		r.record, at = append(r.record, all[at:end]), end
	}
	return r.record, nil
}

// begins tells whether the line begins a record.
func (r *records) begins() bool {
	if len(r.comment) > 0 && bytes.HasPrefix(r.line, r.comment) {
		return false
	}
	return len(bytes.TrimSpace(r.line)) > 0 || bytes.Contains(r.line, r.delimiter)
}

// plain reads a field without quotes, and tells whether another one follows.
func (r *records) plain() (more bool, err error) {
	field, _, more := bytes.Cut(r.line[r.at:], r.delimiter)
	if quote := bytes.IndexByte(field, '"'); quote >= 0 {
		r.at += quote
		return false, r.misplaced()
	}
	r.at += len(field) + len(r.delimiter)
	if !more {
		field = field[:len(field)-lineEnd(field)]
	}
	r.fields = append(r.fields, field...)
	return more, nil
}

// quoted reads a field in quotes, and tells whether another one follows.
func (r *records) quoted() (more bool, err error) {
	r.at++
	for {
		rest := r.line[r.at:]
		quote := bytes.IndexByte(rest, '"')
		if quote < 0 {
			r.fields = append(r.fields, rest...)
			r.at = len(r.line)
			if err = r.next(); err == io.EOF {
				return false, r.misplaced()
			} else if err != nil {
				return false, err
			}
			continue
		}
		r.fields = append(r.fields, rest[:quote]...)
		r.at += quote + 1
		switch rest = r.line[r.at:]; {
		case len(rest) > 0 && rest[0] == '"':
			r.fields = append(r.fields, '"')
			r.at++
		case bytes.HasPrefix(rest, r.delimiter):
			r.at += len(r.delimiter)
			return true, nil
		case len(rest) == lineEnd(rest):
			return false, nil
		default:
			r.at--
			return false, r.misplaced()
		}
	}
}

// misplaced is the error of a quote where the line is read, or of one that is missing there.
func (r *records) misplaced() error {
	if r.number > r.start {
		return &quoteError{open: true}
	}
	return &quoteError{column: r.at + 1}
}

// next reads a line. Its end stays.
func (r *records) next() error {
	line, err := r.text.ReadSlice('\n')
	r.long = r.long[:0]
	for err == bufio.ErrBufferFull && len(r.long)+len(line) <= r.left {
		r.long = append(r.long, line...)
		line, err = r.text.ReadSlice('\n')
	}
	if len(r.long) > 0 {
		r.long = append(r.long, line...)
		line = r.long
	}
	switch {
	case len(line) > r.left:
		return ErrLongRecord
	case err != nil && (err != io.EOF || len(line) == 0):
		return err
	}
	r.line, r.at, r.left, r.number = line, 0, r.left-len(line), r.number+1
	return nil
}

// lineEnd is how many bytes the end of a line has, which is all of it or what remains of it. The last line of a file
// may end in a carriage return.
func lineEnd(line []byte) int {
	switch {
	case bytes.HasSuffix(line, []byte("\r\n")):
		return 2
	case bytes.HasSuffix(line, []byte("\n")), bytes.HasSuffix(line, []byte("\r")):
		return 1
	}
	return 0
}

// recordsOf are the records with which a text begins. all counts also those that are malformed; whole says that there
// is nothing behind, else what stands at the end may go on.
func recordsOf(text []byte, whole bool, delimiter, comment rune) (valid [][]string, all int) {
	if !whole {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	r := newRecords(bufio.NewReader(bytes.NewReader(text)), delimiter, comment)
	for {
		record, err := r.read()
		if err == io.EOF {
			return valid, all
		}
		all++
		if err == nil {
			valid = append(valid, slices.Clone(record))
		}
	}
}
