package main_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of the rows that there would be, so many are printed, and what is behind them is not asked.
func TestLimit(t *testing.T) {
	hostSuffices(t)
	path := write(t, "t.csv", "1,10\n2,20\n3,30\n4,40\n")
	for _, c := range []struct {
		arguments string
		want      string
	}{
		{"get T 4 9 1 --limit 2", "key,value\n4,40\n9,\n"},
		{"get T 4 9 1 --limit 3", "key,value\n4,40\n9,\n1,10\n"},
		{"get T 4 9 1 --limit 9 --json", `{"key":4,"value":40} {"key":9,"value":null} {"key":1,"value":10} `},
		{"get T 4 9 1 --limit 1 --json", `{"key":4,"value":40} `},
		{"get T 4 9 1 --limit 0", "key,value\n"},
		{"get T 4 9 1 --limit 0 --json", ""},
		{"floor T 2 9 --limit 1", "key,found,value\n2,2,20\n"},
		{"count T 2:3 1:1 --limit 1", "lo,hi,count\n2,3,2\n"},
		{"range T 2:3 1: --limit 3", "key,value\n2,20\n3,30\n1,10\n"},
		{"range T 2:3 1: --limit 2 --json", `{"key":2,"value":20} {"key":3,"value":30} `},
	} {
		out, _ := answer(t, "", strings.Fields(strings.ReplaceAll(c.arguments, "T", path))...)
		if strings.Contains(c.arguments, "--json") {
			out = strings.ReplaceAll(out, "\n", " ")
		}
		assert.Equal(t, c.want, out, c.arguments)
	}
	for arguments, want := range map[string]int{"4 9 --limit 1": 0, "4 9 --limit 2": 1, "9 4 --limit 1": 1} {
		_, _, status := runTool("", append([]string{"get", path, "--must-exist"}, strings.Fields(arguments)...)...)
		assert.Equal(t, want, status, "keys behind the limit are not asked about: %s", arguments)
	}
	for _, n := range []string{"-1", "x", "1e3", "99999999999999999999"} {
		assert.Contains(t, refusal(t, "", "get", path, "1", "--limit="+n), `"`+n+`" is not a number of rows`)
	}
	// An endless input ends with the limit.
	run := exec.Command(tool, "get", path, "--limit", "2")
	run.Stdin = &endlessKeys{}
	out, err := run.Output()
	require.NoError(t, err)
	assert.Equal(t, "key,value\n1,10\n1,10\n", string(out))
}
