package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// output is where a command writes, until its context ends: a write that waits,
// for a reader of a full pipe, is then given up, and no other one is begun.
type output struct {
	ctx  context.Context
	to   io.Writer
	name string // of what is written, in messages
}

// Write writes a copy: where it gives up, the system still has it.
func (o *output) Write(p []byte) (int, error) {
	if o.ctx.Err() != nil {
		return 0, context.Cause(o.ctx)
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	p = bytes.Clone(p)
	go func() {
		n, err := o.to.Write(p)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, o.named(r.err)
	case <-o.ctx.Done():
		return 0, context.Cause(o.ctx)
	}
}

// named says of what an error is, by the name that users know.
func (o *output) named(err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: %w", o.name, err)
}
