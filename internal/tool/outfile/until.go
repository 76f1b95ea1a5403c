package outfile

import (
	"bytes"
	"context"
	"io"
)

// Until returns a writer to w. When the context ends, a write that waits for the reader of a full pipe returns the
// context's cause, and so do later ones.
func Until(ctx context.Context, w io.Writer) io.Writer { return &until{ctx, w} }

type until struct {
	ctx context.Context
	to  io.Writer
}

// Write writes a copy, because the system still has it if the write is abandoned.
func (u *until) Write(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	p = bytes.Clone(p)
	go func() {
		n, err := u.to.Write(p)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-u.ctx.Done():
		return 0, context.Cause(u.ctx)
	}
}
