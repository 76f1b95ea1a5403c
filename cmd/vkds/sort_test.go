package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Random tables are in the order of a stable sort of their rows, from memory and from temporary files: several columns,
// descending ones, rows without values, types that become wider from batch to batch, texts that begin alike.
func TestSortAgainstSlices(t *testing.T) {
	defer func(n, files int) { rowsAtATime, mostRunFiles = n, files }(rowsAtATime, mostRunFiles)
	mostRunFiles = 3
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	r := rand.New(rand.NewPCG(38, 5))
	path, files := filepath.Join(t.TempDir(), "t.csv"), 0
	for range 150 {
		rowsAtATime = 1 + r.IntN(40)
		kinds := []string{"iif", "itf", "tii", "fti", "iit"}[r.IntN(5)]
		table := drawFields(r, kinds, 1+r.IntN(200))
		for _, row := range table {
			for c := range row {
				if kinds[c] == 't' && r.IntN(2) == 0 {
					row[c].text = strings.Repeat("the same ", 2) + row[c].text
				}
			}
		}
		var lines strings.Builder
		lines.WriteString("c0,c1,c2\n")
		written := make([][]string, len(table))
		for i, row := range table {
			for c, f := range row {
				text := f.csv(r, kinds[c])
				lines.WriteString([]string{"", ","}[min(c, 1)] + text)
				if kinds[c] == 't' {
					text = f.printed()
				}
				written[i] = append(written[i], text)
			}
			lines.WriteString("\n")
		}
		require.NoError(t, os.WriteFile(path, []byte(lines.String()), 0o666))

		by := [][]int{{0}, {1}, {0, 1}, {2, 0}, {1, 2, 0}}[r.IntN(5)]
		columns := [][]int{{0, 1, 2}, {1}, {2, 0}, {0, 0}}[r.IntN(4)]
		descending := [3]bool{r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0}
		name := func(c int) string { return fmt.Sprintf("c%d", c) }
		arguments := []string{"sort", path, "--by", joined(by, name)}
		if down := slices.DeleteFunc(slices.Clone(by), func(c int) bool { return !descending[c] }); len(down) > 0 {
			arguments = append(arguments, "--descending", joined(down, name))
		}
		if len(columns) != 3 {
			arguments = append(arguments, "--columns", joined(columns, name))
		}

		order := make([]int, len(table))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int {
			for _, c := range by {
				a, b := table[i][c], table[j][c]
				switch order := a.compare(b); {
				case order == 0:
				case descending[c] && !a.null && !b.null:
					return -order
				default:
					return order
				}
			}
			return 0
		})
		want := joined(columns, name) + "\n"
		for _, i := range order {
			want += joined(columns, func(c int) string {
				if text := written[i][c]; len(columns) > 1 || text != "" {
					return text
				}
				return `""` // rather than a blank line
			}) + "\n"
		}
		require.Equal(t, want, do(t, 0, arguments...), "%s\n%v", lines.String(), arguments)
		memory := fmt.Sprint(1 + r.IntN(9000))
		var out, notes bytes.Buffer
		arguments = append(arguments, "--verbose", "--memory", memory)
		require.Zero(t, run(context.Background(), arguments, &out, &notes), notes.String())
		require.Equal(t, want, out.String(), "%s\n%v", lines.String(), arguments)
		if strings.Contains(notes.String(), "temporary file") {
			files++
		}
	}
	assert.Greater(t, files, 50)
	left, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func joined(columns []int, name func(int) string) string {
	var all []string
	for _, c := range columns {
		all = append(all, name(c))
	}
	return strings.Join(all, ",")
}

// Rows that are too many for one goroutine, with keys that are often equal.
func TestSortLargeTable(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	rowsAtATime = 50_000
	const rows = 3*aloneBelow + 5
	var text strings.Builder
	text.WriteString("a,b,n\n")
	type line struct{ a, b, n int }
	lines := make([]line, rows)
	r := rand.New(rand.NewPCG(38, 6))
	for i := range lines {
		lines[i] = line{r.IntN(7) / 3, r.IntN(1000), i}
		fmt.Fprintf(&text, "k%d,%d,%d\n", lines[i].a, lines[i].b, i)
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o666))
	slices.SortStableFunc(lines, func(x, y line) int {
		if x.a != y.a {
			return x.a - y.a
		}
		return y.b - x.b
	})
	text.Reset()
	text.WriteString("n\n")
	for _, l := range lines {
		fmt.Fprintln(&text, l.n)
	}
	for _, memory := range []string{"1GiB", "4MB"} {
		got := do(t, 0, "sort", path, "--by", "a,b", "--descending", "b", "--columns", "n", "--memory", memory)
		require.True(t, text.String() == got, memory) // a difference would be printed for minutes
	}
}
