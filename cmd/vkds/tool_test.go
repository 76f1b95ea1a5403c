package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
)

// tool is the built command; noDevice says why there is none to run it on. A shell finds the tool as vkds in onPath.
var tool, noDevice, onPath string

func TestMain(m *testing.M) {
	pass.Host.Begin()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "vkds-test-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		onPath = dir
		if tool = os.Getenv("VKDS_TOOL"); tool == "" { // where no compiler runs, it is built before
			tool = filepath.Join(dir, "vkds")
			build := exec.Command("go", "build", "-tags="+tags, "-buildvcs=false", "-ldflags=-s -w", "-o", tool, ".")
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
				return 1
			}
		} else if err := os.Symlink(tool, filepath.Join(dir, "vkds")); err != nil && runtime.GOOS != "windows" {
			panic(err)
		}
		if _, stderr, status := runTool("", "info", "--json"); status != 0 {
			noDevice = stderr
		}
		if os.Getenv("VKDS_DEVICE") == "" { // a device, even where it is none of a GPU
			os.Setenv("VKDS_DEVICE", "0")
		}
		return m.Run()
	}())
}

func needDevice(t *testing.T) {
	require.Empty(t, noDevice, "no Vulkan device")
}

// hostSuffices has a test of what commands make of rows use dictionaries in the host's memory in "make test", but for
// its long forms. There, TestDeviceNone compares them with a device's, command by command.
func hostSuffices(t *testing.T) {
	if needDevice(t); os.Getenv("VKDS_PASS") != "" && stress.Level == 0 {
		t.Setenv("VKDS_DEVICE", "none")
	}
}

// runTool runs the command with a text as standard input.
func runTool(stdin string, arguments ...string) (stdout, stderr string, status int) {
	var out, err bytes.Buffer
	c := command(context.Background(), arguments...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &err
	_ = c.Run() // the status says it
	return out.String(), err.String(), c.ProcessState.ExitCode()
}

func command(ctx context.Context, arguments ...string) *exec.Cmd {
	if os.Getenv("VKDS_VALIDATION") == "1" && !slices.Contains(arguments, "doctor") {
		arguments = append([]string{"--validation"}, arguments...)
	}
	return exec.CommandContext(ctx, tool, arguments...)
}

// answer runs a command that must succeed, with its notes.
func answer(t *testing.T, stdin string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	arguments = append([]string{"--verbose"}, arguments...)
	stdout, stderr, status := runTool(stdin, arguments...)
	require.Zero(t, status, "vkds %s\n%s", strings.Join(arguments, " "), stderr)
	return stdout, stderr
}

// notThere is what the system says of a file that is not there.
func notThere(path string) string {
	_, err := os.Open(path)
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return "it is there"
}

// linked makes a symbolic link to a file and returns its name, or the file's own where nobody can have links.
func linked(t *testing.T, path, link string) string {
	if err := os.Symlink(filepath.Base(path), link); runtime.GOOS != "windows" {
		require.NoError(t, err)
		return link
	}
	if _, err := os.Stat(link); err != nil { // Windows lets few have them, and Wine nobody
		_ = os.Remove(link)
		return path
	}
	return link
}

// refusal runs a command that must fail with one line and no answer.
func refusal(t *testing.T, stdin string, arguments ...string) string {
	t.Helper()
	stdout, stderr, status := runTool(stdin, append([]string{"--quiet"}, arguments...)...)
	assert.Equal(t, 2, status, "vkds %s\n%s", strings.Join(arguments, " "), stderr)
	assert.Empty(t, stdout)
	assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %q", stderr)
	assert.True(t, strings.HasPrefix(stderr, "vkds: "), stderr)
	return strings.TrimSuffix(strings.TrimPrefix(stderr, "vkds: "), "\n")
}

func write(t testing.TB, name, data string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
	return path
}

func TestTally(t *testing.T) {
	hostSuffices(t)
	keys := write(t, "keys", "7\n0x7\n3\n4294967295\n0\n3\n7\n0\n")
	out, notes := answer(t, "", "tally", keys)
	assert.Equal(t, "key,count\n7,3\n0,2\n3,2\n4294967295,1\n", out)
	assert.Regexp(t, `^vkds: counted 8 keys in \S+ s on .*; 4 distinct\n$`, notes)
	out, _ = answer(t, "", "tally", keys, "--top", "2")
	assert.Equal(t, "key,count\n7,3\n0,2\n", out)
	out, _ = answer(t, "", "tally", keys, "--min-count", "2")
	assert.Equal(t, "key,count\n7,3\n0,2\n3,2\n", out)
	out, _ = answer(t, "", "tally", keys, "--json")
	assert.Equal(t, `{"key":7,"count":3}`+"\n"+`{"key":0,"count":2}`+"\n"+`{"key":3,"count":2}`+"\n"+
		`{"key":4294967295,"count":1}`+"\n", out)
	out, _ = answer(t, "", "tally", keys, "--json", "--top", "1", "--min-count", "2")
	assert.Equal(t, `{"key":7,"count":3}`+"\n", out)
	out, _ = answer(t, "", "tally", keys, "--top", "0")
	assert.Equal(t, "key,count\n", out)

	out, notes = answer(t, "1\n*\n\n2x\n2\r\n2", "tally", "-", "--skip-invalid")
	assert.Equal(t, "key,count\n2,2\n1,1\n", out)
	assert.Contains(t, notes, "; 2 skipped")
	out, _ = answer(t, "id\n\n2\n \n2\n", "tally", "-")
	assert.Equal(t, "key,count\n2,2\n", out)
	out, _ = answer(t, "2014\n2\n2\n", "tally", "-", "--header")
	assert.Equal(t, "key,count\n2,2\n", out)
	out, _ = answer(t, "# all of them\n2\n#\n", "tally", "-", "--comment", "#")
	assert.Equal(t, "key,count\n2,1\n", out)
	out, _ = answer(t, "", "tally", "-")
	assert.Equal(t, "key,count\n", out)
	out, _ = answer(t, "\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00", "tally", "-", "--format", "u32le")
	assert.Equal(t, "key,count\n1,2\n4294967295,1\n", out)
	out, _ = answer(t, "\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00", "tally", "-", "--format", "u32be")
	assert.Equal(t, "key,count\n16777216,2\n4294967295,1\n", out)
	out, _ = answer(t, "l 0x10 1\ns 0x20 1\nl 0x10 4\n", "tally", "-", "--column", "2", "--delimiter", "space")
	assert.Equal(t, "key,count\n16,2\n32,1\n", out)
	out, _ = answer(t, "", "tally", write(t, "k.csv", "id,n\n5,1\n5,2\n"), "--column", "id")
	assert.Equal(t, "key,count\n5,2\n", out)
	out, _ = answer(t, "2014-07-01 00:00:00\n1404172800\n", "tally", "-", "--type", "time")
	assert.Equal(t, "key,count\n2014-07-01 00:00:00,2\n", out)
	out, _ = answer(t, "-5\n5\n-5\n", "tally", "-", "--type", "i32", "--json")
	assert.Equal(t, `{"key":-5,"count":2}`+"\n"+`{"key":5,"count":1}`+"\n", out)
}

func TestTallyRefuses(t *testing.T) {
	hostSuffices(t)
	dir := t.TempDir()
	assert.Equal(t, dir+": is a directory", refusal(t, "", "tally", dir))
	assert.Equal(t, dir+"/none: "+notThere(dir+"/none"), refusal(t, "", "tally", dir+"/none"))
	assert.Equal(t, `standard input:3: "x" is not an integer (--type text reads it)`,
		refusal(t, "1\n2\nx\n", "tally", "-"))
	assert.Equal(t, `standard input:1: "id" is not an integer (--type text reads it)`,
		refusal(t, "id\n1\n2\n", "tally", "-", "--no-header"))
	assert.Equal(t, `standard input:2: "id" is not an integer (--type text reads it)`,
		refusal(t, "\nid\n\nid\n2\n", "tally", "-"))
	assert.Equal(t, `standard input:1: 4294967296 is out of range (0 to 4294967295) (--type u64 reads it)`,
		refusal(t, "4294967296\n", "tally", "-", "--type", "u32"))
	assert.Equal(t, `standard input:1: 18446744073709551616 is out of range (0 to 18446744073709551615) `+
		`(--type text reads it)`, refusal(t, "18446744073709551616\n", "tally", "-"))
	assert.Equal(t, `standard input: ends in the middle of a row of 4 bytes`,
		refusal(t, "12345", "tally", "-", "--format", "u32le"))
	path := write(t, "a.csv", "id,n\n1,2\nx,3\n")
	assert.Equal(t, path+`:3: column "id": "x" is not an integer (--type text reads it)`,
		refusal(t, "", "tally", path, "--column", "id"))
	assert.Equal(t, path+`: no column "key": the table has "id", "n", if commas stand between fields`,
		refusal(t, "", "tally", path, "--column", "key"))
	path = write(t, "a.gz", "1\n2\n")
	assert.Equal(t, path+": is no gzip file", refusal(t, "", "tally", path))
	path = write(t, "b.gz", "\x1f\x8b\x08\x00\x00")
	assert.Equal(t, path+": ends too early: the file is truncated", refusal(t, "", "tally", path))
	assert.Equal(t, "--top -1 is negative", refusal(t, "", "tally", "-", "--top", "-1"))
	assert.Equal(t, "--column is for csv, parquet, arrow, not for text",
		refusal(t, "", "tally", "-", "--format", "text", "--column", "2"))
	assert.Equal(t, `invalid argument "u64" for "--format" flag: unknown format "u64" (known: auto, csv, text, lines, `+
		`u32le, u32be, u64le, u64be, parquet, arrow) (see vkds tally --help)`,
		refusal(t, "", "tally", "-", "--format", "u64"))
	assert.Contains(t, refusal(t, "", "tally", "-", "--delimiter", "ab"), `"ab" is not a single character`)
	assert.Equal(t, "tally takes one FILE (see vkds tally --help)", refusal(t, "", "tally"))
	assert.Equal(t, "get takes a DICT or a TABLE, then keys (see vkds get --help)", refusal(t, "", "get"))
	assert.Equal(t, "--header and --no-header exclude each other",
		refusal(t, "", "tally", "-", "--header", "--no-header"))
}

func TestGet(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "id,name,size\n1,a,10\n4294967295,b,20\n3,c,0\n1,d,11\n")
	column := []string{"--key", "id", "--value", "size"}
	out, notes := answer(t, "", append([]string{"get", path, "3", "2", "0xffffffff", "1", "3"}, column...)...)
	assert.Equal(t, "key,value\n3,0\n2,\n4294967295,20\n1,11\n3,0\n", out)
	assert.Regexp(t, `^vkds: loaded 4 pairs in \S+ s on .*; 1 replaced an earlier one of the same key\n`+
		`vkds: looked up 5 keys in \S+ s; 4 found\n$`, notes)
	out, _ = answer(t, "", append([]string{"get", path, "3", "2", "--json"}, column...)...)
	assert.Equal(t, `{"key":3,"value":0}`+"\n"+`{"key":2,"value":null}`+"\n", out)
	out, _ = answer(t, "3\n0x1\n", append([]string{"get", path}, column...)...)
	assert.Equal(t, "key,value\n3,0\n1,11\n", out)
	out, _ = answer(t, "", append([]string{"get", path, "--keys", write(t, "keys", "2\n3\n")}, column...)...)
	assert.Equal(t, "key,value\n2,\n3,0\n", out)
	out, _ = answer(t, "", append([]string{"get", path, "--keys", write(t, "keys.csv", "k\n2\n3\n"), "--keys-column",
		"k"}, column...)...)
	assert.Equal(t, "key,value\n2,\n3,0\n", out)
	out, _ = answer(t, "\x05\x00\x00\x00\x32\x00\x00\x00", "get", "-", "--format", "u32le", "5", "50")
	assert.Equal(t, "key,value\n5,50\n50,\n", out)
	out, _ = answer(t, "5,50\n6,60\n", "get", "-", "5", "7")
	assert.Equal(t, "key,value\n5,50\n7,\n", out)
	out, _ = answer(t, "", append([]string{"get", path, "--json"}, column...)...)
	assert.Empty(t, out)

	out, _, status := runTool("", append([]string{"get", path, "3", "2", "--must-exist"}, column...)...)
	assert.Equal(t, 1, status)
	assert.Equal(t, "key,value\n3,0\n2,\n", out)
	_, _, status = runTool("", append([]string{"get", path, "3", "1", "--must-exist"}, column...)...)
	assert.Zero(t, status)
}

func TestGetTypes(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "at,x,code,n\n2014-07-01 00:00:00,-1.5,00fF,-7\n2014-07-01 00:30:00,2,0,7\n")
	out, _ := answer(t, "", "get", path, "--key", "at", "--key-type", "time", "--value", "x", "--value-type", "f32",
		"1404172800", "2014-07-01T00:30:00Z", "1")
	assert.Equal(t, "key,value\n2014-07-01 00:00:00,-1.5\n2014-07-01 00:30:00,2\n1970-01-01 00:00:01,\n", out)
	out, _ = answer(t, "", "get", path, "--key", "code", "--key-type", "hex", "--value", "n", "--value-type", "i32",
		"--json", "FF", "1")
	assert.Equal(t, `{"key":"0x00ff","value":-7}`+"\n"+`{"key":"0x0001","value":null}`+"\n", out)
	out, _ = answer(t, "", "get", path, "--key", "n", "--key-type", "i32", "--value", "4", "--value-type", "i32", "--",
		"-7")
	assert.Equal(t, "key,value\n-7,-7\n", out)
}

func TestGetRefuses(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "1,10\n2,x\n")
	assert.Equal(t, path+`:2: column 2: "x" is not an integer (--value-type text reads it)`,
		refusal(t, "", "get", path, "1"))
	assert.Equal(t, path+`: no column 3: the table has 2 columns, if commas stand between fields`,
		refusal(t, "", "get", path, "--value", "3", "1"))
	out, notes := answer(t, "", "get", path, "1", "--skip-invalid")
	assert.Equal(t, "key,value\n1,10\n", out)
	assert.Contains(t, notes, "; 1 skipped")
	good := write(t, "t.csv", "1,10\n")
	assert.Equal(t, `key 2 of the command line: "x" is not an integer (--key-type text reads it)`,
		refusal(t, "", "get", good, "1", "x"))
	assert.Equal(t, `standard input:2: "y" is not an integer (--key-type text reads it)`,
		refusal(t, "1\ny\n", "get", good))
	assert.Contains(t, refusal(t, "", "get", good, "1", "--keys", "k"), "not from both")
	assert.Equal(t, "text holds a value a line, or a range, and no table",
		refusal(t, "", "get", good, "1", "--format", "text"))
	assert.Equal(t, "column 2 is asked for, but files of format u32be have no columns to choose from",
		refusal(t, "", "get", good, "1", "--format", "u32be", "--key", "2"))
	assert.Contains(t, refusal(t, "", "get", "-"), "can't both come from standard input")
	assert.Equal(t, `unknown structure "btrie" (known: slabhash, btree, mvbtree, lsm, sortedarray)`,
		refusal(t, "", "get", good, "1", "--structure", "btrie"))
	assert.Contains(t, refusal(t, "", "get", good, "1", "--key", "id", "--no-header"),
		`column "id" is asked by name, but the table is said to have no header`)
	assert.Contains(t, refusal(t, "", "get", good, "1", "--load=-1"), "a load of -1 makes no sense for slabhash")
	assert.Contains(t, refusal(t, "", "get", good, "1", "--key-type", "u16"), `unknown type "u16"`)
	assert.Equal(t, 2, func() int {
		_, _, s := runTool("", "get", good, "x", "--must-exist")
		return s
	}(), "an error is not an absent key")
}

func TestBuild(t *testing.T) {
	needDevice(t)
	var rows strings.Builder
	const n = 70000
	fmt.Fprintln(&rows, "when,how")
	for i := range n {
		fmt.Fprintf(&rows, "%d,%d.5\n", i*7, i)
	}
	path := write(t, "t.csv", rows.String())
	dir := t.TempDir()
	dict := filepath.Join(dir, "d.vkds")
	out, notes := answer(t, "", "build", path, "-o", dict, "--key", "when", "--key-type", "time", "--value", "how",
		"--value-type", "f32", "--load", "0.4")
	assert.Empty(t, out)
	assert.Regexp(t, `vkds: saved 70,000 pairs in .* as .*d\.vkds, 560,\d\d\d bytes\n$`, notes)
	out, _ = answer(t, "", "get", dict, "0", "7", "489993", "8")
	assert.Equal(t, "key,value\n1970-01-01 00:00:00,0.5\n1970-01-01 00:00:07,1.5\n1970-01-06 "+
		"16:06:33,69999.5\n1970-01-01 00:00:08,\n", out)

	// Rebuilt from itself, it has the same pairs.
	again := filepath.Join(dir, "again.vkds")
	answer(t, "", "build", dict, "-o", again)
	out, _ = answer(t, "", "stats", again, "--json")
	var object map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &object))
	assert.EqualValues(t, n, object["pairs"])
	assert.Equal(t, "time", object["key_type"])
	assert.Equal(t, "f32", object["value_type"])
	assert.InDelta(t, 0.4, object["load"], 0.1)
	out, _ = answer(t, "", "stats", again)
	assert.Contains(t, out, "measure,value\nstructure,slabhash\n")
	assert.Contains(t, out, "\npairs,70000\n")

	// A saved dictionary knows its columns.
	assert.Equal(t, dict+" is a saved dictionary: --value is for tables",
		refusal(t, "", "get", dict, "1", "--value", "2"))

	// Corrupt and truncated.
	data, err := os.ReadFile(dict)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		data []byte
		say  string
	}{
		"magic": {append([]byte("x"), data[1:]...), "is not a saved dictionary"},
		"version": {append(append(bytes.Clone(data[:8]), 9), data[9:]...),
			"was saved by another version of vkds: build it again: the format is 9, and this one reads 2 to 8"},
		"pair": {append(append(bytes.Clone(data[:5000]), data[5000]^1), data[5001:]...),
			"is corrupt: a checksum doesn't match"},
		"truncated": {data[:len(data)-1], "ends too early: the saved dictionary is truncated"},
		"empty":     {nil, "is not a saved dictionary"},
	} {
		bad := write(t, name+".vkds", string(c.data))
		assert.Equal(t, bad+": "+c.say, refusal(t, "", "get", bad, "1"), name)
	}
	// By its contents too, whatever it is called.
	renamed := write(t, "table", string(data[:len(data)/2]))
	assert.Equal(t, renamed+": ends too early: the saved dictionary is truncated", refusal(t, "", "stats", renamed))

	// Where it can't be written.
	assert.Equal(t, dir+": is a directory", refusal(t, "", "build", path, "-o", dir, "--key-type", "time",
		"--value-type", "f32"))
	assert.Equal(t, dir+"/no/d.vkds: "+notThere(dir+"/no"), refusal(t, "", "build", path, "-o", dir+"/no/d.vkds"))
	assert.Contains(t, refusal(t, "", "build", path), `required flag(s) "output" not set (see vkds build --help)`)

	// A bad table leaves what was there.
	bad := write(t, "bad.csv", "1,2\n3,x\n")
	assert.Equal(t, bad+`:2: column 2: "x" is not an integer (--value-type text reads it)`,
		refusal(t, "", "build", bad, "-o", dict))
	now, err := os.ReadFile(dict)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(data, now))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "no temporary file is left")

	empty := filepath.Join(dir, "empty.vkds")
	answer(t, "", "build", write(t, "empty.csv", ""), "-o", empty)
	out, _ = answer(t, "", "get", empty, "5")
	assert.Equal(t, "key,value\n5,\n", out)
}

// untilWritten is an output that several goroutines may use. A command may take long to begin where other tests run.
type untilWritten struct {
	lock sync.Mutex
	text strings.Builder
}

func (w *untilWritten) Write(p []byte) (int, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.text.Write(p)
}

func (w *untilWritten) String() string {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.text.String()
}

// An interrupt ends a command at once, also while it waits for input, and leaves
// no file. Inputs of which nothing is answered are longer than a pipe holds, so
// that the command has begun to read once they are written.
func TestInterrupt(t *testing.T) {
	pass.NotInWine(t, "there is no Ctrl-C")
	pass.NotEmulated(t, "the tool takes long to start")
	needDevice(t)
	dir := t.TempDir()
	for _, c := range []struct {
		input     string
		arguments []string
		out       string // what was answered before
	}{
		{strings.Repeat("1,2\n", 20000), []string{"build", "-", "-o", filepath.Join(dir, "d.vkds")}, ""},
		{strings.Repeat("1,2\n", 20000), []string{"dump", "-", "-o", filepath.Join(dir, "d.parquet")}, ""},
		{strings.Repeat("1\n", 40000), []string{"tally", "-"}, ""},
		{"1\n2\n", []string{"get", write(t, "t.csv", "1,2\n")}, "key,value\n1,2\n2,\n"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		run := command(ctx, c.arguments...)
		interruptible(run)
		var out untilWritten
		var notes bytes.Buffer
		run.Stdout, run.Stderr = &out, &notes
		in, err := run.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, run.Start())
		_, err = in.Write([]byte(c.input)) // and more might follow: the pipe stays open
		require.NoError(t, err)
		for out.String() != c.out && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond) // it has read all, and waits
		require.NoError(t, interrupt(run))
		_ = run.Wait() // the status says it
		assert.Equal(t, 130, run.ProcessState.ExitCode(), "%v: %s", c.arguments, notes.String())
		assert.Equal(t, c.out, out.String())
		assert.Contains(t, notes.String(), "vkds: interrupted\n")
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestInfo(t *testing.T) {
	needDevice(t)
	out, _ := answer(t, "", "info", "--json")
	var devices []struct {
		Index    int
		Name     string
		Subgroup struct{ Size, Min, Max int }
		Missing  []string
		Chosen   bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &devices))
	require.NotEmpty(t, devices)
	chosen := 0
	for i, d := range devices {
		assert.Equal(t, i, d.Index)
		assert.NotEmpty(t, d.Name)
		assert.GreaterOrEqual(t, d.Subgroup.Size, d.Subgroup.Min)
		if d.Chosen {
			chosen++
			assert.Empty(t, d.Missing)
		}
	}
	assert.Equal(t, 1, chosen)
	without := command(context.Background(), "info", "--json") // what is left off isn't what the device is used by
	without.Env = append(os.Environ(), "VKDS_WITHOUT=shaderBufferInt64Atomics")
	left, err := without.Output()
	require.NoError(t, err)
	assert.Contains(t, string(left), `"64_bits": "under a slab's or a node's latch"`)
	out, _ = answer(t, "", "info")
	assert.Equal(t, len(devices)+1, strings.Count(out, "\n"))
	assert.Contains(t, refusal(t, "", "info", "--device", "no such device"), "no such device")
	assert.Contains(t, refusal(t, "1\n", "tally", "-", "--device", "no such device"), "no such device")
}

// Without Vulkan there is one clear line.
func TestNoDriver(t *testing.T) {
	pass.NotInWine(t, "nothing sees the variables that it sets")
	c := command(context.Background(), "info")
	c.Env = append(os.Environ(), "VK_DRIVER_FILES=/nowhere.json", "VK_ICD_FILENAMES=/nowhere.json")
	var out, notes bytes.Buffer
	c.Stdout, c.Stderr = &out, &notes
	_ = c.Run()
	assert.Equal(t, 2, c.ProcessState.ExitCode())
	assert.Empty(t, out.String())
	assert.Regexp(t, `^vkds: .*\n$`, notes.String())
	assert.Equal(t, 1, strings.Count(notes.String(), "\n"), notes.String())
}

// Where nobody watches there are no notes, unless they are asked for.
func TestNoNotesInScripts(t *testing.T) {
	hostSuffices(t)
	for _, flags := range [][]string{nil, {"-q"}} {
		out, notes, status := runTool("1\nx\n", append(flags, "tally", "-", "--skip-invalid")...)
		assert.Zero(t, status)
		assert.Equal(t, "key,count\n1,1\n", out)
		assert.Empty(t, notes)
	}
	_, notes, _ := runTool("1\nx\n", "tally", "-", "--skip-invalid", "-v")
	assert.Regexp(t, `^vkds: counted 1 keys .*; 1 skipped\n$`, notes)
	_, notes, status := runTool("1\nx\n", "tally", "-")
	assert.Equal(t, 2, status)
	assert.Equal(t, "vkds: standard input:2: \"x\" is not an integer (--type text reads it)\n", notes,
		"errors are always told")
}

func TestFullDisk(t *testing.T) {
	hostSuffices(t)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no disk that is always full: %v", err)
	}
	defer full.Close()
	want := syscall.ENOSPC
	if runtime.GOOS == "windows" {
		want = 112 // ERROR_DISK_FULL, which ENOSPC is none of there
	}
	for _, arguments := range [][]string{{"tally", "-"}, {"dump", "-", "--output-format", "parquet"}} {
		c := command(context.Background(), arguments...)
		var notes bytes.Buffer
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader("1,2\n"), full, &notes
		if arguments[0] == "tally" {
			c.Stdin = strings.NewReader("1\n")
		}
		_ = c.Run()
		assert.Equal(t, 2, c.ProcessState.ExitCode())
		assert.Equal(t, "vkds: standard output: "+want.Error()+"\n", notes.String())
	}
}

func TestHelp(t *testing.T) {
	for _, arguments := range [][]string{{"--help"}, {"get", "--help"}, {"tables"}, {"help", "tables"}, {"--version"},
		{"completion", "bash"}} {
		out, err := exec.Command(tool, arguments...).Output()
		require.NoError(t, err, arguments)
		require.NotEmpty(t, out, arguments)
	}
	assert.Contains(t, refusal(t, "", "frobnicate"), `unknown command "frobnicate"`)
	assert.Contains(t, refusal(t, "", "tally", "-", "--frobnicate"),
		"unknown flag: --frobnicate (see vkds tally --help)")
}
