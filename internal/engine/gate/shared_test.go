package gate

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// inTogether has so many goroutines do something as queries.
func inTogether(t *testing.T, g *Gate, queries int, do func()) {
	var wg sync.WaitGroup
	for range queries {
		wg.Go(func() {
			if g.EnterShared(t.Context()) != nil {
				t.Error("an open gate")
				return
			}
			defer g.LeaveShared()
			do()
		})
	}
	wg.Wait()
}

// Queries are in together, each waiting for all others to be in; a change is in alone.
func TestShared(t *testing.T) {
	const queries = 8
	g := New("handle")
	var in, changing atomic.Int32
	together := make(chan struct{})
	inTogether(t, g, queries, func() {
		if in.Add(1) == queries {
			close(together)
		}
		<-together
	})
	var wg sync.WaitGroup
	for range queries {
		wg.Go(func() {
			for range 500 {
				if g.EnterShared(t.Context()) == nil {
					if changing.Load() != 0 {
						t.Error("a query beside a change")
					}
					g.LeaveShared()
				}
				if g.Enter(t.Context()) == nil {
					if changing.Add(1) != 1 {
						t.Error("two changes")
					}
					changing.Add(-1)
					g.Leave()
				}
			}
		})
	}
	wg.Wait()
}

// later is a call that waits: what it returned once it is through.
func later(call func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- call() }()
	return result
}

func requireWaiting(t *testing.T, result <-chan error) {
	t.Helper()
	select {
	case err := <-result:
		require.Fail(t, "it did not wait", "%v", err)
	case <-time.After(10 * time.Millisecond):
	}
}

// A change waits for the queries that are in, and those that come later wait for it, so that they can't hold it up for
// ever. Where it gives up, they go on.
func TestChangesAreNotStarved(t *testing.T) {
	g := New("handle")
	require.NoError(t, g.EnterShared(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	change := later(func() error { return g.Enter(ctx) })
	requireWaiting(t, change)
	query := later(func() error { return g.EnterShared(t.Context()) })
	requireWaiting(t, query)
	over, giveUp := context.WithTimeout(t.Context(), time.Millisecond)
	defer giveUp()
	require.ErrorIs(t, g.EnterShared(over), context.DeadlineExceeded)
	cancel()
	require.ErrorIs(t, <-change, context.Canceled)
	require.NoError(t, <-query)

	change = later(func() error { return g.Enter(t.Context()) })
	requireWaiting(t, change)
	g.LeaveShared()
	requireWaiting(t, change)
	g.LeaveShared()
	require.NoError(t, <-change)
	g.Leave()
}

// The end waits for queries, and those that wait for it are told.
func TestEndBehindQueries(t *testing.T) {
	g := New("handle")
	require.NoError(t, g.EnterShared(t.Context()))
	end := later(func() error {
		leave, open, err := g.Shut()
		if err == nil && open {
			g.End()
			leave()
		}
		return err
	})
	requireWaiting(t, end)
	query := later(func() error { return g.EnterShared(t.Context()) })
	requireWaiting(t, query)
	g.LeaveShared()
	require.NoError(t, <-end)
	require.ErrorIs(t, <-query, vk.ErrClosed)
}
