package serve_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// jet is a server of NATS in this process, which may be stopped and started.
type jet struct {
	t    *testing.T
	o    natsd.Options
	s    *natsd.Server
	dial []nats.Option
}

func startJet(t *testing.T, password string) *jet {
	j := &jet{t: t, o: natsd.Options{Host: "127.0.0.1", Port: natsd.RANDOM_PORT, JetStream: true, NoLog: true,
		NoSigs: true, StoreDir: filepath.Join(t.TempDir(), "jetstream")}}
	if password != "" {
		j.o.Username, j.o.Password = "vkds", password
		j.dial = []nats.Option{nats.UserInfo("vkds", password)}
	}
	j.start()
	t.Cleanup(j.stop)
	return j
}

func (j *jet) start() {
	o := j.o
	var err error
	j.s, err = natsd.NewServer(&o)
	require.NoError(j.t, err)
	j.s.Start()
	require.True(j.t, j.s.ReadyForConnections(10*time.Second))
	_, port, _ := strings.Cut(j.s.Addr().String(), ":")
	j.o.Port, err = strconv.Atoi(port) // the same one the next time
	require.NoError(j.t, err)
}

func (j *jet) stop() {
	j.s.Shutdown()
	j.s.WaitForShutdown()
}

func (j *jet) url(stream string) string {
	return fmt.Sprintf("nats://127.0.0.1:%d/%s", j.o.Port, stream)
}

// with calls f with a client.
func (j *jet) with(f func(js jetstream.JetStream)) {
	c, err := nats.Connect(j.s.ClientURL(), j.dial...)
	require.NoError(j.t, err)
	defer c.Close()
	js, err := jetstream.New(c)
	require.NoError(j.t, err)
	f(js)
}

// relay is between servers and NATS. It may hold what those have sent that are connected.
type relay struct {
	net.Listener
	mu    sync.Mutex
	gates map[*sync.RWMutex]bool // of each connection; locked: held
}

func startRelay(t *testing.T, to func() string) *relay {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{Listener: l, gates: map[*sync.RWMutex]bool{}}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", to())
			if err != nil {
				_ = front.Close()
				continue
			}
			go r.carry(front, back)
		}
	}()
	return r
}

func (r *relay) carry(front, back net.Conn) {
	gate := &sync.RWMutex{}
	r.mu.Lock()
	r.gates[gate] = true
	r.mu.Unlock()
	sent := make(chan []byte, 1<<16) // what a server sent is kept when it is killed
	go func() {
		defer close(sent)
		for {
			some := make([]byte, 1<<14)
			n, err := front.Read(some)
			if sent <- some[:n]; err != nil {
				return
			}
		}
	}()
	go func() {
		_, _ = io.Copy(front, back)
		_ = front.Close()
	}()
	for some := range sent {
		gate.RLock()
		_, _ = back.Write(some)
		gate.RUnlock()
	}
	time.Sleep(100 * time.Millisecond) // NATS doesn't read what comes just before the end
	_ = back.Close()
	r.mu.Lock()
	delete(r.gates, gate)
	r.mu.Unlock()
}

// hold holds what comes from now on, until it is released.
func (r *relay) hold() (release func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := slices.Collect(maps.Keys(r.gates))
	for _, gate := range held {
		gate.Lock()
	}
	return func() {
		for _, gate := range held {
			gate.Unlock()
		}
	}
}

// change is a line of a feed.
type change struct {
	number         uint64
	op, key, value string
}

// lines returns all that a stream has.
func (j *jet) lines(stream string) (all []change) {
	text := func(raw json.RawMessage, coded *string) string {
		if coded != nil {
			is, err := base64.StdEncoding.DecodeString(*coded)
			require.NoError(j.t, err)
			return string(is)
		}
		var is string
		if json.Unmarshal(raw, &is) != nil {
			return string(raw) // a number
		}
		return is
	}
	j.with(func(js jetstream.JetStream) {
		s, err := js.Stream(j.t.Context(), stream)
		require.NoError(j.t, err)
		state := s.CachedInfo().State
		s.CachedInfo().Config.AllowDirect = false // others than the leader may lack the last ones
		for i := state.FirstSeq; i <= state.LastSeq; i++ {
			m, err := s.GetMsg(j.t.Context(), i)
			require.NoError(j.t, err)
			last := uint64(0)
			for d := json.NewDecoder(strings.NewReader(string(m.Data))); d.More(); {
				var l struct {
					Change      *uint64
					Op, Data    string
					Key, Value  json.RawMessage
					KeyBase64   *string `json:"key_base64"`
					ValueBase64 *string `json:"value_base64"`
				}
				require.NoError(j.t, d.Decode(&l))
				c := change{*l.Change, l.Op, text(l.Key, l.KeyBase64), text(l.Value, l.ValueBase64)}
				last = max(last, c.number)
				if l.Op == "begin" {
					c.value = l.Data
				}
				all = append(all, c)
			}
			if number := m.Header.Get("Vkds-Change"); number != "" {
				require.Equal(j.t, strconv.FormatUint(last, 10), number)
			}
		}
	})
	return all
}

// replayed returns the pairs that lines make, and how often they begin. The changes have no gaps.
func replayed(t *testing.T, all []change) (pairs map[string]string, last uint64, begins int) {
	require.NotEmpty(t, all)
	require.Equal(t, "begin", all[0].op)
	restored := false
	for i, c := range all {
		switch {
		case c.op == "begin":
			require.Zero(t, c.number)
			pairs, last, restored = map[string]string{}, 0, false
			begins++
		case c.op == "last":
			require.True(t, restored || len(pairs) == 0)
			last, restored = c.number, false
		case c.number == 0:
			require.Equal(t, "set", c.op)
			require.True(t, restored || all[i-1].op == "begin")
			pairs[c.key], restored = c.value, true
		default:
			require.False(t, restored)
			require.Equal(t, last+1, c.number)
			last = c.number
			if pairs[c.key] = c.value; c.op == "delete" {
				delete(pairs, c.key)
			} else {
				require.Equal(t, "set", c.op)
			}
		}
	}
	require.False(t, restored)
	return pairs, last, begins
}

// held returns the pairs of a server that leads, and the number of their last change.
func held(t *testing.T, s *server) (pairs map[string]string, last uint64) {
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	pairs = map[string]string{}
	for cursor := uint64(0); ; {
		keys, next, err := r.Scan(t.Context(), cursor, "*", 1<<14).Result()
		require.NoError(t, err)
		if len(keys) > 0 {
			values, err := r.MGet(t.Context(), keys...).Result()
			require.NoError(t, err)
			for i, k := range keys {
				pairs[k] = values[i].(string)
			}
		}
		if cursor = next; cursor == 0 {
			break
		}
	}
	changes, err := r.Do(t.Context(), "VK.CHANGES", "$").Slice()
	require.NoError(t, err)
	return pairs, uint64(changes[0].(int64))
}

// fault returns what INFO says of the stream.
func fault(t *testing.T, s *server) (fault string, behind int) {
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	text, err := r.Info(t.Context()).Result()
	require.NoError(t, err)
	behind = -1
	for _, line := range strings.Split(text, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		switch name {
		case "vkds_changes_fault":
			fault = value
		case "vkds_changes_behind":
			behind, err = strconv.Atoi(value)
			require.NoError(t, err)
		}
	}
	return fault, behind
}

// follows checks that a stream soon has what a server has, and returns how often it begins.
func (j *jet) follows(stream string, s *server) (begins int) {
	j.t.Helper()
	require.Eventually(j.t, func() bool {
		fault, behind := fault(j.t, s)
		return fault == "" && behind == 0
	}, 25*time.Second, 20*time.Millisecond)
	pairs, last, begins := replayed(j.t, j.lines(stream))
	want, number := held(j.t, s)
	require.Equal(j.t, want, pairs)
	require.Equal(j.t, number, last)
	return begins
}

// logged returns how many lines of a server's log have a text.
func logged(t *testing.T, s *server, text string) int {
	all, err := os.ReadFile(s.log.Name())
	require.NoError(t, err)
	return strings.Count(string(all), text)
}

// A single server is killed while clients count: the stream has each change once, in order.
func TestStreamKilledAlone(t *testing.T) {
	eachType(t, func(t *testing.T, flags []string) {
		j := startJet(t, "pass:word")
		login := filepath.Join(t.TempDir(), "login")
		require.NoError(t, os.WriteFile(login, []byte("vkds:pass:word\n"), 0o600))
		all := servers(t, 1)
		all[0].flags = append([]string{"--changes", j.url("COUNTS"), "--changes-login", login}, flags...)
		counted := countWhileKilled(t, all)
		all[0].start(t)
		require.Equal(t, 1, j.follows("COUNTS", all[0]))
		requireCounts(t, j.lines("COUNTS")[1:], counted)
	})
}

// Whatever becomes of the leader and of NATS while clients write, a consumer has all pairs in the end. The stream
// begins anew only if it has lost its beginning.
func TestStreamOfThree(t *testing.T) {
	j := startJet(t, "")
	r := startRelay(t, func() string { return fmt.Sprintf("127.0.0.1:%d", j.o.Port) })
	all := servers(t, 3)
	for _, s := range all {
		s.flags = []string{"--changes", fmt.Sprintf("nats://%s/PAIRS", r.Addr())}
		s.start(t)
	}
	others := func(of *server) []*server {
		return slices.DeleteFunc(slices.Clone(all), func(s *server) bool { return s == of })
	}
	kept := filepath.Join(t.TempDir(), "kept")
	begins := 1
	faults := []func(){
		func() { // the leader is paused
			paused := leader(t, all)
			require.NoError(t, paused.cmd.Process.Signal(syscall.SIGSTOP))
			takeover(t, others(paused))
			require.NoError(t, paused.cmd.Process.Signal(syscall.SIGCONT))
		},
		func() { // the leader is killed, and what it has sent comes after what the next one has
			release := r.hold()
			time.Sleep(200 * time.Millisecond)
			killed := leader(t, all)
			killed.kill()
			takeover(t, all)
			time.Sleep(500 * time.Millisecond)
			release()
			killed.start(t)
		},
		func() { // NATS is away, and the leader killed meanwhile
			j.stop()
			require.NoError(t, os.RemoveAll(kept))
			require.NoError(t, os.CopyFS(kept, os.DirFS(j.o.StoreDir)))
			killed := leader(t, all)
			killed.kill()
			takeover(t, all)
			j.start()
			killed.start(t)
		},
		func() { // NATS loses messages that it has acknowledged
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			j.stop()
			require.NoError(t, os.RemoveAll(j.o.StoreDir))
			require.NoError(t, os.CopyFS(j.o.StoreDir, os.DirFS(kept)))
			j.start()
		},
		func() { // and all
			j.stop()
			require.NoError(t, os.RemoveAll(j.o.StoreDir))
			j.start()
			begins = 1
		},
		func() { // the stream is deleted
			j.with(func(js jetstream.JetStream) { require.NoError(t, js.DeleteStream(t.Context(), "PAIRS")) })
		},
	}
	for range max(1, 10*stress.Level) {
		for i, f := range faults {
			ctx, stop := context.WithCancel(t.Context())
			var g sync.WaitGroup
			for range 4 {
				c := newClient(all)
				g.Go(func() {
					defer c.close()
					for ctx.Err() == nil {
						key := rand.IntN(100)
						if rand.IntN(4) == 0 {
							c.do(ctx, "DEL", key)
						} else {
							c.do(ctx, "SET", key, rand.IntN(1e6))
						}
					}
				})
			}
			time.Sleep(200 * time.Millisecond)
			f()
			time.Sleep(200 * time.Millisecond)
			stop()
			g.Wait()
			require.Equal(t, begins, j.follows("PAIRS", leader(t, all)), "after fault %d", i)
			for _, s := range all { // one that no longer leads is refused, and nothing is wrong
				require.Zero(t, logged(t, s, "another server writes this stream"), "after fault %d", i)
			}
		}
	}
}

// What is wrong with a stream is said once, whatever it is, and nothing is written. The server answers meanwhile.
func TestStreamRefused(t *testing.T) {
	j := startJet(t, "secret")
	j.with(func(js jetstream.JetStream) {
		for name, c := range map[string]jetstream.StreamConfig{
			"WILD":  {Subjects: []string{"wild.*"}},
			"TWO":   {Subjects: []string{"two.a", "two.b"}},
			"QUEUE": {Subjects: []string{"queue"}, Retention: jetstream.WorkQueuePolicy},
			"NOACK": {Subjects: []string{"noack"}, NoAck: true},
			"OTHER": {Subjects: []string{"others"}},
		} {
			c.Name = name
			_, err := js.CreateStream(t.Context(), c)
			require.NoError(t, err)
		}
		_, err := js.Publish(t.Context(), "others", []byte("something"))
		require.NoError(t, err)
	})
	logins := map[string]string{}
	for _, x := range []string{"secret", "wrong"} {
		logins[x] = filepath.Join(t.TempDir(), "login")
		require.NoError(t, os.WriteFile(logins[x], []byte("vkds:"+x), 0o600))
	}
	first := servers(t, 1)[0]
	write := func(t *testing.T, s *server, key int) {
		c := newClient([]*server{s})
		defer c.close()
		_, done := c.do(t.Context(), "SET", key, key)
		require.True(t, done)
	}
	first.flags = []string{"--changes", j.url("FIRST"), "--changes-login", logins["secret"]}
	first.start(t)
	write(t, first, 1)
	require.Equal(t, 1, j.follows("FIRST", first))

	t.Run("each", func(t *testing.T) {
		for _, x := range []struct{ stream, password, fault string }{
			{"WILD", "secret", `the stream has the subjects ["wild.*"], and must have a single one without wildcards`},
			{"TWO", "secret", `the stream has the subjects ["two.a" "two.b"], and must have a single one without`},
			{"QUEUE", "secret", "the stream loses messages that were read: its retention must be limits"},
			{"NOACK", "secret", "the stream doesn't acknowledge messages"},
			{"OTHER", "secret", "message 1 of the stream is not of vkds: delete the stream, or name another one"},
			{"NEW", "wrong", "nats: Authorization Violation"},
			{"FIRST", "secret", "the stream has changes of other data ("},
		} {
			t.Run(x.stream, func(t *testing.T) {
				t.Parallel()
				second := servers(t, 1)[0]
				second.flags = []string{"--changes", j.url(x.stream), "--changes-login", logins[x.password]}
				second.start(t)
				write(t, second, 2)
				var is string
				require.Eventually(t, func() bool { is, _ = fault(t, second); return is != "" }, 5*time.Second,
					10*time.Millisecond)
				require.True(t, strings.HasPrefix(is, x.fault), is)
				_, behind := fault(t, second)
				require.Equal(t, 1, behind)
				time.Sleep(350 * time.Millisecond) // it tries again and again
				require.Equal(t, 1, logged(t, second, "changes don't reach the stream"))
				require.Equal(t, 1, logged(t, second, "WARN"))
				if x.stream != "FIRST" {
					return
				}
				require.Equal(t, 1, j.follows("FIRST", first))
				j.with(func(js jetstream.JetStream) { require.NoError(t, js.DeleteStream(t.Context(), "FIRST")) })
				require.Equal(t, 1, j.follows("FIRST", second)) // now it is the second one's
				write(t, first, 3)
				require.Eventually(t, func() bool { is, _ = fault(t, first); return strings.HasPrefix(is, x.fault) },
					5*time.Second, 10*time.Millisecond)
				require.Equal(t, 1, j.follows("FIRST", second))
			})
		}
	})
	j.with(func(js jetstream.JetStream) {
		_, err := js.Stream(t.Context(), "NEW")
		require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	})
}

// A folder that is put back to what it was has other changes than the stream, which begins anew then.
func TestStreamOfOlderFolder(t *testing.T) {
	j := startJet(t, "")
	s := servers(t, 1)[0]
	s.flags = []string{"--changes", j.url("OLDER")}
	write := func(from, to int) {
		c := newClient([]*server{s})
		defer c.close()
		for i := from; i < to; i++ {
			_, done := c.do(t.Context(), "SET", i%10, i)
			require.True(t, done)
		}
	}
	s.start(t)
	write(0, 20)
	s.kill()
	kept := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.CopyFS(kept, os.DirFS(s.dir)))
	back := func() {
		s.kill()
		require.NoError(t, os.RemoveAll(s.dir))
		require.NoError(t, os.CopyFS(s.dir, os.DirFS(kept)))
	}
	s.start(t)
	write(20, 40)
	require.Equal(t, 1, j.follows("OLDER", s))
	back() // the stream is ahead
	s.start(t)
	require.Equal(t, 2, j.follows("OLDER", s))
	write(50, 60)
	require.Equal(t, 2, j.follows("OLDER", s))
	back()
	j.stop()
	s.start(t)
	write(60, 90) // by now it isn't
	j.start()
	require.Equal(t, 3, j.follows("OLDER", s))
}

// Texts keep their bytes, whatever they are and however long.
func TestStreamOfTexts(t *testing.T) {
	j := startJet(t, "")
	s := servers(t, 1)[0]
	s.flags = append([]string{"--changes", j.url("TEXTS")}, texts...)
	s.start(t)
	c := newClient([]*server{s})
	defer c.close()
	all := []string{"", "a", "\x00", "\xff\xfe", "\r\n\",{}[]\\", "<&>", "\u2028\ufffd", "ü\xc3", "null", "17",
		strings.Repeat("\x01", 1<<16), strings.Repeat("\xff", 1<<16)}
	for i, key := range all {
		_, done := c.do(t.Context(), "SET", key, all[(i+5)%len(all)])
		require.True(t, done)
	}
	for _, key := range all[:3] {
		_, done := c.do(t.Context(), "DEL", key)
		require.True(t, done)
	}
	require.Equal(t, 1, j.follows("TEXTS", s))
	pairs, _ := held(t, s)
	require.Len(t, pairs, len(all)-3)
}

// With tls://, a server speaks to NATS by TLS alone, and only to one whose certificate the system trusts.
func TestStreamByTLS(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere, SSL_CERT_FILE says nothing")
	}
	cert, key, signers := certificate(t, t.TempDir())
	own, err := tls.LoadX509KeyPair(cert, key)
	require.NoError(t, err)
	plain, j := startJet(t, ""), startJet(t, "")
	j.stop()
	j.o.TLS, j.o.TLSConfig = true, &tls.Config{Certificates: []tls.Certificate{own}}
	j.dial = []nats.Option{nats.RootCAs(cert), nats.Secure(&tls.Config{RootCAs: signers})}
	j.start()
	all := servers(t, 3)
	for i, s := range all {
		s.peers = nil
		if s.shell = "unset SSL_CERT_FILE; "; i == 0 {
			s.shell = "export SSL_CERT_FILE=" + cert + "; "
		}
		s.flags = []string{"--changes", strings.Replace(j.url("TLS"), "nats:", "tls:", 1)}
		if i == 2 {
			s.flags[1] = strings.Replace(plain.url("TLS"), "nats:", "tls:", 1)
		}
		s.start(t)
		c := newClient(all[i : i+1])
		_, done := c.do(t.Context(), "SET", 1, 1)
		require.True(t, done)
		c.close()
	}
	require.Equal(t, 1, j.follows("TLS", all[0]))
	for i, want := range []string{"certificate signed by unknown authority", "secure connection not available"} {
		require.Eventually(t, func() bool {
			is, _ := fault(t, all[1+i])
			return strings.Contains(is, want)
		}, 5*time.Second, 10*time.Millisecond, want)
	}
}

// While NATS is away, the server answers, and forgets changes. Then the stream gets all pairs, and what comes after.
func TestStreamBehind(t *testing.T) {
	j := startJet(t, "")
	s := servers(t, 1)[0]
	s.flags = []string{"--changes", j.url("BEHIND")}
	s.start(t)
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	value := 0
	write := func(calls, keys int) {
		args := make([]any, 1+2*keys)
		args[0] = "MSET"
		for range calls {
			for i := range keys {
				args[1+2*i], args[2+2*i] = i, value
				value++
			}
			require.NoError(t, r.Do(t.Context(), args...).Err())
		}
	}
	write(1, 100)
	require.Equal(t, 1, j.follows("BEHIND", s))
	j.stop()
	write(20, 1<<16) // more than a server keeps
	_, behind := fault(t, s)
	require.Equal(t, 20<<16, behind)
	j.start()
	write(3, 1000)
	require.Equal(t, 2, j.follows("BEHIND", s))
	require.Equal(t, 1, logged(t, s, "WARN"))
	require.Equal(t, 1, logged(t, s, "changes reach the stream again"))

	// What is left when it ends is published then.
	write(1, 1<<16)
	require.NoError(t, s.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, s.cmd.Wait())
	_, last, begins := replayed(t, j.lines("BEHIND"))
	require.Equal(t, 2, begins)
	require.EqualValues(t, value, last)
	if stress.Level == 0 {
		return
	}
	s.start(t)
	began := time.Now()
	write(100, 1<<16)
	wrote := time.Since(began)
	require.Eventually(t, func() bool { _, behind := fault(t, s); return behind == 0 }, time.Minute, time.Millisecond)
	t.Logf("%d changes: written in %v, published in %v", 100<<16, wrote, time.Since(began))
}

// A server ends soon although NATS reads no more, and what was to be sent fills all buffers.
func TestStreamStuck(t *testing.T) {
	j := startJet(t, "")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var stuck sync.RWMutex
	go func() {
		for {
			front, err := l.Accept()
			if err != nil {
				return
			}
			_ = front.(*net.TCPConn).SetReadBuffer(1 << 14)
			back, err := net.Dial("tcp", j.s.Addr().String())
			if err != nil {
				_ = front.Close()
				continue
			}
			go func() { _, _ = io.Copy(front, back) }()
			go func() {
				defer back.Close()
				some := make([]byte, 1<<14)
				for {
					stuck.RLock()
					n, err := front.Read(some)
					stuck.RUnlock()
					if _, e := back.Write(some[:n]); err != nil || e != nil {
						return
					}
					time.Sleep(10 * time.Microsecond) // a writer that waits is next
				}
			}()
		}
	}()
	s := servers(t, 1)[0]
	s.flags = []string{"--key", "text", "--value", "text", "--changes", fmt.Sprintf("nats://%s/STUCK", l.Addr())}
	s.start(t)
	c := newClient([]*server{s})
	defer c.close()
	_, done := c.do(t.Context(), "SET", "key", "value")
	require.True(t, done)
	require.Eventually(t, func() bool { _, behind := fault(t, s); return behind == 0 }, 10*time.Second,
		time.Millisecond)
	go stuck.Lock()                       // it waits for a Read
	long := strings.Repeat("\x01", 1<<16) // six bytes each in JSON
	for i := range 100 {
		_, done := c.do(t.Context(), "SET", i, long)
		require.True(t, done)
	}
	time.Sleep(500 * time.Millisecond)
	began := time.Now()
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, s.cmd.Wait())
	require.Less(t, time.Since(began), 6*time.Second)
}
