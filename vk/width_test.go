package vk

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test matrix chooses subgroup sizes by lavapipe's vector width. This test checks that it gets these sizes.
func TestWidthGivesSubgroupSize(t *testing.T) {
	d := openFor(t, Options{})
	bits, err := strconv.Atoi(os.Getenv("LP_NATIVE_VECTOR_WIDTH"))
	if err != nil || !strings.HasPrefix(d.Info().Driver, "llvmpipe") {
		t.Skipf("%s: only lavapipe with LP_NATIVE_VECTOR_WIDTH has a size that can be foretold", d.Info().Driver)
	}
	require.Equal(t, bits/32, d.SubgroupSize())
}
