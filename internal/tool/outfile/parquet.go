package outfile

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// parquetTable writes Parquet.
type parquetTable struct {
	w       *file.Writer
	columns [2]column
}

func newParquet(w io.Writer, c Columns) (*parquetTable, error) {
	var fields schema.FieldList
	for i, column := range c.each() {
		field, err := parquetField(names[i], column.Type)
		if err != nil {
			return nil, err
		}
		fields = append(fields, field)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	if err != nil {
		return nil, err
	}
	// Keys are all different, so a dictionary of them would be a second copy.
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryFor(names[0], false))
	out, err := file.NewParquetWriterWithError(w, root, file.WithWriterProps(properties))
	if err != nil {
		return nil, err
	}
	return &parquetTable{out, c.each()}, nil
}

func parquetField(name string, t keytype.Type) (schema.Node, error) {
	signed := t == keytype.Int32 || t == keytype.Int64
	integer := schema.NewIntLogicalType(int8(t.Width().Bits()), signed)
	physical, logical := parquet.Types.Int32, schema.LogicalType(integer)
	if t.Width() == structures.Bits64 {
		physical = parquet.Types.Int64
	}
	switch t {
	case keytype.Text:
		physical, logical = parquet.Types.ByteArray, schema.StringLogicalType{}
	case keytype.Float32:
		return schema.NewPrimitiveNode(name, parquet.Repetitions.Required, parquet.Types.Float, -1, -1)
	case keytype.Float64:
		return schema.NewPrimitiveNode(name, parquet.Repetitions.Required, parquet.Types.Double, -1, -1)
	case keytype.Time64:
		logical = schema.NewTimestampLogicalType(true, schema.TimeUnitNanos)
	case keytype.Time:
		physical, logical = parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMillis)
	}
	return schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required, logical, physical, -1, -1)
}

func (p *parquetTable) write(keys, values []uint64) error {
	group, err := p.w.AppendRowGroupChecked()
	if err != nil {
		return err
	}
	for i, words := range [][]uint64{keys, values} {
		column, err := group.NextColumn()
		if err != nil {
			return err
		}
		if err := writeColumn(column, p.columns[i], words); err != nil {
			return err
		}
		if err := column.Close(); err != nil {
			return err
		}
	}
	return group.Close()
}

func writeColumn(chunk file.ColumnChunkWriter, of column, words []uint64) (err error) {
	t := of.Type
	switch c := chunk.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = c.WriteBatch(converted(t, words, func(bits uint64) int32 { return int32(bits) }), nil, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = c.WriteBatch(converted(t, words, func(bits uint64) int64 {
			if t == keytype.Time {
				return 1000 * int64(bits)
			}
			return int64(bits)
		}), nil, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = c.WriteBatch(converted(t, words, float32of), nil, nil)
	case *file.Float64ColumnChunkWriter:
		_, err = c.WriteBatch(converted(t, words, math.Float64frombits), nil, nil)
	case *file.ByteArrayColumnChunkWriter:
		texts, err := of.strings(words)
		if err != nil {
			return err
		}
		all := make([]parquet.ByteArray, len(texts))
		for i, text := range texts {
			all[i] = text
		}
		_, err = c.WriteBatch(all, nil, nil)
		return err
	default:
		err = fmt.Errorf("a column of %T", chunk)
	}
	return err
}

// converted returns the values of words of a type.
func converted[V any](t keytype.Type, words []uint64, value func(bits uint64) V) []V {
	values := make([]V, len(words))
	for i, w := range words {
		values[i] = value(t.Bits(w))
	}
	return values
}

func float32of(bits uint64) float32 { return math.Float32frombits(uint32(bits)) }

func (p *parquetTable) close() error { return p.w.Close() }
