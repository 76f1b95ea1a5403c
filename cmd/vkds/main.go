// Command vkds loads tables and files of keys into dictionaries in GPU memory
// and answers questions about them. "vkds help" says how.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/vkds/vkds/internal/tool/input"
)

// What the command's status says.
const (
	statusDone        = 0
	statusAbsent      = 1 // get --must-exist, and a key is not there
	statusUntrusted   = 1 // doctor, and the device did what it must not
	statusFailed      = 2
	statusInterrupted = 130 // as shells have it for an interrupted command
)

func main() {
	// A context of our own, ended by the signal's: in Go 1.26.0 the cause of that one is
	// not context.Canceled, by which cancelled calls are known.
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(signalled, func() {
		cancel()
		stop() // a second interrupt ends the command at once
	})
	stdout := io.Writer(os.Stdout)
	if input.ClosedAtStart(1) {
		stdout = closedFile{}
	}
	os.Exit(run(ctx, os.Args[1:], stdout, os.Stderr))
}

// run runs one command line and returns its status.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	out := newOutput(ctx, stdout, "standard output")
	g := &global{out: out, err: newOutput(ctx, stderr, "standard error")}
	root := newRootCommand(g)
	root.SetArgs(arguments)
	root.SetErr(stderr)
	err := cmp.Or(root.ExecuteContext(ctx), out.err) // whether or not the command looked at it
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errAbsent):
		return statusAbsent
	case errors.Is(err, errUntrusted):
		return statusUntrusted
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		interrupted(stderr)
		return statusInterrupted
	}
	if unread(err) {
		return statusFailed
	}
	fmt.Fprintf(stderr, "vkds: %s\n", oneLine(err.Error()))
	return statusFailed
}

// unread says that whoever read the answers is gone. Windows alone makes that an error; elsewhere a signal has ended
// the command, as it ends others.
func unread(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // ERROR_BROKEN_PIPE, ERROR_NO_DATA
	var e syscall.Errno
	return runtime.GOOS == "windows" && errors.As(err, &e) && (e == brokenPipe || e == noData)
}

// interrupted says so, unless nobody reads it.
func interrupted(stderr io.Writer) {
	said := make(chan struct{})
	go func() {
		fmt.Fprintln(stderr, "vkds: interrupted")
		close(said)
	}()
	select {
	case <-said:
	case <-time.After(20 * time.Millisecond):
	}
}

// oneLine joins the lines of a message that has several.
func oneLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "; ")
}
