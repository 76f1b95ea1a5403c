package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// readLines reads everything through a buffer and a batch of the given sizes.
func readLines(data []byte, buffer, batch int, typ keytype.Type, skip bool) (keys []uint64, skipped int64, err error) {
	r, err := newReader("f", bytes.NewReader(data),
		Options{Format: Text, Columns: []Column{{Type: typ}}, SkipInvalid: skip})
	if err != nil {
		return nil, 0, err
	}
	r.source.(*lines).buffer = make([]byte, buffer)
	keys, err = drain(r, batch)
	return keys, r.Skipped(), err
}

func drain(r *Reader, batch int) (keys []uint64, err error) {
	part := make([]uint64, batch)
	for {
		n, err := r.Read(part)
		keys = append(keys, part[:n]...)
		if err == io.EOF {
			if _, again := r.Read(part); n != 0 || again != io.EOF {
				return nil, errors.New("io.EOF came with keys or went away")
			}
			return keys, nil
		}
		if err != nil {
			if n, again := r.Read(part); n != 0 || again != err {
				return nil, errors.New("the error went away")
			}
			return keys, err
		}
	}
}

// linesOf says what reading should give, line by line and without a thought for speed. longest is the longest line
// allowed; before says how many keys stand before each bad line.
func linesOf(data []byte, longest int, typ keytype.Type) (keys []uint64, bad []int64, before []int) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	begun := false
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		text := strings.TrimSpace(line)
		key, err := typ.Parse(line)
		isNumber := strings.Trim(text[:min(1, len(text))], "0123456789+-.") == ""
		switch {
		case len(line) > longest:
			bad, before = append(bad, int64(i+1)), append(before, len(keys))
			continue // it may hold anything, so what follows may still be the header
		case text == "":
			continue
		case err == nil:
			keys = append(keys, key)
		case begun || isNumber || !errors.Is(err, keytype.ErrSyntax):
			bad, before = append(bad, int64(i+1)), append(before, len(keys))
		}
		begun = true
	}
	return keys, bad, before
}

func checkText(t *testing.T, data []byte, buffer, batch int, typ keytype.Type) {
	want, bad, before := linesOf(data, buffer-1, typ)
	keys, skipped, err := readLines(data, buffer, batch, typ, true)
	if _, compressed := OpenText("f", bytes.NewReader(data)); compressed != nil {
		require.Error(t, err)
		return
	}
	if errors.Is(err, ErrCarriageReturns) {
		require.NotContains(t, string(data), "\n")
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, keys, "%q", data)
	require.EqualValues(t, len(bad), skipped, "%q", data)

	keys, _, err = readLines(data, buffer, batch, typ, false)
	if len(bad) == 0 {
		require.NoError(t, err)
		require.Equal(t, want, keys)
		return
	}
	var line *LineError
	require.ErrorAs(t, err, &line, "%q", data)
	require.Equal(t, bad[0], line.Line, "%q", data)
	require.Len(t, keys, before[0], "%q: the keys before the bad line are delivered", data)
	require.Equal(t, append([]uint64(nil), want[:before[0]]...), append([]uint64(nil), keys...))
}

func TestText(t *testing.T) {
	for _, data := range []string{
		"", "\n", "\n\n", "1", "1\n", "1\r\n2\r\n", "1\n\n2\n", " 1\n\t2 \n", "*\n1\n", "1\n*\n", "1\n*",
		"id\n1\n2\n", "\n \nid\n\n1\n", "id\nid\n1\n", "id", "1\nid\n2\n", "1x\n2\n", "\u00a0\n1\n",
		"99999999999\nid\n",
		"\ufeffid\n1\n", "\ufeff1\n2\n", "\ufeff", "4294967295\n4294967296\n",
		"999999999\n1000000000\n0000000000000001\n",
		"0x1F\n0xffffffff\n0x\n", "-1\n", "1 2\n", "1\n2\n3", "\r\n", "1\x00\n",
		"123456789012345\n1\n", "1\n" + strings.Repeat("0", 40) + "\n2\n", strings.Repeat("x", 40),
		strings.Repeat("1", 16) + "\n",
		strings.Repeat("7", 17) + "\n8\n", strings.Repeat("x", 100) + "\n\n" + strings.Repeat("y", 15) + "\n3",
	} {
		for _, buffer := range []int{16, 17, 33, linesBytes} {
			for _, batch := range []int{1, 2, 100} {
				checkText(t, []byte(data), buffer, batch, keytype.Uint32)
			}
		}
	}
	checkText(t, []byte("2014-07-01 00:00:00\n2014-07-02 00:00:00\nnever\n"), 64, 2, keytype.Time)
	checkText(t, []byte("-1\n1\n0x7fffffff\n"), 64, 2, keytype.Int32)
	checkText(t, []byte("00FF\nfg\n"), 64, 2, keytype.Hex)
}

func TestTextMessages(t *testing.T) {
	for data, say := range map[string]string{
		"1\n\n\n2x\n":              `f:4: "2x" is not an integer`,
		"id\nid\n":                 `f:2: "id" is not an integer`,
		"12a\n1\n":                 `f:1: "12a" is not an integer`,
		"1\n2\n*\n":                `f:3: "*" is not an integer`,
		"4294967296\n":             `f:1: 4294967296 is out of range (0 to 4294967295)`,
		strings.Repeat("x", 300e3): `f:1: the line is too long to be a key`,
		"\x1f\x8b\x08":             `f:1: looks like gzip data, though the file's name doesn't say so`,
	} {
		_, _, err := readLines([]byte(data), linesBytes, 10, keytype.Uint32, false)
		assert.EqualError(t, err, say)
	}
}

// What a slow or failing reader delivers makes no difference.
func TestTextSlowReader(t *testing.T) {
	text := Options{Format: Text, Columns: make([]Column, 1)}
	r, err := newReader("f", iotest.OneByteReader(strings.NewReader("\ufeff12\n34\n56")), text)
	require.NoError(t, err)
	keys, err := drain(r, 2)
	require.NoError(t, err)
	assert.Equal(t, []uint64{12, 34, 56}, keys)

	broken := errors.New("broken")
	r, err = newReader("f", bufio.NewReader(io.MultiReader(strings.NewReader("12345\n34\n5"),
		iotest.ErrReader(broken))), text)
	require.NoError(t, err)
	keys, err = drain(r, 2)
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, []uint64{12345, 34}, keys)
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"1\n2\n", "1\r\n*\n\n0xff", "\ufeff7", "99999999999999999999\n1",
		"1234567890123456789\n\n\n5"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		checkText(t, data, 16+int(size), 1+int(size)%7, keytype.Uint32)
	})
}

func BenchmarkText(b *testing.B) {
	var data []byte
	for i := range 1 << 20 {
		data = keytype.Uint32.Append(data, uint64(uint32(i)*2654435761))
		data = append(data, '\n')
	}
	benchmark(b, data, Text)
}

func BenchmarkU32(b *testing.B) { benchmark(b, make([]byte, 16<<20), U32BE) }

func benchmark(b *testing.B, data []byte, format Format) {
	keys := make([]uint64, 1<<16)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := newReader("f", bytes.NewReader(data), Options{Format: format, Columns: make([]Column, 1)})
		for err == nil {
			_, err = r.Read(keys)
		}
		require.Equal(b, io.EOF, err)
	}
}
