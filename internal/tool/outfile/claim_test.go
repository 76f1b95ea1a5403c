package outfile_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/outfile"
)

// One at a time may change a file, by whatever name; and after the change it is another file's turn.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Link(path, other))
	release, err := outfile.Claim(path)
	require.NoError(t, err)
	for _, name := range []string{path, other} {
		_, err = outfile.Claim(name)
		require.ErrorIs(t, err, outfile.ErrClaimed)
		assert.EqualError(t, err, name+": is being changed by another process")
	}
	require.NoError(t, outfile.Replace(ctx, path, []byte("new")))
	next, err := outfile.Claim(path)
	require.NoError(t, err, "it is another file than the one that was claimed")
	release()
	_, err = outfile.Claim(path)
	require.ErrorIs(t, err, outfile.ErrClaimed, "a release is that of its own claim")
	next()
	again, err := outfile.Claim(path)
	require.NoError(t, err)
	again()
	_, err = outfile.Claim(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Who waits for a claim gets it when it is released, and not before, unless the context ends.
func TestAwait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	release, err := outfile.Claim(path)
	require.NoError(t, err)
	until, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = outfile.Await(until, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)

	began := time.Now()
	time.AfterFunc(100*time.Millisecond, release)
	release, err = outfile.Await(ctx, path)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
	release()
	_, err = outfile.Await(ctx, filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}
