package gate

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// The end of a handle is its own, and that of what it shares is everybody's, whatever the context.
func TestEndWithin(t *testing.T) {
	outer := New("handle")
	one, two := New("handle").Within(outer), New("handle").Within(outer)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	end := func(g *Gate) {
		leave, open, err := g.Shut()
		require.NoError(t, err)
		require.True(t, open)
		g.End()
		leave()
	}
	end(one)
	require.ErrorIs(t, one.Err(), vk.ErrClosed)
	require.ErrorIs(t, one.EnterShared(over), vk.ErrClosed)
	require.ErrorIs(t, two.EnterShared(over), context.Canceled)
	require.NoError(t, two.Enter(t.Context()))
	two.Leave()
	end(outer)
	require.ErrorIs(t, two.Err(), vk.ErrClosed)
	require.ErrorIs(t, two.Enter(over), vk.ErrClosed)
	leave, open, err := two.Shut()
	require.NoError(t, err)
	require.True(t, open, "its own end has not come")
	leave()
}
