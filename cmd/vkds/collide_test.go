package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/test/testdevice"
)

// weaken makes the hashes of the first attempts such of so few bits each.
func weaken(t *testing.T, bits ...int) {
	testdevice.Open(t) // skips where there is none
	t.Cleanup(func() { hashes = keytype.Random })
	hashes = func(attempt int) keytype.Hash {
		hash := keytype.Random(attempt)
		if attempt >= len(bits) {
			return hash
		}
		return func(text []byte) uint64 { return hash(text) >> (64 - bits[attempt]) }
	}
}

// do runs a command in this process.
func do(t *testing.T, status int, arguments ...string) string {
	t.Helper()
	var out, notes bytes.Buffer
	require.Equal(t, status, run(context.Background(), append([]string{"--quiet"}, arguments...), &out, &notes),
		"%s\n%s", arguments, notes.String())
	return out.String() + notes.String()
}

func file(t *testing.T, name, data string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	return path
}

// Under hashes of few bits almost all texts collide: what is printed is the same.
func TestCollisions(t *testing.T) {
	weaken(t, 7)
	random := rand.New(rand.NewPCG(5, 6))
	lines, counts, order := "", map[string]int{}, []string{}
	for range 3000 {
		word := fmt.Sprintf("word %d", random.IntN(20)*random.IntN(30))
		if counts[word]++; counts[word] == 1 {
			order = append(order, word)
		}
		lines += word + "\n"
	}
	path := file(t, "lines", lines)
	got := strings.Split(do(t, 0, "tally", path, "--format", "lines"), "\n")
	require.Len(t, got, len(order)+2)
	for _, line := range got[1 : len(got)-1] {
		word, n, _ := strings.Cut(line, ",")
		require.Equal(t, fmt.Sprint(counts[word]), n, word)
	}

	t.Run("a pipe is read once", func(t *testing.T) {
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := exec.Command("mkfifo", pipe).Run(); err != nil {
			t.Skipf("no pipes in folders: %v", err)
		}
		go func() { _ = os.WriteFile(pipe, []byte(lines), 0o600) }()
		assert.Equal(t, "vkds: "+pipe+": two different texts have the same hash, and it can't be read once more: run "+
			"vkds again, which takes another hash each time\n", do(t, 2, "tally", pipe, "--format", "lines"))
	})

	// A dictionary of the texts with the sums of their numbers, in two steps.
	table, dict := "", filepath.Join(t.TempDir(), "d.vkds")
	for _, word := range order[:len(order)/2] {
		table += fmt.Sprintf("%s,%d\n", word, counts[word])
	}
	do(t, 0, "build", file(t, "t.csv", table), "-o", dict)
	more, want := "", "key,value\n"
	for i, word := range order {
		more += fmt.Sprintf("%s,%d\n", word, i)
		if want += fmt.Sprintf("%s,%d\n", word, i); i < len(order)/2 {
			want = strings.TrimSuffix(want, fmt.Sprintf(",%d\n", i)) + fmt.Sprintf(",%d\n", i+counts[word])
		}
	}
	said := do(t, 0, "update", dict, file(t, "more.csv", more), "--combine", "add", "--json")
	assert.JSONEq(t, fmt.Sprintf(`{"inserted": %d, "assigned": %d, "skipped": 0, "pairs": %d}`,
		len(order)-len(order)/2, len(order)/2, len(order)), said)
	assert.Equal(t, want, do(t, 0, "get", dict, "--keys", file(t, "keys", strings.Join(order, "\n"))))
}

// Where all texts have one hash, one that is there alone is told from those that aren't; two can't be.
func TestOneHash(t *testing.T) {
	weaken(t, 0, 0, 0, 0)
	table, dict := file(t, "t.csv", "name,n\nhere,1\nhere,2\n"), filepath.Join(t.TempDir(), "d.vkds")
	assert.Equal(t, "key,value\nabsent,\nhere,2\n", do(t, 0, "get", table, "absent", "here"))
	do(t, 0, "build", table, "-o", dict)
	assert.JSONEq(t, `{"deleted": 0, "absent": 1, "pairs": 1}`, do(t, 0, "delete", dict, "absent", "--json"))
	assert.JSONEq(t, `{"deleted": 1, "absent": 1, "pairs": 0}`,
		do(t, 0, "delete", dict, "here", "here", "--json", "--allow-empty"))
	const none = "vkds: different texts have the same hash, under each of 4 hashes\n"
	two := file(t, "two.csv", "name,n\nhere,1\nthere,2\n")
	assert.Equal(t, none, do(t, 2, "get", two, "here"))
	assert.Equal(t, none, do(t, 2, "tally", two, "--column", "name"))
}
