package vk

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTransfers(t *testing.T) {
	ctx := context.Background()
	for name, o := range map[string]Options{
		"mapped": {},
		"staged": {staged: true},
		// Slots of 64 KiB, so that a transfer reuses each slot many times.
		"small ring": {staged: true, StagingBytes: 256 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			d := openFor(t, o)
			for _, n := range []int{1, 3, 1000, 16384, 16385, 1_000_003} {
				b := buffer[uint32](t, d, n+10)
				want := numbers(n)
				require.NoError(t, b.Upload(ctx, 7, want))
				got := make([]uint32, n)
				require.NoError(t, b.Download(ctx, 7, got))
				require.Equal(t, want, got)
				// A part of the buffer, at another offset.
				part := make([]uint32, n/2)
				require.NoError(t, b.Download(ctx, 7+n-n/2, part))
				require.Equal(t, want[n-n/2:], part)
				b.Free()
			}
			cancelled, cancel := context.WithCancel(ctx)
			cancel()
			b := buffer[uint32](t, d, 100_000)
			for range 20 { // the thread that takes the first piece differs
				require.ErrorIs(t, b.Upload(cancelled, 0, numbers(100_000)), context.Canceled)
				require.ErrorIs(t, b.Download(cancelled, 0, make([]uint32, 100_000)), context.Canceled)
			}
			// Afterwards transfers work again.
			require.NoError(t, b.Upload(ctx, 0, numbers(100_000)))
		})
	}
}

func testElement[T Element](t *testing.T, d *Device, values ...T) {
	t.Helper()
	b := buffer[T](t, d, len(values))
	require.NoError(t, b.Upload(context.Background(), 0, values))
	got := make([]T, len(values))
	require.NoError(t, b.Download(context.Background(), 0, got))
	require.Equal(t, values, got)
	require.Equal(t, bytesOf[T](len(values)), b.Bytes())
	require.Equal(t, b.Address()+bytesOf[T](1), b.AddressOf(1))
}

func TestElements(t *testing.T) {
	for _, o := range []Options{{}, {staged: true}} {
		d := openFor(t, o)
		testElement[uint8](t, d, 1, 2, 255)
		testElement[uint16](t, d, 1, 2, 65535)
		testElement[uint32](t, d, 1, 1<<32-1)
		testElement[uint64](t, d, 1, 1<<64-1)
		testElement[int32](t, d, -1, 1<<31-1)
		testElement[int64](t, d, -1, 1<<63-1)
		testElement[float32](t, d, 1.5, -0.25)
		type key uint32
		testElement[key](t, d, 7, 8)
	}
}

func TestEmptyBuffers(t *testing.T) {
	ctx := context.Background()
	for _, o := range []Options{{}, {staged: true}} {
		d := openFor(t, o)
		b, other := buffer[uint32](t, d, 0), buffer[uint32](t, d, 0)
		require.Zero(t, b.Len())
		require.NotZero(t, b.Address())
		require.NotEqual(t, b.Address(), other.Address())
		require.NoError(t, b.Upload(ctx, 0, nil))
		require.NoError(t, b.Download(ctx, 0, nil))
		h, err := NewHostBuffer[uint32](d, 0)
		require.NoError(t, err)
		require.Empty(t, h.Slice())
		s := stream(t, d)
		s.Fill(b, 0, 0, 1)
		s.Copy(b, 0, other, 0, 0)
		require.NoError(t, s.Wait(ctx))
	}
}

// A nil buffer acts like one without elements: all its methods return, and nothing panics.
func TestNoBuffer(t *testing.T) {
	ctx := t.Context()
	d := openFor(t, Options{})
	var none *Buffer[uint32]
	require.Zero(t, none.Len())
	require.Zero(t, none.Bytes())
	require.Zero(t, none.Address())
	require.NoError(t, d.Accept("buffer", none))
	none.Free()
	require.NoError(t, none.Upload(ctx, 0, nil))
	var e *RangeError
	require.ErrorAs(t, none.Upload(ctx, 0, []uint32{1}), &e)
	require.ErrorAs(t, none.Download(ctx, 1, nil), &e)
	some, k, s := buffer[uint32](t, d, 4), scaleKernel(t, d, KernelOptions{}), stream(t, d)
	for _, record := range []func(){
		func() { s.Fill(none, 0, 1, 0) },
		func() { s.Copy(none, 0, some, 0, 1) },
		func() { s.Copy(some, 0, none, 0, 1) },
		func() { k.DispatchIndirect(s, none, 0, scale{}) },
	} {
		record()
		require.ErrorAs(t, s.Wait(ctx), &e)
		require.Zero(t, e.Size)
	}
	s.Fill(none, 0, 0, 7)
	require.NoError(t, s.Wait(ctx), "nothing is nothing")
}

func TestOutOfRange(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	b := buffer[uint32](t, d, 10)
	var e *RangeError
	require.ErrorAs(t, b.Upload(ctx, 8, make([]uint32, 3)), &e)
	require.Equal(t, &RangeError{"upload", 32, 12, 40}, e)
	require.ErrorAs(t, b.Upload(ctx, -1, make([]uint32, 3)), &e)
	require.ErrorAs(t, b.Download(ctx, 11, nil), &e)
	require.NoError(t, b.Download(ctx, 10, nil))

	_, err := NewBuffer[uint32](d, -1)
	var large *LimitError
	require.ErrorAs(t, err, &large)
	_, err = NewBuffer[uint64](d, 1<<62)
	require.ErrorAs(t, err, &large)

	b.Free()
	b.Free()
	require.ErrorIs(t, b.Upload(ctx, 0, nil), ErrClosed)
	s := stream(t, d)
	s.Fill(b, 0, 1, 0)
	require.ErrorIs(t, s.Wait(ctx), ErrClosed)
}

func TestHostBuffer(t *testing.T) {
	ctx := context.Background()
	d := openFor(t, Options{})
	const n = 5000
	from, err := NewHostBuffer[uint32](d, n)
	require.NoError(t, err)
	to, err := NewHostBuffer[uint32](d, n)
	require.NoError(t, err)
	copy(from.Slice(), numbers(n))
	middle := buffer[uint32](t, d, n)
	k := scaleKernel(t, d, KernelOptions{Constants: map[string]uint32{"FACTOR": 1}})
	s := stream(t, d)
	s.Copy(middle, 0, from, 0, n)
	k.Dispatch(s, (n+127)/128, scale{middle.Address(), to.Address(), n, 1})
	require.NoError(t, s.Wait(ctx))
	for i, v := range numbers(n) {
		require.Equal(t, v+1, to.Slice()[i])
	}
	// The host writes again, and later submissions see it.
	from.Slice()[3] = 77
	k.Dispatch(s, (n+127)/128, scale{from.Address(), to.Address(), n, 1})
	require.NoError(t, s.Wait(ctx))
	require.EqualValues(t, 78, to.Slice()[3])
	require.Equal(t, from.Address()+12, from.AddressOf(3))
	require.Equal(t, n, from.Len())
	require.EqualValues(t, n*4, from.Bytes())
}

func BenchmarkTransfers(b *testing.B) {
	ctx := context.Background()
	const n = 256 << 20
	for name, o := range map[string]Options{
		"default": {}, "staged": {staged: true}, "ring of 16 MiB": {staged: true, StagingBytes: 16 << 20},
		"ring of 32 MiB":  {staged: true, StagingBytes: 32 << 20},
		"ring of 128 MiB": {staged: true, StagingBytes: 128 << 20},
	} {
		d, err := Open(o)
		require.NoError(b, err)
		buffer := buffer[uint32](b, d, n/4)
		host := numbers(n / 4)
		b.Run("upload/"+name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				require.NoError(b, buffer.Upload(ctx, 0, host))
			}
		})
		b.Run("download/"+name, func(b *testing.B) {
			b.SetBytes(n)
			for b.Loop() {
				require.NoError(b, buffer.Download(ctx, 0, host))
			}
		})
		require.NoError(b, d.Close())
	}
}

// TestLargeBuffer uses offsets beyond 32 bits, if the device has the memory.
func TestLargeBuffer(t *testing.T) {
	const n = 5 << 30 / 4
	d := openFor(t, Options{})
	if _, budget := d.Memory(); d.Info().Type == CPU || budget < 4*n || d.Info().MaxBufferBytes < 4*n {
		t.Skipf("%s: a CPU device, or too little memory for a buffer of 5 GiB", d.Info())
	}
	ctx := context.Background()
	b := buffer[uint32](t, d, n)
	s := stream(t, d)
	s.Fill(b, 0, n, 7)
	require.NoError(t, s.Wait(ctx))
	want := numbers(1000)
	require.NoError(t, b.Upload(ctx, n-1000, want))
	k := scaleKernel(t, d, KernelOptions{})
	k.Dispatch(s, 8, scale{b.AddressOf(n - 1000), b.AddressOf(n - 1000), 1000, 1})
	s.Copy(b, n-2000, b, n-1000, 1000)
	require.NoError(t, s.Wait(ctx))
	got := make([]uint32, 1000)
	require.NoError(t, b.Download(ctx, n-2000, got))
	for i := range want {
		require.Equal(t, want[i]+1, got[i])
	}
	require.NoError(t, b.Download(ctx, n-3000, got))
	require.EqualValues(t, 7, got[0])
}
