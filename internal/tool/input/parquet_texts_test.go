package input

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/stress"
	"pgregory.net/rapid"
)

var textKind = kindOf("text", parquet.Types.ByteArray, schema.StringLogicalType{}, nil,
	func(s string) parquet.ByteArray { return parquet.ByteArray(s) })

// textsOf returns a table of one column.
func textsOf(groups ...[]any) drawnTable {
	table := drawnTable{kinds: []columnKind{textKind}}
	for _, group := range groups {
		table.groups = append(table.groups, [][]any{group})
	}
	return table
}

// Texts that are encoded by a dictionary, by one that is full after some pages, or by none are read alike: in pages of
// both versions, with nulls, and from row groups each of which has another dictionary.
func TestDictionaries(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	folder := t.TempDir()
	for range 1 + 100*stress.Level {
		rapid.Check(t, func(t *rapid.T) { compareDictionaries(t, folder) })
	}
}

func compareDictionaries(t *rapid.T, folder string) {
	pool := []any{nil, "", "", "7", "8", "-1", "x", "NULL", "2024-05-06", "\x00", strings.Repeat("long ", 99)}
	for i := range 20 {
		pool = append(pool, fmt.Sprint("word ", i))
	}
	var groups [][]any
	for range rapid.IntRange(0, 5).Draw(t, "groups") {
		kinds := rapid.SliceOfN(rapid.SampledFrom(pool), 1, 12).Draw(t, "distinct")
		groups = append(groups, rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 60).Draw(t, "rows"))
	}
	table := textsOf(groups...)
	column := Column{Name: "text", Type: rapid.SampledFrom([]keytype.Type{keytype.Text, keytype.Text, keytype.Uint32,
		keytype.Time}).Draw(t, "type")}
	o := Options{Format: Parquet, Columns: []Column{column, column}, block: rapid.IntRange(1, 70).Draw(t, "batch"),
		SkipInvalid: rapid.Bool().Draw(t, "skip"), KeepNull: rapid.Bool().Draw(t, "keep nulls")}
	if rapid.Bool().Draw(t, "null") {
		null := rapid.SampledFrom([]string{"0", "", "none"}).Draw(t, "null is")
		o.Null = &null
	}
	size := rapid.SampledFrom([]int{1, 5, 30, 1000}).Draw(t, "rows at a time")
	pages := []parquet.WriterProperty{parquet.WithBatchSize(int64(rapid.IntRange(1, 20).Draw(t, "page"))),
		parquet.WithDataPageSize(1), parquet.WithDictionaryPageSizeLimit(rapid.SampledFrom([]int64{1, 40, 1 << 20}).
			Draw(t, "dictionary page")), parquet.WithDataPageVersion(rapid.SampledFrom([]parquet.DataPageVersion{
			parquet.DataPageV1, parquet.DataPageV2}).Draw(t, "version")), parquet.WithCompression(
			rapid.SampledFrom([]compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy}).
				Draw(t, "compression"))}
	read := func(dictionary bool) []string {
		path := filepath.Join(folder, "a.parquet")
		require.NoError(t, os.WriteFile(path, table.parquet(append(pages,
			parquet.WithDictionaryDefault(dictionary))...), 0o600))
		f, err := OpenFile(context.Background(), path)
		require.NoError(t, err)
		r, err := newReader(path, f, o)
		require.NoError(t, err)
		r.file = f
		defer r.Close()
		return readAll(r, size)
	}
	require.Equal(t, read(false), read(true))
}

// openTable opens a Parquet file with a column of text.
func openTable(t *testing.T, data []byte) *Reader {
	path := filepath.Join(t.TempDir(), "a.parquet")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	r, err := Open(context.Background(), path, Options{Columns: []Column{{Name: "text", Type: keytype.Text}}})
	require.NoError(t, err)
	t.Cleanup(func() { r.Close() })
	return r
}

// A Read has each text of a dictionary once, however many batches its rows are of, and none that its rows don't have.
func TestTextsOnce(t *testing.T) {
	const rows = 3 * batchRows
	group, random := make([]any, rows), rand.New(rand.NewPCG(1, 2))
	for i := range group {
		if group[i] = ""; i%9 > 0 {
			group[i] = fmt.Sprint("word ", random.IntN(1000))
		}
	}
	r := openTable(t, textsOf(group).parquet())
	for _, size := range []int{1, 10, rows} {
		words, distinct := make([]uint64, size), map[string]bool{}
		n, err := r.Read(words)
		require.NoError(t, err)
		for i, w := range words[:n] {
			text := string(r.Texts()[0].At(w))
			require.Equal(t, group[i], text)
			distinct[text] = true
		}
		group = group[n:]
		require.Equal(t, len(distinct), r.Texts()[0].Len())
	}
}

// Texts of a dictionary may be as long as others: those that are too long are errors of their rows alone.
func TestLongTextsInDictionary(t *testing.T) {
	longest := strings.Repeat("x", keytype.Longest)
	r := openTable(t, textsOf([]any{"a", longest, "b", longest, longest + "y", "a"}).parquet(
		parquet.WithDictionaryPageSizeLimit(1<<30)))
	words := make([]uint64, 9)
	n, err := r.Read(words)
	var row *RowError
	require.ErrorAs(t, err, &row)
	require.ErrorIs(t, err, ErrLongText)
	require.EqualValues(t, 5, row.Row)
	require.Equal(t, 4, n)
	for i, want := range []string{"a", longest, "b", longest} {
		require.True(t, want == string(r.Texts()[0].At(words[i])))
	}
}

// An index that the dictionary doesn't have is an error that names the file, and so is a dictionary that ends early.
func TestDamagedDictionaries(t *testing.T) {
	group := make([]any, 40)
	for i := range group {
		group[i] = []string{"a", "b", "c"}[min(i, 2)]
	}
	whole := textsOf(group).parquet(parquet.WithCompression(compress.Codecs.Uncompressed),
		parquet.WithBatchSize(20), parquet.WithDataPageSize(1))
	f, err := file.NewParquetReader(strings.NewReader(string(whole)))
	require.NoError(t, err)
	chunk, err := f.MetaData().RowGroup(0).ColumnChunk(0)
	require.NoError(t, err)
	begin := chunk.DictionaryPageOffset()
	last := begin + chunk.TotalCompressedSize() - 1 // the index of the last run
	require.EqualValues(t, 2, whole[last])
	third := begin + int64(strings.Index(string(whole[begin:]), "c")) - 4 // its length
	for name, c := range map[string]struct {
		at int64
		to byte
	}{
		"the index": {last, 3},
		"a length":  {third, 200},
	} {
		data := append([]byte(nil), whole...)
		data[c.at] = c.to
		r := openTable(t, data)
		_, err := r.Read(make([]uint64, 100))
		var damaged *DamagedError
		require.ErrorAs(t, err, &damaged, name)
		require.Contains(t, damaged.File, "a.parquet", name)
	}
}
