//go:build windows

package main_test

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/windows"
)

// interruptible is for a command before its start: there will be an interrupt, of the command alone.
func interruptible(run *exec.Cmd) {
	run.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// interrupt does to a command what Ctrl-Break does, and Ctrl-C to what is alone in a console.
func interrupt(run *exec.Cmd) error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(run.Process.Pid))
}

// endedByPipe says that a command ended as others do whose reader is gone.
func endedByPipe(t *testing.T, state *os.ProcessState) { assert.Equal(t, 2, state.ExitCode()) }

// permissions are what a file has that was made with these.
func permissions(fs.FileMode) fs.FileMode { return 0o666 }
