package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// The pairs at the ends, of a table and of a saved hash table alike.
func TestMinMax(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "5,50\n-7,70\n0,1\n5,51\n")
	signed := func(k int32) uint64 { return uint64(k) ^ 1<<31 }
	dict := saved(t, dictfile.Header{Structure: "slabhash", KeyType: "i32"}, []uint64{signed(5), signed(-7), signed(0)},
		[]uint64{51, 70, 1})
	for _, from := range [][]string{{path, "--key-type", "i32", "--structure", "btree"}, {dict}} {
		on := func(arguments ...string) string {
			out, _ := answer(t, "", slices.Concat(arguments, from)...)
			return out
		}
		assert.Equal(t, "key,value\n-7,70\n", on("min"), from)
		assert.Equal(t, "key,value\n5,51\n", on("max"), from)
		assert.Equal(t, "key,value\n5,51\n0,1\n", on("max", "--limit", "2"), from)
		assert.Equal(t, `{"key":-7,"value":70}`+"\n"+`{"key":0,"value":1}`+"\n"+`{"key":5,"value":51}`+"\n",
			on("min", "--limit", "9", "--json"), from)
	}
	out, _, status := runTool("", "min", "-", "--must-exist")
	assert.Equal(t, 1, status)
	assert.Equal(t, "key,value\n", out)
	_, _, status = runTool("1,2\n", "max", "-", "--must-exist")
	assert.Zero(t, status)
}

// Whatever a dictionary is kept in and written as, its pairs are all there, in order, and come back.
func TestDump(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "at,x\n2014-07-01 00:30:00,-1.5\n2014-07-01 00:00:00,-20\n2014-07-02 "+
		"00:00:00,0.5\n2014-07-01 00:30:00,7\n")
	types := []string{"--key-type", "time", "--value-type", "f32"}
	want := "key,value\n2014-07-01 00:00:00,-20\n2014-07-01 00:30:00,7\n2014-07-02 00:00:00,0.5\n"
	lines := `{"key":"2014-07-01 00:00:00","value":-20}` + "\n" + `{"key":"2014-07-01 00:30:00","value":7}` + "\n" +
		`{"key":"2014-07-02 00:00:00","value":0.5}` + "\n"
	dir := t.TempDir()
	for _, structure := range []string{"slabhash", "lsm"} {
		dict := filepath.Join(dir, structure+".vkds")
		answer(t, "", append([]string{"build", path, "--structure", structure, "-o", dict}, types...)...)
		out, _ := answer(t, "", "dump", dict)
		assert.Equal(t, want, out, structure)
	}
	dict := filepath.Join(dir, "slabhash.vkds")
	for _, ending := range []string{".csv", ".jsonl", ".parquet", ".arrow", ".arrows"} {
		file := filepath.Join(dir, "d"+ending)
		out, notes := answer(t, "", append([]string{"dump", path, "-o", file}, types...)...)
		assert.Empty(t, out)
		assert.Contains(t, notes, "vkds: wrote 3 pairs in ")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		switch ending {
		case ".csv":
			assert.Equal(t, want, string(data))
			continue
		case ".jsonl":
			assert.Equal(t, lines, string(data))
			continue // vkds reads no such tables
		}
		out, _ = answer(t, "", append([]string{"dump", file}, types...)...)
		assert.Equal(t, want, out, ending)
	}
	// On standard output, what is asked for.
	out, _ := answer(t, "", "dump", dict, "--json")
	assert.Equal(t, lines, out)
	out, _ = answer(t, "", "dump", dict, "-o", "-", "--output-format", "jsonl", "--limit", "1")
	assert.Equal(t, lines[:strings.Index(lines, "\n")+1], out)
	out, _ = answer(t, "", "dump", dict, "--output-format", "arrows", "--limit", "2")
	out, _ = answer(t, out, append([]string{"dump", "-"}, types...)...)
	assert.Equal(t, strings.Join(strings.SplitAfter(want, "\n")[:3], ""), out)
	// Of nothing, a table of no pairs.
	none := filepath.Join(dir, "none.parquet")
	answer(t, "", "dump", "-", "-o", none)
	out, _ = answer(t, "", "dump", none)
	assert.Equal(t, "key,value\n", out)
}

// More pairs than are handed out at a time.
func TestDumpLarge(t *testing.T) {
	t.Parallel()
	needDevice(t)
	const n = 1<<18 + 1000
	in, out := write(t, "t.csv", rows(n)), filepath.Join(t.TempDir(), "d.parquet")
	keys, _ := load(t, in, input.Options{Columns: make([]input.Column, 2)})
	slices.Sort(keys)
	for _, limit := range []int{1<<18 + 1, n} {
		answer(t, "", "dump", in, "-o", out, "--limit", fmt.Sprint(limit))
		got, _ := load(t, out, input.Options{Columns: make([]input.Column, 2)})
		require.True(t, slices.Equal(keys[:limit], got), limit)
	}
	text, _ := answer(t, "", "dump", out)
	assert.Equal(t, n+1, strings.Count(text, "\n"))
	last := keytype.Uint32.Format(keys[n-1]) + ","
	assert.True(t, strings.HasPrefix(text[strings.LastIndex(text[:len(text)-1], "\n")+1:], last))
}

// A file that is there is replaced whole or not at all, and keeps its permissions.
func TestDumpReplaces(t *testing.T) {
	hostSuffices(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "d.csv")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o640))
	assert.Contains(t, refusal(t, "1,2\nx,3\n", "dump", "-", "-o", file, "--no-header"), "standard input:2")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "old", string(text))
	answer(t, "1,2\n", "dump", "-", "-o", file)
	text, err = os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "key,value\n1,2\n", string(text))
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, permissions(0o640), info.Mode().Perm())
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

// A reader that has enough, as head, ends the command without a word.
func TestReaderHasEnough(t *testing.T) {
	hostSuffices(t)
	run := exec.Command(tool, "dump", write(t, "t.csv", rows(200_000)))
	var notes bytes.Buffer
	run.Stderr = &notes
	answers, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	some := make([]byte, len("key,value\n"))
	_, err = io.ReadFull(answers, some)
	require.NoError(t, err)
	require.NoError(t, answers.Close())
	_ = run.Wait()
	endedByPipe(t, run.ProcessState)
	assert.Empty(t, notes.String())
}

// Of equal values the least keys come first; values are compared as what they are.
func TestTop(t *testing.T) {
	hostSuffices(t)
	const table = "5,-7\n1,30\n4,30\n9,0\n2,31\n"
	for _, structure := range []string{"sortedarray", "btree", "lsm"} {
		for want, flags := range map[string][]string{
			"2,31\n1,30\n4,30\n":            {"--limit", "3"},
			"5,-7\n9,0\n":                   {"--limit", "2", "--least"},
			"2,31\n1,30\n4,30\n9,0\n5,-7\n": {},
			"5,-7\n9,0\n1,30\n4,30\n2,31\n": {"--least", "--limit", "99"},
		} {
			if structure != "sortedarray" && len(flags) != 2 {
				continue // one question is enough of them
			}
			command := []string{"top", "-", "--structure", structure, "--value-type", "i32"}
			out, notes, status := runTool(table, append(command, flags...)...)
			assert.Zero(t, status, notes)
			assert.Equal(t, "key,value\n"+want, out, "%s %v", structure, flags)
		}
	}
}
