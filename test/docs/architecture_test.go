package docs

import (
	"io/fs"
	"maps"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/shaders"
)

const module = "github.com/vkds/vkds/"

// importsOf returns which folders of ours each package imports, by their last names, both by their paths from the root.
// What a package has inside of its own folder is not among them. Windows, which are behind a tag, are.
func importsOf(t *testing.T) map[string][]string {
	list := exec.Command("go", "list", "-tags", "glfw", "-f", "{{.ImportPath}}{{range .Imports}} {{.}}{{end}}", "./...")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		names := strings.Fields(line)
		own := strings.TrimPrefix(names[0], module)
		all[own] = nil
		for _, name := range names[1:] {
			folder, ours := strings.CutPrefix(name, module)
			if ours && !strings.HasPrefix(folder, own+"/internal/") {
				all[own] = append(all[own], path.Base(folder))
			}
		}
	}
	return all
}

// The table of folders says what each may import: that, and no more, is what it imports; and no package is left out.
func TestFoldersImportWhatTheTableSays(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| (`[a-z]+/.*?) \\|.*\\| (.*?) \\|$")
	folder := regexp.MustCompile("`([a-z0-9/]+)/`")
	imports := importsOf(t)
	page := pages(t)["docs/architecture.md"]
	known := map[string]bool{}
	for _, r := range row.FindAllStringSubmatch(page, -1) {
		got, each := map[string]bool{}, []string{}
		for _, f := range folder.FindAllStringSubmatch(r[1], -1) {
			known[f[1]] = true
			each = append(each, f[1])
			for _, name := range imports[f[1]] {
				got[name] = true
			}
		}
		require.NotEmpty(t, each, "%s", r[0])
		var want []string
		switch r[2] {
		case "all":
			continue
		case "none":
		case "each other":
			maps.DeleteFunc(got, func(name string, _ bool) bool { return slices.Contains(each, name) })
		default:
			want = strings.Split(r[2], ", ")
		}
		require.ElementsMatch(t, want, slices.Collect(maps.Keys(got)), "imports of %s", r[1])
	}
	for name := range imports {
		inside := func(f string) bool { return name == f || strings.HasPrefix(name, f+"/internal/") }
		others := strings.HasPrefix(name, "test/") || strings.HasPrefix(name, "docs/")
		others = others || name == "github.com/vkds/vkds" // which is documentation alone
		require.True(t, others || slices.ContainsFunc(slices.Collect(maps.Keys(known)), inside), "no row for %s", name)
	}
}

// Nothing imports the benchmarks but what measures, tests included.
func TestNothingUsesTheBenchmarks(t *testing.T) {
	allowed := map[string][]string{
		"internal/tool/bench": {"cmd/vkds", "docs/benchmarks"},
	}
	list := exec.Command("go", "list", "-f",
		"{{$from := .ImportPath}}{{range .Imports}}{{$from}} {{.}}\n{{end}}{{range .TestImports}}{{$from}} "+
			"{{.}}\n{{end}}{{range .XTestImports}}{{$from}} {{.}}\n{{end}}", "./...")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		from, to, imports := strings.Cut(strings.TrimSpace(line), " ")
		from, to = strings.TrimPrefix(from, module), strings.TrimPrefix(to, module)
		if by, measures := allowed[to]; imports && measures && from != to {
			require.Contains(t, by, from, "%s imports %s", from, to)
			seen[to] = true
		}
	}
	require.Len(t, seen, len(allowed), "what is imported by nothing is not looked for by its name")
}

// The page of the device-side library names every header.
func TestHeadersAreListed(t *testing.T) {
	headers, err := fs.Glob(shaders.Headers(), "*.glsl")
	require.NoError(t, err)
	require.NotEmpty(t, headers)
	page := pages(t)["docs/device-side.md"]
	for _, header := range headers {
		require.Contains(t, page, "`"+header+"`")
	}
}
