package gate

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// One at a time is in, and nobody is forgotten.
func TestTurns(t *testing.T) {
	g := New("handle")
	inside, all := 0, 0
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if g.Enter(t.Context()) != nil {
					return
				}
				inside++
				if inside == 1 {
					all++
				}
				inside--
				g.Leave()
			}
		})
	}
	wg.Wait()
	require.Equal(t, 8000, all)
}

// Who waits gives up with his context, and the gate is as before.
func TestGivingUp(t *testing.T) {
	g := New("handle")
	require.NoError(t, g.Enter(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, g.Enter(ctx), context.DeadlineExceeded)
	g.Leave()
	require.ErrorIs(t, g.Enter(ctx), context.DeadlineExceeded, "ended before")
	require.NoError(t, g.Enter(t.Context()))
	g.Leave()
}

func TestEnd(t *testing.T) {
	g := New("handle")
	require.NoError(t, g.Enter(t.Context()))
	ended := make(chan error)
	go func() { ended <- g.Enter(t.Context()) }()
	g.End()
	g.Leave()
	require.ErrorIs(t, <-ended, vk.ErrClosed, "it came before the end")
	leave, open := g.Take()
	require.False(t, open)
	leave()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, g.Enter(over), vk.ErrClosed)
}
