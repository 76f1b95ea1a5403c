//go:build unix

package dictfile_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/dictfile"
)

// If the disk is full, the error is the system's, and no file is left.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "d.vkds")
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: old.Max}))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old)) }()
	const n = 300000
	w, err := dictfile.Create(ctx, path, dictfile.Header{Pairs: n})
	require.NoError(t, err)
	keys, values := pairs(n)
	werr := w.Write(keys, values)
	cerr := w.Close()
	require.Error(t, cerr)
	if werr != nil {
		assert.Equal(t, werr, cerr)
	}
	assert.ErrorIs(t, cerr, syscall.EFBIG)
	assert.EqualError(t, cerr, path+": file too large")
	onlyFile(t, dir, "")
}
