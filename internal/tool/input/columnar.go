package input

import (
	"fmt"
	"github.com/vkds/vkds/internal/tool/keytype"
	"slices"
)

// guessed is a column whose type is guessed.
var guessed = Column{Type: keytype.Uint32, Wider: keytype.Uint32.Wider(), Any: true}

// kind is the kind of a Parquet or Arrow column's type.
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

// holds reports whether values of type t can come from a column of kind k.
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

// own are types that can read any column of a kind.
var own = map[kind]keytype.Type{integer: keytype.Uint64, float: keytype.Float64, moment: keytype.Time,
	decimal: keytype.Text, boolean: keytype.Text}

// take sets a guessed type to that of the file's column. wide: floats have 64 bits, or decimals have fractions.
func (c *column) take(k kind, wide bool) {
	if !c.Any || c.Guessed {
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

// cells are the values of some rows of one column.
type cells struct {
	typ   keytype.Type // the column's type before them
	words []uint64
	types []keytype.Type // of the words; nil: all have the column's type
	nulls []bool         // of the words; nil: none is null
	bad   []badCell      // in the order of rows
	first bool           // nobody needs the rows after the first bad one
}

type badCell struct {
	row int // among words, from 0
	err error
}

func (c *cells) reset(typ keytype.Type) {
	c.typ, c.words, c.types, c.nulls, c.bad = typ, c.words[:0], nil, nil, c.bad[:0]
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
	if v.Null && c.nulls == nil {
		c.nulls = make([]bool, len(c.words), cap(c.words))
	}
	if c.nulls != nil {
		c.nulls = append(c.nulls, v.Null)
	}
	c.words = append(c.words, v.Word)
}

// value returns the value of a row.
func (c *cells) value(row int) keytype.Value {
	v := keytype.Value{Type: c.typ, Word: c.words[row]}
	if c.types != nil {
		v.Type = c.types[row]
	}
	v.Null = c.nulls != nil && c.nulls[row]
	return v
}

// columnar returns the rows of batches that a columnar format reads.
type columnar struct {
	file    string
	names   []string // of the columns, as the caller names them
	format  Format
	invalid *invalid
	load    func() error // sets columns to those of the next batch
	close   func()
	chosen  []*column
	columns []cells
	at      int   // next row of columns
	start   int64 // number of rows before columns
}

func newColumnar(file *File, o *Options, invalid *invalid) *columnar {
	return &columnar{file: file.Name(), format: o.Format, invalid: invalid}
}

// find finds the columns among those of the file, and returns their indices.
func (c *columnar) find(names []string, o *Options) (places []int, err error) {
	if err := o.addVerbatim(c.file, names, guessed); err != nil {
		return nil, err
	}
	c.chosen, c.columns = o.columns, make([]cells, len(o.columns))
	for _, column := range o.columns {
		at := column.place - 1
		if at < 0 {
			if at, err = find(c.file, names, column.Name); err != nil {
				return nil, err
			}
		}
		places, c.names = append(places, at), append(c.names, column.Name)
		column.batch = &keytype.Arena{}
	}
	return places, nil
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

// check sets a guessed type (take), or returns an error if the file's column has no values of the column's type. have
// is the name of the file's type.
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
	if err := damaged(c.file, c.format, c.load); err != nil {
		return err
	}
	for _, column := range c.columns {
		if a, b := len(c.columns[0].words), len(column.words); a != b {
			return &DamagedError{c.file, c.format, fmt.Errorf("columns of %d and %d rows", a, b)}
		}
	}
	return nil
}

// take copies rows of the batch up to the next bad one, and skips that.
func (c *columnar) take(columns [][]uint64, n int) (int, error) {
	end, bad, column := min(len(c.columns[0].words), c.at+len(columns[0])-n), -1, 0
	for i := range c.columns {
		for len(c.columns[i].bad) > 0 && c.columns[i].bad[0].row < c.at {
			c.columns[i].bad = c.columns[i].bad[1:] // another column of the row was bad
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

// copy copies rows of the batch whose values are valid, up to end or until there are enough texts. It skips rows whose
// values fit no common type with those before.
func (c *columnar) copy(columns [][]uint64, n, end int) (int, error) {
	same := true // all types are those of the columns
	for i, cells := range c.columns {
		same = same && cells.types == nil && cells.nulls == nil && cells.typ == c.chosen[i].Type
	}
	if same {
		return c.copySame(columns, n, end), nil
	}
	row := make([]keytype.Value, len(columns))
	for ; c.at < end && !full(c.chosen); c.at++ {
		for i, column := range c.chosen {
			if row[i] = c.columns[i].value(c.at); column.Type == keytype.Text {
				row[i].Word = column.copyText(row[i].Word)
			}
		}
		bad, err := put(c.chosen, columns, n, row)
		if err == nil {
			n++
			continue
		}
		if err := c.pass(c.at, bad, err); err != nil {
			return n, err
		}
	}
	return n, nil
}

// copySame is copy for rows none of which is skipped.
func (c *columnar) copySame(columns [][]uint64, n, end int) int {
	rows := end - c.at
	for i, column := range c.chosen { // other columns' texts may be enough for fewer rows, which does no harm
		from := c.columns[i].words[c.at : c.at+rows]
		if to := columns[i][n:]; column.Type == keytype.Text {
			rows = column.copyTexts(to, from)
		} else {
			copy(to, from)
		}
	}
	c.at += rows
	return n + rows
}

// use begins a batch with these texts.
func (c *column) use(batch, dictionary *keytype.Arena) {
	if c.batch = batch; dictionary == c.dictionary {
		return
	}
	if c.dictionary, c.copied = dictionary, nil; dictionary != nil {
		c.copied = make([]uint32, dictionary.Len())
	}
}

// copyText copies a text of the batch to texts, unless it was already, and returns the number there.
func (c *column) copyText(number uint64) uint64 {
	if number >= uint64(len(c.copied)) {
		return c.texts.Add(c.batch.At(number))
	}
	if c.copied[number] == 0 {
		c.copied[number] = uint32(c.texts.Add(c.batch.At(number))) + 1
	}
	return uint64(c.copied[number] - 1)
}

// copyTexts is copyText for many texts, until there are enough, and returns how many it copied.
func (c *column) copyTexts(to, numbers []uint64) (n int) {
	if len(c.copied) == 0 {
		first := uint64(c.texts.Len())
		n = c.texts.AddSome(keytype.Some{Arena: c.batch, Numbers: numbers})
		for k := range n {
			to[k] = first + uint64(k)
		}
		return n
	}
	for ; n < len(numbers) && !c.texts.Full(); n++ {
		to[n] = c.copyText(numbers[n])
	}
	return n
}

// pass skips an invalid row of the batch, or returns its error.
func (c *columnar) pass(row, column int, err error) error {
	if c.invalid.pass(err) {
		return nil
	}
	return &RowError{c.file, c.start + int64(row) + 1, c.names[column], err}
}
