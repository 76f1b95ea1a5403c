package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// onReadme returns the README's one piece of code in a language.
func onReadme(t *testing.T, language string) string {
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	pieces := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllSubmatch(page, -1)
	require.Len(t, pieces, 1, "pieces of %s in the README", language)
	return string(pieces[0][1])
}

// parts returns a file's imports and the body of one of its functions.
func parts(t *testing.T, name, source, function string) (imported []string, body string) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, 0)
	require.NoError(t, err)
	for _, i := range file.Imports {
		imported = append(imported, i.Path.Value)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == function {
			return imported, source[files.Position(f.Body.Lbrace).Offset:files.Position(f.Body.Rbrace).Offset]
		}
	}
	t.Fatalf("%s has no function %s", name, function)
	return nil, ""
}

// The README's Go program is the example that runs as a test.
func TestReadmeProgram(t *testing.T) {
	const file = root + "/structures/slabhash/example_test.go"
	example, err := os.ReadFile(file)
	require.NoError(t, err)
	wantedImports, wanted := parts(t, file, string(example), "Example")
	imports, body := parts(t, "README.md", onReadme(t, "go"), "main")
	require.Equal(t, wanted, body)
	require.Subset(t, wantedImports, imports)
	for _, i := range imports {
		require.Contains(t, body, strings.Trim(path.Base(i), `"`)+".", "the import %s is of no use", i)
	}
}

// The README's figures are among those of the benchmarks' pages.
func TestReadmeFigures(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	var pages []byte
	for _, page := range []string{"benchmarks.md", "notes/measurements.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", page))
		require.NoError(t, err)
		pages = append(pages, text...)
	}
	table, _, there := strings.Cut(string(readme), "\n## ")
	require.True(t, there)
	figure := regexp.MustCompile(`\b\d{4,}\b`)
	figures := figure.FindAllString(table, -1)
	require.NotEmpty(t, figures)
	require.Subset(t, figure.FindAllString(string(pages), -1), figures)
}
