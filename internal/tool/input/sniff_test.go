package input

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSniff(t *testing.T) {
	for text, want := range map[string]rune{
		"":                                           ',',
		"id;size\n1;10\n":                            ';',
		"id\tsize\n1\t10\n2\t20\n":                   '\t',
		"id,size\n1,10\n2,20\n":                      ',',
		"1\n2\n3\n":                                  ',',
		"1;10\n":                                     ';',
		"a;b;c\n1,10\n2,20\n":                        ',', // nor is the first of several
		"1\n2;3;4\n5\n6\n":                           ',',
		"1\n2;3\n5\n6;7\n":                           ',', // half of them
		"1,10\n2;3\n5,6\n6,7\n":                      ',',
		"1;10\nx\n2;20\n3;30\n":                      ';', // a line that is no record
		"1;1,5\n2;2,5\n":                             ';', // decimal commas
		"11,1;1,2\n12,1;2,1\n":                       ';', // also where there are more of them
		"1;1.234,5;-3,50\n2;2,5;0,1\n":               ';',
		"1\t2,5\n2\t3,5\n":                           '\t',
		"1,2;3\n4,5;x\n":                             ';',
		"1;\t5\n2;\t5\n":                             ';', // a tie: blanks around numbers are no matter
		"Doe, Jane;12\nRoe, Rick;30\n":               ';', // a tie: 12 is a value, " Jane;12" is none
		"name;age\nDoe, Jane;12\nRoe, R;1\n":         ';',
		"1;2;3\n1;2\n1;2;3;4\n":                      ';', // of unequal length
		"a;b;1,5;c;2,5\nd;e;3,5;f;4,5\n":             ';', // more fields
		"a, b;c;d\nd, e;f;g\n":                       ';',
		"1,2\n" + strings.Repeat("a,b;c;d\n", 20):    ',', // the first line has it
		"id;a,b\n" + strings.Repeat("1;2;a,b\n", 20): ';',
		"1|2|3\n4|5|6\n":                             ',', // only if asked for
		"1:2\n3:4\n":                                 ',',
		"1;1,5\n2;25\n3;5\n":                         ';',
		"1;a, b, c\n2;d\n3;e, f\n":                   ';',
		"1,\"a;b\"\n2,\"c;d;e\"\n3,f\n":              ',', // quoted fields count as one
		"1;\"a,b\"\n2;\"c,d\"\n":                     ';',
		"1;\"a,b\n2,3\nc\"\n2;\"c\n,\n,d\"":          ';',
		"# a,b\n# c,d\n# e,f\n1;2\n3;4\n":            ';', // comments
		"\n\n1;2\n\n\n3;4\n":                         ';',
		"a;b\r\n1;2\r\n":                             ';',
		"1 2\n3 4\n":                                 ',',
		strings.Repeat("x", 1000) + "\n":             ',',
	} {
		got := sniff([]byte(text), true, '#')
		assert.Equal(t, string(want), string(got.delimiter), "%q", text)
	}
	// What may go on is no record: not the last line, not a quoted field.
	got := sniff([]byte("1;2\n3,4,5"), false, 0)
	assert.Equal(t, ';', got.delimiter)
	assert.Equal(t, "semicolons", got.name)
	got = sniff([]byte("1;2\n3;4\n5,\"6;"), false, 0)
	assert.Equal(t, ';', got.delimiter)
	// What begins comments delimits nothing.
	got = sniff([]byte("1;2\n3;4\n"), true, ';')
	assert.Equal(t, ',', got.delimiter)
	assert.Equal(t, "commas", got.name)
}
