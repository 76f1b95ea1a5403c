package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
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

// The system lets the log grow no further: the server ends and says so, and what it had answered is there when it may
// grow again.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no limit on the size of files")
	}
	s := servers(t, 1)[0]
	for round := range 2 + stress.Level {
		s.shell = fmt.Sprintf("ulimit -f %d; ", 2048+rand.IntN(4096)) // of 512 bytes, or of 1,024
		s.start(t)
		c := newClient([]*server{s})
		answered, sent := int64(0), int64(0)
		for answered == sent {
			require.Less(t, sent, int64(10_000), "it goes on and on")
			arguments := []any{"MSET", "0", sent + 1}
			for i := range 2000 {
				arguments = append(arguments, rand.Int64N(1<<40)+1, i)
			}
			sent++
			if _, done := c.do(t.Context(), arguments...); done {
				answered = sent
			}
		}
		c.close()
		require.Error(t, s.cmd.Wait())
		s.cmd = nil
		log, err := os.ReadFile(s.log.Name())
		require.NoError(t, err)
		lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
		require.Contains(t, string(lines[len(lines)-1]), filepath.Join(s.dir, "log.db"), "round %d", round)
		require.Contains(t, string(lines[len(lines)-1]), "file too large")

		s.shell = ""
		s.start(t)
		c = newClient([]*server{s})
		is, done := c.do(t.Context(), "GET", "0")
		require.True(t, done)
		require.Contains(t, []any{strconv.FormatInt(answered, 10), strconv.FormatInt(sent, 10)}, is)
		_, done = c.do(t.Context(), "DEL", "0")
		require.True(t, done)
		c.close()
		s.kill()
		require.NoError(t, os.RemoveAll(s.dir))
	}
}

// raw sends bytes to a server.
func raw(t testing.TB, s *server) net.Conn {
	c, err := net.Dial("tcp", s.address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Clients that ask for much and read nothing cost others neither their time nor the server its memory.
func TestSlowReaders(t *testing.T) {
	s := servers(t, 1)[0]
	s.pages(t)
	s.start(t)
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	p := r.Pipeline()
	for i := range 100_000 {
		p.Set(t.Context(), strconv.Itoa(i), i, 0)
	}
	_, err := p.Exec(t.Context())
	require.NoError(t, err)
	before := s.metric(t, "process_resident_memory_bytes")
	for range 30 {
		_, err := raw(t, s).Write(bytes.Repeat([]byte("VK.RANGE - +\r\n"), 20))
		require.NoError(t, err)
	}
	began := time.Now()
	for i := range 100 {
		require.NoError(t, r.Set(t.Context(), strconv.Itoa(i), i, 0).Err())
		pairs, err := r.Do(t.Context(), "VK.RANGE", 1, 3).StringSlice()
		require.NoError(t, err)
		require.Len(t, pairs, 6)
	}
	require.Less(t, time.Since(began), 20*time.Second)
	more := s.metric(t, "process_resident_memory_bytes") - before
	t.Logf("%.0f MB more", more/1e6)
	// Answers share 256 MiB, and the collector begins when there is as much garbage again.
	require.Less(t, more, 7e8, "20 answers of 30 clients are 2 GB")
}

// Ten thousand clients are served at a time, and leave nothing behind.
func TestManyConnections(t *testing.T) {
	n := 500
	if stress.Level > 0 {
		n = 10_000
	}
	s := servers(t, 1)[0]
	s.pages(t)
	s.start(t)
	quiet := s.metric(t, "go_goroutines")
	all := make([]net.Conn, n)
	for i := range all {
		all[i] = raw(t, s)
	}
	for range 3 {
		for i, c := range all {
			_, err := fmt.Fprintf(c, "INCRBY %d 1\r\n", i%100)
			require.NoError(t, err)
		}
		for _, c := range all {
			require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
			line, err := bufio.NewReader(c).ReadString('\n')
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(line, ":"), line)
		}
	}
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	got, err := r.Get(t.Context(), "7").Result()
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(3*n/100), got)
	for _, c := range all {
		require.NoError(t, c.Close())
	}
	require.Eventually(t, func() bool { return s.metric(t, "go_goroutines") < quiet+20 }, 20*time.Second,
		50*time.Millisecond)
}

// pages has the server serve its metrics.
func (s *server) pages(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.http = l.Addr().String()
	require.NoError(t, l.Close())
	s.flags = append(s.flags, "--http", s.http, "--max-clients", "20000")
}

// metric returns a number of the server's metrics.
func (s *server) metric(t *testing.T, name string) float64 {
	r, err := http.Get("http://" + s.http + "/metrics")
	require.NoError(t, err)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n"+name+" ")
	require.True(t, found, name)
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(line, 64)
	require.NoError(t, err)
	return n
}

// Under a load of all kinds, with clients that come and go, memory, goroutines and descriptors stay as they were after
// a fifth of the time.
func TestSoak(t *testing.T) {
	d := 2 * time.Second
	if stress.Level > 0 {
		d = time.Duration(stress.Level) * 10 * time.Minute
	}
	s := servers(t, 1)[0]
	s.pages(t)
	s.start(t)
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	var g sync.WaitGroup
	var done atomic.Int64
	for range 8 {
		g.Go(func() {
			for ctx.Err() == nil {
				visit(ctx, t, s, &done)
			}
		})
	}
	type figures struct{ memory, goroutines, files float64 }
	look := func() figures {
		return figures{s.metric(t, "process_resident_memory_bytes"), s.metric(t, "go_goroutines"),
			s.metric(t, "process_open_fds")}
	}
	var early, late figures
	for i := range 100 {
		time.Sleep(d / 110)
		x := look()
		worst := &early
		if i >= 20 {
			worst = &late
		}
		*worst = figures{max(worst.memory, x.memory), max(worst.goroutines, x.goroutines), max(worst.files, x.files)}
	}
	g.Wait()
	require.Greater(t, done.Load(), int64(100))
	t.Logf("%d commands; after a fifth of the time at most %.0f MB, %.0f goroutines, %.0f files; later %.0f MB, %.0f, "+
		"%.0f", done.Load(), early.memory/1e6, early.goroutines, early.files, late.memory/1e6, late.goroutines,
		late.files)
	require.Less(t, late.memory, 1.5*early.memory+64e6)
	require.Less(t, late.goroutines, early.goroutines+20)
	require.Less(t, late.files, early.files+20)
}

// visit is what a client does between its coming and its going.
func visit(ctx context.Context, t *testing.T, s *server, done *atomic.Int64) {
	r := redis.NewClient(&redis.Options{Addr: s.address, MaxRetries: -1, PoolSize: 1})
	defer r.Close()
	for range 20 {
		p := r.Pipeline()
		for range 1 + rand.IntN(200) {
			k := strconv.Itoa(rand.IntN(200_000))
			switch rand.IntN(8) {
			case 0:
				p.Set(ctx, k, 1, time.Duration(1+rand.IntN(3000))*time.Millisecond)
			case 1:
				p.Del(ctx, k)
			case 2:
				p.Incr(ctx, k)
			case 3:
				p.Do(ctx, "VK.RANGE", k, "+", "LIMIT", 1+rand.IntN(500))
			case 4:
				p.Do(ctx, "VK.FLOOR", k)
			case 5:
				p.Do(ctx, "SCAN", 0, "COUNT", 100)
			default:
				p.Get(ctx, k)
			}
		}
		if rand.IntN(50) == 0 {
			p.Do(ctx, "VK.TOP", 10)
		}
		commands, err := p.Exec(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && err != redis.Nil {
			t.Errorf("%v", err)
			return
		}
		done.Add(int64(len(commands)))
		time.Sleep(20 * time.Millisecond)
	}
}
