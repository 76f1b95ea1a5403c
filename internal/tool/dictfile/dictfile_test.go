package dictfile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/engine/saved"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/structures"
	"pgregory.net/rapid"
)

var ctx = context.Background()

func pairs(n int) (keys, values []uint64) {
	for i := range uint64(n) {
		keys = append(keys, uint64(uint32(i*2654435761)))
		values = append(values, i)
	}
	return keys, values
}

func save(t testing.TB, path string, n int) dictfile.Header {
	h := dictfile.Header{
		Structure:  "slabhash",
		Parameters: map[string]float64{"buckets": 77, "utilisation": 0.65},
		Pairs:      int64(n),
		KeyType:    "time",
		ValueType:  "f32",
		Writer:     "test",
	}
	w, err := dictfile.Create(ctx, path, h)
	require.NoError(t, err)
	keys, values := pairs(n)
	require.NoError(t, w.Write(keys[:n/3], values[:n/3]))
	require.NoError(t, w.Write(nil, nil))
	require.NoError(t, w.Write(keys[n/3:], values[n/3:]))
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	w.Abort()
	return h
}

func load(r *dictfile.Reader, batch int) (keys, values []uint64, err error) {
	k, v := make([]uint64, batch), make([]uint64, batch)
	for {
		n, err := r.Read(k, v)
		keys, values = append(keys, k[:n]...), append(values, v[:n]...)
		if err != nil {
			if n, again := r.Read(k, v); n != 0 || again != err {
				return nil, nil, errors.New("the error went away")
			}
			if err == io.EOF {
				err = nil
			}
			return keys, values, err
		}
	}
}

func onlyFile(t testing.TB, dir, name string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string(nil)
	if name != "" {
		want = []string{name}
	}
	require.Equal(t, want, names)
}

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000, 65535, 65536, 65537, 200000} {
		dir := t.TempDir()
		path := filepath.Join(dir, "d.vkds")
		h := save(t, path, n)
		onlyFile(t, dir, "d.vkds")
		for _, batch := range []int{1 + n/7, n + 1, 65536} {
			r, err := dictfile.Open(ctx, path)
			require.NoError(t, err)
			assert.Equal(t, h, r.Header())
			key, value, err := dictfile.Types(r.Header())
			require.NoError(t, err)
			assert.Equal(t, []keytype.Type{keytype.Time, keytype.Float32}, []keytype.Type{key, value})
			keys, values, err := load(r, batch)
			require.NoError(t, err)
			wantKeys, wantValues := pairs(n)
			assert.Equal(t, wantKeys, keys)
			assert.Equal(t, wantValues, values)
			read, size := r.Position()
			assert.Equal(t, size, read)
			require.NoError(t, r.Close())
		}
	}
}

func TestReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	save(t, path, 5)
	save(t, path, 9)
	r, err := dictfile.Open(ctx, path)
	require.NoError(t, err)
	defer r.Close()
	assert.EqualValues(t, 9, r.Header().Pairs)
	info, err := os.Stat(path)
	require.NoError(t, err)
	plain := filepath.Join(t.TempDir(), "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o666))
	like, err := os.Stat(plain)
	require.NoError(t, err)
	assert.Equal(t, like.Mode(), info.Mode())
}

// If any byte is changed, or if the file is truncated anywhere, reading returns a typed error and only pairs that were
// saved.
func TestEveryByteMatters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d.vkds")
	const n = 130
	save(t, path, n)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	attempt := func(data []byte) error {
		r, err := dictfile.NewReader("f", bytes.NewReader(data))
		if err != nil {
			return err
		}
		keys, values, err := load(r, 100)
		wantKeys, wantValues := pairs(n)
		require.LessOrEqual(t, len(keys), n)
		require.Equal(t, append([]uint64(nil), wantKeys[:len(keys)]...), keys)
		require.Equal(t, append([]uint64(nil), wantValues[:len(values)]...), values)
		return err
	}
	require.NoError(t, attempt(good))
	var e *dictfile.Error
	for at := range good {
		for _, flip := range []byte{1, 0x80, 0xff} {
			bad := bytes.Clone(good)
			bad[at] ^= flip
			err := attempt(bad)
			require.ErrorAs(t, err, &e, "byte %d", at)
			require.NotContains(t, err.Error(), "\n")
			switch {
			case at < 8:
				require.ErrorIs(t, err, structures.ErrNotSaved)
			case at < 12:
				require.ErrorIs(t, err, structures.ErrSavedVersion)
			}
		}
	}
	for cut := range good {
		err := attempt(good[:cut])
		require.ErrorAs(t, err, &e, "cut to %d", cut)
		if cut >= 16 {
			require.ErrorIs(t, err, structures.ErrTruncated, "cut to %d", cut)
		}
	}
	err = attempt(append(bytes.Clone(good), 0))
	require.ErrorIs(t, err, structures.ErrCorrupt)
	require.EqualError(t, attempt(nil), "f: is not a saved dictionary")
	require.EqualError(t, attempt([]byte("key,value\n1,2\n3,4\n")), "f: is not a saved dictionary")
	require.EqualError(t, attempt(append([]byte(dictfile.Magic), 1, 0, 0, 0, 0, 0, 0, 0)),
		"f: was saved by another version of vkds: build it again: the format is 1, and this one reads 2 to 8")
}

// Blocks that are moved, repeated, missing or of another dictionary are detected even though each block is intact, also
// if the two dictionaries have the same header.
func TestBlocksInOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	save(t, path, 3*65536)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	w, err := dictfile.Create(ctx, path, dictfile.Header{Structure: "slabhash",
		Parameters: map[string]float64{"buckets": 77, "utilisation": 0.65},
		Pairs:      3 * 65536, KeyType: "time", ValueType: "f32", Writer: "test"})
	require.NoError(t, err)
	keys, values := pairs(3 * 65536)
	for i := range values {
		values[i]++
	}
	require.NoError(t, errors.Join(w.Write(keys, values), w.Close()))
	other, err := os.ReadFile(path)
	require.NoError(t, err)
	const block, end = 4 + 8*65536 + 4, 8
	start := len(data) - end - 3*block
	require.Equal(t, data[:start], other[:start], "the same header")
	at := func(data []byte, i int) []byte { return data[start+i*block : min(start+(i+1)*block, len(data))] }
	head, a, b, c, tail := data[:start], at(data, 0), at(data, 1), at(data, 2), at(data, 3)
	for name, parts := range map[string][][]byte{
		"swapped":       {head, b, a, c, tail},
		"doubled":       {head, a, a, c, tail},
		"missing":       {head, a, c, tail},
		"last":          {head, a, b, tail},
		"none":          {head, tail},
		"more":          {head, a, b, c, c, tail},
		"first of two":  {head, at(other, 0), b, c, tail},
		"second of two": {head, a, at(other, 1), c, tail},
		"last of two":   {head, a, b, at(other, 2), tail},
		"end of two":    {head, a, b, c, at(other, 3)},
		"all of two":    {head, a, at(other, 1), at(other, 2), at(other, 3)},
	} {
		r, err := dictfile.NewReader("f", bytes.NewReader(bytes.Join(parts, nil)))
		require.NoError(t, err, name)
		_, _, err = load(r, 1000)
		require.True(t, errors.Is(err, structures.ErrCorrupt), "%s: %v", name, err)
	}
	// A block after another header, which has one more parameter and is otherwise the same.
	h := dictfile.Header{Structure: "slabhash", Parameters: map[string]float64{"buckets": 78, "utilisation": 0.65},
		Pairs: 3 * 65536, KeyType: "time", ValueType: "f32", Writer: "test"}
	w, err = dictfile.Create(ctx, path, h)
	require.NoError(t, err)
	keys, values = pairs(3 * 65536)
	require.NoError(t, errors.Join(w.Write(keys, values), w.Close()))
	other, err = os.ReadFile(path)
	require.NoError(t, err)
	r, err := dictfile.NewReader("f", bytes.NewReader(append(bytes.Clone(head), other[start:]...)))
	require.NoError(t, err)
	got, _, err := load(r, 1000)
	require.ErrorIs(t, err, structures.ErrCorrupt)
	require.Empty(t, got)
}

// Read ends with io.EOF for slices of any length, and returns the last pair only after the end was checked.
func TestAnySlices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	for _, n := range []int{0, 1, 130, 65536} {
		save(t, path, n)
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		noEnd, badEnd, more := good[:len(good)-8], bytes.Clone(good), append(bytes.Clone(good), 0)
		badEnd[len(good)-1] ^= 1
		for _, lengths := range [][]int{{0}, {1}, {n}, {n + 1}, {0, 7, 1, 0, 65536}, {n / 2, n - n/2}} {
			read := func(data []byte) (pairs int, err error) {
				r, err := dictfile.NewReader("f", bytes.NewReader(data))
				require.NoError(t, err)
				for call := 0; call < 3*n+3; call++ {
					length := lengths[call%len(lengths)]
					m, err := r.Read(make([]uint64, length), make([]uint64, length))
					pairs += m
					if err != nil {
						require.True(t, m == 0 || err != io.EOF)
						m, again := r.Read(nil, nil)
						require.Zero(t, m)
						require.Equal(t, err, again)
						return pairs, err
					}
				}
				return pairs, nil
			}
			pairs, err := read(good)
			if sum := lengths[0]; len(lengths) == 1 && sum == 0 && n > 0 {
				require.NoError(t, err, "nothing asked for, nothing read")
				require.Zero(t, pairs)
			} else {
				require.Equal(t, io.EOF, err, "%d pairs, %v", n, lengths)
				require.Equal(t, n, pairs)
			}
			for what, bad := range map[string][]byte{"no end": noEnd, "a bad end": badEnd, "more": more} {
				pairs, err := read(bad)
				var e *dictfile.Error
				require.ErrorAs(t, err, &e, "%s, %d pairs, %v", what, n, lengths)
				require.LessOrEqual(t, pairs, max(0, n-1)/65536*65536, "no pair of the last block")
			}
		}
	}
}

func TestMismatchedSlices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	save(t, path, 5)
	r, err := dictfile.Open(ctx, path)
	require.NoError(t, err)
	var mismatch *structures.LengthError
	for _, lengths := range [][2]int{{3, 2}, {2, 3}, {0, 1}, {1, 0}} {
		_, err := r.Read(make([]uint64, lengths[0]), make([]uint64, lengths[1]))
		require.ErrorAs(t, err, &mismatch)
	}
	keys, _, err := load(r, 10)
	require.NoError(t, err)
	assert.Len(t, keys, 5, "nothing was read")
	require.NoError(t, r.Close()) // Windows cannot replace an open file

	w, err := dictfile.Create(ctx, path, dictfile.Header{Pairs: 1})
	require.NoError(t, err)
	err = w.Write([]uint64{1, 2}, []uint64{3})
	require.ErrorAs(t, err, &mismatch)
	assert.EqualError(t, err, path+": a batch of 2 needs 2 values and got 1")
	require.NoError(t, w.Write([]uint64{1}, []uint64{3}))
	require.NoError(t, w.Close())
}

// If a file's header has more pairs than the file's bytes can hold, Open returns an error before it reads or allocates
// anything by that number.
func TestPairsBySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	for _, n := range []int{0, 1, 65536, 70000} {
		save(t, path, n)
		good, err := os.ReadFile(path)
		require.NoError(t, err)
		var e *dictfile.Error
		for _, cut := range []int{1, 8, 16} {
			if len(good)-cut > 200 {
				require.NoError(t, os.WriteFile(path, good[:len(good)-cut], 0o600))
				_, err = dictfile.Open(ctx, path)
				require.ErrorAs(t, err, &e)
				require.ErrorIs(t, err, structures.ErrTruncated)
			}
		}
		require.NoError(t, os.WriteFile(path, append(good, 0), 0o600))
		_, err = dictfile.Open(ctx, path)
		require.ErrorIs(t, err, structures.ErrCorrupt)
	}
	for _, pairs := range []int64{-1, 6, 1 << 40, 1<<60 + 5, 1<<63 - 1} {
		require.NoError(t, os.WriteFile(path, head(pairs), 0o600))
		_, err := dictfile.Open(ctx, path)
		require.Error(t, err, "%d pairs", pairs)
		require.True(t, errors.Is(err, structures.ErrTruncated) || errors.Is(err, structures.ErrCorrupt), "%v", err)
	}
}

// head returns a valid header without blocks.
func head(pairs int64) []byte {
	return described(2, fmt.Sprintf(`{"structure":"slabhash","pairs":%d}`, pairs))
}

// described returns a valid header with a description.
func described(version byte, description string) []byte {
	b := append([]byte(dictfile.Magic), version, 0, 0, 0, byte(len(description)), 0, 0, 0)
	b = append(b, description...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

func TestRewind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	save(t, path, 70000)
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	r, err := dictfile.Open(first, path)
	require.NoError(t, err)
	defer r.Close()
	for range 2 {
		keys, values, err := load(r, 1000)
		require.NoError(t, err)
		wantKeys, wantValues := pairs(70000)
		require.Equal(t, wantKeys, keys)
		require.Equal(t, wantValues, values)
		cancel()
		require.NoError(t, r.Rewind(ctx))
	}
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	r, err = dictfile.NewReader("f", bytes.NewReader(data))
	require.NoError(t, err)
	assert.ErrorIs(t, r.Rewind(ctx), input.ErrSeek)
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	_, err := dictfile.NewReader("f", iotest.ErrReader(broken))
	assert.EqualError(t, err, "f: broken")
	_, err = dictfile.Open(ctx, t.TempDir())
	assert.ErrorIs(t, err, syscall.EISDIR)
	var ie *input.Error
	assert.ErrorAs(t, err, &ie)

	path := filepath.Join(t.TempDir(), "d.vkds")
	save(t, path, 3*65536)
	cancelled, cancel := context.WithCancel(ctx)
	r, err := dictfile.Open(cancelled, path)
	require.NoError(t, err)
	defer r.Close()
	cancel()
	_, _, err = load(r, 100)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d.vkds")
	w, err := dictfile.Create(ctx, path, dictfile.Header{Pairs: 100})
	require.NoError(t, err)
	keys, values := pairs(50)
	require.NoError(t, w.Write(keys, values))
	w.Abort()
	onlyFile(t, dir, "")
	assert.ErrorIs(t, w.Write(keys, values), os.ErrClosed)
	assert.ErrorIs(t, w.Close(), os.ErrClosed)
	onlyFile(t, dir, "")

	// Fewer pairs than in the header, while replacing a file, which must stay.
	save(t, path, 7)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	w, err = dictfile.Create(ctx, path, dictfile.Header{Pairs: 100})
	require.NoError(t, err)
	require.NoError(t, w.Write(keys, values))
	err = w.Close()
	var count *saved.CountError
	require.ErrorAs(t, err, &count)
	assert.EqualError(t, err, path+": 50 pairs written to a dictionary of 100")
	assert.Equal(t, err, w.Close())
	onlyFile(t, dir, "d.vkds")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := dictfile.Create(ctx, dir, dictfile.Header{})
	assert.ErrorIs(t, err, syscall.EISDIR)
	_, err = dictfile.Create(ctx, filepath.Join(dir, "none", "d.vkds"), dictfile.Header{})
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = dictfile.Create(ctx, filepath.Join(dir, "d"), dictfile.Header{Writer: strings.Repeat("x", 2<<20)})
	var e *dictfile.Error
	assert.ErrorAs(t, err, &e)
	onlyFile(t, dir, "")
}

func TestAnyPairs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.Uint64()).Draw(t, "keys")
		values := rapid.SliceOfN(rapid.Uint64(), len(keys), len(keys)).Draw(t, "values")
		w, err := dictfile.Create(ctx, path, dictfile.Header{Structure: "slabhash", Pairs: int64(len(keys)),
			Width: structures.Bits64})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(keys, values), w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := dictfile.Open(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		gotKeys, gotValues, err := load(r, 5)
		if err != nil || len(gotKeys) != len(keys) {
			t.Fatalf("%d pairs of %d: %v", len(gotKeys), len(keys), err)
		}
		for i := range keys {
			if gotKeys[i] != keys[i] || gotValues[i] != values[i] {
				t.Fatalf("pair %d", i)
			}
		}
	})
}

// FuzzRead checks that reading never panics, and never ends without an error unless the data is valid.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "d.vkds")
	save(f, path, 3)
	data, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(data)
	f.Add(data[:20])
	for _, h := range textKinds {
		saveTexts(f, path, h, 3, func(i int) [2]string { return textRow(h, i) })
		data, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := dictfile.NewReader("f", bytes.NewReader(data))
		if err != nil {
			return
		}
		keys, _, err := load(r, 10)
		if err == nil && int64(len(keys)) != r.Header().Pairs {
			t.Fatalf("%d pairs of %d", len(keys), r.Header().Pairs)
		}
	})
}

func Benchmark(b *testing.B) {
	path := filepath.Join(b.TempDir(), "d.vkds")
	const n = 1 << 20
	keys, values := pairs(n)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			w, err := dictfile.Create(ctx, path, dictfile.Header{Pairs: n})
			require.NoError(b, err)
			require.NoError(b, w.Write(keys, values))
			require.NoError(b, w.Close())
		}
	})
	b.Run("read", func(b *testing.B) {
		b.SetBytes(8 * n)
		for b.Loop() {
			r, err := dictfile.Open(ctx, path)
			require.NoError(b, err)
			for err == nil {
				_, err = r.Read(keys, values)
			}
			require.Equal(b, io.EOF, err)
			require.NoError(b, r.Close())
		}
	})
}

// Each type of the tool is stored as a type of numbers, as wide as its words, and words are read back unchanged.
func TestTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.vkds")
	for typ := keytype.Uint32; typ < keytype.Text; typ++ {
		c, ok := saved.Named(typ.String())
		require.True(t, ok, typ)
		require.Equal(t, typ.Width(), c.Type.Width, typ)
		words := []uint64{0, 1, 1 << 31, 1<<31 + 5, 1<<32 - 1}
		if typ.Width() == structures.Bits64 {
			words = append(words, 1<<32, 1<<63, 1<<64-1)
		}
		w, err := dictfile.Create(ctx, path, dictfile.Header{Structure: "btree", Pairs: int64(len(words)),
			KeyType: typ.String(), ValueType: typ.String()})
		require.NoError(t, err)
		require.NoError(t, errors.Join(w.Write(words, words), w.Close()))
		r, err := dictfile.Open(ctx, path)
		require.NoError(t, err)
		require.Equal(t, typ.Width(), r.Header().Width)
		keys, values, err := load(r, 10)
		require.NoError(t, err)
		require.Equal(t, words, keys, typ)
		require.Equal(t, words, values, typ)
		require.NoError(t, r.Close())
	}
	_, err := dictfile.Create(ctx, path, dictfile.Header{KeyType: "u33"})
	require.ErrorContains(t, err, `unknown type "u33"`)
}

// In files of earlier versions, a type that is wider than the words is an error, because no program wrote such files. A
// narrower type is valid.
func TestTypesAndWidths(t *testing.T) {
	for _, c := range []struct {
		version byte
		key     string
		want    keytype.Type
		fault   string
	}{
		{2, "", keytype.Uint32, ""}, {4, "", keytype.Uint64, ""}, {8, "", 0, "is corrupt: keys of type"},
		{4, "i32", keytype.Int32, ""}, {4, "time64", keytype.Time64, ""}, {8, "time64", keytype.Time64, ""},
		{2, "u64", 0, `is corrupt: numbers of type "u64" in 32 bits`},
		{8, "u33", 0, `is corrupt: numbers of type "u33"`},
	} {
		r, err := dictfile.NewReader("f", bytes.NewReader(described(c.version,
			fmt.Sprintf(`{"structure":"slabhash","pairs":0,"key_type":%q}`, c.key))))
		if c.fault != "" {
			require.ErrorContains(t, err, c.fault)
			continue
		}
		require.NoError(t, err)
		key, _, err := dictfile.Types(r.Header())
		require.NoError(t, err)
		require.Equal(t, c.want, key)
	}
}

// Files that earlier commits wrote, one for each version of the format, are read with the original contents. v2 is from
// the tool at cb05142^, v3 from a saved set of the same commit, v4 and v5 likewise at d6a8300.
func TestFilesOfEarlierVersions(t *testing.T) {
	for file, want := range map[string]struct {
		structure string
		keysOnly  bool
		rows      []string
	}{
		"v2.vkds": {"btree", false, []string{"0.0.0.0,-2147483648", "0.0.0.1,7", "8.8.8.8,-1", "127.255.255.255,0",
			"128.0.0.0,2147483647", "255.255.255.255,5"}},
		"v3.vkds": {"slabhash", true, []string{"0,0", "1,0", "79,0", "2147483647,0", "2147483648,0", "4294967294,0",
			"4294967295,0"}},
		"v4.vkds": {"lsm", false, []string{"-9223372036854775808,0", "-1,18446744073709551615", "0,1",
			"4294967296,4294967296", "9223372036854775807,4294967295"}},
		"v5.vkds": {"slabhash", true, []string{"0,0", "1,0", "4294967295,0", "4294967296,0", "9223372036854775808,0",
			"18446744069414584320,0", "18446744073709551615,0"}},
	} {
		r, err := dictfile.Open(ctx, filepath.Join("..", "..", "engine", "saved", "testdata", file))
		require.NoError(t, err)
		require.Equal(t, want.structure, r.Header().Structure)
		require.Equal(t, want.keysOnly, r.Header().KeysOnly)
		key, value, err := dictfile.Types(r.Header())
		require.NoError(t, err)
		keys, values := make([]uint64, 9), make([]uint64, 9)
		n, err := r.Read(keys, values)
		require.NoError(t, err)
		var rows []string
		for i := range n {
			rows = append(rows, key.Format(keys[i])+","+value.Format(values[i]))
		}
		assert.ElementsMatch(t, want.rows, rows, file)
		_, err = r.Read(keys, values)
		require.Equal(t, io.EOF, err, file)
		require.NoError(t, r.Close())
	}
}
