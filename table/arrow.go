package table

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/vkds/vkds/delimited"
	"github.com/vkds/vkds/infile"
	"github.com/vkds/vkds/word"
)

// arrowMagic begins an Arrow IPC file; a stream begins with its first message.
const arrowMagic = "ARROW1"

// openArrow reads an Arrow IPC file, which must be an uncompressed regular one,
// or a stream, which comes from anywhere.
func openArrow(f *infile.File, o Options) (source, error) {
	c := &columnar{file: f.Name(), skip: o.SkipInvalid, format: Arrow, rows: -1, close: func() {}}
	var schema *arrow.Schema
	var next func() (arrow.RecordBatch, error)
	err := damaged(f.Name(), Arrow, func() error {
		if random, err := f.Random(); err == nil {
			head := make([]byte, len(arrowMagic))
			if n, _ := random.ReadAt(head, 0); string(head[:n]) == arrowMagic {
				r, err := ipc.NewFileReader(random)
				if err != nil {
					return err
				}
				schema = r.Schema()
				c.close = func() { _ = r.Close() }
				next = func() (arrow.RecordBatch, error) { return r.Read() }
				return nil
			}
		}
		r, err := ipc.NewReader(f)
		if err != nil {
			return err
		}
		schema = r.Schema()
		c.close = r.Release
		next = r.Read
		return nil
	})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	var at [2]int
	var types [2]word.Type
	for i := range at {
		name, t := o.column(i)
		if at[i], err = delimited.Find(f.Name(), names, name); err != nil {
			c.close()
			return nil, err
		}
		c.names[i], types[i] = name, t
		if dt := schema.Field(at[i]).Type; !arrowKind(dt).holds(t) {
			c.close()
			return nil, &TypeError{f.Name(), name, dt.String(), t}
		}
	}
	c.load = func(columns *[2]cells) error {
		for len(columns[0].words) == 0 { // a batch may be empty
			batch, err := next()
			if err != nil {
				return err
			}
			for i := range columns {
				columns[i].addArray(batch.Column(at[i]), types[i])
			}
		}
		return nil
	}
	return c, nil
}

func arrowKind(t arrow.DataType) kind {
	switch t := t.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type,
		*arrow.Uint8Type, *arrow.Uint16Type, *arrow.Uint32Type, *arrow.Uint64Type:
		return integer
	case *arrow.Float16Type, *arrow.Float32Type, *arrow.Float64Type:
		return float
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		return text
	case *arrow.TimestampType, *arrow.Date32Type, *arrow.Date64Type:
		return moment
	case *arrow.DictionaryType:
		return arrowKind(t.ValueType)
	}
	return other
}

// addArray appends the rows of an array whose kind holds t.
func (c *cells) addArray(a arrow.Array, t word.Type) {
	switch a := a.(type) {
	case *array.Int8:
		addSigned(c, a, t)
	case *array.Int16:
		addSigned(c, a, t)
	case *array.Int32:
		addSigned(c, a, t)
	case *array.Int64:
		addSigned(c, a, t)
	case *array.Uint8:
		addUnsigned(c, a, t)
	case *array.Uint16:
		addUnsigned(c, a, t)
	case *array.Uint32:
		addUnsigned(c, a, t)
	case *array.Uint64:
		addUnsigned(c, a, t)
	case *array.Float16:
		addRows(c, a, func(x float16.Num) (uint32, error) { return t.FromFloat(float64(x.Float32())) })
	case *array.Float32:
		addRows(c, a, func(x float32) (uint32, error) { return t.FromFloat(float64(x)) })
	case *array.Float64:
		addRows(c, a, t.FromFloat)
	case *array.String:
		addRows(c, a, t.Parse)
	case *array.LargeString:
		addRows(c, a, t.Parse)
	case *array.StringView:
		addRows(c, a, t.Parse)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit.Multiplier()
		addRows(c, a, func(n arrow.Timestamp) (uint32, error) { return t.FromTime(instant(int64(n), unit)) })
	case *array.Date32:
		addRows(c, a, func(days arrow.Date32) (uint32, error) { return t.FromTime(time.Unix(int64(days)*86400, 0)) })
	case *array.Date64:
		addRows(c, a, func(n arrow.Date64) (uint32, error) { return t.FromTime(instant(int64(n), time.Millisecond)) })
	case *array.Dictionary:
		c.addDictionary(a, t)
	default:
		panic(fmt.Sprintf("an array of %s in a column of another type", a.DataType())) // the file's fault: see damaged
	}
}

// rows is what arrow-go's arrays of the different types have in common.
type rows[T any] interface {
	arrow.Array
	Value(i int) T
}

func addRows[T any, A rows[T]](c *cells, a A, convert func(T) (uint32, error)) {
	for i := range a.Len() {
		if a.IsNull(i) {
			c.add(0, ErrNull)
			continue
		}
		c.add(convert(a.Value(i)))
	}
}

func addSigned[T int8 | int16 | int32 | int64, A rows[T]](c *cells, a A, t word.Type) {
	addRows(c, a, func(n T) (uint32, error) { return t.FromInt(int64(n)) })
}

func addUnsigned[T uint8 | uint16 | uint32 | uint64, A rows[T]](c *cells, a A, t word.Type) {
	addRows(c, a, func(n T) (uint32, error) { return t.FromUint(uint64(n)) })
}

// addDictionary converts each of a dictionary-encoded array's values once.
func (c *cells) addDictionary(a *array.Dictionary, t word.Type) {
	var values cells
	values.addArray(a.Dictionary(), t)
	bad := map[int]error{}
	for _, b := range values.bad {
		bad[b.row] = b.err
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			c.add(0, ErrNull)
			continue
		}
		at := a.GetValueIndex(i)
		c.add(values.words[at], bad[at])
	}
}
