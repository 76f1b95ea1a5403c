package input

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	arrowdecimal "github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// arrowMagic begins and ends an Arrow IPC file. A stream begins with its first message. A file has the messages of a
// stream between its magic, which is padded to 8 bytes, and a footer, which has the schema and the positions of the
// messages. A few writers leave out the schema's message, because the footer has it.
const (
	arrowMagic       = "ARROW1"
	arrowStreamMagic = "\xff\xff\xff\xff"
)

// beforeMessages is the number of bytes before the first message of a file.
const beforeMessages = 8

// arrowPart returns the stream in an Arrow IPC file, by its footer unless the file is a pipe. It returns a stream as it
// is.
func arrowPart(f *File) (io.Reader, error) {
	head, err := f.Peek(beforeMessages)
	if err != nil || !strings.HasPrefix(string(head), arrowMagic) {
		return f, err
	}
	if random, err := f.Random(); err == nil {
		return byFooter(random)
	}
	_, err = io.CopyN(io.Discard, f, beforeMessages)
	return f, err
}

// byFooter returns the messages of an Arrow IPC file: its schema, its dictionaries and its batches.
func byFooter(file *io.SectionReader) (stream io.Reader, err error) {
	defer func() { // an index may be out of range
		if recover() != nil {
			err = errFlat
		}
	}()
	tail := make([]byte, 4+len(arrowMagic))
	if _, err := file.ReadAt(tail, file.Size()-int64(len(tail))); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	end := file.Size() - int64(len(tail)) - length
	if string(tail[4:]) != arrowMagic || end < beforeMessages || length > longestMetadata {
		return nil, io.ErrUnexpectedEOF
	}
	data := make([]byte, length)
	if _, err := file.ReadAt(data, end); err != nil {
		return nil, err
	}
	footer := flatTable{data, u32(data, 0)}
	schema := footer.field(1)
	if schema == 0 {
		return nil, errors.New("a footer without a schema")
	}
	messages := []io.Reader{bytes.NewReader(schemaMessage(data, footer.follow(schema).at))}
	left := end - beforeMessages
	for _, kind := range []int{2, 3} { // dictionaries and batches
		if err := footer.vector(kind, 24, func(at uint32) error {
			from, metadata := binary.LittleEndian.Uint64(data[at:]), uint64(u32(data, at+8))
			body := binary.LittleEndian.Uint64(data[at+16:])
			if from > uint64(end) || body > uint64(end) || from+metadata+body > uint64(end) {
				return fmt.Errorf("a message of %d bytes at %d in a file of %d", metadata+body, from, file.Size())
			}
			if left -= int64(metadata + body); left < 0 {
				return errors.New("messages that overlap")
			}
			messages = append(messages, io.NewSectionReader(file, int64(from), int64(metadata+body)))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return io.MultiReader(messages...), nil
}

// openArrow opens an Arrow IPC file or stream, from a file or a pipe.
func openArrow(f *File, o *Options, invalid *invalid) (source, error) {
	c, p := newColumnar(f, o, invalid), newArrowRows(f, o)
	err := damaged(f.Name(), Arrow, func() error {
		part, err := arrowPart(f)
		if err == nil {
			p.messages.r = part
			p.reader, err = ipc.NewReaderFromMessageReader(&p.messages,
				ipc.WithAllocator(boundedMemory{memory.DefaultAllocator, &p.messages}))
		}
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.close = p.close
	if p.places, err = c.arrowPlaces(p.reader.Schema(), o); err != nil {
		c.close()
		return nil, err
	}
	c.load = func() (err error) {
		c.columns, err = p.load(o.columns)
		return err
	}
	return c, nil
}

// arrowPlaces returns the indices of the columns.
func (c *columnar) arrowPlaces(schema *arrow.Schema, o *Options) (places []int, err error) {
	var names []string
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	if places, err = c.find(names, o); err != nil {
		return nil, err
	}
	for i, column := range o.columns {
		have := schema.Field(places[i]).Type
		if err := c.check(column, arrowKind(have), wideInArrow(have), have.String()); err != nil {
			return nil, err
		}
	}
	return places, nil
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
	case *arrow.BooleanType:
		return boolean
	case arrow.DecimalType:
		if known(t.GetScale()) {
			return decimal
		}
	case *arrow.DictionaryType:
		return arrowKind(t.ValueType)
	}
	return other
}

// wideInArrow returns the argument wide of column.take.
func wideInArrow(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Float64Type:
		return true
	case arrow.DecimalType:
		return t.GetScale() > 0
	case *arrow.DictionaryType:
		return wideInArrow(t.ValueType)
	}
	return false
}

// addArray appends the rows of an array whose kind can have values of the column's type.
func (c *cells) addArray(a arrow.Array, column *column) {
	switch a := a.(type) {
	case *array.Int8:
		addSigned(c, a, column)
	case *array.Int16:
		addSigned(c, a, column)
	case *array.Int32:
		addSigned(c, a, column)
	case *array.Int64:
		addSigned(c, a, column)
	case *array.Uint8:
		addUnsigned(c, a, column)
	case *array.Uint16:
		addUnsigned(c, a, column)
	case *array.Uint32:
		addUnsigned(c, a, column)
	case *array.Uint64:
		addUnsigned(c, a, column)
	case *array.Boolean:
		addRows(c, a, column, column.boolean)
	case *array.Decimal32:
		addRows(c, a, column, func(n arrowdecimal.Decimal32) (keytype.Value, error) {
			return column.decimal(big.NewInt(int64(n)), scaleOf(a))
		})
	case *array.Decimal64:
		addRows(c, a, column, func(n arrowdecimal.Decimal64) (keytype.Value, error) {
			return column.decimal(big.NewInt(int64(n)), scaleOf(a))
		})
	case *array.Decimal128:
		addRows(c, a, column, func(n decimal128.Num) (keytype.Value, error) {
			return column.decimal(n.BigInt(), scaleOf(a))
		})
	case *array.Decimal256:
		addRows(c, a, column, func(n decimal256.Num) (keytype.Value, error) {
			return column.decimal(n.BigInt(), scaleOf(a))
		})
	case *array.Float16:
		addRows(c, a, column, func(x float16.Num) (keytype.Value, error) { return column.float(float64(x.Float32())) })
	case *array.Float32:
		addRows(c, a, column, func(x float32) (keytype.Value, error) { return column.float(float64(x)) })
	case *array.Float64:
		addRows(c, a, column, column.float)
	case *array.String:
		addRows(c, a, column, column.parse)
	case *array.LargeString:
		addRows(c, a, column, column.parse)
	case *array.StringView:
		addRows(c, a, column, column.parse)
	case *array.Binary:
		addRows(c, a, column, column.text)
	case *array.LargeBinary:
		addRows(c, a, column, column.text)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit.Multiplier()
		addRows(c, a, column, func(n arrow.Timestamp) (keytype.Value, error) {
			return column.moment(instant(int64(n), unit))
		})
	case *array.Date32:
		addRows(c, a, column, func(days arrow.Date32) (keytype.Value, error) { return column.day(int64(days)) })
	case *array.Date64:
		const day = 24 * 60 * 60 * 1000 // milliseconds
		addRows(c, a, column, func(n arrow.Date64) (keytype.Value, error) { return column.day(int64(n) / day) })
	default:
		panic(fmt.Sprintf("an array of %s in a column of another type", a.DataType())) // the file's fault: see damaged
	}
}

// scaleOf returns the number of digits of decimals after the point.
func scaleOf(a arrow.Array) int { return int(a.DataType().(arrow.DecimalType).GetScale()) }

// rows has the methods that arrow-go's arrays of different types share.
type rows[T any] interface {
	arrow.Array
	Value(i int) T
}

func addRows[T any, A rows[T]](c *cells, a A, column *column, convert func(T) (keytype.Value, error)) {
	for i := range a.Len() {
		switch {
		case c.first && len(c.bad) > 0:
			return
		case a.IsNull(i):
			c.add(column.null(ErrNull))
		default:
			c.add(convert(a.Value(i)))
		}
	}
}

func addSigned[T int8 | int16 | int32 | int64, A rows[T]](c *cells, a A, column *column) {
	addRows(c, a, column, func(n T) (keytype.Value, error) { return column.integer(int64(n)) })
}

func addUnsigned[T uint8 | uint16 | uint32 | uint64, A rows[T]](c *cells, a A, column *column) {
	addRows(c, a, column, func(n T) (keytype.Value, error) { return column.unsigned(uint64(n)) })
}

// convertArray converts the array to those of a column whose type its kind can have.
func (v *values) convertArray(c *column, into *cells) {
	into.reset(c.Type)
	a, is := v.array.(*array.Dictionary)
	if !is {
		into.addArray(v.array, c)
		return
	}
	distinct := cells{typ: c.Type}
	if c.Type != keytype.Text {
		distinct.addArray(a.Dictionary(), c)
	} else {
		v.dictionary = &keytype.Arena{}
		c.batch = v.dictionary
		distinct.addArray(a.Dictionary(), c)
		v.texts, _ = keytype.Joined([]*keytype.Arena{v.dictionary})
		c.batch = v.texts
	}
	into.addDictionary(a, distinct, c)
}

// addDictionary appends the rows of a dictionary-encoded array whose values were converted.
func (c *cells) addDictionary(a *array.Dictionary, values cells, column *column) {
	bad := map[int]error{}
	for _, b := range values.bad {
		bad[b.row] = b.err
	}
	for i := range a.Len() {
		if a.IsNull(i) {
			c.add(column.null(ErrNull))
			continue
		}
		at := a.GetValueIndex(i)
		c.add(values.value(at), bad[at])
	}
}
