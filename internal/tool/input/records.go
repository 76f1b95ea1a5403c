package input

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

// records reads the records of delimited text by the grammar of encoding/csv: fields with delimiters, quotes or line
// ends are in quotes, in which a quote is doubled. That package itself changes CRLF in quotes to a line feed, which
// would make different keys equal.
type records struct {
	text      lineReader
	delimiter []byte
	comment   []byte // begins lines that are skipped; empty: none
	number    int    // of the last line read, from 1
	start     int    // the number of the record's first line
	left      int    // how many more bytes the record may have
	line      []byte
	at        int    // the position in it
	long      []byte // buffer for a line that is longer than the reader's
	fields    []byte // of the record, without separators
	ends      []int  // of the fields
	numbers   []int  // the numbers of the lines on which fields begin
	record    []string
}

// longestRecord is the greatest number of bytes in a record, except for a buffer.
const longestRecord = 4 << 20

// lineReader has the methods that records need: a *bufio.Reader, or blocks.
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
	column int  // in the record's first line, from 1; 0: in a later line
	open   bool // it is after lines that may be other records
}

func (*quoteError) Error() string { return ErrQuote.Error() }

// read returns the next record, valid until the next call. Blank lines are not records. Errors are *quoteError, after
// which the next line begins a record, ErrLongRecord, and those of the text.
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

// begins reports whether the line begins a record.
func (r *records) begins() bool {
	if len(r.comment) > 0 && bytes.HasPrefix(r.line, r.comment) {
		return false
	}
	return len(bytes.TrimSpace(r.line)) > 0 || bytes.Contains(r.line, r.delimiter)
}

// plain reads a field without quotes, and reports whether another one follows.
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

// quoted reads a field in quotes, and reports whether another one follows.
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

// misplaced returns the error of a wrong or missing quote at the position.
func (r *records) misplaced() error {
	if r.number > r.start {
		return &quoteError{open: true}
	}
	return &quoteError{column: r.at + 1}
}

// next reads a line with its end.
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

// lineEnd returns the number of bytes in the end of a line. The last line of a file may end in a carriage return.
func lineEnd(line []byte) int {
	switch {
	case bytes.HasSuffix(line, []byte("\r\n")):
		return 2
	case bytes.HasSuffix(line, []byte("\n")), bytes.HasSuffix(line, []byte("\r")):
		return 1
	}
	return 0
}

// recordsOf returns the valid records at the beginning of a text, and the number of all, including malformed ones.
// Unless the text is whole, its last line may be incomplete and is ignored.
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
