package vk

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type moreArguments struct {
	Y      uint64
	Factor uint32
}

type argumentsPush struct {
	More       Arguments[moreArguments]
	Open       uint64
	Count, Add uint32
}

// Many arguments in one batch exceed one piece of memory. Each dispatch reads its own, also if nothing else orders the
// dispatches. Later batches reuse the memory of earlier ones.
func TestArguments(t *testing.T) {
	d := openFor(t, Options{})
	k, err := NewKernel[argumentsPush](d, module(t, "arguments"), KernelOptions{})
	require.NoError(t, err)
	t.Cleanup(k.Free)
	const n, many = 100, 1000
	y := buffer[uint32](t, d, n*many)
	s := stream(t, d)
	for batch := range uint32(3) {
		dispatch := func(i int) {
			more := NewArguments(s, moreArguments{y.AddressOf(i * n), uint32(i) + batch})
			k.Dispatch(s, 2, argumentsPush{More: more, Count: n, Add: batch})
		}
		s.Fill(y, 0, y.Len(), 0)
		for i := range many / 2 {
			dispatch(i)
		}
		s.Concurrent(func() {
			for i := many / 2; i < many; i++ {
				dispatch(i)
			}
		})
		require.NoError(t, s.Wait(context.Background()))
		for at, got := range download(t, y) {
			i := uint32(at / n)
			require.Equal(t, batch+(i+batch)*uint32(at%n), got, "element %d of dispatch %d", at%n, i)
		}
	}
}

// Arguments that no command uses, those of a dropped batch, and empty ones.
func TestArgumentsOfNothing(t *testing.T) {
	d := openFor(t, Options{})
	s := stream(t, d)
	before, _ := d.Memory()
	NewArguments(s, moreArguments{})
	s.Discard()
	NewArguments(s, struct{}{})
	require.NoError(t, s.Wait(context.Background()))
	NewArguments(s, moreArguments{})
	require.NoError(t, s.Wait(context.Background()))
	after, _ := d.Memory()
	require.Equal(t, before, after)
	NewArguments(s, [mostArguments/4 + 1]uint32{})
	require.ErrorContains(t, s.Wait(context.Background()), "arguments of 65540 bytes")
	require.NoError(t, s.Close())
	require.Zero(t, NewArguments(s, moreArguments{}))
}

func TestArgumentLayouts(t *testing.T) {
	d := openFor(t, Options{})
	refused := func(err error, field, reason string) {
		t.Helper()
		var e *ModuleError
		require.ErrorAs(t, err, &e)
		require.True(t, strings.HasPrefix(e.Reason, "push constants: "+field+": "), e.Reason)
		require.Contains(t, e.Reason, reason)
	}
	m := module(t, "arguments")
	_, err := NewKernel[struct {
		More Arguments[struct {
			Factor uint32
			Y      uint64
		}]
		Open       uint64
		Count, Add uint32
	}](d, m, KernelOptions{})
	refused(err, "Factor", "is at byte 0, but at byte 8 in the block")
	_, err = NewKernel[struct {
		More       Arguments[struct{ Y uint64 }]
		Open       uint64
		Count, Add uint32
	}](d, m, KernelOptions{})
	refused(err, "factor", "is at byte 8 of the block")
	_, err = NewKernel[struct {
		More       uint64
		Open       Arguments[struct{ V uint32 }]
		Count, Add uint32
	}](d, m, KernelOptions{})
	refused(err, "Open", "can't be compared")
	_, err = NewKernel[struct {
		More, Open uint64
		Count      Arguments[struct{ V uint32 }]
	}](d, m, KernelOptions{})
	refused(err, "Count", "is no buffer reference")
	k, err := NewKernel[struct {
		More, Open uint64
		Count, Add uint32
	}](d, m, KernelOptions{})
	require.NoError(t, err, "an address may stand for what it leads to")
	k.Free()
}
