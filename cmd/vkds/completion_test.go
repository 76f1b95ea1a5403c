package main_test

import (
	"encoding/json"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Shells complete the values of flags that are one of some names.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		arguments string
		want      string // some of the completions
	}{
		{"get t.csv --structure ", "btree lsm mvbtree slabhash sortedarray"},
		{"range t.csv --structure s", "sortedarray"},
		{"dump t.csv --output-format ", "csv jsonl parquet arrow arrows"},
		{"dump t.csv --key-type f", "f32 f64"},
		{"build t.csv --format ", "csv parquet arrow u32le"},
		{"tally t.csv --type t", "text time time64"},
		{"graph stats g --format m", "metis mtx"},
		{"graph export g --output-format ", "csv edges mtx"},
		{"graph bfs g --id-type i", "i32 i64 ip ip6"},
		{"get t.csv --keys-format u", "u32le u32be u64le u64be"},
		{"update d.vkds t.csv --combine m", "max min"},
		{"bench btree --path concurrent,", "concurrent,batched"},
		{"bench scan --op ", ""},
		{"get --device c", "cpu"},
		{"d", "delete doctor dump"},
	} {
		words := strings.Split(c.arguments, " ")
		out, said, status := runTool("", append([]string{"__complete"}, words...)...)
		require.Zero(t, status, said)
		var got []string
		for line := range strings.Lines(out) {
			name, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, name)
		}
		if c.arguments == "get --device c" && noDevice != "" {
			continue
		}
		assert.Subset(t, got, strings.Fields(c.want), c.arguments)
		last := words[len(words)-1]
		for _, name := range got[:len(got)-1] { // behind them there is a number
			assert.True(t, strings.HasPrefix(name, last), "%s: %s", c.arguments, name)
		}
		assert.Greater(t, len(got), 1, c.arguments)
	}
}

// The version is told in a line, and with what it is made of.
func TestVersion(t *testing.T) {
	out, _, status := runTool("", "--version")
	assert.Zero(t, status)
	assert.Regexp(t, `^vkds version \S.* \(`+runtime.Version()+`\)\n$`, out)
	out, _, status = runTool("", "version", "--json")
	assert.Zero(t, status)
	var told struct {
		Version, Go, Platform string
		Cgo                   bool
	}
	require.NoError(t, json.Unmarshal([]byte(out), &told))
	assert.NotEmpty(t, told.Version)
	assert.Equal(t, runtime.Version(), told.Go)
	assert.Equal(t, runtime.GOOS+"/"+runtime.GOARCH, told.Platform)
}

// The manual page has all commands, flags and topics, and nothing that roff complains of.
func TestManual(t *testing.T) {
	page, said, status := runTool("", "man")
	require.Zero(t, status, said)
	for _, part := range []string{".TH VKDS 1", ".SH NAME", ".SH SYNOPSIS", ".SS vkds get ", ".SS vkds graph bfs ",
		".SS vkds bench btree", `\fB\-o\fR, \fB\-\-output\fR \fIfile\fR`, ".SH TABLES", ".SH OUTPUT",
		`\fB\-\-must\-exist\fR`} {
		assert.Contains(t, page, part)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Log("without groff nothing sets the page")
		return
	}
	set := exec.Command("groff", "-man", "-Tutf8", "-K", "utf8", "-ww", "-z")
	set.Stdin = strings.NewReader(page)
	warned, err := set.CombinedOutput()
	assert.NoError(t, err)
	assert.Empty(t, string(warned))
}
