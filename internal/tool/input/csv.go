package input

import (
	"bytes"
	"iter"
)

// AppendCSV appends a text as a field of CSV, in quotes if it needs them. An empty text becomes "", because an empty
// field is a missing value.
func AppendCSV(line, text []byte) []byte {
	if len(text) > 0 && !needsQuotes(text) {
		return append(line, text...)
	}
	line = append(line, '"')
	for {
		at := bytes.IndexByte(text, '"')
		if at < 0 {
			return append(append(line, text...), '"')
		}
		line = append(append(line, text[:at]...), `""`...)
		text = text[at+1:]
	}
}

// needsQuotes reports whether a text needs quotes in CSV. Four searches for one byte each are faster than one for four.
func needsQuotes(text []byte) bool {
	return bytes.IndexByte(text, ',') >= 0 || bytes.IndexByte(text, '"') >= 0 || bytes.IndexByte(text, '\n') >= 0 ||
		bytes.IndexByte(text, '\r') >= 0
}

// wholeRecord appends the fields of a record to a line. Empty fields stay empty.
func wholeRecord(line []byte, fields iter.Seq[[]byte]) []byte {
	first := true
	for field := range fields {
		if !first {
			line = append(line, ',')
		}
		if first = false; len(field) > 0 {
			line = AppendCSV(line, field)
		}
	}
	return line
}

// fieldsOf yields the fields of a record.
func fieldsOf(record []string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, field := range record {
			if !yield([]byte(field)) {
				return
			}
		}
	}
}

// plainFields yields the fields of a record that plain has accepted.
func plainFields(line []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for more := true; more; {
			var field []byte
			if len(line) > 0 && line[0] == '"' {
				end := 1 + bytes.IndexByte(line[1:], '"')
				field, line = line[1:end], line[end+1:]
				more = len(line) > 0
				line = line[min(1, len(line)):]
			} else {
				field, line, more = bytes.Cut(line, []byte{','})
			}
			if !yield(field) {
				return
			}
		}
	}
}
