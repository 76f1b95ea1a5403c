package input

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// However many record batches a stream has and however large they are, only some rows are decoded ahead: by their size,
// and by the number of parts. All are read in the end, and closing midway ends the goroutines.
func TestArrowDecodedAhead(t *testing.T) {
	const ahead, size = 8, 10*2*8 + 1 // of a batch: words, and the file's
	for name, c := range map[string]struct{ groups, rows, bytes, waiting int }{
		"one large record batch":    {1, 400, 5 * size, 4},
		"many small ones":           {40, 10, 5 * size, 4},
		"those of all goroutines":   {40, 10, 1 << 30, ahead - 1},
		"a batch that is too large": {40, 10, 1, 0},
	} {
		data := numbersOf(c.groups, c.rows, 0).arrow(c.rows)
		synctest.Test(t, func(t *testing.T) { // which fails if a goroutine outlives close
			open := func() (*arrowRows, []*column) {
				p := newArrowRows(&File{}, &Options{block: 10, parts: ahead})
				p.messages.r, p.bytes, p.places = bytes.NewReader(data), c.bytes, []int{0}
				var err error
				p.reader, err = ipc.NewReaderFromMessageReader(&p.messages)
				require.NoError(t, err)
				return p, chosen([]Column{{Type: keytype.Uint32, Wider: keytype.Uint32.Wider()}}, nil)
			}
			p, columns := open()
			for want := 0; ; {
				got, err := p.load(columns)
				if want == c.groups*c.rows {
					require.Equal(t, io.EOF, err, name)
					break
				}
				require.NoError(t, err, name)
				for _, w := range got[0].words {
					require.EqualValues(t, want, w, name)
					want++
				}
				synctest.Wait()
				waiting := 0
				for _, part := range p.parts {
					waiting += len(part.batches)
				}
				require.LessOrEqual(t, waiting, c.waiting, name)
				if 10 < want && want < 300 { // the first batch shows how large they are
					require.Equal(t, c.waiting, waiting, name)
				}
			}
			p.close()
			p, columns = open()
			for range 3 {
				_, err := p.load(columns)
				require.NoError(t, err, name)
			}
			p.close()
		})
	}
}

// All rows before a damaged record batch are read before its error is returned.
func TestRowsBeforeDamagedArrow(t *testing.T) {
	data := numbersOf(20, 10, 0).arrow(10)
	path := filepath.Join(t.TempDir(), "a.arrows")
	require.NoError(t, os.WriteFile(path, data[:len(data)-100], 0o600))
	r, err := Open(context.Background(), path, Options{Columns: []Column{{Name: "1"}}})
	require.NoError(t, err)
	defer r.Close()
	words := make([]uint64, 400)
	n, err := r.Read(words)
	var damaged *DamagedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, 190, n)
	for i, w := range words[:n] {
		require.EqualValues(t, i, w)
	}
}

// Rows of a pipe are read when they have arrived, and not only when those after them have.
func TestArrowFromSlowPipe(t *testing.T) {
	from, to, err := os.Pipe()
	require.NoError(t, err)
	defer to.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f := &File{name: "pipe", raw: from, size: -1, ctx: ctx, close: func() {}}
	f.source = newPump(ctx, counter{f})
	f.plain = f.source
	data := numbersOf(3, 10, 0).arrow(10)
	third := len(numbersOf(2, 10, 0).arrow(10)) - 8 // where it begins; the end of a stream has 8 bytes
	_, err = to.Write(data[:third])
	require.NoError(t, err)
	r, err := NewReader(f, Options{Format: Arrow, Columns: []Column{{Name: "1"}}})
	require.NoError(t, err)
	words := make([]uint64, 10)
	for k := range 2 {
		n, err := r.Read(words)
		require.NoError(t, err)
		require.Equal(t, 10, n)
		require.EqualValues(t, 10*k, words[0])
	}
	_, err = to.Write(data[third:])
	require.NoError(t, err)
	require.NoError(t, to.Close())
	n, err := r.Read(words)
	require.NoError(t, err)
	require.Equal(t, 10, n)
	require.EqualValues(t, 20, words[0])
	_, err = r.Read(words)
	require.Equal(t, io.EOF, err)
	require.NoError(t, r.Close())
}

// Record batches whose texts are encoded by a dictionary have the rows that they were written from: with nulls, with
// dictionaries that change, and with texts that no row has.
func TestArrowDictionaries(t *testing.T) {
	kind := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	s := arrow.NewSchema([]arrow.Field{{Name: "text", Type: kind, Nullable: true}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(s))
	var want []string
	for _, words := range [][]string{{"a", "b", "unused", ""}, {"b", "c", "unused", "d"}} {
		text := array.NewStringBuilder(memory.DefaultAllocator)
		text.AppendStringValues(words, nil)
		index := array.NewInt8Builder(memory.DefaultAllocator)
		for i := range 50 {
			if k := i % 4; k == 2 {
				index.AppendNull()
				want = append(want, "none")
			} else {
				index.Append(int8(k))
				want = append(want, words[k])
			}
		}
		column := array.NewDictionaryArray(kind, index.NewArray(), text.NewArray())
		record := array.NewRecordBatch(s, []arrow.Array{column}, 50)
		require.NoError(t, w.Write(record))
	}
	require.NoError(t, w.Close())
	path, none := filepath.Join(t.TempDir(), "a.arrows"), "none"
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	for _, block := range []int{0, 7} {
		for _, size := range []int{1, 9, 200} {
			o := Options{Columns: []Column{{Name: "text", Any: true}}, Null: &none, block: block}
			r, err := Open(context.Background(), path, o)
			require.NoError(t, err)
			var got []string
			for words := make([]uint64, size); ; {
				n, err := r.Read(words)
				distinct := map[string]bool{}
				for _, word := range words[:n] {
					got = append(got, string(r.Texts()[0].At(word)))
					distinct[got[len(got)-1]] = true
				}
				require.False(t, distinct["unused"])
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
			}
			require.Equal(t, want, got)
			require.NoError(t, r.Close())
		}
	}
}
