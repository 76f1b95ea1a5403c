//go:build unix

package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/pass"
)

// interruptible is for a command before its start: there will be an interrupt.
func interruptible(*exec.Cmd) {}

// interrupt does to a command what Ctrl-C does.
func interrupt(run *exec.Cmd) error { return run.Process.Signal(os.Interrupt) }

// endedByPipe says that a command ended as others do whose reader is gone.
func endedByPipe(t *testing.T, state *os.ProcessState) {
	status := state.Sys().(syscall.WaitStatus)
	assert.True(t, status.Signaled() && status.Signal() == syscall.SIGPIPE, status)
}

// permissions are what a file has that was made with these.
func permissions(mode fs.FileMode) fs.FileMode { return mode }

// shell runs a line of sh, in which vkds is the tool, and returns what it printed and its status.
func shell(t *testing.T, dir, line string) (stdout, stderr string, status int) {
	t.Helper()
	var out, err bytes.Buffer
	c := exec.Command("sh", "-c", line)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &err
	c.Env = append(os.Environ(), "PATH="+onPath+":"+os.Getenv("PATH"))
	_ = c.Run() // the status says it
	return out.String(), err.String(), c.ProcessState.ExitCode()
}

// An output that is an open file is written to where it stands: what others wrote to it stays, and it stays the file
// that it is.
func TestOutputIsOpen(t *testing.T) {
	needDevice(t)
	dir := filepath.Dir(write(t, "t.csv", "1,10\n"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "edges"), []byte("1 2\n"), 0o600))
	log := filepath.Join(dir, "log")
	for _, c := range []struct{ command, redirected, want string }{
		{"vkds dump t.csv -o /dev/stdout", ">> log", "key,value\n1,10\n"},
		{"vkds dump t.csv -o /dev/fd/3", "3>> log", "key,value\n1,10\n"},
		{"vkds dump t.csv -o /proc/self/fd/1", "| cat >> log", "key,value\n1,10\n"},
		{"vkds graph export edges -o /dev/stdout", ">> log", "from,to\n1,2\n"},
		{"vkds graph export edges -o /dev/fd/4 --output-format edges", "4>> log", "1 2\n"},
		{"ln -sf /dev/fd/3 link; vkds dump t.csv -o link", "3>> log", "key,value\n1,10\n"},
		{"vkds inspect t.csv --svg /dev/stdout", ">> log", "<svg"},
		{"vkds build t.csv -o /dev/stdout", ">> log", "VKDS"},
		{"vkds build t.csv -o /dev/fd/9", "9>> log", "VKDS"},
	} {
		require.NoError(t, os.WriteFile(log, []byte("old\n"), 0o600))
		before, err := os.Stat(log)
		require.NoError(t, err)
		_, said, status := shell(t, dir, "{ "+c.command+"; } "+c.redirected)
		assert.Zero(t, status, "%s: %s", c.command, said)
		after, err := os.Stat(log)
		require.NoError(t, err)
		assert.True(t, os.SameFile(before, after), c.command)
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(string(text), "old\n"+c.want), "%s: %q", c.command, text[:min(40, len(text))])
	}
	out, said, status := shell(t, dir, "vkds build t.csv -o /dev/stdout | vkds get - 1")
	assert.Zero(t, status, said)
	assert.Equal(t, "key,value\n1,10\n", out, "a dictionary through a pipe")
	out, said, status = shell(t, dir, "mkfifo pipe; vkds build t.csv -o pipe & vkds get pipe 1; rm pipe")
	assert.Zero(t, status, said)
	assert.Equal(t, "key,value\n1,10\n", out, "a dictionary through a named pipe")
	out, said, status = shell(t, dir, "vkds build t.csv -o d.vkds; vkds update d.vkds t.csv -o /dev/stdout")
	assert.Equal(t, 2, status)
	assert.Empty(t, out)
	assert.Equal(t, "vkds: /dev/stdout is standard output, which the answer goes to\n", said)
	_, said, status = shell(t, dir, "vkds dump t.csv -o /dev/fd/8")
	assert.Equal(t, 2, status)
	assert.Equal(t, "vkds: /dev/fd/8: bad file descriptor\n", said)
}

// Standard output that is closed, or full, is an error for whatever has something to say there, and for nothing else.
func TestClosedOutput(t *testing.T) {
	needDevice(t)
	dir := filepath.Dir(write(t, "t.csv", "1,10\n"))
	for _, command := range []string{"get t.csv 1", "tally t.csv --column 1", "stats t.csv", "dump t.csv", "info",
		"help", "--version", "version", "get --help", "completion bash", "help output",
		"dump t.csv --output-format arrows", "dump t.csv -o /dev/stdout", "inspect t.csv --svg -"} {
		for redirected, want := range map[string]string{">&-": "bad file descriptor",
			"> /dev/full": "no space left on device"} {
			_, said, status := shell(t, dir, "vkds "+command+" "+redirected)
			assert.Equal(t, 2, status, command+redirected)
			assert.Regexp(t, `^vkds: (standard output|/dev/stdout): `+want+"\n$", said, command+redirected)
		}
	}
	for _, redirected := range []string{">&-", "> /dev/full", "> /dev/null", "<&- > /dev/null"} {
		_, said, status := shell(t, dir, "vkds build t.csv -o d.vkds "+redirected)
		assert.Zero(t, status, redirected+said)
	}
	_, said, status := shell(t, dir, "vkds get t.csv 1 1<> /dev/null")
	assert.Zero(t, status, said)
}

// A limit on the length of files stops the driver of a CPU device, which keeps memory in one, or the writing of a
// dictionary: in one line, and nothing is left.
func TestFileLimit(t *testing.T) {
	pass.NotEmulated(t, "memory is the emulator's")
	needDevice(t)
	dir := filepath.Dir(write(t, "t.csv", rows(100_000)))
	for _, blocks := range []string{"0", "1", "64", "1000"} {
		out, said, status := shell(t, dir, "ulimit -f "+blocks+"; vkds build t.csv -o d.vkds")
		if status == 0 { // the device's memory is in no file
			assert.NotEqual(t, "0", blocks)
			require.NoError(t, os.Remove(filepath.Join(dir, "d.vkds")))
			continue
		}
		assert.Equal(t, 2, status, blocks)
		assert.Empty(t, out)
		assert.Regexp(t, `^vkds: .*(a file may have at most \d+ bytes \(ulimit -f\)|file too large)\n$`, said, blocks)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		assert.Len(t, entries, 1, blocks)
	}
}
