package keyfile

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
	"github.com/vkds/vkds/internal/input/infile"
	"github.com/vkds/vkds/internal/keytype"
)

// readText reads everything through a buffer and a batch of the given sizes.
func readText(data []byte, buffer, batch int, typ keytype.Type, skip bool) (keys []uint32, skipped int64, err error) {
	r, err := newText("f", bytes.NewReader(data), Options{Type: typ, SkipInvalid: skip})
	if err != nil {
		return nil, 0, err
	}
	r.buffer = make([]byte, buffer)
	keys, err = drain(r, batch)
	return keys, r.Skipped(), err
}

func drain(r source, batch int) (keys []uint32, err error) {
	part := make([]uint32, batch)
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

// plainText says what reading should give, line by line and without a thought
// for speed. longest is the longest line allowed.
func plainText(data []byte, longest int, typ keytype.Type) (keys []uint32, bad []int64) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) == 0 {
		return nil, nil
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		key, err := typ.Parse(line)
		if err != nil || len(line) > longest {
			bad = append(bad, int64(i+1))
			continue
		}
		keys = append(keys, key)
	}
	return keys, bad
}

func checkText(t *testing.T, data []byte, buffer, batch int, typ keytype.Type) {
	want, bad := plainText(data, buffer-1, typ)
	keys, skipped, err := readText(data, buffer, batch, typ, true)
	if _, compressed := infile.Text("f", bytes.NewReader(data)); compressed != nil {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, keys, "%q", data)
	require.EqualValues(t, len(bad), skipped, "%q", data)

	keys, _, err = readText(data, buffer, batch, typ, false)
	if len(bad) == 0 {
		require.NoError(t, err)
		require.Equal(t, want, keys)
		return
	}
	var line *infile.LineError
	require.ErrorAs(t, err, &line, "%q", data)
	require.Equal(t, bad[0], line.Line, "%q", data)
	require.LessOrEqual(t, len(keys), len(want))
	require.Equal(t, append([]uint32(nil), want[:len(keys)]...), keys)
	require.EqualValues(t, bad[0]-1, len(keys), "%q: the keys before the bad line are delivered", data)
}

func TestText(t *testing.T) {
	for _, data := range []string{
		"", "\n", "\n\n", "1", "1\n", "1\r\n2\r\n", "1\n\n2\n", " 1\n\t2 \n", "*\n1\n", "1\n*\n", "1\n*",
		"\ufeff1\n2\n", "\ufeff", "4294967295\n4294967296\n", "999999999\n1000000000\n0000000000000001\n",
		"0x1F\n0xffffffff\n0x\n", "-1\n", "1 2\n", "1\n2\n3", "\r\n", "1\x00\n",
		"123456789012345\n1\n", "1\n" + strings.Repeat("0", 40) + "\n2\n", strings.Repeat("x", 40), strings.Repeat("1", 16) + "\n",
		strings.Repeat("7", 17) + "\n8\n", strings.Repeat("x", 100) + "\n\n" + strings.Repeat("y", 15) + "\n3",
	} {
		for _, buffer := range []int{16, 17, 33, textBytes} {
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
		"1\n\n":                    `f:2: empty where an integer should be`,
		"1\n2\n*\n":                `f:3: "*" is not an integer`,
		"4294967296\n":             `f:1: 4294967296 is out of range (0 to 4294967295)`,
		strings.Repeat("x", 300e3): `f:1: the line is too long to be a key`,
		"\x1f\x8b\x08":             `f:1: looks like gzip data, though the file's name doesn't say so`,
	} {
		_, _, err := readText([]byte(data), textBytes, 10, keytype.Uint32, false)
		assert.EqualError(t, err, say)
	}
}

// What a slow or failing reader delivers makes no difference.
func TestTextSlowReader(t *testing.T) {
	r, err := newText("f", iotest.OneByteReader(strings.NewReader("\ufeff12\n34\n56")), Options{})
	require.NoError(t, err)
	keys, err := drain(r, 2)
	require.NoError(t, err)
	assert.Equal(t, []uint32{12, 34, 56}, keys)

	broken := errors.New("broken")
	r, err = newText("f", bufio.NewReader(io.MultiReader(strings.NewReader("12345\n34\n5"), iotest.ErrReader(broken))), Options{})
	require.NoError(t, err)
	keys, err = drain(r, 2)
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, []uint32{12345, 34}, keys)
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"1\n2\n", "1\r\n*\n\n0xff", "\ufeff7", "99999999999999999999\n1", "1234567890123456789\n\n\n5"} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		checkText(t, data, 16+int(size), 1+int(size)%7, keytype.Uint32)
	})
}

func BenchmarkText(b *testing.B) {
	var data []byte
	for i := range 1 << 20 {
		data = keytype.Uint32.Append(data, uint32(i)*2654435761)
		data = append(data, '\n')
	}
	keys := make([]uint32, 1<<16)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := newText("f", bytes.NewReader(data), Options{})
		require.NoError(b, err)
		for err == nil {
			_, err = r.Read(keys)
		}
		require.Equal(b, io.EOF, err)
	}
}

func BenchmarkU32(b *testing.B) {
	data := make([]byte, 16<<20)
	keys := make([]uint32, 1<<16)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r, err := NewReader("f", bytes.NewReader(data), Options{Format: U32BE})
		for err == nil {
			_, err = r.Read(keys)
		}
		require.Equal(b, io.EOF, err)
	}
}
