package input_test

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"golang.org/x/text/encoding/unicode"
)

// rows reads two columns of a text.
func rows(text string, o input.Options) (rows [][2]uint64, skipped int64, err error) {
	words, skipped, err := stream(text, o, 2)
	if words == nil {
		return nil, skipped, err
	}
	for i := range words[0] {
		rows = append(rows, [2]uint64{words[0][i], words[1][i]})
	}
	return rows, skipped, err
}

func TestDelimited(t *testing.T) {
	want := [][2]uint64{{1, 10}, {2, 20}, {3, 30}}
	for name, c := range map[string]struct {
		text    string
		options input.Options
	}{
		"names":              {"id,x,value\n1,a,10\n2,b,20\n3,c,30\n", input.Options{Columns: columns("id", "value")}},
		"names, other order": {"value,id\n10,1\n20,2\n30,3\n", input.Options{Columns: columns("id", "value")}},
		"numbers, header":    {"id,value\n1,10\n2,20\n3,30", input.Options{Columns: columns("1", "2")}},
		"numbers, no header": {"1,10\n2,20\n3,30\n", input.Options{Columns: columns("1", "2")}},
		"header of digits": {"2014,2015\n1,10\n2,20\n3,30\n",
			input.Options{Columns: columns("1", "2"), Header: input.Present}},
		"CRLF": {"id,value\r\n1,10\r\n2,20\r\n3,30\r\n", input.Options{Columns: columns("id", "value")}},
		"mark": {"\ufeffid,value\n1,10\n2,20\n3,30\n", input.Options{Columns: columns("id", "value")}},
		"quotes": {"id,\"the \"\"name\"\"\",value\n1,\"a,\nb\",10\n2,,\"20\"\n3,,30\n",
			input.Options{Columns: columns("id", "value")}},
		"other case":  {"Id,ID,Value\n1,0,10\n2,0,20\n3,0,30\n", input.Options{Columns: columns("Id", "VALUE")}},
		"semicolons":  {"\ufeffid;value\n1;10\n2;20\n3;30\n", input.Options{Columns: columns("id", "value")}},
		"tabs found":  {"1\t10\n2\t20\n3\t30\n", input.Options{Columns: columns("1", "2")}},
		"tabs":        {"1\t10\n2\t20\n3\t30\n", input.Options{Columns: columns("1", "2"), Delimiter: '\t'}},
		"blank lines": {"\n \n1,10\n\n2,20\n\t \r\n3,30\n\n ", input.Options{Columns: columns("1", "2")}},
		"blanks":      {"id , value\n 1,10 \n2, 20\n0x3,30\n", input.Options{Columns: columns("id", "value")}},
	} {
		got, skipped, err := rows(c.text, c.options)
		require.NoError(t, err, name)
		assert.Equal(t, want, got, name)
		assert.Zero(t, skipped, name)
	}
	got, _, err := rows("", input.Options{Columns: columns("id", "value")})
	require.NoError(t, err)
	assert.Empty(t, got)
}

// A name is that of the column that is called so; else case doesn't matter, where there is only one.
func TestNamesInOtherCase(t *testing.T) {
	for column, want := range map[string]string{"id": "1", "ID": "2", "SIZE": "3", "naïve": "4", "NAÏVE": "4"} {
		got, _, err := stream("id,ID,size,Naïve\n1,2,3,4\n", input.Options{Columns: columns(column)}, 10)
		require.NoError(t, err)
		assert.Equal(t, want, keytype.Uint32.Format(got[0][0]), column)
	}
	_, _, err := stream("id,ID,size\n1,2,3\n", input.Options{Columns: columns("Id")}, 10)
	var ce *input.ColumnError
	require.ErrorAs(t, err, &ce)
	assert.EqualError(t, err, `f: "Id" may be column 1, "id", or column 2, "ID": ask as it is written there`)
}

// What is guessed is told, and what is said is not guessed.
func TestGuessesAreTold(t *testing.T) {
	for _, c := range []struct {
		text    string
		options input.Options
		want    []string
	}{
		{"id;n\n1;2\n", input.Options{Columns: columns("1", "2")},
			[]string{"f: fields are taken to stand between semicolons", "f: the first line is taken for names"}},
		{"1\t2\n1\t2\n", input.Options{Columns: columns("1", "2")},
			[]string{"f: fields are taken to stand between tabs"}},
		{"id;n\n1;2\n", input.Options{Columns: columns("id", "n"), Delimiter: ';'}, nil},
		{"1,2\n1,2\n", input.Options{Columns: columns("1", "2")}, nil},
		{"id\n1\n", input.Options{Columns: columns(""), Format: input.Text},
			[]string{"f: the first line is taken for a name"}},
		{"id\n1\n", input.Options{Columns: columns(""), Format: input.Text, Header: input.Present}, nil},
		{"1\n", input.Options{Columns: columns(""), Format: input.Text}, nil},
	} {
		var told []string
		c.options.Note = func(text string) { told = append(told, text) }
		_, _, err := stream(c.text, c.options, 10)
		require.NoError(t, err, "%q", c.text)
		assert.Equal(t, c.want, told, "%q", c.text)
	}
	_, _, err := stream("1;10\n2;20\n", input.Options{Columns: columns("1", "2"), Delimiter: ','}, 10)
	assert.EqualError(t, err, "f: no column 2: the table has 1 column")
	_, _, err = stream("1 10\n2 20\n", input.Options{Columns: columns("1", "2")}, 10)
	assert.EqualError(t, err, "f: no column 2: the table has 1 column, if commas stand between fields")
}

// A text is guessed at however it comes, and an error in what is looked at is told when it is read.
func TestGuessOfStreams(t *testing.T) {
	long := strings.Repeat("1;10\n", 1<<15)
	r, err := input.Stream("f", iotest.OneByteReader(strings.NewReader(long)),
		input.Options{Columns: columns("1", "2")})
	require.NoError(t, err)
	words, err := drain(r, 2, 1000)
	require.NoError(t, err)
	assert.Len(t, words[1], 1<<15)
	broken := errors.New("broken")
	r, err = input.Stream("f", io.MultiReader(strings.NewReader("1;10\n2;20\n3;"), iotest.ErrReader(broken)),
		input.Options{Columns: columns("1", "2")})
	require.NoError(t, err)
	words, err = drain(r, 2, 1)
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, [][]uint64{{1, 2}, {10, 20}}, words)
}

func TestDelimitedTypes(t *testing.T) {
	got, _, err := rows("timestamp,value\n2014-07-01 00:00:00,42.5\n",
		input.Options{Columns: []input.Column{{Name: "timestamp", Type: keytype.Time},
			{Name: "value", Type: keytype.Float32}}})
	require.NoError(t, err)
	assert.EqualValues(t, 1404172800, got[0][0])
	assert.Equal(t, "42.5", keytype.Float32.Format(got[0][1]))
}

func TestDelimitedErrors(t *testing.T) {
	for _, c := range []struct {
		text    string
		options input.Options
		say     string
		before  int // records delivered before
	}{
		{"id,value\n1,10\n2,x\n", input.Options{Columns: columns("id", "value")},
			`f:3: column "value": "x" is not an integer`, 1},
		{"1,10\nx,20\n", input.Options{Columns: columns("1", "2")}, `f:2: column 1: "x" is not an integer`, 1},
		{"12a,10\n", input.Options{Columns: columns("1", "2")}, `f:1: column 1: "12a" is not an integer`, 0},
		{"a,b\n1,2\n", input.Options{Columns: columns("1", "2"), Header: input.Absent},
			`f:1: column 1: "a" is not an integer`, 0},
		{"a,b\n1,\n", input.Options{Columns: columns("1", "2")}, `f:2: column 2: empty where an integer should be`, 0},
		{"a,b\n1,4294967296\n", input.Options{Columns: columns("1", "2")},
			`f:2: column 2: 4294967296 is out of range (0 to 4294967295)`, 0},
		{"a,b\n1,2\n1,2,3\n", input.Options{Columns: columns("1", "2")},
			`f:3: 3 fields where the first record has 2`, 1},
		{"a,b\n1,2\n1\n", input.Options{Columns: columns("1", "2")}, `f:3: 1 field where the first record has 2`, 1},
		{"a,b\n\"1\n\",2\nx,2\n", input.Options{Columns: columns("1", "2")},
			`f:2: column 1: "1\n" is not an integer`, 0},
		{"a,b\n1,2\"\n", input.Options{Columns: columns("1", "2")}, `f:2:4: a stray quote (")`, 0},
		{"a,b\n1,\"2\n3,4\n", input.Options{Columns: columns("1", "2")},
			`f:2: a quoted field goes over several lines and doesn't end as it should`, 0},
		{"\x1f\x8b\x08", input.Options{Columns: columns("1", "2")},
			`f:1: looks like gzip data, though the file's name doesn't say so`, 0},
	} {
		got, _, err := rows(c.text, c.options)
		var line *input.LineError
		require.ErrorAs(t, err, &line, "%q", c.text)
		assert.EqualError(t, err, c.say)
		assert.Len(t, got, c.before)
	}
	for _, c := range []struct {
		columns []input.Column
		say     string
	}{
		{columns("id", "nope"), `f: no column "nope": the table has "id", "x", "x", if commas stand between fields`},
		{columns("id", "x"), `f: columns 2 and 3 are both called "x": ask by number`},
		{columns("id", "X"), `f: columns 2 and 3 are both called "x": ask by number`},
		{columns("1", "4"), `f: no column 4: the table has 3 columns, if commas stand between fields`},
		{columns("0", "1"), `f: no column 0: the table has 3 columns, if commas stand between fields`},
	} {
		_, _, err := rows("id,x,x\n1,2,3\n", input.Options{Columns: c.columns})
		var ce *input.ColumnError
		require.ErrorAs(t, err, &ce)
		assert.EqualError(t, err, c.say)
	}
	for _, o := range []input.Options{
		{Columns: columns("id"), Header: input.Absent},
		{Columns: columns("1"), Delimiter: '"'},
		{Columns: columns("1"), Delimiter: '\n'},
	} {
		_, err := input.Stream("f", strings.NewReader("1\n"), o)
		var oe *input.OptionError
		require.ErrorAs(t, err, &oe)
	}
	broken := errors.New("broken")
	r, err := input.Stream("f", io.MultiReader(strings.NewReader("1,2\n3,"), iotest.ErrReader(broken)),
		input.Options{Columns: columns("1", "2")})
	require.NoError(t, err)
	k := make([]uint64, 9)
	n, err := r.Read(k, k)
	assert.Equal(t, 1, n)
	assert.ErrorIs(t, err, broken)
}

func TestSkipInvalid(t *testing.T) {
	got, skipped, err := rows("x\"y,z\n1,10\n*\n2,\\N\n2,20,5\n2\"2,1\n3,30\n",
		input.Options{Columns: columns("1", "2"), SkipInvalid: true})
	require.NoError(t, err)
	assert.Equal(t, [][2]uint64{{1, 10}, {3, 30}}, got)
	assert.EqualValues(t, 5, skipped)
	_, _, err = rows("1,10\n2,\"20\n3,30\n", input.Options{Columns: columns("1", "2"), SkipInvalid: true})
	assert.ErrorIs(t, err, input.ErrOpenQuote, "a quote that swallowed the rest of the file is no record to skip")
}

// Of records that are skipped none says how many fields the others have, be they
// the first ones or look like a header.
func TestFirstRecordsSkipped(t *testing.T) {
	for text, skips := range map[string]int64{
		"# made by, a tool, of, ours\n1,10\n3,30\n":      0, // taken for names
		"# made by a tool\n1,10\n3,30\n":                 1,
		"# made by a tool\n# on Monday\n1,10\n3,30\n":    2,
		"0,x,y\n1,10\n3,30\n":                            1,
		"\"#\"x\n0,x,y,z\n1,10\n1,2,3\n3,30\n":           3,
		"id,value,and,more\n1,10\n3,30,\n3\n3,30\n":      2,
		"id,value\n1,10\n# in between, too, and\n3,30\n": 1,
	} {
		got, skipped, err := rows(text, input.Options{Columns: columns("1", "2"), SkipInvalid: true})
		require.NoError(t, err, "%q", text)
		assert.Equal(t, [][2]uint64{{1, 10}, {3, 30}}, got, "%q", text)
		assert.Equal(t, skips, skipped, "%q", text)
	}
	// The columns were never there, which says more than that all was skipped.
	_, _, err := rows("1,2\n3,4\n", input.Options{Columns: columns("1", "9"), SkipInvalid: true})
	assert.EqualError(t, err, "f: no column 9: the table has 2 columns, if commas stand between fields")
	_, _, err = rows("# by us\n1,2\n", input.Options{Columns: columns("1", "2")})
	assert.EqualError(t, err, "f: no column 2: the table has 1 column (its first line looks like a comment)")
}

func TestDelimitedComments(t *testing.T) {
	for _, text := range []string{
		"# made by, a, tool\n1,10\n#2,20\n3,30\n",
		"# made by\r\n# us\r\n\r\nid,value\r\n1,10\r\n#\r\n3,30",
		"id,value\n1,10\n3,30\n# end",
		"\ufeff#\n1,10\n3,30\n",
	} {
		for _, skip := range []bool{false, true} {
			got, skipped, err := rows(text, input.Options{Columns: columns("1", "2"), Comment: '#', SkipInvalid: skip})
			require.NoError(t, err, "%q", text)
			assert.Equal(t, [][2]uint64{{1, 10}, {3, 30}}, got, "%q", text)
			assert.Zero(t, skipped, "%q", text)
		}
	}
	for _, c := range []rune{',', '"', '\n', '\r', 0xfffd} {
		_, err := input.Stream("f", strings.NewReader("1,2\n"), input.Options{Columns: columns("1"), Comment: c})
		var oe *input.OptionError
		require.ErrorAs(t, err, &oe, "%q", c)
	}
}

// Lines that end in carriage returns alone would be one record, and the first: a
// header without a table.
func TestDelimitedCarriageReturns(t *testing.T) {
	for _, text := range []string{"id,value\r1,10\r3,30\r", "1,10\r3,30", "# by us\r1,10\r"} {
		for _, skip := range []bool{false, true} {
			_, _, err := rows(text, input.Options{Columns: columns("1", "2"), SkipInvalid: skip, Comment: '#'})
			require.ErrorIs(t, err, input.ErrCarriageReturns, "%q", text)
			assert.EqualError(t, err, `f: its lines end in carriage returns alone: make them line feeds (tr '\r' '\n')`)
		}
	}
	_, _, err := rows("\"a\",\"b\"\r1,10\r", input.Options{Columns: columns("1", "2")})
	require.ErrorIs(t, err, input.ErrCarriageReturns)
	got, _, err := rows("1,\"1\r0\"\n1,10\r\n3,30\r\n", input.Options{Columns: columns("1", "2"), SkipInvalid: true})
	require.NoError(t, err)
	assert.Equal(t, [][2]uint64{{1, 10}, {3, 30}}, got)
}

// endless repeats a text.
type endless struct {
	text string
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	for n := 0; n < len(p); {
		copied := copy(p[n:], e.text[e.read%int64(len(e.text)):])
		n, e.read = n+copied, e.read+int64(copied)
	}
	return len(p), nil
}

// What never ends a record is given up on before it takes much memory, also where
// invalid records are skipped.
func TestEndlessRecords(t *testing.T) {
	for begin, text := range map[string]string{"1": "1", "2": "1,", "\"": "a\nb", "": ","} {
		for _, skip := range []bool{false, true} {
			tail := &endless{text: text}
			r, err := input.Stream("f", io.MultiReader(strings.NewReader("1,10\n2,20\n"+begin), tail),
				input.Options{Columns: columns("1", "2"), SkipInvalid: skip})
			require.NoError(t, err)
			a, b := make([]uint64, 9), make([]uint64, 9)
			n, err := r.Read(a, b)
			assert.Equal(t, 2, n)
			require.ErrorIs(t, err, input.ErrLongRecord)
			assert.EqualError(t, err, "f:3: a record of more than 4 MiB")
			assert.Less(t, tail.read, int64(6<<20))
		}
	}
	_, err := input.Stream("f", &endless{text: "x"}, input.Options{Columns: columns("1"), SkipInvalid: true})
	assert.ErrorIs(t, err, input.ErrLongRecord)
	// One of 3 MiB is read.
	got, _, err := rows("1,10,"+strings.Repeat("x", 3<<20)+"\n2,20,\n", input.Options{Columns: columns("1", "2")})
	require.NoError(t, err)
	assert.Len(t, got, 2)
}

// FuzzRead checks that what comes out is what encoding/csv and package keytype find, and
// that nothing but a typed error comes instead.
func FuzzDelimited(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "1,2\n3\n", "\"1\",2\n", "1,\"2\n3,4", "a\n", "\xfe\xff",
		"\xff\xfe1\x00,\x002\x00\n\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := rows(text, input.Options{Columns: columns("1", "2"), Header: input.Absent, Delimiter: ','})
		if err != nil {
			var line *input.LineError
			var ce *input.ColumnError
			var whole *input.Error
			if !errors.As(err, &line) && !errors.As(err, &ce) && !errors.As(err, &whole) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if strings.HasPrefix(text, "\xfe\xff") || strings.HasPrefix(text, "\xff\xfe") {
			if text, err = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder().String(text); err != nil {
				t.Fatal(err)
			}
		}
		plain := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		plain.FieldsPerRecord = -1 // what isn't blank has as many as the first, or there was an error
		records, err := plain.ReadAll()
		records = slices.DeleteFunc(records, func(r []string) bool {
			return len(r) == 1 && r[0] != "" && strings.TrimSpace(r[0]) == ""
		})
		if err != nil || len(records) != len(got) {
			t.Fatalf("%q: %d records, want %d (%v)", text, len(got), len(records), err)
		}
		for i, r := range records {
			a, _ := keytype.Uint32.Parse(r[0])
			b, _ := keytype.Uint32.Parse(r[1])
			if got[i] != [2]uint64{a, b} {
				t.Fatalf("%q: record %d is %v, want %v", text, i, got[i], r)
			}
		}
	})
}
