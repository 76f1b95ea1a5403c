package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
	"github.com/vkds/vkds/test/stress"
)

func TestUnknownCommands(t *testing.T) {
	for _, arguments := range []string{"frobnicate", "help frobnicate", "bench frobnicate", "help bench frobnicate",
		"help get table", "completion frobnicate", "doctor frobnicate", "info frobnicate", "bench lsm frobnicate"} {
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

// Without cgo the tool is made of the same files, but for the binding, the look at closed files, and what others'
// packages have. So it builds, as package vk does over that binding ("make check"), and what vk then says comes out
// like any other refusal.
func TestSameWithoutCgo(t *testing.T) {
	pass.NotInWine(t, "there is no Go")
	files := func(cgo string) (packages []string) {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if .Main}}{{$.ImportPath}} {{$.GoFiles}} "+
			"{{$.CgoFiles}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
		out, err := list.Output()
		require.NoError(t, err, "CGO_ENABLED=%s", cgo)
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "/vk/internal/native") {
				packages = append(packages, strings.Replace(line, "[closed_unix.go]", "[]", 1))
			}
		}
		return packages
	}
	without := files("0")
	assert.Contains(t, strings.Join(without, ""), "/vkds/vk ")
	assert.Equal(t, files("1"), without)
}

// A tool that was built without cgo has no Vulkan, and says so.
func TestWithoutCgo(t *testing.T) {
	pass.NotInWine(t, "there is no Go")
	if stress.Level == 0 {
		t.Skip("compiles half of the standard library and all else anew: set VKDS_STRESS=1")
	}
	without := filepath.Join(t.TempDir(), "vkds")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", without, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	var out, notes bytes.Buffer
	info := exec.Command(without, "info")
	info.Stdout, info.Stderr = &out, &notes
	_ = info.Run() // the status says it
	assert.Equal(t, 2, info.ProcessState.ExitCode())
	assert.Empty(t, out.String())
	assert.Equal(t, "vkds: vk: no Vulkan in this program: it was built without cgo (build with CGO_ENABLED=1 and a C "+
		"compiler)\n", notes.String())
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
		{[]string{"build", path, "-o", "-"}, "-: is not the name of a file here"},
		{[]string{"build", path, "-o", dict + ".gz"}, dict + ".gz: files are written uncompressed"},
		{[]string{"inspect", path, "--svg", dir + "/p.svg.zst"}, "p.svg.zst: files are written uncompressed"},
		{[]string{"inspect", path, "--svg", ""}, "--svg is given, but empty"},
		{[]string{"dump", path, "-o", dir + "/d.tsv"},
			"d.tsv: no format has the ending .tsv: --output-format says which"},
		{[]string{"dump", path, "-o", dict}, "no format has the ending .vkds"},
		{[]string{"dump", path, "-o", dir + "/d.csv.gz"}, "d.csv.gz: files are written uncompressed"},
		{[]string{"dump", path, "-o", dir + "/none/d.csv"}, "none/d.csv: " + notThere(dir+"/none")},
		{[]string{"dump", path, "-o", ""}, "--output is given, but empty"},
		{[]string{"dump", path, "--output-format", "xml"},
			`unknown format "xml" (known: auto, csv, jsonl, parquet, arrow, arrows)`},
		{[]string{"dump", path, "--json", "--output-format", "csv"}, "--json and --output-format exclude each other"},
		{[]string{"dump", path, path}, "dump takes one DICT or TABLE"},
		{[]string{"min", path, "5"}, "min takes one DICT or TABLE"},
		{[]string{"max", path, "--structure", "slabhash"}, "slabhash keeps no order, which max needs"},
		{[]string{"bench", "scan", "--kernels", "-"}, "-: is not the name of a file here"},
		{[]string{"bench", "scan", "--kernels", dir + "/k.csv.gz"}, "files are written uncompressed"},
		{[]string{"bench", "scan", "--kernels", dir + "/a", "--json", dir + "/../" + filepath.Base(dir) + "/a"},
			"--json and --kernels are the same file"},
		{[]string{"bench", "scan", "--op", ""}, "--op is given, but empty"},
		{[]string{"get", path, "1", "--key", ""}, "--key is given, but empty"},
		{[]string{"get", path, "--keys", ""}, "--keys is given, but empty"},
		{[]string{"get", path, "-1"}, "before keys that begin with a minus sign there must be a \"--\""},
		{[]string{"range", path, "-5:5"}, "before keys that begin with a minus sign there must be a \"--\""},
		// refusal itself is quiet
		{[]string{"get", path, "1", "--verbose"}, "--quiet and --verbose exclude each other"},
		{[]string{"tally", path, "-x"}, "unknown shorthand flag: 'x' in -x (see vkds tally --help)"},
		{[]string{"get", path, "1", "--load", "inf"}, "a load of +Inf makes no sense"},
		{[]string{"get", path, "1", "--load", "nan"}, "a load of NaN makes no sense"},
		{[]string{"get", path, "1", "--load", "0"}, "a load of 0 makes no sense"},
		{[]string{"get", path, "1", "--structure", "btree", "--fill", "-inf"}, "a fill of -Inf makes no sense"},
		{[]string{"get", path, "1", "--structure", "lsm", "--batch", "0"}, "a batch of 0 makes no sense"},
		{[]string{"get", path, "1", "--keys-format", "text"}, "--keys-format is for files"},
		{[]string{"get", path, "1", "--keys-column", "2"}, "--keys-column is for files"},
		{[]string{"get", path, "--keys-format", "u32le", "--keys-column", "2"},
			"--keys-column is for csv, parquet, arrow, not for u32le"},
		{[]string{"count", path, "--keys-format", "text", "--keys-column", "1,2"},
			"--keys-column is for csv, parquet, arrow, not for text"},
		{[]string{"count", path, "--keys-format", "u32be", "--keys-comment", "#"},
			"--keys-comment is for csv, text, not for u32be"},
		{[]string{"tally", "-", "--header", "--format", "u32be"}, "--header is for csv, text, not for u32be"},
		{[]string{"tally", "-", "--no-header", "--format", "arrow"}, "--no-header is for csv, text, not for arrow"},
		{[]string{"tally", "-", "--format", "u32le", "--delimiter", ";"}, "--delimiter is for csv, not for u32le"},
		{[]string{"tally", "-", "--format", "u32le", "--comment", "#"}, "--comment is for csv, text, not for u32le"},
		{[]string{"tally", "-", "--comment", "7"}, "lines that begin with \"7\" may hold data"},
		{[]string{"tally", "-", "--comment", "//"}, "\"//\" is not a single character"},
	} {
		said := refusal(t, "", c.arguments...)
		assert.Contains(t, said, c.want, c.arguments)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

// A missing input, a folder and what may not be read are told before a device is looked for.
func TestMissingBeforeDevice(t *testing.T) {
	there, dir := write(t, "t.csv", "1,10\n"), t.TempDir()
	none, dict := filepath.Join(dir, "none"), filepath.Join(dir, "d.vkds")
	for _, c := range [][]string{{"get", none, "1"}, {"get", there, "--keys", none}, {"range", none, "1:2"},
		{"count", there, "--keys", none}, {"successor", none, "1"}, {"min", none}, {"top", none}, {"dump", none},
		{"build", none, "-o", dict}, {"update", none, there}, {"update", there, none}, {"delete", none, "1"},
		{"delete", there, "--keys", none}, {"verify", none}, {"tally", none}, {"stats", none},
		{"inspect", none, "--svg", "-"}, {"inspect", there, "--structure", "mvbtree", "--update", none, "--svg", "-"},
		{"graph", "stats", none}, {"graph", "bfs", none, "--from", "1"}, {"graph", "export", none},
		{"graph", "neighbors", none, "1"}, {"graph", "replay", none, "--batch", "1"}, {"graph", "triangles", none}} {
		assert.Equal(t, none+": "+notThere(none), refusal(t, "", append(c, "--device", "there is none")...), c)
	}
	assert.Contains(t, refusal(t, "", "get", dir, "1", "--device", "there is none"), dir+": is a directory")
}

// An output that is one of the inputs is refused, under whatever name, and left as
// it is.
func TestOutputIsInput(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.csv")
	require.NoError(t, os.WriteFile(path, []byte("1,10\n"), 0o600))
	symbolic := linked(t, path, filepath.Join(dir, "symbolic"))
	require.NoError(t, os.Link(path, filepath.Join(dir, "hard")))
	inputs := []string{path, symbolic, "-", "/dev/stdin"}
	if runtime.GOOS == "windows" {
		inputs = inputs[:3]
	}
	for _, output := range []string{path, dir + "/./t.csv", symbolic, filepath.Join(dir, "hard")} {
		for _, file := range inputs {
			for _, command := range [][]string{{"build", file, "-o", output}, {"inspect", file, "--svg", output},
				{"dump", file, "-o", output}} {
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
	for _, command := range [][]string{{"tally", path}, {"get", path, "1"}, {"get", os.DevNull, "--keys", path},
		{"range", path}, {"stats", path}, {"verify", path}, {"inspect", path, "--svg", "-"}, {"dump", path},
		{"max", path}} {
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
	hostSuffices(t)
	dict := filepath.Join(t.TempDir(), "d.vkds")
	table := write(t, "t.csv", "1,10\n2,20\n")
	answer(t, "", "build", table, "-o", dict)
	good, err := os.ReadFile(dict)
	require.NoError(t, err)
	bad := write(t, "bad.csv", "x,\ny,\n")
	skippedAll := bad + ": nothing in it can be read: --skip-invalid skipped all there is (2)"
	assert.Equal(t, skippedAll, refusal(t, "", "build", bad, "-o", dict, "--skip-invalid", "--no-header"))
	assert.Equal(t, skippedAll, refusal(t, "", "get", bad, "1", "--skip-invalid", "--no-header"))
	assert.Equal(t, bad+": nothing in it can be read: --skip-invalid skipped all there is (2)",
		refusal(t, "", "tally", bad, "--skip-invalid", "--no-header"))
	assert.Equal(t, "standard input: nothing in it can be read: --skip-invalid skipped all there is (1)",
		refusal(t, "1x\n", "tally", "-", "--skip-invalid"))
	assert.Equal(t, "standard input holds no pairs, so "+dict+" is left as it is (--allow-empty has it replaced)",
		refusal(t, "", "build", "-", "-o", dict))
	now, err := os.ReadFile(dict)
	require.NoError(t, err)
	assert.Equal(t, good, now)
	answer(t, "", "build", "-", "-o", dict, "--allow-empty")
	out, _ := answer(t, "", "get", dict, "1")
	assert.Equal(t, "key,value\n1,\n", out)
}
