// Package replica keeps a dictionary on disk and, if there are several members, the same on each of them. It is a state
// machine over hashicorp/raft: operations are stored in a log, by a majority of the members, and then applied. A single
// member is a durable log.
package replica

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/vkds/vkds/vk"
)

// Options say what a Node keeps, and where.
type Options struct {
	Dir    string // its folder; made if it is not there
	Types  Types
	Device *vk.Device // nil: the host's memory
	// KeyOfDir and ValueOfDir say that a folder that has types keeps its type of keys, and of values.
	KeyOfDir, ValueOfDir bool
	// Name is the address at which clients reach this member, and Peers has those of all. No Peers: there is only one.
	Name  string
	Peers []string
	Shard Shard       // of the keys; the zero value: all
	At    string      // the address at which this member listens for clients; that for peers has another port
	TLS   *tls.Config // between members; nil: in the clear
	// Rejoin says that this member has lost its folder and begins with an empty one, which all others must agree to.
	Rejoin bool
	// Stale is how old a follower's answers may be at most. 0: followers don't answer.
	Stale time.Duration
	// MaxKeys is the number of pairs from which on writes that may insert are refused. 0: no limit.
	MaxKeys uint64
	// Changes is a file to which this member writes all changes ("": none).
	Changes string
	Log     *slog.Logger
	// OnEntry, if not nil, is called with the number of operations of each entry that this member puts into the log,
	// and the time until it was stored and applied.
	OnEntry func(operations int, took time.Duration)

	// For tests: entries that stay in the log after a snapshot, and the clock of deadlines.
	trailing uint64
	clock    func() time.Time
}

// NotLeaderError says that another member takes writes and reads.
type NotLeaderError struct{ Leader string } // its address; "": none is known

func (e *NotLeaderError) Error() string {
	if e.Leader == "" {
		return "no leader is known"
	}
	return "the leader is " + e.Leader
}

// UnknownError says that a write may have been stored or not: this member stopped leading, or ended, meanwhile.
type UnknownError struct{ Err error }

func (e *UnknownError) Error() string { return fmt.Sprintf("it may have been done or not: %v", e.Err) }
func (e *UnknownError) Unwrap() error { return e.Err }

// FullError says that there are as many pairs as Options.MaxKeys allows. Nothing was done.
type FullError struct{ MaxKeys uint64 }

func (e *FullError) Error() string {
	return fmt.Sprintf("there are %d keys, the most allowed", e.MaxKeys)
}

// PeersError says that a folder is of other members than were asked for.
type PeersError struct {
	Dir        string
	Have, Want []string
}

func (e *PeersError) Error() string {
	list := func(peers []string) string {
		if slices.Equal(peers, []string{alone}) {
			return "a single server"
		}
		return strings.Join(peers, ",")
	}
	return fmt.Sprintf("%s is of %s, not of %s", e.Dir, list(e.Have), list(e.Want))
}

// ApplyError says that an entry can't be applied, for example because the device has no more memory. The log has the
// entry: a server that is started again with more memory applies it.
type ApplyError struct {
	Index uint64
	Err   error
}

func (e *ApplyError) Error() string {
	return fmt.Sprintf("entry %d of the log can't be applied: %v", e.Index, e.Err)
}
func (e *ApplyError) Unwrap() error { return e.Err }

// ErrClosed is returned by calls on a Node that is closed or about to be.
var ErrClosed = errors.New("the server is stopping")

// alone is the name of a single member.
const alone = "single"

const (
	// MostOps is the number of operations of an entry, unless one write has more, and mostEntry is when it has enough
	// bytes.
	MostOps   = 1 << 16
	mostEntry = 2 << 20

	// mostExpired is the number of keys that an entry deletes at most because their deadlines have passed.
	mostExpired = 1 << 16

	tick = 20 * time.Millisecond

	// A leader that reaches no majority for lease steps down. A follower that hears nothing from the leader for one to
	// three times silence asks for votes. If it gets none, it asks again after one to two times silence. The library's
	// silence is 1 s. A shorter one hardly unseats leaders that could go on: heartbeats wait for no disk, a leader that
	// was paused for as long has lost its lease, and one follower alone gets no votes.
	silence = 600 * time.Millisecond
	lease   = 500 * time.Millisecond

	// So many entries stay in the log of a cluster after a snapshot at most, and so many bytes of them, for members
	// that were away for a moment. Others get the snapshot.
	mostTrailing      = 2048
	mostTrailingBytes = 16 << 20

	// A snapshot is taken after so many entries or bytes of them. If there are many pairs, it is taken more rarely, so
	// that snapshots take no more of the disk than a few times what the log takes.
	mostEntries = 1 << 14
	mostBytes   = 64 << 20
)

// Node is a member: a dictionary with its log. It is safe for many goroutines.
type Node struct {
	o     Options
	state *state
	feed  *feed // nil: none
	seed  seed  // that this member puts into entries
	log   *log
	raft  *raft.Raft
	close func() error // closes the transport

	writes  chan *write
	stored  chan stage
	storing atomic.Pointer[chan struct{}] // closed when the entry under way is stored; nil: none is
	closing chan struct{}                 // Close has begun
	ended   chan struct{}                 // Close has ended
	failed  chan struct{}                 // err is set
	compact chan struct{}
	once    sync.Once
	err     error

	epoch   atomic.Uint64 // counts changes of leadership
	leading atomic.Uint64 // the epoch in which this member leads and has applied all that was stored before; 0: none
	verify  verify
	entries int // applied since the last snapshot
	bytes   int // of these
	workers sync.WaitGroup
}

// Open reads what the folder has and starts a member. A single one has then applied all that its log has; others may
// know no leader yet. One that rejoins has met all others. Errors: *DamagedError, *StorageError, *TypesError,
// *VersionError, *PeersError, *ShardError, *LostError, and those of the system and of the device.
func Open(ctx context.Context, o Options) (*Node, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.clock == nil {
		o.clock = time.Now
	}
	if len(o.Peers) == 0 {
		o.Name, o.Peers = alone, []string{alone}
	}
	if !slices.Contains(o.Peers, o.Name) {
		return nil, fmt.Errorf("%s is none of the peers %s", o.Name, strings.Join(o.Peers, ","))
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	log, err := openLog(filepath.Join(o.Dir, "log.db"))
	if err != nil {
		return nil, err
	}
	if err := guarded(log.path, func() error { return cmp.Or(log.types(&o), log.shard(&o)) }); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	n := &Node{o: o, log: log, seed: newSeed(),
		writes: make(chan *write, 1024), stored: make(chan stage),
		closing: make(chan struct{}), ended: make(chan struct{}), failed: make(chan struct{}),
		compact: make(chan struct{}, 1), close: func() error { return nil }}
	started := make(chan error, 1)
	go func() { started <- n.start(ctx) }()
	select {
	case err = <-started:
	case <-n.failed: // start waits for the disk for ever
		return nil, n.err
	}
	if err != nil {
		close(n.ended)
		if n.state != nil {
			err = errors.Join(err, n.state.close())
		}
		return nil, errors.Join(err, n.close(), n.feed.close(), log.Close())
	}
	for !n.several() && n.leads() == 0 {
		select {
		case <-n.failed:
			return nil, n.Close()
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), n.Close())
		case <-time.After(time.Millisecond):
		}
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	n.log.failed = n.fail
	level := hclog.Warn
	if !n.several() {
		level = hclog.Error // it warns of an election at each start
	}
	output := hclog.New(&hclog.LoggerOptions{Name: "raft", Level: level, DisableTime: true,
		Output: slog.NewLogLogger(n.o.Log.Handler(), slog.LevelWarn).Writer()})
	files, err := openSnapshots(n.o.Dir, output)
	if err != nil {
		return err
	}
	snapshots := newest{files}
	last, err := checkSnapshots(n.o.Dir, snapshots)
	if err != nil {
		return err
	}
	if err := guarded(n.log.path, func() error { return n.log.check(n.o.Types, last) }); err != nil {
		return err
	}
	if n.state, err = newState(ctx, n.o.Types, n.o.Device); err != nil {
		return err
	}
	if n.o.Changes != "" {
		if n.feed, err = openFeed(n.o.Changes, n.o.Types, n.log); err != nil {
			return err
		}
	}
	transport, b, err := n.transport(ctx, output)
	if err != nil {
		return err
	}
	leads := make(chan bool)
	config := n.config(output, leads)
	var entries raft.LogStore = n.log
	if n.several() {
		if entries, err = raft.NewLogCache(16, n.log); err != nil {
			return err
		}
	}
	machine := &machine{Node: n}
	if n.raft, err = raft.NewRaft(config, machine, entries, n.log, snapshots, transport); err != nil {
		return cmp.Or(machine.refused, err)
	}
	err = machine.refused
	if err == nil {
		err = n.checkPeers()
	}
	if err == nil { // the others hear of a folder only if it may take part
		err = n.begin(b)
	}
	if err != nil {
		return errors.Join(err, n.raft.Shutdown().Error())
	}
	go n.watch(leads)
	n.workers.Go(n.gather)
	n.workers.Go(n.answer)
	go n.ticks() // not waited for: it may itself wait for the end
	n.workers.Go(n.snapshots)
	return nil
}

// Types returns the types of keys and values.
func (n *Node) Types() Types { return n.o.Types }

func (n *Node) several() bool { return len(n.o.Peers) > 1 }

// begin lets messages pass once all members have met, and makes the list of members the first entry of a new log.
func (n *Node) begin(b *between) error {
	if b == nil {
		return n.bootstrap()
	}
	b.members.checked.Store(true)
	err := n.greet(b)
	var lost *LostError
	if b.members.formed && !errors.As(err, &lost) { // a stranger can't keep a cluster from starting
		return n.admitted(b)
	}
	if err != nil {
		return err
	}
	n.workers.Go(func() {
		err := n.greetAll(context.Background(), b)
		if err == nil {
			err = n.log.Set(metKey, []byte{1})
		}
		if err == nil {
			err = n.admitted(b)
		}
		if err != nil && !errors.Is(err, ErrClosed) {
			n.fail(err)
		}
	})
	return nil
}

func (n *Node) admitted(b *between) error {
	err := n.bootstrap()
	b.members.ready.Store(err == nil)
	return err
}

// bootstrap makes the list of members the first entry of the log if it has none. One that rejoins gets that of others.
func (n *Node) bootstrap() error {
	if err := n.log.remember(&n.o); err != nil { // no sooner: a start that is refused leaves the folder as it is
		return err
	}
	var members raft.Configuration
	for _, p := range n.o.Peers {
		members.Servers = append(members.Servers,
			raft.Server{ID: raft.ServerID(p), Address: raft.ServerAddress(p)})
	}
	if rejoined, err := n.log.recall(barredKey); rejoined != nil || err != nil {
		return err
	}
	err := n.raft.BootstrapCluster(members).Error()
	if errors.Is(err, raft.ErrCantBootstrap) {
		return nil
	}
	return err
}

// transport makes what carries messages to other members and back. Of a single member, the second result is nil.
func (n *Node) transport(ctx context.Context, output hclog.Logger) (raft.Transport, *between, error) {
	if !n.several() {
		_, t := raft.NewInmemTransport(alone)
		n.close = t.Close
		return t, nil, nil
	}
	known, err := newMembers(&n.o, n.log)
	if err != nil {
		return nil, nil, err
	}
	b, err := listen(known, cmp.Or(n.o.At, n.o.Name), n.o.TLS)
	if err != nil {
		return nil, nil, err
	}
	// One message at a time to each member: the library's pipeline sends one that lacks entries only MaxAppendEntries
	// of them each 50 to 100 ms, and may never end if its answers come after this member has stopped leading.
	t := messages{raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{Stream: b, MaxPool: 3,
		MaxRPCsInFlight: 1, Timeout: 10 * time.Second, Logger: output, MsgpackUseNewTimeFormat: true}), n.log}
	n.close = t.Close
	if known.own.Rejoin {
		if err := n.rejoin(ctx, b); err != nil {
			return nil, nil, err
		}
	}
	term, err := n.log.number(barredKey)
	if err != nil || term == 0 {
		return t, b, err
	}
	out := &barred{messages: t, log: n.log, term: term, rpcs: make(chan raft.RPC)}
	go out.forward(n.ended)
	return out, b, nil
}

func (n *Node) config(output hclog.Logger, leads chan<- bool) *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID, c.Logger, c.NotifyCh, c.NoLegacyTelemetry = raft.ServerID(n.o.Name), output, leads, true
	// Before Compact says how many: if this member gets a snapshot from another one, nobody lacks what was before it.
	c.TrailingLogs = max(1, n.o.trailing)
	c.MaxAppendEntries = mostLoaded
	c.SnapshotThreshold = math.MaxUint64 // the Node says when
	if !n.several() {                    // nobody else to wait for
		c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = 50*time.Millisecond, 50*time.Millisecond,
			50*time.Millisecond
		return c
	}
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = silence, silence, lease
	return c
}

// checkPeers returns an error if the folder is of other members.
func (n *Node) checkPeers() error {
	f := n.raft.GetConfiguration()
	if err := f.Error(); err != nil {
		return err
	}
	var have []string
	for _, s := range f.Configuration().Servers {
		have = append(have, string(s.ID))
	}
	want := slices.Sorted(slices.Values(n.o.Peers))
	if slices.Sort(have); len(have) > 0 && !slices.Equal(have, want) {
		return &PeersError{n.o.Dir, have, want}
	}
	return nil
}

// machine is what the library calls.
type machine struct {
	*Node
	refused error // why a snapshot could not be restored
}

// Apply applies an entry that a majority has stored. It returns []Answer, or an error.
func (m *machine) Apply(entry *raft.Log) any {
	m.endStoring()
	if m.Err() != nil {
		return m.Err() // the state lacks an entry
	}
	e, err := m.o.Types.decode(entry.Data)
	var answers []Answer
	if err == nil {
		answers, err = m.state.apply(context.Background(), e)
	}
	if err != nil {
		m.fail(&ApplyError{entry.Index, err})
		return m.Err()
	}
	if m.feed != nil {
		if err := m.feed.write(m.state.work.changes, m.state.changes.last()); err != nil {
			m.fail(&StorageError{m.o.Changes, err})
			return m.Err()
		}
	}
	m.state.work.forget()
	pairs, texts := int(m.state.count.Load()), 0
	if m.state.texts != nil {
		texts = m.state.texts.bytes
	}
	m.entries++
	m.bytes += len(entry.Data)
	if m.entries >= max(mostEntries, pairs/1024) || m.bytes >= max(mostBytes, 8*pairs+texts/2) {
		select {
		case m.compact <- struct{}{}:
		default:
		}
	}
	return answers
}

// Snapshot takes a snapshot between two entries.
func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	if err := m.Err(); err != nil {
		return nil, err
	}
	if m.feed != nil { // the log is cut next
		if err := m.feed.sync(); err != nil {
			m.fail(&StorageError{m.o.Changes, err})
			return nil, m.Err()
		}
	}
	m.entries, m.bytes = 0, 0
	return m.state.store(context.Background())
}

// Restore loads a snapshot.
func (m *machine) Restore(from io.ReadCloser) error {
	m.refused = m.state.restore(context.Background(), from)
	if m.refused == nil && m.feed != nil {
		if err := m.feed.restored(context.Background(), m.state); err != nil {
			m.refused = &StorageError{m.o.Changes, err}
			m.fail(m.refused)
		}
	}
	return errors.Join(m.refused, from.Close())
}

// fail stops the member: it applies and answers nothing more.
func (n *Node) fail(err error) {
	n.once.Do(func() {
		n.err = err
		close(n.failed)
	})
}

// Failed is closed when the member can't go on. Err then says why.
func (n *Node) Failed() <-chan struct{} { return n.failed }

// Err returns why the member can't go on, or nil.
func (n *Node) Err() error {
	select {
	case <-n.failed:
		return n.err
	default:
		return nil
	}
}

// watch follows whether this member leads. The library waits for it, so that it knows of each loss of leadership before
// the next gain.
func (n *Node) watch(leads <-chan bool) {
	for {
		select {
		case <-n.ended:
			return
		case lead := <-leads:
			if epoch := n.epoch.Add(1); lead {
				go n.prepare(epoch)
			}
		}
	}
}

// prepare waits until all that earlier leaders have stored is applied. From then on this member leads, unless another
// epoch has begun.
func (n *Node) prepare(epoch uint64) {
	if n.raft.Barrier(0).Error() != nil {
		return
	}
	for before := n.leading.Load(); before < epoch; before = n.leading.Load() {
		if n.leading.CompareAndSwap(before, epoch) {
			return
		}
	}
}

// Leader returns the address of the leader, "" if none is known, and whether this member is the leader and ready. The
// address of a single member is "".
func (n *Node) Leader() (address string, self bool) {
	self = n.leads() != 0
	if !n.several() {
		return "", self
	}
	a, _ := n.raft.LeaderWithID()
	return string(a), self
}

// leads returns the epoch in which this member leads, or 0.
func (n *Node) leads() uint64 {
	if epoch := n.leading.Load(); epoch == n.epoch.Load() {
		return epoch
	}
	return 0
}

// notLeader returns the error of a call for which this member is not the right one.
func (n *Node) notLeader() error {
	leader, _ := n.Leader()
	if leader == n.o.Name {
		leader = "" // it is about to be
	}
	return &NotLeaderError{leader}
}

// Read calls read with the state, which doesn't change meanwhile. It has all that was answered before the call: a
// majority of the members stores an entry first, one for all calls that come meanwhile. If stale is set, a follower
// may answer, with a state that is at most Options.Stale old. Errors: *NotLeaderError, ErrClosed, and read's.
func (n *Node) Read(ctx context.Context, stale bool, read func(View) error) error {
	if err := n.mayRead(ctx, stale); err != nil {
		return err
	}
	return n.Here(read)
}

// Here calls read with the state of this member, however old that is.
func (n *Node) Here(read func(View) error) error {
	n.state.mu.RLock()
	defer n.state.mu.RUnlock()
	if err := cmp.Or(n.Err(), n.state.broken); err != nil {
		return err
	}
	err := read(View{n.state})
	if errors.Is(err, vk.ErrDeviceLost) {
		n.fail(err)
	}
	return err
}

func (n *Node) mayRead(ctx context.Context, stale bool) error {
	epoch := n.leads()
	switch {
	case n.Err() != nil:
		return n.Err()
	case epoch == 0 && stale && n.o.Stale > 0 && n.Age() <= n.o.Stale:
		return nil
	case epoch == 0:
		return n.notLeader()
	case !n.several():
		return nil
	}
	if err := n.verified(ctx); err != nil {
		return err
	}
	if n.leads() != epoch {
		return n.notLeader()
	}
	return nil
}

// Changed has something after the state may have changed, for one receiver.
func (n *Node) Changed() <-chan struct{} { return n.state.changed }

// Now returns the time in milliseconds since 1970, but never one before that of an entry.
func (n *Node) Now() int64 { return max(n.o.clock().UnixMilli(), n.state.now.Load()) }

// Age returns how long ago the leader had the state of this member, by the clocks of both. If the clocks say that it
// has yet to come, because one of them has jumped, the age is unknown: the greatest there is.
func (n *Node) Age() time.Duration {
	age := n.o.clock().Sub(time.UnixMilli(n.state.now.Load()))
	if age < -time.Second {
		return math.MaxInt64
	}
	return max(0, age)
}

// Status is what a Node tells about itself.
type Status struct {
	Leading      bool
	Leader       string // "": none is known, or there is only one member
	Keys         uint64
	Term         uint64
	Stored, Done uint64 // the last entries that a majority has stored, and that this member has applied
	Members      int
	Age          time.Duration // of a follower's state
}

// Status returns how the member is.
func (n *Node) Status() Status {
	leader, self := n.Leader()
	return Status{Leading: self, Leader: leader, Keys: n.state.count.Load(), Term: n.raft.CurrentTerm(),
		Stored: n.raft.CommitIndex(), Done: n.raft.AppliedIndex(), Members: len(n.o.Peers), Age: n.Age()}
}

// snapshots has the library take a snapshot, and shorten the log, when the log has grown.
func (n *Node) snapshots() {
	for {
		select {
		case <-n.closing:
			return
		case <-n.compact:
			if err := n.Compact(); err != nil {
				n.o.Log.Warn("no snapshot was taken", "error", err)
			}
		}
	}
}

// Compact takes a snapshot, and removes from the log what it has.
func (n *Node) Compact() error {
	trailing, err := n.trailing()
	if err != nil {
		return err
	}
	c := n.raft.ReloadableConfig()
	c.TrailingLogs = trailing
	if err := n.raft.ReloadConfig(c); err != nil {
		return err
	}
	err = n.raft.Snapshot().Error()
	if errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return nil
	}
	return err
}

// trailing returns how many of the last entries stay in the log.
func (n *Node) trailing() (entries uint64, err error) {
	switch {
	case n.o.trailing != 0:
		return n.o.trailing, nil
	case !n.several():
		return 1, nil // nobody lacks an entry
	}
	last, err := n.log.LastIndex()
	for bytes := 0; err == nil && entries < min(last, mostTrailing); entries++ {
		var x raft.Log
		err = n.log.GetLog(last-entries, &x)
		if bytes += len(x.Data); err != nil || bytes > mostTrailingBytes {
			break
		}
	}
	if errors.Is(err, raft.ErrLogNotFound) { // the log begins later
		err = nil
	}
	return max(1, entries), err
}

// Close ends the member. A leader first hands leadership to another member. Writes that are under way get their
// answers.
func (n *Node) Close() error {
	if _, self := n.Leader(); self && n.several() && n.Err() == nil {
		handed := make(chan error, 1)
		go func() { handed <- n.raft.LeadershipTransfer().Error() }() // or the others notice after a second
		select {
		case <-handed:
		case <-n.failed:
		}
	}
	close(n.closing)
	down := make(chan error, 1)
	go func() {
		n.workers.Wait()
		down <- n.raft.Shutdown().Error()
	}()
	select {
	case err := <-down:
		close(n.ended)
		return errors.Join(err, n.close(), n.feed.end(), n.log.Close(), n.state.close())
	case <-n.failed: // the library may wait for a disk that doesn't answer
		close(n.ended)
		return n.err
	}
}
