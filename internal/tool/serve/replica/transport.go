package replica

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/raft"
)

// PortsApart is the distance from the port of a member's clients to that of its peers, as in Redis's cluster.
const PortsApart = 10000

// between carries the messages of members. A member is called by the address of its clients.
type between struct {
	net.Listener
	members *members
	tls     *tls.Config // nil: in the clear
}

// peerAddress returns where a member listens for its peers.
func peerAddress(client string) (string, error) {
	host, port, err := net.SplitHostPort(client)
	if err != nil {
		return "", err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || n+PortsApart > 65535 {
		return "", fmt.Errorf("%s: the port is none from 1 to %d", client, 65535-PortsApart)
	}
	return net.JoinHostPort(host, strconv.FormatUint(n+PortsApart, 10)), nil
}

// listen listens for peers. at is the address where the port of the member's clients is listened at.
func listen(m *members, at string, c *tls.Config) (*between, error) {
	own, err := peerAddress(m.own.Name)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(own)
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	if c != nil {
		l = tls.NewListener(l, c)
	}
	return &between{l, m, c}, nil
}

// Addr returns the member's name.
func (b *between) Addr() net.Addr { return named(b.members.own.Name) }

// Accept waits for another member to connect.
func (b *between) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &introduced{connection: connection{c, b.members}}, nil
}

// named is a net.Addr.
type named string

func (n named) Network() string { return "tcp" }
func (n named) String() string  { return string(n) }

// Dial connects to another member and introduces this one. Errors: those of ask, errEarly if the connection is of no
// use yet, and those of the system.
func (b *between) Dial(member raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	address, err := peerAddress(string(member))
	if err != nil {
		return nil, err
	}
	var c net.Conn
	if d := (&net.Dialer{Timeout: timeout}); b.tls == nil {
		c, err = d.Dial("tcp", address)
	} else {
		c, err = tls.DialWithDialer(d, "tcp", address, b.tls)
	}
	if err != nil {
		return nil, err
	}
	ready, err := b.members.ask(c, string(member), timeout)
	if err == nil && !ready {
		err = errEarly
	}
	if err != nil {
		return nil, errors.Join(err, b.members.leave(c))
	}
	return &connection{c, b.members}, nil
}

const (
	// mostMessage is the number of bytes of entries from which on the next ones are in another message to a member. It
	// must come in the time for an answer.
	mostMessage = 8 << 20
	// mostSent is the number of entries of a message. With only mostLoaded, a member that is far away would get fewer
	// than others store, and lag more and more.
	mostSent = 1 << 10
	// mostLoaded is how many entries the library has in memory for a message, whatever their length.
	mostLoaded = 32
)

// messages carries the messages of the library, which knows no bound of their bytes.
type messages struct {
	*raft.NetworkTransport
	log *log
}

// AppendEntries sends as many entries as a message may have. The library goes on after the last one that was sent.
func (m messages) AppendEntries(id raft.ServerID, to raft.ServerAddress, args *raft.AppendEntriesRequest,
	resp *raft.AppendEntriesResponse) error {
	m.fill(args)
	return m.NetworkTransport.AppendEntries(id, to, args, resp)
}

// fill takes entries out of a message that has too many bytes, or adds those that follow in the log if the library has
// reached its bound. The log of a leader only grows, and this member doesn't cut it before it has stored a later term.
// So if the term is still that of the message after the entries were read, they belong together.
func (m messages) fill(args *raft.AppendEntriesRequest) {
	bytes := 0
	for i, entry := range args.Entries {
		if bytes += len(entry.Data); bytes > mostMessage && i > 0 {
			args.Entries = args.Entries[:i]
			return
		}
	}
	if len(args.Entries) < mostLoaded {
		return
	}
	all := args.Entries
	for len(all) < mostSent {
		next := new(raft.Log)
		if m.log.GetLog(all[len(all)-1].Index+1, next) != nil { // most likely there is none
			break
		}
		if bytes += len(next.Data); bytes > mostMessage {
			break
		}
		all = append(all, next)
	}
	if term, err := m.log.number(termKey); err == nil && term == args.Term {
		args.Entries = all
	}
}
