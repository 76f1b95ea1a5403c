package native

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// listed is a device whose command buffer is a list of the commands that it got, without barriers.
type listed struct {
	Device
	push uint32
	got  []string
}

func (l *listed) Begin(Commands) Result        { l.got = nil; return Success }
func (l *listed) End(Commands) Result          { return Success }
func (l *listed) Barrier(Commands, Work, Work) {}
func (l *listed) add(what string, n uint32)    { l.got = append(l.got, fmt.Sprint(what, n)) }

func (l *listed) Run(_ Commands, _ Pipeline, _ Layout, push unsafe.Pointer, _ uint32) {
	l.push = *(*uint32)(push)
}
func (l *listed) Dispatch(Commands, uint32, uint32)                   { l.add("run", l.push) }
func (l *listed) DispatchIndirect(Commands, Buffer, uint64)           { l.add("run", l.push) }
func (l *listed) Fill(_ Commands, _ Buffer, _, _ uint64, word uint32) { l.add("fill", word) }
func (l *listed) Timestamp(_ Commands, _ QueryPool, query uint32)     { l.add("time", query) }

// Commands change places only if no barrier is between them, or only a barrier for other kinds of work.
func TestReordered(t *testing.T) {
	var d Device
	run := func(n uint32) {
		d.Run(1, 0, 0, unsafe.Pointer(&n), 4)
		n = 99 // the device must use the value at the time of the call
		d.Dispatch(1, 1, 1)
	}
	indirect := func(n uint32) {
		d.Run(1, 0, 0, unsafe.Pointer(&n), 4)
		d.DispatchIndirect(1, 0, 0)
	}
	fill := func(n uint32) { d.Fill(1, 0, 0, 0, n) }
	barrier := func(before, after Work) { d.Barrier(1, before, after) }
	for name, c := range map[string]struct {
		record func()
		want   []string // the allowed orders
	}{
		"concurrent": {func() { run(1); run(2); fill(3) }, []string{"fill3 run1 run2", "fill3 run2 run1",
			"run1 fill3 run2", "run1 run2 fill3", "run2 fill3 run1", "run2 run1 fill3"}},
		"in turn": {func() { run(1); barrier(Shader, Shader); run(2) }, []string{"run1 run2"}},
		"two, then one": {func() { run(1); fill(2); barrier(Shader|Transfer, Shader); run(3) },
			[]string{"fill2 run1 run3", "run1 fill2 run3"}},
		"not waited for": {func() { fill(1); barrier(Shader, Shader); run(2) }, []string{"fill1 run2", "run2 fill1"}},
		"does not wait":  {func() { run(1); barrier(Shader, Shader); fill(2) }, []string{"fill2 run1", "run1 fill2"}},
		"arguments":      {func() { fill(1); barrier(Transfer, Shader|Indirect); indirect(2) }, []string{"fill1 run2"}},
		"arguments too new": {func() { fill(1); barrier(Transfer, Shader); indirect(2) },
			[]string{"fill1 run2", "run2 fill1"}},
		"by way of another": {func() { fill(1); barrier(Transfer, Shader); run(2); barrier(Shader, Transfer); fill(3) },
			[]string{"fill1 run2 fill3"}},
		"by a barrier alone": {func() { fill(1); barrier(Transfer, Shader); barrier(Shader, Transfer); fill(2) },
			[]string{"fill1 fill2"}},
		"by way of nothing": {func() { fill(1); barrier(Shader, Transfer); barrier(Transfer, Shader); run(2) },
			[]string{"fill1 run2"}},
		"timed": {func() { run(1); d.Timestamp(1, 0, 2); run(3) }, []string{"run1 time2 run3"}},
	} {
		to := &listed{}
		d = Reordered(to, 1)
		seen := map[string]bool{}
		for turn := range 100 {
			require.Equal(t, Success, d.Begin(1))
			c.record()
			require.Equal(t, Success, d.End(1))
			got := strings.Join(to.got, " ")
			if turn == 0 && name == "concurrent" {
				require.Equal(t, "fill3 run2 run1", got)
			}
			seen[got] = true
		}
		require.Equal(t, c.want, slices.Sorted(maps.Keys(seen)), name)
	}
}

// If there are too many commands to be reordered together, all of them still run, once each.
func TestReorderedMany(t *testing.T) {
	to := &listed{}
	d := Reordered(to, 1)
	for range 2 {
		require.Equal(t, Success, d.Begin(1))
		for i := range uint32(3 * mostSteps) {
			d.Fill(1, 0, 0, 0, i)
		}
		require.Equal(t, Success, d.End(1))
		require.Len(t, to.got, 3*mostSteps)
		seen := map[string]bool{}
		for _, command := range to.got {
			seen[command] = true
		}
		require.Len(t, seen, 3*mostSteps)
		require.Equal(t, Success, d.Begin(1))
		require.Equal(t, Success, d.End(1))
		require.Empty(t, to.got, "a command buffer that begins anew")
	}
}
