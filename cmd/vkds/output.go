package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/vkds/vkds/internal/tool/input"
	"github.com/vkds/vkds/internal/tool/outfile"
)

// output is standard output or standard error. It keeps its first error, because some callers ignore those of Write.
type output struct {
	to    io.Writer
	name  string // in messages
	until io.Writer
	err   error
}

func newOutput(ctx context.Context, to io.Writer, name string) *output {
	return &output{to: to, name: name, until: outfile.Until(ctx, to)}
}

// Write gives up when the context ends, as outfile.Until does.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.until.Write(p)
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = fmt.Errorf("%s: %w", o.name, pe.Err) // users know this name, not the path
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// quietly hides errors from cobra, which would print them. The output keeps them.
type quietly struct{ to io.Writer }

func (q quietly) Write(p []byte) (int, error) {
	_, _ = q.to.Write(p)
	return len(p), nil
}

// closedFile replaces a standard output that was closed when the command started.
type closedFile struct{}

func (closedFile) Write([]byte) (int, error) {
	return 0, &fs.PathError{Op: "write", Path: "", Err: syscall.EBADF}
}

// checkOutput returns an error if the output can't be written, if an input can't be read, or if they are the same
// file. Commands call it before they begin to work. The output "-" is standard output.
func checkOutput(output string, inputs ...string) error {
	if output != input.Stdin {
		if err := outfile.Check(output); err != nil {
			return err
		}
	}
	return checkInputs(output, inputs...)
}

// writeTo writes to standard output, "-", or to a file, which is replaced if write succeeds.
func (g *global) writeTo(ctx context.Context, output string, write func(io.Writer) error) error {
	if output == input.Stdin {
		return write(g.out)
	}
	f, err := outfile.Create(ctx, output)
	if err != nil {
		return err
	}
	defer f.Abort() // does nothing after Commit
	if err := write(f); err != nil {
		return err
	}
	return f.Commit()
}
