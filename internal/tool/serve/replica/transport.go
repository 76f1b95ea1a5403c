package replica

import (
	"crypto/tls"
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
	name string
	tls  *tls.Config // nil: in the clear
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

// listen listens for peers. name is the member's own, and at the address where its clients' port is listened at.
func listen(name, at string, c *tls.Config) (*between, error) {
	own, err := peerAddress(name)
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
	return &between{l, name, c}, nil
}

// Addr returns the member's name.
func (b *between) Addr() net.Addr { return named(b.name) }

// named is a net.Addr.
type named string

func (n named) Network() string { return "tcp" }
func (n named) String() string  { return string(n) }

// Dial connects to another member.
func (b *between) Dial(member raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	address, err := peerAddress(string(member))
	if err != nil {
		return nil, err
	}
	d := &net.Dialer{Timeout: timeout}
	if b.tls == nil {
		return d.Dial("tcp", address)
	}
	return tls.DialWithDialer(d, "tcp", address, b.tls)
}
