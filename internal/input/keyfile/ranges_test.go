package keyfile_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/input/keyfile"
	"github.com/vkds/vkds/internal/keytype"
)

func ranges(r *keyfile.RangeReader, batch int) (all [][2]uint32, err error) {
	lo, hi := make([]uint32, batch), make([]uint32, batch)
	for {
		n, err := r.Read(lo, hi)
		for i := range n {
			all = append(all, [2]uint32{lo[i], hi[i]})
		}
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			_, again := r.Read(lo, hi)
			if again != err {
				return all, again
			}
			return all, err
		}
	}
}

func TestRanges(t *testing.T) {
	five := [][2]uint32{{1, 2}, {0, 4294967295}, {9, 3}, {16, 16}, {5, 5}}
	for name, c := range map[string]struct {
		data string
		o    keyfile.Options
		want [][2]uint32
		skip int64
	}{
		"text":      {"1:2\n0:4294967295\r\n 9:3 \n0x10:0x10\n5:5", keyfile.Options{}, five, 0},
		"csv":       {"lo,hi,n\n1,2,0\n0,4294967295,7\n9,3,0\n0x10,16,1\n5,5,1\n", keyfile.Options{Format: keyfile.CSV}, five, 0},
		"columns":   {"n,hi,lo\n0,2,1\n7,4294967295,0\n0,3,9\n1,16,16\n1,5,5\n", keyfile.Options{Format: keyfile.CSV, Column: "lo", HighColumn: "hi"}, five, 0},
		"u32le":     {"\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x06\x00\x00\x00", keyfile.Options{Format: keyfile.U32LE}, [][2]uint32{{1, 2}, {7, 6}}, 0},
		"u32be":     {"\x01\x00\x00\x00\x02\x00\x00\x00", keyfile.Options{Format: keyfile.U32BE}, [][2]uint32{{1 << 24, 2 << 24}}, 0},
		"time":      {"2014-07-01 00:00:00:2014-07-02\n", keyfile.Options{Type: keytype.Time}, [][2]uint32{{1404172800, 1404259200}}, 0},
		"skip":      {"1:2\n*\n\n3:x\n4:5\n", keyfile.Options{SkipInvalid: true}, [][2]uint32{{1, 2}, {4, 5}}, 3},
		"skip odd":  {"\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00", keyfile.Options{Format: keyfile.U32LE, SkipInvalid: true}, [][2]uint32{{1, 2}}, 1},
		"skip half": {"\x01\x00\x00\x00\x02\x00\x00\x00\x07\x00", keyfile.Options{Format: keyfile.U32LE, SkipInvalid: true}, [][2]uint32{{1, 2}}, 1},
		"comments":  {"# of us\n1:2\n#\n4:5\n", keyfile.Options{Comment: '#'}, [][2]uint32{{1, 2}, {4, 5}}, 0},
		"i32":       {"\xff\xff\xff\xff\x02\x00\x00\x00", keyfile.Options{Format: keyfile.U32LE, Type: keytype.Int32}, [][2]uint32{{1<<31 - 1, 1<<31 + 2}}, 0},
		"skip NaN": {"\x00\x00\x00\x00\x7f\xc0\x00\x00\x00\x00\x00\x00\x3f\x80\x00\x00\x7f\xc0\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
			keyfile.Options{Format: keyfile.U32BE, Type: keytype.Float32, SkipInvalid: true}, [][2]uint32{{1 << 31, 0xbf800000}, {1 << 31, 1 << 31}}, 2},
		"empty":      {"", keyfile.Options{}, nil, 0},
		"empty pack": {"", keyfile.Options{Format: keyfile.U32BE}, nil, 0},
	} {
		for _, batch := range []int{1, 2, 3, 100} {
			r, err := keyfile.NewRangeReader("f", strings.NewReader(c.data), c.o)
			require.NoError(t, err, name)
			got, err := ranges(r, batch)
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, "%s, %d at a time", name, batch)
			assert.Equal(t, c.skip, r.Skipped(), name)
			require.NoError(t, r.Close())
		}
	}
}

func TestRangesThatAreNone(t *testing.T) {
	for data, c := range map[string]struct {
		o    keyfile.Options
		want string
	}{
		"1:2\n3\n":                         {keyfile.Options{}, `f:2: "3" is no range LO:HI`},
		"1:2\n3:x\n":                       {keyfile.Options{}, `f:2: "x" is not an integer`},
		"1:2\n:4\n":                        {keyfile.Options{}, `f:2: empty where an integer should be`},
		"1:2:3\n":                          {keyfile.Options{}, `f:1: "1:2:3" is no range LO:HI`},
		strings.Repeat("1", 1<<20):         {keyfile.Options{}, "f:1: the line is too long to be a key"},
		"1,2\n3,\n":                        {keyfile.Options{Format: keyfile.CSV}, "f:2: column 2: empty where an integer should be"},
		"\x7f\xc0\x00\x00\x00\x00\x00\x00": {keyfile.Options{Format: keyfile.U32BE, Type: keytype.Float32}, "f: range 1: NaN has no place in an order"},
		"12345678abcd":                     {keyfile.Options{Format: keyfile.U32LE}, "f: ends in the middle of a range"},
		"12345678abc":                      {keyfile.Options{Format: keyfile.U32LE}, "f: ends in the middle of a 4-byte key"},
	} {
		for _, batch := range []int{1, 2, 100} {
			r, err := keyfile.NewRangeReader("f", strings.NewReader(data), c.o)
			require.NoError(t, err)
			_, err = ranges(r, batch)
			assert.EqualError(t, err, c.want, "%d at a time", batch)
		}
	}
	_, err := keyfile.OpenRanges(context.Background(), t.TempDir(), keyfile.Options{})
	var file *infile.Error
	assert.ErrorAs(t, err, &file)
}

// By its name a file of ranges is CSV, and its progress is told.
func TestOpenRanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.tsv")
	require.NoError(t, os.WriteFile(path, []byte("a\tb\n1\t2\n"), 0o600))
	var told []int64
	r, err := keyfile.OpenRanges(context.Background(), path, keyfile.Options{Progress: func(read, _ int64) { told = append(told, read) }})
	require.NoError(t, err)
	defer r.Close()
	got, err := ranges(r, 10)
	require.NoError(t, err)
	assert.Equal(t, [][2]uint32{{1, 2}}, got)
	assert.EqualValues(t, 8, told[0])
}
