package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
	"google.golang.org/grpc/status"
)

// sharded starts n servers that are a shard each. stop ends one.
func sharded(t *testing.T, n int, types replica.Types, o Options) (addresses []string, stop []func()) {
	listeners, addresses := listening(t, n)
	for _, a := range addresses {
		o.Shards = append(o.Shards, []string{a})
	}
	for i, l := range listeners {
		_, end := startedShard(t, l, i, types, o)
		stop = append(stop, end)
	}
	return addresses, stop
}

func listening(t *testing.T, n int) (all []net.Listener, addresses []string) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { _ = l.Close() })
		all, addresses = append(all, l), append(addresses, l.Addr().String())
	}
	return all, addresses
}

// startedShard starts the one server of a shard.
func startedShard(t *testing.T, l net.Listener, i int, types replica.Types, o Options) (s *Server, stop func()) {
	s, err := Open(t.Context(), replica.Options{Dir: t.TempDir(), Types: types, Name: l.Addr().String(),
		Shard: replica.Shard{Number: uint16(i + 1), Of: uint16(len(o.Shards))}}, o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, s.Close())
	})
	t.Cleanup(stop)
	return s, stop
}

// everyone is a client of all servers, that goes where it is sent.
type everyone map[string]*caller

func dialAll(t *testing.T, addresses []string) everyone {
	all := everyone{}
	for _, a := range addresses {
		all[a] = dial(t, a)
	}
	return all
}

// do sends a command to a server. It returns the reply, and how often it was sent on.
func (e everyone) do(first string, command ...string) (reply string, moves int) {
	at := first
	for {
		reply = bytesOf(e[at], command)[0]
		moved, is := strings.CutPrefix(reply, "-MOVED ")
		if !is || moves > 3 {
			return reply, moves
		}
		_, at, _ = strings.Cut(moved, " ")
		moves++
	}
}

// Commands on one key are done by its shard, and questions about all keys have the answers of one server with all keys.
func TestShards(t *testing.T) {
	for _, types := range []replica.Types{integers, {Key: keytype.Int32, Value: keytype.Uint64},
		{Key: keytype.Float64, Value: keytype.Int64}, {Key: keytype.Uint64, Value: keytype.Text}} {
		t.Run(types.String(), func(t *testing.T) { testShards(t, types) })
	}
}

func testShards(t *testing.T, types replica.Types) {
	addresses, _ := sharded(t, 3, types, Options{})
	all := dialAll(t, addresses)
	_, whole := started(t, replica.Options{Types: types}, Options{})
	one := dial(t, whole)
	any := func() string { return addresses[rand.IntN(3)] }
	draw := func() string {
		switch k := rand.IntN(200); {
		case k == 0 && types.Key == keytype.Int32:
			return strconv.Itoa(math.MinInt32)
		case k == 1 && types.Key == keytype.Int32:
			return strconv.Itoa(math.MaxInt32)
		case k == 0 && types.Key == keytype.Uint64:
			return strconv.FormatUint(math.MaxUint64, 10)
		case types.Key == keytype.Uint64:
			return strconv.Itoa(k)
		case types.Key == keytype.Float64:
			return strconv.FormatFloat(float64(k-100)/4, 'f', 2, 64) // 1.50 is where 1.5 is
		default:
			return strconv.Itoa(k - 100)
		}
	}
	both := func(command ...string) {
		t.Helper()
		want := bytesOf(one, command)[0]
		got, moves := all.do(any(), command...)
		require.Equal(t, want, got, "%v", command)
		require.LessOrEqual(t, moves, 1, "%v", command)
	}
	both("VK.RANGE", "-", "+")
	both("VK.FLOOR", "3")
	both("VK.TOP", "3")
	for i := range 200 {
		switch k := draw(); i % 5 {
		case 0, 1:
			both("SET", k, strconv.Itoa(rand.IntN(1000)))
		case 2:
			both("DEL", k)
		case 3:
			both("INCRBY", k, "3")
		default:
			both("GET", k)
		}
		if i%4 != 0 {
			continue
		}
		lo, hi := draw(), draw()
		if rand.IntN(5) == 0 {
			lo = "-"
		}
		if rand.IntN(5) == 0 {
			hi = "+"
		}
		both("VK.RANGE", lo, hi)
		both("VK.RANGE", lo, hi, "LIMIT", strconv.Itoa(1+rand.IntN(6)))
		both("VK.COUNT", lo, hi)
		both("VK.FLOOR", draw())
		both("VK.CEIL", draw())
		if types.Value != keytype.Text {
			both("VK.TOP", strconv.Itoa(1+rand.IntN(9)))
			both("VK.TOP", strconv.Itoa(1+rand.IntN(9)), "LEAST")
		}
	}

	// Many questions at once, answered in their order.
	var lines []string
	for range 300 {
		lines = append(lines, "VK.COUNT - "+draw(), "VK.FLOOR "+draw(), "VK.RANGE "+draw()+" + LIMIT 2")
	}
	require.Equal(t, one.pipeline(lines...), all[any()].pipeline(lines...))

	// LOCAL is the part of one shard: the parts are all.
	sum := 0
	for _, a := range addresses {
		n, err := strconv.Atoi(strings.TrimPrefix(all[a].pipeline("VK.COUNT - + LOCAL")[0], ":"))
		require.NoError(t, err)
		require.Positive(t, n)
		require.Equal(t, fmt.Sprintf(":%d", n), all[a].pipeline("DBSIZE")[0])
		sum += n
	}
	require.Equal(t, one.pipeline("DBSIZE")[0], fmt.Sprintf(":%d", sum))
}

// Texts are where clients look for them, also by the part in braces, and the best pairs are found in all shards.
func TestShardsOfTexts(t *testing.T) {
	addresses, _ := sharded(t, 2, replica.Types{Key: keytype.Text, Value: keytype.Int64}, Options{})
	all := dialAll(t, addresses)
	of := map[string]int{}
	for i := range 50 {
		k := fmt.Sprintf("{%d} and more", i)
		of[k] = i
		reply, moves := all.do(addresses[bulk.Slot([]byte(strconv.Itoa(i)))*2/slots], "SET", k, strconv.Itoa(i))
		require.Equal(t, "OK", reply)
		require.Zero(t, moves)
	}
	best := slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Compare(of[b], of[a]) })
	want := fmt.Sprintf("[%s 49 %s 48 %s 47]", best[0], best[1], best[2])
	for _, a := range addresses {
		reply, _ := all.do(a, "VK.TOP", "3")
		require.Equal(t, want, reply)
		require.Contains(t, all[a].pipeline("VK.RANGE - +")[0], "no order")
	}
	// Of equal values, the least keys are the best, whichever shard has them, and as in a single server. The order of
	// their hashes is another one in each.
	_, single := started(t, replica.Options{Types: replica.Types{Key: keytype.Text, Value: keytype.Int64}}, Options{})
	one := dial(t, single)
	keys := slices.Sorted(maps.Keys(of))
	for _, k := range keys {
		all.do(addresses[0], "SET", k, "7")
		bytesOf(one, []string{"SET", k, "7"})
	}
	for _, n := range []int{1, 7, len(keys) - 1, len(keys) + 1} {
		want := "[" + strings.Join(keys[:min(n, len(keys))], " 7 ") + " 7]"
		for _, order := range [][]string{nil, {"LEAST"}} {
			command := append([]string{"VK.TOP", strconv.Itoa(n)}, order...)
			require.Equal(t, want, bytesOf(one, command)[0])
			for _, a := range addresses {
				reply, _ := all.do(a, command...)
				require.Equal(t, want, reply)
			}
		}
	}
	mset := []string{"MSET", "{1} and more", "7", "{1}", "8"}
	reply, _ := all.do(addresses[0], mset...)
	require.Equal(t, "OK", reply)
	reply, _ = all.do(addresses[1], "MGET", "{1}", "{1} and more")
	require.Equal(t, "[8 7]", reply)
}

// A command is done by one shard or not at all, and nothing of it is done before another one refuses it.
func TestCrossSlot(t *testing.T) {
	addresses, _ := sharded(t, 2, integers, Options{})
	all := dialAll(t, addresses)
	first, second := "", "" // a key of each shard
	for i := 0; first == "" || second == ""; i++ {
		if k := strconv.Itoa(i); bulk.Slot([]byte(k)) < slots/2 {
			first = k
		} else {
			second = k
		}
	}
	c := all[addresses[0]]
	moved := fmt.Sprintf("-MOVED %d %s", bulk.Slot([]byte(second)), addresses[1])
	says(t, c, [2]string{"GET " + second, moved}, [2]string{"SET 00" + second + " 1", moved},
		[2]string{"MGET " + second + " " + first, moved},
		[2]string{"MSET " + first + " 1 " + second + " 1", "-CROSSSLOT the keys are of several shards"},
		[2]string{"DEL " + first + " " + second, "-CROSSSLOT the keys are of several shards"},
		[2]string{"DBSIZE", ":0"}, [2]string{"MSET " + first + " 1 0" + first + " 2", "OK"},
		[2]string{"GET " + first, "2"}, [2]string{"VK.FLOOR " + first + " 3", "-ERR syntax error"},
		[2]string{"VK.COUNT LOCAL LOCAL", "-ERR syntax error"}, [2]string{"VK.RANGE 1 LOCAL", "-ERR syntax error"},
		[2]string{"VK.TOP LOCAL", "-ERR syntax error"}, [2]string{"CLUSTER MYID", idOf(addresses[0])})
	// Each command of a pipeline is looked at by itself.
	require.Equal(t, []string{"2", moved, "2"}, c.pipeline("GET "+first, "GET "+second, "GET "+first))
	// Nor do all cores overlook a key of another shard among many.
	many := slices.Repeat([]string{first}, 3*share)
	many[0], many[2*share] = "EXISTS", second
	require.Equal(t, []string{"-CROSSSLOT the keys are of several shards"}, bytesOf(c, many))
	slotLines := all[addresses[1]].pipeline("CLUSTER SLOTS")[0]
	for i, a := range addresses {
		host, port := endpoint(a)
		require.Contains(t, slotLines,
			fmt.Sprintf("[:%d :%d [%s :%d %s]]", i*slots/2, (i+1)*slots/2-1, host, port, idOf(a)))
	}
}

// Slots are divided without gaps, whatever the number of shards.
func TestSlotsOfShards(t *testing.T) {
	for n := 1; n <= 64; n++ {
		s := &Server{}
		for i := range n {
			s.shards = append(s.shards, &shard{number: i, of: n})
		}
		next := 0
		for _, x := range s.shards {
			first, last := x.slots()
			require.Equal(t, next, first)
			require.Same(t, x, s.shardOf(first))
			require.Same(t, x, s.shardOf(last))
			next = last + 1
		}
		require.Equal(t, slots, next)
	}
}

// Servers of other types are not asked: their words are others.
func TestShardsOfOtherTypes(t *testing.T) {
	listeners, of := listening(t, 2)
	for i, l := range listeners {
		types := replica.Types{Key: keytype.Int64, Value: []keytype.Type{keytype.Int64, keytype.Uint64}[i]}
		startedShard(t, l, i, types, Options{Shards: [][]string{{of[0]}, {of[1]}}})
	}
	require.Equal(t, "-CLUSTERDOWN shard 1 of 2: "+of[0]+
		": its vkds_value_type is i64 and not u64: its flags are others",
		dial(t, of[1]).pipeline("VK.COUNT - +")[0])
}

// counter counts.
type counter struct{ n atomic.Int64 }

// Observe counts one more.
func (c *counter) Observe(float64) { c.n.Add(1) }

// Questions of a pipeline are asked in another shard together.
func TestGatheredAtOnce(t *testing.T) {
	listeners, of := listening(t, 2)
	o := Options{Shards: [][]string{{of[0]}, {of[1]}}}
	first, _ := startedShard(t, listeners[0], 0, integers, o)
	leads := func() string {
		w := httptest.NewRecorder()
		first.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Body.String()
	}
	line := fmt.Sprintf("vkds_member_leads{member=%q,self=\"false\",shard=\"2\"} ", of[1])
	require.Contains(t, leads(), line+"0", "nobody has met it")
	other, _ := startedShard(t, listeners[1], 1, integers, o)
	var batches counter
	other.metrics.batchOps[ordered] = &batches
	c := dial(t, of[0])
	lines := slices.Repeat([]string{"VK.FLOOR 7", "VK.COUNT - +", "VK.RANGE 1 + LIMIT 2"}, 300)
	for _, reply := range c.pipeline(lines...) {
		require.NotContains(t, reply, "-")
	}
	require.Less(t, batches.n.Load(), int64(20), "900 questions")
	require.Contains(t, leads(), line+"1")
}

// A shard that is away keeps nobody from the others, and questions that need it say so.
func TestShardAway(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	addresses, stop := sharded(t, 2, integers, Options{Log: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))})
	all := dialAll(t, addresses)
	own := ""
	for i := range 20 {
		k := strconv.Itoa(i)
		if bulk.Slot([]byte(k)) < slots/2 {
			own = k
		}
		all.do(addresses[0], "SET", k, k)
	}
	stop[1]()
	c := all[addresses[0]]
	require.Equal(t, own, c.pipeline("GET " + own)[0])
	for _, q := range []string{"VK.COUNT - +", "VK.RANGE - +", "VK.RANGE - + LIMIT 3", "VK.FLOOR 3", "VK.TOP 2"} {
		require.Contains(t, c.pipeline(q)[0], "-CLUSTERDOWN shard 2 of 2: ", q)
		require.NotContains(t, c.pipeline(q + " LOCAL")[0], "-", q)
	}
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Count(log.String(), `a shard is not reached" shard="shard 2 of 2"`) == 1
	}, 5*time.Second, time.Millisecond)
	time.Sleep(2 * learnEvery)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 1, strings.Count(log.String(), "not reached"), "once")
}

type locked struct {
	*sync.Mutex
	to *bytes.Buffer
}

func (l locked) Write(text []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.to.Write(text)
}

// A server whose flags name other shards is not taken for a leader.
func TestOtherShards(t *testing.T) {
	x := &shard{number: 1, of: 2, members: []string{"a:1", "b:2"}}
	for _, c := range []struct{ nodes, leader, says string }{
		{"1 a:1@10001 master - 0 0 1 connected 8192-16383\n", "a:1", ""},
		{"1 a:1@10001 slave 2 0 0 1 connected\n2 b:2@10002 myself,master - 0 0 1 connected 8192-16383\n", "b:2", ""},
		{"1 a:1@10001 slave - 0 0 1 connected\n", "", "it knows no leader"},
		{"1 a:1@10001 master - 0 0 1 connected 5462-10922\n", "", "its flags are others"},
		{"1 c:1@10001 master - 0 0 1 connected 8192-16383\n", "", "it knows no leader"},
		{"", "", "it knows no leader"},
	} {
		leader, err := x.leaderOf(c.nodes)
		require.Equal(t, c.leader, leader)
		if c.says == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, c.says)
		}
	}
}

// A server whose flags name other shards may have keys of this one's slots. It isn't asked.
func TestMisnamedShards(t *testing.T) {
	listeners, of := listening(t, 2)
	for i, l := range listeners { // each is the first one by its own flags
		startedShard(t, l, 0, integers, Options{Shards: [][]string{{of[i]}, {of[1-i]}}})
	}
	for i, a := range of {
		for _, q := range []string{"VK.COUNT - +", "VK.FLOOR 3", "VK.TOP 2"} {
			require.Equal(t, "-CLUSTERDOWN shard 2 of 2: "+of[1-i]+
				": it has the slots 0-8191 and not 8192-16383: its flags are others", dial(t, a).pipeline(q)[0])
		}
	}
}

// A shard that takes connections and never answers keeps a pipeline waiting once, not for each question.
func TestSilentShard(t *testing.T) {
	listeners, of := listening(t, 2)
	startedShard(t, listeners[0], 0, integers, Options{Shards: [][]string{{of[0]}, {of[1]}}})
	began := time.Now()
	for _, reply := range dial(t, of[0]).pipeline(slices.Repeat([]string{"VK.COUNT - +"}, 10)...) {
		require.Contains(t, reply, "-CLUSTERDOWN shard 2 of 2: ")
	}
	require.Less(t, time.Since(began), 5*time.Second)
}

// Servers that ask each other for as much as they may don't wait for each other's room.
func TestShardsAskEachOther(t *testing.T) {
	addresses, _ := sharded(t, 2, integers, Options{stalled: 2 * time.Second})
	var callers sync.WaitGroup
	for i := range 16 {
		c := dial(t, addresses[i%2])
		callers.Go(func() {
			for range 10 {
				if got := c.pipeline("VK.RANGE - + LIMIT 1048576")[0]; got != "[]" {
					t.Error(got)
					return
				}
			}
		})
	}
	callers.Wait()
}

// Long ranges of a pipeline are in memory one after the other, also if other shards have all their pairs.
func TestRangesOfOthers(t *testing.T) {
	listeners, of := listening(t, 2)
	o := Options{Shards: [][]string{{of[0]}, {of[1]}}}
	startedShard(t, listeners[0], 0, integers, o)
	second, _ := startedShard(t, listeners[1], 1, integers, o)
	mset := []string{"MSET"}
	for i := 0; len(mset) < 80_000; i++ {
		if k := strconv.Itoa(i); bulk.Slot([]byte(k)) >= slots/2 {
			mset = append(mset, k, k)
		}
	}
	require.Equal(t, "OK", bytesOf(dial(t, of[1]), mset)[0])
	const many = 200
	c := dial(t, of[0])
	_, err := io.WriteString(c.conn, strings.Repeat("VK.RANGE - +\r\n", many))
	require.NoError(t, err)
	asked := func() float64 { return counted(t, second, "VK.RANGE") }
	require.Eventually(t, func() bool { return asked() > 0 }, 10*time.Second, time.Millisecond)
	for before := -1.0; before != asked(); { // until it waits for the client
		before = asked()
		time.Sleep(300 * time.Millisecond)
	}
	require.Less(t, asked(), float64(many/2))
	for range many {
		require.Len(t, c.array(), len(mset)-1)
	}
}

// Questions without a key are sent on with a slot of the shard: clients remember whom they were sent to for it.
func TestMovedWithoutKey(t *testing.T) {
	s := &Server{shards: []*shard{{number: 0, of: 2}, {number: 1, of: 2}}, own: 1, metrics: newMetrics()}
	c := &conn{s: s}
	c.refuse(&replica.NotLeaderError{Leader: "b:2"}, nil)
	c.refuse(&replica.NotLeaderError{Leader: "b:2"}, []byte("1"))
	require.Equal(t, "-MOVED 8192 b:2\r\n-MOVED 9842 b:2\r\n", string(c.out))
}

// counted returns how often a server was sent a command.
func counted(t *testing.T, s *Server, command string) float64 {
	all, err := s.metrics.registry.Gather()
	require.NoError(t, err)
	for _, f := range all {
		for _, m := range f.GetMetric() {
			if f.GetName() == "vkds_commands_total" && m.GetLabel()[0].GetValue() == command {
				return m.GetCounter().GetValue()
			}
		}
	}
	t.Fatalf("no count of %s", command)
	return 0
}

// fakeShard answers for a second shard of which it is the only server. answer answers questions.
func fakeShard(l net.Listener, answer func(c redcon.Conn)) {
	s := redcon.NewServer("", func(c redcon.Conn, command redcon.Command) {
		switch string(command.Args[0]) {
		case "cluster":
			c.WriteBulkString(fmt.Sprintf("2 %s@1 myself,master - 0 0 1 connected 8192-16383\n", l.Addr()))
		case "info":
			c.WriteBulkString("# Server\r\n")
		case "VK.COUNT", "VK.TOP", "DBSIZE":
			answer(c)
		default:
			c.WriteError("ERR unknown command")
		}
	}, nil, nil)
	go func() { _ = s.Serve(l) }()
}

// A server that stops doesn't wait for another shard's answer.
func TestStopWhileAsking(t *testing.T) {
	for _, question := range []string{"VK.COUNT - +", "VK.TOP 3", ""} { // and GetFlightInfo
		listeners, of := listening(t, 2)
		asked, hang := make(chan struct{}), make(chan struct{})
		fakeShard(listeners[1], func(redcon.Conn) {
			close(asked)
			<-hang
		})
		s, stop := startedShard(t, listeners[0], 0, integers, Options{Shards: [][]string{{of[0]}, {of[1]}}})
		reply := make(chan string, 1)
		if c := dial(t, of[0]); question != "" {
			go func() { reply <- c.pipeline(question)[0] }()
		} else {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			_, stop = s.flights(l, nil)
			go func() {
				_, err := stock(t, l.Addr().String()).GetFlightInfo(t.Context(), &flight.FlightDescriptor{})
				reply <- fmt.Sprint("-CLUSTERDOWN ", status.Convert(err).Message())
			}()
		}
		<-asked
		began := time.Now()
		stop()
		require.Less(t, time.Since(began), 2*time.Second)
		require.Equal(t, "-CLUSTERDOWN the server is stopping", <-reply)
		close(hang)
	}
}

// An answer of another shard may take long, but not pause for long, or longer than the question may take.
func TestTalking(t *testing.T) {
	const most = 300 * time.Millisecond
	sender, c := net.Pipe()
	defer sender.Close()
	talks := &talking{Conn: c, most: most}
	go func() {
		for range 6 {
			time.Sleep(most / 3)
			_, _ = sender.Write([]byte("+"))
		}
	}()
	_, err := io.ReadFull(talks, make([]byte, 6))
	require.NoError(t, err)
	for _, limit := range []time.Duration{most, most / 3, most} {
		began := time.Now()
		until := time.Time{}
		if limit < most {
			until = began.Add(limit)
		}
		require.NoError(t, talks.SetReadDeadline(until))
		_, err = talks.Read(make([]byte, 1))
		require.Equal(t, errSilent, err)
		require.GreaterOrEqual(t, time.Since(began), limit)
		require.Less(t, time.Since(began), limit+most/2)
	}
}

// Connections may be of before a start of another shard's server. They keep nobody from its answer.
func TestConnectionsOfBefore(t *testing.T) {
	listeners, of := listening(t, 2)
	var asked atomic.Int64
	fakeShard(listeners[1], func(c redcon.Conn) {
		if asked.Add(1) <= places {
			_ = c.Close()
		} else {
			c.WriteInt(7)
		}
	})
	startedShard(t, listeners[0], 0, integers, Options{Shards: [][]string{{of[0]}, {of[1]}}})
	require.Equal(t, ":7", dial(t, of[0]).pipeline("VK.COUNT - +")[0])
}
