package vk

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func download[T Element](t testing.TB, b *Buffer[T]) []T {
	t.Helper()
	got := make([]T, b.Len())
	require.NoError(t, b.Download(context.Background(), 0, got))
	return got
}

func TestCommandsInOrder(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a, b := buffer[uint32](t, d, 8), buffer[uint32](t, d, 8)
	s := stream(t, d)
	s.Fill(a, 0, 8, 1)
	s.Fill(a, 2, 2, 2)
	s.Copy(b, 0, a, 1, 7)
	s.Fill(b, 7, 1, 9)
	s.Copy(b, 4, b, 0, 2)
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, []uint32{1, 1, 2, 2, 1, 1, 1, 1}, download(t, a))
	require.Equal(t, []uint32{1, 2, 2, 1, 1, 2, 1, 9}, download(t, b))

	// Over several submissions too, without waiting between them.
	s.Fill(a, 0, 8, 0)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
	for range 100 {
		k.Dispatch(s, 1, scale{a.Address(), a.Address(), 8, 1})
		_, err := s.Submit()
		require.NoError(t, err)
	}
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, []uint32{100, 100, 100, 100, 100, 100, 100, 100}, download(t, a))
}

// Fill and Copy count elements, as Upload and Download do, whatever their size.
func TestElementsOfCommands(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	s := stream(t, d)
	wide, floats := buffer[uint64](t, d, 8), buffer[float32](t, d, 8)
	words, bytes := buffer[uint32](t, d, 8), buffer[uint8](t, d, 8)
	s.Fill(wide, 0, 8, 1)
	s.Fill(wide, 2, 3, 2)
	s.Copy(wide, 6, wide, 4, 2)
	s.Fill(floats, 0, 8, math.Float32bits(1.5))
	s.Copy(words, 0, floats, 0, 8)
	s.Fill(words, 7, 1, 7)
	s.Fill(bytes, 0, 8, 0x04030201)
	s.Copy(bytes, 5, bytes, 0, 3)
	require.NoError(t, s.Wait(ctx))
	const one, two = 1<<32 | 1, 2<<32 | 2
	require.Equal(t, []uint64{one, one, two, two, two, one, two, one}, download(t, wide))
	float := math.Float32bits(1.5)
	require.Equal(t, []uint32{float, float, float, float, float, float, float, 7}, download(t, words))
	require.Equal(t, []uint8{1, 2, 3, 4, 1, 1, 2, 3}, download(t, bytes))
	for name, beyond := range map[string]func(){
		"fill":      func() { s.Fill(wide, 0, 9, 0) },
		"copy to":   func() { s.Copy(wide, 7, wide, 0, 2) },
		"copy from": func() { s.Copy(wide, 0, wide, 7, 2) },
	} {
		beyond()
		var e *RangeError
		require.ErrorAs(t, s.Wait(ctx), &e, name)
		require.EqualValues(t, 64, e.Size)
	}
}

func TestConcurrent(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 64)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
	s := stream(t, d)
	s.Fill(a, 0, 64, 5)
	s.Concurrent(func() {
		for i := range 64 {
			k.Dispatch(s, 1, scale{a.AddressOf(i), a.AddressOf(i), 1, uint32(i)})
		}
	})
	k.Dispatch(s, 2, scale{a.Address(), a.Address(), 64, 1})
	require.NoError(t, s.Wait(ctx))
	for i, v := range download(t, a) {
		require.EqualValues(t, 6+i, v)
	}
}

// TestReordered runs concurrent commands on a device that runs the last one first. So a test notices if one of them
// needs another. Commands outside Concurrent keep their order.
func TestReordered(t *testing.T) {
	t.Setenv("VKDS_REORDERED", "1")
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 2)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32, Constants: map[string]uint32{"FACTOR": 3}})
	s := stream(t, d)
	s.Fill(a, 0, 2, 5)
	s.Concurrent(func() {
		k.Dispatch(s, 1, scale{a.Address(), a.Address(), 1, 1})
		k.Dispatch(s, 1, scale{a.Address(), a.AddressOf(1), 1, 1})
	})
	k.Dispatch(s, 1, scale{a.Address(), a.Address(), 1, 2})
	require.NoError(t, s.Wait(context.Background()))
	require.Equal(t, []uint32{(5*3+1)*3 + 2, 5*3 + 1}, download(t, a))
}

// Concurrent commands of each kind come after the commands recorded before them, whichever kind is first, and before
// the commands recorded after them.
func TestConcurrentKinds(t *testing.T) {
	t.Setenv("VKDS_REORDERED", "1")
	d := openFor(t, Options{})
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32, Constants: map[string]uint32{"FACTOR": 3}})
	a, args := buffer[uint32](t, d, 6), buffer[uint32](t, d, 3)
	s := stream(t, d)
	kinds := []func(at int){
		func(at int) { k.Dispatch(s, 1, scale{a.Address(), a.AddressOf(at), 1, 0}) },
		func(at int) { s.Copy(a, at, a, 0, 1) },
		func(at int) { k.DispatchIndirect(s, args, 0, scale{a.Address(), a.AddressOf(at), 1, 2}) },
	}
	for first := range kinds {
		s.Fill(args, 0, 3, 0)
		s.Fill(a, 0, 6, 5)
		s.Fill(args, 0, 3, 1)
		k.Dispatch(s, 1, scale{a.Address(), a.Address(), 1, 1})
		s.Concurrent(func() {
			for i := range kinds {
				which := (first + i) % len(kinds)
				kinds[which](1 + which)
			}
		})
		s.Concurrent(func() {
			s.Copy(a, 4, a, 3, 1)
			k.Dispatch(s, 1, scale{a.AddressOf(2), a.AddressOf(5), 1, 3})
		})
		require.NoError(t, s.Wait(context.Background()))
		require.Equal(t, []uint32{16, 48, 16, 50, 50, 51}, download(t, a), "from the %d-th on", first)
	}
}

// TestAfter passes a number back and forth between streams; each stream adds to it.
func TestAfter(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 1)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32, Constants: map[string]uint32{"FACTOR": 3}})
	one, two := stream(t, d), stream(t, d)
	one.Fill(a, 0, 1, 0)
	want := uint32(0)
	for range 20 {
		k.Dispatch(one, 1, scale{a.Address(), a.Address(), 1, 1})
		p, err := one.Submit()
		require.NoError(t, err)
		two.After(p)
		k.Dispatch(two, 1, scale{a.Address(), a.Address(), 1, 2})
		p, err = two.Submit()
		require.NoError(t, err)
		one.After(p)
		want = (want*3+1)*3 + 2
	}
	// If nothing was recorded, the point still comes after the points of After.
	p, err := one.Submit()
	require.NoError(t, err)
	require.NoError(t, p.Wait(ctx))
	require.Equal(t, []uint32{want}, download(t, a))

	// A point outlives its stream.
	p, err = two.Submit()
	require.NoError(t, err)
	require.NoError(t, two.Close())
	done, err := p.Done()
	require.NoError(t, err)
	require.True(t, done)
	require.NoError(t, p.Wait(ctx))
	one.After(p)
	one.Fill(a, 0, 1, 8)
	require.NoError(t, one.Wait(ctx))
	require.Equal(t, []uint32{8}, download(t, a))

	other := openFor(t, Options{})
	foreign := stream(t, other)
	p, err = foreign.Submit()
	require.NoError(t, err)
	one.After(p)
	require.ErrorContains(t, one.Wait(ctx), "another device")
	require.NoError(t, one.Wait(ctx))
	require.NoError(t, Point{}.Wait(ctx))
}

// TestAfterSplitsTheBatch records work before After that must run even if the other stream has not reached its point.
func TestAfterSplitsTheBatch(t *testing.T) {
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 1)
	one, two := stream(t, d), stream(t, d)
	two.Fill(a, 0, 1, 1)
	p, err := two.Submit()
	require.NoError(t, err)
	one.Fill(a, 0, 1, 2)
	one.After(p)
	require.Nil(t, one.open)
	require.EqualValues(t, 1, one.last)
	require.NoError(t, one.Wait(context.Background()))
	require.EqualValues(t, 2, one.last)
}

// TestErrorsDropTheBatch: if a command of a batch is wrong, nothing of the batch runs, and the stream stays usable.
func TestErrorsDropTheBatch(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a, bytes := buffer[uint32](t, d, 4), buffer[uint8](t, d, 16)
	s := stream(t, d)
	s.Fill(a, 0, 4, 1)
	require.NoError(t, s.Wait(ctx))
	var e *RangeError
	for name, wrong := range map[string]func(){
		"beyond":      func() { s.Fill(a, 2, 3, 2) },
		"negative":    func() { s.Fill(a, -1, 1, 2) },
		"copy to":     func() { s.Copy(a, 3, buffer[uint32](t, d, 4), 0, 2) },
		"copy from":   func() { s.Copy(a, 0, buffer[uint32](t, d, 1), 0, 2) },
		"unaligned":   func() { s.Fill(bytes, 2, 4, 2) },
		"a part":      func() { s.Fill(bytes, 0, 6, 2) },
		"other sizes": func() { s.Copy(a, 0, bytes, 0, 4) },
		"overlapping": func() { s.Copy(a, 0, a, 1, 2) },
	} {
		s.Fill(a, 0, 4, 3)
		wrong()
		s.Fill(a, 0, 4, 4)
		_, err := s.Submit()
		require.Error(t, err, name)
		switch name {
		case "beyond", "negative", "copy to", "copy from":
			require.ErrorAs(t, err, &e, name)
		case "other sizes":
			require.EqualError(t, err, "option src: a copy from elements of 1 bytes to elements of 4")
		}
		require.NoError(t, s.Wait(ctx))
		require.Equal(t, []uint32{1, 1, 1, 1}, download(t, a), name)
	}
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	s.Fill(a, 0, 4, 3)
	require.ErrorIs(t, s.Wait(ctx), ErrClosed)
}

type spinPush struct {
	Result uint64
	Rounds uint32
	_      uint32
}

// busy makes a stream with work that takes about the given time or longer, also on a machine with other work. Such work
// slows some runs down, so the fastest run counts.
func busy(t testing.TB, d *Device, long time.Duration) (s *Stream, submit func()) {
	k, err := NewKernel[spinPush](d, module(t, "spin"), KernelOptions{})
	require.NoError(t, err)
	result := buffer[uint32](t, d, 32)
	s = stream(t, d)
	rounds := uint32(1 << 16)
	k.Dispatch(s, 1, spinPush{Result: result.Address(), Rounds: 1}) // some drivers compile a kernel when it first runs
	require.NoError(t, s.Wait(context.Background()))
	for {
		took := time.Duration(math.MaxInt64)
		for range 3 {
			s.Timed("spin", func() { k.Dispatch(s, 1, spinPush{Result: result.Address(), Rounds: rounds}) })
			require.NoError(t, s.Wait(context.Background()))
			took = min(took, s.Timings()[0].Duration)
		}
		if took > 10*time.Millisecond || rounds >= 1<<30 {
			rounds = uint32(min(float64(rounds)*float64(long)/float64(took), 1<<31))
			break
		}
		rounds *= 4
	}
	return s, func() {
		k.Dispatch(s, 1, spinPush{Result: result.Address(), Rounds: rounds})
		_, err := s.Submit()
		require.NoError(t, err)
	}
}

// Discarded work does not run, the buffers that it names may be freed, and the stream stays usable.
func TestDiscard(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 8)
	s := stream(t, d)
	s.Discard()
	s.Fill(a, 0, 8, 1)
	_, err := s.Submit()
	require.NoError(t, err)
	gone, err := NewBuffer[uint32](d, 1<<20)
	require.NoError(t, err)
	s.Fill(gone, 0, 8, 2)
	s.Fill(a, 0, 8, 2)
	s.Discard()
	gone.Free()
	s.Fill(a, 0, 1, 3)
	require.NoError(t, s.Wait(ctx))
	require.Equal(t, []uint32{3, 1, 1, 1, 1, 1, 1, 1}, download(t, a))

	s.Fill(a, 6, 3, 0) // not valid
	s.Discard()
	require.NoError(t, s.Wait(ctx), "its error went with it")
}

func TestContextEndsAWait(t *testing.T) {
	d := openFor(t, Options{})
	s, submit := busy(t, d, time.Second)
	submit()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Wait(ctx), context.DeadlineExceeded)
	p, err := s.Submit()
	require.NoError(t, err)
	done, err := p.Done()
	require.NoError(t, err)
	require.False(t, done, "it waited for the work")

	ctx, cancel = context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	require.ErrorIs(t, p.Wait(ctx), context.Canceled)
	require.ErrorIs(t, s.Wait(ctx), context.Canceled)

	// The work continued, and the stream is usable.
	require.NoError(t, s.Wait(context.Background()))
	done, err = p.Done()
	require.NoError(t, err)
	require.True(t, done)
}

func TestTimings(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	s, submit := busy(t, d, 50*time.Millisecond)
	a := buffer[uint32](t, d, 4)
	begin := time.Now()
	s.Timed("both", func() {
		s.Timed("fill", func() { s.Fill(a, 0, 4, 1) })
		s.Timed("nothing", func() {})
	})
	require.NoError(t, s.Wait(ctx))
	all := s.Timings()
	require.Len(t, all, 3)
	require.Equal(t, "fill", all[0].Label)
	require.Equal(t, "nothing", all[1].Label)
	require.Equal(t, "both", all[2].Label)
	require.GreaterOrEqual(t, all[2].Duration, all[0].Duration)
	require.Less(t, all[2].Duration, time.Since(begin)+clockStep)
	require.Empty(t, s.Timings())

	// More sections than a query pool holds, over several submissions.
	for range 3 {
		for range 100 {
			s.Timed("many", func() { s.Fill(a, 0, 4, 1) })
		}
		_, err := s.Submit()
		require.NoError(t, err)
	}
	require.NoError(t, s.Wait(ctx))
	require.Len(t, s.Timings(), 300)

	// A dropped batch has no timings, and later batches get none of it.
	s.Timed("dropped", func() { s.Fill(a, 0, 65, 1) })
	require.Error(t, s.Wait(ctx))
	submit()
	require.NoError(t, s.Wait(ctx))
	require.Empty(t, s.Timings())

	// A section that submits has no timing, also if the batch that is open at its end is the same one, reused.
	for range 3 {
		s.Timed("submits", func() {
			s.Fill(a, 0, 4, 1)
			require.NoError(t, s.Wait(ctx))
			s.Fill(a, 0, 4, 2)
		})
		require.NoError(t, s.Wait(ctx))
		require.Empty(t, s.Timings())
	}

	without := openFor(t, Options{Without: []Feature{Timestamps}})
	s = stream(t, without)
	b := buffer[uint32](t, without, 1)
	s.Timed("untimed", func() { s.Fill(b, 0, 1, 6) })
	require.NoError(t, s.Wait(ctx))
	require.Empty(t, s.Timings())
	require.Equal(t, []uint32{6}, download(t, b))
}

func TestElapsedTime(t *testing.T) {
	require.Equal(t, 200*time.Nanosecond, elapsed([2]uint64{100, 300}, 64, 1))
	require.Equal(t, 10416*time.Nanosecond, elapsed([2]uint64{0, 200}, 64, 52.08))
	// Only 36 bits count, and they overflowed.
	require.Equal(t, 15*time.Nanosecond, elapsed([2]uint64{1<<36 - 5 | 1<<50, 10}, 36, 1))
}

// TestManyInFlight makes more submissions than may be in flight at once.
func TestManyInFlight(t *testing.T) {
	d := openFor(t, Options{})
	s, submit := busy(t, d, 20*time.Millisecond)
	a := buffer[uint32](t, d, 1)
	k := scaleKernel(t, d, KernelOptions{Workgroup: 32})
	s.Fill(a, 0, 1, 0)
	submit()
	for range 3 * maxFlying {
		k.Dispatch(s, 1, scale{a.Address(), a.Address(), 1, 1})
		_, err := s.Submit()
		require.NoError(t, err)
		require.LessOrEqual(t, len(s.flying), maxFlying)
	}
	require.NoError(t, s.Wait(context.Background()))
	require.Empty(t, s.flying)
	require.LessOrEqual(t, len(s.spare), maxFlying+1)
	require.Equal(t, []uint32{3 * maxFlying}, download(t, a))
}

func BenchmarkStream(b *testing.B) {
	ctx := context.Background()
	d, err := Open(Options{})
	require.NoError(b, err)
	defer d.Close()
	a := buffer[uint32](b, d, 64)
	k := scaleKernel(b, d, KernelOptions{Workgroup: 32})
	s := stream(b, d)
	push := scale{a.Address(), a.Address(), 64, 1}
	b.Run("submit and wait", func(b *testing.B) {
		for b.Loop() {
			k.Dispatch(s, 2, push)
			require.NoError(b, s.Wait(ctx))
		}
	})
	for name, record := range map[string]func(func()){
		"dependent dispatches":   func(f func()) { f() },
		"independent dispatches": s.Concurrent,
	} {
		b.Run(name, func(b *testing.B) {
			s.Timed("all", func() {
				record(func() {
					for range b.N {
						k.Dispatch(s, 2, push)
					}
				})
			})
			require.NoError(b, s.Wait(ctx))
			b.ReportMetric(float64(s.Timings()[0].Duration.Nanoseconds())/float64(b.N), "device-ns/op")
		})
	}
}

// If TimeDispatches is set, each dispatch has its own timing, inside the caller's sections.
func TestTimeDispatches(t *testing.T) {
	d := openFor(t, Options{TimeDispatches: true})
	k := scaleKernel(t, d, KernelOptions{})
	a := buffer[uint32](t, d, 320)
	args := buffer[uint32](t, d, 3)
	require.NoError(t, args.Upload(context.Background(), 0, []uint32{1, 1, 1}))
	s := stream(t, d)
	s.Timed("both", func() {
		k.Dispatch(s, 3, scale{a.Address(), a.Address(), 320, 1})
		k.DispatchIndirect(s, args, 0, scale{a.Address(), a.Address(), 320, 1})
	})
	require.NoError(t, s.Wait(context.Background()))
	all := s.Timings()
	for i := range all {
		all[i].Duration = 0
	}
	require.Equal(t, []Timing{{k.p.name, 0, 3}, {k.p.name, 0, 0}, {"both", 0, 0}}, all)
}
