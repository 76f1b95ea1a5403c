package input_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// wide is a column as wide as it needs.
func wide(t keytype.Type) input.Column {
	return input.Column{Type: t, Wider: t.Wider(), Any: t.Integer()}
}

// read reads a text in parts, and formats the words by the types that came out.
func read(t *testing.T, text string, o input.Options, batch int) (types []keytype.Type, texts []string, err error) {
	r, err := input.Stream("f", strings.NewReader(text), o)
	require.NoError(t, err)
	words, err := drain(r, len(o.Columns), batch)
	types = r.Types()
	for i := range words[0] {
		var row []string
		for c := range words {
			row = append(row, types[c].Format(words[c][i]))
		}
		texts = append(texts, strings.Join(row, ","))
	}
	return types, texts, err
}

// A column gets the narrowest type that holds all its values, wherever in a part the one is that decides, in every
// format and whatever the parts.
func TestNarrowestType(t *testing.T) {
	for name, c := range map[string]struct {
		from keytype.Type
		want keytype.Type
		rows []string
	}{
		"narrow":   {keytype.Uint32, keytype.Uint32, []string{"1", "4294967295", "0", "7"}},
		"wide":     {keytype.Uint32, keytype.Uint64, []string{"1", "2", "4294967296", "18446744073709551615", "3"}},
		"negative": {keytype.Uint32, keytype.Int32, []string{"1", "2147483647", "-1", "-2147483648", "5"}},
		"lower":    {keytype.Uint32, keytype.Int64, []string{"1", "-1", "-9223372036854775808", "9223372036854775807"}},
		"both":     {keytype.Uint32, keytype.Int64, []string{"1", "4294967296", "-5", "2"}},
		"behind":   {keytype.Uint32, keytype.Int64, []string{"1", "-5", "2", "2147483648"}},
		"before":   {keytype.Uint32, keytype.Int64, []string{"1", "2147483648", "7", "-1"}},
		"hex":      {keytype.Hex, keytype.Hex64, []string{"0x0001", "0x100000000", "0xffffffffffffffff"}},
		"fraction": {keytype.Time, keytype.Time64, []string{"2014-07-01 00:00:00", "2106-02-07 06:28:15",
			"1970-01-01 00:00:00.000000001"}},
		"early":     {keytype.Time, keytype.Time64, []string{"2014-07-01 00:00:00", "1969-12-31 23:59:59"}},
		"networks":  {keytype.IPv4, keytype.IPv6, []string{"2001:db8::/64", "::/64"}},
		"addresses": {keytype.IPv4, keytype.IPv4, []string{"8.8.8.8", "255.255.255.255"}},
	} {
		for batch := range len(c.rows) + 1 {
			o := input.Options{Format: input.Text, Columns: []input.Column{wide(c.from)}}
			types, texts, err := read(t, strings.Join(c.rows, "\n"), o, batch+1)
			require.NoError(t, err, name)
			assert.Equal(t, []keytype.Type{c.want}, types, name)
			assert.Equal(t, c.rows, texts, "%s in parts of %d", name, batch+1)

			o = input.Options{Format: input.CSV, Columns: []input.Column{wide(c.from), wide(keytype.Uint32)}}
			var rows []string
			for i, row := range c.rows {
				rows = append(rows, row+","+[]string{"3", "5000000000"}[i/2%2])
			}
			types, texts, err = read(t, strings.Join(rows, "\n"), o, batch+1)
			require.NoError(t, err, name)
			assert.Equal(t, c.want, types[0], name)
			assert.Equal(t, rows, texts, "%s in parts of %d", name, batch+1)
		}
	}
	_, _, addressErr := read(t, "2001:db8::1\n", input.Options{Format: input.Text, Header: input.Absent,
		Columns: []input.Column{wide(keytype.IPv4)}}, 9)
	assert.ErrorIs(t, addressErr, keytype.ErrAddress)
	for batch := range 3 {
		_, _, err := read(t, "9223372036854775808\n3\n-1\n", input.Options{Format: input.Text,
			Columns: []input.Column{wide(keytype.Uint32)}}, batch+1)
		assert.EqualError(t, err, "f:3: -1 is of no type that also holds 9223372036854775808, which was there before")
		_, _, err = read(t, "8.8.8.8\n2001:db8::/64\n", input.Options{Format: input.Text,
			Columns: []input.Column{wide(keytype.IPv4)}}, batch+1)
		assert.EqualError(t, err, "f:2: 2001:db8::/64 is of no type that also holds 8.8.8.8, which was there before")
	}
	before := wide(keytype.Uint32) // what the rows go to has something that i32 has no place for
	before.Before = keytype.Extent{Some: true, Greatest: 1 << 31}
	types, _, err := read(t, "1\n-1\n", input.Options{Format: input.Text, Columns: []input.Column{before}}, 1)
	require.NoError(t, err)
	assert.Equal(t, []keytype.Type{keytype.Int64}, types)
	// What no type holds is passed over, and nothing else.
	_, texts, err := read(t, "1\nx\n-1\n18446744073709551615\n5\n", input.Options{Format: input.Text, SkipInvalid: true,
		Columns: []input.Column{wide(keytype.Uint32)}}, 2)
	require.NoError(t, err)
	assert.Equal(t, []string{"1", "-1", "5"}, texts)
}

// Rows that are passed over have no part in what their columns become: not for their own value, nor for another one's.
func TestInvalidRowsDontWiden(t *testing.T) {
	rows := []struct {
		key, value any // of Arrow; text as fmt prints it
		valid      bool
	}{{int64(1), int64(2), true}, {int64(-7), nil, false}, {nil, int64(1 << 40), false}, {int64(3), int64(4), true},
		{int64(1 << 40), nil, false}, {int64(5), int64(-6), true}}
	want := []string{"1,2", "3,4", "5,-6"}
	types := []keytype.Type{keytype.Uint32, keytype.Int32}
	var text strings.Builder
	var packed []byte
	s := arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "value", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for _, row := range rows {
		for i, cell := range []any{row.key, row.value} {
			if n, there := cell.(int64); there {
				fmt.Fprintf(&text, "%d", n)
				b.Field(i).(*array.Int64Builder).Append(n)
			} else {
				text.WriteString("x")
				b.Field(i).AppendNull()
			}
			text.WriteByte(",\n"[i])
		}
	}
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(s))
	require.NoError(t, w.Write(b.NewRecordBatch()))
	require.NoError(t, w.Close())
	for batch := range 4 {
		got, texts, err := read(t, text.String(), input.Options{Format: input.CSV, SkipInvalid: true,
			Columns: []input.Column{wide(keytype.Uint32), wide(keytype.Uint32)}}, batch+1)
		require.NoError(t, err)
		assert.Equal(t, types, got)
		assert.Equal(t, want, texts)
		r, err := input.Open(ctx, write(t, "a.arrow", stream.Bytes()), input.Options{SkipInvalid: true,
			Columns: []input.Column{wide(keytype.Uint32), wide(keytype.Uint32)}})
		require.NoError(t, err)
		words, err := drain(r, 2, batch+1)
		require.NoError(t, err)
		assert.Equal(t, types, r.Types())
		assert.Equal(t, []uint64{1, 3, 5}, words[0])
		assert.EqualValues(t, 3, r.Skipped())
		require.NoError(t, r.Close())
	}
	// A binary row of a key that is wide and of a value that is no number.
	nan := math.Float64bits(math.NaN())
	for _, x := range []uint64{1, 0, 1 << 40, nan, 3, 0} {
		packed = binary.LittleEndian.AppendUint64(packed, x)
	}
	got, texts, err := read(t, string(packed), input.Options{Format: input.U64LE, SkipInvalid: true,
		Columns: []input.Column{wide(keytype.Uint32), {Type: keytype.Float64}}}, 9)
	require.NoError(t, err)
	assert.Equal(t, []keytype.Type{keytype.Uint32, keytype.Float64}, got)
	assert.Equal(t, []string{"1,0", "3,0"}, texts)
}

// Ranges widen at either end. An end that is left out is the type's own.
func TestRangesWiden(t *testing.T) {
	ends := []input.Column{wide(keytype.Uint32), wide(keytype.Uint32)}
	ends[1].End = true
	for batch := range 5 {
		types, texts, err := read(t, "1:2\n-5:\n:7\n3:4294967296\n4294967296:\n", input.Options{Format: input.Text,
			Columns: ends}, batch+1)
		require.NoError(t, err)
		assert.Equal(t, []keytype.Type{keytype.Int64, keytype.Uint64}, types)
		assert.Equal(t, []string{"1,2", "-5,4294967295", "0,7", "3,4294967296", "4294967296,4294967295"}, texts)
	}
	ends = []input.Column{wide(keytype.Time), wide(keytype.Time)}
	ends[1].End = true
	_, texts, err := read(t, "2014-07-01 00:00:00.5:2014-07-01\n2014-07-01:\n", input.Options{Format: input.Text,
		Columns: ends}, 9)
	require.NoError(t, err)
	assert.Equal(t, []string{"2014-07-01 00:00:00.5,2014-07-01 23:59:59", "2014-07-01 00:00:00,2106-02-07 06:28:15"},
		texts)
}

// What a command line gives is read as lines of a file are.
func TestGiven(t *testing.T) {
	r := input.Given([]string{"1", " -1 ", "4294967296"}, wide(keytype.Uint32))
	words, err := drain(r, 1, 2)
	require.NoError(t, err)
	require.Equal(t, []keytype.Type{keytype.Int64}, r.Types())
	assert.Equal(t, "-1", keytype.Int64.Format(words[0][1]))
	for text, want := range map[string]string{"": "empty where an integer should be", "x": `"x" is not an integer`} {
		_, err = drain(input.Given([]string{"1", text}, wide(keytype.Uint32)), 1, 9)
		assert.EqualError(t, err, "key 2 of the command line: "+want)
	}
	_, err = drain(input.Given([]string{"5"}, ends(keytype.Uint32)...), 2, 9)
	assert.EqualError(t, err, `range 1 of the command line: "5" is not a range LO:HI`)
}

// Values of 8 bytes are of the wide types, and integers as narrow as they can be.
func TestBinaryOf64Bits(t *testing.T) {
	for typ, values := range map[keytype.Type]map[string]uint64{
		keytype.Uint64:  {"0": 0, "18446744073709551615": math.MaxUint64},
		keytype.Hex64:   {"0": 0, "ffffffffffffffff": math.MaxUint64},
		keytype.Int64:   {"-1": math.MaxUint64, "-9223372036854775808": 1 << 63, "9223372036854775807": 1<<63 - 1},
		keytype.Float64: {"0": 0, "-0": 1 << 63, "-1.5": 0xbff8000000000000, "inf": 0x7ff0000000000000},
		keytype.Time64:  {"1970-01-01": 0, "1969-12-31 23:59:59.999999999": math.MaxUint64},
		keytype.IPv6:    {"::/64": 0, "2001:db8::/64": 0x20010db8 << 32},
	} {
		var text, le, be strings.Builder
		for value, bits := range values {
			text.WriteString(value + "\n")
			le.Write(binary.LittleEndian.AppendUint64(nil, bits))
			be.Write(binary.BigEndian.AppendUint64(nil, bits))
		}
		want, _, err := keysOf(text.String(), input.Options{Columns: column(typ)})
		require.NoError(t, err)
		for format, data := range map[input.Format]string{input.U64LE: le.String(), input.U64BE: be.String()} {
			got, _, err := keysOf(data, input.Options{Columns: column(typ), Format: format})
			require.NoError(t, err)
			assert.Equal(t, want, got, typ)
		}
	}
	data := string(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 5), 1<<32))
	for batch := range 2 {
		types, texts, err := read(t, data, input.Options{Format: input.U64LE,
			Columns: []input.Column{wide(keytype.Uint32)}}, batch+1)
		require.NoError(t, err)
		assert.Equal(t, []keytype.Type{keytype.Uint64}, types)
		assert.Equal(t, []string{"5", "4294967296"}, texts)
	}
	types, texts, err := read(t, data, input.Options{Format: input.U64LE,
		Columns: []input.Column{wide(keytype.Time)}}, 9)
	require.NoError(t, err)
	assert.Equal(t, []keytype.Type{keytype.Time64}, types)
	assert.Equal(t, []string{"1970-01-01 00:00:00.000000005", "1970-01-01 00:00:04.294967296"}, texts)
	_, err = input.Stream("f", strings.NewReader(data), input.Options{Format: input.U64LE,
		Columns: column(keytype.Int32)})
	assert.EqualError(t, err, "files of format u64le hold values of 64 bits, but column 1 is of type i32")
	_, err = input.Stream("f", strings.NewReader(data), input.Options{Format: input.U32LE,
		Columns: column(keytype.Float64)})
	assert.EqualError(t, err, "files of format u32le hold values of 32 bits, but column 1 is of type f64")
}

// A column of Parquet or Arrow says itself what it holds, where nothing else is said.
func TestColumnarTypes(t *testing.T) {
	for name, data := range columnarFiles(t) {
		path := write(t, name, data)
		for column, want := range map[string]keytype.Type{"u32": keytype.Uint32, "i64": keytype.Uint32,
			"null32": keytype.Int32, "f64": keytype.Float64, "date": keytype.Time, "stamp": keytype.Time} {
			c := wide(keytype.Uint32)
			c.Name = column
			r, err := input.Open(ctx, path, input.Options{Columns: []input.Column{c}, SkipInvalid: true})
			require.NoError(t, err)
			words, err := drain(r, 1, 4)
			require.NoError(t, err)
			require.Equal(t, []keytype.Type{want}, r.Types(), "%s of %s", column, name)
			last := map[string]string{"u32": "4294967285", "i64": "50", "null32": "1", "f64": "2.5",
				"date": "1970-01-06 00:00:00", "stamp": "1970-01-01 00:00:05"}[column]
			require.Equal(t, last, want.Format(words[0][len(words[0])-1]), "%s of %s", column, name)
			if column == "null32" {
				require.Equal(t, "-4", want.Format(words[0][0]))
			}
			require.NoError(t, r.Close())
		}
	}
}
