package input_test

import (
	"cmp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// ranges reads ranges of a text, one a line unless the format says otherwise.
func ranges(data string, o input.Options, batch int) (all [][2]uint64, skipped int64, err error) {
	o.Format = cmp.Or(o.Format, input.Text)
	if o.Columns == nil {
		o.Columns = ends(keytype.Uint32)
	}
	words, skipped, err := stream(data, o, batch)
	if words == nil {
		return nil, skipped, err
	}
	for i, lo := range words[0] {
		all = append(all, [2]uint64{lo, words[1][i]})
	}
	return all, skipped, err
}

func TestRanges(t *testing.T) {
	five := [][2]uint64{{1, 2}, {0, 4294967295}, {9, 3}, {16, 16}, {5, 5}}
	for name, c := range map[string]struct {
		data string
		o    input.Options
		want [][2]uint64
		skip int64
	}{
		"text": {"1:2\n0:4294967295\r\n 9:3 \n0x10:0x10\n5:5", input.Options{}, five, 0},
		"csv": {"lo,hi,n\n1,2,0\n0,4294967295,7\n9,3,0\n0x10,16,1\n5,5,1\n", input.Options{Format: input.CSV},
			five, 0},
		"columns": {"n,hi,lo\n0,2,1\n7,4294967295,0\n0,3,9\n1,16,16\n1,5,5\n",
			input.Options{Format: input.CSV, Columns: ends(keytype.Uint32, "lo", "hi")}, five, 0},
		"u32le": {"\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00",
			input.Options{Format: input.U32LE}, [][2]uint64{{1, 2}, {7, 6}}, 0},
		"u32be": {"\x01\x00\x00\x00\x02\x00\x00\x00", input.Options{Format: input.U32BE},
			[][2]uint64{{1 << 24, 2 << 24}}, 0},
		"time": {"2014-07-01 00:00:00:2014-07-02\n", input.Options{Columns: ends(keytype.Time)},
			[][2]uint64{{1404172800, 1404345599}}, 0},
		"skip": {"1:2\n*\n\n3:x\n4:5\n", input.Options{SkipInvalid: true}, [][2]uint64{{1, 2}, {4, 5}}, 2},
		"time csv": {"from,to\n2014-07-01,2014-07-02\n2014-07-01,2014-07-02 00:00\n",
			input.Options{Format: input.CSV, Columns: ends(keytype.Time)},
			[][2]uint64{{1404172800, 1404345599}, {1404172800, 1404259200}}, 0},
		"ip": {"from:to\n8.8.8.0:8.8.8.255\n0:\n", input.Options{Columns: ends(keytype.IPv4)},
			[][2]uint64{{0x08080800, 0x080808ff}, {0, 0xffffffff}}, 0},
		"skip odd": {"\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00",
			input.Options{Format: input.U32LE, SkipInvalid: true}, [][2]uint64{{1, 2}}, 1},
		"skip half": {"\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00", input.Options{Format: input.U32LE, SkipInvalid: true},
			[][2]uint64{{1, 2}}, 1},
		"comments": {"# of us\n1:2\n#\n4:5\n", input.Options{Comment: '#'}, [][2]uint64{{1, 2}, {4, 5}}, 0},
		"i32": {"\xff\xff\xff\xff\x02\x00\x00\x00",
			input.Options{Format: input.U32LE, Columns: ends(keytype.Int32)}, [][2]uint64{{1<<31 - 1, 1<<31 + 2}}, 0},
		"skip NaN": {"\x00\x00\x00\x00\x7f\xc0\x00\x00\x00\x00\x00\x00\x3f\x80\x00\x00" +
			"\x7f\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
			input.Options{Format: input.U32BE, Columns: ends(keytype.Float32), SkipInvalid: true},
			[][2]uint64{{1 << 31, 0xbf800000}, {1 << 31, 1 << 31}}, 2},
		"header":     {"lo:hi\n\n1:2\n", input.Options{}, [][2]uint64{{1, 2}}, 0},
		"header too": {"\n# of us\nranges\n \n1:2\n", input.Options{Comment: '#'}, [][2]uint64{{1, 2}}, 0},
		"empty":      {"", input.Options{}, nil, 0},
		"empty pack": {"", input.Options{Format: input.U32BE}, nil, 0},
	} {
		for _, batch := range []int{1, 2, 3, 100} {
			got, skipped, err := ranges(c.data, c.o, batch)
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, "%s, %d at a time", name, batch)
			assert.Equal(t, c.skip, skipped, name)
		}
	}
}

func TestRangesThatAreNone(t *testing.T) {
	for data, c := range map[string]struct {
		o    input.Options
		want string
	}{
		"1:2\n3\n":                 {input.Options{}, `f:2: "3" is not a range LO:HI`},
		"1:2\n3:x\n":               {input.Options{}, `f:2: "x" is not an integer`},
		"1:2\n:x\n":                {input.Options{}, `f:2: "x" is not an integer`},
		"1:2:3\n":                  {input.Options{}, `f:1: "1:2:3" is not a range LO:HI`},
		strings.Repeat("1", 1<<20): {input.Options{}, "f:1: the line is too long to be a key"},
		"1,2\n3,\n": {input.Options{Format: input.CSV},
			"f:2: column 2: empty where an integer should be"},
		"\x7f\xc0\x00\x00\x00\x00\x00\x00": {input.Options{Format: input.U32BE, Columns: ends(keytype.Float32)},
			"f: row 1: column 1: NaN has no place in an order"},
		"12345678abcd": {input.Options{Format: input.U32LE},
			"f: ends in the middle of a row of 8 bytes"},
		"x:5\n1:2\n":      {input.Options{}, `f:1: "x" is not an integer`},
		"lo:hi\n1:2\n3\n": {input.Options{}, `f:3: "3" is not a range LO:HI`},
		"lo:hi\n1:2\n":    {input.Options{Header: input.Absent}, `f:1: "lo" is not an integer`},
		"12345678abc": {input.Options{Format: input.U32LE},
			"f: ends in the middle of a row of 8 bytes"},
	} {
		for _, batch := range []int{1, 2, 100} {
			_, _, err := ranges(data, c.o, batch)
			assert.EqualError(t, err, c.want, "%d at a time", batch)
		}
	}
	_, _, err := load(t.TempDir(), input.Options{Columns: ends(keytype.Uint32)}, 1)
	var file *input.Error
	assert.ErrorAs(t, err, &file)
}

// By its name a file of ranges is CSV, and its progress is told.
func TestOpenRanges(t *testing.T) {
	path := write(t, "r.tsv", []byte("a\tb\n1\t2\n"))
	var told []int64
	words, _, err := load(path, input.Options{Columns: ends(keytype.Uint32), Otherwise: input.Text,
		Progress: func(read, _ int64) { told = append(told, read) }}, 10)
	require.NoError(t, err)
	assert.Equal(t, [][]uint64{{1}, {2}}, words)
	assert.EqualValues(t, 8, told[0])
}
