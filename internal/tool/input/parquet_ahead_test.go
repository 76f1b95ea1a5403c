package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/stress"
	"pgregory.net/rapid"
)

// columnKind is a type of column that both Parquet and Arrow have.
type columnKind struct {
	name     string
	physical parquet.Type
	logical  schema.LogicalType
	arrow    arrow.DataType
	write    func(c file.ColumnChunkWriter, values []any, levels []int16)
	build    func(b array.Builder, value any)
	values   []any // the first ones are in most rows
}

func kindOf[P, A any](name string, physical parquet.Type, logical schema.LogicalType, t arrow.DataType, to func(A) P,
	values ...any) columnKind {
	return columnKind{name, physical, logical, t, func(c file.ColumnChunkWriter, values []any, levels []int16) {
		var all []P
		for _, v := range values {
			if v != nil {
				all = append(all, to(v.(A)))
			}
		}
		_, err := c.(interface {
			WriteBatch(values []P, definition, repetition []int16) (int64, error)
		}).WriteBatch(all, levels, nil)
		if err != nil {
			panic(err)
		}
	}, func(b array.Builder, value any) { b.(interface{ Append(A) }).Append(value.(A)) }, values}
}

func same[T any](v T) T { return v }

var columnKinds = []columnKind{
	kindOf("i64", parquet.Types.Int64, nil, arrow.PrimitiveTypes.Int64, same[int64], int64(1), int64(2), int64(-1),
		int64(1<<31), int64(1<<32), int64(math.MinInt64), int64(math.MaxInt64)),
	kindOf("i32", parquet.Types.Int32, nil, arrow.PrimitiveTypes.Int32, same[int32], int32(1), int32(2), int32(-1),
		int32(math.MinInt32), int32(math.MaxInt32)),
	kindOf("u32", parquet.Types.Int32, schema.NewIntLogicalType(32, false), arrow.PrimitiveTypes.Uint32,
		func(n uint32) int32 { return int32(n) }, uint32(1), uint32(2), uint32(1<<31), uint32(math.MaxUint32)),
	kindOf("u64", parquet.Types.Int64, schema.NewIntLogicalType(64, false), arrow.PrimitiveTypes.Uint64,
		func(n uint64) int64 { return int64(n) }, uint64(1), uint64(2), uint64(1<<32), uint64(1<<63),
		uint64(math.MaxUint64)),
	kindOf("f64", parquet.Types.Double, nil, arrow.PrimitiveTypes.Float64, same[float64], 0.5, -1.0, math.NaN(), 1e300,
		math.Inf(1)),
	kindOf("f32", parquet.Types.Float, nil, arrow.PrimitiveTypes.Float32, same[float32], float32(0.5), float32(-1),
		float32(math.NaN())),
	kindOf("text", parquet.Types.ByteArray, schema.StringLogicalType{}, arrow.BinaryTypes.String,
		func(s string) parquet.ByteArray { return parquet.ByteArray(s) }, "7", "8", "", "-1", "x", "4294967296", "NULL",
		"007", "2024-05-06", "2024-05-06 07:08:09.25", "8.8.8.8", "2001:db8::/64", "18446744073709551615",
		strings.Repeat("long ", 99)),
	kindOf("flag", parquet.Types.Boolean, nil, arrow.FixedWidthTypes.Boolean, same[bool], true, false),
	kindOf("date", parquet.Types.Int32, schema.DateLogicalType{}, arrow.FixedWidthTypes.Date32,
		func(d arrow.Date32) int32 { return int32(d) }, arrow.Date32(1), arrow.Date32(2), arrow.Date32(-1),
		arrow.Date32(math.MaxInt32)),
	kindOf("stamp", parquet.Types.Int64, schema.NewTimestampLogicalType(true, schema.TimeUnitMillis),
		arrow.FixedWidthTypes.Timestamp_ms, func(s arrow.Timestamp) int64 { return int64(s) }, arrow.Timestamp(1000),
		arrow.Timestamp(2000), arrow.Timestamp(1500), arrow.Timestamp(-1000), arrow.Timestamp(math.MaxInt64)),
}

// drawnTable has row groups, each with the values of all columns; nil is a null.
type drawnTable struct {
	kinds  []columnKind
	groups [][][]any
}

// drawGroups draws a table, most of whose rows are usual.
func drawGroups(t *rapid.T) (table drawnTable) {
	var usual []any
	for range rapid.IntRange(1, 3).Draw(t, "columns") {
		k := rapid.SampledFrom(columnKinds).Draw(t, "kind")
		k.name = fmt.Sprint(k.name, len(table.kinds))
		table.kinds = append(table.kinds, k)
		usual = append(usual, rapid.SampledFrom(k.values[:2]).Draw(t, "usual"))
	}
	for range rapid.IntRange(0, 12).Draw(t, "groups") {
		group := make([][]any, len(usual))
		for range rapid.IntRange(0, 8).Draw(t, "rows") {
			odd := rapid.IntRange(-8, len(usual)-1).Draw(t, "odd")
			for c, k := range table.kinds {
				value := usual[c]
				if c == odd {
					value = rapid.SampledFrom(append(k.values[:len(k.values):len(k.values)], nil)).Draw(t, "value")
				}
				group[c] = append(group[c], value)
			}
		}
		table.groups = append(table.groups, group)
	}
	return table
}

// parquet returns the table as a Parquet file.
func (d drawnTable) parquet(options ...parquet.WriterProperty) []byte {
	var fields schema.FieldList
	for _, k := range d.kinds {
		fields = append(fields, schema.MustPrimitive(schema.NewPrimitiveNodeLogical(k.name,
			parquet.Repetitions.Optional, k.logical, k.physical, 0, -1)))
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(options...)))
	for _, group := range d.groups {
		g, err := w.AppendRowGroupChecked()
		check(err)
		for i, k := range d.kinds {
			levels := make([]int16, len(group[i]))
			for row, v := range group[i] {
				if v != nil {
					levels[row] = 1
				}
			}
			c, err := g.NextColumn()
			check(err)
			k.write(c, group[i], levels)
			check(c.Close())
		}
		check(g.Close())
	}
	check(w.Close())
	return out.Bytes()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// arrow returns the table as an Arrow stream, each row group as batches of at most that many rows.
func (d drawnTable) arrow(rows int) []byte {
	var fields []arrow.Field
	for _, k := range d.kinds {
		fields = append(fields, arrow.Field{Name: k.name, Type: k.arrow, Nullable: true})
	}
	s := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s))
	for _, group := range d.groups {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for i, k := range d.kinds {
			for _, v := range group[i] {
				if v == nil {
					b.Field(i).AppendNull()
				} else {
					k.build(b.Field(i), v)
				}
			}
		}
		whole := b.NewRecordBatch()
		for from := int64(0); from < whole.NumRows(); from += int64(rows) {
			check(w.Write(whole.NewSlice(from, min(from+int64(rows), whole.NumRows()))))
		}
	}
	check(w.Close())
	return out.Bytes()
}

// Row groups and record batches that several goroutines decode are read as an Arrow file with the same rows of which
// one batch after the other is decoded: in their order, with the same types, nulls and errors, and the same rows
// skipped.
func TestRowGroupsAreAsArrow(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	folder := t.TempDir()
	for range 1 + 100*stress.Level {
		rapid.Check(t, func(t *rapid.T) { compareGroups(t, folder) })
	}
}

func compareGroups(t *rapid.T, folder string) {
	table := drawGroups(t)
	types := []keytype.Type{keytype.Uint32, keytype.Uint64, keytype.Int32, keytype.Int64, keytype.Float32,
		keytype.Float64, keytype.Time, keytype.Time64, keytype.IPv4, keytype.Hex, keytype.Text}
	o := Options{SkipInvalid: rapid.Bool().Draw(t, "skip"), SkipNull: rapid.Bool().Draw(t, "skip nulls"),
		KeepNull: rapid.Bool().Draw(t, "keep nulls"), block: rapid.IntRange(1, 9).Draw(t, "batch")}
	if rapid.Bool().Draw(t, "null") {
		null := rapid.SampledFrom([]string{"0", "-1", "none"}).Draw(t, "null is")
		o.Null = &null
	}
	for _, k := range table.kinds {
		c := Column{Name: k.name, Flag: "--type", Any: rapid.Bool().Draw(t, "any")}
		if !c.Any {
			c.Type = rapid.SampledFrom(types).Draw(t, "type")
		}
		if c.Any || rapid.Bool().Draw(t, "wider") {
			c.Wider = c.Type.Wider()
		}
		c.End = rapid.IntRange(0, 9).Draw(t, "end") == 0
		o.Columns = append(o.Columns, c)
	}
	o.All = rapid.Bool().Draw(t, "all")
	size := rapid.IntRange(1, 9).Draw(t, "rows at a time")
	options := []parquet.WriterProperty{parquet.WithDictionaryDefault(rapid.Bool().Draw(t, "dictionary"))}
	if rapid.Bool().Draw(t, "pages") { // of two rows
		options = append(options, parquet.WithBatchSize(2), parquet.WithDataPageSize(1))
	}
	read := func(name string, format Format, data []byte) []string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		f, err := OpenFile(context.Background(), path)
		require.NoError(t, err)
		defer f.Close()
		o := o
		o.Format = format
		r, err := newReader(path, f, o)
		if err != nil { // the names of the files' types differ
			return []string{"none"}
		}
		r.file = f
		all := readAll(r, size)
		require.NoError(t, r.Close())
		return strings.Split(strings.ReplaceAll(strings.Join(all, "\n"), path, "f"), "\n")
	}
	stream := table.arrow(o.block)
	o.parts = 1
	want := read("a.arrows", Arrow, stream)
	o.parts = 0
	require.Equal(t, want, read("a.arrows", Arrow, stream))
	require.Equal(t, want, read("a.parquet", Parquet, table.parquet(options...)))
	if rapid.Bool().Draw(t, "larger record batches") && !o.All {
		require.Equal(t, want, read("a.arrows", Arrow, table.arrow(100)), "record batches of several parts")
	}
}

// groupsOf returns a file of row groups of one column with the numbers from one on.
func groupsOf(groups, rows, from int) []byte {
	return numbersOf(groups, rows, from).parquet(parquet.WithCompression(compress.Codecs.Uncompressed),
		parquet.WithDictionaryDefault(false))
}

// numbersOf returns the table in a file of groupsOf.
func numbersOf(groups, rows, from int) (table drawnTable) {
	table.kinds = columnKinds[:1]
	for g := range groups {
		group := make([]any, rows)
		for i := range group {
			group[i] = int64(from + g*rows + i)
		}
		table.groups = append(table.groups, [][]any{group})
	}
	return table
}

// openAhead opens a file of groupsOf, as openParquet does.
func openAhead(t *testing.T, data []byte, field parquetField) (p *parquetRows, columns []*column) {
	p = newParquetRows(&Options{block: 10})
	var err error
	p.file, err = file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	p.fields, p.ahead = []parquetField{field}, 8
	return p, chosen([]Column{{Type: keytype.Uint32, Wider: keytype.Uint32.Wider()}}, nil)
}

var numbers = parquetField{kind: integer, physical: parquet.Types.Int64}

// Row groups and record batches of several whole batches are read in order, also where the column gets a wider type
// midway.
func TestLargeRowGroups(t *testing.T) {
	const groups, rows, from = 3, 3*batchRows/2 + 1, math.MaxUint32 - 2*batchRows
	table := numbersOf(groups, rows, from)
	for name, data := range map[string][]byte{"a.parquet": table.parquet(), "large.arrows": table.arrow(rows),
		"small.arrows": table.arrow(1000)} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		readNumbers(t, path, from, from+groups*rows)
	}
}

// readNumbers reads numbers from one to before another, the last of which need 64 bits.
func readNumbers(t *testing.T, path string, from, to uint64) {
	r, err := Open(context.Background(), path, Options{Columns: []Column{{Name: "1", Wider: keytype.Uint32.Wider()}}})
	require.NoError(t, err)
	defer r.Close()
	words := make([]uint64, 10_000)
	for want := from; ; {
		n, err := r.Read(words)
		for _, w := range words[:n] {
			require.Equal(t, want, w)
			want++
		}
		if err == io.EOF {
			require.Equal(t, to, want)
			require.Equal(t, []keytype.Type{keytype.Uint64}, r.Types())
			return
		}
		require.NoError(t, err)
	}
}

// However large a file and its row groups are, only some batches are decoded ahead: by their size, and by the number of
// row groups. The batch that is used next always is, so all are read in the end.
func TestDecodedAhead(t *testing.T) {
	const size = 10*2*8 + 1 // of a batch
	for name, c := range map[string]struct{ groups, rows, bytes, ahead int }{
		"one large row group":        {1, 400, 5 * size, 4},
		"many small ones":            {40, 10, 5 * size, 4},
		"those of all goroutines":    {40, 10, math.MaxInt, 7},
		"two batches of each":        {20, 20, math.MaxInt, 15},
		"a batch that is too large":  {40, 10, 1, 0},
		"not as many as could be":    {3, 10, math.MaxInt, 2},
		"row groups of half a batch": {80, 5, 5 * size, 7},
	} {
		synctest.Test(t, func(t *testing.T) { // which fails if a goroutine outlives close
			p, columns := openAhead(t, groupsOf(c.groups, c.rows, 0), numbers)
			p.bytes = c.bytes
			for want := 0; ; {
				got, err := p.load(columns)
				if want == c.groups*c.rows {
					require.Equal(t, io.EOF, err, name)
					break
				}
				require.NoError(t, err, name)
				for _, w := range got[0].words {
					require.EqualValues(t, want, w, name)
					want++
				}
				synctest.Wait()
				ahead := 0
				for _, g := range p.parts {
					ahead += len(g.batches)
				}
				require.LessOrEqual(t, ahead, c.ahead, name)
				if want <= 10 {
					require.Equal(t, c.ahead, ahead, name)
				}
			}
			p.close()
			// Closing midway ends those that wait for room.
			p, columns = openAhead(t, groupsOf(c.groups, c.rows, 0), numbers)
			p.bytes = c.bytes
			_, err := p.load(columns)
			require.NoError(t, err, name)
			p.close()
		})
	}
}

// A panic while a row group is decoded is an error, after all rows before it.
func TestPanicInRowGroup(t *testing.T) {
	// Values of 2^32 and more are converted one by one, which this type of pages has no function for.
	field := parquetField{kind: integer, physical: parquet.Types.Undefined}
	p, columns := openAhead(t, groupsOf(9, 10, 1<<32-50), field)
	defer p.close()
	for range 5 {
		_, err := p.load(columns)
		require.NoError(t, err)
	}
	_, err := p.load(columns)
	require.ErrorContains(t, err, "in a column of another type")
}

// All rows before a damaged row group are read before its error is returned.
func TestRowsBeforeDamage(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	data := groupsOf(20, 10, 0)
	whole, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	chunk, err := whole.MetaData().RowGroup(15).ColumnChunk(0)
	require.NoError(t, err)
	clear(data[chunk.DataPageOffset():][:8]) // the page's header
	path := filepath.Join(t.TempDir(), "a.parquet")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	for _, skip := range []bool{false, true} {
		r, err := Open(context.Background(), path, Options{Columns: []Column{{Name: "1"}}, SkipInvalid: skip})
		require.NoError(t, err)
		words := make([]uint64, 400)
		n, err := r.Read(words)
		var damaged *DamagedError
		require.ErrorAs(t, err, &damaged)
		require.Equal(t, 150, n)
		for i, w := range words[:n] {
			require.EqualValues(t, i, w)
		}
		require.NoError(t, r.Close())
	}
}

// When the context ends, so does reading, after what is decoded already.
func TestCancelledRowGroups(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	require.NoError(t, os.WriteFile(path, groupsOf(300, 10, 0), 0o600))
	ctx, cancel := context.WithCancel(context.Background())
	r, err := Open(ctx, path, Options{Columns: []Column{{Name: "1"}}})
	require.NoError(t, err)
	defer r.Close()
	words := make([]uint64, 10)
	_, err = r.Read(words)
	require.NoError(t, err)
	cancel()
	for range 300 {
		if _, err = r.Read(words); err != nil {
			break
		}
	}
	require.Equal(t, context.Canceled, err)
}
