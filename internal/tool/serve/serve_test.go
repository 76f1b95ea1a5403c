package serve

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/dictfile"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"github.com/vkds/vkds/test/stress"
	"github.com/vkds/vkds/test/testdevice"
	"golang.org/x/sync/semaphore"
)

var integers = replica.Types{Key: keytype.Int64, Value: keytype.Int64}

// started serves until the test ends.
func started(t testing.TB, r replica.Options, o Options) (s *Server, address string) {
	if r.Dir = t.TempDir(); r.Types == (replica.Types{}) {
		r.Types = integers
	}
	s, err := Open(t.Context(), r, o)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, s.Close())
	})
	return s, l.Addr().String()
}

// caller is a client that sees each byte.
type caller struct {
	t    testing.TB
	conn net.Conn
	buf  []byte
}

func dial(t testing.TB, address string) *caller {
	c, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return &caller{t: t, conn: c}
}

// pipeline sends commands at once and returns the replies, as text.
func (c *caller) pipeline(commands ...string) (replies []string) {
	var all [][]string
	for _, line := range commands {
		all = append(all, strings.Fields(line))
	}
	return bytesOf(c, all...)
}

func (c *caller) reply() string {
	for {
		if n, r := redcon.ReadNextRESP(c.buf); n > 0 {
			text := plain(r)
			c.buf = c.buf[n:]
			return text
		}
		part := make([]byte, 1<<16)
		n, err := c.conn.Read(part)
		require.NoError(c.t, err)
		c.buf = append(c.buf, part[:n]...)
	}
}

// array reads a reply of several parts.
func (c *caller) array() (parts []redcon.RESP) {
	for {
		if n, r := redcon.ReadNextRESP(c.buf); n > 0 {
			r.ForEach(func(x redcon.RESP) bool {
				parts = append(parts, x)
				return true
			})
			c.buf = c.buf[n:]
			return parts
		}
		part := make([]byte, 1<<16)
		n, err := c.conn.Read(part)
		require.NoError(c.t, err)
		c.buf = append(c.buf, part[:n]...)
	}
}

// plain returns a reply as redis-cli does, more or less.
func plain(r redcon.RESP) string {
	switch r.Type {
	case redcon.Array:
		if bytes.HasPrefix(r.Raw, []byte("*-1")) {
			return "nil"
		}
		var parts []string
		r.ForEach(func(x redcon.RESP) bool {
			parts = append(parts, plain(x))
			return true
		})
		return "[" + strings.Join(parts, " ") + "]"
	case redcon.Bulk:
		if r.Data == nil {
			return "nil"
		}
	case redcon.Integer:
		return ":" + r.String()
	case redcon.Error:
		return "-" + r.String()
	}
	return r.String()
}

// says checks replies to commands, in one pipeline and one by one.
func says(t *testing.T, c *caller, lines ...[2]string) {
	t.Helper()
	for _, l := range lines {
		require.Equal(t, []string{l[1]}, c.pipeline(l[0]), l[0])
	}
}

func TestCommands(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	c := dial(t, address)
	says(t, c,
		[2]string{"SET 1 10", "OK"}, [2]string{"get 1", "10"}, [2]string{"GET 2", "nil"},
		[2]string{"SET 1 11 NX", "nil"}, [2]string{"SET 1 11 XX GET", "10"}, [2]string{"SET 3 1 XX", "nil"},
		[2]string{"SET 3 1 NX GET", "nil"}, [2]string{"GET 3", "1"},
		[2]string{"MSET 4 40 5 50 -6 60", "OK"}, [2]string{"MGET 5 7 4 -6", "[50 nil 40 60]"},
		[2]string{"EXISTS 4 4 7", ":2"}, [2]string{"DEL 4 4 7", ":1"}, [2]string{"DBSIZE", ":4"},
		[2]string{"INCR 3", ":2"}, [2]string{"INCRBY 3 40", ":42"}, [2]string{"DECRBY 3 2", ":40"},
		[2]string{"DECR 3", ":39"},
		[2]string{"SET 3 9223372036854775807", "OK"}, [2]string{"INCR 3", "-ERR increment or decrement would overflow"},
		[2]string{"GET 3", "9223372036854775807"},
		[2]string{"SCAN 0", "[0 [-6 1 3 5]]"}, [2]string{"SCAN 0 COUNT 2 MATCH *", "[9223372036854775810 [-6 1]]"},
		[2]string{"SCAN 9223372036854775810 COUNT 2", "[9223372036854775814 [3 5]]"},
		[2]string{"SCAN 9223372036854775814", "[0 []]"}, [2]string{"SCAN 0 MATCH -?", "[0 [-6]]"},
		[2]string{"SCAN 0 MATCH [1-3]", "[0 [1 3]]"}, [2]string{"SCAN 0 MATCH [", "[0 []]"},
		[2]string{"VK.RANGE 1 3", "[1 11 3 9223372036854775807]"}, [2]string{"VK.RANGE - + LIMIT 2", "[-6 60 1 11]"},
		[2]string{"VK.RANGE 3 1", "[]"}, [2]string{"VK.COUNT -6 4", ":3"},
		[2]string{"VK.FLOOR 4", "[3 9223372036854775807]"}, [2]string{"VK.FLOOR -7", "nil"},
		[2]string{"VK.CEIL 2", "[3 9223372036854775807]"}, [2]string{"VK.CEIL 6", "nil"},
		[2]string{"VK.TOP 2", "[3 9223372036854775807 -6 60]"}, [2]string{"VK.TOP 1 LEAST", "[1 11]"},
		[2]string{"TTL 1", ":-1"}, [2]string{"TTL 99", ":-2"}, [2]string{"EXPIRE 1 100", ":1"},
		[2]string{"TTL 1", ":100"},
		[2]string{"SET 1 12 KEEPTTL", "OK"}, [2]string{"TTL 1", ":100"}, [2]string{"PERSIST 1", ":1"},
		[2]string{"PERSIST 1", ":0"}, [2]string{"SET 1 1 EX 50", "OK"}, [2]string{"SET 1 1", "OK"},
		[2]string{"TTL 1", ":-1"},
		[2]string{"EXPIRE 1 -1", ":1"}, [2]string{"EXISTS 1", ":0"}, [2]string{"EXPIRE 1 1", ":0"},
		[2]string{"PING", "PONG"}, [2]string{"PING hi", "hi"}, [2]string{"ECHO x", "x"}, [2]string{"SELECT 0", "OK"},
		[2]string{"CLIENT SETNAME me", "OK"}, [2]string{"CLIENT GETNAME", "me"},
		[2]string{"CLIENT SETINFO LIB-NAME x", "OK"},
		[2]string{"COMMAND COUNT", ":" + strconv.Itoa(len(commands))},
		[2]string{"COMMAND INFO get nosuch", "[[get :2 [readonly fast] :1 :1 :1] nil]"},
		[2]string{"CLUSTER SLOTS", "-ERR This instance has cluster support disabled"},
		[2]string{"AUTH x", "-ERR AUTH <password> called without any password configured for the default user."},
	)
	for _, bad := range []string{"NOSUCH", "GET", "GET a", "GET 1 2", "SET 1", "SET 1 x", "SET 1 1 EX", "SET 1 1 EX 0",
		"SET 1 1 EX x", "SET 1 1 NX XX", "SET 1 1 KEEPTTL EX 5", "SET 1 1 FOO", "MSET 1 2 3", "MGET 1 b", "INCRBY 1 x",
		"INCRBYFLOAT 1 1.5", "DECRBY 1 -9223372036854775808", "SCAN x", "SCAN 0 COUNT 0", "SCAN 0 COUNT", "VK.RANGE 1",
		"VK.RANGE 1 2 LIMIT 0", "VK.RANGE 1 2 3", "VK.COUNT a b", "VK.TOP 0", "VK.TOP 1 MOST", "VK.SNAPSHOT ../x",
		"HELLO 4", "CLIENT SETNAME a\x01", "HELLO 2 SETNAME " + strings.Repeat("x", mostName+1),
		"GET +1", "SET 1 +1", "INCRBY 1 +1", "EXPIRE 1 +1", "SCAN 0 COUNT +1",
		"CLIENT KILL", "SELECT 1", "EXPIRE 1 x", "EXPIRE 1 9223372036854775807", "GET " + strings.Repeat("9", 100)} {
		got := c.pipeline(bad, "PING")
		require.True(t, strings.HasPrefix(got[0], "-"), "%s: %s", bad, got[0])
		require.Equal(t, "PONG", got[1], bad)
	}
	path := c.pipeline("VK.SNAPSHOT monday")[0]
	require.Equal(t, filepath.Join(s.config.Dir, "exported", "monday.vkds"), path)
	r, err := dictfile.Open(t.Context(), path)
	require.NoError(t, err)
	key, value, err := dictfile.Types(r.Header())
	require.NoError(t, err)
	require.Equal(t, integers, replica.Types{Key: key, Value: value})
	require.EqualValues(t, 3, r.Header().Pairs)
	require.NoError(t, r.Close())
	for i := range mostExported - 1 {
		require.Contains(t, c.pipeline(fmt.Sprintf("VK.SNAPSHOT a%d", i))[0], s.config.Dir)
	}
	got := c.pipeline("VK.SNAPSHOT b", "VK.SNAPSHOT monday")
	require.Equal(t, "-ERR exported has 16 files, the most allowed: take one of their names, or delete one", got[0])
	require.Equal(t, path, got[1])
}

// The bytes of RESP3, and a password.
func TestHello(t *testing.T) {
	_, address := started(t, replica.Options{}, Options{Password: "secret"})
	c := dial(t, address)
	require.Equal(t, []string{"-NOAUTH Authentication required.", "-NOAUTH Authentication required."},
		c.pipeline("GET 1", "PING"))
	require.Contains(t, c.pipeline("AUTH wrong")[0], "WRONGPASS")
	require.Contains(t, c.pipeline("HELLO 3 AUTH other secret")[0], "WRONGPASS")
	require.Contains(t, c.pipeline("HELLO 3")[0], "NOAUTH")
	_, err := c.conn.Write([]byte("HELLO 3 AUTH default secret SETNAME me\r\nGET 1\r\nVK.FLOOR 1\r\n" +
		"CLIENT GETNAME\r\nQUIT\r\n"))
	require.NoError(t, err)
	all, err := io.ReadAll(c.conn)
	require.NoError(t, err)
	require.Contains(t, string(all), "%7\r\n$6\r\nserver\r\n")
	require.Contains(t, string(all), "$5\r\nproto\r\n:3\r\n")
	require.True(t, strings.HasSuffix(string(all), "\r\n_\r\n_\r\n$2\r\nme\r\n+OK\r\n"), "%q", all)
	c = dial(t, address)
	require.Equal(t, []string{"OK", "nil"}, c.pipeline("AUTH secret", "GET 1"))
	require.Equal(t, []string{"OK"}, c.pipeline("AUTH default secret"))
	c = dial(t, address)
	_, _ = c.conn.Write(append([]byte("*2\r\n$4\r\nAUTH\r\n$1000000\r\n"), make([]byte, 1<<16)...))
	require.Contains(t, c.reply(), "more than 16384 bytes", "strangers send little")
}

// Replies of a pipeline come in its order, and each command sees those before it, however reads, writes, queries and
// mistakes are mixed.
func TestPipelines(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	c, pairs := dial(t, address), map[int64]int64{}
	for range 30 << min(stress.Level, 4) {
		var commands, want []string
		share := rand.IntN(4)
		for range 1 + rand.IntN(600) {
			k, v := rand.Int64N(40)-20, rand.Int64N(1000)
			is, there := pairs[k]
			old := "nil"
			if there {
				old = strconv.FormatInt(is, 10)
			}
			command, reply := "", ""
			switch what := rand.IntN(3 + 3*share); {
			case what < 3:
				command, reply = fmt.Sprintf("GET %d", k), old
			case what < 5:
				command, reply = fmt.Sprintf("SET %d %d", k, v), "OK"
				pairs[k] = v
			case what == 5:
				command, reply = fmt.Sprintf("SET %d %d GET", k, v), old
				pairs[k] = v
			case what == 6:
				command, reply = fmt.Sprintf("DEL %d", k), map[bool]string{true: ":1", false: ":0"}[there]
				delete(pairs, k)
			case what == 7:
				command, reply = fmt.Sprintf("INCRBY %d %d", k, v), fmt.Sprintf(":%d", is+v)
				pairs[k] = is + v
			case what == 8:
				command, reply = "DBSIZE", fmt.Sprintf(":%d", len(pairs))
			case what == 9:
				n := 0
				for x := range pairs {
					if x <= k {
						n++
					}
				}
				command, reply = fmt.Sprintf("VK.COUNT - %d", k), fmt.Sprintf(":%d", n)
			case what == 10:
				command, reply = "GET zero", `-ERR the key "zero" is none of type i64`
			default:
				command, reply = "PING", "PONG"
			}
			commands, want = append(commands, command), append(want, reply)
		}
		require.Equal(t, want, c.pipeline(commands...))
	}
	require.Positive(t, s.node.Status().Keys)
}

// A pipeline is one batch, and so is a command with many keys. Writes of many connections share entries.
func TestBatches(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	c := dial(t, address)
	entries := func() uint64 { return s.node.Status().Done }
	before := entries()
	var sets, keys []string
	for i := range 1024 {
		sets = append(sets, fmt.Sprintf("SET %d %d", i, i))
	}
	for i := range 10_000 {
		keys = append(keys, strconv.Itoa(i))
	}
	c.pipeline(sets...)
	c.pipeline(sets...) // by now the buffer has the length of the pipeline
	first := entries() - before
	require.LessOrEqual(t, first, uint64(6), "entries of 2,048 writes")
	got := c.pipeline("MGET " + strings.Join(keys, " "))[0]
	require.Equal(t, 1024, strings.Count(got, " ")+1-strings.Count(got, "nil"))

	var g sync.WaitGroup
	for range 64 {
		g.Go(func() {
			c := dial(t, address)
			for i := range 20 {
				require.Equal(t, []string{"OK"}, c.pipeline(fmt.Sprintf("SET %d 1", i)))
			}
		})
	}
	before = entries()
	g.Wait()
	require.Less(t, entries()-before, uint64(64*20/2), "entries of 1,280 writes")
}

func TestTypes(t *testing.T) {
	types := replica.Types{Key: keytype.IPv4, Value: keytype.Float64}
	_, address := started(t, replica.Options{Types: types}, Options{})
	says(t, dial(t, address),
		[2]string{"SET 10.0.0.7 1.5", "OK"}, [2]string{"INCRBYFLOAT 10.0.0.7 0.25", "1.75"},
		[2]string{"GET 10.0.0.7", "1.75"},
		[2]string{"SET 9.0.0.1 -3", "OK"}, [2]string{"VK.RANGE - 10.0.0.255", "[9.0.0.1 -3 10.0.0.7 1.75]"},
		[2]string{"VK.TOP 1 LEAST", "[9.0.0.1 -3]"},
		[2]string{"INCR 10.0.0.7", "-ERR values are of type f64, which has no INCRBY (INCRBYFLOAT is for f32 and f64)"},
		[2]string{"SET 10.0.0.7 x", `-ERR the value "x" is none of type f64`},
		[2]string{"INCRBYFLOAT 10.0.0.7 1e309", "-ERR value is not a valid float"})
}

// RESP's integers end at 2^63-1.
var texts = replica.Types{Key: keytype.Text, Value: keytype.Text}

// Texts are any bytes, and commands do with them what Redis does. What needs an order says that there is none.
func TestTexts(t *testing.T) {
	s, address := started(t, replica.Options{Types: texts}, Options{})
	c := dial(t, address)
	says(t, c, [2]string{"SET user:17 5", "OK"}, [2]string{"INCRBY user:17 3", ":8"}, [2]string{"GET user:17", "8"},
		[2]string{"INCRBYFLOAT user:17 0.5", "8.5"},
		[2]string{"INCRBYFLOAT user:17 1_0", "-ERR value is not a valid float"},
		[2]string{"INCR user:17", "-ERR value is not an integer or out of range"},
		[2]string{"SET user:17 anna GET", "8.5"}, [2]string{"INCRBYFLOAT user:17 1", "-ERR value is not a valid float"},
		[2]string{"SET user:17 bob NX", "nil"}, [2]string{"MGET user:17 user:18", "[anna nil]"},
		[2]string{"MSET a 1 b 2 a 3", "OK"}, [2]string{"DEL a absent b", ":2"}, [2]string{"DECR counter", ":-1"},
		[2]string{"EXPIRE user:17 100", ":1"}, [2]string{"TTL user:17", ":100"}, [2]string{"PERSIST user:17", ":1"},
		[2]string{"SET brief 1 PX 1", "OK"}, [2]string{"DBSIZE", ":3"},
		[2]string{"SCAN 0 MATCH user:*", "[0 [user:17]]"},
		[2]string{"VK.RANGE - +", "-ERR keys are text, which has no order here (SCAN lists keys)"},
		[2]string{"VK.COUNT - +", "-ERR keys are text, which has no order here (SCAN lists keys)"},
		[2]string{"VK.FLOOR a", "-ERR keys are text, which has no order here (SCAN lists keys)"},
		[2]string{"VK.TOP 1", "-ERR values are text, which has no order here"})
	require.Eventually(t, func() bool { return c.pipeline("EXISTS brief")[0] == ":0" }, 5*time.Second, time.Millisecond)
	got := c.pipeline("VK.CHANGES 0 LIMIT 2", "VK.CHANGES $")
	require.Equal(t, "[:2 user:17 5 user:17 8]", got[0])

	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	long := strings.Repeat("x", keytype.LongestServed)
	r := bytesOf(c, []string{"SET", string(every), "\r\n$-1\r\n"}, []string{"GET", string(every)},
		[]string{"SET", "", ""}, []string{"GET", ""}, []string{"SET", long, long}, []string{"GET", long},
		[]string{"SET", long + "x", "1"}, []string{"SET", "1", long + "x"}, []string{"GET", long + "x"})
	require.Equal(t, []string{"OK", "\r\n$-1\r\n", "OK", "", "OK", long,
		"-ERR the key has 65537 bytes, more than 65536", "-ERR the value has 65537 bytes, more than 65536",
		"-ERR the key has 65537 bytes, more than 65536"}, r)
	require.NoError(t, s.node.Compact())

	// All keys are listed, each once, in however many parts.
	want := map[string]bool{string(every): true, "": true, long: true, "user:17": true, "counter": true}
	for i := range 1000 {
		key := fmt.Sprintf("many:%d", i)
		want[key] = true
		require.Equal(t, []string{"OK"}, c.pipeline("SET "+key+" 1"))
	}
	have := map[string]bool{}
	for cursor := "0"; cursor != "0" || len(have) == 0; {
		all := redcon.AppendArray(nil, 4)
		for _, w := range []string{"SCAN", cursor, "COUNT", "77"} {
			all = redcon.AppendBulkString(all, w)
		}
		_, err := c.conn.Write(all)
		require.NoError(t, err)
		parts := c.array()
		cursor = string(parts[0].Data)
		parts[1].ForEach(func(x redcon.RESP) bool {
			require.False(t, have[string(x.Data)])
			have[string(x.Data)] = true
			return true
		})
	}
	require.Equal(t, want, have)
}

// One SCAN has only so much work, whatever its pattern and its keys are. A server that stops leaves the others.
func TestScanWork(t *testing.T) {
	s, address := started(t, replica.Options{Types: texts}, Options{})
	c := dial(t, address)
	const n = 40
	for i := range n {
		bytesOf(c, []string{"SET", fmt.Sprint(strings.Repeat("a", keytype.LongestServed-2), i+10), ""})
	}
	worst := "*" + strings.Repeat("a", mostPattern-2) + "b"
	for _, x := range []struct {
		match       []string
		most, found int
	}{{nil, 32, n}, {[]string{"MATCH", strings.Repeat("b", mostPattern/2)}, 2, 0}, {[]string{"MATCH", "*1?"}, 32, 10}} {
		cursor, calls, found := "0", 0, 0
		for cursor != "0" || calls == 0 {
			all := redcon.AppendArray(nil, 4+len(x.match))
			for _, w := range append([]string{"SCAN", cursor, "COUNT", "1000"}, x.match...) {
				all = redcon.AppendBulkString(all, w)
			}
			_, err := c.conn.Write(all)
			require.NoError(t, err)
			parts := c.array()
			cursor = string(parts[0].Data)
			parts[1].ForEach(func(redcon.RESP) bool {
				found++
				return true
			})
			calls++
		}
		require.Equal(t, (n+x.most-1)/x.most, calls)
		require.Equal(t, x.found, found)
	}
	got := bytesOf(c, []string{"SCAN", "0", "MATCH", worst + "b"})
	require.Equal(t, []string{"-ERR the pattern has 1025 bytes, more than 1024"}, got)

	var scans [][]string
	for range 300 {
		scans = append(scans, []string{"SCAN", "0", "COUNT", "2", "MATCH", worst})
	}
	time.AfterFunc(200*time.Millisecond, s.cancel)
	began := time.Now()
	require.Equal(t, "-CLUSTERDOWN the server is stopping", bytesOf(c, scans...)[299])
	require.Less(t, time.Since(began), 10*time.Second)

	_, address = started(t, replica.Options{}, Options{})
	c = dial(t, address)
	var sets strings.Builder
	for i := range mostScanned {
		fmt.Fprintf(&sets, " %d 1", i)
	}
	c.pipeline("MSET" + sets.String())
	says(t, c, [2]string{"SCAN 0 COUNT 65537 MATCH 7", fmt.Sprintf("[%d [7]]", uint64(1<<63+mostScanned))},
		[2]string{"SCAN 0 COUNT 65537 MATCH " + worst,
			fmt.Sprintf("[%d []]", uint64(1<<63+mostWork/mostDigits/mostPattern))})
}

// bytesOf sends commands of any bytes.
func bytesOf(c *caller, commands ...[]string) (replies []string) {
	var all []byte
	for _, words := range commands {
		all = redcon.AppendArray(all, len(words))
		for _, w := range words {
			all = redcon.AppendBulkString(all, w)
		}
	}
	go func() { _, _ = c.conn.Write(all) }()
	for range commands {
		replies = append(replies, c.reply())
	}
	return replies
}

// Numbers with names: sums, and the greatest of them.
func TestTextKeys(t *testing.T) {
	_, address := started(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Int64}}, Options{})
	says(t, dial(t, address), [2]string{"MSET a 5 b -3 c 9", "OK"}, [2]string{"INCRBY b 3", ":0"},
		[2]string{"MGET c b x a", "[9 0 nil 5]"}, [2]string{"SET a x", "-ERR the value \"x\" is none of type i64"},
		[2]string{"VK.TOP 2", "[c 9 a 5]"}, [2]string{"DEL c", ":1"}, [2]string{"GET c", "nil"},
		[2]string{"VK.CHANGES 4", "[:5 c nil]"})
	_, address = started(t, replica.Options{Types: replica.Types{Key: keytype.Int64, Value: keytype.Text}}, Options{})
	says(t, dial(t, address), [2]string{"MSET 5 five 7 seven 6 six", "OK"},
		[2]string{"VK.RANGE 6 +", "[6 six 7 seven]"}, [2]string{"VK.FLOOR 5", "[5 five]"},
		[2]string{"SET x 1", "-ERR the key \"x\" is none of type i64"})
}

// An answer of many long texts isn't in memory at once, even if the client has left.
func TestLongAnswers(t *testing.T) {
	s, address := started(t, replica.Options{Types: texts}, Options{})
	c := dial(t, address)
	long := strings.Repeat("x", keytype.LongestServed)
	bytesOf(c, []string{"SET", "k", long})
	const n = 20_000 // 1.3 GB
	for _, leaves := range []bool{false, true} {
		asks := dial(t, address)
		all := redcon.AppendArray(nil, n+1)
		all = redcon.AppendBulkString(all, "MGET")
		for range n {
			all = redcon.AppendBulkString(all, "k")
		}
		_, err := asks.conn.Write(all)
		require.NoError(t, err)
		taken := int64(1)
		if !leaves {
			taken = n*int64(len(long)+10) + 8
		}
		gone := make(chan error, 1)
		go func() {
			_, err := io.CopyN(io.Discard, asks.conn, taken)
			gone <- errors.Join(err, asks.conn.Close())
		}()
		for reads := true; reads || s.clients.Load() > 1; {
			select {
			case err := <-gone:
				require.NoError(t, err)
				reads = false
			default:
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			require.Less(t, m.HeapAlloc, uint64(256<<20))
			time.Sleep(time.Millisecond)
		}
	}
}

func TestLargeSums(t *testing.T) {
	types := replica.Types{Key: keytype.Uint64, Value: keytype.Uint64}
	_, address := started(t, replica.Options{Types: types}, Options{})
	says(t, dial(t, address), [2]string{"SET 1 9223372036854775806", "OK"},
		[2]string{"INCR 1", ":9223372036854775807"}, [2]string{"INCR 1", "9223372036854775808"})
}

// The same on a device.
func TestOnDevice(t *testing.T) {
	s, address := started(t, replica.Options{Device: testdevice.Open(t)}, Options{})
	c := dial(t, address)
	var sets, gets, want []string
	for i := range 1000 {
		sets = append(sets, fmt.Sprintf("SET %d %d", i-500, i))
		gets, want = append(gets, fmt.Sprintf("GET %d", i-500)), append(want, strconv.Itoa(i))
	}
	c.pipeline(sets...)
	require.Equal(t, want, c.pipeline(gets...))
	says(t, c, [2]string{"VK.RANGE -500 -498", "[-500 0 -499 1 -498 2]"}, [2]string{"VK.COUNT - +", ":1000"},
		[2]string{"SCAN 0 COUNT 2", "[9223372036854775310 [-500 -499]]"}, [2]string{"VK.FLOOR 1000", "[499 999]"},
		[2]string{"DEL -500 499 7", ":3"}, [2]string{"INCRBY 8 1000", ":1508"}, [2]string{"DBSIZE", ":997"},
		[2]string{"VK.TOP 1", "[8 1508]"})
	require.NoError(t, s.node.Compact())
}

// Requests from anywhere are answered or refused, without a panic, and others go on.
func FuzzRequest(f *testing.F) {
	for _, seed := range []string{"*1\r\n$4\r\nPING\r\n", "*2\r\n$3\r\nGET\r\n$-2\r\n\r\n", "GET 1\r\n",
		"*3\r\n$3\r\nSET\r\n$1\r\n1\r\n$1\r\n2\r\n",
		"*1\r\n$9223372036854775807\r\n", "*1000000000\r\n", "$5 hello\r\n", "\"\"\"\r\n", "*-1\r\n", "*0\r\n",
		"MSET 1 2 3 4\r\nVK.RANGE - +\r\nSCAN 0\r\n", "HELLO 3\r\nCOMMAND\r\nINFO\r\n"} {
		f.Add([]byte(seed))
	}
	s, _ := started(f, replica.Options{}, Options{})
	f.Fuzz(func(t *testing.T, in []byte) { serveBytes(s, in) })
}

// serveBytes serves a client that sends so many bytes and then leaves.
func serveBytes(s *Server, in []byte) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		defer ours.Close()
		_ = ours.SetDeadline(time.Now().Add(10 * time.Second))
		go func() { _, _ = io.Copy(io.Discard, ours) }()
		_, _ = ours.Write(in)
	}()
	(&conn{s: s, net: theirs, opened: time.Now(), in: make([]byte, 0, smallBuffer), authed: true}).serve()
}

// A command is complete with its last byte, and what is after it stays. A length is digits and no more than nine.
func TestNext(t *testing.T) {
	words := []string{"MGET", "", "7", "$3\r\n", strings.Repeat("x", 2*longestLine), "*"}
	in := redcon.AppendArray(nil, len(words))
	for _, w := range words {
		in = redcon.AppendBulkString(in, w)
	}
	for n := 1; n < len(in); n++ {
		ok, _, rest, err := next(in[:n], nil)
		require.NoError(t, err)
		require.False(t, ok)
		require.Len(t, rest, n)
		require.False(t, new(partial).whole(in[:n]))
	}
	require.True(t, new(partial).whole(in))
	ok, args, rest, err := next(append(in, "GET 1\r\n"...), [][]byte{nil, nil})
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "GET 1\r\n", string(rest))
	for i, a := range args {
		require.Equal(t, words[i], string(a))
	}
	ok, args, rest, err = next([]byte("*0\r\n\r\n"), args)
	require.True(t, ok && err == nil && len(args) == 0 && string(rest) == "\r\n")
	ok, args, _, err = next([]byte("*999999999\r\n$1\r\n7\r\n"), nil)
	require.True(t, !ok && err == nil && cap(args) < 10, "arguments that are only announced take no memory")
	for _, text := range []string{"*-1\r\n", "*\r\n", "*1\n", "*1\rx", "*+1\r\n", "*1x", "*0123456789\r\n", "$1\r\n",
		"*1\r\n*1\r\n", "*1\r\n$-1\r\n", "*1\r\n$\r\n", "*1\r\n$1\r\nab\n", "*1\r\n$1\r\na\ra", "*1\r\n$1234567890"} {
		ok, _, _, err := next([]byte(text), nil)
		require.Error(t, err, "%q", text)
		require.False(t, ok)
		require.True(t, new(partial).whole([]byte(text)), "%q", text)
	}
}

// All cores do the keys of a command and its values. They come in their order, also with absent keys and long values,
// and a mistake among them is answered as in a short command.
func TestManyKeys(t *testing.T) {
	for _, n := range []int{2*share - 1, 2 * share, 5*share + 7, mostOps + 3*share} {
		_, address := started(t, replica.Options{}, Options{})
		c := dial(t, address)
		mset, mget := []string{"MSET"}, []string{"MGET"}
		var want []string
		for i := range n {
			key, value := strconv.Itoa(i-n/2), strconv.FormatInt(rand.Int64()>>rand.IntN(64)-5, 10)
			if mget = append(mget, key); i%7 == 3 {
				want = append(want, "nil")
				continue
			}
			mset, want = append(mset, key, value), append(want, value)
		}
		require.Equal(t, "OK", bytesOf(c, mset)[0])
		require.Equal(t, "["+strings.Join(want, " ")+"]", bytesOf(c, mget)[0])
		mget[0] = "EXISTS"
		require.Equal(t, fmt.Sprint(":", (len(mset)-1)/2), bytesOf(c, mget)[0])
		mget[n/2] = "+5"
		require.Equal(t, `-ERR the key "+5" is none of type i64`, bytesOf(c, mget)[0])
		mget[0] = "DEL"
		require.Contains(t, bytesOf(c, mget)[0], `"+5"`)
		require.Equal(t, fmt.Sprint(":", (len(mset)-1)/2), bytesOf(c, []string{"DBSIZE"})[0])
	}
}

// 10^5 requests of commands and rubbish by chance: the rest of what a fuzzer would try in each run.
func TestRubbish(t *testing.T) {
	words := []string{"*1\r\n", "*2\r\n", "*3\r\n", "$3\r\nGET\r\n", "$1\r\n1\r\n", "$3\r\nSET\r\n", "$-1\r\n",
		"$-2\r\n", "\r\n", "\n", "*", "$", "$9223372036854775806\r\n", "*9999999\r\n", "GET 1\r\n", "'", "\"", " ",
		"\x00", "\xff", "SCAN 0 MATCH [\r\n", "9"}
	var into [][]byte
	for range 100_000 {
		var in []byte
		for range 1 + rand.IntN(6) {
			in = append(in, words[rand.IntN(len(words))]...)
		}
		for len(in) > 0 {
			ok, args, rest, err := next(in, into)
			if err != nil || !ok {
				break
			}
			require.Less(t, len(rest), len(in))
			for _, a := range args {
				require.LessOrEqual(t, len(a), len(in))
			}
			in, into = rest, args
		}
	}
}

// Commands with mistakes of chance in their bytes, whole connections of them: each is answered or refused, and others
// go on with what they have stored.
func TestMutated(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{stalled: 10 * time.Second})
	c := dial(t, address)
	says(t, c, [2]string{"SET 4611686018427387904 5", "OK"})
	cases := 5000
	if stress.Level > 0 {
		cases = 100_000 * stress.Level
	}
	words := []string{"GET", "SET", "MGET", "INCRBY", "DEL", "SCAN", "VK.RANGE", "VK.TOP", "EXPIRE", "HELLO", "MSET",
		"1", "-7", "3", "EX", "MATCH", "[1-", "LIMIT", "COUNT", "10", "CLIENT", "ECHO", "COMMAND",
		"9999999999999999999", "x"}
	before := runtime.NumGoroutine()
	for range cases {
		var in []byte
		for range 1 + rand.IntN(4) {
			n := 1 + rand.IntN(4)
			in = redcon.AppendArray(in, n)
			for range n {
				in = redcon.AppendBulkString(in, words[rand.IntN(len(words))])
			}
		}
		for mistakes := rand.IntN(4); mistakes > 0 && len(in) > 0; mistakes-- {
			at := rand.IntN(len(in))
			switch rand.IntN(4) {
			case 0:
				in[at] = byte(rand.IntN(256))
			case 1:
				in = slices.Delete(in, at, at+1)
			case 2:
				in = slices.Insert(in, at, "*$-1\r\n0 "[rand.IntN(8)])
			default:
				in = in[:at+1]
			}
		}
		serveBytes(s, in)
	}
	require.Equal(t, []string{"5"}, c.pipeline("GET 4611686018427387904"))
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+4 }, 5*time.Second, time.Millisecond)
}

func TestLimits(t *testing.T) {
	_, address := started(t, replica.Options{MaxKeys: 3},
		Options{MaxClients: 2, MaxRequest: 32 << 10, Idle: 300 * time.Millisecond})
	c := dial(t, address)
	require.Equal(t, "OK", c.pipeline("MSET 1 1 2 2 3 3")[0])
	require.Equal(t, []string{"-OOM there are 3 keys, the most allowed", "1"}, []string{c.pipeline("SET 4 4")[0],
		c.pipeline("GET 1")[0]})
	require.Equal(t, []string{":1"}, c.pipeline("DEL 1"))
	long := dial(t, address)
	_, _ = long.conn.Write(append([]byte("*2\r\n$3\r\nGET\r\n$100000\r\n"), make([]byte, 40_000)...))
	require.Contains(t, long.reply(), "more than 32768 bytes")
	_, err := long.conn.Read(make([]byte, 1))
	require.Error(t, err)
	require.Eventually(t, func() bool { // the place of the one before is free, and c has been idle
		third := dial(t, address)
		_, _ = third.conn.Write([]byte("PING\r\n"))
		return third.reply() == "PONG"
	}, 5*time.Second, 50*time.Millisecond)
	_, err = c.conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF, "idle")
}

// A web page can't write by a request to the server's port.
func TestHTTP(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	for _, head := range []string{"POST / HTTP/1.1\r\n", "post / HTTP/1.1\r\n", "host: x\r\n"} {
		c := dial(t, address)
		_, err := c.conn.Write([]byte(head + "Content-Length: 9\r\n\r\nSET 1 10\r\n"))
		require.NoError(t, err)
		all, _ := io.ReadAll(c.conn)
		require.Empty(t, string(all))
	}
	require.Zero(t, s.node.Status().Keys)
}

// Nothing is done of what follows MULTI: a client that was refused believes so.
func TestTransaction(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	c := dial(t, address)
	_, err := c.conn.Write([]byte("SET 1 1\r\nmulti\r\nSET 2 2\r\nEXEC\r\n"))
	require.NoError(t, err)
	all, err := io.ReadAll(c.conn)
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n-ERR there are no transactions: MULTI ends the connection\r\n", string(all))
	require.EqualValues(t, 1, s.node.Status().Keys)
}

// A line is read as Redis reads it, or refused.
func TestLines(t *testing.T) {
	s, _ := started(t, replica.Options{Types: texts}, Options{})
	for line, want := range map[string]string{
		"SET a b\\n\n": "SET|a|b\\n", "  SET  \"a b\" 'c d' \"\"\r\n": "SET|a b|c d|", "GET a\n": "GET|a",
		"SET a \"\\x41\"\n": "", "SET a '\\n'\n": "", "GET 'a\n": "", "GET \"a\"b\n": "",
	} {
		ok, args, rest, err := next([]byte(line+"x"), nil)
		if want == "" {
			require.ErrorIs(t, err, errQuotes, line)
			continue
		}
		require.True(t, ok && err == nil, line)
		require.Equal(t, "x", string(rest))
		require.Equal(t, want, string(bytes.Join(args, []byte("|"))))
	}
	ours, theirs := net.Pipe()
	go (&conn{s: s, net: theirs, opened: time.Now(), in: make([]byte, 0, smallBuffer), authed: true}).serve()
	go func() { _, _ = ours.Write([]byte("GET \"a\n")) }()
	answer := make([]byte, 100)
	n, err := ours.Read(answer)
	require.NoError(t, err)
	require.Equal(t, "-ERR Protocol error: "+errQuotes.Error()+"\r\n", string(answer[:n]))
	require.NoError(t, ours.Close())
}

// A connection gives up the memory of large commands, and doesn't gather replies without end.
func TestMemory(t *testing.T) {
	s, _ := started(t, replica.Options{}, Options{})
	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	c := &conn{s: s, net: theirs, opened: time.Now(), authed: true}
	c.in = []byte("EXISTS" + strings.Repeat(" 1", longestLine/2-10) + "\n" + strings.Repeat("x\n", 3*mostBatch))
	rest, err := c.commands(c.in)
	require.NoError(t, err)
	require.Less(t, len(c.replies), mostBatch)
	c.flush()
	c.keep(rest)
	require.Nil(t, c.replies)

	c.in = redcon.AppendArray(nil, 1<<14)
	for range 1 << 14 {
		c.in = redcon.AppendBulkString(c.in, "EXISTS")
	}
	rest, err = c.commands(c.in)
	require.NoError(t, err)
	c.keep(rest)
	require.Nil(t, c.args)

	// Nor does a connection keep a buffer because texts were parts of it.
	s, _ = started(t, replica.Options{Types: texts}, Options{})
	c = &conn{s: s, net: theirs, opened: time.Now(), authed: true}
	c.in = redcon.AppendBulkString(redcon.AppendBulkString(redcon.AppendArray(nil, 2), "GET"), "k")
	c.in = append(make([]byte, 0, 2*largeBuffer), c.in...)
	rest, err = c.commands(c.in)
	require.NoError(t, err)
	c.flush()
	c.keep(rest)
	require.Nil(t, c.texts)

	// What is asked about the server grows neither: answers are sent while they are written, and no command without
	// keys has more arguments than a small one.
	for n, refused := range map[int]bool{mostOps: false, mostOps + 1: true} {
		c = &conn{s: s, net: theirs, opened: time.Now(), authed: true}
		c.in = redcon.AppendBulkString(redcon.AppendBulkString(redcon.AppendArray(nil, n), "COMMAND"), "INFO")
		for range n - 2 {
			c.in = redcon.AppendBulkString(c.in, "GET")
		}
		_, err = c.commands(c.in)
		require.NoError(t, err)
		require.Less(t, cap(c.out), 2*mostOut)
		require.Equal(t, refused, len(c.replies) > 0 && c.args == nil, n)
	}
}

// A command may come in parts of any size. Its end counts: who sends it byte by byte has no more time for it.
func TestSlowly(t *testing.T) {
	_, address := started(t, replica.Options{}, Options{stalled: 500 * time.Millisecond})
	all := []byte("*3\r\n$3\r\nSET\r\n$1\r\n7\r\n$2\r\n70\r\nGET 7\r\n*2\r\n$3\r\nGET\r\n$1\r\n7\r\n")
	for size := range 12 {
		c := dial(t, address)
		for part := range slices.Chunk(all, size+1) {
			_, err := c.conn.Write(part)
			require.NoError(t, err)
			time.Sleep(time.Millisecond)
		}
		require.Equal(t, []string{"OK", "70", "70"}, []string{c.reply(), c.reply(), c.reply()})
	}
	c := dial(t, address)
	began := time.Now()
	_, err := c.conn.Write([]byte("*2\r\n$3\r\nGET\r\n$1000\r\n"))
	for err == nil && time.Since(began) < 5*time.Second {
		time.Sleep(10 * time.Millisecond)
		_, err = c.conn.Write([]byte("7"))
	}
	require.Error(t, err)

	for _, text := range []string{"*1000000\r\n", "*2\r\n$3\r\nGET\r\n$1000000\r\n"} {
		var p partial
		in := []byte(text)
		for range 2 {
			require.False(t, p.whole(in))
			in = append(in, "$1\r\n1\r\n"...)
		}
		require.Positive(t, p.at)
	}
}

// Large answers have a deadline for each part, not one for all.
func TestSlowReader(t *testing.T) {
	s, _ := started(t, replica.Options{}, Options{stalled: 400 * time.Millisecond})
	ours, theirs := net.Pipe()
	c := &conn{s: s, net: theirs, out: make([]byte, 4*mostOut)}
	taken := make(chan int64)
	go func() {
		n := int64(0)
		for range 4 {
			time.Sleep(200 * time.Millisecond)
			part, _ := io.CopyN(io.Discard, ours, mostOut)
			n += part
		}
		taken <- n
	}()
	require.NoError(t, c.send())
	require.EqualValues(t, 4*mostOut, <-taken)
	c.out = make([]byte, 1)
	require.Error(t, c.send(), "nobody takes it")
}

// Commands of very many keys wait for each other, and small ones don't wait for them.
func TestLargeCommands(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	s.large <- struct{}{}
	s.large <- struct{}{}
	answered := make(chan string)
	big := dial(t, address)
	go func() { answered <- big.pipeline("SET 1 1", "EXISTS"+strings.Repeat(" 1", mostOps))[1] }()
	c := dial(t, address)
	require.Eventually(t, func() bool { return c.pipeline("GET 1")[0] == "1" }, 5*time.Second, time.Millisecond)
	select {
	case <-answered:
		require.Fail(t, "it did not wait")
	case <-time.After(300 * time.Millisecond):
	}
	<-s.large
	require.Equal(t, fmt.Sprint(":", mostOps), <-answered)
	<-s.large
}

// Nor do they wait for a client that doesn't take its answer.
func TestLargeAnswers(t *testing.T) {
	s, address := started(t, replica.Options{Types: texts}, Options{})
	c := dial(t, address)
	bytesOf(c, []string{"SET", "k", strings.Repeat("x", 1000)})
	mget := redcon.AppendArray(nil, mostOps+1)
	mget = redcon.AppendBulkString(mget, "MGET")
	for range mostOps {
		mget = redcon.AppendBulkString(mget, "k")
	}
	var stalled []*caller
	for i := range 7 { // the last ones wait for room
		stalled = append(stalled, dial(t, address))
		_, err := stalled[i].conn.Write(mget)
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		if s.held.TryAcquire(1) {
			s.held.Release(1)
			return false
		}
		return true
	}, 20*time.Second, time.Millisecond, "four have begun")
	time.Sleep(300 * time.Millisecond)
	require.NoError(t, c.conn.SetDeadline(time.Now().Add(20*time.Second)))
	require.Equal(t, []string{fmt.Sprint(":", mostOps)}, c.pipeline("EXISTS"+strings.Repeat(" k", mostOps)))
	for _, other := range stalled {
		require.NoError(t, other.conn.Close())
	}
	_, err := c.conn.Write(mget)
	require.NoError(t, err)
	require.Len(t, c.array(), mostOps)
	require.Eventually(t, func() bool { return s.held.TryAcquire(mostHeld) }, 5*time.Second, time.Millisecond,
		"all is given back")
	require.Empty(t, s.large)
}

// Who waits gives up what it has, and needs no more than one may have: so waiting ends, whoever else waits.
func TestRoomOfOne(t *testing.T) {
	s := &Server{held: semaphore.NewWeighted(mostHeld), scanning: t.Context(), o: Options{stalled: time.Second}}
	r := room{c: &conn{s: s}}
	require.True(t, r.fits(2*mostOut))
	require.True(t, s.held.TryAcquire(mostHeld-2*mostOut))
	require.False(t, r.fits(2*mostOut+1))
	s.held.Release(mostOut)
	require.NoError(t, r.wait(), "with its own, there is enough")
	require.True(t, r.fits(2*mostOut+1))
	r.leave()
	s.held.Release(mostHeld - 3*mostOut)

	require.True(t, s.held.TryAcquire(mostHeld-mostOfOne+1))
	require.False(t, r.fits(10*mostOfOne))
	s.held.Release(1)
	require.NoError(t, r.wait())
	require.True(t, r.fits(10*mostOfOne))
	r.leave()
	s.held.Release(mostHeld - mostOfOne)
	require.True(t, s.held.TryAcquire(mostHeld), "all is given back")

	// The next ones of a pipeline don't wait, too.
	require.ErrorIs(t, r.take(2*mostOut), errRoom)
	began := time.Now()
	require.ErrorIs(t, r.take(2*mostOut), errRoom)
	require.Less(t, time.Since(began), s.o.stalled)
}

// The pairs of large answers share memory: who finds none waits, and is refused after a while. Small answers don't
// wait.
func TestRoom(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{stalled: 500 * time.Millisecond})
	c := dial(t, address)
	var sets strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&sets, " %d %d", i, i)
	}
	c.pipeline("MSET" + sets.String())
	require.True(t, s.held.TryAcquire(mostHeld))
	few := []string{"VK.RANGE 1 2", "SCAN 0 COUNT 1000 MATCH 1", "VK.TOP 1"}
	many := []string{"VK.RANGE 1 17000", "VK.RANGE - + LIMIT 17000", "SCAN 0 COUNT 17000", "VK.TOP 17000"}
	require.Equal(t, []string{"[1 1 2 2]", "[9223372036854776808 [1]]", "[19999 19999]"}, c.pipeline(few...))
	for _, q := range many {
		require.Equal(t, []string{"-ERR " + errRoom.Error(), "[1 1]"}, c.pipeline(q, "VK.RANGE 1 1"), q)
	}
	for _, q := range many {
		time.AfterFunc(100*time.Millisecond, func() { s.held.Release(mostHeld) })
		got := c.pipeline(q)[0]
		require.GreaterOrEqual(t, strings.Count(got, " "), 16_999, "%s: %s", q, got)
		require.Eventually(t, func() bool { return s.held.TryAcquire(mostHeld) }, 5*time.Second, time.Millisecond,
			"all is given back")
	}
	top, scanned := dial(t, address), make(chan string, 1)
	go func() { scanned <- top.pipeline("VK.TOP 17000")[0] }()
	time.Sleep(100 * time.Millisecond)
	require.Contains(t, c.pipeline("VK.SNAPSHOT meanwhile")[0], "meanwhile.vkds")
	require.Empty(t, scanned, "others read all pairs while it waits for room")
	require.Equal(t, "-ERR "+errRoom.Error(), <-scanned)
	s.held.Release(mostHeld)

	ours, theirs := net.Pipe()
	defer ours.Close()
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	large := &conn{s: s, net: theirs}
	large.pairs(&query{keys: make([]uint64, mostPairs/4), values: make([]uint64, mostPairs/4)})
	require.Less(t, cap(large.out), 2*mostOut, "answers are sent while they are written")
}

// So do texts, which may be those of few pairs, in every answer that isn't in the connection's own buffer at once.
func TestRoomOfTexts(t *testing.T) {
	const n = 24
	var values []string
	for i := range n {
		values = append(values, strings.Repeat(string(rune('a'+i)), keytype.LongestServed))
	}
	fill := func(c *caller, key func(i int) string) (keys []string) {
		for i := range n {
			keys = append(keys, key(i))
			bytesOf(c, []string{"SET", keys[i], values[i]})
		}
		return keys
	}
	o := Options{stalled: 300 * time.Millisecond}
	s, address := started(t, replica.Options{Types: texts}, o)
	numbers, other := started(t, replica.Options{Types: replica.Types{Key: keytype.Int64, Value: keytype.Text}}, o)
	names, third := started(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Int64}}, o)
	keys := fill(dial(t, address), func(i int) string { return fmt.Sprint("k", i) })
	fill(dial(t, other), strconv.Itoa)
	for i := range n {
		bytesOf(dial(t, third), []string{"SET", fmt.Sprint(i+10, values[0][2:]), strconv.Itoa(i)})
	}
	const refused = "-ERR too many answers wait to be taken: ask for less at a time, or later"
	for _, x := range []struct {
		s       *Server
		address string
		want    string
		command []string
	}{
		{s, address, refused, append([]string{"MGET"}, keys...)},
		{s, address, "OK", []string{"SET", keys[0], "v"}},
		{numbers, other, refused, []string{"VK.RANGE", "-", "+"}},
		{names, third, refused, []string{"VK.TOP", "24"}},
	} {
		c, all := dial(t, x.address), [][]string{x.command}
		if x.command[0] == "SET" { // what is read beside a write is part of it
			all = append(all, []string{"SET", keys[1], values[1], "GET"}, []string{"SET", keys[2], "", "NX", "GET"},
				[]string{"INCR", "n"}, []string{"EXPIRE", "n", "100"}, []string{"INCRBYFLOAT", "n", "1.5"},
				[]string{"DEL", "absent", "n"})
			for _, k := range keys {
				all = append(all, []string{"GET", k})
			}
		}
		require.True(t, x.s.held.TryAcquire(mostHeld))
		got := bytesOf(c, all...)
		require.Equal(t, x.want, got[0], x.command)
		if x.command[0] == "SET" { // only values are refused
			done := "-ERR it was done, but " + refused[5:]
			require.Equal(t, []string{done, refused, ":1", ":1", "2.5", ":1"}, got[1:7])
			for _, got := range got[7:] {
				require.Equal(t, refused, got)
			}
		}
		require.Equal(t, []string{":24"}, c.pipeline("DBSIZE"))
		if x.want == refused { // the rest of a pipeline is refused at once
			began := time.Now()
			for _, got := range bytesOf(c, slices.Repeat(all, 20)...) {
				require.Equal(t, refused, got)
			}
			require.Less(t, time.Since(began), 10*o.stalled)
		}
		if x.command[0] == "MGET" { // parts of a pipeline need none
			gets := [][]string{{"PING"}}
			for _, k := range keys {
				gets = append(gets, []string{"GET", k}, []string{"EXISTS", k}, []string{"MGET", k, "absent"})
			}
			for i, got := range bytesOf(c, gets...)[1:] {
				require.Equal(t, []string{values[i/3], ":1", "[" + values[i/3] + " nil]"}[i%3], got)
			}
		}
		if x.command[0] == "MGET" || x.command[0] == "VK.RANGE" { // it waits until there is room
			time.AfterFunc(100*time.Millisecond, func() { x.s.held.Release(mostHeld) })
		} else {
			x.s.held.Release(mostHeld)
		}
		require.GreaterOrEqual(t, len(strings.Join(bytesOf(c, all...), "")), (n-1)*keytype.LongestServed, x.command)
		require.Eventually(t, func() bool { return x.s.held.TryAcquire(mostHeld) }, 5*time.Second, time.Millisecond,
			"all is given back")
		x.s.held.Release(mostHeld)
	}

	// An answer of large texts that isn't taken counts, and that to a follower of changes has a bound.
	c := dial(t, address)
	all := redcon.AppendArray(nil, 1+100*n)
	all = redcon.AppendBulkString(all, "MGET")
	for range 100 {
		for _, k := range keys {
			all = redcon.AppendBulkString(all, k)
		}
	}
	_, err := c.conn.Write(all)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		if s.held.TryAcquire(mostHeld) {
			s.held.Release(mostHeld)
			return false
		}
		return true
	}, 5*time.Second, time.Millisecond)
	got := dial(t, address).pipeline("VK.CHANGES 0", "VK.CHANGES 15 LIMIT 1")
	require.True(t, strings.HasPrefix(got[0], "[:15 k0 a"), "%.20s", got[0])
	require.True(t, strings.HasPrefix(got[1], "[:16 k15 p"), "%.20s", got[1])
}

// Answers hold only what their replies have: an old text is that of SET with GET alone.
func TestHeldTexts(t *testing.T) {
	c := &conn{s: &Server{config: replica.Options{Types: texts}}}
	var answers []replica.Answer
	for f := asOK; f <= asMilliseconds; f++ {
		c.replies = append(c.replies, reply{form: f, n: 2})
		answers = append(answers, replica.Answer{Text: "123", Found: true}, replica.Answer{Text: "4"})
	}
	held := func() (forms []form) {
		for i, a := range answers {
			if a.Text != "" {
				forms = append(forms, asOK+form(i/2))
			}
		}
		return slices.Compact(forms)
	}
	require.EqualValues(t, 5*4, c.hold(answers, true))
	require.Equal(t, []form{asOld, asValue, asValues, asSum, asFloat}, held())
	require.EqualValues(t, 2*4, c.hold(answers, false))
	require.Equal(t, []form{asSum, asFloat}, held())
}

func TestTooManyClients(t *testing.T) {
	_, address := started(t, replica.Options{}, Options{MaxClients: 1})
	c := dial(t, address)
	c.pipeline("PING")
	require.Equal(t, "-ERR max number of clients reached", dial(t, address).reply())
}

// Clients that say nothing, before the password or in a handshake of TLS, don't keep others out.
func TestSilentClients(t *testing.T) {
	o := Options{MaxClients: 1, Password: "secret", stalled: 300 * time.Millisecond}
	s, address := started(t, replica.Options{}, o)
	silent := dial(t, address)
	_, err := silent.conn.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)

	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	web.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", web.TLS)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	first, second := dial(t, l.Addr().String()), dial(t, l.Addr().String())
	_, err = second.conn.Read(make([]byte, 1))
	require.Error(t, err, "refused at once")
	_, err = first.conn.Read(make([]byte, 1))
	require.Error(t, err, "no handshake")
	require.Eventually(t, func() bool {
		third, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return false
		}
		defer third.Close()
		c := &caller{t: t, conn: third}
		return c.pipeline("AUTH secret")[0] == "OK"
	}, 5*time.Second, 20*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
}

// A server that stops answers what it has begun, and leaves no goroutine.
func TestStop(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("", func(t *testing.T) {
		_, address := started(t, replica.Options{}, Options{})
		for range 20 {
			require.Equal(t, []string{"OK"}, dial(t, address).pipeline("SET 1 1"))
		}
	})
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, 5*time.Second, 10*time.Millisecond)
}

// It doesn't wait for those who read all pairs, or wait to.
func TestStopScans(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	says(t, dial(t, address), [2]string{"SET 1 1", "OK"}, [2]string{"VK.TOP 1", "[1 1]"})
	s.scans <- struct{}{}
	waiting := dial(t, address)
	time.AfterFunc(50*time.Millisecond, s.cancel)
	says(t, waiting, [2]string{"VK.TOP 1", "-CLUSTERDOWN the server is stopping"})
	<-s.scans
	says(t, waiting, [2]string{"VK.SNAPSHOT x", "-CLUSTERDOWN the server is stopping"})
}

func TestPages(t *testing.T) {
	s, address := started(t, replica.Options{Name: "here"}, Options{})
	dial(t, address).pipeline("SET 1 1", "GET 1", "NOSUCH")
	get := func(path, from string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	code, text := get("/healthz", "192.0.2.1:1")
	require.Equal(t, http.StatusOK, code)
	require.Equal(t, "leading\n", text)
	code, text = get("/", "192.0.2.1:1") // test/page has a browser show it
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, text, "<h1>vkds serve here</h1>")
	code, _ = get("/other", "192.0.2.1:1")
	require.Equal(t, http.StatusNotFound, code)
	_, text = get("/metrics", "192.0.2.1:1")
	for _, line := range []string{`vkds_commands_total{command="SET"} 1`, "vkds_keys 1",
		`vkds_member_leads{member="here",self="true",shard="1"} 1`, "vkds_leading 1",
		"vkds_errors_total 1",
		`vkds_batch_operations_count{kind="write"} 1`, "vkds_entry_operations_count 1"} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	code, _ = get("/debug/pprof/", "192.0.2.1:1")
	require.Equal(t, http.StatusForbidden, code)
	code, _ = get("/debug/pprof/", "127.0.0.1:1")
	require.Equal(t, http.StatusOK, code)
}

// Changes come in their order, each once, whatever its command; what changed nothing isn't there.
func TestChanges(t *testing.T) {
	s, address := started(t, replica.Options{}, Options{})
	c := dial(t, address)
	says(t, c, [2]string{"VK.CHANGES 0", "[:0]"}, [2]string{"VK.CHANGES $", "[:0]"},
		[2]string{"MSET 1 10 2 20 1 11", "OK"}, [2]string{"SET 1 11", "OK"}, [2]string{"INCRBY 2 5", ":25"},
		[2]string{"DEL 1 3", ":1"}, [2]string{"SET 3 30 NX", "OK"}, [2]string{"SET 3 31 NX", "nil"},
		[2]string{"EXPIRE 3 100", ":1"}, [2]string{"EXPIRE 3 -1", ":1"},
		[2]string{"VK.CHANGES 0", "[:6 1 11 2 20 2 25 1 nil 3 30 3 nil]"},
		[2]string{"VK.CHANGES 2 LIMIT 2", "[:4 2 25 1 nil]"}, [2]string{"VK.CHANGES 6", "[:6]"},
		[2]string{"VK.CHANGES $", "[:6]"},
		[2]string{"VK.CHANGES 7", "-AHEAD the last change here is 6, before 7"},
		[2]string{"VK.CHANGES x", "-ERR the number of a change is an integer, or $ for that of the last one"},
		[2]string{"VK.CHANGES 1 LIMIT 0", "-ERR LIMIT is from 1 to 65536"},
		[2]string{"VK.CHANGES 1 2", "-ERR syntax error"})
	got := c.pipeline("SET 9 90", "VK.CHANGES 6", "SET 9 91", "VK.CHANGES 6")
	require.Equal(t, []string{"OK", "[:7 9 90]", "OK", "[:8 9 90 9 91]"}, got, "those before it in a pipeline")
	require.NoError(t, s.node.Compact())
	says(t, c, [2]string{"VK.CHANGES 7", "[:8 9 91]"})
}

// Slots are those of the cluster's specification, and all belong to the leader.
func TestSlots(t *testing.T) {
	require.Equal(t, 0x31c3, bulk.Slot([]byte("123456789")))
	require.Equal(t, 12182, bulk.Slot([]byte("foo")))
	for text, of := range map[string]string{"{foo}bar": "foo", "a{foo}{bar}": "foo", "a{foo{bar}": "foo{bar"} {
		require.Equal(t, bulk.Slot([]byte(of)), bulk.Slot([]byte(text)))
	}
	for _, whole := range []string{"{}foo", "{foo", "foo}"} {
		require.NotEqual(t, bulk.Slot([]byte("foo")), bulk.Slot([]byte(whole)))
	}
	require.NotEqual(t, bulk.Slot([]byte("bar")), bulk.Slot([]byte("{}{bar}")), "the first braces are empty")
	require.True(t, slices.ContainsFunc(commands, func(x command) bool { return x.name == "CLUSTER" }))
	for secret, name := range map[bool]string{false: "$4\r\nport\r\n:7\r\n", true: "$8\r\ntls-port\r\n:7\r\n"} {
		s, _ := started(t, replica.Options{}, Options{TLS: secret})
		c := &conn{s: s}
		c.clusterShard(led{s.shards[0], "localhost:7", []string{"localhost:7"}})
		require.Contains(t, string(c.out), name)
	}
}
