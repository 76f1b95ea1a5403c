package outfile_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/test/pass"
)

var ctx = context.Background()

// The test binary is also a writer that is killed: see TestOrphans.
func TestMain(m *testing.M) {
	pass.Host.Begin()
	if path := os.Getenv("OUTFILE_TEST_KILLED"); path != "" {
		if f, err := outfile.Create(ctx, path); err == nil {
			_, _ = f.Write([]byte("half"))
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				_ = self.Kill()
			}
			select {} // until it is
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func names(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func content(t *testing.T, path string) string {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestWholeOrNot(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, outfile.Replace(ctx, path, []byte("old")))
	f, err := outfile.Create(ctx, path)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	assert.Equal(t, "old", content(t, path))
	f.Abort()
	assert.Equal(t, []string{"a"}, names(t, dir))
	assert.ErrorIs(t, f.Commit(), os.ErrClosed)
	assert.Equal(t, "old", content(t, path))

	f, err = outfile.Create(ctx, path)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	require.NoError(t, f.Commit())
	f.Abort()
	assert.Equal(t, "new", content(t, path))
	assert.Equal(t, []string{"a"}, names(t, dir))
	info, err := os.Stat(path)
	require.NoError(t, err)
	plain := filepath.Join(dir, "b")
	require.NoError(t, os.WriteFile(plain, nil, 0o666))
	like, err := os.Stat(plain)
	require.NoError(t, err)
	assert.Equal(t, like.Mode(), info.Mode())
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]error{
		"":                              outfile.ErrEmpty,
		"-":                             outfile.ErrStdout,
		dir:                             syscall.EISDIR,
		filepath.Join(dir, "none", "a"): fs.ErrNotExist,
		filepath.Join(dir, "a.csv.gz"):  outfile.ErrCompressed,
		filepath.Join(dir, "a.zst"):     outfile.ErrCompressed,
		filepath.Join(dir, "a.XZ"):      outfile.ErrCompressed,
		filepath.Join(dir, "a.bz2"):     outfile.ErrCompressed,
	} {
		assert.ErrorIs(t, outfile.Check(path), want, path)
		_, err := outfile.Create(ctx, path)
		assert.ErrorIs(t, err, want, path)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	assert.ErrorIs(t, outfile.Check(filepath.Join(dir, "file", "a")), syscall.ENOTDIR)
	assert.NoError(t, outfile.CheckBinary(os.DevNull))
	assert.NoError(t, outfile.Replace(ctx, os.DevNull, []byte("x")))
	assert.Equal(t, []string{"file"}, names(t, dir))
}

// The temporary files of killed writers go with the next writer of the same file;
// those of writers that are at work, and everything else, stay.
func TestOrphans(t *testing.T) {
	pass.NotEmulated(t, "the program starts itself")
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for range 2 { // the second removes the first one's
		killed := exec.Command(os.Args[0])
		killed.Env = append(os.Environ(), "OUTFILE_TEST_KILLED="+path)
		_ = killed.Run()
		require.Len(t, names(t, dir), 1)
	}
	for _, name := range []string{".a.1234567.tmp", ".a.1234567x.tmp", ".b.12345678.tmp", "a.12345678.tmp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	atWork, err := outfile.Create(ctx, path)
	require.NoError(t, err)
	assert.Len(t, names(t, dir), 5)
	require.NoError(t, outfile.Replace(ctx, path, []byte("second")))
	assert.Len(t, names(t, dir), 6)
	_, err = atWork.Write([]byte("first"))
	require.NoError(t, err)
	require.NoError(t, atWork.Commit())
	assert.Equal(t, "first", content(t, path))
	assert.Equal(t, []string{".a.1234567.tmp", ".a.1234567x.tmp", ".b.12345678.tmp", "a", "a.12345678.tmp"},
		names(t, dir))
}

// Writers of one file at the same time: each succeeds, and one of them is last.
func TestWritersAtOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	var group sync.WaitGroup
	errors := make([]error, 8)
	for w := range errors {
		group.Go(func() {
			for i := range 50 {
				if err := outfile.Replace(ctx, path, fmt.Appendf(nil, "%d %d", w, i)); err != nil {
					errors[w] = err
				}
			}
		})
	}
	group.Wait()
	for _, err := range errors {
		require.NoError(t, err)
	}
	assert.Regexp(t, `^\d 49$`, content(t, path))
	assert.Equal(t, []string{"a"}, names(t, dir))
}
