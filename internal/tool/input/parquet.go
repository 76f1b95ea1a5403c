package input

import (
	"fmt"
	"io"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// batchRows is the number of rows that a columnar format converts at a time.
const batchRows = 64 << 10

// parquetRows reads columns of a Parquet file, one row group after the other. It reads the pages itself, because
// programs that import arrow-go's conversion from Parquet to Arrow link gRPC.
type parquetRows struct {
	file   *file.Reader
	fields []parquetField
	group  int // next row group
	left   int64
	leaves []leaf // of the fields, in the current row group
}

// parquetField is a column of the file.
type parquetField struct {
	index   int // among the leaves
	column  *column
	kind    kind
	logical schema.LogicalType
}

// openParquet expects an uncompressed regular file.
func openParquet(f *File, o *Options, invalid *invalid) (s source, rows int64, err error) {
	random, err := f.Random()
	if err != nil {
		return nil, 0, &Error{File: f.Name(), Err: fmt.Errorf("a Parquet file %w", ErrSeek)}
	}
	p := &parquetRows{}
	c := newColumnar(f, o, invalid)
	err = damaged(f.Name(), Parquet, func() error {
		p.file, err = file.NewParquetReader(random)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	c.load, c.close = p.load, func() { _ = p.file.Close() }
	if p.fields, err = c.parquetFields(p.file.MetaData().Schema, o); err != nil {
		c.close()
		return nil, 0, err
	}
	p.leaves = make([]leaf, len(p.fields))
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
		wide := false
		if leaf, ok := node.(*schema.PrimitiveNode); ok {
			d, _ := leaf.LogicalType().(schema.DecimalLogicalType)
			wide = leaf.PhysicalType() == parquet.Types.Double || k == decimal && d.Scale() > 0
		}
		if err := c.check(column, k, wide, parquetTypeName(node)); err != nil {
			return nil, err
		}
		fields = append(fields, parquetField{s.ColumnIndexByNode(node), column, k, node.LogicalType()})
	}
	return fields, nil
}

// load reads the next rows of a row group.
func (p *parquetRows) load(columns []cells) error {
	for p.left == 0 {
		if p.group == p.file.NumRowGroups() {
			return io.EOF
		}
		group := p.file.RowGroup(p.group)
		p.group++
		p.left = group.NumRows()
		for i, f := range p.fields {
			chunk, err := group.Column(f.index)
			if err != nil {
				return err
			}
			p.leaves[i] = f.open(chunk)
		}
	}
	n := min(p.left, batchRows)
	p.left -= n
	for i := range columns {
		if err := p.leaves[i].read(int(n), &columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// leaf reads rows of one column of one row group.
type leaf interface {
	read(rows int, into *cells) error
}

// open returns a leaf for a column whose kind can have values of the column's type.
func (f parquetField) open(chunk file.ColumnChunkReader) leaf {
	c := f.column
	if d, ok := f.logical.(schema.DecimalLogicalType); ok {
		return openDecimals(c, chunk, int(d.Scale()))
	}
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return newLeaf(r, c, c.boolean)
	case *file.Int32ColumnChunkReader:
		if f.kind == moment {
			return newLeaf(r, c, func(days int32) (keytype.Value, error) { return c.day(int64(days)) })
		}
		if unsigned(f.logical) {
			return newLeaf(r, c, func(n int32) (keytype.Value, error) { return c.unsigned(uint64(uint32(n))) })
		}
		return newLeaf(r, c, func(n int32) (keytype.Value, error) { return c.integer(int64(n)) })
	case *file.Int64ColumnChunkReader:
		if stamp, ok := f.logical.(schema.TimestampLogicalType); ok {
			unit := parquetUnit(stamp)
			return newLeaf(r, c, func(n int64) (keytype.Value, error) { return c.moment(instant(n, unit)) })
		}
		if unsigned(f.logical) {
			return newLeaf(r, c, func(n int64) (keytype.Value, error) { return c.unsigned(uint64(n)) })
		}
		return newLeaf(r, c, func(n int64) (keytype.Value, error) { return c.integer(n) })
	case *file.Int96ColumnChunkReader:
		return newLeaf(r, c, func(n parquet.Int96) (keytype.Value, error) { return c.moment(n.ToTime()) })
	case *file.Float32ColumnChunkReader:
		return newLeaf(r, c, func(x float32) (keytype.Value, error) { return c.float(float64(x)) })
	case *file.Float64ColumnChunkReader:
		return newLeaf(r, c, c.float)
	case *file.ByteArrayColumnChunkReader:
		return newLeaf(r, c, func(s parquet.ByteArray) (keytype.Value, error) { return c.parseBytes(s) })
	}
	panic(fmt.Sprintf("pages of %T in a column of another type", chunk)) // the file's fault: see damaged
}

// openDecimals is open for decimals with scale digits after the point.
func openDecimals(c *column, chunk file.ColumnChunkReader, scale int) leaf {
	long := func(bytes []byte) (keytype.Value, error) {
		const most = 32 // bytes of the longest decimals
		if len(bytes) > most {
			return keytype.Value{}, fmt.Errorf("a decimal of %d bytes %w", len(bytes), ErrDigits)
		}
		return c.decimal(signed(bytes), scale)
	}
	switch r := chunk.(type) {
	case *file.Int32ColumnChunkReader:
		return newLeaf(r, c, func(n int32) (keytype.Value, error) { return c.decimal(big.NewInt(int64(n)), scale) })
	case *file.Int64ColumnChunkReader:
		return newLeaf(r, c, func(n int64) (keytype.Value, error) { return c.decimal(big.NewInt(n), scale) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return newLeaf(r, c, func(b parquet.FixedLenByteArray) (keytype.Value, error) { return long(b) })
	case *file.ByteArrayColumnChunkReader:
		return newLeaf(r, c, func(b parquet.ByteArray) (keytype.Value, error) { return long(b) })
	}
	panic(fmt.Sprintf("pages of %T in a column of decimals", chunk)) // the file's fault: see damaged
}

// pages has the methods that arrow-go's readers of different types share.
type pages[T any] interface {
	file.ColumnChunkReader
	ReadBatchInPage(rows int64, values []T, definition, repetition []int16) (total int64, read int, err error)
}

type typedLeaf[T any] struct {
	pages   pages[T]
	column  *column
	convert func(T) (keytype.Value, error)
	values  []T
	levels  []int16 // for each row, if rows may be null
	present int16   // the level of a row that is not null
}

func newLeaf[T any](p pages[T], c *column, convert func(T) (keytype.Value, error)) leaf {
	const most = 4 << 10 // so that the values stay in the cache
	return &typedLeaf[T]{p, c, convert, make([]T, most), make([]int16, most), p.Descriptor().MaxDefinitionLevel()}
}

func (l *typedLeaf[T]) read(rows int, into *cells) error {
	for rows > 0 {
		if !l.pages.HasNext() {
			if err := l.pages.Err(); err != nil && err != io.EOF {
				return err
			}
			return io.ErrUnexpectedEOF
		}
		// Within one page, because the bytes of a string are valid only as long as its page.
		total, _, err := l.pages.ReadBatchInPage(int64(min(rows, len(l.values))), l.values, l.levels, nil)
		if err != nil && err != io.EOF {
			return err
		}
		if total == 0 {
			return io.ErrUnexpectedEOF
		}
		next := 0 // only rows that are not null have a value
		for i := range int(total) {
			if l.present > 0 && l.levels[i] < l.present {
				into.add(l.column.null(ErrNull))
				continue
			}
			into.add(l.convert(l.values[next]))
			next++
		}
		rows -= int(total)
	}
	return nil
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
