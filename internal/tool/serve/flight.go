package serve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"golang.org/x/sync/semaphore"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

// Memory of clients of Flight has a bound by these and by Server.held: each call that is under way has a message that
// comes, and each one of a connection a batch of answers that is not taken.
const (
	mostFlights = 128 // connections
	mostStreams = 32  // calls that are under way
	ofOneFlight = 4   // calls of one connection
	window      = 1 << 20
	mostArrived = mostHeld // bytes of messages that have come, with what is made of them
	decoded     = 2        // times the bytes of a message: it, and its words
	mostMessage = mostArrived / mostStreams / decoded
	mostRows    = mostMessage / 8 // of a record batch
)

// flights is the service of Arrow Flight, for many keys at a time.
type flights struct {
	flight.BaseFlightServer
	s       *Server
	base    int    // the port of Flight, less that for Redis
	scheme  string // of the addresses of Flight
	token   string // what clients that have given the password send
	streams chan struct{}
	arrived *semaphore.Weighted
	ending  context.Context // ended when no call may begin, and those that wait for their client end

	mu    sync.Mutex
	conns map[string]*flightConn // by the client's address
}

// ServeFlight answers clients of Arrow Flight until stop is called, before Close. t is nil for clients without TLS.
func (s *Server) ServeFlight(l net.Listener, t *tls.Config) (stop func()) {
	_, stop = s.flights(l, t)
	return stop
}

func (s *Server) flights(l net.Listener, t *tls.Config) (f *flights, stop func()) {
	bulk.Quiet()
	ctx, end := context.WithCancel(s.scanning)
	f = &flights{s: s, token: rand.Text(), streams: make(chan struct{}, mostStreams),
		arrived: semaphore.NewWeighted(mostArrived), ending: ctx, conns: map[string]*flightConn{}}
	if _, port, err := net.SplitHostPort(s.config.Name); err == nil {
		own, _ := strconv.Atoi(port)
		f.base = l.Addr().(*net.TCPAddr).Port - own
	}
	o := []grpc.ServerOption{grpc.InTapHandle(f.admit), grpc.MaxRecvMsgSize(min(s.o.MaxRequest, mostMessage)),
		grpc.MaxConcurrentStreams(ofOneFlight), grpc.MaxHeaderListSize(stranger), grpc.ConnectionTimeout(s.o.stalled),
		grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(ofOneFlight * window),
		grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionIdle: s.o.stalled}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: bulk.PingWait})}
	f.scheme = "grpc://"
	if t != nil {
		f.scheme = "grpc+tls://"
		o = append(o, grpc.Creds(credentials.NewTLS(t)))
	}
	server := grpc.NewServer(o...)
	flight.RegisterFlightServiceServer(server, f)
	s.o.Log.Info("flight", "address", l.Addr())
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(&flightListener{l, f}); err != nil {
			s.o.Log.Warn("flight has ended", "error", err)
		}
	}()
	return f, func() {
		end()
		s.hangUp()
		forced := time.AfterFunc(grace, server.Stop)
		defer forced.Stop()
		server.GracefulStop()
		<-served
	}
}

// flightListener knows the connections, and takes no more than there may be.
type flightListener struct {
	net.Listener
	f *flights
}

// Accept returns the next connection.
func (l *flightListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if x := l.f.know(c); x != nil {
			return x, nil
		}
		_ = c.Close()
	}
}

// know returns a connection as one that the service knows, or nil if it has enough. Strangers hold places only for
// a while.
func (f *flights) know(n net.Conn) *flightConn {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.conns) >= mostFlights {
		return nil
	}
	c := &flightConn{Conn: n, f: f}
	if f.s.o.Password != "" {
		c.stranger = time.AfterFunc(f.s.o.admitWithin, func() { _ = n.Close() })
	}
	f.conns[n.RemoteAddr().String()] = c
	return c
}

// flightConn is a connection that the service knows.
type flightConn struct {
	net.Conn
	f        *flights
	stranger *time.Timer // closes it; nil: there is no password
	once     sync.Once
}

// admit lets the connection stay.
func (c *flightConn) admit() {
	if c != nil && c.stranger != nil {
		c.stranger.Stop()
	}
}

// Close closes the connection and forgets it.
func (c *flightConn) Close() error {
	c.once.Do(func() {
		c.admit()
		c.f.mu.Lock()
		if at := c.RemoteAddr().String(); c.f.conns[at] == c { // and not the next one from there
			delete(c.f.conns, at)
		}
		c.f.mu.Unlock()
	})
	return c.Conn.Close()
}

// send calls a function that sends an answer. A client that doesn't take it in time loses its connection.
func (f *flights) send(ctx context.Context, send func() error) error {
	late := time.AfterFunc(f.s.o.stalled, func() {
		c := f.of(ctx)
		if c == nil {
			return
		}
		f.s.o.Log.Warn("a client of Flight doesn't take its answers", "from", c.RemoteAddr())
		_ = c.Close()
	})
	defer late.Stop()
	return send()
}

// of returns the connection of a call, or nil if it is closed.
func (f *flights) of(ctx context.Context) *flightConn {
	p, _ := peer.FromContext(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.conns[p.Addr.String()]
}

// admit refuses calls without the password, before anything of them is in memory.
func (f *flights) admit(ctx context.Context, call *tap.Info) (context.Context, error) {
	if f.s.o.Password == "" || strings.HasSuffix(call.FullMethodName, "/Handshake") {
		return ctx, nil
	}
	return ctx, f.allowed(ctx, call.Header, true)
}

// allowed checks the header of a call: the token, if that will do, or a user's name and the password. The call's
// connection may then stay.
func (f *flights) allowed(ctx context.Context, header metadata.MD, token bool) error {
	for _, text := range header.Get("authorization") {
		scheme, given, _ := strings.Cut(text, " ")
		switch {
		case strings.EqualFold(scheme, "bearer") && token && equal(given, f.token):
			f.of(ctx).admit()
			return nil
		case strings.EqualFold(scheme, "basic"):
			plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(given, "="))
			user, password, _ := strings.Cut(string(plain), ":")
			if err == nil && (user == "" || user == "default") && equal(password, f.s.o.Password) {
				f.of(ctx).admit()
				return nil
			}
		}
	}
	f.s.metrics.errors.Inc()
	return status.Error(codes.Unauthenticated, "the password is missing or wrong (basic authorization, user default)")
}

// equal compares secrets in a time that doesn't depend on them.
func equal(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Handshake gives a client the token for its password.
func (f *flights) Handshake(stream flight.FlightService_HandshakeServer) error {
	if f.s.o.Password != "" {
		header, _ := metadata.FromIncomingContext(stream.Context())
		if err := f.allowed(stream.Context(), header, false); err != nil {
			return err
		}
	}
	stream.SetTrailer(metadata.Pairs("authorization", "Bearer "+f.token))
	return nil
}

// enter takes one of the places of calls that are under way.
func (f *flights) enter() (leave func(), err error) {
	if f.ending.Err() != nil {
		return nil, replica.ErrClosed
	}
	select {
	case f.streams <- struct{}{}:
		return func() { <-f.streams }, nil
	default:
		return nil, errStreams
	}
}

var errStreams = fmt.Errorf("%d calls are under way, the most at a time", mostStreams)

// failed returns the status of an error, and what else it says. The trailer is that of the call.
func (f *flights) failed(err error, more string, trailer func(metadata.MD)) error {
	f.s.metrics.errors.Inc()
	var not *replica.NotLeaderError
	var full *replica.FullError
	var unknown *replica.UnknownError
	var unreached *unreachedError
	code, text := codes.Internal, err.Error()
	switch x, is := status.FromError(err); {
	case is: // of gRPC itself
		code, text = x.Code(), x.Message()
	case errors.As(err, &not):
		at := f.beside(not.Leader)
		trailer(metadata.Pairs(bulk.LeaderKey, at))
		if code = codes.Unavailable; at != "" {
			code, text = codes.FailedPrecondition, fmt.Sprintf("%v, with Flight at %s", err, at)
		}
	case errors.As(err, &unknown):
		code = codes.Unknown
	case errors.As(err, &full), errors.Is(err, errRoom), errors.Is(err, errStreams):
		code = codes.ResourceExhausted
	case errors.Is(err, replica.ErrClosed) && len(f.s.config.Peers) > 1: // another one is about to lead
		trailer(metadata.Pairs(bulk.LeaderKey, ""))
		code = codes.Unavailable
	case errors.Is(err, replica.ErrClosed), errors.As(err, &unreached), f.s.node.Err() != nil:
		code = codes.Unavailable
	case errors.Is(err, errIdle):
		code = codes.DeadlineExceeded
	}
	return status.Error(code, text+more)
}

// beside returns where a server has Flight: as far from its port for Redis as this one.
func (f *flights) beside(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	n, _ := strconv.Atoi(port)
	return net.JoinHostPort(host, strconv.Itoa(n+f.base))
}
