package input

import (
	"io"
	"runtime"
)

// stage decompresses a file on goroutines of its own, beside whoever reads the result: part after part, or several
// parts at the same time where it is known where they begin.
type stage struct {
	parts   chan *piece // in order; the last one has an error
	now     []byte
	err     error
	stop    chan struct{}
	stopped chan struct{}
}

// piece is a part of what is decompressed.
type piece struct {
	data []byte
	err  error         // after the data
	done chan struct{} // closed when both are set
}

// newStage returns a stage that has the parts that fill adds. As many as there are cores wait to be read. Close it.
func newStage(fill func(*stage)) *stage {
	s := &stage{parts: make(chan *piece, runtime.GOMAXPROCS(0)), stop: make(chan struct{}),
		stopped: make(chan struct{})}
	go func() {
		defer close(s.stopped)
		fill(s)
	}()
	return s
}

// add adds a part that decode decompresses, on another goroutine. It returns false if nobody needs more parts.
func (s *stage) add(decode func() ([]byte, error)) bool {
	p := &piece{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.data, p.err = decode()
	}()
	return s.put(p)
}

func (s *stage) put(p *piece) bool {
	select {
	case s.parts <- p:
		return true
	case <-s.stop:
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
		next := <-s.parts
		<-next.done
		s.now, s.err = next.data, next.err
	}
	n := copy(p, s.now)
	s.now = s.now[n:]
	return n, nil
}

// close ends the stage. No goroutine reads the file afterwards.
func (s *stage) close() {
	close(s.stop)
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
