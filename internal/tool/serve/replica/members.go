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
	Name   string
	Peers  []string // sorted
	Types  Types
	Folder string
	Rejoin bool `json:",omitempty"`

	// In an answer:
	Lost  bool   `json:",omitempty"` // the other one had another folder
	Ready bool   `json:",omitempty"` // messages may follow
	Term  uint64 `json:",omitempty"`
}

// members is what a member knows of itself and of the others.
type members struct {
	log   *log
	dir   string
	warn  func(error)
	own   greeting
	ready atomic.Bool // it has met all others, and its folder is of the same members

	mu   sync.Mutex
	met  map[string]bool // those who know this folder
	term uint64          // the latest of theirs
}

// meetings returns what the folder remembers. A new folder gets its name.
func meetings(o *Options, log *log) (*members, error) {
	m := &members{log: log, dir: o.Dir, met: map[string]bool{}, own: greeting{Name: o.Name,
		Peers: slices.Sorted(slices.Values(o.Peers)), Types: o.Types}}
	m.warn = func(err error) { o.Log.Warn("another server is not spoken to", "error", err) }
	folder, err := log.recall(folderKey)
	if err != nil {
		return nil, err
	}
	if o.Rejoin && !m.metAll() {
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
	m.own.Rejoin = rejoin != nil && !m.metAll()
	return m, err
}

// metAll reports whether this member has met all others at some time.
func (m *members) metAll() bool {
	met, err := m.log.recall(metKey)
	return err == nil && met != nil
}

// differs returns an error if another member can't be of the same cluster.
func (m *members) differs(other *greeting) error {
	switch {
	case !slices.Equal(other.Peers, m.own.Peers):
		return &PeersError{other.Name, other.Peers, m.own.Peers}
	case other.Types != m.own.Types:
		return &TypesError{other.Types, m.own.Types}
	case other.Name == m.own.Name || !slices.Contains(m.own.Peers, other.Name):
		return fmt.Errorf("a server calls itself %q", other.Name)
	}
	return nil
}

// remembers reports whether a member has the folder that it had, or none before. It keeps that before it answers.
func (m *members) remembers(other *greeting) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := []byte(otherKey + other.Name)
	had, err := m.log.recall(key)
	switch {
	case err != nil || string(had) == other.Folder:
		return true, err
	case had != nil && !other.Rejoin:
		return false, nil
	}
	return true, m.log.Set(key, []byte(other.Folder))
}

// answer does its part of an introduction with a member that has connected.
func (m *members) answer(c net.Conn) error {
	_ = c.SetDeadline(time.Now().Add(introduction))
	var other greeting
	if err := receive(c, &other); err != nil {
		return err
	}
	mine := m.own
	mine.Ready = m.ready.Load()
	mine.Term, _ = m.log.GetUint64(termKey)
	err := m.differs(&other)
	if err == nil {
		var same bool
		if same, err = m.remembers(&other); err == nil && !same {
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

// ask introduces this member to another one, in so much time. Further errors: *PeersError, *TypesError and *LostError,
// if they don't belong together.
func (m *members) ask(c net.Conn, name string, timeout time.Duration) (ready bool, err error) {
	_ = c.SetDeadline(time.Now().Add(timeout))
	var other greeting
	if err := errors.Join(send(c, &m.own), receive(c, &other)); err != nil {
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
	if other.Ready { // its folder is known to all
		switch had, err := m.log.recall([]byte(otherKey + name)); {
		case err != nil:
			return false, err
		case had != nil && string(had) != other.Folder:
			return false, &LostError{name, "this"}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.met[name] = true
	m.term = max(m.term, other.Term)
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

// meet tries to meet those who are missing. It returns an error if one doesn't belong to the same cluster.
func (n *Node) meet(b *between) error {
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
		var types *TypesError
		var lost *LostError
		if err := <-errs; errors.As(err, &peers) || errors.As(err, &types) ||
			errors.As(err, &lost) && lost.Name == n.o.Name {
			refused = err
		}
	}
	return refused
}

// meetAll waits until all others know this folder.
func (n *Node) meetAll(ctx context.Context, b *between) error {
	for round := 0; ; round++ {
		if err := n.meet(b); err != nil {
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
	if err := n.meetAll(ctx, b); err != nil {
		return err
	}
	term := b.members.term + 1
	return errors.Join(n.log.SetUint64(termKey, term), n.log.SetUint64(barredKey, term), n.log.Set(metKey, []byte{1}))
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

// introduced is a connection from another member, which introduces itself first.
type introduced struct {
	net.Conn
	members *members
	once    sync.Once
	err     error
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
	*raft.NetworkTransport
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
	var entry raft.Log
	last, err := b.log.LastIndex()
	if err == nil && last > 0 && b.log.GetLog(last, &entry) == nil && entry.Term >= b.term {
		b.over.Store(true)
	}
	return !b.over.Load()
}

// forward takes calls of the others until the member ends.
func (b *barred) forward(ended <-chan struct{}) {
	for {
		select {
		case rpc := <-b.NetworkTransport.Consumer():
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
	return b.NetworkTransport.RequestVote(id, to, args, resp)
}

// RequestPreVote asks another member whether it would vote.
func (b *barred) RequestPreVote(id raft.ServerID, to raft.ServerAddress, args *raft.RequestPreVoteRequest,
	resp *raft.RequestPreVoteResponse) error {
	if b.active() {
		return errBarred
	}
	return b.NetworkTransport.RequestPreVote(id, to, args, resp)
}
