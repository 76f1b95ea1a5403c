package main_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// drawn parses a picture and counts its elements by name and class.
func drawn(t *testing.T, svg string) map[string]int {
	count := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return count
		}
		require.NoError(t, err)
		if x, ok := token.(xml.StartElement); ok {
			for _, a := range x.Attr {
				if a.Name.Local == "class" {
					count[x.Name.Local+" "+a.Value]++
				}
			}
		}
	}
}

// rows are lines of CSV: every seventh number up to 7·n, with its place.
func rows(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", 7*i, i)
	}
	return b.String()
}

func TestInspectSlabHash(t *testing.T) {
	needDevice(t)
	dir := t.TempDir()
	table, picture := write(t, "t.csv", rows(1000)), filepath.Join(dir, "p.svg")
	_, notes := answer(t, "", "inspect", table, "--svg", picture, "--load", "2")
	assert.Regexp(t, `vkds: drew \S+p.svg, [0-9,]+ bytes\n$`, notes)
	svg, err := os.ReadFile(picture)
	require.NoError(t, err)
	count := drawn(t, string(svg))
	title := "<title>t.csv: a slab hash of 1,000 pairs in 64 buckets</title>"
	assert.True(t, strings.Contains(string(svg), title))
	assert.Equal(t, 48, count["g bucket"])
	assert.Equal(t, 1, count["path expected"])
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")

	out, _ := answer(t, "", "inspect", table, "--svg", "-", "--load", "2")
	assert.True(t, strings.Contains(out, title))
	assert.Equal(t, 48, drawn(t, out)["g bucket"])

	out, _ = answer(t, "", "inspect", table, "--svg", "-", "--load", "1")
	assert.Contains(t, out, "buckets share slabs: 16 of them are drawn as one bucket")
	assert.Equal(t, 4, drawn(t, out)["g bucket"])
}

func TestInspectTree(t *testing.T) {
	needDevice(t)
	table := write(t, "t.csv", rows(3000))
	out, _ := answer(t, "", "inspect", table, "--svg", "-", "--structure", "btree", "--near", "7000", "--fill", "0.5")
	count := drawn(t, out)
	assert.True(t, strings.Contains(out, "<title>t.csv: a B-link-tree of 3,000 pairs, 4 levels</title>"))
	assert.True(t, strings.Contains(out, "From the root to the leaf of key 7000"))
	assert.Equal(t, 4, count["rect frame chosen"], "a node a level")
	assert.Equal(t, 3, count["path way"])
	assert.Greater(t, count["g node"], 4+3)
	assert.Zero(t, count["rect frame orphan"])
	assert.Zero(t, count["rect frame latched"])

	// A tree that was saved, with keys of another type, and an empty one.
	times := write(t, "taxi.csv", "2014-07-01 00:30:00,7\n2014-07-01 00:00:00,8\n")
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", times, "--key-type", "time", "--structure", "btree", "-o", dict)
	out, _ = answer(t, "", "inspect", dict, "--svg", "-", "--near", "2014-07-01")
	assert.True(t, strings.Contains(out, "From the root to the leaf of key 2014-07-01 00:00:00"))
	assert.Equal(t, 1+2, drawn(t, out)["g node"])
	out, _ = answer(t, "", "inspect", "-", "--svg", "-", "--structure", "btree")
	assert.Equal(t, 1+2, drawn(t, out)["g node"])
	assert.Contains(t, refusal(t, "", "inspect", dict, "--svg", "-", "--near", "noon"), "--near: ")
}

// A tree's picture has the versions that are kept of the leaves on it, each once.
func TestInspectVersions(t *testing.T) {
	needDevice(t)
	table := write(t, "t.csv", rows(300))
	one, two := write(t, "one.csv", "1400,1\n"), write(t, "two.csv", "1400,3\n1401,4\n1402,5\n1403,6\n1404,7\n")
	draw := func(updates ...string) map[string]int {
		out, _ := answer(t, "", append([]string{"inspect", table, "--svg", "-", "--structure", "mvbtree",
			"--near", "1400", "--fill", "1"}, updates...)...)
		if len(updates) != 0 {
			assert.Contains(t, out, "are open; ")
			assert.Contains(t, out, "– 2<", "a version of before the updates")
		}
		return drawn(t, out)
	}
	assert.Zero(t, draw()["g version"])
	assert.Equal(t, 1, draw("--update", one)["g version"], "of the leaf of 1400")
	was := draw("--update", one, "--update", two)
	assert.Equal(t, 2, was["g version"], "the leaf was split behind, and its halves share them")
	assert.Contains(t, refusal(t, "", "inspect", table, "--svg", "-", "--structure", "slabhash", "--update", one),
		"--update is for --structure btree")
	wide := write(t, "wide.csv", "1,99999999999\n")
	assert.Contains(t, refusal(t, "", "inspect", table, "--svg", "-", "--structure", "mvbtree", "--update", wide),
		"take 64 bits")
}

func TestInspectRefuses(t *testing.T) {
	needDevice(t)
	path := write(t, "t.csv", "1,2\n")
	assert.Contains(t, refusal(t, "", "inspect", path, "--svg", "-", "--structure", "lsm"),
		"lsm can't be drawn (--structure: ")
	assert.Equal(t, "--near is for trees, not for slabhash",
		refusal(t, "", "inspect", path, "--svg", "-", "--near", "1"))
	assert.Contains(t, refusal(t, "", "inspect", path, "--svg", t.TempDir()), "is a directory")
	none := filepath.Join(t.TempDir(), "none")
	assert.Contains(t, refusal(t, "", "inspect", path, "--svg", filepath.Join(none, "p.svg")), notThere(none))
	assert.Contains(t, refusal(t, "", "inspect", path), `"svg" not set`)
}

func TestVerify(t *testing.T) {
	needDevice(t)
	path := write(t, "t.csv", rows(70_000)) // more than a block of the file
	dict := filepath.Join(t.TempDir(), "d.vkds")
	answer(t, "", "build", path, "-o", dict)
	for _, structure := range known {
		out, notes := answer(t, "", "verify", dict, "--structure", structure, "--json")
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(out), &object))
		assert.Equal(t, structure, object["structure"])
		assert.EqualValues(t, 70_000, object["pairs"])
		assert.EqualValues(t, 70_000, object["found"])
		assert.Contains(t, notes, "looked up 70,000 pairs in ")
	}
	out, _ := answer(t, "", "verify", dict)
	assert.Equal(t, "measure,value\nstructure,slabhash\npairs,70000\nfound,70000\n", out)
	out, _ = answer(t, "", "verify", dict, "--structure", "btree")
	assert.Equal(t, "measure,value\nstructure,btree\npairs,70000\nchecked,all that must hold of a btree\nfound,70000\n",
		out)

	assert.Equal(t, path+" is not a saved dictionary (vkds build makes one)", refusal(t, "", "verify", path))
	whole, err := os.ReadFile(dict)
	require.NoError(t, err)
	for at, want := range map[int]string{len(whole) / 2: "a checksum doesn't match", 30: "a checksum doesn't match",
		3: "is not a saved dictionary"} {
		broken := write(t, "broken.vkds", "")
		changed := append([]byte(nil), whole...)
		changed[at] ^= 4
		require.NoError(t, os.WriteFile(broken, changed, 0o600))
		assert.Contains(t, refusal(t, "", "verify", broken), want)
	}
	short := write(t, "short.vkds", string(whole[:len(whole)-9]))
	assert.Contains(t, refusal(t, "", "verify", short), "truncated")
}
