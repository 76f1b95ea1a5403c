package columnfile

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/internal/keytype"
)

// arrowTable writes Arrow IPC.
type arrowTable struct {
	w interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	rows  *array.RecordBuilder
	types [2]keytype.Type
}

func newArrow(w io.Writer, f Format, c Columns) (*arrowTable, error) {
	var fields []arrow.Field
	for i, t := range c.types() {
		fields = append(fields, arrow.Field{Name: names[i], Type: arrowType(t)})
	}
	s := arrow.NewSchema(fields, nil)
	a := &arrowTable{rows: array.NewRecordBuilder(memory.DefaultAllocator, s), types: c.types()}
	if f == ArrowStream {
		a.w = ipc.NewWriter(w, ipc.WithSchema(s))
		return a, nil
	}
	out, err := ipc.NewFileWriter(w, ipc.WithSchema(s))
	a.w = out
	return a, err
}

func arrowType(t keytype.Type) arrow.DataType {
	switch t {
	case keytype.Int32:
		return arrow.PrimitiveTypes.Int32
	case keytype.Float32:
		return arrow.PrimitiveTypes.Float32
	case keytype.Time:
		return arrow.FixedWidthTypes.Timestamp_s
	}
	return arrow.PrimitiveTypes.Uint32
}

func (a *arrowTable) write(keys, values []uint32) error {
	for i, words := range [][]uint32{keys, values} {
		if err := appendWords(a.rows.Field(i), a.types[i], words); err != nil {
			return err
		}
	}
	batch := a.rows.NewRecordBatch()
	defer batch.Release()
	return a.w.Write(batch)
}

func appendWords(column array.Builder, t keytype.Type, words []uint32) error {
	switch c := column.(type) {
	case *array.Uint32Builder:
		c.AppendValues(converted(t, words, func(bits uint32) uint32 { return bits }), nil)
	case *array.Int32Builder:
		c.AppendValues(converted(t, words, func(bits uint32) int32 { return int32(bits) }), nil)
	case *array.Float32Builder:
		c.AppendValues(converted(t, words, math.Float32frombits), nil)
	case *array.TimestampBuilder:
		c.AppendValues(converted(t, words, func(seconds uint32) arrow.Timestamp {
			return arrow.Timestamp(seconds)
		}), nil)
	default:
		return fmt.Errorf("a column of %T", column)
	}
	return nil
}

func (a *arrowTable) close() error {
	a.rows.Release()
	return a.w.Close()
}
