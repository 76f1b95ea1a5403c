package serve

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// sharded starts n servers that are a shard each. stop ends one.
func sharded(t *testing.T, n int, types replica.Types, o Options) (addresses []string, stop []func()) {
	var listeners []net.Listener
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		listeners, addresses = append(listeners, l), append(addresses, l.Addr().String())
		o.Shards = append(o.Shards, []string{l.Addr().String()})
	}
	for i, l := range listeners {
		s, err := Open(t.Context(), replica.Options{Dir: t.TempDir(), Types: types, Name: addresses[i],
			Shard: replica.Shard{Number: uint16(i + 1), Of: uint16(n)}}, o)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- s.Serve(ctx, l) }()
		stop = append(stop, sync.OnceFunc(func() {
			cancel()
			require.NoError(t, <-done)
			require.NoError(t, s.Close())
		}))
		t.Cleanup(stop[i])
	}
	return addresses, stop
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
		{"1 a:1@10001 master - 0 0 1 connected 5462-10922\n", "", "its --shard are others"},
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
