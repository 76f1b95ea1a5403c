package input

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenText(t *testing.T) {
	for in, want := range map[string]string{"\ufeff1\n": "1\n", "1": "1", "": "", "\ufeff": "",
		"\xef\xbb": "\xef\xbb"} {
		r, err := OpenText("f", strings.NewReader(in))
		require.NoError(t, err)
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
}

func TestCompressedUnawares(t *testing.T) {
	for head, kind := range map[string]string{"\x1f\x8b\x08": "gzip", "BZh9": "bzip2", "\xfd7zXZ\x00": "xz",
		"\x28\xb5\x2f\xfd": "zstd"} {
		_, err := OpenText("f", strings.NewReader(head))
		assert.EqualError(t, err, "f:1: looks like "+kind+" data, though the file's name doesn't say so")
	}
}

func TestLineError(t *testing.T) {
	cause := errors.New("reason")
	assert.EqualError(t, &LineError{File: "f", Line: 3, Err: cause}, "f:3: reason")
	assert.EqualError(t, &LineError{File: "f", Line: 3, Column: 7, Err: cause}, "f:3:7: reason")
	assert.EqualError(t, &LineError{File: "f", Line: 3, Field: "column 2", Err: cause}, "f:3: column 2: reason")
	assert.ErrorIs(t, &LineError{Err: cause}, cause)
}
