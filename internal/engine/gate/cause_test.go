package gate

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// A call that gives up returns the cause of its context, whether it had to wait or not.
func TestCause(t *testing.T) {
	home := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	g := New("handle")
	require.NoError(t, g.Enter(t.Context()))
	waited := make(chan error)
	go func() { waited <- g.Enter(ctx) }()
	cancel(home)
	require.Equal(t, home, <-waited)
	g.Leave()
	require.Equal(t, home, g.EnterShared(ctx))
}
