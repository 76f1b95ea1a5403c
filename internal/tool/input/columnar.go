package input

import (
	"fmt"
	"github.com/vkds/vkds/internal/tool/keytype"
	"slices"
)

// kind is what a column of Parquet or Arrow holds, as far as it matters here.
type kind uint8

const (
	other kind = iota
	integer
	float
	text
	moment
	decimal
	boolean
)

// holds tells whether values of type t can come from a column of kind k.
func (k kind) holds(t keytype.Type) bool {
	fraction := t == keytype.Float32 || t == keytype.Float64
	switch k {
	case integer:
		return t != keytype.Text
	case float:
		return fraction
	case text:
		return true
	case moment:
		return t == keytype.Time || t == keytype.Time64
	case decimal:
		return t.Integer() || fraction || t == keytype.Text
	case boolean:
		return t.Integer() || t == keytype.Text
	}
	return false
}

// own are the types that read any column of a kind.
var own = map[kind]keytype.Type{integer: keytype.Uint64, float: keytype.Float64, moment: keytype.Time,
	decimal: keytype.Text, boolean: keytype.Text}

// take makes a column's type that of what it holds, where nobody has said that. wide says of floats that they have 64
// bits, and of decimals that they have fractions.
func (c *column) take(k kind, wide bool) {
	if !c.Any {
		return
	}
	switch {
	case k == float && wide, k == decimal && wide:
		c.Type, c.Wider = keytype.Float64, nil
	case k == float:
		c.Type, c.Wider = keytype.Float32, nil
	case k == moment:
		c.Type, c.Wider = keytype.Time, keytype.Time.Wider()
	case k == text, k == boolean:
		c.Type, c.Wider = keytype.Text, nil
	}
}

// cells are the values of a few rows of one column.
type cells struct {
	typ   keytype.Type // the column's, before them
	words []uint64
	types []keytype.Type // of the words; nil: all are of the column's
	bad   []badCell      // in the order of rows
}

type badCell struct {
	row int // among words, from 0
	err error
}

func (c *cells) reset(typ keytype.Type) {
	c.typ, c.words, c.types, c.bad = typ, c.words[:0], nil, c.bad[:0]
}

func (c *cells) add(v keytype.Value, err error) {
	if err != nil {
		c.bad = append(c.bad, badCell{len(c.words), err})
		v = keytype.Value{Type: c.typ}
	}
	if v.Type != c.typ && c.types == nil {
		c.types = slices.Repeat([]keytype.Type{c.typ}, len(c.words))
	}
	if c.types != nil {
		c.types = append(c.types, v.Type)
	}
	c.words = append(c.words, v.Word)
}

// value is that of a row.
func (c *cells) value(row int) keytype.Value {
	v := keytype.Value{Type: c.typ, Word: c.words[row]}
	if c.types != nil {
		v.Type = c.types[row]
	}
	return v
}

// columnar hands out the rows that a columnar format reads in batches.
type columnar struct {
	file    string
	names   []string // of the columns, as asked for
	format  Format
	invalid *invalid
	load    func(columns []cells) error
	close   func()
	chosen  []*column
	columns []cells
	at      int   // next row of columns
	start   int64 // number of rows before columns
}

func newColumnar(file *File, o Options, invalid *invalid) *columnar {
	c := &columnar{file: file.Name(), format: o.Format, invalid: invalid, chosen: o.columns,
		columns: make([]cells, len(o.columns))}
	for _, column := range o.columns {
		c.names = append(c.names, column.Name)
		column.batch = &keytype.Arena{}
	}
	return c
}

func (c *columnar) Close() error {
	c.close()
	return nil
}

func (c *columnar) read(columns [][]uint64, n int) (int, error) {
	if c.at == len(c.columns[0].words) {
		if err := c.fill(); err != nil {
			return n, err
		}
	}
	return c.take(columns, n)
}

// check makes a column's type that of what it holds, or tells that it holds no values of the type that it is said to
// have. have is its own, in its format's words.
func (c *columnar) check(column *column, k kind, wide bool, have string) error {
	column.take(k, wide)
	reason, hint := "which isn't read", ""
	switch {
	case k == other:
	case k.holds(column.Type):
		return nil
	case column.Type.Integer() && column.Wider != nil:
		reason = "which doesn't hold integers"
	default:
		reason = fmt.Sprintf("which doesn't hold %s values", column.Type)
	}
	if t, known := own[k]; known && column.Flag != "" {
		hint = fmt.Sprintf(" (%s %s reads it)", column.Flag, t)
	}
	return &ColumnError{c.file, column.Name, fmt.Sprintf("column %s is of type %s, %s%s", quote(column.Name), have,
		reason, hint)}
}

// fill reads the next batch.
func (c *columnar) fill() error {
	c.start += int64(c.at)
	c.at = 0
	for i := range c.columns {
		c.columns[i].reset(c.chosen[i].Type)
		c.chosen[i].batch.Reset()
	}
	if err := damaged(c.file, c.format, func() error { return c.load(c.columns) }); err != nil {
		return err
	}
	for _, column := range c.columns {
		if a, b := len(c.columns[0].words), len(column.words); a != b {
			return &DamagedError{c.file, c.format, fmt.Errorf("columns of %d and %d rows", a, b)}
		}
	}
	return nil
}

// take copies rows of the batch, up to and over the next bad one.
func (c *columnar) take(columns [][]uint64, n int) (int, error) {
	end, bad, column := min(len(c.columns[0].words), c.at+len(columns[0])-n), -1, 0
	for i := range c.columns {
		for len(c.columns[i].bad) > 0 && c.columns[i].bad[0].row < c.at {
			c.columns[i].bad = c.columns[i].bad[1:] // another column's was bad, too
		}
		if b := c.columns[i].bad; len(b) > 0 && b[0].row < end {
			end, bad, column = b[0].row, b[0].row, i
		}
	}
	n, err := c.copy(columns, n, end)
	if err != nil || bad < 0 || c.at < end {
		return n, err
	}
	c.at++
	return n, c.pass(bad, column, c.columns[column].bad[0].err)
}

// copy copies rows of the batch that are values of their columns, up to one or until there are texts enough, and passes
// over those whose values have no type together with those before.
func (c *columnar) copy(columns [][]uint64, n, end int) (int, error) {
	same := true // types as the columns have them, and no text
	for i, cells := range c.columns {
		same = same && cells.types == nil && cells.typ == c.chosen[i].Type && cells.typ != keytype.Text
	}
	if same {
		for i := range columns {
			copy(columns[i][n:], c.columns[i].words[c.at:end])
		}
		n += end - c.at
		c.at = end
		return n, nil
	}
	row := make([]keytype.Value, len(columns))
	for ; c.at < end && !full(c.chosen); c.at++ {
		for i, column := range c.chosen {
			if row[i] = c.columns[i].value(c.at); column.Type == keytype.Text {
				row[i].Word = column.texts.Add(column.batch.At(row[i].Word))
			}
		}
		bad, err := put(c.chosen, columns, n, row)
		if err == nil {
			n++
			continue
		}
		truncate(c.chosen, n)
		if err := c.pass(c.at, bad, err); err != nil {
			return n, err
		}
	}
	return n, nil
}

// pass passes over a row of the batch that is invalid, or returns what is wrong with it.
func (c *columnar) pass(row, column int, err error) error {
	if c.invalid.pass(err) {
		return nil
	}
	return &RowError{c.file, c.start + int64(row) + 1, c.names[column], err}
}
