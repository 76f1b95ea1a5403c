package gate

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/vk"
)

// What a function of one handle's calls of another one that shares its outer gate is refused, also where a call of
// another goroutine is in the other one's gate and waits for the outer one.
func TestCallbackBesideACallThatWaits(t *testing.T) {
	outer := New()
	one, two := Within(outer), Within(outer)
	require.NoError(t, one.Enter(t.Context()))
	other := later(func() error { return two.Enter(t.Context()) })
	requireWaiting(t, other)
	one.Progress(func(int, int) {
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var reentry *ReentryError
		for _, enter := range []func(context.Context) error{two.Enter, two.EnterShared, outer.Enter} {
			require.ErrorAs(t, enter(soon), &reentry)
		}
		_, _, err := two.Shut()
		require.ErrorAs(t, err, &reentry)
		leave, open := two.Take()
		defer leave()
		require.True(t, open)
	})(0, 0)
	one.Leave()
	require.NoError(t, <-other)
	two.Leave()
}

// The end of a handle is its own, and that of what it shares is everybody's, whatever the context.
func TestEndWithin(t *testing.T) {
	outer := New()
	one, two := Within(outer), Within(outer)
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
