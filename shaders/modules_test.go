package shaders

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Kernels with random delays are loaded where the Makefile says that they are, and nowhere else: a linker passes over
// names that there are not.
func TestChaosIsLinked(t *testing.T) {
	require.Equal(t, os.Getenv("VKDS_CHAOS"), chaos)
}
