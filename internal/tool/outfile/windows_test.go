//go:build windows

package outfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/outfile"
)

// Windows replaces no file that a program has open. One that is closed soon is waited for; else the old one stays.
func TestReplacesWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, outfile.Replace(ctx, path, []byte("old")))
	reader, err := os.Open(path)
	require.NoError(t, err)
	require.Error(t, outfile.Replace(ctx, path, []byte("new")))
	assert.Equal(t, "old", content(t, path))
	assert.Equal(t, []string{"a"}, names(t, dir))
	time.AfterFunc(100*time.Millisecond, func() { _ = reader.Close() })
	require.NoError(t, outfile.Replace(ctx, path, []byte("new")))
	assert.Equal(t, "new", content(t, path))
}

// What may not be written is refused before anything is, and left as it is.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o400))
	assert.ErrorIs(t, outfile.Check(path), fs.ErrPermission)
	require.ErrorIs(t, outfile.Replace(ctx, path, []byte("new")), fs.ErrPermission)
	assert.Equal(t, "old", content(t, path))
}
