package input_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
	"github.com/vkds/vkds/internal/tool/input"
)

// bgzip returns a text as blocks of BGZF, each of which has that many bytes at most.
func bgzip(t testing.TB, text []byte, most int) (all []byte) {
	for first := true; first || len(text) > 0; first = false {
		var member bytes.Buffer
		w := gzip.NewWriter(&member)
		w.Extra = []byte("BC\x02\x00??")
		n := min(most, len(text))
		_, err := w.Write(text[:n])
		require.NoError(t, err)
		require.NoError(t, w.Close())
		binary.LittleEndian.PutUint16(member.Bytes()[16:], uint16(member.Len()-1))
		all, text = append(all, member.Bytes()...), text[n:]
	}
	return all
}

func xzInBlocks(t testing.TB, text []byte, most int64) []byte {
	var all bytes.Buffer
	w, err := xz.WriterConfig{BlockSize: most}.NewWriter(&all)
	require.NoError(t, err)
	_, err = w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return all.Bytes()
}

// Files that all cores decompress have the same data, and damage is an error.
func TestDecompressedInParts(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var text []byte
	for len(text) < 1<<20 {
		text = fmt.Appendf(text, "%d,%d\n", len(text), random.Uint32N(1<<(random.UintN(31))))
	}
	mixed := append(bgzip(t, text[:1<<18], 9000), gzipped(t, text[1<<18:1<<19])...)
	streams := append(xzInBlocks(t, text[:1<<18], 1<<17), make([]byte, 8)...) // and padding
	for name, whole := range map[string][]byte{
		"a.gz":       bgzip(t, text, 50_000),
		"mixed.gz":   append(mixed, bgzip(t, text[1<<19:], 64000)...),
		"b.xz":       xzInBlocks(t, text, 100_000),
		"streams.xz": append(streams, xzInBlocks(t, text[1<<18:], 1<<30)...),
	} {
		got, err := readAll(write(t, name, whole))
		require.NoError(t, err, name)
		require.True(t, bytes.Equal(text, got), name)
		for range 6 {
			bad := bytes.Clone(whole)
			if at := random.IntN(len(bad)); random.IntN(2) == 0 {
				bad = bad[:at]
			} else {
				bad[at] ^= byte(1 + random.UintN(255))
			}
			got, err := readAll(write(t, name, bad))
			if err != nil {
				var e *input.Error
				require.ErrorAs(t, err, &e)
				continue
			}
			// A part of a gzip file that ends with a member is whole, and a header has bytes without a meaning.
			require.True(t, bytes.HasPrefix(text, got), name)
			cut := len(bad) < len(whole) && strings.HasSuffix(name, ".gz")
			require.True(t, len(got) == len(text) || cut, "%s: %d bytes without an error", name, len(got))
		}

		f, err := input.OpenFile(context.Background(), write(t, name, whole))
		require.NoError(t, err)
		n, err := io.ReadFull(f, make([]byte, 10)) // and no more
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.NoError(t, f.Close())
		ctx, cancel := context.WithCancel(context.Background())
		f, err = input.OpenFile(ctx, write(t, name, whole))
		require.NoError(t, err)
		cancel()
		_, err = io.ReadAll(f)
		require.ErrorIs(t, err, context.Canceled, name)
		require.NoError(t, f.Close())
		require.Error(t, f.Close(), "twice")
	}
}

func gzipped(t testing.TB, text []byte) []byte {
	var all bytes.Buffer
	w := gzip.NewWriter(&all)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return all.Bytes()
}

// Parts of several streams of xz are those of the file, and damaged or large ones are left to the library.
func TestNoBlocks(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 20_000)
	for name, data := range map[string][]byte{
		"one.xz":   xzInBlocks(t, text, 1<<30),
		"empty.xz": xzInBlocks(t, nil, 100),
		"none.xz":  bytes.Repeat(xzInBlocks(t, nil, 100), 3),
	} {
		got, err := readAll(write(t, name, data))
		require.NoError(t, err, name)
		require.True(t, len(got) == 0 || bytes.Equal(text, got), name)
		require.Equal(t, name == "one.xz", len(got) > 0)
	}
}

// A block of another length than the file says is damage, and takes no more memory than the file says.
func TestBlocksThatLie(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 20_000)
	for _, length := range []uint16{2, 100, 60_000, 65_535} {
		data := bgzip(t, text, 50_000)
		binary.LittleEndian.PutUint16(data[16:], length)
		_, err := readAll(write(t, "a.gz", data))
		require.Error(t, err, length)
	}
	large := gzipped(t, make([]byte, 1<<20)) // as one block
	large = append(append(large[:3:3], 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0, 0, 0), large[10:]...)
	binary.LittleEndian.PutUint16(large[16:], uint16(len(large)-1))
	_, err := readAll(write(t, "a.gz", large))
	require.ErrorContains(t, err, "a block of another length than the file says")
}

// Who closes a file does not wait until blocks are decompressed that nobody needs.
func TestCloseAmongBlocks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 24<<20)
	for i := range text {
		text[i] = byte('a' + random.UintN(4))
	}
	path := write(t, "a.xz", xzInBlocks(t, text, 12<<20))
	f, err := input.OpenFile(context.Background(), path)
	require.NoError(t, err)
	started := time.Now()
	require.NoError(t, f.Close())
	closed := time.Since(started)
	_, err = readAll(path)
	require.NoError(t, err)
	require.Less(t, 10*closed, time.Since(started)-closed)
}
