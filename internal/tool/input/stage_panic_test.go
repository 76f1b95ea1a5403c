package input

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// A library that panics in a file's parts fails the file, whichever goroutine it runs on.
func TestPanicOfADecompressor(t *testing.T) {
	for name, fill := range map[string]func(*stage){
		"in turn":          func(*stage) { panic("index out of range") },
		"at the same time": func(s *stage) { s.add(func() ([]byte, error) { panic("index out of range") }) },
	} {
		s := newStage(t.Context(), func(s *stage) {
			s.add(func() ([]byte, error) { return []byte("before"), nil })
			fill(s)
		})
		read, err := io.ReadAll(s)
		require.ErrorContains(t, err, "index out of range", name)
		require.Equal(t, "before", string(read), name)
		s.close()
	}
}
