package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The guide shows the functions of test/guide, which run as tests, and all of them.
func TestGuide(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "guide.md"))
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(root, "test", "guide", "guide_test.go"))
	require.NoError(t, err)
	var shown []string
	for _, piece := range regexp.MustCompile("(?ms)^```go\n(func .*?)^```").FindAllSubmatch(page, -1) {
		shown = append(shown, string(piece[1]))
	}
	var want []string
	for _, f := range regexp.MustCompile(`(?ms)^func [a-z].*?^}\n`).FindAllString(string(source), -1) {
		if !strings.HasPrefix(f, "func on(") {
			want = append(want, f)
		}
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, shown)
}
