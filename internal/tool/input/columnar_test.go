package input_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

const day = 86400

func arrowBatches(t testing.TB) (*arrow.Schema, []arrow.RecordBatch) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "u32", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "i64", Type: arrow.PrimitiveTypes.Int64},
		{Name: "null32", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "f64", Type: arrow.PrimitiveTypes.Float64},
		{Name: "text", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}},
		{Name: "date", Type: arrow.FixedWidthTypes.Date32},
		{Name: "stamp", Type: arrow.FixedWidthTypes.Timestamp_ms},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 6 {
		b.Field(0).(*array.Uint32Builder).Append(uint32(i) + 0xfffffff0)
		b.Field(1).(*array.Int64Builder).Append(int64(i) * 10)
		if n := b.Field(2).(*array.Int32Builder); i == 2 {
			n.AppendNull()
		} else {
			n.Append(int32(i) - 4)
		}
		b.Field(3).(*array.Float64Builder).Append(float64(i) / 2)
		require.NoError(t, b.Field(4).(*array.BinaryDictionaryBuilder).AppendString([]string{"0A", "0b"}[i%2]))
		b.Field(5).(*array.Date32Builder).Append(arrow.Date32(i))
		b.Field(6).(*array.TimestampBuilder).Append(arrow.Timestamp(i * 1000))
		b.Field(7).(*array.BooleanBuilder).Append(true)
	}
	whole := b.NewRecordBatch()
	// Two batches of three rows, and an empty one between.
	return s, []arrow.RecordBatch{whole.NewSlice(0, 3), whole.NewSlice(3, 3), whole.NewSlice(3, 6)}
}

type seekBuffer struct{ bytes.Buffer }

func (s *seekBuffer) Seek(int64, int) (int64, error) { return int64(s.Len()), nil }

func arrowFile(t testing.TB) []byte {
	s, batches := arrowBatches(t)
	var out seekBuffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(s), ipc.WithDictionaryDeltas(true))
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func arrowStream(t testing.TB) []byte {
	s, batches := arrowBatches(t)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s), ipc.WithDictionaryDeltas(true), ipc.WithZstd())
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func parquetFile(t testing.TB, options ...parquet.WriterProperty) []byte {
	required, optional := parquet.Repetitions.Required, parquet.Repetitions.Optional
	root := schema.MustGroup(schema.NewGroupNode("schema", required, schema.FieldList{
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("u32", required, schema.NewIntLogicalType(32, false),
			parquet.Types.Int32, 0, -1)),
		schema.NewInt64Node("i64", required, -1),
		schema.NewInt32Node("null32", optional, -1),
		schema.NewFloat64Node("f64", required, -1),
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("text", optional, schema.StringLogicalType{},
			parquet.Types.ByteArray, 0, -1)),
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("date", required, schema.DateLogicalType{},
			parquet.Types.Int32, 0, -1)),
		schema.MustPrimitive(schema.NewPrimitiveNodeLogical("stamp", required,
			schema.NewTimestampLogicalType(true, schema.TimeUnitMillis), parquet.Types.Int64, 0, -1)),
		schema.NewBooleanNode("flag", required, -1),
	}, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	for from := 0; from < 6; from += 3 {
		g, err := w.AppendRowGroupChecked()
		require.NoError(t, err)
		next := func() file.ColumnChunkWriter {
			c, err := g.NextColumn()
			require.NoError(t, err)
			return c
		}
		check := func(c file.ColumnChunkWriter) func(int64, error) {
			return func(_ int64, err error) {
				require.NoError(t, err)
				require.NoError(t, c.Close())
			}
		}
		i := int32(from)
		c := next()
		check(c)(c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{i - 16, i - 15, i - 14}, nil, nil))
		c = next()
		check(c)(c.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{int64(i) * 10, int64(i)*10 + 10, int64(i)*10 + 20},
			nil, nil))
		c = next()
		if from == 0 {
			check(c)(c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{i - 4, i - 3}, []int16{1, 1, 0}, nil))
		} else {
			check(c)(c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{i - 4, i - 3, i - 2}, []int16{1, 1, 1}, nil))
		}
		c = next()
		check(c)(c.(*file.Float64ColumnChunkWriter).WriteBatch([]float64{float64(i) / 2, float64(i+1) / 2,
			float64(i+2) / 2}, nil, nil))
		c = next()
		texts := []parquet.ByteArray{[]byte("0A"), []byte("0b"), []byte("0A"), []byte("0b")}
		check(c)(c.(*file.ByteArrayColumnChunkWriter).WriteBatch(texts[from%2:from%2+3], []int16{1, 1, 1}, nil))
		c = next()
		check(c)(c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{i, i + 1, i + 2}, nil, nil))
		c = next()
		check(c)(c.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{int64(i) * 1000, int64(i+1) * 1000,
			int64(i+2) * 1000}, nil, nil))
		c = next()
		check(c)(c.(*file.BooleanColumnChunkWriter).WriteBatch([]bool{true, true, true}, nil, nil))
		require.NoError(t, g.Close())
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func columnarFiles(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"a.parquet": parquetFile(t),
		"b.parquet": parquetFile(t, parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false),
			parquet.WithDataPageVersion(parquet.DataPageV2)),
		"a.arrow":  arrowFile(t),
		"a.arrows": arrowStream(t),
		"a":        arrowStream(t),
		"a.ipc.gz": gz(t, string(arrowStream(t))),
	}
}

func TestColumnar(t *testing.T) {
	for name, data := range columnarFiles(t) {
		path := write(t, name, data)
		for batch := range 7 {
			keys, values, skipped, err := readTable(path, input.Options{Columns: columns("u32", "i64")}, batch+1)
			require.NoError(t, err, name)
			assert.Equal(t, []uint64{0xfffffff0, 0xfffffff1, 0xfffffff2, 0xfffffff3, 0xfffffff4, 0xfffffff5}, keys,
				name)
			assert.Equal(t, []uint64{0, 10, 20, 30, 40, 50}, values, name)
			assert.Zero(t, skipped)
		}
		keys, values, _, err := readTable(path, input.Options{Columns: table("6", keytype.Time, "f64",
			keytype.Float32)}, 100)
		require.NoError(t, err, name)
		assert.Equal(t, []uint64{0, day, 2 * day, 3 * day, 4 * day, 5 * day}, keys, name)
		assert.Equal(t, "2.5", keytype.Float32.Format(values[5]), name)
		keys, values, _, err = readTable(path, input.Options{Columns: table("stamp", keytype.Time, "text",
			keytype.Hex)}, 100)
		require.NoError(t, err, name)
		assert.Equal(t, []uint64{0, 1, 2, 3, 4, 5}, keys, name)
		assert.Equal(t, []uint64{10, 11, 10, 11, 10, 11}, values, name)

		// Whole days and texts as the upper ends of ranges; 10 and 11 are addresses, too.
		words, _, err := load(path, input.Options{Columns: ends(keytype.Time, "date", "date")}, 4)
		require.NoError(t, err, name)
		assert.Equal(t, [][]uint64{{0, day, 2 * day, 3 * day, 4 * day, 5 * day},
			{day - 1, 2*day - 1, 3*day - 1, 4*day - 1, 5*day - 1, 6*day - 1}}, words, name)
		words, _, err = load(path, input.Options{Columns: ends(keytype.Hex, "text", "text")}, 100)
		require.NoError(t, err, name)
		assert.Equal(t, [][]uint64{{10, 11, 10, 11, 10, 11}, {10, 11, 10, 11, 10, 11}}, words, name)
		words, _, err = load(path, input.Options{Columns: []input.Column{{Name: "i64", Type: keytype.IPv4},
			{Name: "stamp", Type: keytype.Time, End: true}}}, 100)
		require.NoError(t, err, name)
		assert.Equal(t, [][]uint64{{0, 10, 20, 30, 40, 50}, {0, 1, 2, 3, 4, 5}}, words, name)

		// Null in row 3, and with the plain type negative in four of six.
		keys, values, skipped, err := readTable(path,
			input.Options{Columns: table("i64", keytype.Uint32, "null32", keytype.Int32), SkipInvalid: true}, 4)
		require.NoError(t, err, name)
		assert.Equal(t, []uint64{0, 10, 30, 40, 50}, keys, name)
		assert.Equal(t, []string{"-4", "-3", "-1", "0", "1"}, formatAll(keytype.Int32, values), name)
		assert.EqualValues(t, 1, skipped)
		keys, values, skipped, err = readTable(path,
			input.Options{Columns: columns("null32", "null32"), SkipInvalid: true}, 1)
		require.NoError(t, err, name)
		assert.Equal(t, []uint64{0, 1}, keys, name)
		assert.Equal(t, keys, values, name)
		assert.EqualValues(t, 4, skipped, name)

		keys, _, _, err = readTable(path, input.Options{Columns: table("i64", keytype.Uint32, "null32", keytype.Int32)},
			100)
		var re *input.RowError
		require.ErrorAs(t, err, &re, name)
		assert.ErrorIs(t, err, input.ErrNull)
		assert.EqualError(t, err, path+`: row 3: column "null32": is null`)
		assert.Equal(t, []uint64{0, 10}, keys, name)
		_, _, _, err = readTable(path, input.Options{Columns: columns("3", "null32")}, 100)
		assert.EqualError(t, err, path+`: row 1: column 3: -4 is out of range (0 to 4294967295)`)
		assert.ErrorIs(t, err, keytype.ErrRange)

		for column, want := range map[string]keytype.Type{"f64": keytype.Uint32, "stamp": keytype.Uint32,
			"date": keytype.Float32, "i64": keytype.Text, "flag": keytype.IPv4} {
			_, err = input.Open(ctx, path, input.Options{Columns: table(column, want, "u32", keytype.Uint32)})
			var te *input.ColumnError
			require.ErrorAs(t, err, &te, "%s %s", name, column)
			assert.Contains(t, err.Error(), "which doesn't hold "+want.String()+" values")
		}
		said := input.Column{Name: "f64", Flag: "--key-type", Wider: keytype.Uint32.Wider()}
		_, err = input.Open(ctx, path, input.Options{Columns: []input.Column{said}})
		require.ErrorContains(t, err, "which doesn't hold integers (--key-type f64 reads it)")
		keys, _, _, err = readTable(path, input.Options{Columns: columns("I64", "U32")}, 100)
		require.NoError(t, err, name)
		assert.Equal(t, []uint64{0, 10, 20, 30, 40, 50}, keys, name)
		_, err = input.Open(ctx, path, input.Options{Columns: columns("none", "")})
		var ce *input.ColumnError
		require.ErrorAs(t, err, &ce, name)
	}
}

// decimals are of several precisions and scales, with a boolean and a null beside.
func decimals(t testing.TB) map[string][]byte {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 18, Scale: 2}, Nullable: true},
		{Name: "id", Type: &arrow.Decimal64Type{Precision: 18}},
		{Name: "long", Type: &arrow.Decimal256Type{Precision: 40, Scale: 3}},
		{Name: "thousands", Type: &arrow.Decimal32Type{Precision: 5, Scale: -3}},
		{Name: "sold", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "none", Type: arrow.PrimitiveTypes.Float64},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int8)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	prices, ids, longs := b.Field(0).(*array.Decimal128Builder), b.Field(1).(*array.Decimal64Builder),
		b.Field(2).(*array.Decimal256Builder)
	for i, cents := range []int64{1234, -5, 1000000000000001} {
		prices.Append(decimal128.FromI64(cents))
		ids.Append(decimal.Decimal64(i - 1))
		longs.Append(decimal256.FromI64(cents))
		b.Field(3).(*array.Decimal32Builder).Append(decimal.Decimal32(i))
		b.Field(4).(*array.BooleanBuilder).Append(i == 1)
		b.Field(5).(*array.Float64Builder).Append([]float64{0.5, math.NaN(), 2}[i])
		b.Field(6).(*array.ListBuilder).AppendNull()
	}
	prices.AppendNull()
	ids.Append(7)
	longs.Append(decimal256.New(0, 1, 0, 0))
	b.Field(3).(*array.Decimal32Builder).Append(-12)
	b.Field(4).(*array.BooleanBuilder).AppendNull()
	b.Field(5).(*array.Float64Builder).Append(3)
	b.Field(6).(*array.ListBuilder).AppendNull()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s))
	require.NoError(t, w.Write(b.NewRecordBatch()))
	require.NoError(t, w.Close())

	required, optional := parquet.Repetitions.Required, parquet.Repetitions.Optional
	field := func(name string, r parquet.Repetition, precision, scale int32, p parquet.Type, bytes int) schema.Node {
		return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, r, schema.NewDecimalLogicalType(precision,
			scale), p, bytes, -1))
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", required, schema.FieldList{
		field("price", optional, 18, 2, parquet.Types.Int64, 0),
		field("id", required, 9, 0, parquet.Types.Int32, 0),
		field("long", required, 40, 3, parquet.Types.FixedLenByteArray, 17),
		field("thousands", required, 9, 1, parquet.Types.ByteArray, 0), // which has no scale below 0
		schema.NewBooleanNode("sold", optional, -1),
		schema.NewFloat64Node("none", required, -1),
		schema.MustGroup(schema.NewGroupNode("list", required, schema.FieldList{schema.NewInt32Node("x", required, -1)},
			-1)),
	}, -1))
	var pq bytes.Buffer
	p := file.NewParquetWriter(&pq, root)
	g, err := p.AppendRowGroupChecked()
	require.NoError(t, err)
	long := func(n int64) parquet.FixedLenByteArray {
		sign := byte(n >> 63)
		return binary.BigEndian.AppendUint64(bytes.Repeat([]byte{sign}, 9), uint64(n))
	}
	huge := parquet.FixedLenByteArray(make([]byte, 17))
	huge[0] = 1
	for _, write := range []func(c file.ColumnChunkWriter) (int64, error){
		func(c file.ColumnChunkWriter) (int64, error) {
			return c.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{1234, -5, 1000000000000001},
				[]int16{1, 1, 1, 0}, nil)
		},
		func(c file.ColumnChunkWriter) (int64, error) {
			return c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{-1, 0, 1, 7}, nil, nil)
		},
		func(c file.ColumnChunkWriter) (int64, error) {
			numbers := []parquet.FixedLenByteArray{long(1234), long(-5), long(1000000000000001), huge}
			return c.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(numbers, nil, nil)
		},
		func(c file.ColumnChunkWriter) (int64, error) {
			return c.(*file.ByteArrayColumnChunkWriter).WriteBatch([]parquet.ByteArray{{0}, {0x27, 0x10}, {0x4e, 0x20},
				{0xfe, 0x2b, 0x40}}, nil, nil)
		},
		func(c file.ColumnChunkWriter) (int64, error) {
			return c.(*file.BooleanColumnChunkWriter).WriteBatch([]bool{false, true, false}, []int16{1, 1, 1, 0}, nil)
		},
		func(c file.ColumnChunkWriter) (int64, error) {
			return c.(*file.Float64ColumnChunkWriter).WriteBatch([]float64{0.5, math.NaN(), 2, 3}, nil, nil)
		},
		func(c file.ColumnChunkWriter) (int64, error) {
			return c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2, 3, 4}, nil, nil)
		},
	} {
		c, err := g.NextColumn()
		require.NoError(t, err)
		_, err = write(c)
		require.NoError(t, err)
		require.NoError(t, c.Close())
	}
	require.NoError(t, g.Close())
	require.NoError(t, p.Close())
	return map[string][]byte{"a.arrow": out.Bytes(), "a.parquet": pq.Bytes()}
}

// Decimals and booleans of Parquet and Arrow are taken for what they are, exactly, and rows without a value are passed
// over and counted, or have the value that is said.
func TestDecimals(t *testing.T) {
	for name, data := range decimals(t) {
		path := write(t, name, data)
		read := func(o input.Options, columns ...input.Column) ([]string, *input.Reader, error) {
			for i := range columns {
				columns[i].Flag = "--type"
			}
			o.Columns, o.SkipNull = columns, true
			r, err := input.Open(ctx, path, o)
			if err != nil {
				return nil, nil, err
			}
			defer r.Close()
			rows, err := shown(t, r, 3)
			return rows, r, err
		}
		as := func(name string, t keytype.Type) input.Column { return input.Column{Name: name, Type: t} }
		rows, r, err := read(input.Options{}, unsaid("price"), unsaid("id"))
		require.NoError(t, err, name)
		assert.Equal(t, []string{"12.34|-1", "-0.05|0", "10000000000000.01|1"}, rows, name)
		assert.EqualValues(t, 1, r.SkippedNulls(), name)
		for _, c := range []input.Column{unsaid("price"), as("price", keytype.Text)} {
			r, err = input.Open(ctx, path, input.Options{KeepNull: true, Columns: []input.Column{c, unsaid("id")}})
			require.NoError(t, err, name)
			words := [][]uint64{make([]uint64, 9), make([]uint64, 9)}
			n, err := r.Read(words...)
			require.NoError(t, err, name)
			assert.Equal(t, 4, n, name)
			assert.Equal(t, []int{3}, r.Nulls()[0], name)
			assert.Empty(t, r.Nulls()[1], name)
			if c.Type == keytype.Text {
				assert.Equal(t, "-0.05", string(r.Texts()[0].At(words[0][1])), name)
				assert.Empty(t, r.Texts()[0].At(words[0][3]), name)
			}
			require.NoError(t, r.Close())
		}
		zero := "0"
		rows, r, err = read(input.Options{Null: &zero}, as("price", keytype.Text), unsaid("sold"))
		require.NoError(t, err, name)
		assert.Equal(t, []string{"12.34|false", "-0.05|true", "10000000000000.01|false", "0|0"}, rows, name)
		assert.Zero(t, r.SkippedNulls(), name)
		rows, _, err = read(input.Options{}, as("sold", keytype.Uint32), unsaid("thousands"))
		require.NoError(t, err, name)
		assert.Equal(t, []string{"0|0", "1|1000", "0|2000"}, rows, name)
		rows, r, err = read(input.Options{}, unsaid("none"), unsaid("thousands"))
		require.NoError(t, err, name)
		assert.Equal(t, []string{"0.5|0", "2|2000", "3|-12000"}, rows, name)
		assert.EqualValues(t, 1, r.SkippedNulls(), name)
		rows, _, err = read(input.Options{}, as("long", keytype.Float32), as("long", keytype.Text))
		require.NoError(t, err, name)
		assert.Equal(t, "-0.005|-0.005", rows[1], name)
		_, _, err = read(input.Options{}, unsaid("long"))
		require.ErrorIs(t, err, input.ErrDigits, name)
		assert.ErrorContains(t, err, ` has more digits than 64 bits hold (--type text reads it)`, name)
		_, _, err = read(input.Options{}, as("price", keytype.Uint32))
		assert.EqualError(t, err, path+`: row 1: column "price": "12.34" is not an integer (--type f64 reads it)`)
		_, _, err = read(input.Options{}, unsaid("list"))
		assert.ErrorContains(t, err, `column "list" is of type `, name)
		assert.ErrorContains(t, err, `, which isn't read`, name)
	}
}

func formatAll(typ keytype.Type, words []uint64) (texts []string) {
	for _, w := range words {
		texts = append(texts, typ.Format(w))
	}
	return texts
}

// A truncated file gives a typed error, and so does a changed one where the
// change shows: neither format has a checksum over everything.
func TestColumnarDamaged(t *testing.T) {
	for name, data := range columnarFiles(t) {
		if name == "a" || name == "a.ipc.gz" {
			continue // the same bytes as another
		}
		path := write(t, name, data)
		attempt := func(bad []byte) error {
			require.NoError(t, writeOver(path, bad))
			done := make(chan error, 1)
			go func() {
				_, _, _, err := readTable(path, input.Options{Columns: columns("u32", "i64")}, 100)
				done <- err
			}()
			select {
			case err := <-done:
				return err
			case <-time.After(20 * time.Second):
				t.Fatalf("%s: reading a damaged file doesn't end", name)
				return nil
			}
		}
		for n := 0; n < len(data); n += 1 + len(data)/200 {
			err := attempt(data[:n])
			if name == "a.arrows" && err == nil {
				continue // a stream may end after any message
			}
			require.Error(t, err, "%s cut to %d of %d bytes", name, n, len(data))
			typed(t, err)
		}
		for at := 0; at < len(data); at += 1 + len(data)/200 {
			bad := bytes.Clone(data)
			bad[at] ^= 0xff
			if err := attempt(bad); err != nil {
				typed(t, err)
			}
		}
	}
}

func typed(t *testing.T, err error) {
	var de *input.DamagedError
	var re *input.RowError
	var ce *input.ColumnError
	require.True(t, asAny(err, &de, &re, &ce), "%T %v", err, err)
	assert.NotContains(t, err.Error(), "\n")
}

func TestArrowFromPipe(t *testing.T) {
	path := t.TempDir() + "/pipe"
	feed(t, path, arrowStream(t))
	keys, _, _, err := readTable(path, input.Options{Columns: columns("u32", "i64"), Format: input.Arrow}, 100)
	require.NoError(t, err)
	assert.Len(t, keys, 6)
	feed(t, path, arrowFile(t))
	keys, _, _, err = readTable(path, input.Options{Columns: columns("u32", "i64")}, 100)
	require.NoError(t, err)
	assert.Len(t, keys, 6)

	// By their first bytes, wherever they come from.
	for _, name := range []string{"a.parquet", "a.arrow", "a.arrows"} {
		feed(t, path, columnarFiles(t)[name])
		keys, _, _, err = readTable(path, input.Options{Columns: columns("u32", "i64")}, 100)
		if name == "a.parquet" {
			assert.EqualError(t, err, path+": a Parquet file must be an uncompressed regular file")
			continue
		}
		require.NoError(t, err, name)
		assert.Len(t, keys, 6, name)
	}
	for name, what := range map[string]string{"a.parquet": "a Parquet file", "a.arrow": "an Arrow file"} {
		_, err := input.Open(ctx, write(t, "t.csv", columnarFiles(t)[name]), input.Options{Columns: columns("", "")})
		assert.ErrorContains(t, err, "t.csv:1: looks like "+what+", not like text")
	}
}

// A file whose schema stands in its footer alone is read by that; through a pipe there is no footer yet.
func TestArrowFooter(t *testing.T) {
	data := arrowFile(t)
	clear(data[8 : 16+binary.LittleEndian.Uint32(data[12:])]) // the schema's message
	path := write(t, "a.arrow", data)
	for _, columns := range [][]input.Column{columns("u32", "i64"), table("u32", keytype.Uint32, "text", keytype.Hex)} {
		keys, values, _, err := readTable(path, input.Options{Columns: columns}, 4)
		require.NoError(t, err)
		assert.Equal(t, []uint64{0xfffffff0, 0xfffffff1, 0xfffffff2, 0xfffffff3, 0xfffffff4, 0xfffffff5}, keys)
		want := []uint64{0, 10, 20, 30, 40, 50}
		if columns[1].Type == keytype.Hex {
			want = []uint64{10, 11, 10, 11, 10, 11}
		}
		assert.Equal(t, want, values)
	}
	pipe := t.TempDir() + "/pipe"
	feed(t, pipe, data)
	_, _, _, err := readTable(pipe, input.Options{Columns: columns("u32", "i64")}, 4)
	typed(t, err)
}

// Whatever lengths and counts a file tells, no more memory is taken than there is
// reason for: what the runtime can't give would end the program.
func TestColumnarLengths(t *testing.T) {
	lengths := [][]byte{
		binary.LittleEndian.AppendUint32(nil, 1<<31-1), binary.LittleEndian.AppendUint32(nil, 1<<28),
		binary.LittleEndian.AppendUint64(nil, 1<<34), binary.LittleEndian.AppendUint64(nil, 1<<40),
		binary.LittleEndian.AppendUint64(nil, 1<<63-1),
	}
	// Parquet's
	varints := [][]byte{{0xfe, 0xff, 0xff, 0xff, 0x0f}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}}
	files := columnarFiles(t)
	for _, name := range []string{"a.arrow", "a.arrows", "b.parquet"} {
		data, step, texts := files[name], 4, lengths
		if name == "b.parquet" {
			step, texts = 3, append(varints, lengths[0])
		}
		path := write(t, name, data)
		for at := 0; at < len(data); at += step {
			for _, text := range texts {
				if at+len(text) > len(data) {
					continue
				}
				bad := bytes.Clone(data)
				copy(bad[at:], text)
				require.NoError(t, writeOver(path, bad))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, _, _, err := readTable(path, input.Options{Columns: columns("u32", "i64")}, 100)
				runtime.ReadMemStats(&after)
				if err != nil {
					typed(t, err)
				}
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(600<<20), "%s, %x at %d: %v", name, text, at,
					err)
			}
		}
	}
}

// What a row of an earlier batch holds has no place in a wider type that a later one asks for: an error, however many
// rows a Read takes, and never another key.
func TestArrowThatTurnsWideTooLate(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "from", Type: arrow.BinaryTypes.String}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s))
	for _, text := range []string{"8.8.8.8", "2001:db8::/64"} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		b.Field(0).(*array.StringBuilder).Append(text)
		require.NoError(t, w.Write(b.NewRecordBatch()))
	}
	require.NoError(t, w.Close())
	path := write(t, "from.arrow", out.Bytes())
	for _, batch := range []int{1, 2, 10} {
		columns := []input.Column{{Name: "from", Type: keytype.IPv4, Wider: []keytype.Type{keytype.IPv6}}}
		words, _, err := load(path, input.Options{Columns: columns}, batch)
		require.Error(t, err, "%d rows a Read: %x", batch, words)
	}
}
