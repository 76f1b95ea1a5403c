package serve_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// shards makes servers that are n shards of some members each.
func shards(t *testing.T, n, members int) (all []*server) {
	all = servers(t, n*members)
	var flags []string
	for i := range n {
		var list []string
		for _, s := range all[i*members : (i+1)*members] {
			list = append(list, s.address)
		}
		flags = append(flags, "--shard", strings.Join(list, ","))
	}
	for _, s := range all {
		s.peers, s.flags = nil, flags
	}
	return all
}

// Servers of two shards are killed while clients read and write keys of both: histories are linearizable, and a shard
// whose servers are whole answers while the other one has no leader.
func TestKilledShards(t *testing.T) {
	all := shards(t, 2, 3)
	for _, s := range all {
		s.start(t)
	}
	for round := range max(2, 20*stress.Level) {
		hit := round % 2 // the shard that loses its leader
		leader(t, all[3:])
		killed := leader(t, all[3*hit:3*hit+3])
		its, whole := keyOf(t, all[0], hit), keyOf(t, all[0], 1-hit)
		others := all[3*(1-hit) : 3*(1-hit)+3] // one that is about to be killed may end a connection
		linearizable(t, all, round, func() {
			ctx, stop := context.WithCancel(t.Context())
			var g sync.WaitGroup
			var done, worst atomic.Int64
			g.Go(func() {
				c := newClient(others)
				defer c.close()
				for ctx.Err() == nil {
					began := time.Now()
					if _, ok := c.do(t.Context(), "INCR", whole); !ok {
						t.Errorf("a shard that is whole failed")
						return
					}
					worst.Store(max(worst.Load(), time.Since(began).Milliseconds()))
					done.Add(1)
				}
			})
			time.Sleep(time.Duration(rand.IntN(200)) * time.Millisecond)
			killed.kill()
			time.Sleep(700 * time.Millisecond) // nobody leads yet, as a rule
			before := done.Load()
			time.Sleep(200 * time.Millisecond)
			require.Greater(t, done.Load(), before, "the other shard goes on")
			takeoverOf(t, all[3*hit:3*hit+3], its)
			stop()
			g.Wait()
			t.Logf("round %d: %d increments, the slowest took %d ms", round, done.Load(), worst.Load())
		})
		killed.start(t)
	}
}

// keyOf returns a key, below those of histories, of one of two shards.
func keyOf(t *testing.T, s *server, shard int) string {
	r := redis.NewClient(&redis.Options{Addr: s.address})
	defer r.Close()
	for i := -1; ; i-- {
		slot, err := r.ClusterKeySlot(t.Context(), strconv.Itoa(i)).Result()
		require.NoError(t, err)
		if int(slot)/8192 == shard {
			return strconv.Itoa(i)
		}
	}
}

// A stock client of a cluster finds the shards by itself, also with TLS and a password, and each server answers
// questions about all keys. Copies of the folders of other shards are refused.
func TestStockClientOfShards(t *testing.T) {
	all := shards(t, 3, 1)
	dir := t.TempDir()
	cert, key, signers := certificate(t, dir)
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("open sesame\n"), 0o600))
	var addresses []string
	for _, s := range all {
		s.flags = append([]string{"--tls-cert", cert, "--tls-key", key, "--tls-ca", cert, "--password-file", secret},
			s.flags...)
		s.start(t)
		addresses = append(addresses, s.address)
	}
	ctx := t.Context()
	r := redis.NewClusterClient(&redis.ClusterOptions{Addrs: addresses[:1], Password: "open sesame",
		TLSConfig: &tls.Config{RootCAs: signers}})
	defer r.Close()
	p := r.Pipeline()
	const n = 1000
	for i := range n {
		p.Set(ctx, strconv.Itoa(i), 2*i, 0)
	}
	_, err := p.Exec(ctx)
	require.NoError(t, err)
	for _, i := range []int{0, 1, 17, n - 1} {
		got, err := r.Get(ctx, strconv.Itoa(i)).Int()
		require.NoError(t, err)
		require.Equal(t, 2*i, got)
	}
	size, err := r.DBSize(ctx).Result()
	require.NoError(t, err)
	require.EqualValues(t, n, size)
	var scanned atomic.Int64
	require.NoError(t, r.ForEachMaster(ctx, func(ctx context.Context, c *redis.Client) error {
		if count, err := c.Do(ctx, "VK.COUNT", "-", "+").Int(); err != nil || count != n {
			return fmt.Errorf("%d of %d: %w", count, n, err)
		}
		for i := c.Scan(ctx, 0, "*", 100).Iterator(); i.Next(ctx); {
			scanned.Add(1)
		}
		return nil
	}))
	require.EqualValues(t, n, scanned.Load())
	nearest, err := r.Do(ctx, "VK.FLOOR", 123456).StringSlice()
	require.NoError(t, err)
	require.Equal(t, []string{strconv.Itoa(n - 1), strconv.Itoa(2*n - 2)}, nearest)
	require.ErrorContains(t, r.Do(ctx, "VK.RANGE", "1").Err(), "wrong number of arguments")

	for _, s := range all {
		s.kill()
	}
	all[0].dir, all[1].dir = all[1].dir, all[0].dir
	text := refusal(t, all[0])
	require.Contains(t, text, "has shard 2 of 3, not shard 1 of 3")
}

// refusal starts a server that must end by itself, and returns what it says.
func refusal(t *testing.T, s *server) string {
	before, err := s.log.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	s.run(t)
	require.Error(t, s.cmd.Wait())
	s.cmd = nil
	text, err := os.ReadFile(s.log.Name())
	require.NoError(t, err)
	return string(text[before:])
}
