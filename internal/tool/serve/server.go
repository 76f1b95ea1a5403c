// Package serve answers Redis's protocol from a replicated dictionary (package replica). It takes pipelined commands as
// one batch, so that many small commands are few calls on a device.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vkds/vkds/internal/tool/serve/replica"
	"github.com/vkds/vkds/internal/tool/serve/stream"
	"golang.org/x/sync/semaphore"
)

// Options say whom a Server answers. The zero value has the defaults of the command's flags.
type Options struct {
	Password   string        // "": none is asked for
	MaxClients int           // connections at a time; 0: 10,000
	MaxRequest int           // bytes of a command; 0: 16 MiB
	Idle       time.Duration // how long a connection may be without commands; 0: for ever
	Version    string        // what INFO calls the program
	TLS        bool          // clients speak it: what CLUSTER SHARDS calls ports
	Shards     [][]string    // the members of all shards, this server's own included; none: there is one shard
	Between    *tls.Config   // of connections to other shards; nil: in the clear
	Log        *slog.Logger
	Stream     *stream.Target // to which changes are published; nil: to none

	// stalled is how long a client may take to log in, to send a command, or to take a part of the answers. It is less
	// in tests. 0: a minute.
	stalled time.Duration
	// admitWithin is how long a client of Flight may take to give the password. It is less in tests. 0: 10 s.
	admitWithin time.Duration
}

const (
	// grace is how long connections have to finish what they do when the server stops.
	grace = 10 * time.Second
	// stranger is how long a command may be before the password was given.
	stranger = 16 << 10
)

// Server answers clients of a Node. Make it by Open.
type Server struct {
	node    *replica.Node
	stream  *stream.Stream // nil: none
	o       Options
	config  replica.Options
	metrics *metrics
	started time.Time
	shards  []*shard
	own     int // the shard of this server

	stopping atomic.Bool
	scanning context.Context // of those who read all pairs or wait for room; ended by cancel
	cancel   context.CancelFunc
	abroad   context.Context // of questions to other shards; ended by hangUp
	leave    context.CancelFunc
	clients  atomic.Int64
	lastID   atomic.Int64
	mu       sync.Mutex
	conns    map[*conn]struct{}
	served   sync.WaitGroup
	learned  sync.WaitGroup
	scans    chan struct{} // has room for those who read all pairs
	// Over all connections, memory has a bound by these: large has room for those who do large commands, and held for
	// the bytes of answers.
	large chan struct{}
	held  *semaphore.Weighted
	// asking is held for answers that are also those of other shards.
	asking *semaphore.Weighted

	answers sync.Pool // of *[]replica.Answer, of reads
}

// Open starts a Node and makes its Server. Errors: those of replica.Open. Close the Server.
func Open(ctx context.Context, r replica.Options, o Options) (*Server, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.MaxClients, o.MaxRequest = cmp.Or(o.MaxClients, 10_000), cmp.Or(o.MaxRequest, 16<<20)
	o.stalled, o.admitWithin = cmp.Or(o.stalled, time.Minute), cmp.Or(o.admitWithin, 10*time.Second)
	s := &Server{o: o, config: r, metrics: newMetrics(), started: time.Now(), conns: map[*conn]struct{}{},
		scans: make(chan struct{}, 1), large: make(chan struct{}, 2), held: semaphore.NewWeighted(mostHeld),
		asking: semaphore.NewWeighted(mostHeld)}
	r.Log, r.OnEntry = o.Log, s.metrics.entry
	var err error
	if s.node, err = replica.Open(ctx, r); err != nil {
		return nil, err
	}
	s.config.Types = s.node.Types()
	s.scanning, s.cancel = context.WithCancel(context.Background())
	s.abroad, s.leave = context.WithCancel(context.Background())
	s.shards, s.own = newShards(&o, &s.config)
	s.learned.Go(func() { s.learnLeaders(s.abroad) })
	if o.Stream != nil {
		s.stream = stream.Start(s.node, o.Stream, o.Log)
	}
	s.metrics.watch(s)
	return s, nil
}

// Serve answers those who connect until the context ends or the Node can't go on, whose error it returns.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-s.node.Failed():
			_ = l.Close()
		case <-ended:
		}
	}()
	wait := time.Millisecond
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			wait = time.Millisecond
			s.take(c)
		case ctx.Err() != nil:
			return nil
		case s.node.Err() != nil:
			return s.node.Err()
		case errors.Is(err, net.ErrClosed):
			return err
		default: // no more files, for example: others may close theirs
			s.o.Log.Warn("no connection was accepted", "error", err)
			time.Sleep(wait)
			wait = min(2*wait, time.Second)
		}
	}
}

// take serves a connection in a goroutine of its own.
func (s *Server) take(n net.Conn) {
	if s.clients.Add(1) > int64(s.o.MaxClients) {
		s.clients.Add(-1)
		if _, ok := n.(*tls.Conn); !ok { // which would wait for the client's part of the handshake
			_ = n.SetDeadline(time.Now().Add(time.Second))
			_, _ = n.Write([]byte("-ERR max number of clients reached\r\n"))
		}
		_ = n.Close()
		return
	}
	c := &conn{s: s, net: n, id: s.lastID.Add(1), opened: time.Now(), in: make([]byte, 0, smallBuffer),
		authed: s.o.Password == ""}
	s.mu.Lock()
	s.conns[c] = struct{}{}
	s.mu.Unlock()
	s.served.Go(func() {
		defer func() {
			_ = n.Close()
			s.mu.Lock()
			delete(s.conns, c)
			s.mu.Unlock()
			s.clients.Add(-1)
		}()
		c.serve()
	})
}

// Close waits until connections have done what they have begun, and closes the Node. Serve must have returned.
func (s *Server) Close() error {
	s.stopping.Store(true)
	s.each(func(c *conn) { _ = c.net.SetReadDeadline(time.Now()) })
	s.hangUp()
	s.learned.Wait()
	defer s.cancel()
	done := make(chan struct{})
	go func() {
		s.served.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(grace):
		s.cancel()
		s.scans <- struct{}{} // none reads a snapshot any more
		s.each(func(c *conn) { _ = c.net.Close() })
	}
	if s.stream != nil {
		s.stream.Close()
	}
	err := s.node.Close()
	<-done // none waits for a Node that is closed
	return err
}

// hangUp ends all questions to other shards at once: one that hangs would keep the server from stopping.
func (s *Server) hangUp() {
	s.leave()
	for _, x := range s.shards {
		x.close()
	}
}

func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}
