// Command vkds answers questions about tables, files of keys and graphs, with data structures in GPU memory.
// "vkds help" lists its commands.
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

// The exit statuses.
const (
	statusDone        = 0
	statusAbsent      = 1 // --must-exist was given, and a key is absent
	statusUntrusted   = 1 // doctor: the device is not to be trusted
	statusFailed      = 2
	statusInterrupted = 130 // the status that shells use for an interrupted command
)

func main() {
	// Commands get a context of our own, because its cause is context.Canceled: that is how a cancelled call is
	// recognized. As of Go 1.26.0, the context of NotifyContext has another cause.
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
	err := cmp.Or(root.ExecuteContext(ctx), out.err) // the command may have ignored an error of its output
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

// unread reports whether the reader of the answers has gone. That is an error on Windows only; elsewhere SIGPIPE has
// already ended the command.
func unread(err error) bool {
	const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232) // ERROR_BROKEN_PIPE, ERROR_NO_DATA
	var e syscall.Errno
	return runtime.GOOS == "windows" && errors.As(err, &e) && (e == brokenPipe || e == noData)
}

// interrupted prints that the command was interrupted. It gives up after a moment, because nobody may be reading
// standard error.
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
