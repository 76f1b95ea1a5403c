//go:build !cgo || !(linux || windows)

package vk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A program built without Vulkan returns *NoDriverError. Tests that need a device are not meant for such a program.
func TestWithoutVulkan(t *testing.T) {
	_, err := Open(Options{})
	var e *NoDriverError
	require.ErrorAs(t, err, &e)
	require.ErrorContains(t, err, "no Vulkan in this program: it was built ")
	list, err := List()
	require.ErrorAs(t, err, &e)
	require.Empty(t, list)
}
