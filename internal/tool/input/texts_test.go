package input_test

import (
	"bytes"
	"fmt"
	"io"
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
	"pgregory.net/rapid"
)

// shown are all rows of a reader as people read them, so many at a time. Each part has its own arenas, and these no
// text more than it has rows.
func shown(t require.TestingT, r *input.Reader, batch int) (rows []string, err error) {
	for {
		part := make([][]uint64, len(r.Types()))
		var arenas []*keytype.Arena
		for c := range part {
			part[c], arenas = make([]uint64, batch), append(arenas, &keytype.Arena{})
		}
		r.SetTexts(arenas...)
		n, err := r.Read(part...)
		for i := range n {
			var row []string
			for c, typ := range r.Types() {
				if typ == keytype.Text {
					require.LessOrEqual(t, arenas[c].Len(), n)
					row = append(row, string(arenas[c].At(part[c][i])))
				} else {
					row = append(row, typ.Format(part[c][i]))
				}
			}
			rows = append(rows, strings.Join(row, "|"))
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
}

// unsaid is a column of which nobody says what it holds.
func unsaid(name string) input.Column {
	return input.Column{Name: name, Wider: keytype.Uint32.Wider(), Any: true}
}

// What is text by itself, and what is a line of names then.
func TestGuessesOfText(t *testing.T) {
	one, two := []input.Column{unsaid("")}, []input.Column{unsaid(""), unsaid("")}
	for _, c := range []struct {
		data    string
		options input.Options
		want    string // rows, or what is wrong
	}{
		{"a,1\nb,2\n", input.Options{}, "a|1 b|2"},
		{"name,n\na,1\nb,2\n", input.Options{}, "a|1 b|2"},
		{"n,name\n1,a\n2,b\n", input.Options{}, "1|a 2|b"},
		{"name,other\na,x\nb,y\n", input.Options{}, "name|other a|x b|y"},
		{"name,other\na,x\nb,y\n", input.Options{Header: input.Present}, "a|x b|y"},
		{"name,other\na,x\n", input.Options{Columns: []input.Column{unsaid("other"), unsaid("name")}}, "x|a"},
		{"name,n\n", input.Options{}, ""},
		{"a,1\n", input.Options{}, "a|1"},
		{"a,b\n", input.Options{Header: input.Absent}, "a|b"},
		{" a ,1\n\"b,\"\"c\"\"\nd\",2\n", input.Options{}, " a |1 b,\"c\"\nd|2"},
		{"a,1\n,2\n", input.Options{}, "a|1 |2"},
		{"a,\nb,\n", input.Options{}, "column 2: empty where"},
		{"a,1\nb,x\n", input.Options{}, "f:2: column 2: \"x\" is not an integer"},
		{"1,1\nx,2\n", input.Options{}, "f:2: column 1: \"x\" is not an integer"},
		{"x,1\n2,2\n", input.Options{}, "f:1: column 1: \"x\" is not an integer"},
		{"1.5,1\n2.5,2\n", input.Options{}, "1.5|1 2.5|2"},
		{"nan,1\ninf,2\ncafe,3\n", input.Options{}, "nan|1 inf|2 cafe|3"},
		{"2001:db8::1,1\n", input.Options{Header: input.Absent}, "2001:db8::1|1"},
		{"1,1\nx,2\n3,3\n", input.Options{SkipInvalid: true}, "1|1 3|3"},
		{"x,1\ny,2\n", input.Options{SkipInvalid: true, Header: input.Absent}, ""},
		{"x,1\ny,2\n", input.Options{Columns: []input.Column{{}, unsaid("")}, Header: input.Absent},
			"is not an integer"},
		{"1,2\n", input.Options{Columns: column2(keytype.Text)}, "1|2"},
		{"1,x\n", input.Options{Columns: column2(keytype.Text)}, "f:1: column 2: \"x\" is not an integer"},
		{"word,x\n1,2\n", input.Options{Columns: column2(keytype.Text)}, "1|2"},
		{"a,1\nb,-2\nc,5000000000\n", input.Options{}, "a|1 b|-2 c|5000000000"},
		{"#x,1\na,1\nb,2\n", input.Options{Comment: '#'}, "a|1 b|2"},
		{"one\ntwo\n three\n\n", input.Options{Format: input.Text, Columns: one}, "one two three"},
		{"one\n", input.Options{Format: input.Text, Columns: one}, ""},
		{"one\n", input.Options{Format: input.Text, Columns: one, Header: input.Absent}, "one"},
		{"id\n1\n2\n", input.Options{Format: input.Text, Columns: one}, "1 2"},
		{"1\n2\nx\n", input.Options{Format: input.Text, Columns: one}, "f:3: \"x\" is not an integer"},
	} {
		if c.options.Columns == nil {
			c.options.Columns = two
		}
		if c.options.Format == input.Auto {
			c.options.Format = input.CSV
		}
		r, err := input.Stream("f", strings.NewReader(c.data), c.options)
		var rows []string
		if err == nil {
			rows, err = shown(t, r, 2)
		}
		if err != nil {
			assert.Contains(t, err.Error(), c.want, "%q", c.data)
			assert.Contains(t, c.want, " ", "%q", c.data)
			continue
		}
		assert.Equal(t, c.want, strings.Join(rows, " "), "%q", c.data)
	}
}

// column2 are two columns of types.
func column2(key keytype.Type) []input.Column { return []input.Column{{Type: key}, {}} }

// Lines are texts as they are, whatever is in them and however they come.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"", "a", "\r", " ", "\x00", "\xff", "#", "name", ",\"", "7"})
		lines := rapid.SliceOf(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(part, 0, 3).Draw(t, "parts"), "") + "x"
		})).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		data := strings.Join(lines, end)
		if len(lines) > 0 && rapid.Bool().Draw(t, "ended") {
			data += end
		}
		if len(lines) == 1 && !strings.HasSuffix(data, "\n") {
			data += end // else a carriage return is taken for a line's end
		}
		r, err := input.Stream("f", strings.NewReader(data), input.Options{Format: input.Lines,
			Columns: []input.Column{unsaid("")}})
		require.NoError(t, err)
		rows, err := shown(t, r, rapid.IntRange(1, 5).Draw(t, "batch"))
		require.NoError(t, err)
		require.Equal(t, append([]string(nil), lines...), rows)
	})
	for data, want := range map[string][]string{"": nil, "\n": {""}, "\r\n\n": {"", ""}, "a\n\n": {"a", ""}} {
		r, err := input.Stream("f", strings.NewReader(data), input.Options{Format: input.Lines,
			Columns: column(keytype.Text)})
		require.NoError(t, err)
		rows, err := shown(t, r, 10)
		require.NoError(t, err)
		assert.Equal(t, want, rows, "%q", data)
	}
}

// However many rows are asked for, a Read brings no more text than fits some memory.
func TestReadsOfLongTexts(t *testing.T) {
	line := append(bytes.Repeat([]byte("x"), keytype.Longest), '\n')
	const n = 20
	var all []io.Reader
	for range n {
		all = append(all, bytes.NewReader(line))
	}
	r, err := input.Stream("f", io.MultiReader(all...), input.Options{Format: input.Lines,
		Columns: column(keytype.Text)})
	require.NoError(t, err)
	words, got := make([]uint64, 1000), 0
	for {
		rows, err := r.Read(words)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.Positive(t, rows)
		require.LessOrEqual(t, r.Texts()[0].Bytes(), 64<<20+keytype.Longest)
		for i := range rows {
			require.Len(t, r.Texts()[0].At(words[i]), keytype.Longest)
		}
		got += rows
	}
	assert.Equal(t, n, got)
}

// Texts are those of the rows that are left, in text and in columns, whose strings may be shared by many rows.
func TestTextsOfSkippedRows(t *testing.T) {
	csv := "a,1\nb,x\nc,3\nd,\ne,5\n"
	r, err := input.Stream("f", strings.NewReader(csv), input.Options{Format: input.CSV, SkipInvalid: true,
		Columns: column2(keytype.Text)})
	require.NoError(t, err)
	rows, err := shown(t, r, 2)
	require.NoError(t, err)
	assert.Equal(t, []string{"a|1", "c|3", "e|5"}, rows)
	assert.EqualValues(t, 2, r.Skipped())

	schema := arrow.NewSchema([]arrow.Field{
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
			ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "note", Type: arrow.BinaryTypes.LargeString, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range 10 {
		word := b.Field(0).(*array.BinaryDictionaryBuilder)
		if i == 3 {
			word.AppendNull()
		} else {
			require.NoError(t, word.AppendString([]string{"even", "odd"}[i%2]))
		}
		b.Field(1).(*array.Int64Builder).Append(int64(i))
		b.Field(2).(*array.LargeStringBuilder).Append(fmt.Sprint("note ", i))
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	batch := b.NewRecordBatch()
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	path := write(t, "t.arrows", out.Bytes())
	for _, size := range []int{1, 4, 100} {
		r, err := input.Open(ctx, path, input.Options{SkipInvalid: true,
			Columns: []input.Column{unsaid("word"), unsaid("n"), unsaid("note")}})
		require.NoError(t, err)
		rows, err := shown(t, r, size)
		require.NoError(t, err)
		var want []string
		for range 2 {
			for i := range 10 {
				if i != 3 {
					want = append(want, fmt.Sprintf("%s|%d|note %d", []string{"even", "odd"}[i%2], i, i))
				}
			}
		}
		assert.Equal(t, want, rows)
		assert.EqualValues(t, 2, r.Skipped())
		require.NoError(t, r.Close())
	}
}
