package infile

import "fmt"

// LineError reports what is wrong with one line of a text file.
type LineError struct {
	File string
	Line int64 // from 1
	// Column is the number of the character in the line, from 1, or 0 where
	// the whole line or a whole field is meant.
	Column int
	// Field names the field of a table, such as `column 3` or `column "size"`,
	// or is empty.
	Field string
	Err   error
}

func (e *LineError) Unwrap() error { return e.Err }

// Error returns "file:line: reason", with the column where there is one.
func (e *LineError) Error() string {
	switch {
	case e.Field != "":
		return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Field, e.Err)
	case e.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}
