package input

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// OptionError reports an option that is not valid, or not for this format: a delimiter or a beginning of comments that
// has another meaning, or a name where columns have none.
type OptionError struct{ Reason string }

func (e *OptionError) Error() string { return e.Reason }

// ColumnError reports a chosen column that the file does not have, or has twice, or whose type has no values of the
// requested type.
type ColumnError struct {
	File   string
	Column string // as the caller names it
	Reason string
}

func (e *ColumnError) Error() string { return e.File + ": " + e.Reason }

// LineError reports an error in one line of a text file.
type LineError struct {
	File string
	Line int64 // from 1
	// Column is the number of the character in the line, from 1, or 0 if the error is in the whole line or a whole
	// field.
	Column int
	// Field names the field of a table, such as `column 3` or `column "size"`, or is empty.
	Field string
	Err   error
}

func (e *LineError) Unwrap() error { return e.Err }

// Error returns "file:line: reason", with the column if there is one.
func (e *LineError) Error() string {
	switch {
	case e.Field != "":
		return fmt.Sprintf("%s:%d: %s: %v", e.File, e.Line, e.Field, e.Err)
	case e.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
	}
	return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
}

// RowError reports a value of a Parquet, Arrow or binary file that does not fit its column's type.
type RowError struct {
	File   string
	Row    int64  // from 1
	Column string // as the caller names it
	Err    error  // *keytype.ValueError or ErrNull
}

func (e *RowError) Unwrap() error { return e.Err }

func (e *RowError) Error() string {
	return fmt.Sprintf("%s: row %d: column %s: %v", e.File, e.Row, quote(e.Column), e.Err)
}

// DamagedError reports a file that is not a Parquet or Arrow file, or a damaged one.
type DamagedError struct {
	File   string
	Format Format
	Err    error
}

func (e *DamagedError) Unwrap() error { return e.Err }

func (e *DamagedError) Error() string {
	kind := map[Format]string{Parquet: "a Parquet", Arrow: "an Arrow"}[e.Format]
	return fmt.Sprintf("%s: not %s file, or a damaged one: %s", e.File, kind,
		strings.Join(strings.Fields(e.Err.Error()), " "))
}

// Causes that the errors above, and *Error, may wrap, in addition to those of package keytype.
var (
	// ErrCarriageReturns reports text whose only line ends are carriage returns.
	ErrCarriageReturns = errors.New("its lines end in carriage returns alone: make them line feeds (tr '\\r' '\\n')")
	// ErrUTF16 reports UTF-16 without a byte order mark, so the order of its bytes is not known.
	ErrUTF16 = errors.New("looks like UTF-16 without a byte order mark: make it UTF-8 (iconv -f UTF-16LE -t UTF-8)")
	// ErrQuote reports a quote inside an unquoted field, after a quoted one, or not closed in the file's last line.
	ErrQuote = errors.New(`a stray quote (")`)
	// ErrOpenQuote reports a quoted field that has several lines and does not end as a field must. It is never skipped,
	// because it may have swallowed any number of records.
	ErrOpenQuote = errors.New(`a quoted field goes over several lines and doesn't end as it should`)
	// ErrJSON reports a table of JSON lines.
	ErrJSON = errors.New("looks like JSON, which is written, but not read: give CSV, Parquet or Arrow")
	// ErrLongRecord reports a record of more than 4 MiB. The limit bounds the memory for text without line ends or with
	// an odd quote. It is never skipped.
	ErrLongRecord = errors.New("a record of more than 4 MiB")
	// ErrLongLine reports a line of Text that is longer than any key.
	ErrLongLine = errors.New("the line is too long to be a key")
	// ErrLongText reports a text of more than 4 MiB.
	ErrLongText = errors.New("a text of more than 4 MiB")
	// ErrOddBytes reports a binary file that does not end with a whole row.
	ErrOddBytes = errors.New("ends in the middle of a row")
	// ErrDigits reports a decimal that does not fit 64 bits exactly.
	ErrDigits = errors.New("has more digits than 64 bits hold")
	// ErrNull reports a row without a value.
	ErrNull = errors.New("is null")
)

// CodeError reports a number that is a code (Coded) in a column whose type was guessed, and whose first rows have no
// codes. It is never skipped: either the column is text, and then so are the numbers before it, or the way it is
// written has no meaning.
type CodeError struct {
	Column string // as the caller names it
	Text   string
}

// Reason says why the value is text.
func (e *CodeError) Reason() string {
	if strings.Contains(e.Text, "+") {
		return e.Text + " has a plus sign"
	}
	return e.Text + " has a leading zero"
}

func (e *CodeError) Error() string {
	return e.Reason() + ", as text has it, where values before it are numbers"
}

// FractionError reports a fraction in a column with Column.Adapts, whose first rows have integers.
type FractionError struct {
	Column string // as the caller names it
	Text   string
	Err    error
}

func (e *FractionError) Error() string { return e.Err.Error() }

func (e *FractionError) Unwrap() error { return e.Err }

// TakeForText makes the columns text that a *CodeError is about, and those floats that a *FractionError is about, so
// that the file can be read again. It reports whether there are any.
func TakeForText(columns []Column, err error) (some bool) {
	var code *CodeError
	var fraction *FractionError
	for i, c := range columns {
		if errors.As(err, &fraction) && c.Any && c.name(i) == fraction.Column {
			columns[i].Type, columns[i].Wider, columns[i].Any, some = keytype.Float64, nil, false, true
		}
		if errors.As(err, &code) && c.Any && c.name(i) == code.Column {
			columns[i].Type, columns[i].Wider, columns[i].Any, some = keytype.Text, nil, false, true
		}
	}
	return some
}
