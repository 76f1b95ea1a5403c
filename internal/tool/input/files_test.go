package input_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

var ctx = context.Background()

// column is one column of a type, the first where it has no name.
func column(t keytype.Type, name ...string) []input.Column {
	return []input.Column{{Name: strings.Join(name, ""), Type: t}}
}

// columns are some of integers.
func columns(names ...string) (all []input.Column) {
	for _, name := range names {
		all = append(all, input.Column{Name: name})
	}
	return all
}

// ends are the two ends of ranges.
func ends(t keytype.Type, names ...string) []input.Column {
	all := []input.Column{{Type: t}, {Type: t, End: true}}
	for i, name := range names {
		all[i].Name = name
	}
	return all
}

var errWiden = errors.New("what was read before has no place in the wider type")

// drain reads a file to its end, a few rows at a time, and checks the reader's promises on the way.
func drain(r *input.Reader, columns, batch int) (words [][]uint64, err error) {
	words = make([][]uint64, columns)
	part := make([][]uint64, columns)
	for c := range part {
		part[c] = make([]uint64, batch)
	}
	types := r.Types()
	for {
		n, err := r.Read(part...)
		for c := range part {
			if was := types[c]; n > 0 && !r.Types()[c].Widen(was, words[c]) {
				return words, errWiden
			}
			words[c] = append(words[c], part[c][:n]...)
		}
		if n > 0 {
			types = r.Types()
		}
		if err == io.EOF && n != 0 || err == nil && n == 0 {
			return nil, errors.New("io.EOF came with rows, or nothing came without it")
		}
		if err != nil {
			if n, again := r.Read(part...); n != 0 || again != err {
				return nil, errors.New("the error went away")
			}
		}
		if err == io.EOF {
			return words, nil
		}
		if err != nil {
			return words, err
		}
	}
}

// stream reads a text to its end.
func stream(text string, o input.Options, batch int) (words [][]uint64, skipped int64, err error) {
	r, err := input.Stream("f", strings.NewReader(text), o)
	if err != nil {
		return nil, 0, err
	}
	words, err = drain(r, len(o.Columns), batch)
	return words, r.Skipped(), err
}

// load reads a file to its end.
func load(path string, o input.Options, batch int) (words [][]uint64, skipped int64, err error) {
	r, err := input.Open(ctx, path, o)
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	words, err = drain(r, len(o.Columns), batch)
	return words, r.Skipped(), err
}

// table are the columns of a table.
func table(key string, kt keytype.Type, value string, vt keytype.Type) []input.Column {
	return []input.Column{{Name: key, Type: kt}, {Name: value, Type: vt}}
}

// readTable reads a table, of integers from the first two columns where there is no telling.
func readTable(path string, o input.Options, batch int) (keys, values []uint64, skipped int64, err error) {
	if o.Columns == nil {
		o.Columns = columns("", "")
	}
	words, skipped, err := load(path, o, batch)
	if words == nil {
		return nil, nil, skipped, err
	}
	return words[0], words[1], skipped, err
}

func write(t testing.TB, name string, data []byte) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func gz(t testing.TB, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

func writeOver(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }

// asAny tells whether errors.As finds one of the targets.
func asAny(err error, targets ...any) bool {
	for _, target := range targets {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}

// feed makes a named pipe at path, anew, and writes data to whoever opens it.
func feed(t *testing.T, path string, data []byte) {
	_ = os.Remove(path)
	require.NoError(t, exec.Command("mkfifo", path).Run())
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = w.Write(data) // a reader that gives up early breaks the pipe
			_ = w.Close()
		}
	}()
}
