package input

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// column is a column that is being read. If a valid row needs it and it is allowed, the column gets a wider type.
type column struct {
	Column
	place int            // of a verbatim column: its number in the file, from 1; 0: it is found by its name
	there keytype.Extent // of the rows so far
	seen  int            // number of rows of this Read in there
	texts *keytype.Arena // for text: the texts of this Read
	value *string        // the value of rows without one; nil: they are errors or skipped
	whole []string       // the column has whole records, of columns with these names

	keepNull bool  // rows without a value are nulls
	nulls    []int // the rows of this Read that are null

	// For columnar formats:

	batch      *keytype.Arena // the texts of the batch, which are copied to texts
	dictionary *keytype.Arena // the first ones in batch, which rows share; nil: each row has its own text
	copied     []uint32       // of those in dictionary: 1 + the number in texts; 0: not copied yet
}

// text returns the value of a text: its number in the arena.
func (c *column) text(text []byte) (v keytype.Value, err error) {
	if len(text) > keytype.Longest {
		return v, ErrLongText
	}
	return keytype.Value{Type: keytype.Text, Word: c.arena().Add(text)}, nil
}

// arena is where texts go first.
func (c *column) arena() *keytype.Arena {
	if c.batch != nil {
		return c.batch
	}
	return c.texts
}

// full reports whether a column has enough texts for one Read.
func (c *column) full() bool { return c.Type == keytype.Text && c.texts.Full() }

func full(columns []*column) bool { return slices.ContainsFunc(columns, (*column).full) }

// truncate removes the texts and nulls after that many rows, because their row is skipped.
func truncate(columns []*column, rows int) {
	for _, c := range columns {
		c.texts.Truncate(rows)
		for last := len(c.nulls) - 1; last >= 0 && c.nulls[last] >= rows; last-- {
			c.nulls = c.nulls[:last]
		}
	}
}

// see adds the rows of this Read to there.
func (c *column) see(rows []uint64) {
	c.there.Add(rows[c.seen:])
	c.seen = len(rows)
}

// end ends a Read.
func (c *column) end(rows []uint64) {
	if len(c.Wider) > 0 { // otherwise there is not used
		c.see(rows)
	}
	c.seen = 0
	for last := len(c.nulls) - 1; last >= 0 && c.nulls[last] >= len(rows); last-- {
		c.nulls = c.nulls[:last] // of a row that was skipped
	}
}

// become gives the column another type, and converts its rows of this Read.
func (c *column) become(t keytype.Type, rows []uint64) {
	if t == c.Type {
		return
	}
	t.Widen(c.Type, rows)
	c.there.Widen(t, c.Type)
	c.Type, c.Wider = t, slices.DeleteFunc(t.Wider(), func(w keytype.Type) bool { return !slices.Contains(c.Wider, w) })
}

// put writes the values of row n. If a value does not fit its column, no column changes, and bad is the first such
// column.
func put(chosen []*column, columns [][]uint64, n int, row []keytype.Value) (bad int, err error) {
	for i, v := range row {
		c := chosen[i]
		if v.Type != c.Type {
			return putWider(chosen, columns, n, row)
		}
		columns[i][n] = v.Word
		c.mark(n, v)
	}
	return 0, nil
}

// mark notes whether row n is null. A row that was skipped may have been noted before.
func (c *column) mark(n int, v keytype.Value) {
	if last := len(c.nulls) - 1; last >= 0 && c.nulls[last] == n {
		c.nulls = c.nulls[:last]
	}
	if v.Null {
		c.nulls = append(c.nulls, n)
	}
}

// putWider is put if a value is not of its column's type.
func putWider(chosen []*column, columns [][]uint64, n int, row []keytype.Value) (bad int, err error) {
	for i, v := range row {
		c := chosen[i]
		c.see(columns[i][:n])
		if row[i].Type, err = c.there.Join(c.Type, c.Wider, v); err != nil {
			if c.Flag != "" && !c.Ordered {
				err = fmt.Errorf("%w (%s %s reads both)", err, c.Flag, keytype.Text)
			}
			return i, err
		}
		word := []uint64{v.Word}
		row[i].Type.Widen(v.Type, word)
		row[i].Word = word[0]
	}
	for i, v := range row {
		chosen[i].become(v.Type, columns[i][:n])
		columns[i][n] = v.Word
		chosen[i].mark(n, v)
	}
	return 0, nil
}

// Parse parses a text as the column's type, which is not Text, or as the first wider type that has the value. If the
// column's type was guessed, a number that is a code (Coded) is a *CodeError.
func (c Column) Parse(text string) (v keytype.Value, err error) {
	v, err = c.first(text)
	if err == nil && c.Any && Coded(text) && (c.Type.Integer() || c.Type == keytype.Float64) {
		err = &CodeError{c.Name, text}
	}
	if err != nil && c.Adapts && c.Any && c.Type.Integer() {
		if kind, fits := classify(text); kind == fraction && fits {
			return v, &FractionError{c.Name, text, err}
		}
	}
	if err != nil && c.Flag != "" && !isNull(text) {
		err = &valueError{err, c, text}
	}
	return v, err
}

// first is Parse for a column whose type was not guessed.
func (c Column) first(text string) (keytype.Value, error) {
	parse := keytype.Type.Parse
	if c.End {
		parse = keytype.Type.ParseEnd
	}
	w, err := parse(c.Type, text)
	if err == nil || len(c.Wider) == 0 {
		return keytype.Value{Type: c.Type, Word: w}, err
	}
	return c.Type.First(c.Wider, func(t keytype.Type) (uint64, error) { return parse(t, text) })
}

// parseRange parses the ends of a range, as Parse does.
func (c Column) parseRange(text string) (lo, hi keytype.Value, err error) {
	lo, hi, err = c.Type.ParseRange(text, c.Wider...)
	var value *keytype.ValueError
	if c.Flag != "" && errors.As(err, &value) && !errors.Is(err, keytype.ErrNoRange) {
		err = &valueError{err, c, value.Text}
	}
	return lo, hi, err
}

// parseBytes is parse for a slice of bytes.
func (c *column) parseBytes(text []byte) (v keytype.Value, err error) {
	if c.Type == keytype.Text {
		return c.text(text)
	}
	if !c.End {
		if w, err := c.Type.ParseBytes(text); err == nil && !(c.Any && Coded(text)) {
			return keytype.Value{Type: c.Type, Word: w}, nil
		}
	}
	return c.parse(string(text))
}

// parse is Parse, also for columns of text and for rows without a value.
func (c *column) parse(text string) (v keytype.Value, err error) {
	if c.Type == keytype.Text {
		return c.text([]byte(text))
	}
	if v, err = c.Parse(text); err != nil && isNull(text) {
		return c.null(err)
	}
	return v, err
}

// null returns the value of a row without one. err is why it has none.
func (c *column) null(err error) (keytype.Value, error) {
	switch {
	case c.value == nil && c.keepNull:
		v := keytype.Value{Type: c.Type, Null: true}
		if c.Type == keytype.Text { // each row has a text
			v.Word = c.arena().Add(nil)
		}
		return v, nil
	case c.value == nil:
		return keytype.Value{}, &nullError{err}
	case c.Type == keytype.Text:
		return c.text([]byte(*c.value))
	}
	v, err := c.first(*c.value)
	if err != nil {
		err = fmt.Errorf("has no value, and what is read instead won't do: %w", err)
	}
	return v, err
}

// nullError is the error of a field without a value. Its text is that of another error.
type nullError struct{ error }

func (e *nullError) Unwrap() []error { return []error{ErrNull, e.error} }

// integer and the methods below return the values of numbers in columnar and binary files, as Parse does for texts.
func (c *column) integer(n int64) (keytype.Value, error) {
	if w, err := c.Type.FromInt(n); err == nil {
		return keytype.Value{Type: c.Type, Word: w}, nil
	}
	return c.Type.First(c.Wider, func(t keytype.Type) (uint64, error) { return t.FromInt(n) })
}

func (c *column) unsigned(n uint64) (keytype.Value, error) {
	if w, err := c.Type.FromUint(n); err == nil {
		return keytype.Value{Type: c.Type, Word: w}, nil
	}
	return c.Type.First(c.Wider, func(t keytype.Type) (uint64, error) { return t.FromUint(n) })
}

// float treats NaN as no value, as for text.
func (c *column) float(x float64) (keytype.Value, error) {
	w, err := c.Type.FromFloat(x)
	if x != x {
		return c.null(err)
	}
	return keytype.Value{Type: c.Type, Word: w}, err
}

func (c *column) boolean(is bool) (keytype.Value, error) {
	switch {
	case c.Type == keytype.Text:
		return c.text(strconv.AppendBool(nil, is))
	case is:
		return c.unsigned(1)
	}
	return c.unsigned(0)
}

func (c *column) moment(at time.Time) (keytype.Value, error) {
	return c.Type.First(c.Wider, func(t keytype.Type) (uint64, error) { return t.FromTime(at) })
}

func (c *column) day(days int64) (keytype.Value, error) {
	return c.Type.First(c.Wider, func(t keytype.Type) (uint64, error) { return t.FromDay(days, c.End) })
}

// bits is Parse for a value of a binary file.
func (c *column) bits(bits uint64) (keytype.Value, error) {
	if c.Type.Plain() {
		return c.unsigned(bits)
	}
	w, err := c.Type.FromBits(bits)
	return keytype.Value{Type: c.Type, Word: w}, err
}
