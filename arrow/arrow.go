// Package vkarrow moves keys and values between Arrow record batches and the dictionaries of vkds. It is a module of
// its own, so that programs without Arrow don't depend on it.
//
// Errors: a dictionary that is nil is vk.ErrNotOpen. A column or a record batch that is nil is a *vk.OptionError.
//
// Columns are used where they are, without a copy. The Go type must be that of the column's numbers, or a named type of
// it: uint32 for Uint32, int64 for Int64, float64 for Float64, and so on. Times, dates and durations are integers:
// int32 for Date32 and Time32, int64 for Timestamp, Date64, Time64 and Duration. Their unit is the column's.
package vkarrow

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vkds/vkds/structures"
	"github.com/vkds/vkds/vk"
)

// TypeError says that a column's numbers are not of the Go type that was asked for.
type TypeError struct {
	Column arrow.DataType
	Type   string // the Go type
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("a column of type %s does not hold values of type %s", e.Column, e.Type)
}

// ColumnError says that a record batch has no column of a name, or several, or one already that is to be added.
type ColumnError struct {
	Name    string
	Columns int // that have the name
}

func (e *ColumnError) Error() string {
	if e.Columns == 1 {
		return fmt.Sprintf("the record batch has a column with the name %q already", e.Name)
	}
	return fmt.Sprintf("the record batch has %d columns with the name %q", e.Columns, e.Name)
}

// given returns an error if an argument is nil.
func given(name string, argument any) error {
	if v := reflect.ValueOf(argument); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return &vk.OptionError{Option: name, Reason: "nil"}
	}
	return nil
}

// kinds are the kinds of Go types that hold a column's numbers.
var kinds = map[arrow.Type]reflect.Kind{
	arrow.UINT32: reflect.Uint32, arrow.UINT64: reflect.Uint64, arrow.INT32: reflect.Int32, arrow.INT64: reflect.Int64,
	arrow.FLOAT32: reflect.Float32, arrow.FLOAT64: reflect.Float64, arrow.DATE32: reflect.Int32,
	arrow.TIME32: reflect.Int32, arrow.DATE64: reflect.Int64, arrow.TIME64: reflect.Int64,
	arrow.TIMESTAMP: reflect.Int64, arrow.DURATION: reflect.Int64,
}

// kindOf returns the kind of a Go type. int and uint are numbers of 32 or 64 bits.
func kindOf[T structures.Number]() reflect.Kind {
	t := reflect.TypeFor[T]()
	switch k := t.Kind(); {
	case k == reflect.Int && t.Size() == 4:
		return reflect.Int32
	case k == reflect.Int:
		return reflect.Int64
	case k == reflect.Uint && t.Size() == 4:
		return reflect.Uint32
	case k == reflect.Uint:
		return reflect.Uint64
	default:
		return k
	}
}

// Values returns the numbers of a column. They share its memory: don't change them, and keep the column while you use
// them. The numbers of nulls are undefined. Error: *TypeError.
func Values[T structures.Number](column arrow.Array) ([]T, error) {
	if err := given("column", column); err != nil {
		return nil, err
	}
	if kind, known := kinds[column.DataType().ID()]; !known || kind != kindOf[T]() {
		return nil, &TypeError{column.DataType(), reflect.TypeFor[T]().String()}
	}
	data := column.Data()
	if data.Len() == 0 {
		return nil, nil
	}
	size := int(unsafe.Sizeof(*new(T)))
	bytes := data.Buffers()[1].Bytes()[data.Offset()*size:][:data.Len()*size]
	if uintptr(unsafe.Pointer(&bytes[0]))%uintptr(size) != 0 { // a file may have it anywhere
		values := make([]T, data.Len())
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(bytes)), bytes)
		return values, nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&bytes[0])), data.Len()), nil
}

// types are the Arrow types of Go's.
var types = map[reflect.Kind]arrow.DataType{
	reflect.Uint32: arrow.PrimitiveTypes.Uint32, reflect.Uint64: arrow.PrimitiveTypes.Uint64,
	reflect.Int32: arrow.PrimitiveTypes.Int32, reflect.Int64: arrow.PrimitiveTypes.Int64,
	reflect.Float32: arrow.PrimitiveTypes.Float32, reflect.Float64: arrow.PrimitiveTypes.Float64,
}

// Column returns values as a column, which shares their memory. valid says which of them are there; the others are
// nulls. If it is nil, there are no nulls. Error: *structures.LengthError if valid has another length.
func Column[T structures.Number](values []T, valid []bool) (arrow.Array, error) {
	if valid != nil && len(valid) != len(values) {
		return nil, &structures.LengthError{Keys: len(values), Other: "valid", Got: len(valid)}
	}
	var bytes []byte
	if len(values) > 0 {
		bytes = unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
	}
	var bits *memory.Buffer
	nulls := 0
	for i, is := range valid {
		if is {
			continue
		}
		if bits == nil {
			set := make([]byte, bitutil.BytesForBits(int64(len(valid))))
			bitutil.SetBitsTo(set, 0, int64(len(valid)), true)
			bits = memory.NewBufferBytes(set)
		}
		bitutil.ClearBit(bits.Bytes(), i)
		nulls++
	}
	data := array.NewData(types[kindOf[T]()], len(values), []*memory.Buffer{bits, memory.NewBufferBytes(bytes)}, nil,
		nulls, 0)
	defer data.Release()
	return array.MakeFromData(data), nil
}

// columnOf returns the numbers of a column by its name.
func columnOf[T structures.Number](rows arrow.RecordBatch, name string) (column arrow.Array, values []T, err error) {
	if err := given("rows", rows); err != nil {
		return nil, nil, err
	}
	at := rows.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, nil, &ColumnError{name, len(at)}
	}
	column = rows.Column(at[0])
	values, err = Values[T](column)
	return column, values, err
}

// Insert inserts the pairs of two columns into a dictionary; of equal keys the last one stays. It skips rows in which
// the key or the value is null, and returns how many it has skipped. Errors: *ColumnError, *TypeError, and those of
// UpdateInto, whose *structures.PendingError counts operations of the rows that are not skipped.
func Insert[K, V structures.Number](ctx context.Context, into structures.Dictionary[K, V], rows arrow.RecordBatch,
	key, value string) (skipped int, err error) {
	if into == nil {
		return 0, vk.ErrNotOpen
	}
	keyColumn, keys, err := columnOf[K](rows, key)
	if err != nil {
		return 0, err
	}
	valueColumn, values, err := columnOf[V](rows, value)
	if err != nil {
		return 0, err
	}
	if keyColumn.NullN()+valueColumn.NullN() > 0 {
		var someKeys []K
		var someValues []V
		for i := range keys {
			if keyColumn.IsValid(i) && valueColumn.IsValid(i) {
				someKeys, someValues = append(someKeys, keys[i]), append(someValues, values[i])
			}
		}
		skipped, keys, values = len(keys)-len(someKeys), someKeys, someValues
	}
	return skipped, into.UpdateInto(ctx, structures.Insert, keys, values, nil)
}

// Lookup returns a record batch with one more column, which is called as: the value of each row's key in a dictionary,
// null if the dictionary does not have the key, or if the key is null. Release the result. Errors: *ColumnError, also
// if there is a column called as already, *TypeError, and those of FindInto.
func Lookup[K, V structures.Number](ctx context.Context, in structures.Dictionary[K, V], rows arrow.RecordBatch,
	key, as string) (arrow.RecordBatch, error) {
	if in == nil {
		return nil, vk.ErrNotOpen
	}
	column, keys, err := columnOf[K](rows, key)
	if err != nil {
		return nil, err
	}
	if n := len(rows.Schema().FieldIndices(as)); n > 0 {
		return nil, &ColumnError{as, n}
	}
	values, found := make([]V, len(keys)), make([]bool, len(keys))
	if err := in.FindInto(ctx, keys, values, found); err != nil {
		return nil, err
	}
	for i := range found {
		found[i] = found[i] && column.IsValid(i)
	}
	answers, err := Column(values, found)
	if err != nil {
		return nil, err
	}
	defer answers.Release()
	schema := rows.Schema()
	metadata := schema.Metadata()
	fields := append(slices.Clone(schema.Fields()), arrow.Field{Name: as, Type: answers.DataType(), Nullable: true})
	columns := append(slices.Clone(rows.Columns()), answers)
	return array.NewRecordBatch(arrow.NewSchema(fields, &metadata), columns, rows.NumRows()), nil
}

// Batches returns all pairs of a dictionary as record batches of two columns. A batch is released when the next one
// comes; Retain those that you keep. Errors: those of Chunks, after which no batch comes.
func Batches[K, V structures.Number](ctx context.Context, of structures.Dictionary[K, V],
	key, value string) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if of == nil {
			yield(nil, vk.ErrNotOpen)
			return
		}
		schema := arrow.NewSchema([]arrow.Field{{Name: key, Type: types[kindOf[K]()]},
			{Name: value, Type: types[kindOf[V]()]}}, nil)
		for pairs, err := range of.Chunks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yieldPairs(schema, pairs, yield) {
				return
			}
		}
	}
}

// yieldPairs yields copies of pairs, whose slices are valid only until the next ones come.
func yieldPairs[K, V structures.Number](schema *arrow.Schema, pairs structures.Pairs[K, V],
	yield func(arrow.RecordBatch, error) bool) bool {
	keys, _ := Column(append([]K(nil), pairs.Keys...), nil) // there is nothing that could have another length
	defer keys.Release()
	values, _ := Column(append([]V(nil), pairs.Values...), nil)
	defer values.Release()
	rows := array.NewRecordBatch(schema, []arrow.Array{keys, values}, int64(len(pairs.Keys)))
	defer rows.Release()
	return yield(rows, nil)
}
