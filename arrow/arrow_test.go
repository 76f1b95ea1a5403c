package vkarrow_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	vkarrow "github.com/vkds/vkds/arrow"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/structures/host"
	"github.com/vkds/vkds/vk"
)

// table makes a record batch of ids and prices; an id or a price below 0 is null.
func table(t testing.TB, ids []int64, prices []float32) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "price", Type: arrow.PrimitiveTypes.Float32, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i, id := range ids {
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{id}, []bool{id >= 0})
		b.Field(1).(*array.Float32Builder).AppendValues([]float32{prices[i]}, []bool{prices[i] >= 0})
	}
	rows := b.NewRecordBatch()
	t.Cleanup(rows.Release)
	return rows
}

func newMap[K, V structures.Number](t testing.TB) *host.Map[K, V] {
	m := host.NewMap[K, V]()
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func TestInsertAndLookup(t *testing.T) {
	m := newMap[int64, float32](t)
	rows := table(t, []int64{1, -1, 3, 4, 1, 0}, []float32{10, 20, 30, -1, 50, 60})
	skipped, err := vkarrow.Insert(t.Context(), m, rows, "id", "price")
	require.NoError(t, err)
	require.Equal(t, 2, skipped)
	n, err := m.Len(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, n, "of equal keys the last one")

	// A slice of a batch has an offset.
	asked := table(t, []int64{9, 9, 3, -1, 1, 4, 0, 9}, make([]float32, 8)).NewSlice(2, 7)
	defer asked.Release()
	got, err := vkarrow.Lookup(t.Context(), m, asked, "id", "found")
	require.NoError(t, err)
	defer got.Release()
	require.Equal(t, "found", got.ColumnName(2))
	require.EqualValues(t, 3, got.NumCols())
	require.Equal(t, "[30 (null) 50 (null) 60]", got.Column(2).String())
	require.Equal(t, "[3 (null) 1 4 0]", got.Column(0).String())
	require.EqualValues(t, 5, got.NumRows())
	require.EqualValues(t, 2, asked.NumCols(), "what was given stays as it was")
}

func TestBatches(t *testing.T) {
	m := newMap[uint32, uint64](t)
	const n = 300_000 // several chunks
	keys, values := make([]uint32, n), make([]uint64, n)
	for i := range keys {
		keys[i], values[i] = uint32(7*i), uint64(i)<<40
	}
	_, err := m.Insert(t.Context(), keys, values)
	require.NoError(t, err)
	var kept []arrow.RecordBatch
	for rows, err := range vkarrow.Batches(t.Context(), m, "key", "value") {
		require.NoError(t, err)
		rows.Retain()
		kept = append(kept, rows)
	}
	seen := map[uint32]uint64{}
	for _, rows := range kept {
		keys, err := vkarrow.Values[uint32](rows.Column(0))
		require.NoError(t, err)
		values, err := vkarrow.Values[uint64](rows.Column(1))
		require.NoError(t, err)
		for i, k := range keys {
			seen[k] = values[i]
		}
		rows.Release()
	}
	require.Len(t, seen, n)
	for i := range keys {
		require.Equal(t, values[i], seen[keys[i]])
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for rows, err := range vkarrow.Batches(ended, m, "key", "value") {
		require.Nil(t, rows)
		require.ErrorIs(t, err, context.Canceled)
	}
}

// seconds is a type of a user's.
type seconds int64

func TestValues(t *testing.T) {
	rows := table(t, []int64{5, 6}, []float32{1, 2})
	named, err := vkarrow.Values[seconds](rows.Column(0))
	require.NoError(t, err)
	require.Equal(t, []seconds{5, 6}, named)
	whole, err := vkarrow.Values[int](rows.Column(0))
	require.NoError(t, err)
	require.Equal(t, []int{5, 6}, whole)

	times := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Millisecond})
	defer times.Release()
	at := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
	times.Append(arrow.Timestamp(at.UnixMilli()))
	column := times.NewArray()
	defer column.Release()
	moments, err := vkarrow.Values[int64](column)
	require.NoError(t, err)
	require.Equal(t, []int64{at.UnixMilli()}, moments)

	var typ *vkarrow.TypeError
	_, err = vkarrow.Values[uint64](rows.Column(0))
	require.ErrorAs(t, err, &typ)
	require.EqualError(t, err, "a column of type int64 does not hold values of type uint64")
	_, err = vkarrow.Values[int32](rows.Column(0))
	require.ErrorAs(t, err, &typ)
	text := array.NewStringBuilder(memory.DefaultAllocator)
	defer text.Release()
	text.Append("x")
	words := text.NewArray()
	defer words.Release()
	_, err = vkarrow.Values[uint32](words)
	require.ErrorAs(t, err, &typ)

	none, err := vkarrow.Column([]uint32(nil), nil)
	require.NoError(t, err)
	defer none.Release()
	empty, err := vkarrow.Values[uint32](none)
	require.NoError(t, err)
	require.Empty(t, empty)
	_, err = vkarrow.Column([]uint32{1}, []bool{true, false})
	var length *structures.LengthError
	require.ErrorAs(t, err, &length)
}

func TestErrors(t *testing.T) {
	m := newMap[int64, float32](t)
	rows := table(t, []int64{1}, []float32{1})
	_, err := vkarrow.Insert(t.Context(), m, rows, "id", "cost")
	require.EqualError(t, err, `the record batch has 0 columns with the name "cost"`)
	_, err = vkarrow.Lookup(t.Context(), m, rows, "price", "x")
	require.EqualError(t, err, "a column of type float32 does not hold values of type int64")
	_, err = vkarrow.Lookup(t.Context(), m, rows, "id", "price")
	require.EqualError(t, err, `the record batch has a column with the name "price" already`)
	_, err = vkarrow.Insert(t.Context(), m, rows, "id", "id")
	require.EqualError(t, err, "a column of type int64 does not hold values of type float32")
	ended, end := context.WithCancel(t.Context())
	end()
	_, err = vkarrow.Insert(ended, m, rows, "id", "price")
	var pending *structures.PendingError
	require.ErrorAs(t, err, &pending)
}

// What is nil is an error, whether it is an interface or a pointer in one.
func TestNil(t *testing.T) {
	m, rows := newMap[int64, float32](t), table(t, []int64{1}, []float32{1})
	for _, d := range []structures.Dictionary[int64, float32]{nil, (*host.Map[int64, float32])(nil)} {
		_, err := vkarrow.Insert(t.Context(), d, rows, "id", "price")
		require.ErrorIs(t, err, vk.ErrNotOpen)
		_, err = vkarrow.Lookup(t.Context(), d, rows, "id", "found")
		require.ErrorIs(t, err, vk.ErrNotOpen)
		parts := 0
		for rows, err := range vkarrow.Batches(t.Context(), d, "key", "value") {
			require.Nil(t, rows)
			require.ErrorIs(t, err, vk.ErrNotOpen)
			parts++
		}
		require.Equal(t, 1, parts)
	}
	var option *vk.OptionError
	_, err := vkarrow.Insert(t.Context(), m, nil, "id", "price")
	require.ErrorAs(t, err, &option)
	require.Equal(t, "rows", option.Option)
	_, err = vkarrow.Lookup(t.Context(), m, nil, "id", "found")
	require.ErrorAs(t, err, &option)
	for _, column := range []arrow.Array{nil, (*array.Int64)(nil)} {
		_, err = vkarrow.Values[int64](column)
		require.ErrorAs(t, err, &option)
		require.Equal(t, "column", option.Option)
	}
}

// What comes from a file need not be aligned.
func TestUnaligned(t *testing.T) {
	bytes := append(make([]byte, 3), 1, 0, 0, 0, 2, 0, 0, 0)[3:]
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}
	data := array.NewData(arrow.PrimitiveTypes.Uint32, 2, buffers, nil, 0, 0)
	defer data.Release()
	column := array.MakeFromData(data)
	defer column.Release()
	values, err := vkarrow.Values[uint32](column)
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 2}, values)
}

// Each order of an Arrow stream gets the discount of its customer.
func Example() {
	ctx := context.Background()
	discounts := host.NewMap[int64, float32]() // or slabhash.New, on a GPU
	defer discounts.Close()
	if _, err := discounts.Insert(ctx, []int64{7, 8}, []float32{0.1, 0.2}); err != nil {
		panic(err)
	}
	for rows := range orders() {
		more, err := vkarrow.Lookup(ctx, discounts, rows, "customer", "discount")
		if err != nil {
			panic(err)
		}
		fmt.Println(more.Column(0), more.Column(1))
		more.Release()
	}
	// Output:
	// [7 9 8] [0.1 (null) 0.2]
}

// orders reads an Arrow stream.
func orders() func(func(arrow.RecordBatch) bool) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "customer", Type: arrow.PrimitiveTypes.Int64}}, nil)
	column, _ := vkarrow.Column([]int64{7, 9, 8}, nil)
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	_ = w.Write(array.NewRecordBatch(schema, []arrow.Array{column}, 3))
	_ = w.Close()
	r, err := ipc.NewReader(&stream)
	if err != nil {
		panic(err)
	}
	return func(yield func(arrow.RecordBatch) bool) {
		defer r.Release()
		for r.Next() && yield(r.RecordBatch()) {
		}
	}
}
