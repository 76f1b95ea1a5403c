package serve_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	tellers  = 3
	accounts = 4    // of a teller
	funds    = 1000 // of all accounts of a teller
	firstKey = 1 << 40
)

// openBank lets tellers move money between their accounts until closed is called. One MSET is one transfer: it writes
// all accounts of the teller, and the number of the transfer. One MGET is one audit: it must see each teller's funds
// whole, whatever is killed, and no transfer gone that was answered. It opens when all servers take part: before, a
// cluster waits for one that was killed.
func openBank(t *testing.T, all []*server) (closed func()) {
	same(t, all)
	ctx, stop := context.WithCancel(t.Context())
	var g sync.WaitGroup
	var transfers, audits [tellers]int
	for id := range tellers {
		tell, audit := newClient(all), newClient(all)
		opened := make(chan struct{})
		g.Go(func() {
			defer tell.close()
			state := make([]int, accounts+1)
			state[0] = funds
			first := sync.OnceFunc(func() { close(opened) })
			for ctx.Err() == nil {
				next := append([]int{}, state...)
				from, to := rand.IntN(accounts), rand.IntN(accounts)
				amount := rand.IntN(next[from] + 1)
				next[from] -= amount
				next[to] += amount
				next[accounts]++
				arguments := []any{"MSET"}
				for i, x := range next {
					arguments = append(arguments, key(id, i), x)
				}
				if _, done := tell.do(ctx, arguments...); done {
					state = next
					first()
					transfers[id]++
					time.Sleep(2 * time.Millisecond)
					continue
				}
				is := look(ctx, tell, id)
				switch {
				case is == nil: // ctx has ended, or no transfer was ever done
				case is[accounts] != state[accounts] && is[accounts] != next[accounts]:
					t.Errorf("teller %d: transfer %d was answered, and %d is there", id, state[accounts], is[accounts])
					return
				default:
					state = is
					first()
				}
			}
		})
		g.Go(func() {
			defer audit.close()
			select {
			case <-opened:
			case <-ctx.Done():
			}
			last := 0
			for ctx.Err() == nil {
				is := look(ctx, audit, id)
				if is == nil {
					continue
				}
				sum := 0
				for _, x := range is[:accounts] {
					sum += x
				}
				if sum != funds || is[accounts] < last {
					t.Errorf("teller %d: %v after transfer %d", id, is, last)
					return
				}
				last = is[accounts]
				audits[id]++
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return func() {
		stop()
		g.Wait()
		for id := range tellers {
			require.Positive(t, transfers[id], "of teller %d", id)
			require.Positive(t, audits[id], "of teller %d", id)
		}
	}
}

func key(teller, account int) int { return firstKey + teller*(accounts+1) + account }

// look returns what a teller has, or nil if the accounts aren't there or the context has ended.
func look(ctx context.Context, c *client, id int) (is []int) {
	arguments := []any{"MGET"}
	for i := range accounts + 1 {
		arguments = append(arguments, key(id, i))
	}
	for ctx.Err() == nil {
		got, done := c.do(ctx, arguments...)
		if !done {
			continue
		}
		for _, x := range got.([]any) {
			text, there := x.(string)
			if !there {
				return nil
			}
			n, _ := strconv.Atoi(text)
			is = append(is, n)
		}
		return is
	}
	return nil
}
