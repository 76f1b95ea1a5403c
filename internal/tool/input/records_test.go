package input

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Records are those of encoding/csv, with the lines of their fields and the places of their faults, but for line ends
// in quotes, which stay as they are.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b c", ",", ",", ";", "\"", "\"\"", "\n", "\n", "\r\n", "\r", "#", " ",
			"ü", strings.Repeat("x", 40)})
		text := strings.Join(rapid.SliceOfN(part, 0, 30).Draw(t, "parts"), "")
		delimiter := rapid.SampledFrom([]rune{',', ';', ' ', 'ü'}).Draw(t, "delimiter")
		comment := rapid.SampledFrom([]rune{0, '#'}).Draw(t, "comment")
		plain := csv.NewReader(strings.NewReader(text))
		plain.Comma, plain.Comment, plain.FieldsPerRecord = delimiter, comment, -1
		r := newRecords(bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(text)), 16), delimiter, comment)
		for {
			want, wrong := plain.Read()
			blank := wrong == nil && len(want) == 1 && want[0] != "" && strings.TrimSpace(want[0]) == ""
			if blank && !quotedBlank(text, plain) {
				continue
			}
			got, err := r.read()
			var parse *csv.ParseError
			if errors.As(wrong, &parse) {
				var quote *quoteError
				require.ErrorAs(t, err, &quote, "%q", text)
				require.Equal(t, parse.StartLine, r.start, "%q", text)
				// A carriage return that ends the text in an open quote has a column here, and none there.
				if !quote.open && !strings.HasSuffix(strings.TrimSuffix(text, "\n"), "\r") {
					require.Equal(t, parse.Column, quote.column, "%q", text)
				}
				continue
			}
			require.Equal(t, wrong, err, "%q", text)
			if err == io.EOF {
				return
			}
			for i := range got {
				got[i] = strings.ReplaceAll(got[i], "\r\n", "\n")
				line, _ := plain.FieldPos(i)
				require.Equal(t, line, r.numbers[i], "%q", text)
			}
			require.Equal(t, want, got, "%q", text)
		}
	})
}

// quotedBlank tells whether the last record is blanks in quotes, which are a value.
func quotedBlank(text string, r *csv.Reader) bool {
	line, _ := r.FieldPos(0)
	return strings.HasPrefix(strings.SplitAfter(text, "\n")[line-1], "\"")
}

// A CRLF in quotes is another text than a line feed.
func TestLineEndsInQuotes(t *testing.T) {
	records, all := recordsOf([]byte("\"a\r\nb\",1\r\n\"a\nb\",2\n\"\r\n\r\n\",\"x\"\r\n"), true, ',', 0)
	assert.Equal(t, [][]string{{"a\r\nb", "1"}, {"a\nb", "2"}, {"\r\n\r\n", "x"}}, records)
	assert.Equal(t, 3, all)
}
