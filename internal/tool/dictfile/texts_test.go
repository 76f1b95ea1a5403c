package dictfile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
)

// textKinds has the types of dictionaries with text, and the widths of their words.
var textKinds = []dictfile.Header{
	{KeyType: "text", ValueType: "u32", Width: structures.Bits64},
	{KeyType: "ip", ValueType: "text", Width: structures.Bits32},
	{KeyType: "u64", ValueType: "text", Width: structures.Bits64},
	{KeyType: "text", ValueType: "text", Width: structures.Bits64},
}

// textRow returns row i of a dictionary with text, in readable form.
func textRow(h dictfile.Header, i int) [2]string {
	row := [2]string{fmt.Sprint(3 * i), fmt.Sprint(7 * i)}
	if h.KeyType == "text" {
		row[0] = fmt.Sprintf("key %d\x00", i)
	}
	if h.ValueType == "text" {
		row[1] = strings.Repeat("Wert ", i%50)
	}
	return row
}

// saveTexts saves n rows in parts, with other texts in the arenas between theirs.
func saveTexts(t testing.TB, path string, h dictfile.Header, n int, row func(i int) [2]string) {
	h.Pairs, h.Structure = int64(n), "slabhash"
	w, err := dictfile.Create(ctx, path, h)
	require.NoError(t, err)
	var arenas [2]keytype.Arena
	w.SetTexts(&arenas[0], &arenas[1])
	var words [2][]uint64
	for i := range n {
		for c, kind := range []string{h.KeyType, h.ValueType} {
			text := row(i)[c]
			word := uint64(0)
			if kind == "text" {
				arenas[c].AddString("between")
				word = arenas[c].AddString(text)
			} else {
				_, err := fmt.Sscan(text, &word)
				require.NoError(t, err)
			}
			words[c] = append(words[c], word)
		}
	}
	require.NoError(t, w.Write(words[0][:n/3], words[1][:n/3]))
	if n > 0 {
		var mismatch *structures.LengthError
		require.ErrorAs(t, w.Write(words[0], nil), &mismatch)
	}
	require.NoError(t, w.Write(words[0][n/3:], words[1][n/3:]))
	require.NoError(t, w.Close())
}

// loadTexts reads rows in readable form.
func loadTexts(r *dictfile.Reader, batch int) (rows [][2]string, err error) {
	keys, values := make([]uint64, batch), make([]uint64, batch)
	for {
		var arenas [2]keytype.Arena
		r.SetTexts(&arenas[0], &arenas[1])
		n, err := r.Read(keys, values)
		for i := range n {
			row := [2]string{fmt.Sprint(keys[i]), fmt.Sprint(values[i])}
			if r.Header().KeyType == "text" {
				row[0] = string(arenas[0].At(keys[i]))
			}
			if r.Header().ValueType == "text" {
				row[1] = string(arenas[1].At(values[i]))
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
}

func TestTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	for _, h := range textKinds {
		for _, n := range []int{0, 1, 100, saved.BlockPairs + 1} {
			saveTexts(t, path, h, n, func(i int) [2]string { return textRow(h, i) })
			r, err := dictfile.Open(ctx, path)
			require.NoError(t, err)
			for range 2 {
				rows, err := loadTexts(r, 1000)
				require.NoError(t, err)
				require.Len(t, rows, n)
				for i, row := range rows {
					require.True(t, textRow(h, i) == row, "%v, row %d: %q", h, i, row)
				}
				require.NoError(t, r.Rewind(ctx))
			}
			require.NoError(t, r.Close())
		}
	}
	// Long texts, of which a block has only a few.
	h := textKinds[3]
	long := func(i int) [2]string {
		return [2]string{strings.Repeat("k", (keytype.Longest-3+i)*(i%2)), strings.Repeat("v", keytype.Longest-i)}
	}
	saveTexts(t, path, h, 4, long)
	r, err := dictfile.Open(ctx, path)
	require.NoError(t, err)
	defer r.Close()
	rows, err := loadTexts(r, 10)
	require.NoError(t, err)
	for i, row := range rows {
		require.True(t, row == long(i), "%d", i)
	}
}

// If any byte is changed, or if the file is truncated anywhere, reading returns a typed error and only rows that were
// saved.
func TestEveryByteOfTextMatters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	for _, h := range textKinds {
		const n = 20
		saveTexts(t, path, h, n, func(i int) [2]string { return textRow(h, i) })
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		attempt := func(data []byte) error {
			r, err := dictfile.NewReader("f", iotest.OneByteReader(bytes.NewReader(data)))
			if err != nil {
				return err
			}
			rows, err := loadTexts(r, 7)
			for i, row := range rows {
				require.Equal(t, textRow(h, i), row)
			}
			require.Equal(t, err == nil, len(rows) == n)
			return err
		}
		require.NoError(t, attempt(good))
		var e *dictfile.Error
		for at := range good {
			for _, flip := range []byte{1, 0x80, 0xff} {
				bad := bytes.Clone(good)
				bad[at] ^= flip
				require.ErrorAs(t, attempt(bad), &e, "byte %d", at)
			}
			err := attempt(good[:at])
			require.ErrorAs(t, err, &e, "cut to %d", at)
			if at >= 16 {
				require.ErrorIs(t, err, structures.ErrTruncated, "cut to %d", at)
			}
		}
		require.ErrorIs(t, attempt(append(bytes.Clone(good), 0)), structures.ErrCorrupt)
	}
}

// Blocks with valid checksums but wrong texts, which vkds does not write.
func TestLyingTexts(t *testing.T) {
	zipped, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	pack := func(text string, lengths ...uint64) []byte {
		var raw []byte
		for _, n := range lengths {
			raw = binary.AppendUvarint(raw, n)
		}
		return zipped.EncodeAll(append(raw, text...), nil)
	}
	two := binary.LittleEndian.AppendUint64(nil, 5)
	two = append(two, two...)
	for what, texts := range map[string][]byte{
		"":                        pack("onetwo", 3, 3),
		"texts of 6 bytes, not 7": pack("onetwo", 3, 4),
		"texts of 7 bytes, not 6": pack("onetwos", 3, 3),
		"a text's length":         pack("", 3),
		"a text's length ":        pack("onetwo", 3, 1<<40),
		"its texts":               []byte("no zstd"),
		"its texts: ":             pack(strings.Repeat("x", 64<<20), 64<<20, 0),
	} {
		var out bytes.Buffer
		w, err := saved.NewWriter(&out, dictfile.Header{KeyType: "u64", ValueType: "text", Pairs: 2},
			saved.Pairs[uint64, uint64]())
		require.NoError(t, err)
		require.NoError(t, w.WriteBlock(2, two, texts))
		require.NoError(t, w.Close())
		r, err := dictfile.NewReader("f", &out)
		require.NoError(t, err)
		rows, err := loadTexts(r, 10)
		if what == "" {
			require.NoError(t, err)
			require.Equal(t, [][2]string{{"5", "one"}, {"5", "two"}}, rows)
			continue
		}
		require.ErrorIs(t, err, structures.ErrCorrupt)
		require.ErrorContains(t, err, strings.TrimRight(what, " :"))
		require.Empty(t, rows)
	}
	// More bytes of texts than a block may have.
	var out bytes.Buffer
	w, err := saved.NewWriter(&out, dictfile.Header{ValueType: "text", Pairs: 1}, saved.Pairs[uint32, uint32]())
	require.NoError(t, err)
	require.NoError(t, w.WriteBlock(1, []byte{1, 2, 3, 4}, make([]byte, 18<<20)))
	r, err := dictfile.NewReader("f", &out)
	require.NoError(t, err)
	_, err = loadTexts(r, 10)
	require.ErrorIs(t, err, structures.ErrCorrupt)
}

// Structures of the library return an error for a dictionary with text.
func TestTextsAreNoNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	saveTexts(t, path, textKinds[1], 3, func(i int) [2]string { return textRow(textKinds[1], i) })
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	r, err := saved.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	require.ErrorIs(t, r.As(saved.Pairs[uint32, uint32]()), structures.ErrText)
	_, err = saved.ReadWords(r, make([]uint32, 5), make([]uint32, 5))
	require.ErrorIs(t, err, structures.ErrText)
}

// Files with text that an earlier commit wrote are read with the original contents. Both are from the tool at f6485e0.
func TestFilesWithTextOfEarlierVersions(t *testing.T) {
	for file, want := range map[string][][2]string{
		"v6.vkds": {{"0", ""}, {"134744072", "dns"}, {"4294967295", `a, "b"`}},
		"v7.vkds": {{"apple", "2147483645"}, {"", "2147483653"}, {"\xff\x00x", "2147483655"}},
	} {
		r, err := dictfile.Open(ctx, filepath.Join("..", "..", "engine", "saved", "testdata", file))
		require.NoError(t, err)
		rows, err := loadTexts(r, 2)
		require.NoError(t, err)
		require.Equal(t, want, rows, file)
		require.NoError(t, r.Close())
	}
}
