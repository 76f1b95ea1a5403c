package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/vkds/vkds/internal/tool/keytype"
	"github.com/vkds/vkds/internal/tool/serve/bulk"
	"github.com/vkds/vkds/internal/tool/serve/replica"
)

// Several clusters may keep one dictionary: each is a shard, with a range of the slots. A client goes to the shard of
// its key. A server knows the members of all shards from its flags, and asks those of the others who leads there.

const (
	// learnEvery is the time between questions to a shard about its leader. A client that is sent to an old leader is
	// sent on by it.
	learnEvery = 500 * time.Millisecond
	// silentFor is how long another shard may say nothing while it is asked.
	silentFor = 10 * time.Second
	// places is the number of connections to another server.
	places = 4
)

// shard is a cluster that keeps a part of the keys.
type shard struct {
	number, of int // the first one is 0
	members    []string
	leader     atomic.Pointer[string] // the last known one, or the first member
	met        atomic.Bool            // a member has said that its shards are the same

	types   replica.Types
	clients map[string]*redis.Client // by member; nil: this server's own shard
	said    string                   // the last warning
}

// slots returns the first and the last slot of a shard.
func (x *shard) slots() (first, last int) {
	return (x.number*slots + x.of - 1) / x.of, ((x.number+1)*slots+x.of-1)/x.of - 1
}

func (x *shard) String() string { return fmt.Sprintf("shard %d of %d", x.number+1, x.of) }

// newShards returns all shards, and which of them is the server's own.
func newShards(o *Options, c *replica.Options) (all []*shard, own int) {
	peers, lists := c.Peers, o.Shards
	if len(lists) == 0 {
		if len(peers) == 0 {
			peers = []string{c.Name}
		}
		lists = [][]string{peers}
	}
	for i, members := range lists {
		x := &shard{number: i, of: len(lists), members: members, types: c.Types}
		x.leader.Store(&members[0])
		if slices.Contains(members, c.Name) {
			own = i
		} else {
			redis.SetLogger(unlogged{})
			x.clients = map[string]*redis.Client{}
			for _, m := range members {
				x.clients[m] = client(m, o.Password, o.Between)
			}
		}
		all = append(all, x)
	}
	return all, own
}

// unlogged is for a library that logs each connection that fails: learnLeaders says it once.
type unlogged struct{}

func (unlogged) Printf(context.Context, string, ...any) {}

func client(address, password string, c *tls.Config) *redis.Client {
	o := &redis.Options{Addr: address, Password: password, TLSConfig: c, Protocol: 2, PoolSize: places, MaxRetries: -1,
		DialerRetries: 1, DialTimeout: time.Second, ReadTimeout: -1, WriteTimeout: silentFor, PoolTimeout: silentFor,
		DisableIdentity: true, ContextTimeoutEnabled: true}
	dial := redis.NewDialer(o)
	o.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &talking{Conn: c, most: silentFor}, nil
	}
	return redis.NewClient(o)
}

// talking is a connection whose reads fail if nothing comes for a while, however long the whole answer takes.
type talking struct {
	net.Conn
	most  time.Duration // without a byte
	until time.Time     // of the context of the question; zero: none
}

// SetReadDeadline sets when reads fail in any case.
func (t *talking) SetReadDeadline(until time.Time) error {
	t.until = until
	return nil
}

// Read waits for the next bytes.
func (t *talking) Read(into []byte) (int, error) {
	until := time.Now().Add(t.most)
	if !t.until.IsZero() && t.until.Before(until) {
		until = t.until
	}
	if err := t.Conn.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := t.Conn.Read(into)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errSilent
	}
	return n, err
}

// errSilent stands for the system's error, which names this end's port: each of these would be another warning.
var errSilent = fmt.Errorf("it says nothing: %w", os.ErrDeadlineExceeded)

func (x *shard) close() {
	for _, c := range x.clients {
		_ = c.Close()
	}
}

// learnLeaders keeps the leaders of other shards up to date until the context ends.
func (s *Server) learnLeaders(ctx context.Context) {
	var all sync.WaitGroup
	for _, x := range s.shards {
		if x.clients == nil {
			continue
		}
		all.Go(func() {
			for ctx.Err() == nil {
				err := x.learn(ctx)
				if text := fmt.Sprint(err); err != nil && text != x.said && ctx.Err() == nil {
					s.o.Log.Warn("a shard is not reached", "shard", x, "error", err)
					x.said = text
				} else if err == nil && x.said != "" {
					s.o.Log.Info("a shard is reached again", "shard", x, "leader", *x.leader.Load())
					x.said = ""
				}
				select {
				case <-ctx.Done():
				case <-time.After(learnEvery):
				}
			}
		})
	}
	all.Wait()
}

// learn asks the members of another shard who leads it, first the one that did.
func (x *shard) learn(ctx context.Context) (err error) {
	first := slices.Index(x.members, *x.leader.Load())
	for i := range x.members {
		m := x.members[(first+i)%len(x.members)]
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		nodes, failed := x.clients[m].ClusterNodes(ctx).Result()
		if failed == nil && !x.met.Load() {
			var info string
			if info, failed = x.clients[m].Info(ctx).Result(); failed == nil {
				failed = x.typesOf(info)
			}
		}
		cancel()
		if failed == nil {
			var leader string
			switch leader, failed = x.leaderOf(nodes); {
			case failed == nil:
				x.leader.Store(&leader)
				x.met.Store(true)
				return nil
			case errors.Is(failed, errOther):
				x.met.Store(false)
			}
		}
		err = cmp.Or(err, fmt.Errorf("%s: %w", m, failed))
	}
	return err
}

var (
	errNoLeader = errors.New("it knows no leader")
	errOther    = errors.New("its flags are others")
)

// leaderOf finds the leader of a shard in what a member of it answers to CLUSTER NODES.
func (x *shard) leaderOf(nodes string) (string, error) {
	first, last := x.slots()
	for line := range strings.Lines(nodes) {
		f := strings.Fields(line)
		if len(f) < 9 || !strings.Contains(f[2], "master") {
			continue
		}
		address, _, _ := strings.Cut(f[1], "@")
		switch {
		case !slices.Contains(x.members, address):
		case f[8] != fmt.Sprintf("%d-%d", first, last):
			return "", fmt.Errorf("it has the slots %s and not %d-%d: %w", f[8], first, last, errOther)
		default:
			return address, nil
		}
	}
	return "", errNoLeader
}

// typesOf returns an error if a server whose INFO this is has other types.
func (x *shard) typesOf(info string) error {
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		for own, t := range map[string]keytype.Type{"vkds_key_type": x.types.Key, "vkds_value_type": x.types.Value} {
			if name == own && value != t.String() {
				return fmt.Errorf("its %s is %s and not %v: %w", own, value, t, errOther)
			}
		}
	}
	return nil
}

// shardOf returns the shard of a slot.
func (s *Server) shardOf(slot int) *shard { return s.shards[slot*len(s.shards)/slots] }

// own parses the key of an operation. If another shard has it, own answers where. Keys have the slots of their own
// texts: 007 is where 7 is.
func (c *conn) own(text []byte) (uint64, bool) {
	word, ok := c.key(text)
	if !ok || len(c.s.shards) == 1 {
		return word, ok
	}
	slot := bulk.Slot(c.keyText(word))
	x := c.s.shardOf(slot)
	switch {
	case x.clients == nil:
		c.here = true
		return word, true
	case c.here:
		c.fail("CROSSSLOT the keys are of several shards")
	default:
		c.fail("MOVED %d %s", slot, *x.leader.Load())
	}
	return 0, false
}
