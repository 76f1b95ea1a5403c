package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/outfile"
	"github.com/vkds/vkds/test/pass"
)

// An update and a deletion, of every structure, against a Go map; keys come more than once in either.
func TestUpdateDelete(t *testing.T) {
	hostSuffices(t)
	for i, structure := range known {
		random := rand.New(rand.NewPCG(11, uint64(i)))
		has := map[uint64]uint64{}
		for range 2000 {
			has[random.Uint64N(5000)] = uint64(random.Uint32())
		}
		keys := slices.Sorted(maps.Keys(has))
		var values []uint64
		for _, k := range keys {
			values = append(values, has[k])
		}
		dict := saved(t, dictfile.Header{Structure: structure, ValueType: "i32"}, keys, values)

		inserted, assigned, deleted, absent := 0, 0, 0, 0
		var rows, asked strings.Builder
		for range 3000 {
			k, v := random.Uint64N(5000), int32(random.Uint32())
			if _, there := has[k]; there {
				assigned++
			} else {
				inserted++
			}
			has[k] = uint64(uint32(v) ^ 1<<31)
			fmt.Fprintf(&rows, "%d,%d\n", v, k)
		}
		rows.WriteString("x,y\n")
		after := len(has)
		for range 1500 {
			k := random.Uint64N(5000)
			if _, there := has[k]; there {
				deleted++
			} else {
				absent++
			}
			delete(has, k)
			fmt.Fprintln(&asked, k)
		}
		out, _ := answer(t, rows.String(), "update", dict, "-", "--key", "2", "--value", "1", "--skip-invalid")
		assert.Equal(t, fmt.Sprintf("measure,value\ninserted,%d\nassigned,%d\nskipped,1\npairs,%d\n", inserted,
			assigned, after), out, structure)
		out, _ = answer(t, asked.String(), "delete", dict, "--json")
		assert.JSONEq(t, fmt.Sprintf(`{"deleted": %d, "absent": %d, "pairs": %d}`, deleted, absent, len(has)), out,
			structure)

		want := "key,value\n"
		for _, k := range slices.Sorted(maps.Keys(has)) {
			want += fmt.Sprintf("%d,%d\n", k, int32(has[k]^1<<31))
		}
		out, _ = answer(t, "", "dump", dict)
		require.Equal(t, want, out, structure)
		r, err := dictfile.Open(context.Background(), dict)
		require.NoError(t, err)
		assert.Equal(t, structure, r.Header().Structure, "it stays what it is")
		require.NoError(t, r.Close())
	}
}

// The change is there whole, in the dictionary's place or elsewhere, or not at all.
func TestChangeReplaces(t *testing.T) {
	t.Parallel()
	needDevice(t)
	dict := saved(t, dictfile.Header{Structure: "lsm", Parameters: map[string]float64{"batch": 64}}, []uint64{1, 2},
		[]uint64{10, 20})
	dir := filepath.Dir(dict)
	require.NoError(t, os.Chmod(dict, 0o640))
	link := linked(t, dict, filepath.Join(dir, "link.vkds"))
	old, err := os.ReadFile(dict)
	require.NoError(t, err)
	stays := func() {
		t.Helper()
		now, err := os.ReadFile(dict)
		require.NoError(t, err)
		require.Equal(t, old, now)
	}
	assert.Equal(t, `standard input:2: column 1: "x" is not an integer`,
		refusal(t, "3,30\nx,1\n", "update", dict, "-", "--no-header"))
	stays()
	assert.Equal(t, `key 2 of the command line: "x" is not an integer`, refusal(t, "", "delete", dict, "1", "x"))
	stays()
	assert.Equal(t, "the changed dictionary holds no pairs, so "+dict+
		" is left as it is (--allow-empty has it replaced)", refusal(t, "", "delete", dict, "1", "2"))
	stays()
	other := filepath.Join(dir, "other.vkds")
	answer(t, "3,30\n", "update", dict, "-", "-o", other)
	stays()
	out, _ := answer(t, "", "dump", other)
	assert.Equal(t, "key,value\n1,10\n2,20\n3,30\n", out)
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	answer(t, string(text), "delete", "-", "1", "-o", other) // from a pipe, elsewhere
	answer(t, "", "update", link, other)                     // one dictionary into another, by a link
	out, _ = answer(t, "", "dump", dict)
	assert.Equal(t, "key,value\n1,10\n2,20\n3,30\n", out)
	info, err := os.Lstat(dict)
	require.NoError(t, err)
	assert.Equal(t, permissions(0o640), info.Mode())
	out, _ = answer(t, "", "stats", dict, "--json")
	assert.Contains(t, out, `"batch": 64`)
	answer(t, "", "delete", dict, "1", "2", "3", "--allow-empty")
	out, _ = answer(t, "", "dump", dict)
	assert.Equal(t, "key,value\n", out)
}

func TestChangeRefuses(t *testing.T) {
	hostSuffices(t)
	dict := saved(t, dictfile.Header{Structure: "slabhash", KeyType: "time"}, []uint64{1}, []uint64{10})
	other := saved(t, dictfile.Header{Structure: "slabhash", ValueType: "f32"}, []uint64{1}, []uint64{10})
	table := write(t, "t.csv", "1,10\n")
	hard := filepath.Join(filepath.Dir(dict), "hard.vkds")
	require.NoError(t, os.Link(dict, hard))
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"update", dict, other}, other + " has keys of type u32 and values of type f32, but " + dict +
			" has time and u32"},
		{[]string{"update", dict, table, "--key-type", "i32"}, "--key-type i32: those of " + dict + " are time"},
		{[]string{"update", dict, other, "--value", "2"}, other + " is a saved dictionary: --value is for tables"},
		{[]string{"update", table, dict}, table + " is not a saved dictionary (vkds build makes one)"},
		{[]string{"update", dict + "x", table}, dict + "x: " + notThere(dict+"x")},
		{[]string{"update", dict, dict}, dict + " is not written: it is the same file as " + dict + ", which is read"},
		{[]string{"update", dict, hard}, dict + " is not written: it is the same file as " + hard + ", which is read"},
		{[]string{"update", dict, table, "-o", table}, table + " is not written: it is the same file as"},
		{[]string{"delete", dict, "--keys", dict}, dict + " is not written: it is the same file as"},
		{[]string{"update", "-", table}, "a dictionary from standard input can't be changed in its place: -o says " +
			"where to save it"},
		{[]string{"update", "-", "-", "-o", dict}, "the dictionary and the table can't both come from standard input"},
		{[]string{"delete", dict, "1", "--structure", "lsm"}, "unknown flag: --structure (see vkds delete --help)"},
		{[]string{"delete", dict, "-1"}, "before keys that begin with a minus sign"},
		{[]string{"update", dict}, "update takes a DICT and a TABLE (see vkds update --help)"},
		{[]string{"update", dict, table, "-o", filepath.Dir(dict)}, "is a directory"},
	} {
		assert.Contains(t, refusal(t, "", c.arguments...), c.want)
	}
}

// While a dictionary is changed nobody else changes it, and an interrupt leaves it as it was.
func TestChangeInterrupted(t *testing.T) {
	pass.NotInWine(t, "there is no Ctrl-C")
	needDevice(t)
	dict := saved(t, dictfile.Header{Structure: "btree"}, []uint64{1}, []uint64{10})
	old, err := os.ReadFile(dict)
	require.NoError(t, err)
	run := exec.Command(tool, "update", dict, "-")
	interruptible(run)
	in, err := run.StdinPipe() // stays open
	require.NoError(t, err)
	defer in.Close()
	var notes bytes.Buffer
	run.Stderr = &notes
	require.NoError(t, run.Start())
	_, err = in.Write([]byte("2,20\n"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		release, err := outfile.Claim(dict)
		if err == nil {
			release()
		}
		return errors.Is(err, outfile.ErrClaimed)
	}, time.Minute, 10*time.Millisecond)
	assert.Equal(t, dict+": is being changed by another process (--wait waits for it)", refusal(t, "", "delete", dict,
		"1"))
	require.NoError(t, interrupt(run))
	_ = run.Wait()
	assert.Equal(t, 130, run.ProcessState.ExitCode(), notes.String())
	now, err := os.ReadFile(dict)
	require.NoError(t, err)
	assert.Equal(t, old, now)
	answer(t, "", "delete", dict, "7") // the claim is gone with its process
	answer(t, "", "verify", dict)
	entries, err := os.ReadDir(filepath.Dir(dict))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file")
}

// An update that waits is done after the one before it, and loses nothing of it.
func TestChangeWaits(t *testing.T) {
	needDevice(t)
	dict := saved(t, dictfile.Header{Structure: "btree"}, []uint64{1}, []uint64{10})
	first, second := exec.Command(tool, "update", dict, "-"), exec.Command(tool, "delete", dict, "1", "--wait", "-v")
	in, err := first.StdinPipe() // stays open
	require.NoError(t, err)
	require.NoError(t, first.Start())
	_, err = in.Write([]byte("2,20\n"))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		release, err := outfile.Claim(dict)
		if err == nil {
			release()
		}
		return errors.Is(err, outfile.ErrClaimed)
	}, time.Minute, 10*time.Millisecond)
	notes, err := second.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, second.Start())
	said := make([]byte, len("vkds: "+dict+" is being changed by another process: waiting for it\n"))
	_, err = io.ReadFull(notes, said)
	require.NoError(t, err)
	assert.Equal(t, "vkds: "+dict+" is being changed by another process: waiting for it\n", string(said))
	require.NoError(t, in.Close())
	require.NoError(t, first.Wait())
	_, _ = io.Copy(io.Discard, notes)
	require.NoError(t, second.Wait())
	assert.Equal(t, map[uint64]uint64{2: 20}, holds(t, dict))
}

// Values of rows whose keys are there, or come twice, become one.
func TestUpdateCombines(t *testing.T) {
	hostSuffices(t)
	for combine, want := range map[string]map[uint64]uint64{
		"add": {1: 4294967290, 2: 27, 3: 9},
		"min": {1: 10, 2: 3, 3: 4},
		"max": {1: 4294967280, 2: 20, 3: 5},
	} {
		for _, structure := range []string{"slabhash", "btree", "mvbtree", "lsm", "sortedarray"} {
			dict := saved(t, dictfile.Header{Structure: structure}, []uint64{1, 2}, []uint64{10, 20})
			out, _ := answer(t, "1,4294967280\n2,3\n2,4\n3,4\n3,5\n", "update", dict, "-", "--combine", combine,
				"--json")
			assert.JSONEq(t, `{"inserted": 1, "assigned": 4, "skipped": 0, "pairs": 3}`, out)
			assert.Equal(t, want, holds(t, dict), "%s %s", structure, combine)
		}
	}
	dir := t.TempDir()
	dict := filepath.Join(dir, "signed.vkds")
	answer(t, "1,-10\n", "build", "-", "-o", dict, "--value-type", "i32")
	answer(t, "1,-20\n", "update", dict, "-", "--combine", "min")
	out, _ := answer(t, "", "dump", dict)
	assert.Equal(t, "key,value\n1,-20\n", out)
	assert.Equal(t, "--combine sum: it is add, min or max",
		refusal(t, "1,1\n", "update", dict, "-", "--combine", "sum"))
}

// Sums are exact: values become wider where one needs it, and one that no type holds is an error that names its key.
func TestUpdateSums(t *testing.T) {
	hostSuffices(t)
	const most = "18446744073709551615"
	for name, c := range map[string]struct {
		table, rows string
		flags       []string
		value       string // the type in the end
		want        string // of dump, or an error
	}{
		"u32": {"1,10\n2,20\n", "1,5\n3,7\n1,6\n", nil, "u32", "1,21\n2,20\n3,7\n"},
		"u32 to u64": {"1,10\n2,20\n", "2,4294967295\n3,4294967295\n3,1\n", nil, "u64",
			"1,10\n2,4294967315\n3,4294967296\n"},
		"beyond u64": {"1," + most + "\n2,0\n", "2,1\n1,1\n", nil, "",
			"the sum of key 1: 18446744073709551616 is out of range (0 to " + most + ")"},
		"i32":         {"1,-10\n2,20\n", "1,3\n2,-21\n", nil, "i32", "1,-7\n2,-1\n"},
		"i32 to i64":  {"1,-10\n2,20\n", "1,-2147483648\n", nil, "i64", "1,-2147483658\n2,20\n"},
		"u32 and i32": {"1,10\n2,20\n", "1,-30\n", nil, "i32", "1,-20\n2,20\n"},
		"beyond i64": {"-5,-9223372036854775808\n", "-5,-1\n", nil, "",
			"the sum of key -5: -9223372036854775809 is out of range (-9223372036854775808 to 9223372036854775807)"},
		"f32": {"1,0.5\n2,-1\n", "1,0.25\n2,1e3\n1,1\n", []string{"--value-type", "f32"}, "f32",
			"1,1.75\n2,999\n"},
		"f64": {"1,0.5\n2,-1e300\n", "1,0.25\n2,1e300\n", []string{"--value-type", "f64"}, "f64",
			"1,0.75\n2,0\n"},
		"beyond f64": {"7,1e308\n", "7,1e308\n", []string{"--value-type", "f64"}, "",
			"the sum of key 7: the sum is out of range (64-bit floats)"},
		"text":      {"a,1\nb,4294967295\n", "c,3\nb,1\nc,4\n", nil, "u64", "a,1\nb,4294967296\nc,7\n"},
		"text, i32": {"a,1\nb,-2\n", "b,-3\na,-1\n", nil, "i32", "a,0\nb,-5\n"},
		"beyond text": {"a,1\nb," + most + "\n", "c,3\nb,1\n", nil, "",
			`the sum of key "b": 18446744073709551616 is out of range (0 to ` + most + ")"},
		"time": {"1,2020-01-01\n", "1,5\n", []string{"--value-type", "time"}, "",
			"are of type time, but sums are of numbers"},
	} {
		dict := filepath.Join(t.TempDir(), "d.vkds")
		answer(t, c.table, append([]string{"build", "-", "-o", dict, "--no-header"}, c.flags...)...)
		if c.value == "" {
			assert.Contains(t, refusal(t, c.rows, "update", dict, "-", "--combine", "add"), c.want, name)
			continue
		}
		answer(t, c.rows, "update", dict, "-", "--combine", "add")
		out, _ := answer(t, "", "dump", dict)
		assert.Equal(t, "key,value\n"+c.want, out, name)
		out, _ = answer(t, "", "stats", dict, "--json")
		assert.Contains(t, out, `"value_type": "`+c.value+`"`, name)
	}
}

// The least and the greatest of signed numbers and of floats.
func TestUpdateCombinesTypes(t *testing.T) {
	hostSuffices(t)
	for combine, want := range map[string][2]string{
		"min": {"1,-20\n2,-1\n", "a,-2.5\nb,-1\n"},
		"max": {"1,-10\n2,3\n", "a,0.5\nb,1000\n"},
	} {
		dict := filepath.Join(t.TempDir(), "d.vkds")
		answer(t, "1,-10\n2,3\n", "build", "-", "-o", dict)
		answer(t, "1,-20\n2,-1\n", "update", dict, "-", "--combine", combine)
		out, _ := answer(t, "", "dump", dict)
		assert.Equal(t, "key,value\n"+want[0], out, combine)
		answer(t, "a,0.5\nb,-1\n", "build", "-", "-o", dict, "--value-type", "f64")
		answer(t, "a,-2.5\nb,1e3\n", "update", dict, "-", "--combine", combine)
		out, _ = answer(t, "", "dump", dict)
		assert.Equal(t, "key,value\n"+want[1], out, combine)
	}
}
