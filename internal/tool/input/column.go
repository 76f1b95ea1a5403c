package input

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/vkds/vkds/internal/tool/keytype"
)

// column is one that is being read. Its type becomes a wider one where a row that is valid needs that and it may.
type column struct {
	Column
	there keytype.Extent // of it
	seen  int            // so many rows of this Read are in there
	texts *keytype.Arena // of a column of text: those of this Read
	batch *keytype.Arena // of a column of a columnar format: those of its batch, from where they go to texts
	value *string        // of rows without one; nil: they have none
}

// text is the value of a text: its number.
func (c *column) text(text []byte) (v keytype.Value, err error) {
	if len(text) > keytype.Longest {
		return v, ErrLongText
	}
	into := c.texts
	if c.batch != nil {
		into = c.batch
	}
	return keytype.Value{Type: keytype.Text, Word: into.Add(text)}, nil
}

// full tells whether a column has enough texts for one Read.
func (c *column) full() bool { return c.Type == keytype.Text && c.texts.Full() }

func full(columns []*column) bool { return slices.ContainsFunc(columns, (*column).full) }

// truncate leaves the texts of so many rows: those of one that is passed over go.
func truncate(columns []*column, rows int) {
	for _, c := range columns {
		c.texts.Truncate(rows)
	}
}

// see sees the rows of this Read that are there by now.
func (c *column) see(rows []uint64) {
	c.there.Add(rows[c.seen:])
	c.seen = len(rows)
}

// end ends a Read.
func (c *column) end(rows []uint64) {
	if len(c.Wider) > 0 { // else nobody asks
		c.see(rows)
	}
	c.seen = 0
}

// become gives the column another type, and its rows of this Read their words.
func (c *column) become(t keytype.Type, rows []uint64) {
	if t == c.Type {
		return
	}
	t.Widen(c.Type, rows)
	c.there.Widen(t, c.Type)
	c.Type, c.Wider = t, slices.DeleteFunc(t.Wider(), func(w keytype.Type) bool { return !slices.Contains(c.Wider, w) })
}

// put puts a row of values in place n. Where one of them has no place in its column, no column becomes another, and bad
// is the first of these.
func put(chosen []*column, columns [][]uint64, n int, row []keytype.Value) (bad int, err error) {
	for i, v := range row {
		c := chosen[i]
		if v.Type != c.Type {
			return putWider(chosen, columns, n, row)
		}
		columns[i][n] = v.Word
	}
	return 0, nil
}

// putWider is put where a value isn't of its column's type.
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
	}
	return 0, nil
}

// Parse returns the value of a text, of the column's type, which is another than text, or the first wider one that has
// it. Of a column that nobody has said the type of, a number that Coded tells of is a *CodeError.
func (c Column) Parse(text string) (v keytype.Value, err error) {
	v, err = c.first(text)
	if err == nil && c.Any && Coded(text) && (c.Type.Integer() || c.Type == keytype.Float64) {
		err = &CodeError{c.Name, text}
	}
	if err != nil && c.Flag != "" && !isNull(text) {
		err = &valueError{err, c, text}
	}
	return v, err
}

// first is Parse where somebody has said what the column holds.
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

// parseRange returns the values of the two ends of a range, as Parse does.
func (c Column) parseRange(text string) (lo, hi keytype.Value, err error) {
	lo, hi, err = c.Type.ParseRange(text, c.Wider...)
	var value *keytype.ValueError
	if c.Flag != "" && errors.As(err, &value) && !errors.Is(err, keytype.ErrNoRange) {
		err = &valueError{err, c, value.Text}
	}
	return lo, hi, err
}

// parseBytes is Parse of any type for a slice of bytes.
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

// parse is Parse of any type.
func (c *column) parse(text string) (v keytype.Value, err error) {
	if c.Type == keytype.Text {
		return c.text([]byte(text))
	}
	if v, err = c.Parse(text); err != nil && isNull(text) {
		return c.null(err)
	}
	return v, err
}

// null is the value of a row that has none for this reason.
func (c *column) null(err error) (keytype.Value, error) {
	switch {
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

// nullError is the error of a field without a value, with the words of another one.
type nullError struct{ error }

func (e *nullError) Unwrap() []error { return []error{ErrNull, e.error} }

// integer and the others return the values of what columnar and binary files hold, as Parse does.
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

// float takes NaN for no value, as text has it.
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
