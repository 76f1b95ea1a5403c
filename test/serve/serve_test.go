// Package serve_test kills servers that are processes of their own, and asks them by a stock client.
package serve_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/csv"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// tool is the built command.
var tool string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		redis.SetLogger(silent{})
		if tool = os.Getenv("VKDS_TOOL"); tool != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "vkds-serve-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		tool = filepath.Join(dir, "vkds")
		build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", tool, "./cmd/vkds")
		build.Dir = filepath.Join("..", "..")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// silent is for a library that logs each connection that a killed server has closed.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// kills is how often a server is killed in one test.
func kills() int { return max(10, 100*stress.Level) }

// server is a process.
type server struct {
	address, dir string
	listen       string // where it listens, if its address is that of a proxy
	peers, flags []string
	shell        string // what a shell does before
	http         string // where the metrics are
	cmd          *exec.Cmd
	log          *os.File
}

func (s *server) start(t *testing.T) {
	out := s.run(t)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		text, _ := os.ReadFile(s.log.Name())
		t.Fatalf("%v: %s", err, text)
	}
	_, at, _ := strings.Cut(line, "://")
	require.Equal(t, cmp.Or(s.listen, s.address)+"\n", at)
	go func() { _, _ = io.Copy(io.Discard, out) }()
}

// run starts the process, which may end by itself.
func (s *server) run(t *testing.T) (out io.Reader) {
	listen := cmp.Or(s.listen, s.address)
	arguments := []string{"serve", "--data", s.dir, "--listen", listen, "--device", "none"}
	if s.listen != "" {
		arguments = append(arguments, "--node", s.address)
	}
	arguments = append(arguments, s.flags...)
	if len(s.peers) > 0 {
		arguments = append(arguments, "--peers", strings.Join(s.peers, ","), "--stale", "1s")
	}
	s.cmd = exec.Command(tool, arguments...)
	if s.shell != "" {
		s.cmd = exec.Command("sh", append([]string{"-c", s.shell + `exec "$0" "$@"`, tool}, arguments...)...)
	}
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, s.cmd.Start())
	return out
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// servers makes n servers that aren't started yet.
func servers(t *testing.T, n int) (all []*server) {
	var addresses []string
	for len(addresses) < n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		address := l.Addr().String()
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		if port <= 55535 && !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
	}
	for _, a := range addresses {
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		require.NoError(t, err)
		s := &server{address: a, dir: filepath.Join(t.TempDir(), "data"), log: log}
		if n > 1 {
			s.peers = addresses
		}
		t.Cleanup(func() {
			if s.cmd != nil {
				s.kill()
			}
			_ = log.Close()
		})
		all = append(all, s)
	}
	return all
}

// client routes commands by itself and never sends one again that may have been done.
type client struct {
	at   map[string]*redis.Client
	all  []string
	next string
}

func newClient(all []*server) *client {
	c := &client{at: map[string]*redis.Client{}}
	for _, s := range all {
		r := redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1, DialerRetries: 1,
			ReadTimeout: 10 * time.Second, DialTimeout: time.Second, PoolSize: 2})
		c.at[s.address], c.all = r, append(c.all, s.address)
	}
	c.next = c.all[rand.IntN(len(c.all))]
	return c
}

func (c *client) close() {
	for _, r := range c.at {
		_ = r.Close()
	}
}

// do returns the result of a command. done is false if the command may have been done or not.
func (c *client) do(ctx context.Context, args ...any) (result any, done bool) {
	for ctx.Err() == nil {
		at := c.at[c.next]
		if at == nil { // one that the client was not told of
			c.elsewhere()
			continue
		}
		result, err := at.Do(ctx, args...).Result()
		var dial *net.OpError
		switch {
		case err == nil, errors.Is(err, redis.Nil):
			return result, true
		case strings.HasPrefix(err.Error(), "MOVED "):
			c.next = strings.Fields(err.Error())[2]
		case strings.HasPrefix(err.Error(), "CLUSTERDOWN "), errors.As(err, &dial) && dial.Op == "dial":
			c.elsewhere()
		default:
			return nil, false
		}
	}
	return nil, false
}

func (c *client) elsewhere() {
	c.next = c.all[rand.IntN(len(c.all))]
	time.Sleep(10 * time.Millisecond)
}

// texts are the flags of a server whose keys and values are text.
var texts = []string{"--key", "text", "--value", "text"}

// eachType runs a test with numbers and with texts.
func eachType(t *testing.T, test func(t *testing.T, flags []string)) {
	t.Run("numbers", func(t *testing.T) { test(t, nil) })
	t.Run("texts", func(t *testing.T) { test(t, texts) })
}

// A single server is killed while clients count: no number that was answered is lost, and none is counted twice.
func TestKilledAlone(t *testing.T) { eachType(t, killedAlone) }

func killedAlone(t *testing.T, flags []string) {
	all := servers(t, 1)
	path := filepath.Join(t.TempDir(), "changes.csv")
	all[0].flags = append([]string{"--changes", path}, flags...)
	counted := countWhileKilled(t, all)

	all[0].start(t)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var changes []change
	for _, parts := range lines[2:] { // after its name
		number, err := strconv.ParseUint(parts[0], 10, 64)
		require.NoError(t, err)
		changes = append(changes, change{number, parts[1], parts[2], parts[3]})
	}
	requireCounts(t, changes, counted)
}

// countWhileKilled has clients count, each at its own key, while a server is killed. It returns how far they came.
func countWhileKilled(t *testing.T, all []*server) []int64 {
	const clients = 8
	counted, unknown := make([]int64, clients), make([]int64, clients)
	for round := range kills() {
		all[0].start(t)
		c := newClient(all)
		for i := range clients {
			is, done := c.do(t.Context(), "INCRBY", i, 0)
			require.True(t, done)
			require.GreaterOrEqual(t, is, counted[i], "lost in round %d", round)
			require.LessOrEqual(t, is, counted[i]+unknown[i], "twice in round %d", round)
			counted[i], unknown[i] = is.(int64), 0
		}
		c.close()
		var g sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		for i := range clients {
			c := newClient(all)
			g.Go(func() {
				defer c.close()
				for {
					is, done := c.do(ctx, "INCR", i)
					if !done {
						unknown[i] = 1
						return
					}
					counted[i]++
					if is != counted[i] {
						t.Errorf("client %d counted to %d, the server to %v", i, counted[i], is)
					}
				}
			})
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		all[0].kill()
		stop() // who has not been connected yet goes on trying
		g.Wait()
	}
	require.Positive(t, counted[0])
	return counted
}

// requireCounts checks that each change is there, once and in its order: numbers that count have no gaps.
func requireCounts(t *testing.T, changes []change, counted []int64) {
	last := map[string]int64{}
	for i, c := range changes {
		require.EqualValues(t, i+1, c.number)
		require.Equal(t, "set", c.op)
		n, err := strconv.ParseInt(c.value, 10, 64)
		require.NoError(t, err)
		if is, there := last[c.key]; there {
			require.Equal(t, is+1, n, "%v", c)
		} else {
			require.Zero(t, n, "%v", c)
		}
		last[c.key] = n
	}
	for i := range counted {
		require.GreaterOrEqual(t, last[strconv.Itoa(i)], counted[i])
	}
}

// step is an operation of a history on one key.
type step struct {
	kind string // SET, GET or INCRBY
	key  int
	n    int64
}

// register is a number that may be set, read and added to; absent it is read as nil.
var register = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		byKey := map[int][]porcupine.Operation{}
		for _, o := range history {
			byKey[o.Input.(step).key] = append(byKey[o.Input.(step).key], o)
		}
		for _, p := range byKey {
			parts = append(parts, p)
		}
		return parts
	},
	Init: func() any { return any(nil) },
	Step: func(state, input, output any) (bool, any) {
		s := input.(step)
		switch s.kind {
		case "SET":
			return output == nil || output == "OK", strconv.FormatInt(s.n, 10)
		case "INCRBY":
			is := int64(0)
			if state != nil {
				is, _ = strconv.ParseInt(state.(string), 10, 64)
			}
			return output == nil || output == is+s.n, strconv.FormatInt(is+s.n, 10)
		}
		return output == state, state
	},
}

// One of three is killed, mostly the leader, while clients read and write: histories are linearizable, another takes
// over within 5 s, and the one that was killed comes back. A command whose outcome is unknown may take effect at any
// later time, or not. Meanwhile the totals of a bank hold.
func TestKilledOfThree(t *testing.T) { eachType(t, killedOfThree) }

func killedOfThree(t *testing.T, flags []string) {
	all := servers(t, 3)
	for _, s := range all {
		s.flags = flags
		s.start(t)
	}
	closed := openBank(t, all)
	for round := range kills() / 2 {
		killed := all[rand.IntN(3)]
		if round%3 != 0 {
			killed = leader(t, all)
		}
		linearizable(t, all, round, func() {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			killed.kill()
			takeover(t, all)
			time.Sleep(100 * time.Millisecond)
		})
		killed.start(t)
	}
	closed()
	same(t, all)
}

// The leader is paused for longer than the others wait, while clients read and write. When it goes on, it has what they
// asked it meanwhile, and must not answer as if it still led.
func TestPausedLeader(t *testing.T) {
	all := servers(t, 3)
	for _, s := range all {
		s.start(t)
	}
	closed := openBank(t, all)
	for round := range max(2, 20*stress.Level) {
		paused := leader(t, all)
		linearizable(t, all, round, func() {
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			require.NoError(t, paused.cmd.Process.Signal(syscall.SIGSTOP))
			defer func() { _ = paused.cmd.Process.Signal(syscall.SIGCONT) }()
			takeover(t, slices.DeleteFunc(slices.Clone(all), func(s *server) bool { return s == paused }))
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			require.NoError(t, paused.cmd.Process.Signal(syscall.SIGCONT))
			time.Sleep(200 * time.Millisecond)
		})
	}
	closed()
	same(t, all)
}

// linearizable has clients read and write until during returns, and checks what they have seen.
func linearizable(t *testing.T, all []*server, round int, during func()) {
	history := historyOf(t, all, round, during)
	result := porcupine.CheckOperationsTimeout(register, history, 30*time.Second)
	require.Equal(t, porcupine.Ok, result, "%d operations of round %d", len(history), round)
}

// takeover checks that some of the servers have a leader soon.
func takeover(t *testing.T, all []*server) { takeoverOf(t, all, "-1") }

// takeoverOf is takeover with the key that is written.
func takeoverOf(t *testing.T, all []*server, key string) {
	c := newClient(all)
	defer c.close()
	const most = 5 * time.Second
	began := time.Now()
	ctx, stop := context.WithTimeout(t.Context(), most) // or a cluster that doesn't go on would hang the test
	defer stop()
	for done := false; !done; _, done = c.do(ctx, "SET", key, 1) { // its outcome may be unknown
		require.Less(t, time.Since(began), most, "the takeover")
	}
	require.Less(t, time.Since(began), most, "the takeover")
}

// same checks that all servers soon have the same pairs, by as many changes.
func same(t *testing.T, all []*server) {
	require.Eventually(t, func() bool {
		var texts []string
		for _, s := range all {
			r := redis.NewClient(&redis.Options{Addr: s.address})
			p := r.Pipeline()
			p.ReadOnly(t.Context())
			scan, changes := p.Scan(t.Context(), 0, "*", 1<<16), p.Do(t.Context(), "VK.CHANGES", "$")
			part := p.Scan(t.Context(), 0, "*", 5) // its cursor is of use on each of them
			_, err := p.Exec(t.Context())
			keys, _ := scan.Val()
			p.ReadOnly(t.Context())
			for _, key := range keys {
				p.Get(t.Context(), key)
			}
			values, failed := p.Exec(t.Context())
			_ = r.Close()
			if err != nil || failed != nil {
				return false
			}
			_, cursor := part.Val()
			state := fmt.Sprint(keys, changes.Val(), cursor)
			for _, x := range values {
				state += x.String()
			}
			texts = append(texts, state)
		}
		return texts[0] == texts[1] && texts[1] == texts[2]
	}, 20*time.Second, 100*time.Millisecond)
}

// leader returns the server that leads.
func leader(t *testing.T, all []*server) (found *server) {
	require.Eventually(t, func() bool {
		for _, s := range all {
			r := redis.NewClient(&redis.Options{Addr: s.address})
			text, err := r.Info(t.Context()).Result()
			_ = r.Close()
			if err == nil && strings.Contains(text, "role:master") {
				found = s
				return true
			}
		}
		return false
	}, 20*time.Second, 20*time.Millisecond)
	return found
}

// historyOf has clients read and write until during returns.
func historyOf(t *testing.T, all []*server, round int, during func()) (history []porcupine.Operation) {
	const clients, keys = 5, 4
	ctx, stop := context.WithCancel(t.Context())
	began := time.Now()
	var mu sync.Mutex
	var g sync.WaitGroup
	for id := range clients {
		c := newClient(all)
		g.Go(func() {
			defer c.close()
			for n := 0; ctx.Err() == nil; n++ {
				s := step{kind: []string{"GET", "SET", "INCRBY"}[rand.IntN(3)], key: round*keys + rand.IntN(keys),
					n: int64(id + clients*n)}
				arguments := []any{s.kind, s.key}
				if s.kind != "GET" {
					arguments = append(arguments, s.n)
				}
				o := porcupine.Operation{ClientId: id, Input: s, Call: time.Since(began).Nanoseconds()}
				result, done := c.do(t.Context(), arguments...)
				o.Output, o.Return = result, time.Since(began).Nanoseconds()
				if !done {
					if s.kind == "GET" {
						continue
					}
					o.Return = math.MaxInt64
				}
				mu.Lock()
				history = append(history, o)
				mu.Unlock()
				time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
			}
		})
	}
	during()
	stop()
	g.Wait()
	return history
}

// go-redis talks to one server, and its cluster client finds the leader by itself, from any of three, and after a kill.
func TestStockClient(t *testing.T) {
	ctx := t.Context()
	named := servers(t, 1)
	named[0].flags = texts
	named[0].start(t)
	names(t, named[0])
	alone := servers(t, 1)
	alone[0].start(t)
	for _, protocol := range []int{2, 3} {
		r := redis.NewClient(&redis.Options{Addr: alone[0].address, Protocol: protocol})
		check(t, r)
		require.NoError(t, r.Close())
	}
	three := servers(t, 3)
	for _, s := range three {
		s.start(t)
	}
	leader(t, three)
	for _, s := range three {
		r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{s.address}})
		check(t, r)
		require.NoError(t, r.Close())
	}
	r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: three[0].peers,
		ClusterStateReloadInterval: 200 * time.Millisecond}) // it asks for the leader only then
	defer r.Close()
	require.NoError(t, r.Set(ctx, "5", 55, 0).Err())
	leader(t, three).kill()
	started := time.Now()
	for err := error(io.EOF); err != nil; err = r.Set(ctx, "6", 66, 0).Err() {
		require.Less(t, time.Since(started), 20*time.Second, err)
	}
	got, err := r.Get(ctx, "5").Result()
	require.NoError(t, err)
	require.Equal(t, "55", got)
}

// names does with texts what programs of others do: go-redis, and redis-cli if the system has it.
func names(t *testing.T, s *server) {
	ctx := t.Context()
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	require.NoError(t, r.Set(ctx, "user:17", "anna \x00\r\n", time.Minute).Err())
	text, err := r.Get(ctx, "user:17").Result()
	require.NoError(t, err)
	require.Equal(t, "anna \x00\r\n", text)
	sum, err := r.Incr(ctx, "visits").Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, sum)
	require.ErrorContains(t, r.Incr(ctx, "user:17").Err(), "ERR value is not an integer")
	float, err := r.IncrByFloat(ctx, "visits", 0.5).Result()
	require.NoError(t, err)
	require.InDelta(t, 1.5, float, 0)
	p := r.Pipeline()
	for i := range 500 {
		p.Set(ctx, fmt.Sprintf("many:%d", i), i, 0)
	}
	_, err = p.Exec(ctx)
	require.NoError(t, err)
	n := 0
	for keys := r.Scan(ctx, 0, "many:*", 100).Iterator(); keys.Next(ctx); n++ {
	}
	require.Equal(t, 500, n)
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Log("redis-cli is not asked: it is not installed")
		return
	}
	host, port, err := net.SplitHostPort(s.address)
	require.NoError(t, err)
	for _, x := range [][]string{{"OK", "SET", "a b", "c"}, {"c", "GET", "a b"}, {"", "GET", "absent"},
		{"1", "DEL", "a b"}, {"502", "DBSIZE"}, {"user:17", "--scan", "--pattern", "user:*"}} {
		out, err := exec.Command(cli, append([]string{"-h", host, "-p", port}, x[1:]...)...).CombinedOutput()
		require.NoError(t, err)
		require.Equal(t, x[0]+"\n", string(out), "%v", x)
	}
}

// check calls the common commands.
func check(t *testing.T, r redis.UniversalClient) {
	ctx := t.Context()
	require.NoError(t, r.Set(ctx, "1", 10, 0).Err())
	_, err := r.Get(ctx, "404").Result()
	require.ErrorIs(t, err, redis.Nil)
	sum, err := r.IncrBy(ctx, "1", 5).Result()
	require.NoError(t, err)
	require.EqualValues(t, 15, sum)
	set, err := r.SetNX(ctx, "1", 7, 0).Result()
	require.NoError(t, err)
	require.False(t, set)
	require.NoError(t, r.Set(ctx, "2", 20, time.Minute).Err())
	left, err := r.TTL(ctx, "2").Result()
	require.NoError(t, err)
	require.Equal(t, time.Minute, left)
	p := r.Pipeline()
	var gets []*redis.StringCmd
	for i := range 500 {
		p.Set(ctx, strconv.Itoa(1000+i), i, 0)
		gets = append(gets, p.Get(ctx, strconv.Itoa(1000+i)))
	}
	_, err = p.Exec(ctx)
	require.NoError(t, err)
	for i, g := range gets {
		require.Equal(t, strconv.Itoa(i), g.Val())
	}
	n := 0
	if single, ok := r.(*redis.Client); ok {
		for keys := single.Scan(ctx, 0, "1[0-9][0-9][0-9]", 100).Iterator(); keys.Next(ctx); n++ {
		}
		require.Equal(t, 500, n)
	}
	pairs, err := r.Do(ctx, "VK.RANGE", 1, 2).StringSlice()
	require.NoError(t, err)
	require.Equal(t, []string{"1", "15", "2", "20"}, pairs)
	deleted, err := r.Del(ctx, "1").Result()
	require.NoError(t, err)
	require.EqualValues(t, 1, deleted)
}

// Three servers talk to each other and to clients by TLS, and ask for a password. Others learn nothing.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, signers := certificate(t, dir)
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("open sesame\n"), 0o600))
	three := servers(t, 3)
	for _, s := range three {
		s.flags = []string{"--tls-cert", cert, "--tls-key", key, "--tls-ca", cert, "--password-file", secret}
		s.start(t)
	}
	r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: three[0].peers, Password: "open sesame",
		TLSConfig: &tls.Config{RootCAs: signers}, ClusterStateReloadInterval: 200 * time.Millisecond})
	defer r.Close()
	require.Eventually(t, func() bool { return r.Set(t.Context(), "1", 1, 0).Err() == nil }, 20*time.Second,
		20*time.Millisecond)
	check(t, r)
	plain := redis.NewClient(&redis.Options{Addr: three[0].address, MaxRetries: -1})
	defer plain.Close()
	require.Error(t, plain.Ping(t.Context()).Err())
	locked := redis.NewClient(&redis.Options{Addr: three[0].address, TLSConfig: &tls.Config{RootCAs: signers}})
	defer locked.Close()
	require.ErrorContains(t, locked.Ping(t.Context()).Err(), "NOAUTH")
	_, port, err := net.SplitHostPort(three[0].address)
	require.NoError(t, err)
	n, err := strconv.Atoi(port)
	require.NoError(t, err)
	c, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", n+10000), &tls.Config{RootCAs: signers})
	if err == nil { // a client learns of the refusal when it reads
		require.NoError(t, c.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = c.Read(make([]byte, 1))
	}
	require.ErrorContains(t, err, "certificate required")
}

// certificate writes a certificate for this machine, which signs itself, and its key.
func certificate(t *testing.T, dir string) (cert, key string, signers *x509.CertPool) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(crand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		text := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	cert, key = write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
	signers = x509.NewCertPool()
	text, err := os.ReadFile(cert)
	require.NoError(t, err)
	require.True(t, signers.AppendCertsFromPEM(text))
	return cert, key, signers
}
