package input_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"pgregory.net/rapid"
)

// asIs are the rows of two columns, or others, of a text of which nothing is said, and what was noted.
func asIs(t require.TestingT, text string, o input.Options) (rows []string, notes string, err error) {
	if o.Columns == nil {
		o.Columns = []input.Column{unsaid(""), unsaid("")}
	}
	if o.Format == input.Auto {
		o.Format = input.CSV
	}
	o.Note = func(text string) { notes += text + "\n" }
	r, err := input.Stream("f", strings.NewReader(text), o)
	if err == nil {
		rows, err = shown(t, r, 3)
	}
	return rows, notes, err
}

// A number with a leading zero is a code: 007 is not 7. That makes its column text, unless somebody has said what it
// holds.
func TestLeadingZeros(t *testing.T) {
	for text, want := range map[string]string{
		"zip,town\n01234,A\n1234,B\n00501,C\n":      "01234|A 1234|B 00501|C",
		"id,phone\n1,0301234\n2,0809999\n":          "1|0301234 2|0809999",
		"1,-007\n2,7\n":                             "1|-007 2|7",
		"+4930123,1\n4930123,2\n":                   "+4930123|1 4930123|2",
		"1,+5 \n2,5\n":                              "1|+5  2|5",
		"1,+0.5\n2,5\n":                             "1|0.5 2|5",
		strings.Repeat("5,1\n", 5000) + "+5,1\n":    strings.Repeat("5|1 ", 5000) + "+5|1",
		"1,0\n2,0x10\n":                             "1|0 2|16",
		"1,00\n2,x\n":                               "1|00 2|x",
		strings.Repeat("5,1\n", 5000) + "05,1\n":    strings.Repeat("5|1 ", 5000) + "05|1",
		"id,n\n" + strings.Repeat(`"01",1`+"\n", 3): "01|1 01|1 01|1",
	} {
		rows, _, err := asIs(t, text, input.Options{})
		require.NoError(t, err)
		assert.Equal(t, want, strings.Join(rows, " "), "%.40q", text)
	}
	text := input.Options{Format: input.Text, Columns: []input.Column{unsaid("")}}
	rows, _, err := asIs(t, "007\n7\n0870\n870\n", text)
	require.NoError(t, err)
	assert.Equal(t, []string{"007", "7", "0870", "870"}, rows)
	// Where it comes late, the column isn't made numbers, also where invalid rows are skipped, and can be read as text.
	late := strings.Repeat("1234567\n", 20000) + "007\n8\n"
	for _, skip := range []bool{false, true} {
		text.SkipInvalid = skip
		for _, csv := range []bool{false, true} {
			o, in := text, late
			if csv {
				o.Format, in = input.CSV, strings.ReplaceAll(late, "\n", ",\n")
			}
			_, _, err = asIs(t, in, o)
			require.ErrorContains(t, err, "f:20001: ")
			o.Columns = slices.Clone(o.Columns)
			require.True(t, input.TakeForText(o.Columns, err))
			rows, _, err = asIs(t, in, o)
			require.NoError(t, err)
			assert.Equal(t, []string{"007", "8"}, rows[20000:])
		}
	}
	said := input.Options{Format: input.Text, Columns: []input.Column{{Type: keytype.Uint32}}}
	rows, _, err = asIs(t, late, said)
	require.NoError(t, err)
	assert.Equal(t, "7", rows[20000])
}

// Columns are taken for what all of their values are.
func TestTypesOfColumns(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1.5,a\n2,b\n-3e2,c\n", "1.5|a 2|b -300|c"},
		{"at,n\n2014-07-01 00:00:00,1\n2014-07-02,2\n", "2014-07-01 00:00:00|1 2014-07-02 00:00:00|2"},
		{"2014-07-01T00:00:00.25Z,1\n", "2014-07-01 00:00:00.25|1"},
		{"10.0.0.1,1\n9.0.0.1,2\n", "10.0.0.1|1 9.0.0.1|2"},
		{"2001:db8::/64,1\n2001:0db8:1::/64,2\n", "2001:db8::/64|1 2001:db8:1::/64|2"},
		{"2001:db8::1,1\n::1,2\n", "2001:db8::1|1 ::1|2"},
		{"10.0.0.0/8,1\n10.0.0.0/16,2\n", "10.0.0.0/8|1 10.0.0.0/16|2"},
		{"10.0.0.1,1\n2001:db8::/64,2\n", "10.0.0.1|1 2001:db8::/64|2"},
		{"1066-10-14,1\n1492-10-12,2\n", "1066-10-14|1 1492-10-12|2"},
		{"true,1\nfalse,2\n", "true|1 false|2"},
		{"12_3,1\n1_23,2\n", "12_3|1 1_23|2"},
		{"123456789012345680000,1\n0.5,2\n", "123456789012345680000|1 0.5|2"},
		{"a,1\nb,\nc,3\n", "a|1 b|0 c|3"},
		{"1,NULL\n2,2.5\n,\\N\n", "1|0 2|2.5 0|0"},
	} {
		null := "0"
		rows, _, err := asIs(t, c.text, input.Options{Null: &null})
		require.NoError(t, err, "%q", c.text)
		assert.Equal(t, c.want, strings.Join(rows, " "), "%q", c.text)
	}
	column := unsaid("")
	column.Flag = "--type"
	for text, want := range map[string]string{
		"5\n1.5\n": "", // both are fractions
		"9007199254740993\n9007199254740992\n1.5\n": `f:3: "1.5" is not an integer (--type f64 reads it)`,
		"5\nx\n":             `f:2: "x" is not an integer (--type text reads it)`,
		"5\n2014-07-01\n":    `f:2: "2014-07-01" is not an integer (--type time reads it)`,
		"5\n10.0.0.1\n":      `f:2: "10.0.0.1" is not an integer (--type ip reads it)`,
		"5\n2001:db8::/64\n": `f:2: "2001:db8::/64" is not an integer (--type ip reads it)`,
		"2001:db8::/64\n::/48": "f:2: ::/48 is a range of networks of /64, and a key is one of them " +
			"(--type text reads it)",
		"5\n20000000000000000000\n": "f:2: 20000000000000000000 is out of range (0 to 18446744073709551615) " +
			"(--type text reads it)",
	} {
		_, _, err := asIs(t, text, input.Options{Format: input.Text, Columns: []input.Column{column}})
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, want)
	}
	long := strings.Repeat("5\n", 50000)
	_, _, err := asIs(t, long+"1.5\n", input.Options{Format: input.Text, Columns: []input.Column{column}})
	assert.EqualError(t, err, `f:50001: "1.5" is not an integer (--type f64 reads it)`)
	column.Type, column.Any, column.Wider = keytype.Uint32, false, nil
	_, _, err = asIs(t, "4294967296\n", input.Options{Format: input.Text, Columns: []input.Column{column}})
	assert.EqualError(t, err, `f:1: 4294967296 is out of range (0 to 4294967295) (--type u64 reads it)`)
}

// Rows without a value are passed over and counted, or have the value that is said.
func TestNulls(t *testing.T) {
	const text = "k,v\n1,10\n,20\n3,NULL\n4,\\N\n5,NaN\n6,60\n"
	o := input.Options{SkipNull: true, Columns: []input.Column{unsaid(""), unsaid("")}, Format: input.CSV}
	r, err := input.Stream("f", strings.NewReader(text), o)
	require.NoError(t, err)
	rows, err := shown(t, r, 2)
	require.NoError(t, err)
	assert.Equal(t, []string{"1|10", "6|60"}, rows)
	assert.EqualValues(t, 4, r.SkippedNulls())
	assert.Zero(t, r.Skipped())
	kept := o
	kept.KeepNull = true
	r, err = input.Stream("f", strings.NewReader(text), kept)
	require.NoError(t, err)
	words := [][]uint64{make([]uint64, 4), make([]uint64, 4)}
	for _, want := range []struct {
		keys, values []uint64
		nulls        [][]int
	}{
		{[]uint64{1, 0, 3, 4}, []uint64{10, 20, 0, 0}, [][]int{{1}, {2, 3}}},
		{[]uint64{5, 6}, []uint64{0, 60}, [][]int{nil, {0}}},
	} {
		n, err := r.Read(words...)
		require.NoError(t, err)
		assert.Equal(t, want.keys, words[0][:n])
		assert.Equal(t, want.values, words[1][:n])
		for c, rows := range r.Nulls() {
			assert.ElementsMatch(t, want.nulls[c], rows)
		}
	}
	assert.Zero(t, r.SkippedNulls())
	// A row that is skipped because of another column is no null: neither the row behind it, nor one behind the end.
	kept.SkipInvalid = true
	kept.Columns = []input.Column{unsaid(""), {Type: keytype.Uint64, Wider: keytype.Uint64.Wider()}}
	r, err = input.Stream("f", strings.NewReader("1,18446744073709551615\n,x\n,-1\n2,2\n,-1\n"), kept)
	require.NoError(t, err)
	n, err := r.Read(words...)
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 2}, words[0][:n])
	assert.Empty(t, slices.Concat(r.Nulls()...))
	_, _, err = asIs(t, text, input.Options{})
	assert.EqualError(t, err, "f:3: column 1: empty where an integer should be")
	bad := "x"
	_, _, err = asIs(t, text, input.Options{Null: &bad})
	assert.EqualError(t, err, `f:3: column 1: has no value, and what is read instead won't do: "x" is not an integer`)
	// Text holds what is there.
	rows, _, err = asIs(t, "a,1\nNA,2\n,3\n", o)
	require.NoError(t, err)
	assert.Equal(t, []string{"a|1", "NA|2", "|3"}, rows)
}

// Whichever columns are read, and whatever flags name them, all columns of the file tell whether it has names.
func TestHeaderByAllColumns(t *testing.T) {
	for _, c := range []struct {
		text  string
		names bool
	}{
		{"name,city,age\nAnn,Ulm,30\nBob,Bonn,40\n", true},
		{"name,city\nAnn,Ulm\nBob,Bonn\n", false},
		{"from,to,weight\n1,2,5\n2,3,6\n", true},
		{"a,b,weight\nx,y,5\ny,z,6\n", true},
		{"a,b,7\nx,y,5\ny,z,6\n", false},
		{"zip,town\n01234,A\n00501,C\n", true},
		{",id,n\n0,5,6\n1,7,8\n", true},
		{"id,name,2nd name\n1,x,y\n2,z,w\n", true},
		{"country,2014\nA,1\nB,2\n", false},
		{"at,n\n2014-07-01,1\n2014-07-02,2\n", true},
	} {
		header := strings.Split(strings.SplitN(c.text, "\n", 2)[0], ",")
		for i := range header {
			for j := range header {
				o := input.Options{Columns: []input.Column{unsaid(fmt.Sprint(i + 1)), unsaid(fmt.Sprint(j + 1))},
					SkipInvalid: true}
				rows, _, err := asIs(t, c.text, o)
				require.NoError(t, err)
				has := len(rows) > 0 && rows[0] == header[i]+"|"+header[j]
				assert.False(t, c.names && has, "%q %d %d: %v", c.text, i, j, rows)
			}
		}
	}
	rows, notes, err := asIs(t, "name,city\nAnn,Ulm\nBob,Bonn\n", input.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{"name|city", "Ann|Ulm", "Bob|Bonn"}, rows)
	assert.Contains(t, notes,
		"f: the first line is taken for data, though it may hold names (--header says that it does)")
	_, notes, err = asIs(t, "Ann,Ulm\nAnn,Bonn\n", input.Options{})
	require.NoError(t, err)
	assert.NotContains(t, notes, "though")
}

// Text of UTF-16 is read by its mark, with the delimiter that a first line says, however it comes.
func TestOtherEncodings(t *testing.T) {
	text := "\ufeffsep=|\r\nnäme|n\r\n𝄞;x|1\r\n\"a,\r\nb\"|2\r\n"
	little, big := "", ""
	for _, u := range utf16.Encode([]rune(text)) {
		little, big = little+string([]byte{byte(u), byte(u >> 8)}), big+string([]byte{byte(u >> 8), byte(u)})
	}
	for _, text := range []string{text, little, big, strings.Replace(text, "sep=|", "\"sep=|\"", 1)} {
		rows, _, err := asIs(t, text, input.Options{})
		require.NoError(t, err)
		assert.Equal(t, []string{"𝄞;x|1", "a,\r\nb|2"}, rows)
		_, _, err = asIs(t, text, input.Options{Columns: []input.Column{unsaid("nope"), unsaid("n")}})
		assert.EqualError(t, err, `f: no column "nope": the table has "näme", "n"`)
	}
	for _, text := range []string{little[2:], big[2:], "\x007\x00\n", "7\x00\n\x00"} {
		_, _, err := asIs(t, text, input.Options{})
		require.ErrorIs(t, err, input.ErrUTF16, "%q", text)
	}
	for _, text := range []string{"a\x00b\x00c\n", "ab\x00\x00\n", "abcde\x00\n", "a\n\x00\x00", "\x00a\n"} {
		_, _, err := asIs(t, text, input.Options{}) // zeros are text, too
		require.NotErrorIs(t, err, input.ErrUTF16, "%q", text)
	}
	_, _, err := asIs(t, "sep=;\n1;2\n3;x\n", input.Options{})
	assert.EqualError(t, err, `f:3: column 2: "x" is not an integer`)
	keys, _, err := keysOf(little[:2]+"1\x002\x00\n\x00", input.Options{})
	require.NoError(t, err)
	assert.Equal(t, []uint64{12}, keys)
}

// Fields may be longer than what is looked at first.
func TestLongFields(t *testing.T) {
	long := strings.Repeat("long text, ", 20000)
	rows, _, err := asIs(t, fmt.Sprintf("name;n\n%sa;1\n%sb;2\n", long, long), input.Options{})
	require.NoError(t, err)
	assert.Equal(t, []string{long + "a|1", long + "b|2"}, rows)
	rows, _, err = asIs(t, long+"\n"+long+"x\n", input.Options{Format: input.Text,
		Columns: []input.Column{unsaid("")}})
	require.NoError(t, err)
	assert.Equal(t, []string{strings.TrimSpace(long), long + "x"}, rows)
}

// A table comes back as it was written, with any delimiter, quotes where they are needed or everywhere, and names above
// or not, with nothing said of it.
func TestTablesAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delimiter := rapid.SampledFrom([]string{",", "\t", ";"}).Draw(t, "delimiter")
		kinds := rapid.SliceOfN(rapid.SampledFrom([]string{"int", "code", "fraction", "time", "word", "phrase"}), 2, 6).
			Draw(t, "kinds")
		rows := rapid.IntRange(2, 20).Draw(t, "rows")
		quoteAll, header := rapid.Bool().Draw(t, "quoted"), rapid.Bool().Draw(t, "header")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		written := func(fields []string) string {
			var all []string
			for _, f := range fields {
				if quoteAll || strings.ContainsAny(f, delimiter+"\"\n\r") {
					f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
				}
				all = append(all, f)
			}
			return strings.Join(all, delimiter) + end
		}
		var text strings.Builder
		telling := false
		var names []string
		for i, kind := range kinds {
			names = append(names, fmt.Sprint("column", string(rune('a'+i))))
			telling = telling || kind != "word" && kind != "phrase"
		}
		if header = header && telling; header {
			text.WriteString(written(names))
		}
		var want []string
		for i := range rows {
			var fields []string
			for c, kind := range kinds {
				n := rapid.IntRange(0, 999).Draw(t, "n")
				fields = append(fields, map[string]string{
					"int": fmt.Sprint(n), "code": fmt.Sprintf("%05d", n), "fraction": fmt.Sprintf("%d.%d5", n, c),
					"time": fmt.Sprintf("2014-07-01 00:%02d:%02d", i, n%60), "word": fmt.Sprint("word", n, "x"),
					"phrase": fmt.Sprintf("Doe, \"J\" %s\r\n%d", string(rune('a'+n%20)), n)}[kind])
			}
			text.WriteString(written(fields))
			want = append(want, fields[0]+"|"+fields[len(fields)-1])
		}
		got, _, err := asIs(t, text.String(), input.Options{Columns: []input.Column{unsaid("1"),
			unsaid(fmt.Sprint(len(kinds)))}})
		require.NoError(t, err, "%q", text.String())
		require.Equal(t, want, got, "%q", text.String())
	})
}
