//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// --limit ends a join whose LEFT is a pipe that its writer keeps open.
func TestJoinLimitOfPipe(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	rowsAtATime = 50_000
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	defer pipe.Close()
	go func() { _, _ = pipe.WriteString("id\n" + strings.Repeat("1\n", 120_000)) }() // ends when the pipe is closed
	right := file(t, "right.csv", "id\n1\n")
	require.Equal(t, "id\n1\n1\n1\n", do(t, 0, "join", path, right, "--on", "id", "--limit", "3"))
}
