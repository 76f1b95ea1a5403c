package replica

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/internal/tool/keytype"
)

// three starts members. Those that are nil in the end are closed by the test.
func three(t *testing.T) (options [3]Options, nodes [3]*Node) {
	peers := free(t, 3)
	for i := range nodes {
		options[i] = Options{Dir: filepath.Join(t.TempDir(), "data"), Types: integers, Name: peers[i], Peers: peers}
	}
	t.Cleanup(func() {
		for _, n := range nodes {
			if n != nil {
				_ = n.Close()
			}
		}
	})
	return options, nodes
}

// leaderOf waits for one that leads.
func leaderOf(t *testing.T, nodes []*Node) (at int) {
	require.Eventually(t, func() bool {
		for i, n := range nodes {
			if n != nil && n.leads() != 0 {
				at = i
				return true
			}
		}
		return false
	}, 20*time.Second, time.Millisecond)
	return at
}

// Members of other lists or types don't belong together, and say so at the start: no leader has been chosen by then.
func TestOtherPeers(t *testing.T) {
	options, _ := three(t)
	first := open(t, options[0])
	options[1].Peers = append([]string{"127.0.0.1:9"}, options[1].Peers...)
	_, err := Open(t.Context(), options[1])
	var peers *PeersError
	require.ErrorAs(t, err, &peers)
	require.Equal(t, options[0].Name, peers.Dir)
	options[2].Types.Value = keytype.Uint64
	_, err = Open(t.Context(), options[2])
	var types *TypesError
	require.ErrorAs(t, err, &types)
	require.Zero(t, first.raft.CurrentTerm(), "no vote was given")
	if err := first.Close(); err != nil { // it asks the others again and again: it may have met one, and ends then, too
		require.True(t, errors.As(err, &peers) || errors.As(err, &types), "%v", err)
	}
}

// Nor do members of other versions, which would refuse each other's entries later.
func TestOtherVersions(t *testing.T) {
	options, _ := three(t)
	address, err := peerAddress(options[1].Name)
	require.NoError(t, err)
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var g greeting
			_ = receive(c, &g)
			g.Name, g.Version = options[1].Name, 0
			_ = send(c, &g)
		}
	}()
	_, err = Open(t.Context(), options[0])
	require.EqualError(t, err,
		options[1].Name+": the data is of version 2 of the log, and this program reads only version 4")
}

// A cluster starts when all have met. One that has lost its folder is refused, by name, unless it says so and all
// others run. It then has all pairs, and takes part again.
func TestLostFolder(t *testing.T) {
	options, nodes := three(t)
	nodes[0], nodes[1] = open(t, options[0]), open(t, options[1])
	time.Sleep(2500 * time.Millisecond)
	require.Zero(t, nodes[0].leads()+nodes[1].leads(), "the third may be one that was of another cluster")
	nodes[2] = open(t, options[2])
	first := leaderOf(t, nodes[:])
	for i := range uint64(100) {
		_, err := nodes[first].Write([]Op{set(i, i)}, nil)
		require.NoError(t, err)
	}
	lost := (first + 1) % 3
	require.NoError(t, nodes[lost].Close())
	old := options[lost].Dir + ".old"
	require.NoError(t, os.Rename(options[lost].Dir, old))
	_, err := Open(t.Context(), options[lost])
	var missing *LostError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, options[lost].Name, missing.Name)

	other := 3 - first - lost
	require.NoError(t, nodes[other].Close())
	options[lost].Rejoin = true
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	_, err = Open(ctx, options[lost])
	stop()
	require.ErrorIs(t, err, context.DeadlineExceeded, "the one that is away may have what was stored last")
	nodes[other] = open(t, options[other])
	options[lost].Rejoin = false // it was kept
	nodes[lost] = open(t, options[lost])
	require.Eventually(t, func() bool { return nodes[lost].state.count.Load() == 100 }, 20*time.Second,
		time.Millisecond)
	again := leaderOf(t, nodes[:])
	if again == lost {
		again = first
	}
	require.NoError(t, nodes[again].Close())
	nodes[again] = nil
	leader := leaderOf(t, nodes[:]) // by the vote of the one that was lost
	got, err := get(t, nodes[leader], false, 99)
	require.NoError(t, err)
	require.True(t, got[0].Found)
	options[lost].Rejoin = true
	require.NoError(t, nodes[lost].Close())
	nodes[lost] = open(t, options[lost]) // it has a folder, and so nothing to say

	require.NoError(t, nodes[lost].Close())
	nodes[lost] = nil
	options[lost].Dir = old
	_, err = Open(t.Context(), options[lost])
	require.ErrorAs(t, err, &missing, "the folder of before")
}

// Once a member has met the others, they begin without it.
func TestFirstStart(t *testing.T) {
	options, nodes := three(t)
	for i := range nodes {
		nodes[i] = open(t, options[i])
	}
	require.Eventually(t, func() bool {
		for _, n := range nodes[:2] {
			if met, err := n.log.recall(metKey); err != nil || met == nil {
				return false
			}
		}
		return true
	}, 20*time.Second, time.Millisecond)
	require.NoError(t, nodes[2].Close())
	nodes[2] = nil
	first := leaderOf(t, nodes[:])
	_, err := nodes[first].Write([]Op{set(1, 1)}, nil)
	require.NoError(t, err)
}

// If so many say that they have lost their folders that the others are no majority, they are told, and not barred.
func TestAllRejoin(t *testing.T) {
	options, nodes := three(t)
	errs := make([]error, 3)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	var all sync.WaitGroup
	for i := range options {
		options[i].Rejoin = true
		all.Go(func() { nodes[i], errs[i] = Open(ctx, options[i]) })
	}
	all.Wait()
	told := 0
	for i, err := range errs {
		require.Error(t, err, "server %d began", i) // the last one has nobody to meet
		var rejoin *RejoinError
		if errors.As(err, &rejoin) {
			told++
		} else {
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
	}
	require.GreaterOrEqual(t, told, 2)
	for i := range options {
		require.NoError(t, os.RemoveAll(options[i].Dir))
		options[i].Rejoin = false
		nodes[i] = open(t, options[i])
	}
	leaderOf(t, nodes[:])
}

// The others don't hear of a folder that is refused for what it has.
func TestRefusedFolder(t *testing.T) {
	options, nodes := three(t)
	for i := range nodes {
		nodes[i] = open(t, options[i])
	}
	leaderOf(t, nodes[:])
	require.NoError(t, nodes[0].Close())
	nodes[0] = nil
	for i, n := range nodes[1:] {
		require.NoError(t, n.Close())
		nodes[1+i] = nil
	}
	l, err := openLog(filepath.Join(options[0].Dir, "log.db"))
	require.NoError(t, err)
	require.NoError(t, l.Set(metKey, nil)) // as if it had never met them
	require.NoError(t, l.Close())
	peers := append([]string{options[0].Name}, free(t, 2)...)
	o := options[0]
	o.Peers = peers
	heard, err := net.Listen("tcp", mustPeer(t, peers[1]))
	require.NoError(t, err)
	defer heard.Close()
	met := make(chan struct{}, 100)
	go func() {
		for {
			c, err := heard.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
			met <- struct{}{}
		}
	}()
	_, err = Open(t.Context(), o)
	var refused *PeersError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, o.Dir, refused.Dir)
	time.Sleep(3 * patience)
	require.Empty(t, met)
}

func mustPeer(t *testing.T, client string) string {
	at, err := peerAddress(client)
	require.NoError(t, err)
	return at
}

// When a member has another folder, connections of the old one end: what they acknowledge isn't stored.
func TestOldConnections(t *testing.T) {
	l, err := openLog(filepath.Join(t.TempDir(), "log.db"))
	require.NoError(t, err)
	defer l.Close()
	peers := []string{"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"}
	m, err := newMembers(&Options{Name: peers[0], Peers: peers, Types: integers, Log: slog.New(slog.DiscardHandler)}, l)
	require.NoError(t, err)
	m.checked.Store(true)
	m.ready.Store(true)
	meet := func(g greeting) (theirs net.Conn) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		answered := make(chan error, 1)
		go func() { answered <- m.answer(ours) }()
		g.Version, g.Peers, g.Types = version, peers, integers
		require.NoError(t, send(theirs, &g))
		require.NoError(t, receive(theirs, new(greeting)))
		require.NoError(t, <-answered)
		return theirs
	}
	ended := func(c net.Conn) bool {
		if err := c.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			return errors.Is(err, io.ErrClosedPipe)
		}
		_, err := c.Read(make([]byte, 1))
		return errors.Is(err, io.EOF)
	}
	old, other := meet(greeting{Name: peers[1], Folder: "a"}), meet(greeting{Name: peers[2], Folder: "b"})
	require.False(t, ended(old))
	again := meet(greeting{Name: peers[1], Folder: "c", Rejoin: true})
	require.True(t, ended(old))
	require.False(t, ended(other))
	require.False(t, ended(again))
}

func transport(t *testing.T) messages {
	x, err := raft.NewTCPTransport("127.0.0.1:0", nil, 1, time.Second, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = x.Close() })
	return messages{NetworkTransport: x}
}

// A message that the library has filled goes on with what follows in the log, up to bounds of entries and of bytes, and
// only if the log can't have been cut meanwhile.
func TestFill(t *testing.T) {
	l, err := openLog(filepath.Join(t.TempDir(), "log.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	const small, all = 2 * mostSent, 2*mostSent + 100
	var entries []*raft.Log
	for i := uint64(1); i <= all; i++ {
		entries = append(entries, &raft.Log{Index: i, Term: 7, Data: make([]byte, 1+i/small<<20)})
	}
	for part := range slices.Chunk(entries, mostSent) {
		require.NoError(t, l.StoreLogs(part))
	}
	for _, x := range []struct {
		first, has   int
		term         uint64
		stored, sent int
	}{{1, mostLoaded, 7, 7, mostSent}, {1, mostLoaded - 1, 7, 7, mostLoaded - 1}, {1, mostLoaded, 7, 8, mostLoaded},
		{small - mostLoaded - 9, mostLoaded, 7, 7, mostLoaded + 9 + 7}, // and seven of 1 MiB and a byte
		{small - mostLoaded, mostLoaded, 7, 7, mostLoaded + 7},
	} {
		require.NoError(t, l.SetUint64(termKey, uint64(x.stored)))
		args := &raft.AppendEntriesRequest{Term: x.term, Entries: slices.Clone(entries[x.first-1 : x.first-1+x.has])}
		messages{log: l}.fill(args)
		require.Len(t, args.Entries, x.sent)
		for i, e := range args.Entries {
			require.EqualValues(t, x.first+i, e.Index)
			require.Len(t, e.Data, len(entries[e.Index-1].Data))
		}
	}
	require.NoError(t, l.DeleteRange(small-1, all))
	args := &raft.AppendEntriesRequest{Term: 7, Entries: slices.Clone(entries[small-2-mostLoaded : small-2])}
	messages{log: l}.fill(args)
	require.Len(t, args.Entries, mostLoaded, "nothing follows")
}

// A message has entries up to a bound of bytes, but at least one, and the library learns which were sent.
func TestMessages(t *testing.T) {
	from, to := transport(t), transport(t)
	for _, x := range []struct {
		sizes []int // of entries, in MiB
		sent  int
	}{{nil, 0}, {[]int{0, 0, 0}, 3}, {[]int{3, 3, 3, 0}, 2}, {[]int{4, 4, 0, 1}, 3}, {[]int{9, 0}, 1}} {
		args := &raft.AppendEntriesRequest{}
		for i, size := range x.sizes {
			args.Entries = append(args.Entries, &raft.Log{Index: uint64(i + 1), Data: make([]byte, size<<20)})
		}
		came := make(chan int, 1)
		go func() {
			rpc := <-to.Consumer()
			came <- len(rpc.Command.(*raft.AppendEntriesRequest).Entries)
			rpc.Respond(&raft.AppendEntriesResponse{}, nil)
		}()
		require.NoError(t, from.AppendEntries("to", to.LocalAddr(), args, &raft.AppendEntriesResponse{}))
		require.Equal(t, x.sent, <-came, "%v", x.sizes)
		require.Len(t, args.Entries, x.sent)
	}
}

// One that rejoins neither votes nor asks for votes before it has an entry of the term that ends this.
func TestBarred(t *testing.T) {
	l, err := openLog(filepath.Join(t.TempDir(), "log.db"))
	require.NoError(t, err)
	defer l.Close()
	other, ended := transport(t), make(chan struct{})
	defer close(ended)
	b := &barred{messages: transport(t), log: l, term: 5, rpcs: make(chan raft.RPC)}
	go b.forward(ended)
	go func() {
		for {
			select {
			case rpc := <-b.Consumer():
				switch rpc.Command.(type) {
				case *raft.RequestVoteRequest:
					rpc.Respond(&raft.RequestVoteResponse{Granted: true}, nil)
				case *raft.RequestPreVoteRequest:
					rpc.Respond(&raft.RequestPreVoteResponse{Granted: true}, nil)
				default:
					rpc.Respond(&raft.AppendEntriesResponse{Success: true}, nil)
				}
			case <-ended:
				return
			}
		}
	}()
	votes := func() (granted int) {
		var vote raft.RequestVoteResponse
		var before raft.RequestPreVoteResponse
		var entries raft.AppendEntriesResponse
		if other.RequestVote("", b.LocalAddr(), &raft.RequestVoteRequest{}, &vote) == nil && vote.Granted {
			granted++
		}
		if other.RequestPreVote("", b.LocalAddr(), &raft.RequestPreVoteRequest{}, &before) == nil && before.Granted {
			granted++
		}
		require.NoError(t, other.AppendEntries("", b.LocalAddr(), &raft.AppendEntriesRequest{}, &entries))
		require.True(t, entries.Success, "entries pass")
		return granted
	}
	for i, x := range []struct {
		term uint64
		want int
	}{{0, 0}, {4, 0}, {5, 2}} {
		require.NoError(t, l.StoreLog(&raft.Log{Index: uint64(i + 1), Term: x.term}))
		require.Equal(t, x.want, votes(), "term %d", x.term)
		err := b.RequestVote("", "nobody", &raft.RequestVoteRequest{}, &raft.RequestVoteResponse{})
		require.Equal(t, x.want == 0, err == errBarred)
		err = b.RequestPreVote("", "nobody", &raft.RequestPreVoteRequest{}, &raft.RequestPreVoteResponse{})
		require.Equal(t, x.want == 0, err == errBarred)
	}
}

// When the leader's clock jumps ahead, keys with deadlines go early, and nothing else does. When it is right again,
// deadlines last longer by the jump, and followers don't answer, until the time of the jump is there.
func TestClockJump(t *testing.T) {
	options, nodes := three(t)
	var jump atomic.Int64 // milliseconds
	clock := func() time.Time { return time.Now().Add(time.Duration(jump.Load()) * time.Millisecond) }
	for i := range nodes {
		options[i].Stale = time.Second
		options[i].clock = clock
		nodes[i] = open(t, options[i])
	}
	led := leaderOf(t, nodes[:])
	leader, follower := nodes[led], nodes[(led+1)%3]
	const far = 1000 * 1000
	in := func(ms int64) int64 { return leader.Now() + ms }
	_, err := leader.Write([]Op{set(1, 1), {Kind: Set, Key: 2, Value: 2, Deadline: in(far / 2)},
		{Kind: Set, Key: 3, Value: 3, Deadline: in(2 * far)}}, nil)
	require.NoError(t, err)
	answers := func(n *Node, want ...bool) bool {
		got, err := get(t, n, n == follower, 1, 2, 3)
		return err == nil && got[0].Found == want[0] && got[1].Found == want[1] && got[2].Found == want[2]
	}
	eventually := func(f func() bool, what string) {
		t.Helper()
		require.Eventually(t, f, 10*time.Second, 5*time.Millisecond, what)
	}
	eventually(func() bool { return answers(leader, true, true, true) && answers(follower, true, true, true) }, "all")
	jump.Store(far)
	eventually(func() bool { return answers(leader, true, false, true) && answers(follower, true, false, true) },
		"the deadline before the jump has passed")
	jump.Store(0)
	_, err = get(t, follower, true, 1)
	var not *NotLeaderError
	require.ErrorAs(t, err, &not, "how old its state is isn't known")
	require.InDelta(t, time.Now().UnixMilli()+far, leader.Now(), 10_000, "time goes on from the latest there was")
	_, err = leader.Write([]Op{{Kind: Set, Key: 2, Value: 2, Deadline: in(100)}}, nil)
	require.NoError(t, err)
	time.Sleep(300 * time.Millisecond)
	require.True(t, answers(leader, true, true, true), "it lasts longer by the jump")
	jump.Store(far + 1000) // that time is there
	eventually(func() bool { return answers(leader, true, false, true) && answers(follower, true, false, true) },
		"all as usual")
}
