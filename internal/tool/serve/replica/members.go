package replica

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// A cluster is safe only if all members have the same list of members, and if none forgets what it has stored and for
// whom it has voted. The log library relies on both. So members introduce themselves at the start of each connection,
// with their list and the name of their folder, made by chance when the folder was. Each remembers the folder of each
// other one. No message of the library passes before all members have met once, and none to or from another folder.

// LostError says that a member has another folder than the one with which it was of the cluster.
type LostError struct{ Name, Dir string }

func (e *LostError) Error() string {
	return fmt.Sprintf("%s is of the cluster with another folder than %s: what it has stored there is missing. If "+
		"that is lost, start it with --rejoin while all others run", e.Name, e.Dir)
}

// RejoinError says that a member can't rejoin, because others rejoin or have not caught up.
type RejoinError struct{ Others []string }

func (e *RejoinError) Error() string {
	return fmt.Sprintf("--rejoin: so do %s, and the rest is no majority. A new cluster starts without --rejoin, with "+
		"empty folders", strings.Join(e.Others, ","))
}

// Keys of what a folder remembers.
var (
	folderKey = []byte("vkds.folder") // its name
	metKey    = []byte("vkds.met")    // all others know it
	rejoinKey = []byte("vkds.rejoin") // it stands for one that was lost
	barredKey = []byte("vkds.barred") // the term before which a member that rejoins takes no part in elections
	termKey   = []byte("CurrentTerm") // the library's own
)

const (
	otherKey = "vkds.folder." // before a member's name: the name of its folder

	introduction = 10 * time.Second       // how long one that connects has to introduce itself
	patience     = 100 * time.Millisecond // between attempts to meet the others
)

// greeting is how a member introduces itself.
type greeting struct {
	Name    string
	Version byte     // of the log; before version 3: 0
	Peers   []string // sorted
	Shard   Shard    `json:",omitzero"`
	Types   Types
	Folder  string
	Rejoin  bool `json:",omitempty"`

	Ready  bool   `json:",omitempty"` // messages may follow
	Behind bool   `json:",omitempty"` // it rejoins, and has not caught up
	Term   uint64 `json:",omitempty"`
	Lost   bool   `json:",omitempty"` // in an answer: the other one had another folder
}

// members is what a member knows of itself and of the others.
type members struct {
	log     *log
	dir     string
	warn    func(error)
	own     greeting
	formed  bool        // it has met all others at some time
	checked atomic.Bool // its folder is of no other members, so it may introduce itself
	ready   atomic.Bool // it has met all others, so messages may follow

	mu     sync.Mutex
	met    map[string]bool     // those who know this folder
	behind map[string]bool     // those who rejoin and have not caught up, as they said last
	term   uint64              // the latest of theirs
	open   map[net.Conn]string // connections, with the name of the other one
}

// newMembers returns what the folder remembers. A new folder gets its name.
func newMembers(o *Options, log *log) (*members, error) {
	m := &members{log: log, dir: o.Dir, met: map[string]bool{}, behind: map[string]bool{},
		open: map[net.Conn]string{}, own: greeting{Name: o.Name, Version: version,
			Peers: slices.Sorted(slices.Values(o.Peers)), Shard: o.Shard, Types: o.Types}}
	m.warn = func(err error) { o.Log.Warn("another server is not spoken to", "error", err) }
	folder, err := log.recall(folderKey)
	if err != nil {
		return nil, err
	}
	met, err := log.recall(metKey)
	if err != nil {
		return nil, err
	}
	m.formed = met != nil
	if o.Rejoin && !m.formed {
		if last, err := log.LastIndex(); err != nil || last > 0 {
			return nil, errors.Join(err, fmt.Errorf("--rejoin: %s is not empty", o.Dir))
		}
		if err := log.Set(rejoinKey, []byte{1}); err != nil {
			return nil, err
		}
	}
	if folder == nil {
		folder = []byte(rand.Text())
		if err := log.Set(folderKey, folder); err != nil {
			return nil, err
		}
	}
	m.own.Folder = string(folder)
	rejoin, err := log.recall(rejoinKey)
	m.own.Rejoin = rejoin != nil && !m.formed
	return m, err
}

// greeting returns how this member introduces itself now.
func (m *members) greeting() (g greeting, err error) {
	g = m.own
	g.Ready = m.ready.Load()
	if g.Term, err = m.log.number(termKey); err != nil {
		return g, err
	}
	rejoined, err := m.log.recall(rejoinKey)
	if err != nil || rejoined == nil {
		return g, err
	}
	term, err := m.log.number(barredKey)
	g.Behind = err == nil && (term == 0 || !m.log.reached(term))
	return g, err
}

// heard keeps what another member has said. The caller holds the mutex.
func (m *members) heard(c net.Conn, other *greeting) {
	m.open[c] = other.Name
	m.behind[other.Name] = other.Behind
	m.term = max(m.term, other.Term)
}

// leave closes a connection.
func (m *members) leave(c net.Conn) error {
	m.mu.Lock()
	delete(m.open, c)
	m.mu.Unlock()
	return c.Close()
}

// mayRejoin returns an error if so many members rejoin that the others are no majority: nobody would ever lead.
func (m *members) mayRejoin() error {
	if !m.own.Rejoin {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, p := range m.own.Peers {
		if m.behind[p] {
			names = append(names, p)
		}
	}
	if whole := len(m.own.Peers) - 1 - len(names); whole > len(m.own.Peers)/2 {
		return nil
	}
	return &RejoinError{names}
}

// differs returns an error if another member can't be of the same cluster.
func (m *members) differs(other *greeting) error {
	switch {
	case !slices.Equal(other.Peers, m.own.Peers):
		return &PeersError{other.Name, other.Peers, m.own.Peers}
	case other.Version != m.own.Version:
		return fmt.Errorf("%s: %w", other.Name, &VersionError{max(other.Version, 2)})
	case other.Shard != m.own.Shard:
		return &ShardError{other.Name, other.Shard, m.own.Shard}
	case other.Types != m.own.Types:
		return &TypesError{other.Types, m.own.Types}
	case other.Name == m.own.Name || !slices.Contains(m.own.Peers, other.Name):
		return fmt.Errorf("a server calls itself %q", other.Name)
	}
	return nil
}

// remembers reports whether a member has the folder that it had, or none before. It keeps that before it answers. If
// the member has lost its folder, connections of before are closed: what is acknowledged there is in the lost one.
func (m *members) remembers(c net.Conn, other *greeting) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := []byte(otherKey + other.Name)
	had, err := m.log.recall(key)
	switch {
	case err != nil:
		return false, err
	case had != nil && string(had) != other.Folder && !other.Rejoin:
		return false, nil
	case string(had) != other.Folder:
		if err := m.log.Set(key, []byte(other.Folder)); err != nil {
			return false, err
		}
		for old, name := range m.open {
			if name == other.Name {
				go old.Close() // it may wait for the other one; who uses it notices, and calls leave
			}
		}
	}
	m.heard(c, other)
	return true, nil
}

// answer does its part of an introduction with a member that has connected.
func (m *members) answer(c net.Conn) error {
	_ = c.SetDeadline(time.Now().Add(introduction))
	var other greeting
	if err := receive(c, &other); err != nil {
		return err
	}
	if !m.checked.Load() {
		return errEarly
	}
	mine, err := m.greeting()
	if err == nil {
		err = m.differs(&other)
	}
	if err == nil {
		var same bool
		if same, err = m.remembers(c, &other); err == nil && !same {
			mine.Lost, err = true, &LostError{other.Name, "this"}
		}
	}
	if err != nil {
		m.warn(err)
	}
	if sent := send(c, &mine); err == nil {
		err = sent
	}
	if err == nil && !mine.Ready {
		err = errEarly
	}
	_ = c.SetDeadline(time.Time{})
	return err
}

var errEarly = errors.New("not all servers have met yet")

// ask introduces this member to another one, in so much time. Further errors: *PeersError, *VersionError, *ShardError,
// *TypesError and *LostError, if they don't belong together.
func (m *members) ask(c net.Conn, name string, timeout time.Duration) (ready bool, err error) {
	_ = c.SetDeadline(time.Now().Add(timeout))
	mine, err := m.greeting()
	if err != nil {
		return false, err
	}
	var other greeting
	if err := errors.Join(send(c, &mine), receive(c, &other)); err != nil {
		return false, err
	}
	_ = c.SetDeadline(time.Time{})
	if err := m.differs(&other); err != nil {
		return false, err
	}
	if other.Name != name {
		return false, fmt.Errorf("%s calls itself %s", name, other.Name)
	}
	if other.Lost {
		return false, &LostError{m.own.Name, m.dir}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if other.Ready { // its folder is known to all
		switch had, err := m.log.recall([]byte(otherKey + name)); {
		case err != nil:
			return false, err
		case had != nil && string(had) != other.Folder:
			return false, &LostError{name, "this"}
		}
	}
	m.heard(c, &other)
	m.met[name] = true
	return m.ready.Load() && other.Ready, nil
}

// missing returns those who don't know this folder yet.
func (m *members) missing() (names []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.own.Peers {
		if p != m.own.Name && !m.met[p] {
			names = append(names, p)
		}
	}
	return names
}

// greet introduces this member to those who don't know it yet and can be reached. It returns an error if one doesn't
// belong to the same cluster.
func (n *Node) greet(b *between) error {
	errs := make(chan error)
	missing := b.members.missing()
	for _, p := range missing {
		go func() {
			c, err := b.Dial(raft.ServerAddress(p), time.Second)
			if err == nil {
				_ = c.Close()
			}
			errs <- err
		}()
	}
	var refused error
	for range missing {
		var peers *PeersError
		var other *VersionError
		var shard *ShardError
		var types *TypesError
		var lost *LostError
		if err := <-errs; errors.As(err, &peers) || errors.As(err, &other) || errors.As(err, &shard) ||
			errors.As(err, &types) || errors.As(err, &lost) && lost.Name == n.o.Name {
			refused = err
		}
	}
	return refused
}

// greetAll waits until all others know this folder.
func (n *Node) greetAll(ctx context.Context, b *between) error {
	for round := 0; ; round++ {
		if err := n.greet(b); err != nil {
			return err
		}
		if err := b.members.mayRejoin(); err != nil {
			return err
		}
		missing := b.members.missing()
		if len(missing) == 0 {
			return nil
		}
		if round%100 == 10 {
			n.o.Log.Warn("the server waits until it has met all others once", "missing", strings.Join(missing, ","))
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-n.closing:
			return ErrClosed
		case <-n.failed:
			return n.err
		case <-time.After(patience):
		}
	}
}

// rejoin lets a member that has lost its folder begin anew. It may have promised to vote for another one, or stored an
// entry that is now missing from a majority. So its term is later than any in which it can have voted, and it takes no
// part in elections before it has an entry of a leader of such a term: others have elected that leader, who hence has
// all that was stored.
func (n *Node) rejoin(ctx context.Context, b *between) error {
	b.members.checked.Store(true) // it is empty
	if err := n.greetAll(ctx, b); err != nil {
		return err
	}
	b.members.mu.Lock()
	term := b.members.term + 1
	b.members.mu.Unlock()
	if err := n.log.SetUint64(termKey, term); err != nil {
		return err
	}
	if err := n.log.SetUint64(barredKey, term); err != nil {
		return err
	}
	b.members.formed = true
	return n.log.Set(metKey, []byte{1})
}

func send(c net.Conn, g *greeting) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	_, err = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(text))), text...))
	return err
}

func receive(c net.Conn, g *greeting) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	text := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, text); err != nil {
		return err
	}
	return json.Unmarshal(text, g)
}

// connection is one to or from another member.
type connection struct {
	net.Conn
	members *members
}

// Close ends the connection.
func (c *connection) Close() error { return c.members.leave(c.Conn) }

// introduced is a connection from another member, which introduces itself first.
type introduced struct {
	connection
	once sync.Once
	err  error
}

// Read reads what comes after the introduction.
func (c *introduced) Read(into []byte) (int, error) {
	c.once.Do(func() { c.err = c.members.answer(c.Conn) })
	if c.err != nil { // which the caller would log
		return 0, io.EOF
	}
	return c.Conn.Read(into)
}

// barred keeps a member that rejoins from elections.
type barred struct {
	messages
	log  *log
	term uint64 // of an entry that ends it
	over atomic.Bool
	rpcs chan raft.RPC
}

var errBarred = errors.New("a server that rejoins has yet to catch up")

func (b *barred) active() bool {
	if b.over.Load() {
		return false
	}
	if b.log.reached(b.term) {
		b.over.Store(true)
	}
	return !b.over.Load()
}

// forward takes calls of the others until the member ends.
func (b *barred) forward(ended <-chan struct{}) {
	for {
		select {
		case rpc := <-b.messages.Consumer():
			switch rpc.Command.(type) {
			case *raft.RequestVoteRequest, *raft.RequestPreVoteRequest:
				if b.active() {
					rpc.Respond(nil, errBarred)
					continue
				}
			}
			select {
			case b.rpcs <- rpc:
			case <-ended:
				return
			}
		case <-ended:
			return
		}
	}
}

// Consumer has the calls of the others.
func (b *barred) Consumer() <-chan raft.RPC { return b.rpcs }

// RequestVote asks another member for its vote.
func (b *barred) RequestVote(id raft.ServerID, to raft.ServerAddress, args *raft.RequestVoteRequest,
	resp *raft.RequestVoteResponse) error {
	if b.active() {
		return errBarred
	}
	return b.messages.RequestVote(id, to, args, resp)
}

// RequestPreVote asks another member whether it would vote.
func (b *barred) RequestPreVote(id raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	if b.active() {
		return errBarred
	}
	return b.messages.RequestPreVote(id, to, args, resp)
}
