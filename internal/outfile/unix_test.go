//go:build unix

package outfile_test

import (
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
