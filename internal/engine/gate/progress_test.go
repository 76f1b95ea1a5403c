package gate

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// reporting is a call on a handle that reports 1 to n.
func reporting(ctx context.Context, g *Gate, p *Progress, n int) error {
	ctx, end := p.Begin(ctx)
	defer end()
	if err := g.Enter(ctx); err != nil {
		return err
	}
	defer g.Leave()
	if told := Told(ctx); told != nil {
		for i := range n {
			told(i+1, n)
		}
	}
	return nil
}

// Each report is told, before the call goes on.
func TestProgress(t *testing.T) {
	g := New("handle")
	var told [][2]int
	p := NewProgress(func(done, total int) { told = append(told, [2]int{done, total}) })
	require.NoError(t, reporting(t.Context(), g, p, 3))
	require.Equal(t, [][2]int{{1, 3}, {2, 3}, {3, 3}}, told)
	require.Nil(t, NewProgress(nil))
	require.NoError(t, reporting(t.Context(), g, nil, 3))
	require.Nil(t, Told(t.Context()))
}

// A function that calls its handle gets its turn after the call that reports. Meanwhile later numbers replace each
// other, and the calls that it makes report nothing. The call returns after the function.
func TestProgressCallsItsHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New("handle")
		var p *Progress
		var told []int
		returned := false
		p = NewProgress(func(done, _ int) {
			told = append(told, done)
			if err := reporting(t.Context(), g, p, 5); err != nil {
				t.Error(err)
			}
			returned = true
		})
		require.NoError(t, reporting(t.Context(), g, p, 5))
		require.True(t, returned)
		require.Equal(t, []int{1, 5}, told)
	})
}

// While a function runs, calls on another handle inside of the call that reports don't wait for its end: the outermost
// call does, when it has left its own gate.
func TestProgressCallsTheOuterHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outer, inner := New("handle"), New("handle")
		entered := false
		p := NewProgress(func(int, int) {
			if err := outer.Enter(t.Context()); err == nil {
				entered = true
				outer.Leave()
			}
		})
		call := func() error {
			ctx, end := (*Progress)(nil).Begin(t.Context())
			defer end()
			ctx, end = NewProgress(func(int, int) { t.Error("told of the inner call") }).Begin(ctx)
			defer end()
			if err := outer.Enter(ctx); err != nil {
				return err
			}
			defer outer.Leave()
			if err := reporting(ctx, inner, nil, 1); err != nil {
				return err
			}
			return reporting(ctx, inner, p, 1)
		}
		require.NoError(t, call())
		require.True(t, entered)
	})
}

// Calls beside each other call the function one at a time.
func TestProgressIsCalledOnce(t *testing.T) {
	g := New("handle")
	told, sum := 0, 0
	p := NewProgress(func(done, _ int) { told, sum = told+1, sum+done })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				_ = reporting(t.Context(), g, p, 3)
			}
		})
	}
	wg.Wait()
	require.NotZero(t, told)
	require.LessOrEqual(t, told, 2400)
	require.GreaterOrEqual(t, sum, told)
}

// What ends the function ends the call: at once, or at the end if the function took longer.
func TestProgressEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, takes := range []time.Duration{0, time.Second} {
			g := New("handle")
			told := 0
			do := func() {}
			p := NewProgress(func(int, int) { told++; time.Sleep(takes); do() })
			do = func() { panic("by the user") }
			require.PanicsWithValue(t, "by the user", func() { _ = reporting(t.Context(), g, p, 3) })
			do = runtime.Goexit
			ended := make(chan bool)
			go func() {
				returned := false
				defer func() { ended <- returned }()
				_ = reporting(t.Context(), g, p, 3)
				returned = true
			}()
			require.False(t, <-ended)
			require.Equal(t, 2, told)
			do = func() {}
			require.NoError(t, reporting(t.Context(), g, p, 1), "the gate is free")
			require.Equal(t, 3, told)
		}
	})
}
