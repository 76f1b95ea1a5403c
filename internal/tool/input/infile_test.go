package input_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"
	"github.com/vkds/vkds/internal/tool/input"
)

// numbers is what `seq 1 200` prints.
func numbers() []byte {
	var text []byte
	for i := 1; i <= 200; i++ {
		text = append(strconv.AppendInt(text, int64(i), 10), '\n')
	}
	return text
}

// bzipped is `seq 1 200 | bzip2`: Go has no bzip2 writer.
const bzipped = `QlpoOTFBWSZTWXBO73QAAHlIAAAQf+BAAbBwAgGmmgip+gbeqpCAaaaCn+qpIb/VP9VUv6r3zvsj6LAMNAPDYHQ4DgOhsDw0AwsA
igAxTQDw2B0OA4DobA8NAMLAIoAJUqSSSMzMzMzJX6l1oB9JJJJF1+4d7w73h3vDveHe8O94d7w73h3vLyVVWtttt7uAAAXleVVb
W223v0AAC8q+VVtrbbe/wAAF5VflVttbbe/oAAF5VX7Vttrbe/gAAF5VV/Vtttbe/AAALyqq+2222t74AABzy+VVX33bbbaAADj/
F3JFOFCQcE7vdA==`

func compressed(t testing.TB) map[string][]byte {
	bz, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(bzipped, "\n", ""))
	require.NoError(t, err)
	files := map[string][]byte{"keys": numbers(), "keys.bz2": bz}
	for name, writer := range map[string]func(io.Writer) (io.WriteCloser, error){
		"keys.gz": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"keys.xz": func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		"blocks.xz": func(w io.Writer) (io.WriteCloser, error) {
			return xz.WriterConfig{BlockSize: 100}.NewWriter(w)
		},
		"keys.zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	} {
		var out bytes.Buffer
		w, err := writer(&out)
		require.NoError(t, err)
		_, err = w.Write(numbers())
		require.NoError(t, err)
		require.NoError(t, w.Close())
		files[name] = out.Bytes()
	}
	return files
}

func readAll(path string) ([]byte, error) {
	f, err := input.OpenFile(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func TestEveryCompression(t *testing.T) {
	for name, data := range compressed(t) {
		path := write(t, name, data)
		f, err := input.OpenFile(context.Background(), path)
		require.NoError(t, err, name)
		assert.Equal(t, path, f.Name())
		assert.Equal(t, name != "keys", f.Compressed())
		got, err := io.ReadAll(f)
		require.NoError(t, err, name)
		assert.Equal(t, string(numbers()), string(got), name)
		read, size := f.Position()
		assert.EqualValues(t, len(data), read, name)
		assert.EqualValues(t, len(data), size, name)
		require.NoError(t, f.Close())

		// Two files one after another are one file, as the compressors say.
		got, err = readAll(write(t, name, append(bytes.Clone(data), data...)))
		require.NoError(t, err, name)
		assert.Equal(t, strings.Repeat(string(numbers()), 2), string(got), name)
	}
}

func TestTruncatedAnywhere(t *testing.T) {
	for name, data := range compressed(t) {
		if name == "keys" {
			continue
		}
		for n := range len(data) {
			got, err := readAll(write(t, name, data[:n]))
			var e *input.Error
			require.ErrorAs(t, err, &e, "%s cut to %d of %d bytes gave %d bytes", name, n, len(data), len(got))
			if n == 0 {
				assert.ErrorContains(t, err, "is no ")
			}
			assert.Equal(t, 1, strings.Count(err.Error()+"\n", "\n"))
		}
		_, err := readAll(write(t, name, data[:len(data)/2]))
		assert.ErrorIs(t, err, input.ErrTruncated, name)
	}
}

func TestDamagedAnywhere(t *testing.T) {
	for name, data := range compressed(t) {
		if name == "keys" {
			continue
		}
		for at := range data {
			bad := bytes.Clone(data)
			bad[at] ^= 0x55
			got, err := readAll(write(t, name, bad))
			// A header holds bytes that mean nothing to the data (gzip's time
			// and system); nothing may come out changed without an error.
			if err == nil {
				require.Equal(t, string(numbers()), string(got), "%s, byte %d", name, at)
				continue
			}
			var e *input.Error
			require.ErrorAs(t, err, &e, "%s, byte %d", name, at)
		}
	}
}

func TestWrongKind(t *testing.T) {
	for _, suffix := range []string{"gz", "bz2", "xz", "zst"} {
		_, err := readAll(write(t, "keys."+suffix, numbers()))
		var e *input.Error
		require.ErrorAs(t, err, &e)
	}
	_, err := readAll(write(t, "keys.gz", numbers()))
	assert.ErrorContains(t, err, "keys.gz: is no gzip file")
	for name, data := range compressed(t) {
		kind := map[string]string{"keys.gz": "gzip", "keys.bz2": "bzip2", "keys.xz": "xz", "blocks.xz": "xz",
			"keys.zst": "zstd"}[name]
		assert.Equal(t, kind, input.Compression(data))
	}
	assert.Equal(t, "a.csv", input.TrimCompression("a.csv.GZ"))
	assert.Equal(t, "a.csv", input.TrimCompression("a.csv"))
}

func TestCannotOpen(t *testing.T) {
	dir := t.TempDir()
	_, err := input.OpenFile(context.Background(), dir)
	assert.ErrorIs(t, err, syscall.EISDIR)
	assert.EqualError(t, err, dir+": is a directory")
	_, err = input.OpenFile(context.Background(), filepath.Join(dir, "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.EqualError(t, err, filepath.Join(dir, "none")+": no such file or directory")
	var e *input.Error
	require.ErrorAs(t, err, &e)
}

func TestRandom(t *testing.T) {
	f, err := input.OpenFile(context.Background(), write(t, "keys", numbers()))
	require.NoError(t, err)
	defer f.Close()
	r, err := f.Random()
	require.NoError(t, err)
	four := make([]byte, 4)
	_, err = r.ReadAt(four, r.Size()-4)
	require.NoError(t, err)
	assert.Equal(t, "200\n", string(four))
	head, err := io.ReadAll(io.LimitReader(f, 2))
	require.NoError(t, err)
	assert.Equal(t, "1\n", string(head))

	z, err := input.OpenFile(context.Background(), write(t, "keys.gz", compressed(t)["keys.gz"]))
	require.NoError(t, err)
	defer z.Close()
	_, err = z.Random()
	assert.ErrorIs(t, err, input.ErrSeek)
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f, err := input.OpenFile(ctx, write(t, "keys.gz", compressed(t)["keys.gz"]))
	require.NoError(t, err)
	defer f.Close()
	cancel()
	_, err = io.ReadAll(f)
	if err != nil { // the small file may have been buffered already
		assert.ErrorIs(t, err, context.Canceled)
	}
	f, err = input.OpenFile(ctx, write(t, "keys", numbers()))
	if err == nil {
		_, err = io.ReadAll(f)
		f.Close()
	}
	assert.ErrorIs(t, err, context.Canceled)
}

// A pipe that nobody writes to must not keep a cancelled command waiting.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, exec.Command("mkfifo", path).Run())

	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	_, err := input.OpenFile(ctx, path)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	cancel()

	want := bytes.Repeat(numbers(), 3000) // more than the pipe and both buffers hold
	written := make(chan error, 1)
	hold := make(chan struct{})
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			written <- err
			return
		}
		_, err = w.Write(want)
		<-hold
		written <- errors.Join(err, w.Close())
	}()
	ctx, cancel = context.WithCancel(context.Background())
	f, err := input.OpenFile(ctx, path)
	require.NoError(t, err)
	defer f.Close()
	_, size := f.Position()
	assert.EqualValues(t, -1, size)
	_, err = f.Random()
	assert.ErrorIs(t, err, input.ErrSeek)
	got := make([]byte, len(want))
	_, err = io.ReadFull(f, got)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(want, got))
	time.AfterFunc(10*time.Millisecond, cancel)
	_, err = f.Read(got) // the writer still holds the pipe open
	assert.ErrorIs(t, err, context.Canceled)
	close(hold)
	require.NoError(t, <-written)
}
