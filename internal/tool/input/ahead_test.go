package input

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/stress"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

// Whatever the blocks, rows that are parsed ahead by several goroutines are those that records have: in their order,
// with the same types and errors, and the same number of them passed over.
func TestAheadIsAsRecords(t *testing.T) {
	for range 1 + 100*stress.Level {
		rapid.Check(t, func(t *rapid.T) { compareAhead(t, drawTable(t)) })
	}
}

func FuzzAhead(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { compareAhead(t, drawTable(t)) }))
}

// drawTable draws a text, most of whose lines are plain rows.
func drawTable(t *rapid.T) string {
	end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
	fields := rapid.IntRange(1, 4).Draw(t, "fields")
	usual := rapid.SampledFrom([]string{"7", "-12", "4294967295", "4294967296", "0", "12.5", "Ann", "192.0.2.1",
		"2024-05-06 07:08:09", "999999999999999999", "1234567", "12345678", "-123456789", "123456789012345",
		"1234567890123456", "12345678901234567", "1e3", "", "2024-05-06 07:08:09", "2024-05-06"})
	odd := rapid.SampledFrom([]string{"", " 5", "5 ", "007", "+3", "-0", "18446744073709551615", "9223372036854775808",
		"-9223372036854775808", "1000000000000000000", "x", "NA", "\"8\"", "\"a,b\"", "\"c\"\"d\"", "\"e\nf\"", "\"g",
		"h\"i", "j\rk",
		"#", "\r", "0x10", "ü", "\xac", "\"\xac\"", "1234567\xac", "-", "2024-05-06 07:08:09.25",
		"2024-05-06 07:08:09.25", strings.Repeat("long ", 9)})
	var rows strings.Builder
	column := make([]string, fields)
	for i := range column {
		column[i] = usual.Draw(t, "usual")
	}
	for range rapid.IntRange(0, 20).Draw(t, "rows") {
		what := rapid.IntRange(0, 11).Draw(t, "what")
		line := make([]string, fields)
		for i := range line {
			if line[i] = column[i]; what == 0 {
				line[i] = usual.Draw(t, "field")
			}
		}
		switch what {
		case 1, 5, 6:
			line[rapid.IntRange(0, fields-1).Draw(t, "at")] = odd.Draw(t, "odd")
		case 2:
			line = append(line, "more")
		case 3:
			line = line[:fields-1]
		case 4:
			rows.WriteString(rapid.SampledFrom([]string{"", " ", "#", "#" + strings.Join(line, ","), ","}).
				Draw(t, "line") + end)
		}
		rows.WriteString(strings.Join(line, ",") + end)
	}
	text := rows.String()
	if rapid.Bool().Draw(t, "unended") {
		text = strings.TrimSuffix(text, end)
	}
	return text
}

func compareAhead(t *rapid.T, text string) {
	delimiter := rapid.SampledFrom([]rune{0, ',', ',', ';', '\t', ' ', '!', '#', '7', '-', 'ü'}).Draw(t, "delimiter")
	if delimiter != 0 {
		text = strings.ReplaceAll(text, ",", string(delimiter))
	}
	o := Options{Format: CSV, Delimiter: delimiter,
		Comment:     rapid.SampledFrom([]rune{0, '#'}).Draw(t, "comment"),
		Header:      rapid.SampledFrom([]Header{Detect, Absent, Present}).Draw(t, "header"),
		SkipInvalid: rapid.Bool().Draw(t, "skip"), SkipNull: rapid.Bool().Draw(t, "skip nulls"),
		KeepNull: rapid.Bool().Draw(t, "keep nulls")}
	if rapid.Bool().Draw(t, "null") {
		null := rapid.SampledFrom([]string{"0", "-1", "none"}).Draw(t, "null is")
		o.Null = &null
	}
	for i := range rapid.IntRange(1, 3).Draw(t, "columns") {
		c := Column{Name: fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "column")), Flag: fmt.Sprintf("--type-%d", i)}
		if c.Any = rapid.Bool().Draw(t, "any"); !c.Any {
			c.Type = rapid.SampledFrom([]keytype.Type{keytype.Uint32, keytype.Uint64, keytype.Int32, keytype.Int64,
				keytype.Float64, keytype.Time, keytype.IPv4, keytype.Hex, keytype.Text}).Draw(t, "type")
		}
		if c.Any || rapid.Bool().Draw(t, "wider") {
			c.Wider = c.Type.Wider()
		}
		o.Columns = append(o.Columns, c)
	}
	if o.All = rapid.Bool().Draw(t, "all"); !o.All {
		o.Verbatim = rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3"}), 0, 2).Draw(t, "verbatim")
	}
	o.Records = rapid.Bool().Draw(t, "records")
	if as := o.Columns[0]; rapid.Bool().Draw(t, "as") {
		o.As = func(string, int) Column { return as }
	}
	read := rapid.SampledFrom([]func(io.Reader) io.Reader{
		func(r io.Reader) io.Reader { return r },
		func(r io.Reader) io.Reader { return restful{r.(*strings.Reader)} },
		iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader, func(r io.Reader) io.Reader {
			return io.MultiReader(r, iotest.ErrReader(io.ErrUnexpectedEOF))
		}}).Draw(t, "reader")
	size := rapid.IntRange(1, 9).Draw(t, "rows at a time")
	alone := o
	alone.slow = true
	o.block, o.eager = rapid.IntRange(1, 64).Draw(t, "block"), rapid.Bool().Draw(t, "eager")
	want := readAllOf(read(strings.NewReader(text)), alone, size)
	require.Equal(t, want, readAllOf(read(strings.NewReader(text)), o, size), "%q", text)
}

// Whole records have what the columns of a table have, as they are written.
func TestRecordsAreColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawTable(t)
		o := Options{Format: CSV, Delimiter: ',', Header: Absent, All: true, SkipInvalid: rapid.Bool().Draw(t, "skip"),
			Columns: []Column{{Name: "1", Type: keytype.Text}}, block: rapid.IntRange(1, 64).Draw(t, "block")}
		all := func(o Options) (lines []string, err error) {
			r, err := newReader("f", strings.NewReader(text), o)
			if err != nil {
				return nil, err
			}
			columns := make([][]uint64, r.Width())
			for c := range columns {
				columns[c] = make([]uint64, 100)
			}
			n, err := r.Read(columns...)
			for i := range n {
				require.Equal(t, n, r.Texts()[0].Len())
				line := append([]byte(nil), r.Texts()[0].At(columns[0][i])...)
				line = append(line, " | "...)
				if r.Records() {
					lines = append(lines, string(append(line, r.Texts()[1].At(columns[1][i])...)))
					continue
				}
				for c := range columns[1:] {
					if c > 0 {
						line = append(line, ',')
					}
					if field := r.Texts()[1+c].At(columns[1+c][i]); len(field) > 0 {
						line = AppendCSV(line, field)
					}
				}
				lines = append(lines, string(line))
			}
			return lines, err
		}
		want, wrong := all(o)
		o.Records = true
		got, err := all(o)
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, fmt.Sprint(wrong), fmt.Sprint(err))
	})
}

// restful says where its text goes on, as a File does.
type restful struct{ *strings.Reader }

func (r restful) Rest(read int64) (io.ReaderAt, int64) {
	if taken := r.Size() - int64(r.Len()); taken != read {
		return nil, 0
	}
	return r.Reader, read
}

// Lines that all cores parse are those that one core parses: values and texts in their order, with the same types and
// errors, and the same number of lines passed over.
func TestLinesAhead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		usual := rapid.SampledFrom([]string{"7", "12", "4294967295", "word", "two words"}).Draw(t, "usual")
		odd := rapid.SampledFrom([]string{"", " ", "5", "007", "-3", "4294967296", "18446744073709551615", "1.5",
			"18446744073709551616", "x", " y ", "#c", "\r", "NA", "1:2", strings.Repeat("long ", 9)})
		var text strings.Builder
		for range rapid.IntRange(0, 60).Draw(t, "lines") {
			line := usual
			if rapid.IntRange(0, 9).Draw(t, "what") == 0 {
				line = odd.Draw(t, "odd")
			}
			text.WriteString(line + end)
		}
		written := text.String()
		if rapid.Bool().Draw(t, "unended") {
			written = strings.TrimSuffix(written, end)
		}
		o := Options{Format: rapid.SampledFrom([]Format{Text, Lines}).Draw(t, "format"),
			Comment:     rapid.SampledFrom([]rune{0, '#'}).Draw(t, "comment"),
			Header:      rapid.SampledFrom([]Header{Detect, Absent, Present}).Draw(t, "header"),
			SkipInvalid: rapid.Bool().Draw(t, "skip"), SkipNull: rapid.Bool().Draw(t, "skip nulls"),
			Columns: []Column{{Any: rapid.Bool().Draw(t, "any")}}}
		if c := &o.Columns[0]; !c.Any {
			c.Type = rapid.SampledFrom([]keytype.Type{keytype.Uint32, keytype.Uint64, keytype.Int64, keytype.Float64,
				keytype.Text}).Draw(t, "type")
		}
		if c := &o.Columns[0]; c.Any || rapid.Bool().Draw(t, "wider") {
			c.Wider = c.Type.Wider()
		}
		size := rapid.IntRange(1, 9).Draw(t, "rows at a time")
		want := readAllOf(strings.NewReader(written), o, size)
		o.block, o.eager = rapid.IntRange(1, 64).Draw(t, "block"), true
		require.Equal(t, want, readAllOf(strings.NewReader(written), o, size), "%q", written)
		require.Equal(t, want, readAllOf(restful{strings.NewReader(written)}, o, size), "%q", written)
	})
}

// A file is read by all cores after its first lines, if its text is what it holds.
func TestRestOfFile(t *testing.T) {
	var rows strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&rows, "%d,name %d,%d\n", i, i%77, i*i)
		if i%5000 == 4999 {
			fmt.Fprintf(&rows, "%d,%s,7\n", i, strings.Repeat("long", 10_000))
		}
	}
	text := rows.String()
	utf16, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		text   string
		inRest bool
	}{
		"plain": {text, true}, "no last line end": {text + "1,2,3", true}, "mark": {"\ufeff" + text, true},
		"CRLF": {strings.ReplaceAll(text, "\n", "\r\n"), true}, "UTF-16": {utf16, false},
		"CR":        {strings.ReplaceAll(text, "\n", "\r"), true}, // which ends it early
		"bad field": {text + "x,y,z\n" + text, true},
	} {
		path := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
		for _, block := range []int{3000, 100_000} {
			o := Options{Format: CSV, Header: Absent, Delimiter: ',', block: block,
				Columns: []Column{{Name: "1", Type: keytype.Uint32}, {Name: "2", Type: keytype.Text}}}
			want := readAllOf(strings.NewReader(c.text), o, 1000)
			f, err := OpenFile(t.Context(), path)
			require.NoError(t, err)
			f.name, o.eager = "f", true
			require.Equal(t, want, readAllOf(f, o, 1000), name)
			offset, err := f.raw.Seek(0, io.SeekCurrent)
			require.NoError(t, err)
			require.Equal(t, c.inRest, offset < int64(len(c.text)), name)
			require.NoError(t, f.Close())
		}
	}
}

// A file that is cut or closed while it is read ends there.
func TestRestIsCut(t *testing.T) {
	text := strings.Repeat("1,2,3\n", 100_000)
	path := filepath.Join(t.TempDir(), "f")
	for _, cut := range []int64{0, 6 * 50_000, 6*50_000 + 3} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		f, err := OpenFile(t.Context(), path)
		require.NoError(t, err)
		r, err := newReader("f", f, Options{Format: CSV, Header: Absent, Delimiter: ',', block: 1000, eager: true,
			Columns: []Column{{Name: "1", Type: keytype.Uint32}}})
		require.NoError(t, err)
		column := make([]uint64, 1000)
		n, err := r.Read(column)
		require.NoError(t, err)
		require.Equal(t, 1000, n)
		require.NoError(t, os.Truncate(path, cut))
		all := n
		for err == nil {
			n, err = r.Read(column)
			all += n
		}
		if cut%6 == 0 {
			require.ErrorIs(t, err, io.EOF)
			require.GreaterOrEqual(t, all, int(cut/6))
			require.Less(t, all, 60_000)
		} else { // a half line has fewer fields
			require.ErrorContains(t, err, "2 fields")
		}
		require.NoError(t, f.Close())
	}
}

// readAllOf describes all that reading a text says.
func readAllOf(in io.Reader, o Options, size int) (all []string) {
	o.Note = func(text string) { all = append(all, text) }
	r, err := newReader("f", in, o)
	if err != nil {
		return append(all, err.Error())
	}
	return append(all, readAll(r, size)...)
}

// readAll describes what a reader returns.
func readAll(r *Reader, size int) (all []string) {
	all = append(all, r.Names()...)
	columns := make([][]uint64, r.Width())
	for i := range columns {
		columns[i] = make([]uint64, size)
	}
	for again := 0; again < 2; {
		n, err := r.Read(columns...)
		all = append(all, fmt.Sprint(n, err, r.Types(), r.Skipped(), r.SkippedNulls(), r.Nulls()))
		for i, c := range columns {
			for row, w := range c[:n] {
				if i < len(r.Nulls()) && slices.Contains(r.Nulls()[i], row) { // its word means nothing
					all = append(all, "-")
				} else if r.Types()[i] == keytype.Text {
					all = append(all, string(r.Texts()[i].At(w)))
				} else {
					all = append(all, r.Types()[i].Format(w))
				}
			}
		}
		if err != nil {
			again++
		}
	}
	return all
}

// Several columns of text are filled at the same time. When one of them has enough for a Read, all have the same rows.
func TestTextsOfOneRead(t *testing.T) {
	const rows = 50_000
	var text strings.Builder
	pad := strings.Repeat("p", 2000)
	for i := range rows {
		fmt.Fprintf(&text, "a%d,%s%d,c%d\n", i, pad, i, i)
	}
	r, err := newReader("f", strings.NewReader(text.String()), Options{Format: CSV, Delimiter: ',', Header: Absent,
		Columns: []Column{{Name: "1", Type: keytype.Text}}, Verbatim: []string{"2", "3"}})
	require.NoError(t, err)
	columns := [][]uint64{make([]uint64, rows), make([]uint64, rows), make([]uint64, rows)}
	read, reads := 0, 0
	for read < rows {
		n, err := r.Read(columns...)
		require.NoError(t, err)
		for i := range n {
			for c, want := range []string{"a", pad, "c"} {
				require.Equal(t, want+fmt.Sprint(read+i), string(r.Texts()[c].At(columns[c][i])))
			}
		}
		for _, texts := range r.Texts() {
			require.Equal(t, n, texts.Len())
		}
		read, reads = read+n, reads+1
	}
	require.Equal(t, 2, reads)
}
