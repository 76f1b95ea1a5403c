package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// Lines of Go have at most 120 columns, a tab being four of them. (Those of GLSL are measured where they are compiled.)
func TestLinesFit(t *testing.T) {
	var long []string
	tree := os.DirFS(root)
	require.NoError(t, fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && file != ".":
			return fs.SkipDir
		case path.Ext(file) != ".go":
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > 120 {
				long = append(long, fmt.Sprintf("%s:%d", file, i+1))
			}
		}
		return nil
	}))
	require.Empty(t, long)
}
