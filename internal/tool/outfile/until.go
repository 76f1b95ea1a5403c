package outfile

import (
	"context"
	"io"
	"sync"
)

// Until returns a writer to w. When the context ends, a write that waits for the reader of a full pipe returns the
// context's cause, and so do later ones.
func Until(ctx context.Context, w io.Writer) io.Writer { return &until{ctx: ctx, to: w} }

type until struct {
	ctx    context.Context
	to     io.Writer
	copies sync.Pool // of *[]byte, for other writes
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
	own, _ := u.copies.Get().(*[]byte)
	if own == nil {
		own = new([]byte)
	}
	*own = append((*own)[:0], p...)
	go func() {
		n, err := u.to.Write(*own)
		u.copies.Put(own)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-u.ctx.Done():
		return 0, context.Cause(u.ctx)
	}
}
