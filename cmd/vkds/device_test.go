package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/input"
)

// No device is opened for a small file, unless the user names one. What may be of any length is not small.
func TestSmall(t *testing.T) {
	t.Setenv("VKDS_DEVICE", "")
	folder := t.TempDir()
	path := filepath.Join(folder, "table.csv")
	most := int64(min(8, runtime.GOMAXPROCS(0))) << 23
	for size, is := range map[int64]bool{0: true, most: true, most + 1: false, 1 << 30: false} {
		f, err := os.Create(path)
		require.NoError(t, err)
		require.NoError(t, f.Truncate(size)) // it takes no room on the disk
		require.NoError(t, f.Close())
		require.Equal(t, is, small(path), size)
	}
	require.False(t, small(folder))
	require.False(t, small(path+".none"))

	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	os.Stdin = r
	require.False(t, small(input.Stdin))

	require.NoError(t, os.Truncate(path, 1))
	device, err := (&global{}).startOrHost(path).wait()
	require.NoError(t, err)
	require.Nil(t, device)
	for _, g := range []*global{{device: "no such device"}, {validation: true, device: "no such device"}} {
		_, err := g.startOrHost(path).wait()
		require.Error(t, err)
	}
	t.Setenv("VKDS_DEVICE", "no such device")
	_, err = (&global{}).startOrHost(path).wait()
	require.Error(t, err)
}
