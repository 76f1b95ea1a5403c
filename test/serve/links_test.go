package serve_test

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// links are the connections between servers, each through a proxy. What rule says of the bytes from one server to
// another holds from then on.
type links struct{ rule atomic.Pointer[rule] }

// rule says what becomes of bytes from one server to another.
type rule func(from, to string) fate

type fate struct {
	broken bool // the connection ends
	silent bool // they wait until another rule holds
	late   time.Duration
}

func (l *links) set(r rule) { l.rule.Store(&r) }
func (l *links) heal()      { l.set(func(string, string) fate { return fate{} }) }

// behindProxies has servers know each other by the addresses of proxies, which are on 127.0.0.2.
func behindProxies(t *testing.T, all []*server) *links {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8 on loopback")
	}
	l := &links{}
	l.heal()
	var names []string
	for _, s := range all {
		s.listen = s.address
		s.address = strings.Replace(s.address, "127.0.0.1", "127.0.0.2", 1)
		names = append(names, s.address)
		for _, apart := range []int{0, 10000} {
			front, err := net.Listen("tcp", portOf(t, s.address, apart))
			require.NoError(t, err)
			t.Cleanup(func() { _ = front.Close() })
			back := portOf(t, s.listen, apart)
			go func() {
				for {
					c, err := front.Accept()
					if err != nil {
						return
					}
					go l.carry(c, back, s.address, apart > 0)
				}
			}()
		}
	}
	for _, s := range all {
		s.peers = names
	}
	return l
}

// portOf returns an address at another port.
func portOf(t *testing.T, address string, apart int) string {
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	return net.JoinHostPort(host, strconv.Itoa(n+apart))
}

// carry carries bytes of a connection to a server and back. Servers begin by saying who they are.
func (l *links) carry(c net.Conn, back, to string, server bool) {
	defer c.Close()
	d, err := net.DialTimeout("tcp", back, time.Second)
	if err != nil {
		return
	}
	defer d.Close()
	from := ""
	if server {
		head := make([]byte, 2)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		text := make([]byte, binary.BigEndian.Uint16(head))
		var is struct{ Name string }
		if _, err := io.ReadFull(c, text); err != nil || json.Unmarshal(text, &is) != nil {
			return
		}
		from = is.Name
		if (*l.rule.Load())(from, to).broken {
			return
		}
		if _, err := d.Write(append(head, text...)); err != nil {
			return
		}
	}
	go func() {
		l.copy(c, d, to, from)
		_, _ = c.Close(), d.Close()
	}()
	l.copy(d, c, from, to)
}

func (l *links) copy(into, of net.Conn, from, to string) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := of.Read(buffer)
		if err != nil {
			return
		}
		if from != "" && to != "" {
			for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
				f := (*l.rule.Load())(from, to)
				if f.broken {
					return
				}
				if !f.silent && time.Since(began) >= f.late {
					break
				}
			}
		}
		if _, err := into.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// Links between servers are cut, on both sides or one, with and without the end of connections, and slow, while clients
// read and write: histories are linearizable, the majority has a leader soon, and the totals of a bank hold.
func TestLinks(t *testing.T) {
	all := servers(t, 3)
	l := behindProxies(t, all)
	for _, s := range all {
		s.start(t)
	}
	closed := openBank(t, all)
	kinds := []func(led, other string) rule{
		func(led, _ string) rule { // nothing reaches the leader
			return func(_, to string) fate { return fate{silent: to == led} }
		},
		func(led, _ string) rule { // it is alone, and nobody is told
			return func(from, to string) fate { return fate{silent: from == led || to == led} }
		},
		func(string, string) rule {
			return func(string, string) fate { return fate{late: 30 * time.Millisecond} }
		},
		func(led, _ string) rule { // it is alone, and its connections end
			return func(from, to string) fate { return fate{broken: from == led || to == led} }
		},
		func(led, _ string) rule { // nothing comes from it
			return func(from, _ string) fate { return fate{silent: from == led} }
		},
		func(led, other string) rule { // it doesn't see one of the others, which both see the third
			return func(from, to string) fate {
				return fate{broken: from == led && to == other || from == other && to == led}
			}
		},
		func(_, other string) rule { // one that doesn't lead is alone
			return func(from, to string) fate { return fate{silent: from == other || to == other} }
		},
	}
	rounds := 3
	if stress.Level > 0 {
		rounds = 3 * stress.Level * len(kinds)
	}
	first := rand.IntN(len(kinds))
	for round := range rounds {
		led := leader(t, all)
		other := all[rand.IntN(3)]
		for other == led {
			other = all[rand.IntN(3)]
		}
		linearizable(t, all, round, func() {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			defer l.heal()
			l.set(kinds[(first+round)%len(kinds)](led.address, other.address))
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
			takeover(t, all)
			time.Sleep(100 * time.Millisecond)
			l.heal()
			time.Sleep(200 * time.Millisecond)
		})
	}
	closed()
	same(t, all)
}
