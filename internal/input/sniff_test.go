package input

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSniff(t *testing.T) {
	for text, want := range map[string]rune{
		"":                                  ',',
		"id;size\n1;10\n":                   ';',
		"id\tsize\n1\t10\n2\t20\n":          '\t',
		"id,size\n1,10\n2,20\n":             ',',
		"1\n2\n3\n":                         ',',
		"1;10\n":                            ',', // one line is no evidence
		"a;b;c\n1,10\n2,20\n":               ',', // nor is the first of several
		"1\n2;3;4\n5\n6\n":                  ',',
		"1\n2;3\n5\n6;7\n":                  ',', // half of them
		"1,10\n2;3\n5,6\n6,7\n":             ',',
		"1;10\nx\n2;20\n3;30\n":             ';', // a line that is no record
		"1;1,5\n2;2,5\n":                    ',', // a tie
		"1;\t5\n2;\t5\n":                    ',', // a tie of others
		"1;1,5\n2;25\n3;5\n":                ';',
		"1;a, b, c\n2;d\n3;e, f\n":          ';',
		"1,\"a;b\"\n2,\"c;d;e\"\n3,f\n":     ',', // quoted fields count as one
		"1;\"a,b\"\n2;\"c,d\"\n":            ';',
		"1;\"a,b\n2,3\nc\"\n2;\"c\n,\n,d\"": ';',
		"# a,b\n# c,d\n# e,f\n1;2\n3;4\n":   ';', // comments
		"\n\n1;2\n\n\n3;4\n":                ';',
		"a;b\r\n1;2\r\n":                    ';',
		"1 2\n3 4\n":                        ',',
		strings.Repeat("x", 1000) + "\n":    ',',
	} {
		got, _ := sniff([]byte(text), true, '#')
		assert.Equal(t, string(want), string(got), "%q", text)
	}
	// What may go on is no record: not the last line, not a quoted field.
	got, name := sniff([]byte("1;2\n3;4"), false, 0)
	assert.Equal(t, ',', got)
	assert.Equal(t, "commas", name)
	got, name = sniff([]byte("1;2\n3;4\n5,\"6;"), false, 0)
	assert.Equal(t, ';', got)
	assert.Equal(t, "semicolons", name)
	// What begins comments delimits nothing.
	got, _ = sniff([]byte("1;2\n3;4\n"), true, ';')
	assert.Equal(t, ',', got)
}
