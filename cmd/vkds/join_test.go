package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// csvOf writes a table of fields as CSV.
func csvOf(r *rand.Rand, kinds string, table [][]field) string {
	var text strings.Builder
	text.WriteString("c0,c1,c2\n")
	for _, row := range table {
		for c, f := range row {
			text.WriteString([]string{"", ","}[min(c, 1)] + f.csv(r, kinds[c]))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// Joins of tables at random have the pairs of rows that a comparison of each with each finds, in their order: rows
// without values, rows that come many times, types that differ, and that become wider from batch to batch, rows that
// wait in files.
func TestJoinsAgainstLoops(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	r := rand.New(rand.NewPCG(38, 4))
	dir := t.TempDir()
	left, right, temporary := filepath.Join(dir, "l.csv"), filepath.Join(dir, "r.csv"), t.TempDir()
	t.Setenv("TMPDIR", temporary)
	rows := map[string]int{} // that were printed, by kind
	for range 150 {
		rowsAtATime = 1 + r.IntN(40)
		const kinds = "itf"
		l, m := drawFields(r, kinds, 1+r.IntN(60)), drawFields(r, kinds, 1+r.IntN(60))
		require.NoError(t, os.WriteFile(left, []byte(csvOf(r, kinds, l)), 0o666))
		require.NoError(t, os.WriteFile(right, []byte(strings.Replace(csvOf(r, kinds, m), "c0,c1", "id,c1", 1)), 0o666))
		on := [][]int{{0}, {1}, {0, 1}, {1, 0}}[r.IntN(4)]
		kind := []string{"", "--left", "--semi", "--anti"}[r.IntN(4)]
		names := []string{"c0=id", "c1", "c2"}
		var asked, titles []string
		for _, c := range on {
			asked, titles = append(asked, names[c]), append(titles, fmt.Sprintf("c%d", c))
		}
		arguments := []string{"join", left, right, "--on", strings.Join(asked, ","), "--left-columns", "c2,c0"}
		titles = append(titles, "c2", "c0")
		if kind != "" {
			arguments = append(arguments, kind)
		}
		if r.IntN(2) == 0 {
			arguments = append(arguments, "--memory", fmt.Sprint(1+r.IntN(1500)))
		}
		both := kind == "" || kind == "--left"
		if both {
			arguments = append(arguments, "--right-columns", "c1,id,c2")
			titles = append(titles, "right.c1", "id", "right.c2")
			if on[0] == 0 && len(on) == 1 {
				titles[3] = "c1"
			}
		}
		want := strings.Join(titles, ",") + "\n"
		for _, a := range l {
			var before []string
			for _, c := range on {
				before = append(before, a[c].printed())
			}
			before = append(before, a[2].printed(), a[0].printed())
			found := 0
			for _, b := range m {
				same := true
				for _, c := range on {
					same = same && !a[c].null && !b[c].null && a[c].compare(b[c]) == 0
				}
				if !same {
					continue
				}
				if found++; both {
					want += strings.Join(append(before[:len(before):len(before)], b[1].printed(), b[0].printed(),
						b[2].printed()), ",") + "\n"
					rows[kind]++
				}
			}
			if kind == "--left" && found == 0 {
				want += strings.Join(before, ",") + ",,,\n"
				rows["none"]++
			} else if kind == "--semi" && found > 0 || kind == "--anti" && found == 0 {
				want += strings.Join(before, ",") + "\n"
				rows[kind]++
			}
		}
		var out, notes bytes.Buffer
		require.Zero(t, run(t.Context(), append(arguments, "--verbose"), &out, &notes), "%v: %s", arguments, &notes)
		require.Equal(t, want, out.String(), "%v\n%s\n%s", arguments, csvOf(r, kinds, l), csvOf(r, kinds, m))
		if strings.Contains(notes.String(), "temporary files") {
			rows["spilled"]++
		}
		entries, err := os.ReadDir(temporary)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
	for _, kind := range []string{"", "--left", "none", "--semi", "--anti"} {
		assert.Greater(t, rows[kind], 50, kind)
	}
	assert.Greater(t, rows["spilled"], 30)
}

// What is wrong with a question is told, and so are values that can't be compared.
func TestJoinRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	numbers, texts := file("n.csv", "k,v\n1,a\n2,b\n"), file("t.csv", "k,v\n1,a\nx,b\n")
	great, empty := file("g.csv", "k,v\n18446744073709551615,c\n1,d\n"), file("e.csv", "k,v\n")
	below := file("b.csv", "k,v\n-1,a\n1,b\n")
	for arguments, want := range map[string]string{
		"":                                   `required flag(s) "on" not set (see vkds join --help)`,
		"--on k=,v":                          "a column has no name",
		"--on nowhere":                       `no column "nowhere"`,
		"--on k --semi --right-columns v":    "--semi and --anti print rows of LEFT alone",
		"--on k --type w=u32":                "--type w=u32: column w is not read",
		"--on k --type k=u8":                 `unknown type "u8"`,
		"--on k --semi --anti":               "[anti semi] were all set (see vkds join --help)",
		"--on k --left-columns v --limit -1": "limit",
	} {
		assert.Contains(t, do(t, 2, append([]string{"join", numbers, numbers}, strings.Fields(arguments)...)...), want)
	}
	assert.Contains(t, do(t, 2, "join", "-", "-", "--on", "k"), "standard input is given twice")
	assert.Contains(t, do(t, 2, "join", texts, numbers, "--on", "k"), `t.csv:3: column "k": "x" is not an integer`)
	assert.Contains(t, do(t, 2, "join", below, great, "--on", "k"),
		"-1 is of no type that also holds 18446744073709551615")
	assert.Equal(t, "k,v\n1,a\n", do(t, 0, "join", numbers, texts, "--on", "k", "--right-columns", "v",
		"--type", "k=text"))
	assert.Equal(t, "k,v\n1,d\n", do(t, 0, "join", numbers, great, "--on", "k", "--right-columns", "v"))
	assert.Equal(t, "k,v\n", do(t, 0, "join", numbers, empty, "--on", "k", "--right-columns", "v"))
	assert.Equal(t, "k,v\n", do(t, 0, "join", empty, numbers, "--on", "k", "--right-columns", "v"))
	assert.Equal(t, "k,v,right.v\n1,a,\n2,b,\n", do(t, 0, "join", numbers, empty, "--on", "k", "--left-columns", "v",
		"--right-columns", "v", "--left"))
	assert.Equal(t, `{"k":1,"v":"d"}`+"\n", do(t, 0, "join", numbers, great, "--on", "k", "--right-columns", "v",
		"--json", "--limit", "1"))
}

// LEFT is read again if a column turns out to have fractions, as long as nothing is printed: so also while matches wait
// for those of other rows of RIGHT.
func TestJoinReadsAgain(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	rowsAtATime = 2
	l, r := file(t, "l.csv", "k,v\n1,5\n2,6\n3,7\n4,1.5\n3,8\n"), file(t, "r.csv", "k,w\n4,1\n3,2\n2,3\n1,4\n3,5\n")
	arguments := []string{"join", l, r, "--on", "k", "--left-columns", "v", "--right-columns", "w"}
	assert.Equal(t, "k,v,w\n1,5,4\n2,6,3\n3,7,2\n3,7,5\n4,1.5,1\n3,8,2\n3,8,5\n",
		do(t, 0, append(arguments, "--memory", "1")...))
}

// While rows of LEFT are printed, the next ones are read and matched, also if none of them is this process's, and none
// when --limit is reached.
func TestJoinPrintsBeside(t *testing.T) {
	defer func(n int) { rowsAtATime = n }(rowsAtATime)
	rowsAtATime = 500
	left, right := "id,text\n", "id,name\n"
	for i := range 40_000 {
		left += fmt.Sprintf("%d,text %d\n", i/4000, i)
	}
	for i := range 10 {
		right += fmt.Sprintf("%d,name %d\n", i, i)
	}
	leftPath, rightPath := file(t, "left.csv", left), file(t, "right.csv", right)
	arguments := []string{"join", leftPath, rightPath, "--on", "id", "--left-columns", "text",
		"--right-columns", "name"}
	whole := strings.SplitAfter(do(t, 0, arguments...), "\n")
	require.Len(t, whole, 40_002)
	for i, line := range whole[1:40_001] {
		require.Equal(t, fmt.Sprintf("%d,text %d,name %d\n", i/4000, i, i/4000), line)
	}
	parts := map[string]bool{}
	for _, part := range []string{"1/2", "2/2"} {
		before := -1
		for _, line := range strings.SplitAfter(do(t, 0, append(arguments, "--partition", part)...), "\n")[1:] {
			if line == "" {
				continue
			}
			require.False(t, parts[line])
			parts[line] = true
			_, text, _ := strings.Cut(line, ",text ")
			number, _, _ := strings.Cut(text, ",")
			at, err := strconv.Atoi(number)
			require.NoError(t, err)
			require.Equal(t, whole[1+at], line)
			require.Less(t, before, at)
			before = at
		}
	}
	require.Len(t, parts, 40_000)
	require.Equal(t, strings.Join(whole[:8], ""), do(t, 0, append(arguments, "--limit", "7")...))
}
