package vk

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vkds/vkds/test/stress"
)

// Streams are closed as soon as their value shows, while another stream's submission that waits for that value, and so
// names the semaphore, still runs. The driver's own threads may still read the closed stream's submission, too.
func TestCloseTheMomentTheValueShows(t *testing.T) {
	ctx := context.Background()
	d, err := Open(Options{CacheDir: "none"})
	require.NoError(t, err)
	b := buffer[uint32](t, d, 1024)
	k := scaleKernel(t, d, KernelOptions{})
	other := stream(t, d)
	for range 2000 * max(1, 5*stress.Level) {
		s, err := d.NewStream()
		require.NoError(t, err)
		s.Fill(b, 0, 64, 1)
		p, err := s.Submit()
		require.NoError(t, err)
		other.After(p)
		k.Dispatch(other, 8, scale{b.Address(), b.Address(), 1024, 1})
		_, err = other.Submit()
		require.NoError(t, err)
		began := time.Now()
		for done := false; !done; {
			if time.Since(began) > time.Minute {
				t.Fatal("a semaphore was destroyed that a submission waits for")
			}
			done, err = p.Done()
			require.NoError(t, err)
		}
		require.NoError(t, s.Close())
	}
	require.NoError(t, other.Wait(ctx))
	require.NoError(t, d.Close())
}

// Objects that are freed while other work runs are kept, and neither Free nor Close waits for that work. An allocation
// that needs their memory waits.
func TestFreeDuringLongWork(t *testing.T) {
	ctx := context.Background()
	const limit = 64 << 20
	d := openFor(t, Options{MemoryLimit: limit})
	long, submit := busy(t, d, 600*time.Millisecond)
	s := stream(t, d)
	b := buffer[byte](t, d, limit/2)
	s.Fill(b, 0, limit/2, 1)
	require.NoError(t, s.Wait(ctx))
	k := scaleKernel(t, d, KernelOptions{})

	submit()
	p, err := long.Submit()
	require.NoError(t, err)
	b.Free()
	b.Free()
	k.Free()
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	done, err := p.Done()
	require.NoError(t, err)
	require.False(t, done, "one of them waited for the work")
	require.Len(t, d.dead.dead, 2)
	used, _ := d.Memory()
	require.Less(t, used, uint64(limit/2), "of what was freed nothing counts")

	next := buffer[byte](t, d, limit*3/4)
	done, err = p.Done()
	require.NoError(t, err)
	require.True(t, done, "its memory is that of the buffer which the work may have used")
	require.Empty(t, d.dead.dead)

	submit()
	next.Free()
	require.NoError(t, long.Wait(ctx))
	require.Len(t, d.dead.dead, 1, "too few for a sweep")
	many := make([]*Buffer[byte], manyDead)
	for i := range many {
		many[i] = buffer[byte](t, d, 300<<10) // which needs the memory of the freed one
	}
	submit()
	for _, b := range many {
		b.Free()
	}
	require.NotEmpty(t, d.dead.dead, "work is under way")
	require.NoError(t, long.Wait(ctx))
	require.Empty(t, d.dead.dead)
}

// A new stream continues with the parts of a closed one: its semaphore at its value, its command buffers and its query
// pools. Points of the closed stream are not affected.
func TestStreamsTakeOver(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 4)
	first := stream(t, d)
	for i := range 5 {
		first.Timed("fill", func() { first.Fill(a, 0, 4, uint32(i)) })
		_, err := first.Submit()
		require.NoError(t, err)
	}
	old, err := first.Submit()
	require.NoError(t, err)
	first.Fill(a, 0, 4, 99) // never submitted
	require.NoError(t, first.Close())
	if d.Has(Timestamps) {
		require.Len(t, first.Timings(), 5)
	}
	long, submit := busy(t, d, 300*time.Millisecond) // uses the parts of the first stream
	require.Equal(t, old.line.semaphore, long.line.semaphore)
	require.Empty(t, d.kits)
	submit()
	done, err := old.Done()
	require.NoError(t, err)
	require.True(t, done)
	p, err := long.Submit()
	require.NoError(t, err)
	done, err = p.Done()
	require.NoError(t, err)
	require.False(t, done, "the value begins where the first one's ended")
	require.NoError(t, long.Wait(ctx))
	require.Equal(t, []uint32{4, 4, 4, 4}, download(t, a))
}

// Errors of closed objects say which object is closed, and errors.Is finds them all.
func TestClosedErrorsSayWhat(t *testing.T) {
	ctx := context.Background()
	d, err := Open(Options{CacheDir: "none"})
	require.NoError(t, err)
	b, k := buffer[uint32](t, d, 4), scaleKernel(t, d, KernelOptions{})
	s, closed := stream(t, d), stream(t, d)
	b.Free()
	require.NoError(t, closed.Close())
	k.Free()
	says := func(want string, err error) {
		t.Helper()
		require.EqualError(t, err, "vk: already closed: the "+want)
		require.ErrorIs(t, err, ErrClosed)
	}
	says("buffer", b.Upload(ctx, 0, nil))
	says("buffer of keys", d.Accept("buffer of keys", b))
	s.Fill(b, 0, 4, 0)
	says("buffer of a fill", s.Wait(ctx))
	says("stream", closed.Wait(ctx))
	k.Dispatch(s, 1, scale{})
	says("kernel scale", s.Wait(ctx))
	require.NoError(t, d.Close())
	says("device", d.Err())
	_, err = NewBuffer[uint32](d, 1)
	says("device", err)
	require.NotErrorIs(t, &ClosedError{"stream"}, &ClosedError{"device"})
}

// After Close every call on a stream returns ErrClosed, also if nothing is recorded.
func TestStreamAfterClose(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	a := buffer[uint32](t, d, 4)
	k := scaleKernel(t, d, KernelOptions{})
	other := stream(t, d)
	p, err := other.Submit()
	require.NoError(t, err)
	s := stream(t, d)
	s.Fill(a, 0, 4, 7)
	require.NoError(t, s.Wait(ctx))
	require.NoError(t, s.Close())
	next := stream(t, d) // has the command buffers of the closed stream
	for name, record := range map[string]func(){
		"nothing":    func() {},
		"fill":       func() { s.Fill(a, 0, 4, 1) },
		"copy":       func() { s.Copy(a, 0, a, 2, 2) },
		"dispatch":   func() { k.Dispatch(s, 1, scale{a.Address(), a.Address(), 4, 1}) },
		"timed":      func() { s.Timed("fill", func() { s.Fill(a, 0, 4, 1) }) },
		"concurrent": func() { s.Concurrent(func() { s.Fill(a, 0, 4, 1) }) },
		"after":      func() { s.After(p) },
		"discard":    func() { s.Discard() },
	} {
		record()
		_, err := s.Submit()
		require.ErrorIs(t, err, ErrClosed, name)
		record()
		require.ErrorIs(t, s.Wait(ctx), ErrClosed, name)
		require.Empty(t, s.Timings(), name)
	}
	require.NoError(t, next.Wait(ctx))
	require.Equal(t, []uint32{7, 7, 7, 7}, download(t, a))
}

// Close waits for the calls of other goroutines. Calls that come later return ErrClosed.
func TestCloseDuringCalls(t *testing.T) {
	ctx := context.Background()
	code := module(t, "scale")
	for range 10 {
		d, err := Open(Options{CacheDir: "none", StagingBytes: 64 << 10, staged: true})
		require.NoError(t, err)
		b, gone := buffer[uint32](t, d, 1<<18), buffer[uint32](t, d, 1<<18)
		k, s := scaleKernel(t, d, KernelOptions{}), stream(t, d)
		s.Fill(b, 0, b.Len(), 1)
		_, err = s.Submit()
		require.NoError(t, err)
		var calls, closes sync.WaitGroup
		for name, call := range map[string]func() error{
			"upload":   func() error { return b.Upload(ctx, 0, make([]uint32, 1<<18)) },
			"download": func() error { return b.Download(ctx, 0, make([]uint32, 1<<18)) },
			"kernel": func() error {
				k, err := NewKernel[scale](d, code, KernelOptions{})
				if err == nil {
					k.Free()
				}
				return err
			},
			"buffer": func() error {
				b, err := NewBuffer[uint32](d, 1<<20)
				if err == nil {
					b.Free()
				}
				return err
			},
			"stream": func() error {
				s, err := d.NewStream()
				if err == nil {
					err = s.Close()
				}
				return err
			},
		} {
			calls.Go(func() {
				var err error
				for err == nil {
					err = call()
				}
				if !errors.Is(err, ErrClosed) {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		time.Sleep(time.Millisecond)
		for range 4 {
			closes.Go(gone.Free)
			closes.Go(k.Free)
			closes.Go(func() { d.Memory() })
			closes.Go(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
				if _, err := NewBuffer[uint32](d, 1); !errors.Is(err, ErrClosed) {
					t.Errorf("Close has not waited for the Close before: %v", err)
				}
			})
		}
		closes.Wait()
		calls.Wait()
		require.NoError(t, s.Close())
	}
}
