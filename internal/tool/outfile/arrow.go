package outfile

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// arrowTable writes Arrow IPC.
type arrowTable struct {
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	rows    *array.RecordBuilder
	columns [2]column
}

func newArrow(w io.Writer, f Format, c Columns) (*arrowTable, error) {
	var fields []arrow.Field
	for i, column := range c.each() {
		fields = append(fields, arrow.Field{Name: names[i], Type: ArrowType(column.Type)})
	}
	s := arrow.NewSchema(fields, nil)
	a := &arrowTable{rows: array.NewRecordBuilder(memory.DefaultAllocator, s), columns: c.each()}
	if f == ArrowStream {
		a.w = ipc.NewWriter(w, ipc.WithSchema(s))
		return a, nil
	}
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
	a.w = out
	return a, err
}

// ArrowType returns the type of a column in Arrow.
func ArrowType(t keytype.Type) arrow.DataType {
	switch t {
	case keytype.Text:
		return arrow.BinaryTypes.String
	case keytype.Int32:
		return arrow.PrimitiveTypes.Int32
	case keytype.Float32:
		return arrow.PrimitiveTypes.Float32
	case keytype.Int64:
		return arrow.PrimitiveTypes.Int64
	case keytype.Float64:
		return arrow.PrimitiveTypes.Float64
	case keytype.Time:
		return arrow.FixedWidthTypes.Timestamp_s
	case keytype.Time64:
		return arrow.FixedWidthTypes.Timestamp_ns
	}
	if t.Width() == structures.Bits64 {
		return arrow.PrimitiveTypes.Uint64
	}
	return arrow.PrimitiveTypes.Uint32
}

func (a *arrowTable) write(keys, values []uint64) error {
	for i, words := range [][]uint64{keys, values} {
		if err := appendWords(a.rows.Field(i), a.columns[i], words); err != nil {
			return err
		}
	}
	batch := a.rows.NewRecordBatch()
	defer batch.Release()
	return a.w.Write(batch)
}

func appendWords(builder array.Builder, of column, words []uint64) error {
	c, is := builder.(*array.StringBuilder)
	if !is {
		return AppendArrow(builder, of.Type, words, nil)
	}
	texts, err := of.strings(words)
	for _, text := range texts {
		c.BinaryBuilder.Append(text)
	}
	return err
}

// AppendArrow appends words that are not texts to a column of the type that ArrowType returns. valid says which of them
// are there; the others are null. nil: all are.
func AppendArrow(builder array.Builder, t keytype.Type, words []uint64, valid []bool) error {
	switch c := builder.(type) {
	case *array.Uint32Builder:
		c.AppendValues(converted(t, words, func(bits uint64) uint32 { return uint32(bits) }), valid)
	case *array.Int32Builder:
		c.AppendValues(converted(t, words, func(bits uint64) int32 { return int32(bits) }), valid)
	case *array.Float32Builder:
		c.AppendValues(converted(t, words, float32of), valid)
	case *array.Uint64Builder:
		c.AppendValues(converted(t, words, func(bits uint64) uint64 { return bits }), valid)
	case *array.Int64Builder:
		c.AppendValues(converted(t, words, func(bits uint64) int64 { return int64(bits) }), valid)
	case *array.Float64Builder:
		c.AppendValues(converted(t, words, math.Float64frombits), valid)
	case *array.TimestampBuilder:
		c.AppendValues(converted(t, words, func(bits uint64) arrow.Timestamp {
			return arrow.Timestamp(bits)
		}), valid)
	default:
		return fmt.Errorf("a column of %T", builder)
	}
	return nil
}

func (a *arrowTable) close() error {
	a.rows.Release()
	return a.w.Close()
}
