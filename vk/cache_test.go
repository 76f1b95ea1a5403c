package vk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPipelineCache(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "deep", "cache")
	// run compiles a kernel and returns the only file in the folder.
	run := func() (path string, loaded int) {
		d, err := Open(Options{CacheDir: folder})
		require.NoError(t, err)
		loaded = len(d.native.CacheData(d.cache.handle))
		scaleKernel(t, d, KernelOptions{})
		require.NoError(t, d.Close())
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, files, 1)
		return filepath.Join(folder, files[0].Name()), loaded
	}
	path, empty := run()
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(good), len(cacheMagic)+32+32) // lavapipe has its own cache, and returns only a header

	// A run that compiles nothing new does not change the file.
	before, err := os.Stat(path)
	require.NoError(t, err)
	_, loaded := run()
	require.GreaterOrEqual(t, loaded, empty)
	after, err := os.Stat(path)
	require.NoError(t, err)
	same, err := os.ReadFile(path)
	require.NoError(t, err)
	if string(same) == string(good) {
		require.Equal(t, before.ModTime(), after.ModTime())
	}

	// A damaged file counts as empty, and is replaced.
	for name, damage := range map[string]func([]byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"truncated": func(b []byte) []byte { return b[:len(b)-5] },
		"flipped":   func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"foreign":   func(b []byte) []byte { return append([]byte("something else "), b...) },
	} {
		require.NoError(t, os.WriteFile(path, damage(append([]byte(nil), good...)), 0o644))
		_, loaded := run()
		require.Equal(t, empty, loaded, name)
		mended, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, cacheMagic, string(mended[:len(cacheMagic)]), name)
	}

	d, err := Open(Options{CacheDir: folder})
	require.NoError(t, err)
	defer d.Close()
	about := d.about
	require.NotNil(t, readCache(path, about.Vendor, about.Device, about.CacheUUID))
	require.Nil(t, readCache(path, about.Vendor+1, about.Device, about.CacheUUID))
	require.Nil(t, readCache(path, about.Vendor, about.Device+1, about.CacheUUID))
	require.Nil(t, readCache(path, about.Vendor, about.Device, [16]byte{1}))
}

func TestCacheNowhere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	d, err := Open(Options{CacheDir: "none"})
	require.NoError(t, err)
	scaleKernel(t, d, KernelOptions{})
	require.NoError(t, d.Close())
	require.NoDirExists(t, filepath.Join(os.Getenv("XDG_CACHE_HOME"), "vkds"))

	// A cache that cannot be written is not an error.
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	d, err = Open(Options{CacheDir: filepath.Join(file, "sub")})
	require.NoError(t, err)
	scaleKernel(t, d, KernelOptions{})
	require.NoError(t, d.Close())
}
