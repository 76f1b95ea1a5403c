package input

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/stress"
	"pgregory.net/rapid"
)

// plainOf returns a plain for columns of these types, which are at an index of the fields.
func plainOf(delimiter, comment rune, fields int, types []keytype.Type, index []int) *plain {
	columns := make([]*column, len(types))
	for c, t := range types {
		columns[c] = &column{Column: Column{Type: t}}
	}
	return newPlain(delimiter, comment, fields, columns, index)
}

var plainInteger = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,17})$`)

// checkPlain compares plain with what a regular expression finds in each line. Each field is read as a text, and those
// whose bit is set in integers as an integer, too.
func checkPlain(t require.TestingT, text string, delimiter, comment rune, fields int, integers uint, last bool) {
	var types []keytype.Type
	var index []int
	for f := range fields {
		types, index = append(types, keytype.Text), append(index, f)
		if integers>>f&1 != 0 {
			types, index = append(types, keytype.Int64), append(index, f)
		}
	}
	any := fmt.Sprintf(`("[^"\n]*"|[^"\n\x%02x]*)`, delimiter)
	row := regexp.MustCompile(`(?s)^` + any + strings.Repeat(fmt.Sprintf(`\x%02x`, delimiter)+any, fields-1) + `$`)
	want := parsed{columns: make([]parsedColumn, len(types))}
lines:
	for want.to < len(text) {
		line, _, ended := strings.Cut(text[want.to:], "\n")
		all := len(line) + 1
		if !ended {
			all--
		}
		line = strings.TrimSuffix(line, "\r")
		found := row.FindStringSubmatchIndex(line)
		if !ended && !last || found == nil || comment != 0 && strings.HasPrefix(line, string(comment)) ||
			fields == 1 && strings.TrimSpace(line) == "" {
			break
		}
		bounds := found[2:]
		for f := range fields {
			if begin, end := bounds[2*f], bounds[2*f+1]; begin < end && line[begin] == '"' {
				bounds[2*f], bounds[2*f+1] = begin+1, end-1
			}
			if field := line[bounds[2*f]:bounds[2*f+1]]; integers>>f&1 != 0 && !plainInteger.MatchString(field) {
				break lines
			}
		}
		for c, f := range index {
			x, begin, end := &want.columns[c], bounds[2*f], bounds[2*f+1]
			if types[c] == keytype.Text {
				x.texts.Add([]byte(line[begin:end]))
				continue
			}
			n, err := strconv.ParseInt(line[begin:end], 10, 64)
			require.NoError(t, err)
			x.integers = append(x.integers, n)
		}
		want.rows, want.to = want.rows+1, want.to+all
	}
	var got parsed
	plainOf(delimiter, comment, fields, types, index).parse(&got, []byte(text), 0, last)
	require.Equal(t, want.rows, got.rows, "%q", text)
	require.Equal(t, want.to, got.to, "%q", text)
	for c := range types {
		x, least, greatest := got.columns[c], int64(math.MaxInt64), int64(math.MinInt64)
		require.Equal(t, listed(&want.columns[c]), listed(&x), "%q", text)
		require.Equal(t, append([]int64{}, want.columns[c].integers...), append([]int64{}, x.integers...), "%q", text)
		for _, n := range x.integers {
			least, greatest = min(least, n), max(greatest, n)
		}
		require.LessOrEqual(t, x.least, least)
		require.GreaterOrEqual(t, x.greatest, greatest)
	}
}

func listed(x *parsedColumn) (all []string) {
	var arena keytype.Arena
	arena.AddList(&x.texts, 0, x.texts.Len())
	for i := range arena.Len() {
		all = append(all, string(arena.At(uint64(i))))
	}
	return all
}

// Numbers of all lengths and fields of all kinds are found at every place in the bytes that are looked at together,
// with any delimiter, and wherever the text ends.
func TestPlain(t *testing.T) {
	for range 1 + 100*stress.Level {
		rapid.Check(t, func(t *rapid.T) {
			delimiter := rapid.SampledFrom([]rune(",;\t !#|7-\x00\x7f")).Draw(t, "delimiter")
			comment := rapid.SampledFrom([]rune{0, '#', 'ü'}).Draw(t, "comment")
			fields := rapid.IntRange(1, 5).Draw(t, "fields")
			end := rapid.SampledFrom([]string{"\n", "\n", "\r\n", "\r\r\n"})
			number := rapid.StringMatching(`-?[1-9][0-9]{0,18}`)
			other := rapid.SampledFrom([]string{"", "", "0", "-", "-0", "00000000", `"`, `""`, `"8"`, `"12345678"`,
				`"-1"`, `"5`, `5"`, `1"2`, "\r", "\"\r", "12\r", "ü", "\xac\xa2\x8a", "\"\xac\"", "#", "ü1", " ",
				"\"\n\"", "\x01", "\x0b", "1234567/", "1234567:", "\"a,b;c\td e!#|\x00\"", strings.Repeat("x", 70),
				`"` + strings.Repeat("y", 70) + `"`, string(delimiter), string(delimiter ^ 1),
				string([]byte{byte(delimiter) | 0x80})})
			var text strings.Builder
			pad := rapid.IntRange(0, 70).Draw(t, "pad")
			text.WriteString(strings.Repeat("9", min(pad, 9)) + strings.Repeat("p", max(0, pad-9)))
			for range rapid.IntRange(1, 12).Draw(t, "rows") {
				for f := range fields {
					if f > 0 {
						text.WriteRune(delimiter)
					}
					if rapid.IntRange(0, 9).Draw(t, "kind") > 0 {
						text.WriteString(number.Draw(t, "number"))
					} else {
						text.WriteString(other.Draw(t, "other"))
					}
				}
				text.WriteString(end.Draw(t, "end"))
			}
			all := text.String()
			all = all[:len(all)-rapid.IntRange(0, min(len(all), 20)).Draw(t, "cut")]
			checkPlain(t, all, delimiter, comment, fields, rapid.UintRange(0, 31).Draw(t, "integers"),
				rapid.Bool().Draw(t, "last"))
		})
	}
}

func FuzzPlain(f *testing.F) {
	for digits := range 20 {
		number := "1234567890123456789"[:digits]
		for _, row := range []string{"%s,%s\n", "\"%s\",-%s\r\n", "x%s,%[1]s\xac,", "%[1]s"} {
			f.Add(strings.Repeat(fmt.Sprintf(row, number, number), 9), byte(','), byte(1), uint8(digits), digits%2 == 0)
		}
	}
	for length := range 140 {
		row := `"` + strings.Repeat("q", length) + "\",,\r\n"
		f.Add(strings.Repeat(row, 3), byte(','), byte(2), uint8(0), true)
	}
	f.Fuzz(func(t *testing.T, text string, delimiter, fields byte, integers uint8, last bool) {
		if delimiter < 0x80 && !special(rune(delimiter)) {
			checkPlain(t, text, rune(delimiter), '#', 1+int(fields%5), uint(integers), last)
		}
	})
}

// If every second line is not plain, a call looks at little more than the line it returns.
func TestPlainStopsSoon(t *testing.T) {
	text := []byte("1,2\n3,x\n" + strings.Repeat("5,6\n", 10_000))
	p := plainOf(',', 0, 2, []keytype.Type{keytype.Uint32}, []int{1})
	var into parsed
	p.parse(&into, text, 0, true)
	require.Equal(t, 1, into.rows)
	require.LessOrEqual(t, cap(into.fields), 16)
}

func BenchmarkPlain(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	rows, texts := 0, make([][]byte, 16)
	for i := range texts {
		for ; len(texts[i]) < BlockBytes-40; rows++ {
			texts[i] = fmt.Appendf(texts[i], "%d,%d,%d,name-%03d\n", 123456+rows, random.IntN(5_000_000),
				random.IntN(100_000), random.IntN(1000))
		}
	}
	quoted := make([][]byte, len(texts))
	for i, text := range texts {
		text = bytes.ReplaceAll(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"), []byte("\"\n\""))
		quoted[i] = append(append([]byte{'"'}, bytes.ReplaceAll(text, []byte(","), []byte("\",\""))...), "\"\n"...)
	}
	const integer, text = keytype.Uint32, keytype.Text
	for _, c := range []struct {
		name  string
		texts [][]byte
		types []keytype.Type
		index []int
	}{
		{"integer", texts, []keytype.Type{integer}, []int{1}},
		{"integers", texts, []keytype.Type{integer, integer}, []int{1, 2}},
		{"text", texts, []keytype.Type{text}, []int{3}},
		{"texts", texts, []keytype.Type{text, text, text, text}, []int{0, 1, 2, 3}},
		{"quoted", quoted, []keytype.Type{integer, text}, []int{1, 3}},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := plainOf(',', 0, 4, c.types, c.index)
			var into parsed
			for b.Loop() {
				got := 0
				for _, text := range c.texts {
					p.parse(&into, text, 0, true)
					got += into.rows
				}
				require.Equal(b, rows, got)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}
