package input

import (
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// parquetField is a column of the file.
type parquetField struct {
	index    int // among the leaves
	kind     kind
	physical parquet.Type
	logical  schema.LogicalType
}

// openParquet expects an uncompressed regular file.
func openParquet(f *File, o *Options, invalid *invalid) (s source, rows int64, err error) {
	random, err := f.Random()
	if err != nil {
		return nil, 0, &Error{File: f.Name(), Err: fmt.Errorf("a Parquet file %w", ErrSeek)}
	}
	props := parquet.NewReaderProperties(nil)
	// Otherwise each row group's whole columns are read into memory before they are decompressed.
	props.BufferedStreamEnabled, props.BufferSize = true, 256<<10
	c, p := newColumnar(f, o, invalid), newParquetRows(o)
	err = damaged(f.Name(), Parquet, func() error {
		p.file, err = file.NewParquetReader(random, file.WithReadProps(props))
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	c.close = p.close
	if p.fields, err = c.parquetFields(p.file.MetaData().Schema, o); err != nil {
		c.close()
		return nil, 0, err
	}
	c.load = func() (err error) {
		c.columns, err = p.load(o.columns)
		return err
	}
	return c, p.file.NumRows(), nil
}

// parquetFields returns the columns.
func (c *columnar) parquetFields(s *schema.Schema, o *Options) (fields []parquetField, err error) {
	root := s.Root()
	var names []string
	for i := range root.NumFields() {
		names = append(names, root.Field(i).Name())
	}
	places, err := c.find(names, o)
	if err != nil {
		return nil, err
	}
	for i, column := range o.columns {
		node := root.Field(places[i])
		k := parquetKind(node)
		wide, physical := false, parquet.Types.Undefined
		if leaf, ok := node.(*schema.PrimitiveNode); ok {
			physical = leaf.PhysicalType()
			d, _ := leaf.LogicalType().(schema.DecimalLogicalType)
			wide = physical == parquet.Types.Double || k == decimal && d.Scale() > 0
		}
		if err := c.check(column, k, wide, parquetTypeName(node)); err != nil {
			return nil, err
		}
		fields = append(fields, parquetField{s.ColumnIndexByNode(node), k, physical, node.LogicalType()})
	}
	return fields, nil
}

func parquetKind(node schema.Node) kind {
	primitive, ok := node.(*schema.PrimitiveNode)
	if !ok || node.RepetitionType() == parquet.Repetitions.Repeated {
		return other
	}
	switch l := node.LogicalType().(type) {
	case schema.DecimalLogicalType:
		if known(l.Scale()) {
			return decimal
		}
		return other
	case schema.IntLogicalType:
		return integer
	case schema.TimestampLogicalType, schema.DateLogicalType:
		return moment
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return text
	default:
		if l != nil && l.IsValid() && !l.IsNone() {
			return other
		}
	}
	switch primitive.PhysicalType() {
	case parquet.Types.Int32, parquet.Types.Int64:
		return integer
	case parquet.Types.Int96:
		return moment
	case parquet.Types.Float, parquet.Types.Double:
		return float
	case parquet.Types.ByteArray:
		return text
	case parquet.Types.Boolean:
		return boolean
	}
	return other
}

func unsigned(l schema.LogicalType) bool {
	n, ok := l.(schema.IntLogicalType)
	return ok && !n.IsSigned()
}

func parquetUnit(stamp schema.TimestampLogicalType) time.Duration {
	switch stamp.TimeUnit() {
	case schema.TimeUnitMillis:
		return time.Millisecond
	case schema.TimeUnitMicros:
		return time.Microsecond
	}
	return time.Nanosecond
}

// instant returns the time n units after 1970-01-01 00:00:00 UTC.
func instant(n int64, unit time.Duration) time.Time {
	perSecond := int64(time.Second / unit)
	seconds, rest := n/perSecond, n%perSecond
	return time.Unix(seconds, rest*int64(unit))
}

func parquetTypeName(node schema.Node) string {
	primitive, ok := node.(*schema.PrimitiveNode)
	switch {
	case !ok:
		return "group"
	case node.RepetitionType() == parquet.Repetitions.Repeated:
		return "list"
	}
	if l := node.LogicalType(); l != nil && l.IsValid() && !l.IsNone() {
		return l.String()
	}
	return primitive.PhysicalType().String()
}
