package graphfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/stress"
	"pgregory.net/rapid"
)

// Whatever the blocks, edges that are parsed ahead by several goroutines are those that a reader of one line after the
// other finds: the same edges, numbers of vertices, notes and lines passed over, and the same error.
func TestAheadIsAsLines(t *testing.T) {
	for range 1 + 100*stress.Level {
		rapid.Check(t, func(t *rapid.T) {
			text, o := drawList(t), Options{}
			if o.Format = EdgeList; strings.HasPrefix(text, banner) {
				o.Format = MatrixMarket
				o.Weighted = rapid.Bool().Draw(t, "weighted")
			} else {
				drawOptions(t, &o)
			}
			o.block = -1
			expected := readAll(t, text, o, 7, false)
			o.block = rapid.IntRange(1, 64).Draw(t, "block")
			most, eager := rapid.IntRange(1, 9).Draw(t, "most"), rapid.Bool().Draw(t, "eager")
			require.Equal(t, expected, readAll(t, text, o, most, eager), "%q", text)
		})
	}
}

func drawOptions(t *rapid.T, o *Options) {
	o.Header = rapid.SampledFrom([]input.Header{input.Detect, input.Absent, input.Present}).Draw(t, "header")
	o.SkipInvalid = rapid.Bool().Draw(t, "skip")
	o.Comment = rapid.SampledFrom([]rune{0, '/', 'ü'}).Draw(t, "comment")
	o.From = rapid.SampledFrom([]string{"", "1", "2", "3"}).Draw(t, "from")
	o.To = rapid.SampledFrom([]string{"", "1", "2", "5"}).Draw(t, "to")
	o.Weight = rapid.SampledFrom([]string{"", "1", "3", "4"}).Draw(t, "weight")
	if rapid.Bool().Draw(t, "typed") {
		o.ID.Type = rapid.SampledFrom([]keytype.Type{keytype.Uint64, keytype.Int64}).Draw(t, "type")
		o.ID.Wider = o.ID.Type.Wider()
	}
}

// drawList draws a list of edges or a matrix, most of whose lines are plain.
func drawList(t *rapid.T) string {
	end := rapid.SampledFrom([]string{"\n", "\r\n", " \n"}).Draw(t, "end")
	usual := rapid.SampledFrom([]string{"1", "2", "3", "7", "9", "70000", "4294967295", "999999999999999999"})
	odd := rapid.SampledFrom([]string{"0", "-1", "007", "+3", "1000000000000000000", "18446744073709551615",
		"4294967296", "18446744073709551616", "x", "1.0", "2.5", "1e3", "1,2", "3;4", "ü", "\u00a0", "5\u00855",
		strings.Repeat("6", 70)})
	fields := rapid.IntRange(2, 4).Draw(t, "fields")
	rows := rapid.IntRange(0, 20).Draw(t, "rows")
	var text strings.Builder
	if rapid.Bool().Draw(t, "matrix") {
		field := rapid.SampledFrom([]string{"pattern", "real", "integer"}).Draw(t, "field")
		usual, fields = rapid.SampledFrom([]string{"1", "2", "9"}), 3
		if field == "pattern" {
			fields = 2
		}
		said := max(0, rows+rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "said"))
		fmt.Fprintf(&text, "%s matrix coordinate %s general\n%% about\n9 9 %d\n", banner, field, said)
	}
	for range rows {
		line := make([]string, fields)
		for i := range line {
			line[i] = usual.Draw(t, "field")
		}
		switch rapid.IntRange(0, 11).Draw(t, "what") {
		case 0:
			line[rapid.IntRange(0, fields-1).Draw(t, "at")] = odd.Draw(t, "odd")
		case 1:
			line = append(line, "more")
		case 2:
			line = line[:rapid.IntRange(0, fields-1).Draw(t, "left")]
		case 3:
			text.WriteString(rapid.SampledFrom([]string{"", " ", "# 1 2", "  % 3", "/ 4 5", "ü 6 7", "# nodes edges",
				"-1"}).Draw(t, "line") + end)
		case 4:
			line[0] = "\t " + line[0]
		}
		between := rapid.SampledFrom([]string{" ", "\t", "  "}).Draw(t, "between")
		text.WriteString(strings.Join(line, between) + end)
	}
	if rapid.Bool().Draw(t, "unended") {
		return strings.TrimSuffix(text.String(), end)
	}
	return text.String()
}

// readAll says all that a reader finds in a text.
func readAll(t *rapid.T, text string, o Options, most int, eager bool) string {
	return readAllOf(strings.NewReader(text), o, most, eager)
}

// All cores read the rest of a file after its first lines.
func TestRestOfList(t *testing.T) {
	text := "# a comment\n# another one\n"
	for i := range 60_000 {
		text += fmt.Sprintf("%d %d\n", i%977, i*7%1009)
		if i%7000 == 0 {
			text += "# in between\nx y\n"
		}
	}
	path := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	for _, skip := range []bool{false, true} {
		o := Options{Format: EdgeList, SkipInvalid: skip, block: 5000}
		want := readAllOf(strings.NewReader(text), o, 1000, true)
		f, err := input.OpenFile(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, want, readAllOf(f, o, 1000, true))
		if read, size := f.Position(); skip {
			require.Equal(t, size, read)
		}
		require.NoError(t, f.Close())
	}
}

func readAllOf(from io.Reader, o Options, most int, eager bool) string {
	var all strings.Builder
	o.Note = func(note string) { fmt.Fprintln(&all, note) }
	v := newVertices(o.ID)
	l, err := newLines("list", from, eager)
	if err != nil {
		return err.Error()
	}
	var s source
	if o.Format == MatrixMarket {
		s, err = newMatrixMarket(l, o, v)
	} else {
		s, err = newEdgeList(l, o, v)
	}
	var edges Edges
	for err == nil {
		err = s.read(&edges, most)
	}
	for i, from := range edges.From {
		fmt.Fprint(&all, v.Word(from), "-", v.Word(edges.To[i]))
		if s.weighted() {
			fmt.Fprint(&all, ":", edges.Weights[i])
		}
		fmt.Fprintln(&all, " ", from, edges.To[i])
	}
	fmt.Fprintln(&all, v.Type(), v.Len(), s.skipped(), len(edges.Weights), edges.Floats)
	if err != io.EOF {
		fmt.Fprintln(&all, err)
	}
	return all.String()
}
