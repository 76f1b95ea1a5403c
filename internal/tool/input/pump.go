package input

import (
	"context"
	"io"
	"time"
)

// pump reads a pipe or a terminal in its own goroutine, so that a reader can stop when the context is done while the
// system call still waits. The goroutine then ends when its call returns, which for a command's standard input is at
// the end of the command.
type pump struct {
	ctx   context.Context
	full  chan chunk
	empty chan []byte
	now   []byte // the rest of the current buffer
	whole []byte // the current buffer
	err   error
}

type chunk struct {
	data []byte
	err  error
}

const pumpBytes = 256 << 10

func newPump(ctx context.Context, r io.Reader) *pump {
	p := &pump{ctx: ctx, full: make(chan chunk, 1), empty: make(chan []byte, 2)}
	p.empty <- make([]byte, pumpBytes)
	p.empty <- make([]byte, pumpBytes)
	go func() {
		for {
			var buffer []byte
			select {
			case buffer = <-p.empty:
			case <-ctx.Done():
				return
			}
			n, err := r.Read(buffer[:cap(buffer)])
			select {
			case p.full <- chunk{buffer[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

// comes reports whether data, or their end, arrive within a time.
func (p *pump) comes(within time.Duration) bool {
	if len(p.now) > 0 || p.err != nil {
		return true
	}
	if p.whole != nil {
		p.empty <- p.whole // never waits: there are two buffers and room for two
		p.whole = nil
	}
	wait := time.NewTimer(within)
	defer wait.Stop()
	select {
	case c := <-p.full:
		p.now, p.whole, p.err = c.data, c.data, c.err
	case <-p.ctx.Done():
	case <-wait.C:
		return false
	}
	return true
}

func (p *pump) Read(dst []byte) (int, error) {
	for len(p.now) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.whole != nil {
			p.empty <- p.whole // never waits: there are two buffers and room for two
			p.whole = nil
		}
		select {
		case c := <-p.full:
			p.now, p.whole, p.err = c.data, c.data, c.err
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(dst, p.now)
	p.now = p.now[n:]
	return n, nil
}
