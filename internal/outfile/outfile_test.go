package outfile_test

import (
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
	"github.com/vkds/vkds/internal/outfile"
)

// The test binary is also a writer that is killed: see TestOrphans.
func TestMain(m *testing.M) {
	if path := os.Getenv("OUTFILE_TEST_KILLED"); path != "" {
		if f, err := outfile.Create(path); err == nil {
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
	require.NoError(t, outfile.Replace(path, []byte("old")))
	f, err := outfile.Create(path)
	require.NoError(t, err)
	_, err = f.Write([]byte("new"))
	require.NoError(t, err)
	assert.Equal(t, "old", content(t, path))
	f.Abort()
	assert.Equal(t, []string{"a"}, names(t, dir))
	assert.ErrorIs(t, f.Commit(), os.ErrClosed)
	assert.Equal(t, "old", content(t, path))

	f, err = outfile.Create(path)
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

func TestKeepsPermissions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o777} {
		require.NoError(t, outfile.Replace(path, nil))
		require.NoError(t, os.Chmod(path, mode))
		require.NoError(t, outfile.Replace(path, []byte("new")))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode())
		assert.Equal(t, "new", content(t, path))
	}
}

// What a symbolic link points to is replaced, or made, in its own folder.
func TestFollowsLinks(t *testing.T) {
	dir, real := t.TempDir(), t.TempDir()
	link, second, place := filepath.Join(dir, "link"), filepath.Join(dir, "second"), filepath.Join(real, "a")
	require.NoError(t, os.Symlink(place, link))
	require.NoError(t, os.Symlink("link", second)) // relative to its folder
	for _, path := range []string{link, second} {
		_ = os.Remove(place)
		for _, text := range []string{"first", "again"} {
			require.NoError(t, outfile.Replace(path, []byte(text)))
			assert.Equal(t, text, content(t, place))
			assert.Equal(t, []string{"a"}, names(t, real))
			assert.Equal(t, []string{"link", "second"}, names(t, dir))
		}
		target, err := os.Readlink(path)
		require.NoError(t, err)
		assert.Contains(t, []string{place, "link"}, target)
	}
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink("second", link))
	assert.ErrorIs(t, outfile.Check(link), syscall.ELOOP)
}

func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]error{
		"":                              outfile.ErrEmpty,
		"-":                             outfile.ErrStdout,
		dir:                             syscall.EISDIR,
		"/dev/null":                     outfile.ErrNotRegular,
		filepath.Join(dir, "none", "a"): fs.ErrNotExist,
		filepath.Join(dir, "a.csv.gz"):  outfile.ErrCompressed,
		filepath.Join(dir, "a.zst"):     outfile.ErrCompressed,
		filepath.Join(dir, "a.XZ"):      outfile.ErrCompressed,
		filepath.Join(dir, "a.bz2"):     outfile.ErrCompressed,
	} {
		assert.ErrorIs(t, outfile.Check(path), want, path)
		_, err := outfile.Create(path)
		assert.ErrorIs(t, err, want, path)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	assert.ErrorIs(t, outfile.Check(filepath.Join(dir, "file", "a")), syscall.ENOTDIR)
	assert.NoError(t, outfile.CheckReplace("/dev/null"))
	assert.NoError(t, outfile.Replace("/dev/null", []byte("x")))
	assert.ErrorIs(t, outfile.CheckReplace(dir), syscall.EISDIR)
	err := outfile.Replace("/dev/full", []byte("x"))
	assert.EqualError(t, err, "/dev/full: no space left on device")
	assert.Equal(t, []string{"file"}, names(t, dir))

	// What /dev/stdout is before a pipe: a link to what has no name.
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	pipe := fmt.Sprintf("/proc/self/fd/%d", w.Fd())
	assert.ErrorIs(t, outfile.Check(pipe), outfile.ErrNotRegular)
	assert.NoError(t, outfile.CheckReplace(pipe))
	require.NoError(t, outfile.Replace(pipe, []byte("x")))
	var one [1]byte
	_, err = r.Read(one[:])
	require.NoError(t, err)
	assert.Equal(t, "x", string(one[:]))
}

// The temporary files of killed writers go with the next writer of the same file;
// those of writers that are at work, and everything else, stay.
func TestOrphans(t *testing.T) {
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
	atWork, err := outfile.Create(path)
	require.NoError(t, err)
	assert.Len(t, names(t, dir), 5)
	require.NoError(t, outfile.Replace(path, []byte("second")))
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
				if err := outfile.Replace(path, fmt.Appendf(nil, "%d %d", w, i)); err != nil {
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
