package input

import (
	"context"
	"io"
	"time"
)

// pump reads a pipe or a terminal in a goroutine of its own, so that a reader
// can give up on a done context while the system call still waits. The
// goroutine then stays until its call returns, which for a command's standard
// input is the end of the command.
type pump struct {
	ctx   context.Context
	full  chan chunk
	empty chan []byte
	now   []byte // what is left of the current buffer
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

// comes tells whether data, or what ends them, are there within a time.
func (p *pump) comes(within time.Duration) bool {
	if len(p.now) > 0 || p.err != nil {
		return true
	}
	if p.whole != nil {
		p.empty <- p.whole // never waits: two buffers, two places
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
			p.empty <- p.whole // never waits: two buffers, two places
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
