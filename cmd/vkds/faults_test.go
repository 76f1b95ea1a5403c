package main_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/dictfile"
)

// saved writes a dictionary as no build would.
func saved(t *testing.T, h dictfile.Header, keys, values []uint32) string {
	path := filepath.Join(t.TempDir(), "d.vkds")
	h.Pairs = int64(len(keys))
	w, err := dictfile.Create(path, h)
	require.NoError(t, err)
	require.NoError(t, w.Write(keys, values))
	require.NoError(t, w.Close())
	return path
}

func TestUnknownCommands(t *testing.T) {
	for _, arguments := range []string{"frobnicate", "help frobnicate", "bench frobnicate", "help bench frobnicate", "help get table", "completion frobnicate", "doctor frobnicate", "info frobnicate", "bench lsm frobnicate"} {
		said := refusal(t, "", strings.Fields(arguments)...)
		assert.Regexp(t, "unknown command|takes no arguments", said, arguments)
	}
	for _, arguments := range []string{"help", "help get", "help bench lsm", "bench", "completion", ""} {
		out, notes, status := runTool("", strings.Fields(arguments)...)
		assert.Zero(t, status, arguments)
		assert.Contains(t, out, "Usage:", arguments)
		assert.Empty(t, notes, arguments)
	}
}

// Refusals that need no device: each says in one line what is wrong.
func TestRefusesBeforeWork(t *testing.T) {
	path, dir := write(t, "t.csv", "1,10\n"), t.TempDir()
	dict := filepath.Join(dir, "d.vkds")
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"build", path, "-o", ""}, "--output is given, but empty"},
		{[]string{"build", path, "-o", "-"}, "-: is no name of a file here"},
		{[]string{"build", path, "-o", dict + ".gz"}, dict + ".gz: files are written uncompressed"},
		{[]string{"inspect", path, "--svg", dir + "/p.svg.zst"}, "p.svg.zst: files are written uncompressed"},
		{[]string{"inspect", path, "--svg", ""}, "--svg is given, but empty"},
		{[]string{"bench", "scan", "--csv", "-"}, "-: is no name of a file here"},
		{[]string{"bench", "scan", "--kernels", dir + "/k.csv.gz"}, "files are written uncompressed"},
		{[]string{"bench", "scan", "--csv", dir + "/a", "--json", dir + "/../" + filepath.Base(dir) + "/a"}, "is the name of two of the files to write"},
		{[]string{"bench", "scan", "--op", ""}, "--op is given, but empty"},
		{[]string{"get", path, "1", "--key", ""}, "--key is given, but empty"},
		{[]string{"get", path, "--keys", ""}, "--keys is given, but empty"},
		{[]string{"get", path, "-1"}, "before keys that begin with a minus sign there must be a \"--\""},
		{[]string{"range", path, "-5:5"}, "before keys that begin with a minus sign there must be a \"--\""},
		{[]string{"tally", path, "-x"}, "unknown shorthand flag: 'x' in -x (see vkds tally --help)"},
		{[]string{"get", path, "1", "--load", "inf"}, "a load of +Inf makes no sense"},
		{[]string{"get", path, "1", "--load", "nan"}, "a load of NaN makes no sense"},
		{[]string{"get", path, "1", "--load", "0"}, "a load of 0 makes no sense"},
		{[]string{"get", path, "1", "--structure", "btree", "--fill", "-inf"}, "a fill of -Inf makes no sense"},
		{[]string{"get", path, "1", "--structure", "lsm", "--batch", "0"}, "a batch of 0 makes no sense"},
		{[]string{"get", path, "1", "--keys-format", "text"}, "--keys-format is for files"},
		{[]string{"get", path, "1", "--keys-column", "2"}, "--keys-column is for files"},
		{[]string{"get", path, "--keys-format", "u32le", "--keys-column", "2"}, "--keys-column is for csv, not for u32le"},
		{[]string{"count", path, "--keys-format", "text", "--keys-column", "1,2"}, "--keys-column is for csv, not for text"},
		{[]string{"count", path, "--keys-format", "u32be", "--keys-comment", "#"}, "--keys-comment is for text and csv, not for u32be"},
		{[]string{"tally", "-", "--header"}, "--header is for csv, not for text"},
		{[]string{"tally", "-", "--format", "u32le", "--delimiter", ";"}, "--delimiter is for csv, not for u32le"},
		{[]string{"tally", "-", "--format", "u32le", "--comment", "#"}, "--comment is for text and csv, not for u32le"},
		{[]string{"tally", "-", "--comment", "7"}, "lines that begin with \"7\" may hold data"},
		{[]string{"tally", "-", "--comment", "//"}, "\"//\" is no single character"},
	} {
		said := refusal(t, "", c.arguments...)
		assert.Contains(t, said, c.want, c.arguments)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// An output that is one of the inputs is refused, under whatever name, and left as
// it is.
func TestOutputIsInput(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("1,10\n"), 0o600))
	require.NoError(t, os.Symlink("t.csv", filepath.Join(dir, "symbolic")))
	require.NoError(t, os.Link(path, filepath.Join(dir, "hard")))
	for _, output := range []string{path, dir + "/./t.csv", filepath.Join(dir, "symbolic"), filepath.Join(dir, "hard")} {
		for _, input := range []string{path, filepath.Join(dir, "symbolic"), "-", "/dev/stdin"} {
			for _, command := range [][]string{{"build", input, "-o", output}, {"inspect", input, "--svg", output}} {
				stdin, err := os.Open(path)
				require.NoError(t, err)
				run := exec.Command(tool, command...)
				run.Stdin = stdin
				notes, _ := run.CombinedOutput()
				stdin.Close()
				assert.Equal(t, 2, run.ProcessState.ExitCode(), command)
				assert.Contains(t, string(notes), "is the same file as", command)
			}
		}
	}
	// Standard output: a shell that appends to the file has not truncated it.
	for _, command := range [][]string{{"tally", path}, {"get", path, "1"}, {"get", "/dev/null", "--keys", path}, {"range", path}, {"stats", path}, {"verify", path}, {"inspect", path, "--svg", "-"}} {
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		require.NoError(t, err)
		run := exec.Command(tool, command...)
		var notes bytes.Buffer
		run.Stdout, run.Stderr = out, &notes
		_ = run.Run()
		out.Close()
		assert.Equal(t, 2, run.ProcessState.ExitCode(), command)
		assert.Contains(t, notes.String(), "standard output is the same file as "+path, command)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "1,10\n", string(text))
}

// Nothing, or nothing but what was skipped, replaces no dictionary.
func TestEmptyReplacesNothing(t *testing.T) {
	needDevice(t)
	dict := filepath.Join(t.TempDir(), "d.vkds")
	table := write(t, "t.csv", "1,10\n2,20\n")
	answer(t, "", "build", table, "-o", dict)
	good, err := os.ReadFile(dict)
	require.NoError(t, err)
	bad := write(t, "bad.csv", "x,\ny,\n")
	skippedAll := bad + ": nothing in it can be read: --skip-invalid skipped all there is (2)"
	assert.Equal(t, skippedAll, refusal(t, "", "build", bad, "-o", dict, "--skip-invalid", "--no-header"))
	assert.Equal(t, skippedAll, refusal(t, "", "get", bad, "1", "--skip-invalid", "--no-header"))
	assert.Equal(t, bad+": nothing in it can be read: --skip-invalid skipped all there is (2)", refusal(t, "", "tally", bad, "--skip-invalid", "--no-header"))
	assert.Equal(t, "standard input: nothing in it can be read: --skip-invalid skipped all there is (1)", refusal(t, "*\n", "tally", "-", "--skip-invalid"))
	assert.Equal(t, "standard input holds no pairs, so "+dict+" is left as it is (--allow-empty has it replaced)", refusal(t, "", "build", "-", "-o", dict))
	now, err := os.ReadFile(dict)
	require.NoError(t, err)
	assert.Equal(t, good, now)
	answer(t, "", "build", "-", "-o", dict, "--allow-empty")
	out, _ := answer(t, "", "get", dict, "1")
	assert.Equal(t, "key,value\n1,\n", out)
}

// A saved dictionary comes from wherever tables come from.
func TestSavedThroughPipe(t *testing.T) {
	needDevice(t)
	dict := saved(t, dictfile.Header{Structure: "slabhash", KeyType: "i32"}, []uint32{1 << 31, 1<<31 + 1}, []uint32{10, 11})
	text, err := os.ReadFile(dict)
	require.NoError(t, err)
	out, _ := answer(t, string(text), "get", "-", "0", "1", "2")
	assert.Equal(t, "key,value\n0,10\n1,11\n2,\n", out)
	assert.Equal(t, "standard input: can't be read in any order, as this format needs: give an uncompressed regular file", refusal(t, string(text), "verify", "-"))
	assert.Contains(t, refusal(t, string(text[:len(text)-1]), "get", "-", "0"), "standard input: ends too early")
	assert.Equal(t, dict+":1: looks like a saved dictionary, not like text", refusal(t, "", "tally", dict))
	assert.Equal(t, dict+": looks like a saved dictionary, not like keys of 4 bytes", refusal(t, "", "tally", dict, "--format", "u32le"))
	assert.Equal(t, `"": is no name of a file`, refusal(t, "", "get", "", "1"))
}

// What no build writes is refused by whatever loads it.
func TestSavedNonsense(t *testing.T) {
	needDevice(t)
	for _, structure := range known {
		dict := saved(t, dictfile.Header{Structure: structure}, []uint32{1, 2, 1, 3, 1}, []uint32{10, 20, 30, 40, 50})
		assert.Equal(t, dict+": is corrupt: 2 of its pairs have a key that others have, too", refusal(t, "", "get", dict, "1"), structure)
	}
	for parameter, structure := range map[string]string{"load": "slabhash", "fill": "btree", "batch": "lsm"} {
		for _, value := range []float64{-1, 0, 1e-300, 1e300} {
			dict := saved(t, dictfile.Header{Structure: structure, Parameters: map[string]float64{parameter: value}}, []uint32{1}, []uint32{2})
			said := refusal(t, "", "get", dict, "1")
			assert.Contains(t, said, fmt.Sprintf("%s: a %s of %g makes no sense for %s", dict, parameter, value, structure))
		}
	}
}

// Binary keys are values of the keys' type, in tally and among the keys asked for,
// and JSON stays JSON whatever the words.
func TestBinaryKeysAndJSON(t *testing.T) {
	needDevice(t)
	five := "\x05\x00\x00\x00"
	minus := "\xfb\xff\xff\xff"
	out, _ := answer(t, five+minus+five, "tally", "-", "--format", "u32le", "--type", "i32")
	assert.Equal(t, "key,count\n5,2\n-5,1\n", out)
	table := write(t, "t.csv", "5,10\n-5,20\n")
	out, _ = answer(t, five+minus, "get", table, "--key-type", "i32", "--keys-format", "u32le")
	assert.Equal(t, "key,value\n5,10\n-5,20\n", out)
	out, _ = answer(t, minus+five, "count", table, "--key-type", "i32", "--keys-format", "u32le")
	assert.Equal(t, "lo,hi,count\n-5,5,2\n", out)

	var floats []byte
	for _, bits := range []uint32{0x3f800000, 0x7f800000, 0x7fc00000} { // 1, infinite, none
		floats = binary.LittleEndian.AppendUint32(floats, bits)
	}
	assert.Equal(t, "standard input: key 3: NaN has no place in an order", refusal(t, string(floats), "tally", "-", "--format", "u32le", "--type", "f32", "--json"))
	out, _ = answer(t, string(floats), "tally", "-", "--format", "u32le", "--type", "f32", "--json", "--skip-invalid")
	assert.JSONEq(t, `{"keys": 2, "distinct": 2, "skipped": 1, "top": [{"key": 1, "count": 1}, {"key": "+Inf", "count": 1}]}`, out)

	// Words that are no float's, as only another program may save.
	dict := saved(t, dictfile.Header{Structure: "sortedarray", KeyType: "f32", ValueType: "f32"}, []uint32{0, 0xffffffff}, []uint32{0xffffffff, 0})
	for _, arguments := range [][]string{{"range", "--", "-inf:inf"}, {"get", "1"}, {"successor", "inf"}, {"predecessor", "--", "-inf"}, {"count", "1:2"}, {"stats"}} {
		out, _ := answer(t, "", append([]string{arguments[0], dict, "--json"}, arguments[1:]...)...)
		assert.True(t, json.Valid([]byte(out)), "%v: %s", arguments, out)
	}
	out, _ = answer(t, "", "successor", dict, "--json", "inf")
	assert.JSONEq(t, `[{"key": "+Inf", "found": "NaN", "value": "NaN"}]`, out)
	// An empty dictionary has statistics, too.
	for _, structure := range known {
		out, _ := answer(t, "", "stats", "-", "--structure", structure, "--json")
		assert.True(t, json.Valid([]byte(out)), "%s: %s", structure, out)
	}
}

// An interrupt while answers are printed, to whoever reads them or not, ends the
// command at once.
func TestInterruptPrinting(t *testing.T) {
	needDevice(t)
	const n = 500_000
	table := write(t, "t.csv", rows(n))
	keys := write(t, "keys", strings.Repeat("7\n", n))
	for _, c := range []struct {
		name      string
		arguments []string
		read      bool // slowly
	}{
		{"nobody reads", []string{"get", table, "--keys", keys}, false},
		{"nobody reads JSON", []string{"get", table, "--keys", keys, "--json"}, false},
		{"somebody reads", []string{"range", table, "0:4294967295"}, true},
		{"nobody reads a tally", []string{"tally", table, "--column", "1"}, false},
		{"nobody reads a tally's JSON", []string{"tally", table, "--column", "1", "--json", "--top", "1000000"}, false},
		{"nobody reads a picture", []string{"inspect", table, "--svg", "-"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			run := exec.CommandContext(ctx, tool, c.arguments...)
			answers, err := run.StdoutPipe()
			require.NoError(t, err)
			var notes bytes.Buffer
			run.Stderr = &notes
			require.NoError(t, run.Start())
			some := make([]byte, 9)
			_, err = io.ReadFull(answers, some) // it prints
			require.NoError(t, err, notes.String())
			if c.read {
				go func() {
					for err := error(nil); err == nil; _, err = answers.Read(some) {
						time.Sleep(time.Millisecond)
					}
				}()
			}
			time.Sleep(200 * time.Millisecond) // the pipe is full
			interrupted := time.Now()
			require.NoError(t, run.Process.Signal(os.Interrupt))
			state, err := run.Process.Wait()
			took := time.Since(interrupted)
			require.NoError(t, err)
			assert.Equal(t, 130, state.ExitCode())
			_ = run.Wait() // for the notes
			t.Logf("ended after %v", took)
			assert.Less(t, took, 2*time.Second, "100 ms, where the machine is idle")
			assert.Contains(t, notes.String(), "vkds: interrupted\n")
		})
	}
}

// More keys than memory may be asked for: answers come as keys do.
func TestEndlessKeys(t *testing.T) {
	needDevice(t)
	run := exec.Command(tool, "get", write(t, "t.csv", "1,10\n"), "-q")
	run.Stdin = &endlessKeys{}
	answers, err := run.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, run.Start())
	got := make([]byte, len("key,value\n")+5*3<<20) // those of three million keys
	_, err = io.ReadFull(answers, got)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(got), "key,value\n1,10\n1,10\n"))
	answers.Close() // as head does
	_ = run.Wait()
	assert.False(t, run.ProcessState.Success())
}

type endlessKeys struct{}

func (endlessKeys) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat("1\n", len(p)/2))
	return max(n, min(1, len(p))), nil
}
