package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// flown has servers answer Flight, each as far from its port for Redis.
func flown(t *testing.T, all []*server) (addresses []string) {
	for _, s := range all {
		host, port, err := net.SplitHostPort(s.address)
		require.NoError(t, err)
		n, err := strconv.Atoi(port)
		require.NoError(t, err)
		at := net.JoinHostPort(host, strconv.Itoa(n+5000))
		s.flags = append(append([]string{}, s.flags...), "--flight", at)
		addresses = append(addresses, at)
	}
	return addresses
}

// vkds runs the command and returns what it prints, and its error with what it complains about.
func vkds(ctx context.Context, in string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, tool, arguments...)
	c.Stdin = strings.NewReader(in)
	var complaints bytes.Buffer
	c.Stderr = &complaints
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, complaints.Bytes())
	}
	return string(out), err
}

// table writes pairs, whose values are the keys less 7, and returns its path.
func table(t *testing.T, pairs int) string {
	var b bytes.Buffer
	for i := range pairs {
		fmt.Fprintf(&b, "%d,%d\n", i, i-7)
	}
	path := filepath.Join(t.TempDir(), "pairs.csv")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o600))
	return path
}

// there checks that a server has all pairs of a table up to one, and no wrong ones.
func there(t *testing.T, at string, sure, pairs int) (found int) {
	var keys strings.Builder
	for i := range pairs {
		fmt.Fprintln(&keys, i)
	}
	out, err := vkds(t.Context(), keys.String(), "get", "--server", at)
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(out), "\n")[1:]
	require.Len(t, lines, pairs)
	for i, line := range lines {
		switch line {
		case fmt.Sprintf("%d,%d", i, i-7):
			found++
		case fmt.Sprintf("%d,", i):
			require.GreaterOrEqual(t, i, sure, "it was acknowledged")
		default:
			t.Fatalf("%d is %s", i, line)
		}
	}
	return found
}

var stored = regexp.MustCompile(`the first ([0-9,]+) rows are stored`)

// A server is killed in the middle of a load: the rows that the client says are stored are there. The same load then
// completes.
func TestKilledLoad(t *testing.T) {
	s := servers(t, 1)[0]
	at := flown(t, []*server{s})[0]
	const pairs = 400_000
	path := table(t, pairs)
	partly := false
	for round := range max(2, 20*stress.Level) {
		s.start(t)
		go func() {
			time.Sleep(time.Duration(100+rand.IntN(500)) * time.Millisecond)
			_ = s.cmd.Process.Kill()
		}()
		_, err := vkds(t.Context(), "", "update", "--server", at, path)
		_ = s.cmd.Wait()
		sure := pairs
		if err != nil {
			require.Equal(t, 1, strings.Count(err.Error(), "\n"), "%v", err)
			sure = 0 // unless it was killed before the load began
			if m := stored.FindStringSubmatch(err.Error()); m != nil {
				sure, err = strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
				require.NoError(t, err)
			}
		}
		s.start(t)
		found := there(t, at, sure, pairs)
		partly = partly || sure > 0 && found < pairs
		t.Logf("round %d: %d rows were acknowledged, %d are there", round, sure, found)
		out, err := vkds(t.Context(), "", "update", "--server", at, path)
		require.NoError(t, err)
		require.Contains(t, out, fmt.Sprintf("inserted,%d\nassigned,%d\nskipped,0\npairs,%d\n", pairs-found, found,
			pairs))
		s.kill()
		require.NoError(t, os.RemoveAll(s.dir))
	}
	require.True(t, partly || stress.Level == 0, "no load was killed in its middle")
}

// With three servers, a client finds the leader from any of them, also while another one takes over.
func TestBulkOfThree(t *testing.T) {
	all := servers(t, 3)
	at := flown(t, all)
	for _, s := range all {
		s.start(t)
	}
	leader(t, all)
	const pairs = 200_000
	path := table(t, pairs)
	for i, a := range at {
		out, err := vkds(t.Context(), "", "update", "--server", a, path)
		require.NoError(t, err)
		require.Contains(t, out, fmt.Sprintf("pairs,%d\n", pairs), "server %d", i)
		out, err = vkds(t.Context(), "", "get", "--server", a, "7", "8", strconv.Itoa(pairs))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("key,value\n7,0\n8,1\n%d,\n", pairs), out)
	}
	for range max(1, 10*stress.Level) {
		killed := leader(t, all)
		go func() {
			time.Sleep(time.Duration(50+rand.IntN(200)) * time.Millisecond)
			_ = killed.cmd.Process.Kill()
		}()
		_, err := vkds(t.Context(), "", "update", "--server", strings.Join(at, ","), path)
		_ = killed.cmd.Wait()
		if err != nil { // a part may be stored or not, and it says so
			require.Regexp(t, stored, err.Error())
		}
		there(t, strings.Join(at, ","), pairs, pairs) // all were there before
		out, err := vkds(t.Context(), "", "delete", "--server", strings.Join(at, ","), "5", "5", "-q")
		require.NoError(t, err)
		require.Contains(t, out, "deleted,1\nabsent,1\n")
		killed.start(t)
		_, err = vkds(t.Context(), "", "update", "--server", strings.Join(at, ","), path)
		require.NoError(t, err)
	}
	same := redis.NewClient(&redis.Options{Addr: leader(t, all).address})
	defer same.Close()
	value, err := same.Get(t.Context(), "100").Result()
	require.NoError(t, err)
	require.Equal(t, "93", value)
}

// The leader is stopped in the middle of a load: the client goes on with the next one, and no row is stored twice.
func TestStoppedLoad(t *testing.T) {
	all := servers(t, 3)
	at := flown(t, all)
	for _, s := range all {
		s.start(t)
	}
	const pairs = 400_000
	path := table(t, pairs)
	stopped := leader(t, all)
	keys := redis.NewClient(&redis.Options{Addr: stopped.address})
	defer keys.Close()
	ended := make(chan error, 1)
	go func() {
		for {
			n, err := keys.DBSize(t.Context()).Result()
			if err != nil || n > pairs/10 {
				ended <- errors.Join(err, stopped.cmd.Process.Signal(syscall.SIGTERM), stopped.cmd.Wait())
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	out, err := vkds(t.Context(), "", "update", "--server", strings.Join(at, ","), path)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	require.Contains(t, out, fmt.Sprintf("inserted,%d\nassigned,0\nskipped,0\npairs,%[1]d\n", pairs))
	left := slices.DeleteFunc(slices.Clone(all), func(s *server) bool { return s == stopped })
	require.NotEqual(t, stopped, leader(t, left))
	require.Equal(t, pairs, there(t, strings.Join(at, ","), pairs, pairs))
	stopped.start(t)
}

// A leader is paused while a client asks: the client doesn't wait for it, and asks the next one.
func TestBulkOfPaused(t *testing.T) {
	all := servers(t, 3)
	at := strings.Join(flown(t, all), ",")
	for _, s := range all {
		s.start(t)
	}
	paused := leader(t, all)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, tool, "get", "--server", at)
	in, err := c.StdinPipe()
	require.NoError(t, err)
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	const first, second = 1 << 20, 1000 // it asks for so many keys at a time
	answers := bufio.NewReader(out)
	go func() { _, _ = io.WriteString(in, strings.Repeat("7\n", first)) }()
	for range 1 + first {
		_, err := answers.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, paused.cmd.Process.Signal(syscall.SIGSTOP))
	_, err = io.WriteString(in, strings.Repeat("8\n", second))
	require.NoError(t, err)
	require.NoError(t, in.Close())
	rest, err := io.ReadAll(answers)
	require.NoError(t, err)
	require.NoError(t, c.Wait())
	require.Equal(t, strings.Repeat("8,\n", second), string(rest))
}

// Flight has the TLS and the password of the port for Redis. Others learn nothing.
func TestBulkTrust(t *testing.T) {
	dir := t.TempDir()
	cert, key, _ := certificate(t, dir)
	secret, wrong := filepath.Join(dir, "secret"), filepath.Join(dir, "wrong")
	require.NoError(t, os.WriteFile(secret, []byte("open sesame\n"), 0o600))
	require.NoError(t, os.WriteFile(wrong, []byte("sesame\n"), 0o600))
	s := servers(t, 1)[0]
	s.flags = []string{"--tls-cert", cert, "--tls-key", key, "--password-file", secret, "--key", "text"}
	at := flown(t, []*server{s})[0]
	s.start(t)
	out, err := vkds(t.Context(), "a b,1\n\"x,y\",2\n", "update", "--no-header", "--server", at, "--tls-ca", cert,
		"--password-file", secret, "-")
	require.NoError(t, err)
	require.Equal(t, "measure,value\ninserted,2\nassigned,0\nskipped,0\npairs,2\n", out)
	out, err = vkds(t.Context(), "", "get", "--server", "grpc+tls://"+at, "--tls-ca", cert, "--password-file", secret,
		"x,y", "z", "a b")
	require.NoError(t, err)
	require.Equal(t, "key,value\n\"x,y\",2\nz,\na b,1\n", out)
	for _, x := range []struct {
		want      string
		arguments []string
	}{
		{"the password is missing or wrong", []string{"--tls-ca", cert}},
		{"the password is missing or wrong", []string{"--tls-ca", cert, "--password-file", wrong}},
		{"certificate signed by unknown authority", []string{"--server", "grpc+tls://" + at, "--password-file",
			secret}},
		{"error reading server preface", []string{"--password-file", secret}},
		{"has no certificate", []string{"--tls-ca", secret, "--password-file", secret}},
	} {
		_, err = vkds(t.Context(), "", append([]string{"get", "--server", at, "x"}, x.arguments...)...)
		require.ErrorContains(t, err, x.want)
		require.Equal(t, 1, strings.Count(err.Error(), "\n"), "%v", err)
	}
}

// A password that leaves the machine in the clear is warned of, once, by both sides.
func TestPasswordInTheClear(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux connects to 0.0.0.0")
	}
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("open sesame\n"), 0o600))
	s := servers(t, 1)[0]
	s.flags = []string{"--password-file", secret}
	at := flown(t, []*server{s})[0]
	warned := func(at string) int {
		c := exec.Command(tool, "get", "--server", at, "--password-file", secret, "7")
		var complaints bytes.Buffer
		c.Stderr = &complaints
		require.NoError(t, c.Run(), "%s", complaints.Bytes())
		return strings.Count(complaints.String(), "without TLS")
	}
	logged := func() int {
		text, err := os.ReadFile(s.log.Name())
		require.NoError(t, err)
		return strings.Count(string(text), "without TLS")
	}
	s.start(t)
	require.Zero(t, logged())
	require.Zero(t, warned(at))
	s.kill()
	everywhere := strings.Replace(at, "127.0.0.1", "0.0.0.0", 1)
	s.flags[slices.Index(s.flags, at)] = everywhere
	s.start(t)
	require.Equal(t, 1, logged())
	require.Equal(t, 1, warned("grpc://"+everywhere))
	require.Zero(t, warned(at))

	// A server on this machine names one that may be elsewhere.
	all := shards(t, 2, 1)
	both := flown(t, all)
	near := all[1].address
	all[1].listen, all[1].address = near, strings.Replace(near, "127.0.0.1", "0.0.0.0", 1)
	for _, s := range all {
		s.flags = append(s.flags, "--password-file", secret)
		s.flags[slices.Index(s.flags, near)] = all[1].address
		s.start(t)
	}
	require.Equal(t, 1, warned(both[0]))
}

// A load into two shards goes to both, and so do questions.
func TestBulkOfShards(t *testing.T) {
	all := shards(t, 2, 1)
	at := flown(t, all)
	for _, s := range all {
		s.start(t)
	}
	const pairs = 20_000
	out, err := vkds(t.Context(), "", "update", "--server", at[0], table(t, pairs))
	require.NoError(t, err)
	require.Contains(t, out, fmt.Sprintf("inserted,%d\nassigned,0\nskipped,0\npairs,%[1]d\n", pairs))
	require.Equal(t, pairs, there(t, at[1], pairs, pairs))
	r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{all[0].address}})
	defer r.Close()
	for i := range 100 {
		value, err := r.Get(t.Context(), strconv.Itoa(i)).Result()
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(i-7), value)
	}
}
