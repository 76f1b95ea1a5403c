package input_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// keysOf reads keys of a text, one a line unless the format says otherwise.
func keysOf(data string, o input.Options) ([]uint64, int64, error) {
	o.Format = cmp.Or(o.Format, input.Text)
	if o.Columns == nil {
		o.Columns = make([]input.Column, 1)
	}
	words, skipped, err := stream(data, o, 3)
	if words == nil {
		return nil, skipped, err
	}
	return words[0], skipped, err
}

func TestBinary(t *testing.T) {
	data := "\x01\x02\x03\x04\x05\x06\x07\x08\xff\xff\xff\xff\x00\x00\x00\x00"
	keys, _, err := keysOf(data, input.Options{Format: input.U32LE})
	require.NoError(t, err)
	assert.Equal(t, []uint64{0x04030201, 0x08070605, 0xffffffff, 0}, keys)
	keys, _, err = keysOf(data, input.Options{Format: input.U32BE})
	require.NoError(t, err)
	assert.Equal(t, []uint64{0x01020304, 0x05060708, 0xffffffff, 0}, keys)
	keys, _, err = keysOf("", input.Options{Format: input.U32BE})
	require.NoError(t, err)
	assert.Empty(t, keys)

	for cut := range len(data) {
		keys, skipped, err := keysOf(data[:cut], input.Options{Format: input.U32LE})
		assert.Len(t, keys, cut/4)
		assert.Zero(t, skipped)
		if cut%4 == 0 {
			require.NoError(t, err)
			continue
		}
		assert.ErrorIs(t, err, input.ErrOddBytes)
		assert.EqualError(t, err, "f: ends in the middle of a row of 4 bytes")
		keys, skipped, err = keysOf(data[:cut], input.Options{Format: input.U32LE, SkipInvalid: true})
		require.NoError(t, err)
		assert.Len(t, keys, cut/4)
		assert.EqualValues(t, 1, skipped)
	}

	broken := errors.New("broken")
	r, err := input.Stream("f", io.MultiReader(iotest.HalfReader(strings.NewReader(data[:9])),
		iotest.ErrReader(broken)), input.Options{Format: input.U32LE, Columns: columns("")})
	require.NoError(t, err)
	words, err := drain(r, 1, 2)
	assert.ErrorIs(t, err, broken)
	assert.Len(t, words[0], 2)
}

// What binary files hold are values of the keys' type: each comes out as the word
// of the same value written as text.
func TestBinaryTypes(t *testing.T) {
	for typ, values := range map[keytype.Type]map[string]uint64{
		keytype.Uint32: {"0": 0, "5": 5, "4294967295": 0xffffffff},
		keytype.Hex:    {"0": 0, "5": 5, "ffffffff": 0xffffffff},
		keytype.Time:   {"1970-01-01": 0, "1970-01-01 00:00:05": 5, "2106-02-07 06:28:15": 0xffffffff},
		keytype.Int32:  {"0": 0, "5": 5, "-1": 0xffffffff, "-2147483648": 1 << 31, "2147483647": 1<<31 - 1},
		keytype.Float32: {"0": 0, "-0": 1 << 31, "1": 0x3f800000, "-1.5": 0xbfc00000, "inf": 0x7f800000,
			"-inf": 0xff800000, "1e-45": 1},
	} {
		var text, le, be strings.Builder
		for value, bits := range values {
			text.WriteString(value + "\n")
			le.Write(binary.LittleEndian.AppendUint32(nil, uint32(bits)))
			be.Write(binary.BigEndian.AppendUint32(nil, uint32(bits)))
		}
		want, _, err := keysOf(text.String(), input.Options{Columns: column(typ)})
		require.NoError(t, err)
		require.Len(t, want, len(values))
		got, _, err := keysOf(le.String(), input.Options{Columns: column(typ), Format: input.U32LE})
		require.NoError(t, err)
		assert.Equal(t, want, got, typ)
		got, _, err = keysOf(be.String(), input.Options{Columns: column(typ), Format: input.U32BE})
		require.NoError(t, err)
		assert.Equal(t, want, got, typ)
	}

	data := "\x00\x00\x00\x00\x00\x00\xc0\x7f\x01\x00\x80\xff\x00\x00\x80\x3f" // 0, two that are no number, 1
	keys, _, err := keysOf(data, input.Options{Format: input.U32LE, Columns: column(keytype.Float32)})
	assert.EqualError(t, err, "f: row 2: column 1: NaN has no place in an order")
	assert.ErrorIs(t, err, keytype.ErrNaN)
	assert.Equal(t, []uint64{1 << 31}, keys)
	keys, skipped, err := keysOf(data, input.Options{Format: input.U32LE, Columns: column(keytype.Float32),
		SkipInvalid: true})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1 << 31, 0xbf800000}, keys)
	assert.EqualValues(t, 2, skipped)
}

// Files of other kinds are no keys, whatever they are read as.
func TestForeign(t *testing.T) {
	for _, o := range []input.Options{{}, {Format: input.U32LE}, {Format: input.U32BE, SkipInvalid: true},
		{Format: input.CSV}} {
		for magic, what := range map[string]string{"VKDS\r\n\x1a\n": "a saved dictionary",
			"PAR1\x15\x00\x15": "a Parquet file", "ARROW1\x00\x00": "an Arrow file"} {
			_, _, err := keysOf(magic+"12345678", o)
			assert.ErrorContains(t, err, "looks like "+what+", not like ", "%v", o)
		}
	}
	for _, skip := range []bool{false, true} {
		_, _, err := keysOf(`{"key": 1}`+"\n", input.Options{Format: input.CSV, SkipInvalid: skip})
		assert.ErrorIs(t, err, input.ErrJSON)
	}
}

func TestTextComments(t *testing.T) {
	text := "# keys\n1\n#2\n3\n#"
	keys, skipped, err := keysOf(text, input.Options{Comment: '#'})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 3}, keys)
	assert.Zero(t, skipped)
	_, _, err = keysOf(text+"\nx", input.Options{Comment: '#'})
	assert.EqualError(t, err, `f:6: "x" is not an integer`)
	keys, _, err = keysOf("% id\n1\n%\n3\n", input.Options{Comment: '%', Format: input.CSV})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 3}, keys)
}

func TestTextCarriageReturns(t *testing.T) {
	for _, skip := range []bool{false, true} {
		for _, text := range []string{"1\r2\r3\r", "1\r2", strings.Repeat("12345\r", 1<<17)} {
			_, _, err := keysOf(text, input.Options{SkipInvalid: skip})
			assert.ErrorIs(t, err, input.ErrCarriageReturns)
		}
	}
	keys, _, err := keysOf("1\r", input.Options{})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1}, keys)
}

func TestKeysInCSV(t *testing.T) {
	keys, skipped, err := keysOf("id,name\n1,a\n2,\"b,c\"\n3,d\n4,e\n",
		input.Options{Format: input.CSV, Columns: columns("id")})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 2, 3, 4}, keys)
	assert.Zero(t, skipped)
	keys, skipped, err = keysOf("l 0x10 1\ns 0x20 2\nl * 1\n",
		input.Options{Format: input.CSV, Columns: columns("2"), Delimiter: ' ', SkipInvalid: true})
	require.NoError(t, err)
	assert.Equal(t, []uint64{16, 32}, keys)
	assert.EqualValues(t, 1, skipped)
	keys, _, err = keysOf("1\n2\n", input.Options{Format: input.CSV})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1, 2}, keys)
	_, _, err = keysOf("id\n1\n", input.Options{Format: input.CSV, Columns: columns("key")})
	var missing *input.ColumnError
	require.ErrorAs(t, err, &missing)
}

func TestOpenKeys(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tsv.gz")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("time\tkey\n1\t10\n2\t20\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(path, packed.Bytes(), 0o600))
	calls := 0
	var position, total int64
	words, _, err := load(path, input.Options{Columns: columns("key"),
		Progress: func(read, size int64) { calls++; position, total = read, size }}, 100)
	require.NoError(t, err)
	assert.Equal(t, []uint64{10, 20}, words[0])
	assert.NotZero(t, calls)
	assert.EqualValues(t, packed.Len(), position)
	assert.EqualValues(t, packed.Len(), total)

	_, err = input.Open(ctx, dir, input.Options{Columns: columns("")})
	assert.ErrorIs(t, err, syscall.EISDIR)

	// A truncated stream is an error whether or not invalid lines are skipped.
	require.NoError(t, os.WriteFile(path, packed.Bytes()[:packed.Len()-9], 0o600))
	for _, skip := range []bool{false, true} {
		_, _, err := load(path, input.Options{Columns: columns("key"), SkipInvalid: skip}, 100)
		assert.ErrorIs(t, err, input.ErrTruncated)
	}
}

func TestFormats(t *testing.T) {
	for f := input.Auto; f <= input.Lines; f++ {
		got, err := input.Formats.Parse(f.String())
		require.NoError(t, err)
		assert.Equal(t, f, got)
	}
	_, err := input.Formats.Parse("u64")
	assert.EqualError(t, err, `unknown format "u64" (known: auto, csv, text, lines, u32le, u32be, u64le, u64be, `+
		`parquet, arrow)`)
}

// traces are the files of ../shared/data; the figures are
// those of its README.
var traces = []struct {
	path               string
	options            input.Options
	requests, distinct int
	least, most        uint64
	frequent           uint64
	times              int
	skipped            int64
	sum                uint64
}{
	{"lirs/2_pools.trace.gz", input.Options{SkipInvalid: true}, 100000, 9939, 1, 9999, 79, 541, 2, 49697014},
	{"lirs/sprite.trace.gz", input.Options{SkipInvalid: true}, 133996, 7075, 0, 7074, 5651, 468, 0, 25024275},
	{"lirs/multi3.trace.gz", input.Options{SkipInvalid: true}, 30241, 7454, 0, 7453, 303, 168, 0, 27777331},
	{"lirs/loop.trace.gz", input.Options{SkipInvalid: true}, 505500, 1011, 0, 1010, 0, 500, 0, 510555},
	{"cache2k/web12.trace.xz", input.Options{Format: input.U32BE}, 95607, 13756, 0, 13755, 282, 914, 0, 94606890},
	{"cache2k/orm-night.trace.xz", input.Options{Format: input.U32BE}, 5000000, 86466, 2942464, 4050829313, 3625574912,
		27344, 0, 231218486827543},
	{"adapt_size/request.trace.xz", input.Options{Format: input.CSV, Columns: columns("2"), Delimiter: ' '}, 66987,
		36815, 0, 36814, 134, 1031, 0, 677653705},
	{"address/gcc.trace.gz", input.Options{Format: input.CSV, Columns: columns("2"), Delimiter: ' '}, 515683, 35070, 0,
		4294967295, 536870280, 14526, 0, 28230529151709},
	{"address/gzip.trace.gz", input.Options{Format: input.CSV, Columns: columns("2"), Delimiter: ' '}, 481044, 160167,
		0, 994739224, 805662336, 61448, 0, 141989713374357},
	{"address/swim.trace.gz", input.Options{Format: input.CSV, Columns: columns("2"), Delimiter: ' '}, 303193, 22605, 0,
		4294967295, 536870168, 25755, 0, 21852594413057},
	{"corda/trace_vaultservice.gz", input.Options{Format: input.U64BE, Columns: column(keytype.Uint64)}, 135702, 90468,
		18216897189925, 18446663871922459580, 750657942571658, 2, 0, 3524283449915908690},
}

func TestTraces(t *testing.T) {
	data := os.Getenv("VKDS_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(data, "caffeine-traces")); err != nil {
		t.Skipf("no real traces: %v (set VKDS_DATA to their folder)", err)
	}
	for _, trace := range traces {
		t.Run(trace.path, func(t *testing.T) {
			o := trace.options
			if o.Otherwise = input.Text; o.Columns == nil {
				o.Columns = columns("")
			}
			words, skipped, err := load(filepath.Join(data, "caffeine-traces", trace.path), o, 1<<16)
			require.NoError(t, err)
			keys := words[0]
			counts := map[uint64]int{}
			least, most := keys[0], keys[0]
			for _, k := range keys {
				counts[k]++
				least, most = min(least, k), max(most, k)
			}
			var sum uint64
			frequent := keys[0]
			for k, n := range counts {
				sum += uint64(k)
				if n > counts[frequent] || n == counts[frequent] && k < frequent {
					frequent = k
				}
			}
			assert.Len(t, keys, trace.requests)
			assert.Len(t, counts, trace.distinct)
			assert.Equal(t, trace.least, least)
			assert.Equal(t, trace.most, most)
			assert.Equal(t, trace.frequent, frequent)
			assert.Equal(t, trace.times, counts[frequent])
			assert.Equal(t, trace.skipped, skipped)
			assert.Equal(t, trace.sum, sum)
		})
	}
}

func TestKeyTypes(t *testing.T) {
	keys, _, err := keysOf("2014-07-01 00:00:00\n", input.Options{Columns: column(keytype.Time)})
	require.NoError(t, err)
	assert.Equal(t, []uint64{1404172800}, keys)
}
