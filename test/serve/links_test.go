package serve_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
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
		if !l.pass(time.Now(), from, to) {
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

// copy carries bytes of a connection one way. Late ones don't hold up those after them, so a long way is not a narrow
// one.
func (l *links) copy(into, of net.Conn, from, to string) {
	type part struct {
		bytes []byte
		came  time.Time
	}
	parts := make(chan part, 1024)
	go func() {
		defer close(parts)
		buffer := make([]byte, 1<<16)
		for {
			n, err := of.Read(buffer)
			if err != nil {
				return
			}
			parts <- part{slices.Clone(buffer[:n]), time.Now()}
		}
	}()
	defer func() {
		_ = of.Close()
		for range parts { // the reader ends
		}
	}()
	for p := range parts {
		if from != "" && to != "" && !l.pass(p.came, from, to) {
			return
		}
		if _, err := into.Write(p.bytes); err != nil {
			return
		}
	}
}

// pass waits until bytes that came at some time may go on. It returns false if the connection is broken.
func (l *links) pass(came time.Time, from, to string) bool {
	const look = 2 * time.Millisecond // for another rule
	for {
		f := (*l.rule.Load())(from, to)
		if f.broken {
			return false
		}
		wait := min(f.late-time.Since(came), look)
		if f.silent {
			wait = look
		}
		if wait <= 0 {
			return true
		}
		time.Sleep(wait)
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

// Servers are far apart, 100 ms there and back: the leader stays, writes of many clients share the way, and none is
// lost. Then one of the others is near the leader. The far one follows nevertheless, so that writes go on at once when
// the near one is killed.
func TestFar(t *testing.T) {
	const way = 50 * time.Millisecond
	all := servers(t, 3)
	l := behindProxies(t, all)
	for _, s := range all {
		s.start(t)
	}
	closed := openBank(t, all)
	l.set(func(string, string) fate { return fate{late: way} })
	led := leader(t, all)
	term := info(t, led, "vkds_term")
	took := countFor(t, led, 4*time.Second)
	closed()
	require.Greater(t, len(took), 4*int(4*time.Second/(2*way)), "what four clients would do one after the other")
	// An entry waits until the one before it is there and back, and goes there and back itself.
	took = countFor(t, led, 2*time.Second)
	require.Less(t, took[len(took)*9/10], 3*2*way-way/2)
	require.Equal(t, term, info(t, led, "vkds_term"), "another one led")

	others := slices.DeleteFunc(slices.Clone(all), func(s *server) bool { return s == led })
	near, far := others[0], others[1]
	l.set(func(from, to string) fate {
		if from == far.address || to == far.address {
			return fate{late: way}
		}
		return fate{}
	})
	countFor(t, led, 3*time.Second)
	stored := info(t, led, "vkds_log_stored")
	for began := time.Now(); info(t, far, "vkds_log_applied") < stored; time.Sleep(way) {
		require.Less(t, time.Since(began), 2*time.Second, "the far one lags")
	}
	near.kill()
	takeover(t, []*server{led, far})
	require.Equal(t, term, info(t, led, "vkds_term"), "another one led")
}

// info returns a number that a server says of itself.
func info(t *testing.T, s *server, name string) (n int) {
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	text, err := r.Info(t.Context()).Result()
	require.NoError(t, err)
	_, after, found := strings.Cut(text, name+":")
	require.True(t, found, name)
	_, err = fmt.Sscan(after, &n)
	require.NoError(t, err)
	return n
}

// countFor has clients count for a while, each at its own key, which must then have the number that it was counted to.
// It returns how long each step took, in order.
func countFor(t *testing.T, s *server, span time.Duration) (took []time.Duration) {
	const clients = 32
	ctx, stop := context.WithTimeout(t.Context(), span)
	defer stop()
	r := redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1, PoolSize: clients})
	defer r.Close()
	var mu sync.Mutex
	var g sync.WaitGroup
	for i := range clients {
		g.Go(func() {
			key := fmt.Sprint(1000 + i)
			first, err := r.IncrBy(t.Context(), key, 0).Result()
			if err != nil {
				t.Error(err)
				return
			}
			var own []time.Duration
			for n := first; ctx.Err() == nil; {
				began := time.Now()
				is, err := r.Incr(t.Context(), key).Result()
				if n++; err != nil || is != n {
					t.Errorf("counted to %d, and the server to %d: %v", n, is, err)
					return
				}
				own = append(own, time.Since(began))
			}
			if is, err := r.Get(t.Context(), key).Int64(); err != nil || is != first+int64(len(own)) {
				t.Errorf("%d is there after %d: %v", is, first+int64(len(own)), err)
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	g.Wait()
	slices.Sort(took)
	return took
}
