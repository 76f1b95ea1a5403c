//go:build unix

package outfile_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/outfile"
)

// A disk that fills up: the error names the file that was asked for, and nothing
// is left beside it.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, outfile.Replace(path, []byte("old")))
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: old.Max}))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)) }()
	assert.EqualError(t, outfile.Replace(path, make([]byte, 2<<20)), path+": file too large")
	assert.Equal(t, "old", content(t, path))
	assert.Equal(t, []string{"a"}, names(t, dir))
}

// What may not be written is refused before anything is, and left as it is.
func TestWriteProtected(t *testing.T) {
	if os.Getuid() == 0 { // who may write everything
		asNobody(t)
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o400))
	assert.EqualError(t, outfile.Check(path), path+": permission denied")
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.Chmod(dir, 0o500))
	defer os.Chmod(dir, 0o700)
	assert.EqualError(t, outfile.Check(path), path+": can't be written beside its place, in "+dir+": permission denied")
}

// asNobody runs the test in a process of a user without rights.
func asNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	home, err := os.MkdirTemp("", "nobody")
	require.NoError(t, err)
	defer os.RemoveAll(home)
	require.NoError(t, os.Chmod(home, 0o777))
	program, err := os.ReadFile(os.Args[0]) // which lies where nobody can't look
	require.NoError(t, err)
	copied := filepath.Join(home, "test")
	require.NoError(t, os.WriteFile(copied, program, 0o755))
	c := exec.Command(copied, "-test.run=^"+t.Name()+"$", "-test.v")
	c.Dir, c.Env = home, append(os.Environ(), "TMPDIR="+home)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	said, err := c.CombinedOutput()
	require.NoError(t, err, string(said))
	require.Contains(t, string(said), "--- PASS: "+t.Name())
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

// What is full, and what /dev/stdout is before a pipe: a link to what has no name.
func TestReplaceDevices(t *testing.T) {
	err := outfile.Replace("/dev/full", []byte("x"))
	assert.EqualError(t, err, "/dev/full: no space left on device")

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
