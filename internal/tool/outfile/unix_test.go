//go:build unix

package outfile_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/test/pass"
)

// A disk that fills up: the error names the file that was asked for, and nothing
// is left beside it.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, outfile.Replace(ctx, path, []byte("old")))
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: old.Max}))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)) }()
	assert.EqualError(t, outfile.Replace(ctx, path, make([]byte, 2<<20)), path+": file too large")
	assert.Equal(t, "old", content(t, path))
	assert.Equal(t, []string{"a"}, names(t, dir))
}

// What may not be written is refused before anything is, and left as it is.
func TestWriteProtected(t *testing.T) {
	pass.NotEmulated(t, "the program starts itself")
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
		require.NoError(t, outfile.Replace(ctx, path, nil))
		require.NoError(t, os.Chmod(path, mode))
		require.NoError(t, outfile.Replace(ctx, path, []byte("new")))
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
			require.NoError(t, outfile.Replace(ctx, path, []byte(text)))
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

// What is full, and what /dev/stdout is before a pipe: a link to what has no name. A descriptor that only this process
// has is nobody's output.
func TestReplaceDevices(t *testing.T) {
	err := outfile.Replace(ctx, "/dev/full", []byte("x"))
	assert.EqualError(t, err, "/dev/full: no space left on device")

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	assert.ErrorIs(t, outfile.Check(fmt.Sprintf("/dev/fd/%d", w.Fd())), syscall.EBADF)
	pipe := inherited(t, w)
	assert.NoError(t, outfile.CheckBinary(pipe))
	require.NoError(t, outfile.Replace(ctx, pipe, []byte("x")))
	var one [1]byte
	_, err = r.Read(one[:])
	require.NoError(t, err)
	assert.Equal(t, "x", string(one[:]))
}

// inherited is a name of an open file as a process has it that was started with it.
func inherited(t *testing.T, f *os.File) (path string) {
	t.Helper()
	descriptor, err := syscall.Dup(int(f.Fd())) // which is not closed on exec
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(descriptor) })
	return fmt.Sprintf("/dev/fd/%d", descriptor)
}

// An open file is written to where it is, and stays the file that it is: as >> opened it, or at its position, or under
// no name any more.
func TestOpenFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	for name, flags := range map[string]int{"appended to": os.O_APPEND, "at its end": 0} {
		require.NoError(t, os.WriteFile(path, []byte("old\n"), 0o600), name)
		f, err := os.OpenFile(path, os.O_WRONLY|flags, 0)
		require.NoError(t, err)
		_, err = f.Seek(0, io.SeekEnd)
		require.NoError(t, err)
		before, err := f.Stat()
		require.NoError(t, err)
		descriptor, link := inherited(t, f), filepath.Join(dir, "link")
		require.NoError(t, os.Symlink(descriptor, link))
		assert.False(t, outfile.Replaces(link))
		for _, goal := range []string{descriptor, link} {
			require.NoError(t, outfile.Replace(ctx, goal, []byte("new\n")), name)
		}
		after, err := os.Stat(path)
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after), name)
		assert.Equal(t, "old\nnew\nnew\n", content(t, path), name)
		require.NoError(t, os.Remove(path))
		require.NoError(t, outfile.Replace(ctx, descriptor, []byte("x")), name)
		assert.Equal(t, []string{"link"}, names(t, dir), "%s: nothing under its old name", name)
		require.NoError(t, os.Remove(link))
		require.NoError(t, f.Close())
	}
	require.NoError(t, os.WriteFile(path, []byte("old\n"), 0o600))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	assert.ErrorIs(t, outfile.Check(inherited(t, f)), syscall.EBADF, "it is read")
	assert.ErrorIs(t, outfile.Check("/dev/fd/999"), syscall.EBADF)
	assert.Equal(t, "old\n", content(t, path))
}

// A file that another process has open is appended to.
func TestOpenElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte("old\n"), 0o600))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	other := exec.Command("sleep", "60")
	other.Stdout = f
	require.NoError(t, other.Start())
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	require.NoError(t, outfile.Replace(ctx, fmt.Sprintf("/proc/%d/fd/1", other.Process.Pid), []byte("new\n")))
	assert.Equal(t, "old\nnew\n", content(t, path))
}

// A pipe that nobody opens, or reads, is given up when the context ends.
func TestPipesUntil(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	until, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := outfile.Create(until, path)
	assert.ErrorIs(t, err, context.DeadlineExceeded)

	r, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer r.Close()
	until, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	f, err := outfile.Create(until, path)
	require.NoError(t, err)
	_, err = f.Write(make([]byte, 1<<20))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	f.Abort()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeNamedPipe, info.Mode().Type())
}

// A process that is being started has copies of all descriptors for a moment. A claim that was released, and a file
// that was written, are free all the same.
func TestFreeBesideCopies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	copies := func() (all []int) {
		descriptors, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		for _, d := range descriptors {
			number, err := strconv.Atoi(d.Name())
			require.NoError(t, err)
			if to, _ := os.Readlink("/proc/self/fd/" + d.Name()); filepath.Dir(to) == filepath.Dir(path) {
				own, err := syscall.Dup(number)
				require.NoError(t, err)
				all = append(all, own)
			}
		}
		require.NotEmpty(t, all)
		return all
	}
	f, err := outfile.Create(ctx, path)
	require.NoError(t, err)
	written := copies()
	require.NoError(t, f.Commit())
	release, err := outfile.Claim(path)
	require.NoError(t, err, "it was written")
	claimed := copies()
	release()
	release, err = outfile.Claim(path)
	require.NoError(t, err, "it was released")
	release()
	for _, own := range append(written, claimed...) {
		require.NoError(t, syscall.Close(own))
	}
}
