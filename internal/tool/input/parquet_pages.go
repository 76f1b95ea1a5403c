package input

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// leaf reads rows of one column of one row group.
type leaf interface {
	read(rows int, into *values) error
}

// open returns a leaf for a column of a row group.
func (f *parquetField) open(group *file.RowGroupReader) (leaf, error) {
	if f.physical == parquet.Types.ByteArray {
		return openTexts(group, f.index)
	}
	chunk, err := group.Column(f.index)
	if err != nil {
		return nil, err
	}
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return newLeaf(r, func(v *values, page []bool) {
			for _, is := range page {
				n := int64(0)
				if is {
					n = 1
				}
				v.numbers = append(v.numbers, n)
			}
		}), nil
	case *file.Int32ColumnChunkReader:
		mask := int64(-1)
		if unsigned(f.logical) {
			mask = math.MaxUint32
		}
		return newLeaf(r, func(v *values, page []int32) {
			for _, n := range page {
				v.numbers = append(v.numbers, int64(n)&mask)
			}
		}), nil
	case *file.Int64ColumnChunkReader:
		return newLeaf(r, func(v *values, page []int64) { v.numbers = append(v.numbers, page...) }), nil
	case *file.Float32ColumnChunkReader:
		return newLeaf(r, func(v *values, page []float32) {
			for _, x := range page {
				v.numbers = append(v.numbers, int64(math.Float64bits(float64(x))))
			}
		}), nil
	case *file.Float64ColumnChunkReader:
		return newLeaf(r, func(v *values, page []float64) {
			for _, x := range page {
				v.numbers = append(v.numbers, int64(math.Float64bits(x)))
			}
		}), nil
	case *file.Int96ColumnChunkReader:
		return newLeaf(r, func(v *values, page []parquet.Int96) {
			for i := range page {
				v.add(page[i][:])
			}
		}), nil
	case *file.FixedLenByteArrayColumnChunkReader:
		return newLeaf(r, func(v *values, page []parquet.FixedLenByteArray) {
			for _, text := range page {
				v.add(text)
			}
		}), nil
	}
	panic(fmt.Sprintf("pages of %T", chunk)) // there are no others
}

// pages has the methods that arrow-go's readers of different types share.
type pages[T any] interface {
	file.ColumnChunkReader
	ReadBatchInPage(rows int64, values []T, definition, repetition []int16) (total int64, read int, err error)
}

type typedLeaf[T any] struct {
	pages   pages[T]
	add     func(v *values, page []T)
	page    []T     // values of one page
	levels  []int16 // for each row; 0 if rows can't be null
	present int16   // the level of a row that is not null
}

func newLeaf[T any](p pages[T], add func(v *values, page []T)) leaf {
	const most = 4 << 10 // so that the values stay in the cache
	return &typedLeaf[T]{p, add, make([]T, most), make([]int16, most), p.Descriptor().MaxDefinitionLevel()}
}

func (l *typedLeaf[T]) read(rows int, into *values) error {
	for rows > 0 {
		if !l.pages.HasNext() {
			if err := l.pages.Err(); err != nil && err != io.EOF {
				return err
			}
			return io.ErrUnexpectedEOF
		}
		// Within one page, because the bytes of a string are valid only as long as its page.
		total, read, err := l.pages.ReadBatchInPage(int64(min(rows, len(l.page))), l.page, l.levels, nil)
		if err != nil && err != io.EOF {
			return err
		}
		if total == 0 || !l.mark(int(total), read, into) {
			return io.ErrUnexpectedEOF
		}
		l.add(into, l.page[:read])
		rows -= int(total)
	}
	return nil
}

// mark notes which of the next rows are null, and reports whether the others are as many as there are values.
func (l *typedLeaf[T]) mark(rows, values int, into *values) bool {
	if into.rows += rows; rows == values && into.nulls == nil {
		return true
	}
	if into.nulls == nil {
		into.nulls = make([]bool, into.rows-rows, batchRows)
	}
	for _, level := range l.levels[:rows] {
		null := level < l.present
		if into.nulls = append(into.nulls, null); !null {
			values--
		}
	}
	return values == 0
}

// convert converts values to those of a column whose type the field's kind can have.
func (f *parquetField) convert(v *values, c *column, into *cells) {
	into.reset(c.Type)
	into.words = slices.Grow(into.words, v.rows)
	if words := into.words[:v.rows]; v.nulls == nil && f.encode(words, c.Type, v.numbers) {
		into.words = words
		return
	}
	if v.nulls == nil && f.kind == text && c.Type == keytype.Text && !v.long {
		into.words = append(into.words, v.words...)
		return
	}
	value, next := f.value(v, c), 0 // only rows that are not null have a value
	for row := range v.rows {
		if v.nulls != nil && v.nulls[row] {
			into.add(c.null(ErrNull))
			continue
		}
		into.add(value(next))
		next++
	}
}

// encode converts numbers to words of a type without a call for each, if all have one.
func (f *parquetField) encode(to []uint64, t keytype.Type, numbers []int64) bool {
	switch {
	case len(numbers) == 0:
	case f.kind == float:
		for i, n := range numbers {
			w, err := t.FromFloat(math.Float64frombits(uint64(n)))
			if err != nil {
				return false
			}
			to[i] = w
		}
		return true
	case f.kind == integer && t.Integer():
		least, greatest := span(t)
		if unsigned(f.logical) {
			least = 0 // numbers below are 2^63 or more
		}
		if slices.Min(numbers) >= least && slices.Max(numbers) <= greatest {
			encode(to, t, numbers)
			return true
		}
	}
	return false
}

// value returns a function that returns a value as one of the column.
func (f *parquetField) value(v *values, c *column) func(at int) (keytype.Value, error) {
	if d, ok := f.logical.(schema.DecimalLogicalType); ok {
		return f.decimal(v, c, int(d.Scale()))
	}
	switch f.physical {
	case parquet.Types.Boolean:
		return func(at int) (keytype.Value, error) { return c.boolean(v.numbers[at] != 0) }
	case parquet.Types.Int32:
		if f.kind == moment {
			return func(at int) (keytype.Value, error) { return c.day(v.numbers[at]) }
		}
		return f.integer(v, c)
	case parquet.Types.Int64:
		if stamp, ok := f.logical.(schema.TimestampLogicalType); ok {
			unit := parquetUnit(stamp)
			return func(at int) (keytype.Value, error) { return c.moment(instant(v.numbers[at], unit)) }
		}
		return f.integer(v, c)
	case parquet.Types.Int96:
		return func(at int) (keytype.Value, error) {
			return c.moment(parquet.Int96(v.text(at)).ToTime())
		}
	case parquet.Types.Float, parquet.Types.Double:
		return func(at int) (keytype.Value, error) { return c.float(math.Float64frombits(uint64(v.numbers[at]))) }
	case parquet.Types.ByteArray:
		return func(at int) (keytype.Value, error) {
			text := v.text(at)
			if c.Type == keytype.Text && len(text) <= keytype.Longest {
				return keytype.Value{Type: c.Type, Word: v.words[at]}, nil
			}
			return c.parseBytes(text)
		}
	}
	panic(fmt.Sprintf("%s in a column of another type", f.physical)) // the file's fault: see caught
}

func (f *parquetField) integer(v *values, c *column) func(at int) (keytype.Value, error) {
	if unsigned(f.logical) {
		return func(at int) (keytype.Value, error) { return c.unsigned(uint64(v.numbers[at])) }
	}
	return func(at int) (keytype.Value, error) { return c.integer(v.numbers[at]) }
}

// decimal is value for decimals with scale digits after the point.
func (f *parquetField) decimal(v *values, c *column, scale int) func(at int) (keytype.Value, error) {
	if f.physical == parquet.Types.Int32 || f.physical == parquet.Types.Int64 {
		return func(at int) (keytype.Value, error) { return c.decimal(big.NewInt(v.numbers[at]), scale) }
	}
	return func(at int) (keytype.Value, error) {
		const most = 32 // bytes of the longest decimals
		bytes := v.text(at)
		if len(bytes) > most {
			return keytype.Value{}, fmt.Errorf("a decimal of %d bytes %w", len(bytes), ErrDigits)
		}
		return c.decimal(signed(bytes), scale)
	}
}
