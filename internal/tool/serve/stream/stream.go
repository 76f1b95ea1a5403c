package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// Stream publishes changes while its Node leads. It begins where the stream ends, which the last message says. Each
// message names the one after which it may come. So JetStream refuses those of a member that no longer leads, and those
// that have come already. There is no Nats-Msg-Id: JetStream would drop what comes again after the stream has lost it.
type Stream struct {
	node   *replica.Node
	target *Target
	log    *slog.Logger
	cancel context.CancelFunc
	ending chan struct{} // Close has begun
	done   chan struct{}

	stored atomic.Uint64 // the last change that the stream has

	mu    sync.Mutex
	fault string    // why the stream lacks changes; "": nothing is known to be wrong
	told  time.Time // when that was last in the log
}

// Headers of messages.
const (
	dataHeader   = "Vkds-Data"   // the name of the data
	changeHeader = "Vkds-Change" // the last change of which the stream has all after this message; none: amid all pairs
)

const (
	// A message has about so many bytes at most, or one change.
	mostBytes = 64 << 10
	// So many changes are taken from the history at a time, and so many bytes of their texts.
	mostChanges = 1 << 10
	// So many messages are under way at a time.
	window = 64

	dialing = 2 * time.Second  // to one server
	patient = 10 * time.Second // for each answer
	// Between attempts passes a time from the first to the second one.
	soon, late = 100 * time.Millisecond, 10 * time.Second
	// ends is how long Close waits until the stream has all.
	ends = 2 * time.Second
)

// errMoved says that the stream has another end than was known.
var errMoved = errors.New("another server writes this stream")

// Start begins to publish. Close the Stream before the Node.
func Start(node *replica.Node, target *Target, log *slog.Logger) *Stream {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Stream{node: node, target: target, log: log.With("stream", target), cancel: cancel,
		ending: make(chan struct{}), done: make(chan struct{})}
	go s.run(ctx)
	return s
}

// Close ends the Stream, after a moment in which it may publish what is left.
func (s *Stream) Close() {
	close(s.ending)
	time.AfterFunc(ends, s.cancel)
	<-s.done
	s.cancel()
}

// Status returns how many changes the stream lacks, and why, if anything is wrong. Only the leader knows.
func (s *Stream) Status() (behind uint64, fault string) {
	if !s.leads() {
		return 0, ""
	}
	_ = s.node.Here(func(v replica.View) error {
		if last, stored := v.LastChange(), s.stored.Load(); stored < last {
			behind = last - stored
		}
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	return behind, s.fault
}

func (s *Stream) leads() bool {
	_, self := s.node.Leader()
	return self
}

func (s *Stream) run(ctx context.Context) {
	defer close(s.done)
	for wait := soon; ctx.Err() == nil; {
		if s.leads() {
			before := s.stored.Load()
			err := s.session(ctx)
			if s.stored.Load() != before {
				wait = soon
			}
			if err != nil && ctx.Err() == nil && s.node.Err() == nil {
				s.wrong(err)
			}
		} else {
			wait = soon
		}
		select {
		case <-ctx.Done():
		case <-s.ending: // what could not be published now never will
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, late)
	}
}

// wrong notes what is wrong, and logs it if that is new.
func (s *Stream) wrong(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == "" || s.fault != err.Error() && time.Since(s.told) > time.Minute {
		s.log.Warn("changes don't reach the stream", "error", err)
		s.told = time.Now()
	}
	s.fault = err.Error()
}

// right notes that the stream has all changes up to a number.
func (s *Stream) right(number uint64) {
	s.stored.Store(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault != "" {
		s.log.Info("changes reach the stream again", "change", number)
		s.fault = ""
	}
}

// dialer gives up when its context ends. So do those who then write to the connection: NATS may read no more.
type dialer struct{ ctx context.Context }

// Dial connects.
func (d dialer) Dial(network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialing}).DialContext(d.ctx, network, address)
	if err == nil {
		context.AfterFunc(d.ctx, func() { _ = c.Close() })
	}
	return c, err
}

// session publishes until something is wrong or this member doesn't lead.
func (s *Stream) session(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	options := []nats.Option{nats.Name("vkds serve"), nats.NoReconnect(), nats.Timeout(dialing),
		nats.SetCustomDialer(dialer{ctx}), nats.FlusherTimeout(patient), nats.PingInterval(patient),
		nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})} // or they are written to standard error
	if s.target.login != nil {
		options = append(options, s.target.login)
	}
	lost := make(chan struct{})
	options = append(options, nats.ClosedHandler(func(*nats.Conn) { close(lost) }))
	conn, err := nats.Connect(s.target.servers, options...)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn, jetstream.WithPublishAsyncTimeout(patient),
		jetstream.WithPublishAsyncMaxPending(2*window), jetstream.WithDefaultTimeout(patient))
	if err != nil {
		return err
	}
	to, err := s.open(ctx, js)
	if err != nil {
		return cause(conn, err)
	}
	for {
		p := &publisher{Stream: s, js: js, subject: to.CachedInfo().Config.Subjects[0], lost: lost}
		err := p.resume(ctx, to)
		switch {
		case !s.leads(): // it is the next leader that writes
			return nil
		case !errors.Is(err, errMoved):
			return cause(conn, err)
		}
		select {
		case <-time.After(soon):
		case <-ctx.Done():
			return nil
		}
	}
}

// cause returns an error of a session, or the one that may be the reason why no answer came. A member that doesn't
// lead has none.
func cause(conn *nats.Conn, err error) error {
	var other *replica.NotLeaderError
	if errors.As(err, &other) {
		return nil
	}
	if last := conn.LastError(); err != nil && last != nil && !conn.IsClosed() {
		return last // a permission, for example
	}
	return err
}

// open finds the stream, or makes it.
func (s *Stream) open(ctx context.Context, js jetstream.JetStream) (jetstream.Stream, error) {
	to, err := js.Stream(ctx, s.target.name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		to, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: s.target.name,
			Subjects: []string{s.target.name + ".changes"}, Description: "changes of vkds serve",
			Storage: jetstream.FileStorage,
			// Its messages have other numbers than those of an earlier stream of that name, which is gone. So one who
			// still writes that is refused.
			FirstSeq: uint64(time.Now().UnixMicro())})
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			to, err = js.Stream(ctx, s.target.name)
		}
	}
	if err != nil {
		return nil, err
	}
	c := to.CachedInfo().Config
	switch {
	case len(c.Subjects) != 1 || bytes.ContainsAny([]byte(c.Subjects[0]), "*>"):
		err = fmt.Errorf("the stream has the subjects %q, and must have a single one without wildcards", c.Subjects)
	case c.Mirror != nil || len(c.Sources) > 0 || c.SubjectTransform != nil:
		err = errors.New("the stream gets messages from other streams, or changes their subjects")
	case c.Retention != jetstream.LimitsPolicy:
		err = errors.New("the stream loses messages that were read: its retention must be limits")
	case c.NoAck:
		err = errors.New("the stream doesn't acknowledge messages")
	}
	return to, err
}

// end is the last message of a stream.
type end struct {
	sequence uint64
	known    bool // the stream has the message, and what is below
	data     string
	whole    bool // the stream has all changes up to number
	number   uint64
	lines    []byte
}

// endOf reads the end of a stream.
func endOf(ctx context.Context, to jetstream.Stream) (e end, err error) {
	info, err := to.Info(ctx)
	if err != nil {
		return end{}, err
	}
	e.sequence = info.State.LastSeq
	if info.State.Msgs == 0 {
		return e, nil
	}
	to.CachedInfo().Config.AllowDirect = false // those who don't lead the stream might lack the message
	m, err := to.GetMsg(ctx, e.sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) { // it was deleted
		return e, nil
	}
	if err != nil {
		return end{}, err
	}
	e.known, e.data, e.lines = true, m.Header.Get(dataHeader), m.Data
	if e.data == "" {
		return end{}, fmt.Errorf("message %d of the stream is not of vkds: delete the stream, or name another one",
			e.sequence)
	}
	if text := m.Header.Get(changeHeader); text != "" {
		e.whole = true
		if e.number, err = strconv.ParseUint(text, 10, 64); err != nil {
			return end{}, err
		}
	}
	return e, nil
}

// publisher publishes from one end of the stream on.
type publisher struct {
	*Stream
	js      jetstream.JetStream
	subject string
	lost    <-chan struct{} // closed when the connection has ended

	data     string
	number   uint64 // the last change in lines or before
	sequence uint64 // of the last message
	lines    []byte // of the next message
	pending  []sent // messages under way
	last     bool   // Close has begun: what is there now is the last to publish
}

// sent is a message under way.
type sent struct {
	jetstream.PubAckFuture
	sequence uint64
	whole    bool
	number   uint64
}

// resume publishes what comes after the end of the stream.
func (p *publisher) resume(ctx context.Context, to jetstream.Stream) error {
	e, err := endOf(ctx, to)
	if err != nil {
		return err
	}
	var last uint64
	var same bool
	// This member leads after it has read the end. So it has all changes that the stream has, unless those are lost.
	if err := p.node.Read(ctx, false, func(v replica.View) error {
		p.data, last = v.Data(), v.LastChange()
		same = e.number <= last && p.agrees(v, e)
		return nil
	}); err != nil {
		return err
	}
	p.sequence = e.sequence
	switch {
	case p.data == "": // no entry yet
		if e.known {
			return p.others(e)
		}
	case e.known && e.data != p.data:
		return p.others(e)
	case e.known && e.whole && same:
		if p.number = e.number; p.number == last {
			p.right(last)
		}
		p.stored.Store(p.number)
	default:
		if e.known && e.whole {
			p.log.Warn("the stream has changes that this server has not: all pairs follow", "change", e.number,
				"last", last)
		}
		p.lines = appendBegin(p.lines, p.data)
	}
	return p.follow(ctx)
}

func (p *publisher) others(e end) error {
	return fmt.Errorf("the stream has changes of other data (%s): delete it, or name another one", e.data)
}

// agrees reports whether the last change of the stream is that of the history, if it has it.
func (p *publisher) agrees(v replica.View, e end) bool {
	if e.number == 0 || bytes.HasSuffix(e.lines, appendLast(nil, e.number)) {
		return true
	}
	all, err := v.Changes(e.number-1, 1, 0)
	return err != nil || bytes.HasSuffix(e.lines, appendChange(nil, p.node.Types(), e.number, all[0]))
}

// follow publishes changes as they come, while this member leads.
func (p *publisher) follow(ctx context.Context) error {
	for p.leads() {
		all, err := p.next()
		var gone *replica.GoneError
		switch {
		case errors.As(err, &gone):
			err = p.pairs(ctx)
		case err != nil:
		case len(all) > 0 || len(p.lines) > 0:
			err = p.changes(ctx, all)
		case p.last && len(p.pending) == 0:
			return nil
		default:
			err = p.wait(ctx, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next returns changes that follow.
func (p *publisher) next() (all []replica.Change, err error) {
	err = p.node.Here(func(v replica.View) (err error) {
		if p.data == "" {
			if p.data = v.Data(); p.data == "" {
				return nil
			}
			p.lines = appendBegin(p.lines, p.data)
		}
		all, err = v.Changes(p.number, mostChanges, mostBytes)
		return err
	})
	return all, err
}

// changes publishes a message of as many of the changes as it may have.
func (p *publisher) changes(ctx context.Context, all []replica.Change) error {
	for _, c := range all {
		if len(p.lines) >= mostBytes {
			break
		}
		p.number++
		p.lines = appendChange(p.lines, p.node.Types(), p.number, c)
	}
	return p.publish(ctx, true)
}

// pairs publishes all pairs.
func (p *publisher) pairs(ctx context.Context) error {
	var all replica.Snapshot
	if err := p.node.Read(ctx, false, func(v replica.View) (err error) {
		p.number = v.LastChange()
		all, err = v.Snapshot(ctx)
		return err
	}); err != nil {
		return err
	}
	defer all.Close()
	p.lines = appendBegin(p.lines[:0], p.data)
	for chunk, err := range all.Chunks(ctx) {
		if err != nil {
			return err
		}
		for i, k := range chunk.Keys {
			r := all.Record(k)
			p.lines = appendChange(p.lines, p.node.Types(), 0, replica.Change{Key: k, Value: chunk.Values[i], Text: &r})
			if len(p.lines) < mostBytes {
				continue
			}
			if err := p.publish(ctx, false); err != nil {
				return err
			}
		}
	}
	p.lines = appendLast(p.lines, p.number)
	return p.publish(ctx, true)
}

// publish sends the lines as a message, once there is room for it. whole says that the stream then has all changes up
// to number.
func (p *publisher) publish(ctx context.Context, whole bool) error {
	for len(p.pending) >= window {
		if err := p.wait(ctx, false); err != nil {
			return err
		}
	}
	m := &nats.Msg{Subject: p.subject, Data: p.lines, Header: nats.Header{dataHeader: {p.data}}}
	if whole {
		m.Header[changeHeader] = []string{strconv.FormatUint(p.number, 10)}
	}
	future, err := p.js.PublishMsgAsync(m, jetstream.WithExpectStream(p.target.name),
		jetstream.WithExpectLastSequence(p.sequence), jetstream.WithRetryAttempts(0))
	if err != nil {
		return err
	}
	p.lines = p.lines[:0] // the connection has copied them
	p.sequence++
	p.pending = append(p.pending, sent{future, p.sequence, whole, p.number})
	return nil
}

// wait waits until the oldest message under way is stored. If there is nothing to publish, it also returns when there
// may be, or when this member may no longer lead.
func (p *publisher) wait(ctx context.Context, idle bool) error {
	var ok <-chan *jetstream.PubAck
	var failed <-chan error
	if len(p.pending) > 0 {
		ok, failed = p.pending[0].Ok(), p.pending[0].Err()
	}
	var changed, ending <-chan struct{}
	var tick <-chan time.Time
	if idle {
		changed, tick = p.node.Changed(), time.After(soon)
		if ending = p.ending; p.last {
			ending = nil
		}
	}
	select {
	case ack := <-ok:
		return p.settle(ack)
	case err := <-failed:
		var api *jetstream.APIError
		if errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
			api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant) {
			return errMoved
		}
		return err
	case <-changed:
	case <-tick:
	case <-ending:
		p.last = true
	case <-p.lost:
		return nats.ErrConnectionClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// settle notes that the oldest message is stored.
func (p *publisher) settle(ack *jetstream.PubAck) error {
	first := p.pending[0]
	p.pending = p.pending[1:]
	if ack.Sequence != first.sequence {
		return errMoved
	}
	if first.whole {
		p.right(first.number)
	}
	return nil
}
