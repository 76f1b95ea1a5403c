package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
)

// stage decompresses a file on goroutines of its own, beside whoever reads the result: part after part, or several
// parts at the same time where it is known where they begin.
type stage struct {
	parts   chan *piece // in order; the last one has an error
	now     []byte
	err     error
	ctx     context.Context // ends when nobody needs more
	cancel  func()
	stopped chan struct{}
}

// piece is a part of what is decompressed.
type piece struct {
	data []byte
	err  error         // after the data
	done chan struct{} // closed when both are set
}

// newStage returns a stage that has the parts that fill adds, until ctx ends. As many as there are cores wait to be
// read. Close it.
func newStage(ctx context.Context, fill func(*stage)) *stage {
	s := &stage{parts: make(chan *piece, runtime.GOMAXPROCS(0)), stopped: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(ctx)
	go func() {
		defer close(s.stopped)
		if err := caught(func() error { fill(s); return nil }); err != nil {
			s.end(err)
		}
	}()
	return s
}

// add adds a part that decode decompresses, on another goroutine. It returns false if nobody needs more parts.
func (s *stage) add(decode func() ([]byte, error)) bool {
	p := &piece{done: make(chan struct{})}
	if !s.put(p) {
		return false
	}
	go func() {
		defer close(p.done)
		p.err = caught(func() (err error) {
			p.data, err = decode()
			return err
		})
	}()
	return true
}

// from returns a reader of compressed bytes that ends when nobody needs more parts.
func (s *stage) from(compressed []byte) io.Reader {
	return &stoppable{s, bytes.NewReader(compressed)}
}

// stoppable reads little at a time, so that it soon ends.
type stoppable struct {
	*stage
	from *bytes.Reader
}

func (r *stoppable) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p[:min(len(p), 4<<10)])
}

// limited returns all that a reader has, which is at most that many bytes: more is damage.
func limited(r io.Reader, most int) ([]byte, error) {
	var data bytes.Buffer
	data.Grow(most + bytes.MinRead)
	_, err := data.ReadFrom(io.LimitReader(r, int64(most)+1))
	if err == nil && data.Len() > most {
		err = errLength
	}
	return data.Bytes(), err
}

var errLength = errors.New("a block of another length than the file says")

func (s *stage) put(p *piece) bool {
	select {
	case s.parts <- p:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// end adds an error as the last part.
func (s *stage) end(err error) {
	p := &piece{err: err, done: make(chan struct{})}
	close(p.done)
	s.put(p)
}

// partBytes is the size of parts that are decompressed one after the other.
const partBytes = 1 << 20

// all adds what a reader has, as the last parts.
func (s *stage) all(r io.Reader) {
	for more := true; more; {
		p := &piece{data: make([]byte, partBytes), done: make(chan struct{})}
		n := 0
		for n < len(p.data) && p.err == nil {
			var read int
			read, p.err = r.Read(p.data[n:])
			n += read
		}
		p.data = p.data[:n]
		close(p.done)
		more = s.put(p) && p.err == nil
	}
}

func (s *stage) Read(p []byte) (int, error) {
	for len(s.now) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		select {
		case next := <-s.parts:
			<-next.done
			s.now, s.err = next.data, next.err
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
	}
	n := copy(p, s.now)
	s.now = s.now[n:]
	return n, nil
}

// close ends the stage. No goroutine reads the file afterwards.
func (s *stage) close() {
	s.cancel()
	<-s.stopped
	for {
		select {
		case p := <-s.parts:
			<-p.done
		default:
			return
		}
	}
}
