// Package docs checks the documentation against the tree it describes.
package docs

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)[^)]*\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	target  = regexp.MustCompile("`make ([a-z0-9-]+)")
	rule    = regexp.MustCompile(`(?m)^([a-z0-9 -]+):`)
)

// pages returns the Markdown files of the tree by their paths from its root.
func pages(t *testing.T) map[string]string {
	found := map[string]string{}
	tree := os.DirFS(root)
	err := fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case file == ".git" && !entry.IsDir(): // of a worktree
			return nil
		case file == ".git" || file == "build" || file == "bin":
			return fs.SkipDir
		case path.Ext(file) == ".md":
			text, err := fs.ReadFile(tree, file)
			found[file] = string(text)
			return err
		}
		return nil
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// anchor is what a heading is called in a link, by the rule of the sites that show our Markdown.
func anchor(heading string) string {
	var name strings.Builder
	for _, r := range strings.ToLower(heading) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			name.WriteRune(r)
		case r == ' ':
			name.WriteByte('-')
		}
	}
	return name.String()
}

func TestLinksResolve(t *testing.T) {
	all := pages(t)
	for page, text := range all {
		for _, found := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
				continue
			}
			file, fragment, _ := strings.Cut(found[1], "#")
			to := page
			if file != "" {
				to = path.Join(path.Dir(page), file)
				_, err := os.Stat(path.Join(root, to))
				require.NoError(t, err, "%s links to %s", page, found[1])
			}
			if fragment == "" {
				continue
			}
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(all[to], -1) {
				anchors = append(anchors, anchor(h[1]))
			}
			require.Contains(t, anchors, fragment, "%s links to %s", page, found[1])
		}
	}
}

// Every "make target" that a page speaks of is one.
func TestMakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(path.Join(root, "Makefile"))
	require.NoError(t, err)
	var targets []string
	for _, found := range rule.FindAllStringSubmatch(string(makefile), -1) {
		targets = append(targets, strings.Fields(found[1])...)
	}
	for page, text := range pages(t) {
		for _, found := range target.FindAllStringSubmatch(text, -1) {
			require.Contains(t, targets, found[1], "%s speaks of make %s", page, found[1])
		}
	}
}
