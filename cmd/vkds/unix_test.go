//go:build unix

package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
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
