package table_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func writeOver(path string, data []byte) error { return os.WriteFile(path, data, 0o600) }

// asAny tells whether errors.As finds one of the targets.
func asAny(err error, targets ...any) bool {
	for _, target := range targets {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}

// feed makes a named pipe at path, anew, and writes data to whoever opens it.
func feed(t *testing.T, path string, data []byte) {
	_ = os.Remove(path)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	go func() {
		if w, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
			_, _ = w.Write(data) // a reader that gives up early breaks the pipe
			_ = w.Close()
		}
	}()
}
